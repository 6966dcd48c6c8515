// Command figures counts the Go code of the repository: assertions and tests a module,
// files, lines, exported names and methods a package, what is over the limits of
// docs/testing.md, and duplicates: six or more lines of statements that stand the same, to
// the letter, in two functions. Imports, fields of a struct, signatures, comments and lone
// brackets are no statements; what is alike in its shape alone is no duplicate. With
// -compare it shows what differs from figures that were kept in a file, or from a commit.
//
//	go -C tools run ./figures [-compare file-or-commit]
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	compare := flag.String("compare", "", "figures kept in a file, or a commit")
	flag.Parse()
	if err := run(*compare); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(compare string) error {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	root := strings.TrimSpace(string(out))
	code, err := ofTree(root)
	if err != nil {
		return err
	}
	now, err := count(code)
	if err != nil || compare == "" {
		now.print(os.Stdout)
		return err
	}
	was, err := figuresOf(root, compare)
	if err != nil {
		return err
	}
	printDifferences(os.Stdout, was, now)
	return nil
}

// figures are numbers by heading and by what is counted.
type figures map[string]map[string]int

// add raises a figure.
func (f figures) add(heading, key string, n int) {
	if f[heading] == nil {
		f[heading] = map[string]int{}
	}
	f[heading][key] += n
}

// The headings, in the order in which they are printed.
const (
	assertions   = "Assertions a module"
	expectations = "Expected answers a module"
	tests        = "Tests a module"
	files        = "Files a package"
	lines        = "Lines a package"
	names        = "Names that a package exports"
	door         = "Names and methods of Service at the door of a module"
	methods      = "Methods of the largest type of a package"
	manyFiles    = "Packages over 25 files"
	manyMethods  = "Types over 40 methods"
	duplicates   = "Duplicates of six or more lines"
	total        = "In all"
)

var headings = []string{
	assertions, expectations, tests, files, lines, names, door, methods, manyFiles, manyMethods,
	duplicates, total,
}

func (f figures) print(w io.Writer) {
	for _, h := range headings {
		fmt.Fprintf(w, "%s:\n", h)
		for _, key := range slices.Sorted(maps.Keys(f[h])) {
			fmt.Fprintf(w, "  %-56s %7d\n", key, f[h][key])
		}
	}
}

// read is the reverse of print.
func read(text []byte) (figures, error) {
	f, heading := figures{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if h, ok := strings.CutSuffix(line, ":"); ok {
			heading = h
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || heading == "" {
			return nil, fmt.Errorf("no line of figures: %q", line)
		}
		n, err := strconv.Atoi(line[at+1:])
		if err != nil {
			return nil, fmt.Errorf("no line of figures: %q", line)
		}
		f.add(heading, strings.TrimSpace(line[:at]), n)
	}
	return f, nil
}

// figuresOf reads figures from a file, or counts those of a commit.
func figuresOf(root, from string) (figures, error) {
	text, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) && !filepath.IsAbs(from) {
		text, err = os.ReadFile(filepath.Join(root, from))
	}
	if err == nil {
		return read(text)
	}
	code, failed := ofCommit(root, from)
	if failed != nil {
		return nil, fmt.Errorf("neither a file (%w) nor a commit: %w", err, failed)
	}
	return count(code)
}

// printDifferences shows what got fewer of what may not, and then all that differs.
func printDifferences(w io.Writer, was, now figures) {
	fewer := false
	for _, h := range []string{assertions, expectations, tests} {
		for _, key := range slices.Sorted(maps.Keys(was[h])) {
			if was[h][key] > now[h][key] {
				fmt.Fprintf(w, "FEWER  %-28s %-40s %7d -> %d\n", h, key, was[h][key], now[h][key])
				fewer = true
			}
		}
	}
	if !fewer {
		fmt.Fprintln(w, "No module has fewer assertions, expected answers or tests.")
	}
	for _, h := range headings {
		var all bytes.Buffer
		keys := slices.Sorted(maps.Keys(was[h]))
		for key := range now[h] {
			if _, known := was[h][key]; !known {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		for _, key := range keys {
			if was[h][key] != now[h][key] {
				fmt.Fprintf(&all, "  %-56s %7s -> %s\n", key, listed(was[h], key), listed(now[h], key))
			}
		}
		if all.Len() > 0 {
			fmt.Fprintf(w, "%s:\n%s", h, all.String())
		}
	}
}

func listed(of map[string]int, key string) string {
	if n, ok := of[key]; ok {
		return strconv.Itoa(n)
	}
	return "-"
}
