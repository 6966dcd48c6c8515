package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// fewestShared is how many lines make a duplicate.
const fewestShared = 6

// body is what a function does: its statements, by lines.
type body struct {
	file  string
	lines []statementLine
}

// statementLine is a line of code without its comment and its indent.
type statementLine struct {
	text   string
	number int
}

// bodiesOf reads the bodies of a file's functions. Functions within functions belong to these.
func bodiesOf(set *token.FileSet, file *ast.File, name string, text []byte) (all []body) {
	code := codeOf(text)
	for _, d := range file.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			var block *ast.BlockStmt
			switch n := n.(type) {
			case *ast.FuncDecl:
				block = n.Body
			case *ast.FuncLit:
				block = n.Body
			}
			if block == nil {
				return true
			}
			b := body{file: name}
			for n := set.Position(block.Lbrace).Line + 1; n < set.Position(block.Rbrace).Line; n++ {
				if strings.Trim(code[n], "(){}[], ") != "" {
					b.lines = append(b.lines, statementLine{code[n], n})
				}
			}
			all = append(all, b)
			return false
		})
	}
	return all
}

// codeOf is each line of a file, by its number, token by token.
func codeOf(text []byte) map[int]string {
	set, code := token.NewFileSet(), map[int]string{}
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for {
		at, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return code
		case tok == token.SEMICOLON && literal == "\n":
			continue
		}
		code[file.Line(at)] += cmp.Or(literal, tok.String()) + " "
	}
}

// spot is where fewestShared lines of a body begin that stand elsewhere, too.
type spot struct{ body, line int }

// duplicatesIn finds what stands in more than one place: how many lines, by the places. Runs
// that overlap are one duplicate.
func duplicatesIn(all []body) map[string]int {
	same := map[string][]spot{}
	for i, b := range all {
		for n := range len(b.lines) - fewestShared + 1 {
			var window strings.Builder
			for _, l := range b.lines[n : n+fewestShared] {
				window.WriteString(l.text + "\n")
			}
			same[window.String()] = append(same[window.String()], spot{i, n})
		}
	}
	first := map[spot]spot{} // of those that belong together
	var firstOf func(spot) spot
	firstOf = func(s spot) spot {
		if of, ok := first[s]; ok && of != s {
			return firstOf(of)
		}
		return s
	}
	for _, spots := range same {
		if len(spots) > 1 {
			for _, s := range spots {
				first[firstOf(s)] = firstOf(spots[0])
			}
		}
	}
	for s := range first {
		for n := 1; n < fewestShared; n++ {
			next := spot{s.body, s.line + n}
			if _, known := first[next]; known {
				first[firstOf(next)] = firstOf(s)
			}
		}
	}
	groups := map[spot][]spot{}
	for s := range first {
		groups[firstOf(s)] = append(groups[firstOf(s)], s)
	}
	found := map[string]int{}
	for _, spots := range groups {
		where, lines := places(all, spots)
		found[where] = lines
	}
	return found
}

// places names the runs that the spots make, and counts the lines of the longest.
func places(all []body, spots []spot) (where string, longest int) {
	slices.SortFunc(spots, func(a, b spot) int { return cmp.Or(a.body-b.body, a.line-b.line) })
	var names []string
	for len(spots) > 0 {
		n := 1
		for n < len(spots) && spots[n].body == spots[0].body && spots[n].line-spots[n-1].line < fewestShared {
			n++
		}
		b, from, to := all[spots[0].body], spots[0].line, spots[n-1].line+fewestShared
		names = append(names, fmt.Sprintf("%s:%d-%d", b.file, b.lines[from].number, b.lines[to-1].number))
		longest, spots = max(longest, to-from), spots[n:]
	}
	slices.Sort(names)
	return strings.Join(names, " ~ "), longest
}
