package main

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// token is a part of a text that no two runs have alike.
type token struct {
	from, to int
	kind     string
}

// The kinds that are compared as instants and not as names.
const (
	kindTime   = "time"
	kindHour   = "hour"
	kindEpoch  = "epoch"
	kindSerial = "serial" // days as workbooks count them
	kindWait   = "wait"   // so many seconds
	kindCode   = "code"   // mailed: six digits are too few to be told apart by
)

// kinds, the first that fits first. whole: letters and digits may not go on before or behind it.
var kinds = []struct {
	kind  string
	shape *regexp.Regexp
	fits  func(string) bool
}{
	{"pix", regexp.MustCompile(`^00020101[0-9A-Za-z .*/:_@$+%=&?-]{30,}6304[0-9A-F]{4}`), nil},
	{"ticket", regexp.MustCompile(`^MT1\.[\w-]{40,}|^MT2\.[0-9A-Z $%*+./:-]{40,}`), nil},
	{"key", regexp.MustCompile(`^[A-Za-z0-9+/]{43}=`), nil},
	{"jwt", regexp.MustCompile(`^eyJ[\w-]+\.[\w-]+\.[\w-]+`), nil},
	{"device", regexp.MustCompile(`^[0-9a-f]{24}\.[0-9a-f]{24}\.[0-9a-z]{5,9}\.[\w-]{20,}`), nil},
	{"picture", regexp.MustCompile(`^picture:[0-9a-f]{16}`), nil},
	{"address", regexp.MustCompile(`^127\.0\.0\.1:\d+`), nil},
	{"uuid", regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`), nil},
	{
		kindTime, regexp.MustCompile(`^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?|^20\d{6}_\d{4}`),
		func(s string) bool { _, ok := instant(s); return ok },
	},
	{kindSerial, regexp.MustCompile(`^[4-9]\d{4}\.\d{3,}`), nil},
	{kindHour, regexp.MustCompile(`^\d\d:\d\d(:\d\d)?`), nil},
	{"link", regexp.MustCompile(`^[0-9a-f]{24}\.[0-9a-f]{8}\.[\w-]{40,}`), nil},
	{"undo", regexp.MustCompile(`^[0-9a-f]{24}[\w-]{43}`), nil},
	{"secret", regexp.MustCompile(`^_secret_[A-Za-z0-9]{12,}`), nil}, // right behind the name of an intent
	{
		"gateway",
		regexp.MustCompile(`^(acct|cbk|ch|cs|cus|dp|du|evt|fp|ii|il|in|pay|payout|pi|pm|price|prod|re|req|seti|si|sub|src|txn)_[A-Za-z0-9]{12,}(&\d+)?`), nil,
	},
	{"id", regexp.MustCompile(`^[0-9a-f]{24}`), nil},
	{kindEpoch, regexp.MustCompile(`^(1[6-9]|2[0-2])\d{8}`), nil},
	{"invoice", regexp.MustCompile(`^i/[a-z0-9]{16}`), nil}, // the page of a payment, also where chance gives letters alone
	{"opaque", regexp.MustCompile(`^[A-Za-z0-9_-]{16,}`), random},
	{kindWait, regexp.MustCompile(`^\d{1,3} seconds?`), nil},
	{kindCode, regexp.MustCompile(`^\d{6}`), nil},
}

// random tells what a generator of random texts wrote from what people and programs name things.
func random(s string) bool {
	digits, upper, lower := strings.ContainsAny(s, "0123456789"), s != strings.ToLower(s), s != strings.ToUpper(s)
	switch {
	case upper && lower:
		return digits || !strings.ContainsAny(s, "-_") && len(s) >= 40
	case strings.ContainsAny(s, "-_"):
		return false
	}
	return digits && (upper || lower) && len(strings.Trim(s, "0123456789")) > 0
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// window is where a token may be: expressions take longer the longer the text is, also where they fit at once.
func window(s string) string {
	if strings.HasPrefix(s, "00020101") || strings.HasPrefix(s, "MT") { // these have spaces
		return s[:min(len(s), 1000)]
	}
	end := 0
	for end < len(s) && end < 2000 && (wordByte(s[end]) || strings.IndexByte("_-+/.:&=", s[end]) >= 0) {
		end++
	}
	return s[:min(len(s), max(end, 12)+30)] // instants and waits have a space
}

// plain tells words, of which texts have most, without asking all expressions.
func plain(ahead string) bool {
	if ahead[0] >= '0' && ahead[0] <= '9' || strings.HasPrefix(ahead, "picture:") || strings.HasPrefix(ahead, "MT") {
		return false
	}
	for i := range min(len(ahead), 14) {
		if c := ahead[i]; !wordByte(c) && !strings.ContainsRune("_-+/", rune(c)) {
			return true
		}
	}
	return len(ahead) < 14
}

// repeated reports whether later requests may repeat a token: names, and the seconds in signed links.
func (t token) repeated() bool {
	return !slices.Contains([]string{kindTime, kindHour, kindSerial, kindWait}, t.kind)
}

// tokens finds them in a text; mailed codes only in mails and requests.
func tokens(s string, codes bool) (found []token) {
	last := -1
	for at := 0; at < len(s); at++ {
		if at > 0 && at != last && wordByte(s[at-1]) || !wordByte(s[at]) && !strings.ContainsRune("_-+/", rune(s[at])) {
			continue
		}
		ahead := window(s[at:])
		if plain(ahead) {
			continue
		}
		for _, k := range kinds {
			if k.kind == kindCode && !codes {
				continue
			}
			span := k.shape.FindStringIndex(ahead)
			if span == nil {
				continue
			}
			end := at + span[1]
			if end < len(s) && wordByte(s[end]) || k.fits != nil && !k.fits(s[at:end]) {
				continue
			}
			found = append(found, token{at, end, k.kind})
			last, at = end, end-1
			break
		}
	}
	return found
}

var instantForms = []string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04", "20060102_1504",
}

func instant(s string) (time.Time, bool) {
	for _, form := range instantForms {
		if t, err := time.Parse(form, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
