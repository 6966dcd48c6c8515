package catalog

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"marquee/platform/export"
	"marquee/platform/fault"
	"marquee/platform/resource"
)

const (
	// maxImportBytes and maxImportRows bound a file.
	maxImportBytes = 16 << 20
	maxImportRows  = 20_000
)

// named are the columns that stand for others: names in place of ids.
var named = map[string]string{
	"category_name": "category_id", "tags_name": "tags_id", "season_name": "season_id",
}

const idColumn, dateColumn = "_id", "register_update_date"

// importColumns are what the header of a file may name.
func importColumns() []string {
	return slices.Concat([]string{idColumn, dateColumn}, resource.Written(Videos),
		[]string{"category_name", "tags_name", "season_name"})
}

// sheet is a file as it was read.
type sheet struct {
	delimiter rune
	header    []string
	lines     []sheetLine
}

// sheetLine is a line with its cells, or what is wrong with it.
type sheetLine struct {
	number int // in the file, from 1; of a row that has several, the first
	cells  []string
	wrong  string
}

// refuse is the answer to a file that cannot be read at all.
func refuse(says string, args ...any) error {
	return fault.InvalidAt(fmt.Sprintf(says, args...), "body")
}

// readSheet reads a file: UTF-8, a BOM or none, commas or semicolons, a header and at least one line. Errors: 422 for
// what is wrong with the file as a whole; a line of another length than the header says so itself.
func readSheet(data []byte) (*sheet, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return nil, refuse("has to be UTF-8: line %d holds bytes that are not. Save it as CSV UTF-8", wrongLine(data))
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return nil, refuse("may not hold the character U+0000: line %d does", 1+bytes.Count(data[:i], []byte("\n")))
	}
	s := &sheet{delimiter: delimiterOf(data)}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = s.delimiter, -1, false
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, refuse("has to begin with a header, such as title%[1]cslug%[1]cvideo_id%[1]cduration%[1]crelease_date", s.delimiter)
	}
	if err != nil {
		return nil, brokenLine(err)
	}
	if s.header, err = readHeader(header); err != nil {
		return nil, err
	}
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, brokenLine(err)
		}
		number, _ := r.FieldPos(0)
		if !slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" }) {
			continue // spreadsheets leave such lines behind
		}
		line := sheetLine{number: number, cells: cells}
		if len(cells) != len(s.header) {
			line.wrong = fmt.Sprintf("has %s, and the header %d", fault.Count(len(cells), "cell"), len(s.header))
		}
		if s.lines = append(s.lines, line); len(s.lines) > maxImportRows {
			return nil, refuse("may have at most 20,000 lines besides the header")
		}
	}
	if len(s.lines) == 0 {
		return nil, refuse("has to have at least one line besides the header")
	}
	return s, nil
}

func wrongLine(data []byte) int {
	line := 1
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			return line
		}
		if r == '\n' {
			line++
		}
		rest = rest[size:]
	}
	return line
}

// delimiterOf is the first of the two in the file: names of fields hold neither.
func delimiterOf(data []byte) rune {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	comma, semicolon := bytes.IndexByte(first, ','), bytes.IndexByte(first, ';')
	if semicolon >= 0 && (comma < 0 || semicolon < comma) {
		return ';'
	}
	return ','
}

func brokenLine(err error) error {
	var at *csv.ParseError
	if errors.As(err, &at) {
		return refuse("cannot be read at line %d: a cell with double quotes stands between them, and has its own twice", at.Line)
	}
	return fmt.Errorf("read csv: %w", err)
}

// readHeader checks the names of the columns, whatever their case.
func readHeader(cells []string) ([]string, error) {
	known := importColumns()
	header := make([]string, len(cells))
	for i, cell := range cells {
		name := strings.ToLower(strings.TrimSpace(cell))
		switch {
		case name == "":
			return nil, refuse("has a column without a name: column %d of the header", i+1)
		case !slices.Contains(known, name):
			shown := []rune(name)
			return nil, refuse("has an unknown column in its header: %s", string(shown[:min(len(shown), 64)]))
		case slices.Contains(header[:i], name):
			return nil, refuse("has a column twice in its header: %s", name)
		}
		header[i] = name
	}
	for name, id := range named {
		if slices.Contains(header, name) && slices.Contains(header, id) {
			return nil, refuse("has both %s and %s in its header: one of them", id, name)
		}
	}
	return header, nil
}

// dayFirst is a day as Brazilian spreadsheets write it; they separate cells by semicolons.
var dayFirst = regexp.MustCompile(`^\s*(\d{2})/(\d{2})/(\d{4})\s*$`)

// record is the object that a line is, and the names in it that stand for ids. A line without an id is a new record,
// of which empty cells are left out.
func (s *sheet) record(line sheetLine) (object map[string]json.RawMessage, names map[string][]string, id string) {
	object, names = map[string]json.RawMessage{}, map[string][]string{}
	if i := slices.Index(s.header, idColumn); i >= 0 {
		id = strings.ToLower(strings.TrimSpace(line.cells[i]))
	}
	for i, name := range s.header {
		cell := export.Original(line.cells[i])
		empty := strings.TrimSpace(cell) == ""
		switch field, byName := named[name]; {
		case name == idColumn:
			if id != "" {
				object[idColumn] = resource.FromText(Videos, idColumn, id)
			}
		case name == dateColumn:
			if id != "" && !empty {
				object[dateColumn] = resource.FromText(Videos, dateColumn, cell)
			}
		case empty && id == "":
		case byName && field == "season_id" && !empty:
			names[name] = []string{strings.TrimSpace(cell)}
		case byName && !empty:
			names[name] = listOf(cell)
		case byName:
			object[field] = resource.FromText(Videos, field, "")
		default:
			if s.delimiter == ';' && strings.HasSuffix(name, "_date") {
				cell = dayFirst.ReplaceAllString(cell, "$3-$2-$1")
			}
			object[name] = resource.FromText(Videos, name, cell)
		}
	}
	return object, names, id
}

func listOf(cell string) (list []string) {
	for item := range strings.SplitSeq(cell, resource.ListSeparator) {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}
