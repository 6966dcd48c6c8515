package identity

import (
	"strings"
	"unicode"

	"marquee/platform/fault"
	"marquee/platform/nullable"
	"marquee/platform/resource"
)

// The two characters that join or part letters without being seen: some scripts
// cannot write names without them.
const (
	joiner    = '\u200d'
	nonJoiner = '\u200c'
)

// Symbols by their class that show nothing: the braille blank, the null note head, and what
// stands in a text for an object that is not in it.
const (
	brailleBlank      = '\u2800'
	nullNotehead      = '\U0001d159'
	objectReplacement = '\ufffc'
)

// unseen reports whether a character is shown as nothing, breaks the line, or changes
// how others are shown, as those do that set the direction of writing; or means nothing
// that is agreed on: private ones, those that are not assigned, and those that never will be.
func unseen(r rune) bool {
	return r == brailleBlank || r == nullNotehead || r == objectReplacement ||
		!unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// blank reports whether a text shows nothing at all.
func blank(text string) bool {
	return !strings.ContainsFunc(text,
		func(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !unseen(r) })
}

// plainName reports whether a full name holds nothing unseen but joiners that stand
// behind a letter.
func plainName(name string) bool {
	var before rune
	for _, r := range name {
		joins := (r == joiner || r == nonJoiner) && (unicode.IsLetter(before) || unicode.IsMark(before))
		if unseen(r) && !joins {
			return false
		}
		before = r
	}
	return true
}

const blankName = "may not be blank"

// NameFlaw says why a new name is refused, as what follows the name of its field; empty: it is not.
func NameFlaw(name string) string {
	switch {
	case !plainName(name):
		return unseenInName
	case name != "" && blank(name):
		return blankName
	}
	return ""
}

const unseenInName = "may not contain control or invisible characters, nor ones that change the direction of writing"

// CheckPersonName refuses a new name that is blank or holds what plainName does not take.
func CheckPersonName(name string, loc ...any) error {
	if flaw := NameFlaw(name); flaw != "" {
		return fault.InvalidAt(flaw, loc...)
	}
	return nil
}

// checkNewName is CheckPersonName for a field of a record, where it changes.
func checkNewName(rec *resource.Record, field string, present *string) error {
	if text, sent := SentText(rec, field); sent && text != nullable.Value(present) && NameFlaw(text) != "" {
		return rec.Invalid(field, NameFlaw(text))
	}
	return nil
}
