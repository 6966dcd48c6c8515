package export

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// cells makes the XML of a row (ECMA-376 part 1, 18.3.1.73 and 18.3.1.4).
type cells struct {
	zone *time.Location
	buf  []byte
	row  []byte // its number
}

func (c *cells) open(row int) []byte {
	c.row = strconv.AppendInt(c.row[:0], int64(row), 10)
	b := append(c.buf[:0], `<row r="`...)
	return append(append(b, c.row...), `">`...)
}

func (c *cells) end(b []byte) []byte {
	c.buf = append(b, "</row>"...)
	return c.buf
}

func (c *cells) append(b []byte, letters string, style int, v Value, kind Kind) []byte {
	if v.null(kind) {
		return b
	}
	b = append(append(append(b, `<c r="`...), letters...), c.row...)
	b = append(b, '"')
	if style != 0 {
		b = append(strconv.AppendInt(append(b, ` s="`...), int64(style), 10), '"')
	}
	switch kind {
	case Text:
		return appendText(b, v.Text)
	case Bool:
		return append(append(append(b, ` t="b"><v>`...), byte('0'+v.Int&1)), "</v></c>"...)
	case Date, Timestamp:
		return c.appendTime(b, v, kind)
	case Money:
		b = appendCents(append(b, "><v>"...), v.Int)
	case Integer:
		b = strconv.AppendInt(append(b, "><v>"...), v.Int, 10)
	case Decimal:
		b = strconv.AppendFloat(append(b, "><v>"...), v.Float, 'f', -1, 64)
	case Percent:
		b = strconv.AppendFloat(append(b, "><v>"...), v.Float/100, 'f', -1, 64)
	}
	return append(b, "</v></c>"...)
}

// Excel counts days from its own year 1900, which has a 29 February; before March
// of that year, and after 9999, it knows no dates.
var (
	firstDay = time.Date(1900, time.March, 1, 0, 0, 0, 0, time.UTC)
	afterAll = time.Date(10000, time.January, 1, 0, 0, 0, 0, time.UTC)
	dayZero  = time.Date(1899, time.December, 30, 0, 0, 0, 0, time.UTC)
)

const secondsOfDay = 24 * 60 * 60

func (c *cells) appendTime(b []byte, v Value, kind Kind) []byte {
	at, layout := v.Time.UTC(), dayLayout
	if kind == Timestamp {
		local := v.Time.In(c.zone)
		_, offset := local.Zone()
		at, layout = at.Add(time.Duration(offset)*time.Second), instantLayout
	}
	if at.Before(firstDay) || !at.Before(afterAll) {
		return appendText(b, v.Time.UTC().Format(layout))
	}
	seconds := at.Unix() - dayZero.Unix()
	b = strconv.AppendInt(append(b, "><v>"...), seconds/secondsOfDay, 10)
	if kind == Timestamp {
		const places = 10 // of a day: 9 microseconds
		milliseconds := seconds%secondsOfDay*1000 + int64(at.Nanosecond()/int(time.Millisecond))
		fraction := strconv.FormatFloat(float64(milliseconds)/(secondsOfDay*1000), 'f', places, 64)
		b = append(b, fraction[1:]...) // the largest, 1 ms before midnight, does not round up to a day
	}
	return append(b, "</v></c>"...)
}

// appendText writes a text cell, cut to what Excel can hold.
func appendText(b []byte, s string) []byte {
	s = cut(s)
	b = append(b, ` t="inlineStr"><is><t`...)
	if s != strings.TrimSpace(s) || strings.ContainsAny(s, "\n\r\t") || strings.Contains(s, "  ") {
		b = append(b, ` xml:space="preserve"`...)
	}
	return append(escape(append(b, '>'), s), "</t></is></c>"...)
}

// cut shortens a text to 32,767 UTF-16 units, the most that a cell can hold, and
// shows by an ellipsis that it did.
func cut(s string) string {
	const most = 32_767
	if len(s) <= most {
		return s
	}
	units, last := 0, 0
	for i, r := range s {
		if units <= most-1 {
			last = i
		}
		if units++; r > 0xffff {
			units++
		}
	}
	if units <= most {
		return s
	}
	return s[:last] + "…"
}

// escape appends a text as XML. What XML 1.0 cannot hold becomes U+FFFD, and an
// underscore that would begin one of Excel's own escapes (_x000D_) is itself
// escaped.
func escape(b []byte, s string) []byte {
	from := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if as := escaped(r, size, s[i:]); as != "" {
			b = append(append(b, s[from:i]...), as...)
			from = i + size
		}
		i += size
	}
	return append(b, s[from:]...)
}

// escaped is what stands for a character, "" for itself.
func escaped(r rune, size int, rest string) string {
	switch {
	case r == '&':
		return "&amp;"
	case r == '<':
		return "&lt;"
	case r == '>':
		return "&gt;"
	case r == '\t':
		return "&#x9;"
	case r == '\n':
		return "&#xA;"
	case r == '\r':
		return "&#xD;"
	case r < ' ', r == utf8.RuneError && size == 1, r == 0xfffe, r == 0xffff:
		return "\ufffd"
	case r == '_' && isEscape(rest):
		return "_x005F_"
	}
	return ""
}

// isEscape reports whether the text begins with _xHHHH_.
func isEscape(s string) bool {
	return len(s) >= 7 && s[1] == 'x' && s[6] == '_' && strings.Trim(s[2:6], "0123456789abcdefABCDEF") == ""
}
