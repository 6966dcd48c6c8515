package archtest

import (
	"bytes"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
)

// The limits of a package, in hand-written code that is not for tests, and of a type, in all
// hand-written code.
const (
	mostFiles   = 25
	mostMethods = 40
)

// narrow packages have limits of their own: the names that they export, of a module's root with the exported methods
// that its exported types declare, and their lines.
var narrow = map[string]struct{ names, lines int }{
	"modules/payments":        {names: 100},
	"modules/payments/intent": {names: 40, lines: 1200},
}

// size is how large a package is.
type size struct {
	files, names, lines int
	methods             map[string]int // by their type
}

// sizeOf is the size of a package, by its folder; the one of a folder's external tests is
// called as Go does, with _test behind.
func (c *checker) sizeOf(dir string) *size {
	if c.sizes[dir] == nil {
		c.sizes[dir] = &size{methods: map[string]int{}}
	}
	return c.sizes[dir]
}

// measure adds a file to the size of its package. Of files for tests the methods alone count,
// with those of the package that they are in.
func (c *checker) measure(file string, from pkg, content []byte, parsed *ast.File) {
	if bytes.HasPrefix(content, []byte("// Code generated ")) {
		return
	}
	dir, test := path.Dir(file), strings.HasSuffix(file, "_test.go")
	if test && strings.HasSuffix(parsed.Name.Name, "_test") {
		dir += "_test"
	}
	s := c.sizeOf(dir)
	countMethods(s, parsed)
	measured := slices.Contains([]string{"cmd", "modules", "platform"}, from.top) || from.development()
	if !measured || test || from.fixtures() {
		return
	}
	s.files++
	s.lines += bytes.Count(content, []byte("\n"))
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			door := d.Recv != nil && ast.IsExported(receiver(d.Recv.List[0].Type)) && from.rest == ""
			if d.Name.IsExported() && (d.Recv == nil || door) {
				s.names++
			}
		case *ast.GenDecl:
			s.names += exportedIn(d)
		}
	}
}

// countMethods adds a file's methods to their types.
func countMethods(s *size, parsed *ast.File) {
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
			s.methods[receiver(f.Recv.List[0].Type)]++
		}
	}
}

func exportedIn(d *ast.GenDecl) (n int) {
	for _, spec := range d.Specs {
		var names []*ast.Ident
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = []*ast.Ident{spec.Name}
		case *ast.ValueSpec:
			names = spec.Names
		}
		for _, name := range names {
			if name.IsExported() {
				n++
			}
		}
	}
	return n
}

// receiver is the name of a receiver's type.
func receiver(e ast.Expr) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(e), "*"), "[")
	return name
}

// checkLimits reports, when all files are read, what is too large.
func (c *checker) checkLimits() {
	for _, dir := range slices.Sorted(maps.Keys(c.sizes)) {
		s := c.sizes[dir]
		c.atMost(dir, dir, "files", s.files, mostFiles)
		for _, of := range slices.Sorted(maps.Keys(s.methods)) {
			c.atMost(dir, dir+"."+of, "methods", s.methods[of], mostMethods)
		}
		limit, narrow := narrow[dir]
		if narrow && s.names > limit.names {
			c.report(dir, 0, "limit", "%s exports %d names, and may export %d", dir, s.names, limit.names)
		}
		if limit.lines > 0 && s.lines > limit.lines {
			c.report(dir, 0, "limit", "%s has %d lines, and may have %d", dir, s.lines, limit.lines)
		}
	}
}

// atMost reports what is over its limit.
func (c *checker) atMost(dir, what, of string, n, limit int) {
	if n > limit {
		c.report(dir, 0, "limit", "%s has %d %s, and may have %d: divide it", what, n, of, limit)
	}
}
