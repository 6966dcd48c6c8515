package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pkg is a package of ours, by the folders of its path.
type pkg struct {
	top  string // cmd, modules, migrations, platform, sql, testutil, web
	name string // modules/accounts → accounts; empty for migrations and web
	rest string // what follows: modules/accounts/internal/accountsdb → internal/accountsdb
}

func packageOf(dir string) pkg {
	top, rest, _ := strings.Cut(dir, "/")
	name, rest, _ := strings.Cut(rest, "/")
	return pkg{top: top, name: name, rest: rest}
}

// fixtures are modules/<m>/<m>test, and the environment of the composed platform: test code that
// other packages' tests share.
func (p pkg) fixtures() bool {
	return p.top == "modules" && p.rest == p.name+"test" || p.top == "cmd" && p.name+"/"+p.rest == environment
}

// compositionRoot are the two places that know every module.
func (p pkg) compositionRoot() bool {
	return p.top == "cmd" &&
		(p.name == "marquee" || p.name == "internal" && (p.rest == "app" || strings.HasPrefix(p.rest, "app/")))
}

func (c *checker) checkGo(file string) error {
	content, err := fs.ReadFile(c.root, file)
	if err != nil {
		return err
	}
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, file, content, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	from := packageOf(path.Dir(file))
	if !from.known() && file != "embed.go" { // in the root: what embeds SQL
		c.report(file, 0, "place", "%s has no place in the architecture: give it one in testutil/archtest/tables.go",
			path.Dir(file))
		return nil
	}
	if path.Dir(file) == "migrations" {
		c.report(file, 0, "place", "migrations/ holds SQL alone: goose takes every .go file there for a migration")
	}
	c.checkGenerated(file, content)
	c.measure(file, from, content, parsed)
	test := strings.HasSuffix(file, "_test.go") || from.fixtures()
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if imported == c.name && from.top != "migrations" && from.top != "sql" {
			c.report(file, positions.Position(spec.Pos()).Line, "import",
				"%s may not import the root: migrations/schema and sql/invariants run what it embeds", path.Dir(file))
		}
		if r, _, _ := roomOf(from); r.words && !test && isNotWords(c.name, imported) {
			c.report(file, positions.Position(spec.Pos()).Line, "import", "%s holds words alone: it may not import %s",
				path.Dir(file), imported)
		}
		dir, ours := strings.CutPrefix(imported, c.name+"/")
		if !ours {
			continue
		}
		to := packageOf(dir)
		reason := permitted(from, to, test)
		if to.development() && !from.development() && !test && !from.measures() {
			reason = importsDevelopment(file, content, to)
		}
		if reason != "" {
			c.report(file, positions.Position(spec.Pos()).Line, "import", "%s may not import %s: %s", path.Dir(file),
				dir, reason)
		}
	}
	if from.top == "cmd" && test {
		c.checkPlatform(file, from, positions, parsed)
	}
	if from.top == "modules" && !test {
		c.checkLiterals(file, from.name, positions, parsed)
		c.checkGateways(file, from, positions, parsed)
		return c.checkCalls(file, from, positions, parsed)
	}
	return nil
}

func (p pkg) known() bool {
	switch p.top {
	case "modules":
		_, listed, _ := roomOf(p)
		return isModule(p.name) && (listed || p.rest == "" || p.rest == "internal/"+p.name+"db" || p.fixtures())
	case "platform":
		_, listed := platformUses[p.name]
		return listed || slices.Contains(foundation, p.name)
	case "testutil", "cmd":
		return p.name != ""
	case "migrations", "web":
		return true
	case "sql":
		return p.name == checks && p.rest == ""
	}
	return false
}

// permitted returns why the import is not, or nothing.
func permitted(from, to pkg, test bool) string {
	switch {
	case !to.known():
		return "that has no place in the architecture"
	case to.top == "modules" && to.top == from.top && to.name == from.name:
		return importsRoom(from, to, test)
	case to.top == from.top && to.name == from.name && from.name != "":
		return "" // within one package tree the compiler's own rules suffice
	case from.development() && !test:
		return from.name + " stands on its own"
	case to.top == "cmd":
		if to.fixtures() && !test {
			return "fixtures are for tests"
		}
		return importsCommand(from)
	case to.top == "testutil":
		if test || from.top == "testutil" || from.measures() {
			return ""
		}
		return "testutil is for tests"
	case to.top == "modules":
		return importsModule(from, to, test)
	case to.top == "platform":
		return importsPlatform(from, to, test)
	case to.top == "migrations":
		if from.top == "cmd" || from.top == "testutil" || test {
			return ""
		}
		return "only commands and tests run migrations"
	case to.top == "sql":
		if from.top == "cmd" || from.top == "testutil" || from.top == "modules" && from.name == reader || test {
			return ""
		}
		return "only " + reader + ", commands and tests check across the modules"
	case to.top == "web":
		if from.top == "cmd" || from.top == "modules" || test {
			return ""
		}
		return "only modules and commands show what is in web"
	}
	return "that direction is not listed"
}

// measures reports whether a package is of the command that measures the others, which like a
// test is no part of what runs.
func (p pkg) measures() bool { return p.top == "cmd" && p.name == "bench" }

func importsCommand(from pkg) string {
	if from.compositionRoot() {
		return ""
	}
	return "nothing stands above the composition root but cmd/marquee"
}

