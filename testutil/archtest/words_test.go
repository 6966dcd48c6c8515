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

// plainWords are what docs/glossary.md has the field's words for. No part of the name of a
// package, type, function, method, constant, variable of a package, field or parameter is one; names of tests are
// sentences and may hold any. Fields with a tag are named as the contract has them, those of generated code as their
// columns.
var plainWords = regexp.MustCompile(`(?i)^(?:questions?|ask(?:s|ed|ing)?|sends?|wish(?:es|ed)?|intend(?:s|ed)?|` +
	`vacat(?:e|es|ed)|admit(?:s|ted)?|kept|mine|owns?|held|told|shown|shape[sd]?|learn(?:s|ed|t)?|noted|notes?|` +
	`follow(?:s|ed)?|recall(?:s|ed)?|keepers?|deeds?|lives|worlds?|sound|look(?:s|ed)?|answer(?:s|ed)?|tells?|` +
	`waits|dead|nothing|memory|leaktest)$`)

// plainPhrases are such words that are two.
var plainPhrases = regexp.MustCompile(`(?i)makes?Room|toldOf`)

// oldPackages are names that packages had.
var oldPackages = regexp.MustCompile(`^(?:are|collection|histories)$`)

// plainAllowed are names that may stand all the same.
var plainAllowed = map[string]bool{
	"MemoryKiB":     true,                    // argon2's own word
	"SendBatch":     true,                    // pgx's
	"UnappliedKept": true, "StrayKept": true, // states of the contract
}

// customerNote is the field's word for what staff write down about a customer, alone among the notes.
var customerNote = regexp.MustCompile(`(?i)customerNotes?`)

// plainVariables are those that a field, a parameter or a result may have all the same: note is what people read beside
// an unapplied payment or a difference.
var plainVariables = map[string]bool{"note": true, "Note": true}

// mayBeSent are the places where a name says that a mail, an HTTP request or an event is sent, and never that a gateway
// is asked for something; and where shape is the word of the sandbox's control for the form of its events.
var mayBeSent = regexp.MustCompile(`_test\.go$|/(?:testutil|cmd)/|/modules/(?:accounts/codes|tickets/mails)/|/platform/mail/`)

var sending = regexp.MustCompile(`(?i)^(?:sends?|shapes?)$`)

var (
	// wordOf finds the words that a name is made of, without the numbers behind them.
	wordOf = regexp.MustCompile(`[A-Z]*[a-z]+|[A-Z]+`)
	// afterInitials is where a word begins behind initials: the A of IDAsked.
	afterInitials = regexp.MustCompile(`([A-Z])([A-Z][a-z])`)
)

func TestNamesAreTheFieldsWords(t *testing.T) {
	t.Parallel()
	require.Empty(t, plainNames(t, "planted.go",
		"package a\ntype Memorial int\nfunc TestNothingIsKept() {}\nfunc Answerable() {}\nfunc newCustomerNotes() {}\n"))
	require.Equal(t, []string{"own", "Learned", "sendCharge", "keptPage", "AskAgain", "IsShown", "told", "Held", "admit"},
		plainNames(t, "planted.go", "package own\ntype keptPage int\nfunc AskAgain() {}\n"+
			"type I interface{ IsShown() bool }\nfunc f(told, note int) { learned := told }\n"+
			"type s struct {\n\tHeld int\n\tKept int `json:\"kept\"`\n}\nfunc admit() {}\nconst Learned = 1\n"+
			"var sendCharge int\n"), "planted")
	require.Equal(t, []string{"IDAsked", "held2", "note"}, plainNames(t, "planted.go",
		"package a\ntype IDAsked int\nfunc held2(note string) {}\nfunc note() {}\nvar IDs, sha256 int\n"), "planted")
	require.Equal(t, []string{"collection", "makeRoom"},
		plainNames(t, "/platform/mail/planted.go", "package collection\nfunc makeRoom() {}\nfunc Send() {}\n"), "planted")

	err := filepath.WalkDir(root(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		for _, name := range plainNames(t, path, nil) {
			t.Errorf("%s: %s is no word of the field: docs/glossary.md", path, name)
		}
		return nil
	})
	require.NoError(t, err)
}

