package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The limits of a package and of a type.
const (
	mostFiles   = 25
	mostMethods = 40
	shortFile   = 40 // lines: below it, a file is a short one
)

// ofTree reads the Go files as they are: those that git tracks, or would.
func ofTree(root string) (map[string][]byte, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.go")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the files: %w", err)
	}
	code := map[string][]byte{}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) { // deleted, and not told yet
			continue
		}
		if err != nil {
			return nil, err
		}
		code[name] = text
	}
	return code, nil
}

// ofCommit reads the Go files of a commit.
func ofCommit(root, commit string) (map[string][]byte, error) {
	cmd := exec.Command("git", "archive", "--format=tar", commit)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", commit, err)
	}
	code := map[string][]byte{}
	archive := tar.NewReader(bytes.NewReader(out))
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return code, nil
		}
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(h.Name, ".go") {
			if code[h.Name], err = io.ReadAll(archive); err != nil {
				return nil, err
			}
		}
	}
}

// moduleOf is whom assertions are counted for, so that a package which is split keeps its
// sum: modules/accounts, platform/query, cmd/internal/app, testutil/sandbox.
func moduleOf(dir string) string {
	parts := strings.Split(dir, "/")
	depth := map[string]int{"modules": 2, "platform": 2, "testutil": 2, "cmd": 3}[parts[0]]
	return strings.Join(parts[:min(max(depth, 1), len(parts))], "/")
}

// count takes the figures of the code, without that of the tools.
func count(code map[string][]byte) (figures, error) {
	f := figures{}
	ofTypes := map[string]int{}
	var done []body
	packages := map[string]bool{}
	for name, text := range code {
		if strings.HasPrefix(name, "tools/") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		dir, many := path.Dir(name), bytes.Count(text, []byte("\n"))
		if ast.IsGenerated(file) {
			f.add(total, "generated lines", many)
			continue
		}
		f.countTests(file, moduleOf(dir))
		if strings.HasSuffix(name, "_test.go") {
			f.add(total, "hand-written lines of tests", many)
			continue
		}
		packages[dir] = true
		f.add(files, dir, 1)
		f.add(lines, dir, many)
		f.add(total, "hand-written lines, without tests", many)
		f.add(total, "hand-written files, without tests", 1)
		if path.Base(name) != "doc.go" {
			f.add(total, "hand-written files, without tests and doc.go", 1)
			if many < shortFile {
				f.add(total, "hand-written files under 40 lines, without tests and doc.go", 1)
			}
		}
		f.countNames(file, dir, ofTypes)
		done = append(done, bodiesOf(set, file, name, text)...)
	}
	f.add(total, "hand-written lines",
		f[total]["hand-written lines of tests"]+f[total]["hand-written lines, without tests"])
	f.add(total, "packages", len(packages))
	for _, h := range []string{assertions, expectations, tests} {
		for _, n := range f[h] {
			f.add(total, strings.ToLower(strings.TrimSuffix(h, " a module")), n)
		}
	}
	f.findLargest(ofTypes)
	for where, shared := range duplicatesIn(done) {
		f.add(duplicates, where, shared)
	}
	f.add(total, "duplicates", len(f[duplicates]))
	return f, nil
}

// countTests counts what fails a test. Helpers of tests stand in other files, too.
func (f figures) countTests(file *ast.File, module string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && strings.HasPrefix(n.Name.Name, "Test") && n.Name.Name != "TestMain" &&
				n.Type.Params.NumFields() == 1 && isOf(n.Type.Params.List[0].Type, "testing", "T") {
				f.add(tests, module, 1)
			}
		case *ast.CallExpr:
			called, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if on, ok := called.X.(*ast.Ident); ok && isAssertion(on.Name, called.Sel.Name) {
				f.add(assertions, module, 1)
			}
			if strings.EqualFold(called.Sel.Name, "expect") {
				f.add(expectations, module, 1)
			}
		}
		return true
	})
}

func isOf(e ast.Expr, pkg, name string) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	on, ok := sel.X.(*ast.Ident)
	return ok && on.Name == pkg && sel.Sel.Name == name
}

func isAssertion(on, called string) bool {
	switch on {
	case "require", "assert":
		return called != "New"
	case "t", "tb", "b", "f":
		return slices.Contains([]string{"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"}, called)
	}
	return false
}

// countNames counts the names that a file declares for other packages, and the methods of
// its types.
func (f figures) countNames(file *ast.File, dir string, ofTypes map[string]int) {
	name := func(id *ast.Ident) {
		if id.IsExported() {
			f.add(names, dir, 1)
			if isDoor(dir) {
				f.add(door, dir, 1)
			}
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				name(d.Name)
				continue
			}
			of := receiver(d.Recv.List[0].Type)
			ofTypes[dir+"."+of]++
			if of == "Service" && d.Name.IsExported() && isDoor(dir) {
				f.add(door, dir, 1)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					name(s.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						name(id)
					}
				}
			}
		}
	}
}

// isDoor reports whether the directory is a module's root.
func isDoor(dir string) bool { return path.Dir(dir) == "modules" }

// receiver is the name of a receiver's type.
func receiver(e ast.Expr) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(e), "*"), "[")
	return name
}

// findLargest keeps the largest type of each package, and what is over the limits.
func (f figures) findLargest(ofTypes map[string]int) {
	largest := map[string]string{}
	for name, n := range ofTypes {
		dir := name[:strings.LastIndexByte(name, '.')]
		if best, ok := largest[dir]; !ok || n > ofTypes[best] || n == ofTypes[best] && name < best {
			largest[dir] = name
		}
		if n > mostMethods {
			f.add(manyMethods, name, n)
		}
	}
	for _, name := range largest {
		f.add(methods, name, ofTypes[name])
	}
	for dir, n := range f[files] {
		if n > mostFiles {
			f.add(manyFiles, dir, n)
		}
	}
}
