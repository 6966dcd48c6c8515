package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// fault is one to be planted. Old stands once in the production code, wherever that is:
// in Go, what sqlc generates among it, a migration or an invariant. Blanks and ends of
// lines are all alike in it.
type fault struct {
	name   string
	breaks string   // in a sentence
	where  string   // the declaration in which Old stands, for whoever looks for what became of it
	old    string   // is replaced
	new    string   // by this
	below  string   // the tests stand in or below this directory
	tests  []string // that catch it: names of functions
}

// place is where a fault is planted today, and the packages of its tests.
type place struct {
	fault
	file     string
	text     string // of the file
	planted  string // the text with the fault
	packages []string
}

// tree is the code of the repository: text by path.
type tree struct{ production, tests map[string]string }

// isOurs reports whether a file is compiled into the product, as it is: the SQL from which
// sqlc makes Go is not.
func isOurs(name string) bool {
	in := func(dirs ...string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(name, dir) })
	}
	switch filepath.Ext(name) {
	case ".go":
		return in("cmd/", "modules/", "platform/", "sql/", "migrations/", "web/", "testutil/")
	case ".sql":
		return in("migrations/") || in("sql/") && path.Base(path.Dir(name)) == "invariants"
	}
	return false
}

func readTree(root string) (tree, error) {
	t := tree{production: map[string]string{}, tests: map[string]string{}}
	files, err := tracked(root)
	if err != nil {
		return t, err
	}
	for _, name := range files {
		if !isOurs(name) {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return t, err
		}
		if strings.HasSuffix(name, "_test.go") {
			t.tests[name] = string(raw)
		} else {
			t.production[name] = string(raw)
		}
	}
	return t, nil
}

// placesOf finds where the faults are planted; the error names each that has no place
// any more, or several.
func (t tree) placesOf(all []fault) ([]place, error) {
	places := make([]place, 0, len(all))
	var lost []error
	for _, f := range all {
		p, err := t.placeOf(f)
		if err != nil {
			lost = append(lost, fmt.Errorf("%s (%s): %w", f.name, f.where, err))
			continue
		}
		places = append(places, p)
	}
	return places, errors.Join(lost...)
}

func (t tree) placeOf(f fault) (place, error) {
	p := place{fault: f}
	pattern := anyBlanks(f.old)
	for name, text := range t.production {
		found := pattern.FindAllStringIndex(text, 2)
		if len(found) == 0 {
			continue
		}
		if len(found) > 1 || p.file != "" {
			return p, fmt.Errorf("its text stands more than once, in %s and elsewhere: %s", name, f.old)
		}
		p.file, p.text = name, text
		p.planted = text[:found[0][0]] + f.new + text[found[0][1]:]
	}
	if p.file == "" {
		return p, fmt.Errorf("its text is not in the code any more: %s", f.old)
	}
	for _, test := range f.tests {
		in := t.packagesOf(f.below, test)
		if len(in) == 0 {
			return p, fmt.Errorf("no %s in or below %s", test, f.below)
		}
		p.packages = append(p.packages, in...)
	}
	slices.Sort(p.packages)
	p.packages = slices.Compact(p.packages)
	return p, nil
}

// packagesOf are the packages in or below a directory that have a test of the name.
func (t tree) packagesOf(below, test string) []string {
	var in []string
	for name, text := range t.tests {
		if strings.HasPrefix(name, below+"/") && strings.Contains(text, "\nfunc "+test+"(") {
			in = append(in, "./"+filepath.ToSlash(filepath.Dir(name)))
		}
	}
	return in
}

// anyBlanks matches a text whatever blanks stand where it has some: code that moves is
// indented otherwise.
func anyBlanks(text string) *regexp.Regexp {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return regexp.MustCompile(strings.Join(words, `\s+`))
}
