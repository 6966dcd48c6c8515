package pgregex

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// escapeToken is a whole escape, so that nothing can be joined to it afterwards.
var escapeToken = regexp.MustCompile(
	`(?s)^\\(?:x\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{2}|[0-7]{1,3}|[pP](?:\{[^}]*\}|[A-Za-z])|.)`)

// sets are the escapes for sets that Go lacks or, as \s and \v, reads as other sets.
// They are written as ranges for a class, the last a range of two ends: a hyphen after
// it is then itself, as PCRE has it.
var sets = map[string]string{
	`\s`: `\x20\t-\r`,
	`\S`: `\x00-\x08\x0E-\x1F\x21-\x{10FFFF}`,
	`\h`: `\t\x20\xA0\x{1680}\x{180E}\x{202F}\x{205F}\x{3000}\x{2000}-\x{200A}`,
	`\H`: `\x00-\x08\x0A-\x1F\x21-\x9F\xA1-\x{167F}\x{1681}-\x{180D}\x{180F}-\x{1FFF}` +
		`\x{200B}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF}`,
	`\v`: `\x85\x{2028}\x{2029}\n-\r`,
	`\V`: `\x00-\x09\x0E-\x84\x86-\x{2027}\x{202A}-\x{10FFFF}`,
}

// escape rewrites one escape outside a class.
func (l *lexer) escape() error {
	if quoted, ok := strings.CutPrefix(l.rest, `\Q`); ok {
		text, after, _ := strings.Cut(quoted, `\E`)
		l.out.WriteString(regexp.QuoteMeta(text))
		l.rest = after
		return nil
	}
	_, err := l.oneEscape("[", "]")
	return err
}

// oneEscape copies one escape, sets in the given brackets, and reports whether it is a set.
func (l *lexer) oneEscape(opening, closing string) (isSet bool, err error) {
	token := escapeToken.FindString(l.rest)
	if token == "" {
		return false, errEscape
	}
	if set, ok := sets[token]; ok {
		l.put(opening+set+closing, len(token))
		return true, nil
	}
	if token == `\e` {
		l.put(`\x1B`, len(token))
		return false, nil
	}
	l.copy(len(token))
	return strings.Contains("dDwWpP", token[1:2]), nil
}

// class copies a bracket expression, rewriting the escapes in it.
func (l *lexer) class() error {
	l.copy(1)
	if strings.HasPrefix(l.rest, "^") {
		l.copy(1)
	}
	// A range is open after a character and a hyphen; a set cannot end one.
	character, ranged := false, false
	for first := true; ; first = false {
		switch {
		case l.rest == "":
			return errClass
		case l.rest[0] == ']' && !first:
			l.copy(1)
			return nil
		case strings.HasPrefix(l.rest, "[:") && strings.Contains(l.rest[2:], ":]"):
			if ranged {
				return errClass
			}
			l.copy(strings.Index(l.rest[2:], ":]") + 4)
			character = false
		case l.rest[0] == '-' && character && !ranged && !strings.HasPrefix(l.rest, "-]"):
			l.copy(1)
			ranged = true
		case l.rest[0] == '\\':
			isSet, err := l.oneEscape("", "")
			if err != nil {
				return err
			}
			if isSet && ranged {
				return errClass
			}
			character, ranged = !isSet && !ranged, false
		default:
			_, size := utf8.DecodeRuneInString(l.rest)
			l.copy(size)
			character, ranged = !ranged, false
		}
	}
}
