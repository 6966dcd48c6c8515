package export

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// What Excel allows.
const (
	sheetNameSize = 31        // characters
	sheetRows     = 1_048_576 // rows of a sheet
)

// workbook writes an xlsx: sheets go out as their rows come, and at the end the
// parts that tell of them.
type workbook struct {
	zip   *zip.Writer
	limit int // rows of a sheet
	cells cells

	sheet   Sheet
	names   []string // of the sheets that are begun
	place   int      // of the sheet among those that continue one another, from 1
	rows    int      // of the present part, heading included
	part    *bufio.Writer
	letters []string
}

func newWorkbook(out io.Writer, o Options) *workbook {
	w := &workbook{zip: newZip(out), limit: o.sheetRows, cells: cells{zone: o.Zone}}
	if w.limit == 0 {
		w.limit = sheetRows
	}
	return w
}

func (w *workbook) beginSheet(s Sheet) error {
	w.sheet, w.place = s, 0
	w.letters = make([]string, len(s.Columns))
	for i := range s.Columns {
		w.letters[i] = letters(i)
	}
	return w.beginPart()
}

// letters are the name of a column, counted from 0: A to Z, AA and so on.
func letters(column int) string {
	if column < 0 {
		return ""
	}
	return letters(column/26-1) + string(rune('A'+column%26))
}

// beginPart opens a sheet of the workbook: the first one of a Sheet, or the next
// when it has more rows than one can hold.
func (w *workbook) beginPart() error {
	w.place++
	w.names = append(w.names, w.partName())
	out, err := w.zip.Create("xl/" + sheetPart(len(w.names)))
	if err != nil {
		return err
	}
	if err := w.zip.Flush(); err != nil { // the first bytes, before the first row is there
		return err
	}
	w.part, w.rows = bufio.NewWriterSize(out, 64<<10), 1
	if _, err := w.part.WriteString(w.head()); err != nil {
		return err
	}
	b := w.cells.open(w.rows)
	for i, c := range w.sheet.Columns {
		b = w.cells.append(b, w.letters[i], headerStyles[right(c.Kind)], TextOf(c.Name), Text)
	}
	_, err = w.part.Write(w.cells.end(b))
	return err
}

func (w *workbook) partName() string {
	if w.place == 1 {
		return w.sheet.Name
	}
	more := fmt.Sprintf(" (%d)", w.place)
	name := []rune(w.sheet.Name)
	return string(name[:min(len(name), sheetNameSize-len(more))]) + more
}

// head is what stands before the rows: one page wide in print, the heading frozen, the columns' widths.
func (w *workbook) head() string {
	var b strings.Builder
	selected := ""
	if len(w.names) == 1 {
		selected = ` tabSelected="1"`
	}
	fmt.Fprintf(&b, sheetHead, selected)
	for i, c := range w.sheet.Columns {
		fmt.Fprintf(&b, `<col min="%d" max="%d" width="%d" customWidth="1"/>`, i+1, i+1, width(c))
	}
	b.WriteString("</cols><sheetData>")
	return b.String()
}

// right is 1 for columns whose cells stand at the right.
func right(k Kind) int {
	if k == Text || k == Bool {
		return 0
	}
	return 1
}

// width is a column's, in characters: its own, or what its kind takes; in either
// case its heading fits.
func width(c Column) int {
	least := c.Width
	if least == 0 {
		least = max(map[Kind]int{Text: 24, Timestamp: 20}[c.Kind], 12)
	}
	return max(least, utf8.RuneCountInString(c.Name)+2)
}

const portraitMost = 90 // characters side by side that are read well on an upright page

// orientation is how the sheet is printed.
func (w *workbook) orientation() string {
	wide := 0
	for _, c := range w.sheet.Columns {
		wide += width(c)
	}
	if wide > portraitMost {
		return "landscape"
	}
	return "portrait"
}

func (w *workbook) row(values []Value) error {
	if w.rows == w.limit {
		if err := w.endSheet(); err != nil {
			return err
		}
		if err := w.beginPart(); err != nil {
			return err
		}
	}
	w.rows++
	b := w.cells.open(w.rows)
	for i, v := range values {
		kind := v.kind(w.sheet.Columns[i])
		b = w.cells.append(b, w.letters[i], styles[kind], v, kind)
	}
	_, err := w.part.Write(w.cells.end(b))
	return err
}

func (w *workbook) endSheet() error {
	if _, err := fmt.Fprintf(w.part, sheetTail, w.orientation()); err != nil {
		return err
	}
	return w.part.Flush()
}

// close writes the parts that tell of the sheets, and the zip's directory.
func (w *workbook) close() error {
	var sheets, titles, relations, types strings.Builder
	for i, name := range w.names {
		n, part := i+1, sheetPart(i+1)
		fmt.Fprintf(&sheets, `<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, attribute(name), n, n)
		fmt.Fprintf(&titles, `<definedName name="_xlnm.Print_Titles" localSheetId="%d">%s!$1:$1</definedName>`, i,
			attribute("'"+strings.ReplaceAll(name, "'", "''")+"'"))
		fmt.Fprintf(&relations, sheetRelation, n, part)
		fmt.Fprintf(&types, sheetType, part)
	}
	for _, part := range [][2]string{
		{"xl/workbook.xml", fmt.Sprintf(workbookPart, &sheets, &titles)},
		{"xl/_rels/workbook.xml.rels", fmt.Sprintf(relationsPart, &relations)},
		{"xl/styles.xml", stylesPart},
		{"docProps/core.xml", propertiesPart},
		{"_rels/.rels", rootPart},
		{"[Content_Types].xml", fmt.Sprintf(typesPart, &types)},
	} {
		out, err := w.zip.Create(part[0])
		if err != nil {
			return err
		}
		if _, err := io.WriteString(out, part[1]); err != nil {
			return err
		}
	}
	return w.zip.Close()
}

// sheetPart is the path of a sheet below xl, counted from 1.
func sheetPart(n int) string { return fmt.Sprintf("worksheets/sheet%d.xml", n) }

// attribute is a text as it stands between double quotes.
func attribute(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
	return b.String()
}

// newZip compresses for speed: the rows of a table are alike, so that a higher
// level takes twice the time for a file hardly smaller.
func newZip(out io.Writer) *zip.Writer {
	w := zip.NewWriter(out)
	w.RegisterCompressor(zip.Deflate,
		func(part io.Writer) (io.WriteCloser, error) { return flate.NewWriter(part, flate.BestSpeed) })
	return w
}
