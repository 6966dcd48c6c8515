package export

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

func TestWorkbookHasTypedCells(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	f := opened(t, written(t, XLSX, Options{Zone: zone}, everyKind(full("São Paulo"), make([]Value, 8)), texts("x")))
	require.Equal(t, []string{"kinds", "texts"}, f.GetSheetList())

	rows, err := f.GetRows("kinds")
	require.NoError(t, err)
	require.Equal(t, [][]string{
		{"text", "integer", "money", "decimal", "percent", "day", "at", "yes"},
		{"São Paulo", "-7", "-1,234.05", "1.75", "12.35%", "2026-02-28", "2026-02-28 23:59:59", "TRUE"},
	}, rows)
	for cell, want := range map[string]struct {
		raw  string
		kind excelize.CellType
	}{
		"A2": {"São Paulo", excelize.CellTypeInlineString},
		"B2": {"-7", excelize.CellTypeUnset},
		"C2": {"-1234.05", excelize.CellTypeUnset},
		"E2": {"0.1235", excelize.CellTypeUnset},
		"F2": {"46081", excelize.CellTypeUnset},
		"H2": {"1", excelize.CellTypeBool},
		"A3": {"", excelize.CellTypeUnset},
	} {
		raw, err := f.GetCellValue("kinds", cell, excelize.Options{RawCellValue: true})
		require.NoError(t, err)
		kind, err := f.GetCellType("kinds", cell)
		require.NoError(t, err)
		require.Equal(t, want.raw, raw, cell)
		require.Equal(t, want.kind, kind, cell)
	}
	at, err := f.GetCellValue("kinds", "G2", excelize.Options{RawCellValue: true})
	require.NoError(t, err)
	require.Equal(t, "46081.9999898495", at) // 23:59:59.123

	panes, err := f.GetPanes("kinds")
	require.NoError(t, err)
	require.True(t, panes.Freeze)
	require.Equal(t, 1, panes.YSplit)
}

func TestWorkbookTextsAreNeverFormulas(t *testing.T) {
	t.Parallel()
	given := []string{
		"=1+1", "+5511987654321", "-2", "@SUM(A1)", "\t=1", "\r\n=1", "=HYPERLINK(\"http://x\")", "  two  blanks ",
		"a\nb", "_x000D_", "_x005F_x000D_", "<b>&amp;\"'",
	}
	file := written(t, XLSX, Options{}, texts(given...))
	sheet := unzipped(t, file)["xl/worksheets/sheet1.xml"]
	require.NotContains(t, sheet, "<f>")
	require.Equal(t, len(given)+1, strings.Count(sheet, `t="inlineStr"`))
	f := opened(t, file)
	for i, want := range given {
		cell, err := excelize.CoordinatesToCellName(1, i+2)
		require.NoError(t, err)
		got, err := f.GetCellValue("texts", cell)
		require.NoError(t, err)
		require.Equal(t, want, got)
		style, err := f.GetCellStyle("texts", cell)
		require.NoError(t, err)
		format, err := f.GetStyle(style)
		require.NoError(t, err)
		require.Equal(t, 49, format.NumFmt, "the number format text keeps it a text when it is edited")
	}
}

func TestWorkbookReplacesWhatXMLCannotHold(t *testing.T) {
	t.Parallel()
	got, err := opened(t, written(t, XLSX, Options{}, texts("a\x00b\x1fc\ufffed\xffe\U0001F3AC"))).GetCellValue("texts",
		"A2")
	require.NoError(t, err)
	require.Equal(t, "a\ufffdb\ufffdc\ufffdd\ufffde\U0001F3AC", got)
}

func TestWorkbookCutsWhatACellCannotHold(t *testing.T) {
	t.Parallel()
	const most = excelize.TotalCellChars
	whole := strings.Repeat("é", most)
	long := strings.Repeat("\U0001F3AC", most) // two units each
	f := opened(t, written(t, XLSX, Options{}, texts(whole, whole+"x", long)))
	for cell, want := range map[string]string{
		"A2": whole, "A3": strings.Repeat("é", most-1) + "…", "A4": strings.Repeat("\U0001F3AC", most/2) + "…",
	} {
		got, err := f.GetCellValue("texts", cell)
		require.NoError(t, err)
		require.Equal(t, want, got, "%s holds %d units", cell, len(utf16.Encode([]rune(got))))
	}
}

