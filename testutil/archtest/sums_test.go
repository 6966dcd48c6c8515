package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sum is an interface whose types are all there are: those of its package with its sealing method.
type sum struct {
	dir, method string
	aliases     []string // packages that have names of their own for its types
	defaults    bool     // who reads one or two facts of it may have a default; else every type is named
}

var sums = []sum{
	{dir: "payments/outcomes", method: "outcome", aliases: []string{"intent", "settle", "orders"}},
	{dir: "subscriptions/settle", method: "applyTo"},
	{dir: "payments/gateway", method: "facts", defaults: true},
}

// TestSwitchesOverSumsNameEveryType: an outcome that a settling function forgets would change nothing, in silence.
func TestSwitchesOverSumsNameEveryType(t *testing.T) {
	t.Parallel()
	modules, files := filepath.Join(root(t), "modules"), map[string]*ast.File{}
	require.NoError(t, filepath.WalkDir(modules, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files[path], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		return err
	}))
	switches := 0
	for _, s := range sums {
		dir := filepath.Join(modules, filepath.FromSlash(s.dir))
		var types []string
		for path, file := range files {
			if filepath.Dir(path) == dir {
				types = append(types, s.types(file)...)
			}
		}
		require.Greater(t, len(types), 4, s.dir)
		for path, file := range files {
			n, lacking := s.lacking(file, types)
			switches += n
			require.Empty(t, lacking, path)
		}

		planted, err := parser.ParseFile(token.NewFileSet(), "", `package planted
			func settle(o Outcome) {
				switch o := o.(type) { case `+filepath.Base(s.dir)+`.`+strings.Join(types[1:], `[A], `+filepath.Base(s.dir)+`.`)+`: }
				switch o := any(o).(type) { case string, other.`+types[0]+`: }
			}`, parser.SkipObjectResolution)
		require.NoError(t, err)
		n, lacking := s.lacking(planted, types)
		require.Equal(t, 1, n)
		require.Equal(t, []string{"a switch lacks " + types[0]}, lacking)
	}
	require.Greater(t, switches, 25)
}

// types are those of a file of the sum's package.
func (s sum) types(file *ast.File) (found []string) {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == s.method {
			if _, name := typeName(f.Recv.List[0].Type); ast.IsExported(name) {
				found = append(found, name)
			}
		}
	}
	return found
}

// lacking tells which types the file's switches over the sum do not name, and how many there are.
func (s sum) lacking(file *ast.File, types []string) (switches int, found []string) {
	homes := append([]string{filepath.Base(s.dir)}, s.aliases...)
	ast.Inspect(file, func(n ast.Node) bool {
		over, ok := n.(*ast.TypeSwitchStmt)
		if !ok {
			return true
		}
		named, hasDefault := map[string]bool{}, false
		for _, clause := range over.Body.List {
			list := clause.(*ast.CaseClause).List
			hasDefault = hasDefault || list == nil
			for _, e := range list {
				home, name := typeName(e)
				if home == "" {
					home = file.Name.Name
				}
				if slices.Contains(homes, home) && slices.Contains(types, name) {
					named[name] = true
				}
			}
		}
		if len(named) == 0 {
			return true
		}
		switches++
		if hasDefault && s.defaults || len(named) == len(types) {
			return true
		}
		lacks := slices.DeleteFunc(slices.Sorted(slices.Values(types)), func(name string) bool { return named[name] })
		found = append(found, "a switch lacks "+strings.Join(lacks, ", "))
		return true
	})
	return switches, found
}

// typeName is a type's package, "" for the file's own, and its name.
func typeName(e ast.Expr) (home, name string) {
	switch e := e.(type) {
	case *ast.Ident:
		return "", e.Name
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name, e.Sel.Name
		}
	}
	return "", ""
}
