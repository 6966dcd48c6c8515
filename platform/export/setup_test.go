package export

import (
	"archive/zip"
	"bytes"
	"io"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

var noon = time.Date(2026, time.March, 1, 2, 59, 59, 123e6, time.UTC) // still February in Sao Paulo

// everyKind is a sheet with one column of each kind.
func everyKind(rows ...[]Value) Sheet {
	return Sheet{Name: "kinds", Rows: of(rows...), Columns: []Column{
		{Name: "text", Kind: Text},
		{Name: "integer", Kind: Integer},
		{Name: "money", Kind: Money},
		{Name: "decimal", Kind: Decimal},
		{Name: "percent", Kind: Percent},
		{Name: "day", Kind: Date},
		{Name: "at", Kind: Timestamp},
		{Name: "yes", Kind: Bool},
	}}
}

// full is a row of everyKind; without kinds of their own, values are their column's.
func full(text string) []Value {
	return []Value{
		{Valid: true, Text: text},
		{Valid: true, Int: -7},
		{Valid: true, Int: -123405},
		{Valid: true, Float: 1.75},
		{Valid: true, Float: 12.35},
		{Valid: true, Time: time.Date(2026, time.February, 28, 0, 0, 0, 0, time.UTC)},
		{Valid: true, Time: noon},
		{Valid: true, Int: 1},
	}
}

func texts(values ...string) Sheet {
	rows := make([][]Value, len(values))
	for i, v := range values {
		rows[i] = []Value{TextOf(v)}
	}
	return Sheet{Name: "texts", Columns: []Column{{Name: "text", Kind: Text}}, Rows: of(rows...)}
}

func of(rows ...[]Value) iter.Seq2[[]Value, error] {
	return func(yield func([]Value, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func written(t testing.TB, format Format, o Options, sheets ...Sheet) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, Write(t.Context(), &out, format, sheets, o))
	return out.Bytes()
}

func opened(t testing.TB, file []byte) *excelize.File {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(file))
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// unzipped returns the content of each file.
func unzipped(t testing.TB, file []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	all := map[string]string{}
	for _, f := range z.File {
		require.NotContains(t, all, f.Name)
		r, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		all[f.Name] = string(content)
	}
	return all
}
