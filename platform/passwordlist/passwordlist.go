// Package passwordlist knows the passwords that everybody tries first: the commonest, those of
// one repeated piece or one sequence, and common words with a usual tail. It is the one
// place that tells them; who may set which password is said by modules/accounts.
//
// common.txt.gz holds, in lower case and the commonest first, the 10,000 commonest
// passwords of at least 8 characters; those of the 10,000 commonest of any length
// that are long enough are all among them. It is taken from passwords.json of the
// npm package @zxcvbn-ts/language-common 4.1.3 (MIT, LICENSE.txt). portuguese.txt holds the
// words, of any length and without accents, that passwords in Brazil are made of.
package passwordlist

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

//go:embed common.txt.gz
var common []byte

//go:embed portuguese.txt
var portuguese string

var words = sync.OnceValue(func() map[string]struct{} {
	all := map[string]struct{}{}
	for _, word := range strings.Fields(portuguese) {
		all[word] = struct{}{}
	}
	return all
})

var set = sync.OnceValue(func() map[string]struct{} {
	lines := strings.Fields(unzipped(common))
	all := make(map[string]struct{}, len(lines))
	for _, line := range lines {
		all[line] = struct{}{}
	}
	return all
})

// unzipped is a text that the binary holds compressed.
func unzipped(archived []byte) string {
	r, err := gzip.NewReader(bytes.NewReader(archived))
	if err != nil {
		panic(err) // only for an archive that is none
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Holds reports whether the password is one of them, whatever its case, width and accents,
// and the spaces, punctuation and invisible characters in and around it. One of several words
// is none of them unless it is when they are joined.
func Holds(password string) bool {
	folded := Fold(password)
	bare := Bare(folded)
	joined := join(bare)
	for _, text := range []string{folded, bare, strings.TrimFunc(joined, isSign)} {
		if _, found := set()[text]; found {
			return true
		}
	}
	return repeats(folded) || isSequence(folded) || isSequence(joined) ||
		isWordWithTail(bare, repeats) || isWordWithTail(joined, func(string) bool { return false }) ||
		folded == "" && password != ""
}

// Fold is the form in which passwords and what they are compared with are the same:
// NFKC, without spaces around it and characters that are not seen, in one case.
func Fold(text string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, norm.NFKC.String(text))
	return strings.TrimSpace(norm.NFKC.String(cases.Fold().String(seen)))
}

func isSign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// join is a text without what is neither letter nor digit between those that are.
func join(text string) string {
	from, to := strings.IndexFunc(text, isLetterOrDigit), strings.LastIndexFunc(text, isLetterOrDigit)
	if from < 0 {
		return text
	}
	return text[:from] + strings.Map(func(r rune) rune {
		if isSign(r) {
			return -1
		}
		return r
	}, text[from:to]) + text[to:]
}

func isLetterOrDigit(r rune) bool { return !isSign(r) }

// Bare is a folded text without its accents.
func Bare(folded string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(folded)))
}

// repeats reports whether the text is one piece, at most half of it, over and over.
func repeats(text string) bool {
	all := []rune(text)
	for size := 1; size <= len(all)/2; size++ {
		same := true
		for i := size; i < len(all) && same; i++ {
			same = all[i] == all[i-size]
		}
		if same {
			return true
		}
	}
	return false
}

// isSequence reports whether each character follows the one before it, or all precede it;
// 0 follows 9.
func isSequence(text string) bool {
	all := []rune(text)
	if len(all) < 3 {
		return false
	}
	for _, step := range []rune{1, -1} {
		ordered := true
		for i := 1; i < len(all) && ordered; i++ {
			wraps := step == 1 && all[i-1] == '9' && all[i] == '0' || step == -1 && all[i-1] == '0' && all[i] == '9'
			ordered = all[i]-all[i-1] == step || wraps
		}
		if ordered {
			return true
		}
	}
	return false
}

// isWordWithTail reports whether the text is a common word, a sequence of letters, or letters
// that are simple, with what is usually put around it.
func isWordWithTail(text string, simple func(letters string) bool) bool {
	from, to := strings.IndexFunc(text, unicode.IsLetter), strings.LastIndexFunc(text, unicode.IsLetter)
	if from < 0 {
		return false
	}
	_, size := utf8.DecodeRuneInString(text[to:])
	head, word, tail := text[:from], text[from:to+size], text[to+size:]
	if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return false
	}
	_, known := words()[word]
	if _, listed := set()[word]; !listed && !known && !simple(word) && !isSequence(word) {
		return false
	}
	return isTail(head) && isTail(tail)
}

// isTail reports whether a text is what is put before or behind a word: up to two signs,
// and digits that are few, a year, a sequence or repeated.
func isTail(text string) bool {
	signs, digits := 0, ""
	for _, r := range text {
		if unicode.IsDigit(r) {
			digits += string(r)
			continue
		}
		signs++
	}
	year := len(digits) == 4 && (strings.HasPrefix(digits, "19") || strings.HasPrefix(digits, "20"))
	return signs <= 2 && (len(digits) <= 3 || year || isSequence(digits) || repeats(digits))
}
