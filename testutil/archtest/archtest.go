package archtest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Violation is one place where the tree leaves the architecture.
type Violation struct {
	File string // slash-separated, relative to the root
	Line int    // 1-based; 0 when the file as a whole is meant
	Rule string // see the package comment
	Text string // a sentence
}

// String is the form of compilers, which editors can jump to.
func (v Violation) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", v.File, v.Line, v.Rule, v.Text)
}

// Check reads the tree whose root holds go.mod and returns what breaks the rules, in the
// order of files. An error means that the tree could not be read or parsed.
func Check(root fs.FS) ([]Violation, error) {
	c, err := read(root)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(c.found, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return c.found, nil
}

// read visits every file of the tree.
func read(root fs.FS) (*checker, error) {
	name, err := modulePath(root)
	if err != nil {
		return nil, err
	}
	c := &checker{
		root: root, name: name, migrations: map[string]string{}, queries: map[string]map[string]string{},
		sizes: map[string]*size{},
	}
	if err := fs.WalkDir(root, ".", c.visit); err != nil {
		return nil, err
	}
	c.checkLimits()
	return c, nil
}

type checker struct {
	root       fs.FS
	name       string            // the Go module's path
	migrations map[string]string // number → file
	queries    map[string]map[string]string
	sizes      map[string]*size // of the packages, by their folders
	found      []Violation
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)

func modulePath(root fs.FS) (string, error) {
	content, err := fs.ReadFile(root, "go.mod")
	if err != nil {
		return "", err
	}
	m := moduleLine.FindSubmatch(content)
	if m == nil {
		return "", errors.New("go.mod names no module")
	}
	return string(m[1]), nil
}

func (c *checker) visit(file string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.IsDir() {
		if file != "." && c.foreign(file) {
			return fs.SkipDir
		}
		return nil
	}
	switch path.Ext(file) {
	case ".go":
		return c.checkGo(file)
	case ".sql":
		return c.checkSQL(file)
	}
	return nil
}

// foreign directories are no part of the build: hidden ones, test data, other Go modules.
func (c *checker) foreign(dir string) bool {
	base := path.Base(dir)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "node_modules" ||
		base == "vendor" {
		return true
	}
	_, err := fs.Stat(c.root, path.Join(dir, "go.mod"))
	return err == nil
}

func (c *checker) report(file string, line int, rule, format string, args ...any) {
	c.found = append(c.found, Violation{File: file, Line: line, Rule: rule, Text: fmt.Sprintf(format, args...)})
}
