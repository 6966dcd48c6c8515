package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// depsTypes are the types that stand in a service's Deps, and nowhere beside them.
var depsTypes = []string{"*pgxpool.Pool", "clock.Clock", "*slog.Logger", "*jobs.Client"}

// TestServicesAndHandlersHaveOneForm: a service keeps what it was given in deps and its queries
// in db, and routes are answered by methods of handlers or by a resource.
func TestServicesAndHandlersHaveOneForm(t *testing.T) {
	t.Parallel()
	modules, files := filepath.Join(root(t), "modules"), 0
	require.NoError(t, filepath.WalkDir(modules, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "internal" || strings.HasSuffix(entry.Name(), "test")):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			for _, what := range otherForms(file) {
				t.Errorf("%s: %s", path, what)
			}
		}
		return err
	}))
	require.Greater(t, files, 300)

	planted, err := parser.ParseFile(token.NewFileSet(), "", `package board
		type Deps struct { Pool *pgxpool.Pool }
		type Store struct { deps Deps; db *boarddb.Queries }
		type Service struct { q *boarddb.Queries; pool *pgxpool.Pool }
		func (s *Service) Routes(api *httpapi.API) {
			h, one := s.room.Handlers(), s
			httpapi.Route(api, get, "/a", "a", httpapi.Admin, h.getA)
			httpapi.Route(api, get, "/b", "b", httpapi.Admin, s.crud.List(b.View))
			httpapi.Route(api, get, "/c", "c", httpapi.Admin, s.getC)
			api.Mount(get, "/d", "d", httpapi.Admin, one.getD(api))
			api.Mount(get, "/e", "e", httpapi.Admin, func(http.ResponseWriter, *http.Request) {})
		}
		func (h handlers) mount(api *httpapi.API) {
			api.Mount(get, "/f", "f", httpapi.Admin, func(http.ResponseWriter, *http.Request) {})
		}`, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Equal(t, []string{
		"the queries of Service are in q: call it db", "Service keeps pool beside its deps",
		"s.getC is no method of handlers", "one.getD(api) is no method of handlers",
		"(func(http.ResponseWriter, *http.Request) literal) is no method of handlers",
	}, otherForms(planted))
}

// otherForms tells what of a file has another form.
func otherForms(file *ast.File) (found []string) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					found = append(found, otherService(spec)...)
				}
			}
		case *ast.FuncDecl:
			found = append(found, otherHandlers(decl)...)
		}
	}
	return found
}

func otherService(spec *ast.TypeSpec) (found []string) {
	of, ok := spec.Type.(*ast.StructType)
	if !ok {
		return nil
	}
	service := false
	for _, field := range of.Fields.List {
		typ := types.ExprString(field.Type)
		for _, name := range field.Names {
			switch {
			case strings.HasSuffix(typ, "db.Queries"):
				service = true
				if name.Name != "db" {
					found = append(found, "the queries of "+spec.Name.Name+" are in "+name.Name+": call it db")
				}
			case slices.Contains(depsTypes, typ):
				found = append(found, spec.Name.Name+" keeps "+name.Name+" beside its deps")
			}
		}
	}
	if !service {
		return nil
	}
	return found
}

// otherHandlers are those that a function registers.
func otherHandlers(f *ast.FuncDecl) (found []string) {
	handlers := map[string]bool{} // by the variable
	if f.Recv != nil && len(f.Recv.List[0].Names) > 0 {
		name := types.ExprString(f.Recv.List[0].Type)
		handlers[f.Recv.List[0].Names[0].Name] = strings.EqualFold(name, "handlers")
	}
	method := func(e ast.Expr) bool {
		sel, ok := e.(*ast.SelectorExpr)
		return ok && handlers[types.ExprString(sel.X)]
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				made := n.Rhs[i]
				if lit, ok := made.(*ast.CompositeLit); ok {
					made = lit.Type
				}
				if call, ok := made.(*ast.CallExpr); ok {
					made = call.Fun
				}
				name := types.ExprString(made)
				name = name[strings.LastIndexByte(name, '.')+1:]
				handlers[types.ExprString(n.Lhs[i])] = strings.EqualFold(strings.TrimPrefix(name, "New"), "handlers")
			}
		case *ast.CallExpr:
			at := map[string]int{"httpapi.Route": 5, "api.Mount": 4, "h.api.Mount": 4}[types.ExprString(n.Fun)]
			if at == 0 {
				return true
			}
			switch h := n.Args[at].(type) {
			case *ast.CallExpr:
				if method(h.Fun) || ofResource(h.Fun) {
					return true
				}
			case *ast.FuncLit:
				if f.Recv != nil && handlers[f.Recv.List[0].Names[0].Name] {
					return true
				}
			default:
				if method(h) {
					return true
				}
			}
			found = append(found, types.ExprString(n.Args[at])+" is no method of handlers")
		}
		return true
	})
	return found
}

// ofResource knows what makes the handlers of a collection.
func ofResource(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"List", "Create", "Update", "Delete"}, sel.Sel.Name)
}
