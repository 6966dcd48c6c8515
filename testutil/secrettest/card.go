package secrettest

import (
	"regexp"
	"strings"
)

// card finds the numbers that the gateways publish for tests, and a card's verification
// code, three or four digits that only the name of its field tells.
var card = regexp.MustCompile(`\b(?:4242424242424242|4000\d{12}|5162306219378829|5555555555554444|4111111111111111|4444444444444444)\b` +
	`|(?i:"?\b(?:ccv|cvv|cvc|security_?code)\b\\?"?\s*[:=]\s*\\?"?\d{3,4}\b)`)

// findCard is where card finds something first; nil: nowhere. Texts are long and hold none: most
// are not worth the expression, which takes a hundred times as long as a look at each byte.
func findCard(text string) []int {
	if !mayHoldCard(text) {
		return nil
	}
	return card.FindStringIndex(text)
}

// mayHoldCard is true of all texts in which card finds something, and of hardly any other.
func mayHoldCard(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case '4', '5':
			if beginsCardNumber(text[i:]) {
				return true
			}
		case 'v', 'V': // of ccv, cvv and cvc
			if i > 0 && text[i-1]|0x20 == 'c' && (takesValue(text[i+1:]) || i+2 <= len(text) && takesValue(text[i+2:])) {
				return true
			}
		case 'y', 'Y': // of security code, whose s may be a long one to the expression
			if i >= 6 && strings.EqualFold(text[i-6:i], "ecurit") {
				return true
			}
		}
	}
	return false
}

func beginsCardNumber(text string) bool {
	const length = 16
	if len(text) < length {
		return false
	}
	switch text[:4] {
	case "4242", "4000", "5162", "5555", "4111", "4444":
	default:
		return false
	}
	return strings.Trim(text[:length], "0123456789") == ""
}

// takesValue says that a text that stands behind a field's name sets it.
func takesValue(text string) bool {
	text = strings.TrimPrefix(strings.TrimPrefix(text, `\`), `"`)
	text = strings.TrimLeft(text, " \t\n\f\r")
	return text != "" && (text[0] == ':' || text[0] == '=')
}
