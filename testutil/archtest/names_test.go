package archtest_test

import (
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
)

var (
	// A name of another package in a comment: payments.Hooks, ledger.Cases.MoveTx. Names of
	// files and of tables have no capital there.
	qualifiedName = regexp.MustCompile(`(?:^|[\s(*\[])([a-z][a-z0-9]*)\.([A-Z]\w*)`)
	// Code within a comment.
	example = regexp.MustCompile(`(?m)^\t.*$`)
	// Where a fault is planted, in tools/faults/list.go, but for what is no Go.
	plantedAt = regexp.MustCompile(`where: "([a-z]+)\.([\w.]+)"`)
	// What cites a page that is not in this repository, or a section of one that it does not name.
	elsewhere = regexp.MustCompile(`(?i)\bspecifications?\b|\bopen[-\s]shapes\b|\bquery-contract\b|` +
		`\bfinance-definitions\b|\bsections?\s\d`)
)

// TestNamesInCommentsExist: what a comment calls by the name of a package of ours is declared
// in one of that name.
func TestNamesInCommentsExist(t *testing.T) {
	t.Parallel()
	names, comments := declaredNames(t)
	missing := func(text string) (all []string) {
		for _, m := range qualifiedName.FindAllStringSubmatch(text, -1) {
			if names[m[1]] != nil && !names[m[1]][m[2]] {
				all = append(all, m[1]+"."+m[2])
			}
		}
		return all
	}
	for at, text := range comments {
		for _, name := range missing(text) {
			t.Errorf("%s: no %s is declared", at, name)
		}
	}
	faults, err := os.ReadFile(filepath.Join(root(t), "tools", "faults", "list.go"))
	require.NoError(t, err)
	found := plantedAt.FindAllStringSubmatch(string(faults), -1)
	require.Greater(t, len(found), 20)
	for _, m := range found {
		for name := range strings.SplitSeq(m[2], ".") {
			require.True(t, names[m[1]][name], "tools/faults plants at %s.%s, which is not there", m[1], m[2])
		}
	}
	require.Equal(t, []string{"payments.ErrUnavailable", "payments.Declined"},
		missing("payments.ErrUnavailable when it is *payments.Declined, payments.Hooks and payments.intents"),
		"planted")
}

// TestCommentsCiteThePagesOfTheTree: a comment of Go, sql/ or the database, and a page, cites pages of docs/, and none
// that its reader does not have.
func TestCommentsCiteThePagesOfTheTree(t *testing.T) {
	t.Parallel()
	_, comments := declaredNames(t)
	for at, text := range comments {
		require.NotRegexp(t, elsewhere, text, "%s", at)
	}
	pages := 0
	require.NoError(t, filepath.WalkDir(filepath.Join(root(t), "docs"),
		func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".md") {
				return err
			}
			pages++
			text, err := os.ReadFile(path)
			require.NotRegexp(t, elsewhere, string(text), "%s", path)
			return err
		}))
	require.Greater(t, pages, 20)
	require.NoError(t, filepath.WalkDir(filepath.Join(root(t), "sql"),
		func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".sql") {
				return err
			}
			text, err := os.ReadFile(path)
			for i, line := range strings.Split(string(text), "\n") {
				_, comment, _ := strings.Cut(line, "--")
				require.NotRegexp(t, elsewhere, comment, "%s:%d", path, i+1)
			}
			return err
		}))
	require.Equal(t, []string{"Specification", "open shapes", "query-contract", "sections 4"},
		elsewhere.FindAllString("Specification, Users; open shapes, 4; query-contract.md; finance.definitions; "+
			"as they are (sections 4 and 8)", -1), "planted")
}

// declaredNames are the names that packages of ours declare, by the package's name, with
// methods and fields, and their comments by place.
func declaredNames(t *testing.T) (names map[string]map[string]bool, comments map[token.Position]string) {
	t.Helper()
	names, comments = map[string]map[string]bool{}, map[token.Position]string{}
	files := token.NewFileSet()
	for _, tree := range []string{"cmd", "modules", "platform", "testutil", "migrations", "web", "sql"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root(t), tree),
			func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
					return err
				}
				file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
				if err != nil {
					return err
				}
				for _, group := range file.Comments {
					comments[files.Position(group.Pos())] = example.ReplaceAllString(group.Text(), "")
				}
				of := strings.TrimSuffix(file.Name.Name, "_test")
				if names[of] == nil {
					names[of] = map[string]bool{}
				}
				ast.Inspect(file, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.FuncDecl:
						names[of][n.Name.Name] = true
						return false
					case *ast.TypeSpec:
						names[of][n.Name.Name] = true
					case *ast.ValueSpec:
						for _, name := range n.Names {
							names[of][name.Name] = true
						}
					case *ast.Field:
						for _, name := range n.Names {
							names[of][name.Name] = true
						}
					}
					return true
				})
				return nil
			}))
	}
	return names, comments
}