func TestWorkbookContinuesOnAnotherSheet(t *testing.T) {
	t.Parallel()
	rows := make([][]Value, 7)
	for i := range rows {
		rows[i] = []Value{IntOf(int64(i))}
	}
	s := Sheet{
		Name: "a name of thirty-one characters", Columns: []Column{{Name: "n", Kind: Integer}}, Rows: of(rows...),
	}
	exact := Sheet{Name: "exact", Columns: []Column{{Name: "n", Kind: Integer}}, Rows: of(rows[:3]...)}
	f := opened(t, written(t, XLSX, Options{sheetRows: 4}, s, exact))
	require.Equal(t, []string{
		s.Name, "a name of thirty-one charac (2)", "a name of thirty-one charac (3)", "exact",
	}, f.GetSheetList())
	for sheet, want := range map[string][][]string{
		s.Name: {{"n"}, {"0"}, {"1"}, {"2"}}, "a name of thirty-one charac (2)": {{"n"}, {"3"}, {"4"}, {"5"}},
		"a name of thirty-one charac (3)": {{"n"}, {"6"}}, "exact": {{"n"}, {"0"}, {"1"}, {"2"}},
	} {
		got, err := f.GetRows(sheet)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// A part that the directory of parts does not know, or the other way round, is
// what makes Excel offer a repair.
func TestWorkbookPartsAgree(t *testing.T) {
	t.Parallel()
	files := unzipped(t, written(t, XLSX, Options{}, texts("x"), everyKind(full("y"))))
	var types struct {
		Overrides []struct {
			PartName string `xml:"PartName,attr"`
		} `xml:"Override"`
	}
	require.NoError(t, xml.Unmarshal([]byte(files["[Content_Types].xml"]), &types))
	for _, o := range types.Overrides {
		require.Contains(t, files, strings.TrimPrefix(o.PartName, "/"))
	}
	for name, content := range files {
		if strings.HasPrefix(name, "xl/worksheets/sheet") {
			require.Contains(t, files["[Content_Types].xml"], `PartName="/`+name+`"`)
			require.Equal(t, 1, strings.Count(content, "<sheetData>"))
			require.Equal(t, 1, strings.Count(content, "</worksheet>"))
		}
	}
}

func TestDatesOutsideExcelsCalendarAreTexts(t *testing.T) {
	t.Parallel()
	f := opened(t, written(t, XLSX, Options{}, Sheet{Name: "d", Columns: []Column{{Name: "day", Kind: Date}}, Rows: of(
		[]Value{DayOf(time.Date(1900, 2, 28, 0, 0, 0, 0, time.UTC))},
		[]Value{DayOf(time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC))},
	)}))
	rows, err := f.GetRows("d")
	require.NoError(t, err)
	require.Equal(t, [][]string{{"day"}, {"1900-02-28"}, {"1900-03-01"}}, rows)
}

func FuzzCellText(f *testing.F) {
	for _, s := range []string{"", "a&b", "_x000D_", "_x00_x0041_", "\x00\r\n", "\xff\xfe", "]]>", "\U0010ffff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var cell struct {
			Text string `xml:"is>t"`
		}
		require.NoError(t, xml.Unmarshal(appendText([]byte("<c"), s), &cell))
		require.True(t, utf8.ValidString(cell.Text))
		want := strings.Map(func(r rune) rune {
			if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
				return utf8.RuneError
			}
			return r
		}, cut(strings.ToValidUTF8(s, "\x00")))
		if strings.ToValidUTF8(s, "") == s {
			require.Equal(t, want, strings.ReplaceAll(cell.Text, "_x005F_x", "_x"))
		}
	})
}