// plainNames are the names that a file declares with one of the plain words.
func plainNames(t *testing.T, path string, text any) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	check := func(name *ast.Ident) {
		if plainAllowed[name.Name] {
			return
		}
		for _, sentence := range []string{"Test", "Fuzz", "Benchmark", "Example"} {
			if strings.HasPrefix(name.Name, sentence) {
				return
			}
		}
		if plainPhrases.MatchString(name.Name) {
			found = append(found, name.Name)
			return
		}
		for _, word := range wordOf.FindAllString(afterInitials.ReplaceAllString(customerNote.ReplaceAllString(name.Name, ""), "${1}_$2"), -1) {
			if plainWords.MatchString(word) && !(mayBeSent.MatchString(path) && sending.MatchString(word)) {
				found = append(found, name.Name)
				return
			}
		}
	}
	generated := strings.Contains(path, "/internal/") && strings.HasSuffix(filepath.Dir(path), "db")
	variables := func(fields *ast.FieldList) {
		if fields == nil || generated {
			return
		}
		for _, f := range fields.List {
			for _, name := range f.Names {
				if f.Tag == nil && !plainVariables[name.Name] {
					check(name)
				}
			}
		}
	}
	if check(file.Name); oldPackages.MatchString(file.Name.Name) {
		found = append(found, file.Name.Name)
	}
	for _, d := range file.Decls {
		if d, ok := d.(*ast.GenDecl); ok && !generated {
			for _, s := range d.Specs {
				if s, ok := s.(*ast.ValueSpec); ok {
					for _, name := range s.Names {
						check(name)
					}
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			check(n.Name)
		case *ast.TypeSpec:
			check(n.Name)
		case *ast.StructType:
			variables(n.Fields)
		case *ast.FuncType:
			variables(n.Params)
			variables(n.Results)
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				for _, name := range m.Names {
					check(name)
				}
			}
		}
		return true
	})
	return found
}

var (
	queryName = regexp.MustCompile(`(?m)^-- name: (\w+) `)
	// queryVerb is what a query does, behind the noun that it does it to. Get reads one row or value, List many, Count and
	// Sum add up, Is, Has, Exists, Covers and GoesBeyond answer yes or no; the others change what they name.
	queryVerb = regexp.MustCompile(`^[A-Z]\w*?(?:Accept|Add|Adopt|Amend|Attempt|Beat|Begin|Block|Call|Cancel|Change|Check|` +
		`Claim|Clear|Close|Confirm|Consume|Count|Covers|Decide|Defer|Delete|Drop|Empty|End|Erase|Exists|Expire|Fail|Find|` +
		`Finish|Fold|Forget|Forward|Get|GiveUp|GoesBeyond|Has|Holds?|Insert|Is|Keep|Leave|Lengthen|Link|List|Lock|Lower|` +
		`Make|Mark|Move|Open|Pay|Postpone|Probe|Progress|Put|Read|Receive|Record|Recover|Refund|Refuse|Rehash|Release|` +
		`Repeat|Replace|Request|Requeue|Require|Reserve|Reset|Restore|Return|Revive|Seat|Set|Spend|Sum|Suspect|Take|Toggle|` +
		`Touch|Trust|Turn|Undo|Update|Use|Verify|Void|Withdraw)(?:[A-Z]|$)`)
	// Nouns of which a part reads like a verb.
	queryNoun = regexp.MustCompile(`^(?:EmailChange|ChargeMove|PlanMove|GiveBack|CodeRequest|DatabaseMark|DebitRetry|` +
		`FailedAttempt)`)
	// verbFirst is a name that begins with what the query does, and not with what it does it to.
	verbFirst = regexp.MustCompile(`^(?:Add|Adopt|Begin|Cancel|Claim|Clear|Confirm|Count|Defer|Delete|Drop|End|Erase|Expire|` +
		`Fail|Find|Finish|Forget|Get|Has|Hold|Insert|Is|Lengthen|List|Lock|Mark|Move|Open|Postpone|Put|Read|Release|` +
		`Set|Take|Turn|Update|Use|Void)(?:[A-Z]|$)`)
)

// TestQueriesAreNounVerb: OrderLock, SubscriptionListDueEnds. So the queries of one thing stand together, in the generated
// code as in a list of completions.
func TestQueriesAreNounVerb(t *testing.T) {
	t.Parallel()
	nounVerb := func(name string) bool {
		return !verbFirst.MatchString(name) && queryVerb.MatchString(queryNoun.ReplaceAllString(name, "Noun"))
	}
	for _, planted := range []string{"GetSubscription", "CodeStats", "UserByLogin", "PlanMoveOpened", "EmailChange"} {
		require.False(t, nounVerb(planted), "planted: %s", planted)
	}
	files, err := filepath.Glob(filepath.Join(root(t), "sql", "*", "*.sql"))
	require.NoError(t, err)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range queryName.FindAllSubmatch(text, -1) {
			require.True(t, nounVerb(string(m[1])), "%s: %s is no noun and what is done to it", file, m[1])
			found++
		}
	}
	require.Greater(t, found, 400)
}
