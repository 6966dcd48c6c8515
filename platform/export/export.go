package export

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"time"
)

// Format is a kind of file.
type Format string

// The formats, as the parameter `format` names them.
const (
	XLSX Format = "xlsx"
	CSV  Format = "csv"
	JSON Format = "json"
)

// ContentType is the format's media type (docs/contract/figures.md, Exports).
func (f Format) ContentType() string {
	switch f {
	case CSV:
		return "application/zip"
	case JSON:
		return "application/json; charset=utf-8"
	}
	return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
}

// Extension is that of the file's name, without a dot: csv files come in a zip.
func (f Format) Extension() string {
	if f == CSV {
		return "zip"
	}
	return string(f)
}

// Language is that of a csv file.
type Language string

// The languages, as the parameter `language` names them.
const (
	English    Language = "en"
	Portuguese Language = "pt"
)

// Kind says what the values of a column are.
type Kind int

// The kinds; the package comment says what becomes of each.
const (
	Text Kind = iota + 1
	Integer
	Money // cents
	Decimal
	Percent // 12.5 is 12.5 %
	Date
	Timestamp
	Bool
)

// Column is one column of a sheet.
type Column struct {
	Name  string // the heading, and the key in JSON
	Kind  Kind
	Width int // of a workbook's column, in characters; default by kind
}

// Value is one cell; the zero Value is null. Only the field of its kind counts.
type Value struct {
	Valid bool
	Kind  Kind // overrides the column's, for a column of mixed figures; 0 is the column's
	Text  string
	Int   int64     // Integer, Money in cents, Bool as 0 or 1
	Float float64   // Decimal, Percent
	Time  time.Time // Date: the day of its UTC fields; Timestamp: an instant
}

// TextOf is a text.
func TextOf(s string) Value { return Value{Valid: true, Kind: Text, Text: s} }

// IntOf is a whole number.
func IntOf(n int64) Value { return Value{Valid: true, Kind: Integer, Int: n} }

// MoneyOf is an amount in cents.
func MoneyOf(cents int64) Value { return Value{Valid: true, Kind: Money, Int: cents} }

// DecimalOf is a number with decimals.
func DecimalOf(x float64) Value { return Value{Valid: true, Kind: Decimal, Float: x} }

// PercentOf is a share of a hundred.
func PercentOf(x float64) Value { return Value{Valid: true, Kind: Percent, Float: x} }

// TimeOf is an instant.
func TimeOf(at time.Time) Value { return Value{Valid: true, Kind: Timestamp, Time: at} }

// DayOf is a day without a time.
func DayOf(day time.Time) Value { return Value{Valid: true, Kind: Date, Time: day} }

func (v Value) kind(c Column) Kind {
	if v.Kind != 0 {
		return v.Kind
	}
	return c.Kind
}

// null reports whether the cell is empty; what is no number is.
func (v Value) null(kind Kind) bool {
	return !v.Valid || (kind == Decimal || kind == Percent) && (math.IsNaN(v.Float) || math.IsInf(v.Float, 0))
}

// Sheet is one table.
type Sheet struct {
	Name    string // at most 31 characters, unlike the others
	Columns []Column
	// Rows yields as many values as there are columns; a row is read before the
	// next is asked for, so its slice may be used again. An error ends the export.
	Rows iter.Seq2[[]Value, error]
}

// Options of Write; the zero value is good.
type Options struct {
	Zone *time.Location // whose wall clock a workbook's timestamps show; default UTC
	BOM  bool           // csv files begin with a byte order mark, by which Excel knows UTF-8
	// Language is whose csv it is: in Portuguese with the mark, semicolons, lines that end in CRLF, decimal commas,
	// days as 31/12/2026 and the wall clock of Zone, as spreadsheets there read it. Default English: commas, points,
	// UTC.
	Language Language
	// Progress hears now and then how many rows are written, and at the end; an
	// error ends the export.
	Progress func(rows int64) error

	sheetRows int // rows of a workbook's sheet, heading included; default what Excel can hold
}

// progressEvery is how many rows go by between two calls of Progress and looks at
// the context.
const progressEvery = 1000

// writer is one format.
type writer interface {
	beginSheet(s Sheet) error
	row(values []Value) error
	endSheet() error
	close() error
}

// Write writes the sheets to out. After an error the file is incomplete, and its
// end is missing: whoever holds out has to make sure that nobody takes it for a
// whole one.
func Write(ctx context.Context, out io.Writer, format Format, sheets []Sheet, o Options) error {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	w, err := newWriter(out, format, o)
	if err != nil {
		return err
	}
	p := progress{ctx: ctx, report: o.Progress}
	for _, s := range sheets {
		if err := writeSheet(w, s, &p); err != nil {
			return fmt.Errorf("export sheet %s: %w", s.Name, err)
		}
	}
	if err := w.close(); err != nil {
		return fmt.Errorf("end export: %w", err)
	}
	return p.say()
}

func newWriter(out io.Writer, format Format, o Options) (writer, error) {
	switch format {
	case XLSX:
		return newWorkbook(out, o), nil
	case CSV:
		return newCSV(out, o), nil
	case JSON:
		return newJSON(out), nil
	}
	return nil, fmt.Errorf("export: no format %q", format)
}

func writeSheet(w writer, s Sheet, p *progress) error {
	if err := w.beginSheet(s); err != nil {
		return err
	}
	for values, err := range s.Rows {
		if err == nil && len(values) != len(s.Columns) {
			err = fmt.Errorf("a row of %d values for %d columns", len(values), len(s.Columns))
		}
		if err == nil {
			err = w.row(values)
		}
		if err == nil {
			err = p.count()
		}
		if err != nil {
			return err
		}
	}
	return w.endSheet()
}

// progress counts rows over all sheets.
type progress struct {
	ctx    context.Context //nolint:containedctx // it lives as long as Write
	rows   int64
	report func(int64) error
}

func (p *progress) count() error {
	if p.rows++; p.rows%progressEvery != 0 {
		return nil
	}
	return p.say()
}

func (p *progress) say() error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if p.report == nil {
		return nil
	}
	return p.report(p.rows)
}
