package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// environment is the one package that composes the platform for tests.
const environment = "internal/app/platformtest"

// composers are the other tests of commands that put modules together, each with a reason.
var composers = []string{
	"cmd/internal/app/modeltest", // modules whose gateways, clock and connections are the history's, on a database that outlives it
}

// checkPlatform looks in the tests of commands for what composes the platform: calls of app.New and
// app.NewOf, and those of New of more than one module.
func (c *checker) checkPlatform(file string, from pkg, positions *token.FileSet, parsed *ast.File) {
	if from.name+"/"+from.rest == environment || slices.Contains(composers, path.Dir(file)) {
		return
	}
	imported := map[string]pkg{}
	for _, spec := range parsed.Imports {
		dir := strings.TrimPrefix(strings.Trim(spec.Path.Value, `"`), c.name+"/")
		imported[path.Base(dir)] = packageOf(dir)
	}
	made := map[string]bool{} // modules
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		composes := false
		switch called := call.Fun.(type) {
		case *ast.SelectorExpr:
			of, ok := called.X.(*ast.Ident)
			if !ok || called.Sel.Name != "New" && called.Sel.Name != "NewOf" {
				break
			}
			if p := imported[of.Name]; p.top == "modules" && p.rest == "" {
				made[p.name] = true
			}
			composes = imported[of.Name] == packageOf("cmd/internal/app") || len(made) > 1
		case *ast.Ident:
			composes = parsed.Name.Name == "app" && (called.Name == "New" || called.Name == "NewOf")
		}
		if composes {
			c.report(file, positions.Position(call.Pos()).Line, "platform", "a test has the platform from cmd/%s",
				environment)
		}
		return true
	})
}
