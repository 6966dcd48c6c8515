package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// What InvalidAt takes follows the name of its place.
	said = regexp.MustCompile(`^(has|may|is|names|belongs|holds|leads|cannot|spans) \S`)
	// The others are whole sentences; a field's name may begin them.
	sentence = regexp.MustCompile(`^([A-Z]|%s |email or )(.|\n)*(\.|%s)$`)
	// A number is written with fault.Count, or its noun would be wrong for one.
	counted = regexp.MustCompile(`%d [a-z-]+s\b`)
	person  = regexp.MustCompile(`(?i)\b(he|him|his|himself)\b`)
)

// sentences are the constructors of package fault that take one, by the place of it among
// the arguments.
var sentences = map[string]int{
	"BadRequest": 0, "BadRequestDetail": 0, "Conflict": 0, "Forbidden": 0, "TooManyRequests": 1,
}

// TestEverySentenceNamesItsSubject: what the API tells people is a sentence about something,
// never one about a place such as body[0].slug, and right for one thing as for many.
func TestEverySentenceNamesItsSubject(t *testing.T) {
	t.Parallel()
	found := 0
	check := func(at token.Position, form *regexp.Regexp, text string) {
		if found++; text == "%s" {
			return // it is made elsewhere
		}
		if !form.MatchString(text) || counted.MatchString(text) || person.MatchString(text) ||
			strings.Contains(text, "body[") {
			t.Errorf("%s: %q", at, text)
		}
	}
	for _, tree := range []string{"modules", "platform"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root(t), tree),
			func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") ||
					strings.HasSuffix(path, "_test.go") {
					return err
				}
				files := token.NewFileSet()
				file, err := parser.ParseFile(files, path, nil, 0)
				if err != nil {
					return err
				}
				ast.Inspect(file, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.CallExpr:
						called, owner := calledIn(n)
						if text, ok := literal(n.Args, 0); ok && called == "InvalidAt" {
							check(files.Position(n.Pos()), said, text)
						}
						if text, ok := literal(n.Args, 1); ok && owner == "rec" &&
							(called == "Invalid" || called == "Conflict") {
							check(files.Position(n.Pos()), said, text)
						}
						if text, ok := literal(n.Args,
							sentences[called]); ok && owner == "fault" && called != "InvalidAt" && hasSentence(called) {
							check(files.Position(n.Pos()), sentence, text)
						}
					case *ast.CompositeLit:
						if of, ok := n.Type.(*ast.SelectorExpr); ok && of.Sel.Name == "Error" {
							for _, element := range n.Elts {
								pair, _ := element.(*ast.KeyValueExpr)
								if pair == nil {
									continue
								}
								key, _ := pair.Key.(*ast.Ident)
								if text, ok := literal([]ast.Expr{pair.Value},
									0); ok && key != nil && key.Name == "Message" && !specified[text] {
									check(files.Position(n.Pos()), sentence, text)
								}
							}
						}
					}
					return true
				})
				return nil
			}))
	}
	require.Greater(t, found, 250)
}

// TestPeopleAreThey: no comment, message or page calls a person he. CHANGELOG.md quotes what was said, and migrations that
// have landed stay as they are.
func TestPeopleAreThey(t *testing.T) {
	t.Parallel()
	require.NoError(t, filepath.WalkDir(root(t), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "node_modules" {
			return fs.SkipDir
		}
		ext, name := filepath.Ext(path), entry.Name()
		if err != nil || ext != ".go" && ext != ".md" && ext != ".sql" || name == "CHANGELOG.md" ||
			name == "sentences_test.go" || filepath.Base(filepath.Dir(path)) == "migrations" {
			return err
		}
		text, err := os.ReadFile(path)
		if at := person.FindIndex(text); at != nil {
			t.Errorf("%s:%d: %q", path, 1+strings.Count(string(text[:at[0]]), "\n"), text[at[0]:at[1]])
		}
		return err
	}))
}

// specified are the contract's own, to the letter (docs/contract/accounts.md, Tokens).
var specified = map[string]bool{"Not authenticated": true}

func hasSentence(called string) bool { _, ok := sentences[called]; return ok }

func calledIn(call *ast.CallExpr) (name, owner string) {
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if x, ok := of.X.(*ast.Ident); ok {
		owner = x.Name
	}
	return of.Sel.Name, owner
}

func literal(args []ast.Expr, i int) (string, bool) {
	if i >= len(args) {
		return "", false
	}
	lit, ok := args[i].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
