package accounts

import (
	"unicode"

	"marquee/platform/collection"
	"marquee/platform/fault"
)

// The two characters that join or part letters without being seen: some scripts
// cannot write names without them.
const (
	joiner    = '\u200d'
	nonJoiner = '\u200c'
)

// brailleBlank is a symbol by its class, and shows nothing.
const brailleBlank = '\u2800'

// unseen reports whether a character is shown as nothing, breaks the line, or changes
// how others are shown, as those do that set the direction of writing.
func unseen(r rune) bool {
	return r == brailleBlank ||
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
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

const unseenInName = "may not hold control or invisible characters, nor such that change the direction of writing"

// checkPersonName refuses a new name that holds what plainName does not take.
func checkPersonName(name string, loc ...any) error {
	if !plainName(name) {
		return fault.InvalidAt(unseenInName, loc...)
	}
	return nil
}

// checkNewName is checkPersonName for a field of a record, where it changes.
func checkNewName(rec *collection.Record, field string, present *string) error {
	if text, sent := sentText(rec, field); sent && text != orZero(present) && !plainName(text) {
		return rec.Invalid(field, unseenInName)
	}
	return nil
}
