package lookup

import (
	"regexp"
	"strings"
	"unicode"

	"marquee/platform/objectid"
	"marquee/platform/taxid"
)

// Term is what somebody typed, as it may be read.
type Term struct {
	Text  string      // without blanks at its ends
	ID    objectid.ID // "" where it is none
	TaxID string      // CPF or CNPJ without punctuation, letters in capitals; "" where it cannot be one
	Token string      // the text, where it is one word; else ""
	// Words are those of a name or an address, at most mostWords: none where the term is an id.
	Words []string
}

const (
	mostWords = 8
	// leastWord is how many letters and digits one of the words needs in a row: an index of trigrams finds none by
	// fewer.
	leastWord = 3
)

var (
	taxIDMarks = strings.NewReplacer(".", "", "-", "", "/", "", " ", "")
	taxIDForm  = regexp.MustCompile(taxid.Form)
	// What gateways give: sub_…, pay_…, pi_…, ch_…, evt_…, or a UUID.
	gatewayID = regexp.MustCompile(`^(?:[a-z]{2,5}_\S{4,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)
)

// Read takes a text apart. It has no blanks at its ends and is valid UTF-8.
func Read(text string) Term {
	t := Term{Text: text}
	if id, err := objectid.Parse(text); err == nil {
		t.ID = id
	}
	if bare := taxid.Normal(taxIDMarks.Replace(text)); taxIDForm.MatchString(bare) {
		t.TaxID = bare
	}
	fields := strings.Fields(text)
	if len(fields) == 1 {
		t.Token = text
	}
	if t.ID == "" && !gatewayID.MatchString(text) {
		t.Words = wordsOf(fields)
	}
	return t
}

// wordsOf leaves out what holds neither letter nor digit. None where no word is long enough.
func wordsOf(fields []string) (words []string) {
	longest := 0
	for _, f := range fields {
		if !strings.ContainsFunc(f, isSign) {
			continue
		}
		longest = max(longest, longestRun(f))
		if len(words) < mostWords {
			words = append(words, f)
		}
	}
	if longest < leastWord {
		return nil
	}
	return words
}

func isSign(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// longestRun is the number of letters and digits of a word that stand in a row; marks, such as accents that stand for
// themselves, belong to the letter before.
func longestRun(word string) (longest int) {
	n := 0
	for _, r := range word {
		switch {
		case isSign(r):
			n++
		case !unicode.Is(unicode.Mn, r):
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

// Values are what a way of finding takes of a term: each has to hold. None: the term is of no use for it.
type Values func(Term) []string

// IDs takes an id of ours.
func IDs(t Term) []string { return given(t.ID.String()) }

// TaxIDs takes a CPF or CNPJ, with or without punctuation.
func TaxIDs(t Term) []string { return given(t.TaxID) }

// Tokens takes what is one word, whatever it is.
func Tokens(t Term) []string { return given(t.Token) }

// GatewayIDs takes what looks like an id of a gateway.
func GatewayIDs(t Term) []string {
	if !gatewayID.MatchString(t.Token) {
		return nil
	}
	return given(t.Token)
}

// Words takes each word of what is no id, where one of them is long enough for an index of trigrams.
func Words(t Term) []string { return t.Words }

// Phrase takes the whole of what has Words, for the full text search.
func Phrase(t Term) []string {
	if len(t.Words) == 0 {
		return nil
	}
	return given(t.Text)
}

// Beginnings takes the whole of what is no id, however short, for what begins with it.
func Beginnings(t Term) []string {
	if t.ID != "" || !strings.ContainsFunc(t.Text, isSign) {
		return nil
	}
	return given(t.Text)
}

func given(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}
