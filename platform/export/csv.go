package export

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/csv"
	"io"
	"strconv"
	"time"
)

const bom = "\ufeff"

// csvFiles writes one csv a sheet into a zip.
type csvFiles struct {
	zip     *zip.Writer
	csv     *csv.Writer
	bom     bool
	forms   csvForms
	columns []Column
	record  []string
	buf     []byte
}

func newCSV(out io.Writer, o Options) *csvFiles {
	forms := csvForms{comma: ',', day: dayLayout, instant: instantLayout, zone: time.UTC}
	if o.Language == Portuguese {
		forms = csvForms{
			comma: ';', decimal: ',', day: "02/01/2006", instant: "02/01/2006 15:04:05", zone: cmp.Or(o.Zone, time.UTC),
			crlf: true,
		}
	}
	return &csvFiles{zip: newZip(out), bom: o.BOM || o.Language == Portuguese, forms: forms}
}

// csvForms are how a language writes a csv file.
type csvForms struct {
	comma        rune
	decimal      byte // 0 is a point
	day, instant string
	zone         *time.Location
	crlf         bool // also of lines within a text
}

func (w *csvFiles) beginSheet(s Sheet) error {
	part, err := w.zip.Create(s.Name + ".csv")
	if err != nil {
		return err
	}
	if err := w.zip.Flush(); err != nil { // the first bytes, before the first row is there
		return err
	}
	if w.bom {
		if _, err := io.WriteString(part, bom); err != nil {
			return err
		}
	}
	w.csv, w.columns, w.record = csv.NewWriter(part), s.Columns, make([]string, len(s.Columns))
	w.csv.Comma, w.csv.UseCRLF = w.forms.comma, w.forms.crlf
	for i, c := range s.Columns {
		w.record[i] = neutral(c.Name)
	}
	return w.csv.Write(w.record)
}

func (w *csvFiles) row(values []Value) error {
	for i, v := range values {
		w.record[i] = w.field(v, v.kind(w.columns[i]))
	}
	return w.csv.Write(w.record)
}

func (w *csvFiles) field(v Value, kind Kind) string {
	switch {
	case v.null(kind):
		return ""
	case kind == Text:
		return neutral(v.Text)
	case kind == Date:
		return v.Time.Format(w.forms.day)
	case kind == Timestamp:
		return v.Time.In(w.forms.zone).Format(w.forms.instant)
	}
	w.buf = appendNumber(w.buf[:0], v, kind)
	if at := bytes.IndexByte(w.buf, '.'); at >= 0 && w.forms.decimal != 0 {
		w.buf[at] = w.forms.decimal
	}
	return string(w.buf)
}

func (w *csvFiles) endSheet() error {
	w.csv.Flush()
	return w.csv.Error()
}

func (w *csvFiles) close() error { return w.zip.Close() }

// The API's forms of a day and of an instant (docs/contract/ids-and-dates.md, Instants).
const (
	dayLayout     = "2006-01-02"
	instantLayout = "2006-01-02T15:04:05.000Z"
)

// appendNumber writes a number or truth value as csv and JSON show it.
func appendNumber(b []byte, v Value, kind Kind) []byte {
	switch kind {
	case Money:
		return appendCents(b, v.Int)
	case Decimal, Percent:
		return strconv.AppendFloat(b, v.Float, 'f', -1, 64)
	case Bool:
		return strconv.AppendBool(b, v.Int != 0)
	}
	return strconv.AppendInt(b, v.Int, 10)
}

// appendCents writes an amount with two decimals, exactly.
func appendCents(b []byte, cents int64) []byte {
	n := uint64(cents) //nolint:gosec // a negative one is negated below
	if cents < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendUint(b, n/100, 10)
	return append(b, '.', byte('0'+n/10%10), byte('0'+n%10))
}
