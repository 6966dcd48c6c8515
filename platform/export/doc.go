// Package export writes tables of any length as a workbook (xlsx), as csv (one
// file a sheet, in a zip) or as JSON. Rows are pulled from an iterator, as a rule
// over a running statement (Rows), and go out as they come: memory does not grow
// with their number, nothing is kept on disk, and the first bytes leave before
// the first row is read.
//
//	err := export.Write(ctx, w, export.XLSX, []export.Sheet{{
//		Name:    "refunds",
//		Columns: []export.Column{{Name: "refunded_at", Kind: export.Timestamp}, {Name: "amount", Kind: export.Money}},
//		Rows:    export.Rows(ctx, tx, columns, "SELECT refunded_at, amount_cents FROM …"),
//	}}, export.Options{Zone: zone})
//
// # What a cell becomes
//
//	kind       xlsx                              csv                   json
//	Text       text, never a formula             text, neutralised     string
//	Integer    number                            12                    12
//	Money      number, shown with two decimals   12.50                 12.50
//	Decimal    number                            1.75                  1.75
//	Percent    0.125, shown as 12.50%            12.5                  12.5
//	Date       real date                         2026-03-01            "2026-03-01"
//	Timestamp  real date, in Options.Zone        API form, UTC         API form, UTC
//	Bool       boolean                           true                  true
//	null       empty                             empty                 null
//
// # Formulas
//
// A program that opens a csv takes a cell that begins with = + - @, a tab or a
// line break for a formula, whoever wrote the text. Such texts get an apostrophe
// before them (CSV injection, CWE-1236). Numbers are written by their kind and
// stay as they are, and so does a text that is nothing but a number or a phone
// number, such as +5511987654321: it computes to itself. In a workbook a text is
// stored as text, with the number format "text", so that it stays one when
// somebody edits the cell. JSON is not touched.
//
// # Why excelize reads in tests alone
//
// Its StreamWriter holds up to 32 MB a sheet in memory before it turns to a temporary
// file, goes on in memory when it cannot make one, and WriteTo then holds the whole
// compressed file; and it links a library that calls methods by their numbers, for
// which the linker keeps all of every type (docs/decisions/linked-methods.md). What is
// left of a workbook besides its rows are six short parts (xlsx_parts.go), which
// excelize and LibreOffice read in the tests. A file that breaks off has no central
// directory and no program opens it.
package export