func importsModule(from, to pkg, test bool) string {
	switch {
	case to.fixtures() && !test:
		return "fixtures are for tests"
	case from.compositionRoot():
		return importsAssembled(to)
	case from.top != "modules":
		return "only modules and the composition root know modules"
	case test && from.name == reader && (to.rest == "" || to.fixtures()):
		return "" // what reads all schemas is tested over the rows of all
	case !moduleUses(from.name, to.name):
		return "the table of modules does not list " + to.name + " for " + from.name
	case slices.Contains(openRooms[to.name], to.rest):
		return ""
	case to.rest != "" && !to.fixtures():
		return "of another module only the root package is open"
	}
	return ""
}

// importsAssembled: from the composition root, which goes through the doors of modules as they do themselves.
func importsAssembled(to pkg) string {
	if to.rest == "" || to.fixtures() || slices.Contains(openRooms[to.name], to.rest) ||
		slices.Contains(assembledRooms[to.name], to.rest) {
		return ""
	}
	return "of a module only the root package is open, and what the table of assembled rooms lists"
}

// isNotWords reports whether an import is of no use to a room that holds words alone.
func isNotWords(module, imported string) bool {
	dir, ours := strings.CutPrefix(imported, module+"/platform/")
	if ours {
		return dir == "postgres" || !slices.Contains(foundation, dir)
	}
	return slices.ContainsFunc(notWords,
		func(p string) bool { return imported == p || strings.HasPrefix(imported, p+"/") })
}

// importsRoom: within one module.
func importsRoom(from, to pkg, test bool) string {
	r, _, divided := roomOf(from)
	switch {
	case !divided || test || from.rest == "":
		return "" // the compiler's own rules suffice
	case to.rest == "":
		return "a room never imports its root"
	case slices.Contains(r.uses, to.rest):
		return ""
	}
	return "the table of rooms does not list " + to.rest + " for " + from.rest
}

func importsPlatform(from, to pkg, test bool) string {
	switch from.top {
	case "cmd", "testutil", "modules":
		return ""
	case "platform":
		if test || slices.Contains(platformUses[from.name], to.name) {
			return ""
		}
		if slices.Contains(foundation, to.name) && !slices.Contains(foundation, from.name) {
			return ""
		}
		return "the table of platform packages does not list " + to.name + " for " + from.name
	case "migrations", "sql":
		if test {
			return ""
		}
	}
	return from.top + " stands on its own"
}

// checkGenerated keeps sqlc's code where the compiler hides it from other modules.
func (c *checker) checkGenerated(file string, content []byte) {
	if !bytes.HasPrefix(content, []byte("// Code generated by sqlc.")) {
		return
	}
	p := packageOf(path.Dir(file))
	if p.top != "modules" || p.rest != "internal/"+p.name+"db" {
		c.report(file, 1, "generated", "code made by sqlc belongs in modules/<m>/internal/<m>db")
	}
}

// checkLiterals looks for SQL of other modules in a module's strings, also where one is put
// together of several.
func (c *checker) checkLiterals(file, owner string, positions *token.FileSet, parsed *ast.File) {
	ast.Inspect(parsed, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, read := joined(e)
		for _, n := range embeddedNames(text) {
			if !mayRead(owner, n.schema) && !mayCall(owner, n) {
				c.report(file, positions.Position(e.Pos()).Line, "schema", "SQL of module %s names schema %s", owner,
					n.schema)
			}
		}
		return !read
	})
}

// joined is the text of a literal, or of what is added to one, where all else is a name.
func joined(e ast.Expr) (text string, read bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, readLeft := joined(e.X)
		right, readRight := joined(e.Y)
		if readLeft && readRight {
			return left + right, true
		}
	case *ast.Ident, *ast.SelectorExpr:
		return " ", true
	}
	return "", false
}

// checkCalls looks for queries that a room, or the root of a module with rooms, may not call.
// They are known by their names, which are those of no other methods.
func (c *checker) checkCalls(file string, from pkg, positions *token.FileSet, parsed *ast.File) error {
	r, _, divided := roomOf(from)
	if !divided || strings.HasPrefix(from.rest, "internal/") {
		return nil
	}
	queries, err := c.queriesOf(from.name)
	if err != nil {
		return err
	}
	packages := map[string]bool{}
	for _, spec := range parsed.Imports {
		packages[path.Base(strings.Trim(spec.Path.Value, `"`))] = true
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := call.X.(*ast.Ident); ok && packages[x.Name] {
			return true // a type or a function of that name
		}
		owner, query := queries[call.Sel.Name]
		if query && !slices.Contains(r.sql, owner) {
			c.report(file, positions.Position(call.Sel.Pos()).Line, "query", "%s may not call %s of sql/%s/%s.sql",
				path.Dir(file), call.Sel.Name, from.name, owner)
		}
		return true
	})
	return nil
}

var queryLine = regexp.MustCompile(`(?m)^-- name: (\w+) `)

// queriesOf are the queries of a module, each with the name of its file.
func (c *checker) queriesOf(module string) (map[string]string, error) {
	if known := c.queries[module]; known != nil {
		return known, nil
	}
	files, err := fs.Glob(c.root, "sql/"+module+"/*.sql")
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, file := range files {
		content, err := fs.ReadFile(c.root, file)
		if err != nil {
			return nil, err
		}
		for _, m := range queryLine.FindAllSubmatch(content, -1) {
			found[string(m[1])] = strings.TrimSuffix(path.Base(file), ".sql")
		}
	}
	c.queries[module] = found
	return found, nil
}
