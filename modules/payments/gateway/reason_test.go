package gateway_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
)

const repository = "../../.."

// TestReasonsAreTold: docs/gateways.md tells each reason, in the order of the list, and no other.
func TestReasonsAreTold(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile(filepath.Join(repository, "docs/gateways.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(docs), "| reason | what it means |\n|---|---|\n")
	require.True(t, found)
	table, _, _ := strings.Cut(section, "\n\n")
	var rows []string
	for _, r := range gateway.Reasons {
		require.NotEmpty(t, r.Means, r.Reason)
		rows = append(rows, fmt.Sprintf("| %s | %s |", r.Reason, r.Means))
	}
	require.Equal(t, rows, strings.Split(strings.TrimSpace(table), "\n"))
}

// TestEveryReasonIsListed: each constant of reason.go stands in Reasons, once.
func TestEveryReasonIsListed(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	require.NoError(t, err)
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Reason" {
				declared++
			}
		}
		return true
	})
	listed := map[gateway.Reason]bool{}
	for _, r := range gateway.Reasons {
		require.False(t, listed[r.Reason], "%q stands twice", r.Reason)
		listed[r.Reason] = true
	}
	require.Len(t, listed, declared)
}

// TestNoReasonIsWrittenElsewhere: nobody words a result on their own, by a literal where a
// reason stands or is returned.
func TestNoReasonIsWrittenElsewhere(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"modules", "cmd"} {
		err := filepath.WalkDir(filepath.Join(repository, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.HasSuffix(path, "gateway/reason.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			for _, at := range wordedHere(file) {
				t.Errorf("%s: a reason of its own; gateway.Reasons lists them", set.Position(at))
			}
			return nil
		})
		require.NoError(t, err)
	}
}

// TestAReasonThatIsWrittenElsewhereIsFound: in each place that wordedHere looks at, by the names that stand in the code.
func TestAReasonThatIsWrittenElsewhereIsFound(t *testing.T) {
	t.Parallel()
	_ = []any{gateway.AwaitingConfirmation, gateway.Result{Reason: gateway.Reason("")}} // the names below are declared
	for _, written := range []string{
		`return gateway.AwaitingConfirmation(nil, "in other words")`, `return gateway.Reason("in other words")`,
		`return gateway.Result{Reason: "in other words"}`, `return "in other words"`,
	} {
		source := "package p\nfunc f() (r gateway.Reason) { " + written + " }"
		file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
		require.NoError(t, err)
		require.Len(t, wordedHere(file), 1, written)
	}
}

// wordedHere finds literals that become a Reason.
func wordedHere(file *ast.File) (found []token.Pos) {
	literal := func(e ast.Expr) bool {
		l, ok := e.(*ast.BasicLit)
		return ok && l.Kind == token.STRING && l.Value != `""`
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if name(n.Type) != "Result" {
				break
			}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && name(kv.Key) == "Reason" && literal(kv.Value) {
					found = append(found, kv.Value.Pos())
				}
			}
		case *ast.CallExpr: // gateway.Reason("…"), gateway.AwaitingConfirmation(id, "…")
			if (name(n.Fun) == "Reason" || name(n.Fun) == "AwaitingConfirmation") && len(n.Args) > 0 &&
				literal(n.Args[len(n.Args)-1]) {
				found = append(found, n.Pos())
			}
		case *ast.FuncDecl:
			if n.Body == nil || n.Type.Results == nil {
				break
			}
			at := -1
			for i, f := range n.Type.Results.List {
				if s, ok := f.Type.(*ast.SelectorExpr); ok && name(s.X) == "gateway" && s.Sel.Name == "Reason" {
					at = i
				}
			}
			if at < 0 {
				break
			}
			ast.Inspect(n.Body, func(m ast.Node) bool {
				if r, ok := m.(*ast.ReturnStmt); ok && len(r.Results) > at && literal(r.Results[at]) {
					found = append(found, r.Pos())
				}
				_, inner := m.(*ast.FuncLit)
				return !inner
			})
		}
		return true
	})
	return found
}

func name(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Ident:
		return n.Name
	case *ast.SelectorExpr:
		return n.Sel.Name
	}
	return ""
}

// TestInvariantsNameReasons: what the invariants look for in results are reasons.
func TestInvariantsNameReasons(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repository, "sql/*/invariants/*.sql"))
	require.NoError(t, err)
	condition := regexp.MustCompile(`->> 'reason'(?:, '')?\)? (?:=|LIKE|NOT LIKE) '([^']*)'`)
	named := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range condition.FindAllStringSubmatch(string(text), -1) {
			begin, _ := strings.CutSuffix(m[1], "%")
			known := false
			for _, r := range gateway.Reasons {
				known = known || strings.HasPrefix(string(r.Reason), begin)
			}
			require.True(t, known, "%s looks for %q", path, m[1])
			named++
		}
	}
	require.Equal(t, 2, named)
}
