package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// jsonFile writes one object: for each sheet its name and the list of its rows,
// each an object with the columns as keys, one row a line.
type jsonFile struct {
	out     *bufio.Writer
	sheets  int
	rows    int
	columns []Column
	keys    [][]byte // `"name":`
	text    bytes.Buffer
	enc     *json.Encoder
	buf     []byte
}

func newJSON(out io.Writer) *jsonFile {
	w := &jsonFile{out: bufio.NewWriterSize(out, 32<<10)}
	w.enc = json.NewEncoder(&w.text)
	w.enc.SetEscapeHTML(false)
	return w
}

func (w *jsonFile) beginSheet(s Sheet) error {
	opening := "{\n"
	if w.sheets > 0 {
		opening = ",\n"
	}
	w.sheets++
	w.rows, w.columns, w.keys = 0, s.Columns, make([][]byte, len(s.Columns))
	for i, c := range s.Columns {
		w.keys[i] = append(bytes.Clone(w.quoted(c.Name)), ':')
	}
	w.buf = append(append(append(w.buf[:0], opening...), w.quoted(s.Name)...), ": ["...)
	if _, err := w.out.Write(w.buf); err != nil {
		return err
	}
	return w.out.Flush() // the first bytes, before the first row is there
}

func (w *jsonFile) row(values []Value) error {
	b := w.buf[:0]
	if w.rows > 0 {
		b = append(b, ',')
	}
	w.rows++
	b = append(b, '\n', '{')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.value(append(b, w.keys[i]...), v, v.kind(w.columns[i]))
	}
	w.buf = append(b, '}')
	_, err := w.out.Write(w.buf)
	return err
}

func (w *jsonFile) value(b []byte, v Value, kind Kind) []byte {
	switch {
	case v.null(kind):
		return append(b, "null"...)
	case kind == Text:
		return append(b, w.quoted(v.Text)...)
	case kind == Date:
		return append(v.Time.AppendFormat(append(b, '"'), dayLayout), '"')
	case kind == Timestamp:
		return append(v.Time.UTC().AppendFormat(append(b, '"'), instantLayout), '"')
	}
	return appendNumber(b, v, kind)
}

// quoted is a JSON string, good until the next one.
func (w *jsonFile) quoted(s string) []byte {
	w.text.Reset()
	_ = w.enc.Encode(s) // a string into memory
	return bytes.TrimSuffix(w.text.Bytes(), []byte("\n"))
}

func (w *jsonFile) endSheet() error {
	_, err := w.out.WriteString("\n]")
	return err
}

func (w *jsonFile) close() error {
	end := "\n}\n"
	if w.sheets == 0 {
		end = "{}\n"
	}
	if _, err := w.out.WriteString(end); err != nil {
		return err
	}
	return w.out.Flush()
}
