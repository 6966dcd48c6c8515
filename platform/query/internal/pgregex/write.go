package pgregex

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// Precedences, loosest first: what stands inside something tighter is grouped.
const (
	alternation = iota
	concatenation
	single
)

// write prints a tree. ^ and $ are line anchors only under (?w), . and [^ match a
// newline under both prefixes.
func write(re *syntax.Regexp) string {
	w := &writer{}
	w.node(re, alternation)
	if w.lines {
		return "(?w)" + w.out.String()
	}
	return "(?s)" + w.out.String()
}

type writer struct {
	out   strings.Builder
	lines bool // there are line anchors
}

func (w *writer) node(re *syntax.Regexp, around int) {
	if precedence(re) < around {
		w.group(re)
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			w.letter(r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		w.class(re.Rune)
	case syntax.OpCapture:
		w.group(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			w.node(sub, concatenation)
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				w.out.WriteByte('|')
			}
			w.node(sub, concatenation)
		}
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		w.repetition(re)
	default:
		w.lines = w.lines || re.Op == syntax.OpBeginLine || re.Op == syntax.OpEndLine
		w.out.WriteString(conditions[re.Op])
	}
}

// conditions are the nodes with a fixed text.
var conditions = map[syntax.Op]string{
	syntax.OpNoMatch:        `(?:\Z.)`, // a character after the end
	syntax.OpEmptyMatch:     `(?:)`,
	syntax.OpAnyCharNotNL:   `[^\n]`,
	syntax.OpAnyChar:        `.`,
	syntax.OpBeginText:      `\A`,
	syntax.OpEndText:        `\Z`,
	syntax.OpBeginLine:      `^`,
	syntax.OpEndLine:        `$`,
	syntax.OpWordBoundary:   `\y`,
	syntax.OpNoWordBoundary: `\Y`,
}

func precedence(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpAlternate:
		return alternation
	case syntax.OpConcat, syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return concatenation
	case syntax.OpLiteral:
		if len(re.Rune) != 1 {
			return concatenation
		}
	}
	return single
}

func (w *writer) group(re *syntax.Regexp) {
	w.out.WriteString("(?:")
	w.node(re, alternation)
	w.out.WriteByte(')')
}

// repetition writes a greedy quantifier: whether there is a match does not depend on
// greed, and Postgres would let the first quantifier decide for all of them.
func (w *writer) repetition(re *syntax.Regexp) {
	least, most := bounds(re)
	if isCondition(re.Sub[0]) { // Postgres refuses to repeat what has no length
		if least == 0 {
			w.out.WriteString("(?:)")
		} else {
			w.group(re.Sub[0])
		}
		return
	}
	w.node(re.Sub[0], single)
	switch {
	case re.Op != syntax.OpRepeat:
		w.out.WriteByte(map[syntax.Op]byte{syntax.OpStar: '*', syntax.OpPlus: '+', syntax.OpQuest: '?'}[re.Op])
	case most == least:
		fmt.Fprintf(&w.out, "{%d}", least)
	case most < 0:
		fmt.Fprintf(&w.out, "{%d,}", least)
	default:
		fmt.Fprintf(&w.out, "{%d,%d}", least, most)
	}
}

func bounds(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpStar:
		return 0, -1
	case syntax.OpPlus:
		return 1, -1
	case syntax.OpQuest:
		return 0, 1
	}
	return re.Min, re.Max
}

// isCondition reports a node that matches nothing but the empty text.
func isCondition(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	case syntax.OpCapture, syntax.OpConcat, syntax.OpAlternate,
		syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !isCondition(sub) })
	}
	return false
}

// letter writes a character, with case folding as the class of all that fold to it.
func (w *writer) letter(r rune, fold bool) {
	orbit := []rune{r}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			orbit = append(orbit, f)
		}
	}
	if len(orbit) == 1 {
		w.character(r)
		return
	}
	slices.Sort(orbit)
	w.out.WriteByte('[')
	for _, f := range orbit {
		w.character(f)
	}
	w.out.WriteByte(']')
}

// class writes ranges; one that reaches both ends of Unicode as its complement.
// Postgres has no brackets for nothing, as in [^\s\S], or for everything.
func (w *writer) class(ranges []rune) {
	switch {
	case len(ranges) == 0:
		w.out.WriteString(conditions[syntax.OpNoMatch])
		return
	case len(ranges) == 2 && ranges[0] == 0 && ranges[1] == unicode.MaxRune:
		w.out.WriteString(conditions[syntax.OpAnyChar])
		return
	}
	w.out.WriteByte('[')
	if ranges[0] == 0 && ranges[len(ranges)-1] == unicode.MaxRune {
		w.out.WriteByte('^')
		ranges = complement(ranges)
	}
	for i := 0; i < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		w.character(lo)
		if hi > lo+1 {
			w.out.WriteByte('-')
		}
		if hi > lo {
			w.character(hi)
		}
	}
	w.out.WriteByte(']')
}

func complement(ranges []rune) []rune {
	var gaps []rune
	for i := 1; i+1 < len(ranges); i += 2 {
		gaps = append(gaps, ranges[i]+1, ranges[i+1]-1)
	}
	return gaps
}

// character writes letters and digits as they are, and beyond ASCII whatever is
// printed; all else by its number.
func (w *writer) character(r rune) {
	switch {
	case r < unicode.MaxASCII && isAlphanumeric(byte(r)), r > unicode.MaxASCII && unicode.IsPrint(r): //nolint:gosec // below MaxASCII
		w.out.WriteRune(r)
	case r > 0xFFFF:
		fmt.Fprintf(&w.out, `\U%08X`, r)
	default:
		fmt.Fprintf(&w.out, `\u%04X`, r)
	}
}
