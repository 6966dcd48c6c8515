package export

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

// TestWorkbookIsLaidOut: its heading, the widths of its columns, and how it is printed.
func TestWorkbookIsLaidOut(t *testing.T) {
	t.Parallel()
	narrow := Sheet{Name: "it's <&> \"it\"", Rows: of(), Columns: []Column{
		{Name: " a <b> & 'c' ", Kind: Text}, {Name: "amount", Kind: Money}, {Name: "n", Kind: Integer, Width: 40},
	}}
	wide := everyKind(full("x"))
	wide.Columns[0].Width = 60
	file := written(t, XLSX, Options{}, narrow, wide)
	for name, content := range unzipped(t, file) {
		for d := xml.NewDecoder(strings.NewReader(content)); ; {
			if _, err := d.Token(); err != nil {
				require.ErrorIs(t, err, io.EOF, name)
				break
			}
		}
	}
	f := opened(t, file)
	require.Equal(t, []string{narrow.Name, "kinds"}, f.GetSheetList())
	require.Equal(t, 0, f.GetActiveSheetIndex())
	for sheet, orientation := range map[string]string{narrow.Name: "portrait", "kinds": "landscape"} {
		layout, err := f.GetPageLayout(sheet)
		require.NoError(t, err)
		require.Equal(t, orientation, *layout.Orientation)
		require.Equal(t, 9, *layout.Size, "A4")
		require.Equal(t, 1, *layout.FitToWidth)
		require.Equal(t, 0, *layout.FitToHeight)
		props, err := f.GetSheetProps(sheet)
		require.NoError(t, err)
		require.True(t, *props.FitToPage)
		panes, err := f.GetPanes(sheet)
		require.NoError(t, err)
		require.True(t, panes.Freeze)
		require.Equal(t, 1, panes.YSplit)
	}
	require.Equal(t, []excelize.DefinedName{
		{Name: "_xlnm.Print_Titles", RefersTo: "'it''s <&> \"it\"'!$1:$1", Scope: narrow.Name},
		{Name: "_xlnm.Print_Titles", RefersTo: "'kinds'!$1:$1", Scope: "kinds"},
	}, f.GetDefinedName())
	for column, want := range map[string]float64{"A": 24, "B": 12, "C": 40} {
		got, err := f.GetColWidth(narrow.Name, column)
		require.NoError(t, err)
		require.InDelta(t, want, got, 0)
	}
	for cell, side := range map[string]string{"A1": "left", "B1": "right"} {
		n, err := f.GetCellStyle(narrow.Name, cell)
		require.NoError(t, err)
		style, err := f.GetStyle(n)
		require.NoError(t, err)
		require.Equal(t, side, style.Alignment.Horizontal)
		require.True(t, style.Font.Bold)
		require.Equal(t, 1, style.Fill.Pattern, "white on a colour")
		require.Equal(t, 49, style.NumFmt)
	}
	for i, want := range []int{49, 1, 4, 2, 10} {
		n, err := f.GetCellStyle("kinds", string(rune('A'+i))+"2")
		require.NoError(t, err)
		style, err := f.GetStyle(n)
		require.NoError(t, err)
		require.Equal(t, want, style.NumFmt)
	}
	heading, err := f.GetCellValue(narrow.Name, "A1")
	require.NoError(t, err)
	require.Equal(t, " a <b> & 'c' ", heading)
	props, err := f.GetDocProps()
	require.NoError(t, err)
	require.Equal(t, "Marquee", props.Creator)
}

func TestLettersOfColumns(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 25, 26, 51, 52, 701, 702, 16383} {
		want, err := excelize.ColumnNumberToName(n + 1)
		require.NoError(t, err)
		require.Equal(t, want, letters(n))
	}
}
