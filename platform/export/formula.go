package export

import (
	"strings"
	"unicode/utf8"
)

// Neutral makes a text safe to stand in a csv that something else than this package writes.
func Neutral(s string) string { return neutral(s) }

// Original is the text of a cell that Neutral may have made.
func Original(cell string) string {
	if text, marked := strings.CutPrefix(cell, "'"); marked && startsFormula(text) {
		return text
	}
	return cell
}

// neutral makes a text safe to stand in a csv: what a spreadsheet would take for
// a formula gets an apostrophe before it.
func neutral(s string) string {
	if startsFormula(s) && !isNumeral(s) {
		return "'" + s
	}
	return s
}

// startsFormula reports whether a spreadsheet would compute the text. Blanks and
// invisible characters before the sign are dropped by some programs, and the wide
// forms of the signs count as the signs do in East Asian versions.
func startsFormula(s string) bool {
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch r {
		case '=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠':
			return true
		case ' ', '\u00a0', '\u200b', '\ufeff', '\v', '\f', 0:
			s = s[size:]
		default:
			return false
		}
	}
	return false
}

// isNumeral reports whether the text is a sign and digits with at most one
// decimal mark, such as -12.5 or the phone number +5511987654321. As a formula it
// computes to itself, and with an apostrophe no other program could dial it.
func isNumeral(s string) bool {
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) != 1 {
		return false
	}
	whole, fraction, marked := strings.Cut(strings.Replace(digits, ",", ".", 1), ".")
	return allDigits(whole) && (!marked || allDigits(fraction))
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
