package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

const (
	sheetPart     = "xl/worksheets/sheet"
	sheetNameSize = 31 // characters that Excel allows
)

// workbook writes an xlsx: sheets go out as their rows come, and at the end the
// parts that excelize makes of what it knows of them.
type workbook struct {
	zip    *zip.Writer
	file   *excelize.File
	header [2]int        // styles of the heading: over texts, over numbers
	styles [Bool + 1]int // by kind
	limit  int           // rows of a sheet
	cells  cells

	sheet   Sheet
	parts   map[string]bool // of the sheets that are written
	place   int             // of the sheet among those that continue one another, from 1
	rows    int             // of the present part, heading included
	part    *bufio.Writer
	tail    []byte
	letters []string
}

func newWorkbook(out io.Writer, o Options) (*workbook, error) {
	w := &workbook{
		zip: newZip(out), file: excelize.NewFile(), limit: o.sheetRows, cells: cells{zone: o.Zone},
		parts: map[string]bool{},
	}
	if w.limit == 0 {
		w.limit = excelize.TotalRows
	}
	if err := w.file.SetDocProps(&excelize.DocProperties{Creator: "Marquee"}); err != nil {
		return nil, err
	}
	return w, w.addStyles()
}

// addStyles registers the number formats; text is "@", so that a cell stays text
// when it is edited, and stands a little off the number at its left.
func (w *workbook) addStyles() (err error) {
	day, instant := "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"
	for kind, style := range map[Kind]*excelize.Style{
		Text: {NumFmt: 49, Alignment: &excelize.Alignment{Horizontal: "left", Indent: 1}}, Integer: {NumFmt: 1},
		Money: {NumFmt: 4}, Decimal: {NumFmt: 2}, Percent: {NumFmt: 10},
		Date: {CustomNumFmt: &day}, Timestamp: {CustomNumFmt: &instant},
	} {
		if w.styles[kind], err = w.file.NewStyle(style); err != nil {
			return err
		}
	}
	for i, side := range []string{"left", "right"} { // as the cells below stand
		w.header[i], err = w.file.NewStyle(&excelize.Style{
			NumFmt: 49, Font: &excelize.Font{Family: "Calibri", Size: 11, Bold: true, Color: "FFFFFF"},
			Alignment: &excelize.Alignment{Horizontal: side, Indent: 1 - i},
			Fill:      excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"1F3A5F"}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *workbook) beginSheet(s Sheet) error {
	w.sheet, w.place = s, 0
	w.letters = make([]string, len(s.Columns))
	for i := range s.Columns {
		var err error
		if w.letters[i], err = excelize.ColumnNumberToName(i + 1); err != nil {
			return err
		}
	}
	return w.beginPart()
}

// beginPart opens a sheet of the workbook: the first one of a Sheet, or the next
// when it has more rows than one can hold.
func (w *workbook) beginPart() error {
	w.place++
	if err := w.addSheet(w.partName()); err != nil {
		return err
	}
	path, head, tail, err := w.frame()
	if err != nil {
		return err
	}
	out, err := w.zip.Create(path)
	if err != nil {
		return err
	}
	if err := w.zip.Flush(); err != nil { // the first bytes, before the first row is there
		return err
	}
	w.part, w.tail, w.rows, w.parts[path] = bufio.NewWriterSize(out, 64<<10), tail, 1, true
	_, err = w.part.Write(head)
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

// addSheet makes the sheet in excelize with its frozen heading, and no rows.
func (w *workbook) addSheet(name string) error {
	var err error
	if len(w.parts) == 0 {
		err = w.file.SetSheetName("Sheet1", name) // a new file has one already
	} else {
		_, err = w.file.NewSheet(name)
	}
	if err != nil {
		return err
	}
	if err := w.layOut(name); err != nil {
		return err
	}
	stream, err := w.file.NewStreamWriter(name)
	if err != nil {
		return err
	}
	if err := stream.SetPanes(&excelize.Panes{
		Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft",
	}); err != nil {
		return err
	}
	heading := make([]any, len(w.sheet.Columns))
	for i, c := range w.sheet.Columns {
		heading[i] = excelize.Cell{StyleID: w.header[right(c.Kind)], Value: c.Name}
		if err := stream.SetColWidth(i+1, i+1, width(c)); err != nil {
			return err
		}
	}
	if err := stream.SetRow("A1", heading); err != nil {
		return err
	}
	return stream.Flush()
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
func width(c Column) float64 {
	least := c.Width
	if least == 0 {
		least = max(map[Kind]int{Text: 24, Timestamp: 20}[c.Kind], 12)
	}
	return float64(max(least, utf8.RuneCountInString(c.Name)+2))
}

const (
	a4           = 9  // of the paper sizes
	portraitMost = 90 // characters side by side that are read well on an upright page
)

// layOut has the sheet printed with all columns on one page's width, and its
// heading on each page.
func (w *workbook) layOut(sheet string) error {
	var wide float64
	for _, c := range w.sheet.Columns {
		wide += width(c)
	}
	paper, orientation, columns, rows := a4, "portrait", 1, 0
	if wide > portraitMost {
		orientation = "landscape"
	}
	fit := true
	err := w.file.SetSheetProps(sheet, &excelize.SheetPropsOptions{FitToPage: &fit})
	if err == nil {
		err = w.file.SetPageLayout(sheet, &excelize.PageLayoutOptions{
			Size: &paper, Orientation: &orientation, FitToWidth: &columns, FitToHeight: &rows,
		})
	}
	if err != nil {
		return err
	}
	return w.file.SetDefinedName(&excelize.DefinedName{
		Name: "_xlnm.Print_Titles", RefersTo: "'" + strings.ReplaceAll(sheet, "'", "''") + "'!$1:$1", Scope: sheet,
	})
}

// frame returns the newest sheet as excelize writes it, split where rows go.
func (w *workbook) frame() (path string, head, tail []byte, err error) {
	var sheet bytes.Buffer
	err = w.render(func(name string) (io.Writer, error) {
		if strings.HasPrefix(name, sheetPart) && !w.parts[name] {
			path = name
			return &sheet, nil
		}
		return io.Discard, nil
	})
	if err != nil {
		return "", nil, nil, err
	}
	const end = "</sheetData>"
	at := bytes.Index(sheet.Bytes(), []byte(end))
	if at < 0 {
		return "", nil, nil, errors.New("the new sheet has no place for rows")
	}
	return path, sheet.Bytes()[:at], sheet.Bytes()[at:], nil
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
		b = w.cells.append(b, w.letters[i], w.styles[kind], v, kind)
	}
	_, err := w.part.Write(w.cells.end(b))
	return err
}

func (w *workbook) endSheet() error {
	if _, err := w.part.Write(w.tail); err != nil {
		return err
	}
	return w.part.Flush()
}

// close writes the parts that tell of the sheets, and the zip's directory.
func (w *workbook) close() error {
	err := w.render(func(name string) (io.Writer, error) {
		if w.parts[name] {
			return io.Discard, nil
		}
		return w.zip.Create(name)
	})
	if err != nil {
		return err
	}
	if err := w.file.Close(); err != nil {
		return err
	}
	return w.zip.Close()
}

// render lets excelize write the workbook, each part to where the function says.
func (w *workbook) render(to func(name string) (io.Writer, error)) error {
	p := &parts{to: to}
	w.file.SetZipWriter(func(io.Writer) excelize.ZipWriter { return p })
	if err := w.file.Write(io.Discard); err != nil {
		return err
	}
	return p.err
}

// parts is the zip that excelize believes to write. It keeps the first error,
// which excelize may lose.
type parts struct {
	to  func(name string) (io.Writer, error)
	out io.Writer
	err error
}

func (p *parts) Create(name string) (io.Writer, error) {
	out, err := p.to(name)
	p.keep(err)
	p.out = out
	return p, err
}

func (p *parts) Write(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	n, err := p.out.Write(b)
	p.keep(err)
	return n, err
}

func (p *parts) AddFS(fs.FS) error { return errors.New("export: a workbook has no folders of files") }

func (p *parts) Close() error { return p.err }

func (p *parts) keep(err error) {
	if p.err == nil {
		p.err = err
	}
}
