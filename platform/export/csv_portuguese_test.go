package export

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"marquee/testutil/soak"
)

// saoPaulo is the zone of reports.
func saoPaulo(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	return zone
}

// hostile are texts that a csv file, or a spreadsheet, could take for something else.
var hostile = []string{"São Paulo", `She said "no"`, "two\nlines", "a;b,c", "=1+1", "-12,50", " kept "}

func hostileRows() (rows [][]Value) {
	for _, text := range hostile {
		rows = append(rows, full(text))
	}
	return append(rows, make([]Value, 8))
}

// TestPortugueseCSVByteByByte: with the mark, semicolons, CRLF, decimal commas, dd/mm/yyyy and the clock of the zone.
// In English nothing is otherwise than before.
func TestPortugueseCSVByteByByte(t *testing.T) {
	t.Parallel()
	const numbers = `;-7;-1234,05;1,75;12,35;28/02/2026;28/02/2026 23:59:59;true` + "\r\n"
	require.Equal(t, map[string]string{
		"kinds.csv": "\xef\xbb\xbf" + "text;integer;money;decimal;percent;day;at;yes\r\n" +
			"S\xc3\xa3o Paulo" + numbers +
			`"She said ""no"""` + numbers +
			"\"two\r\nlines\"" + numbers +
			`"a;b,c"` + numbers +
			"'=1+1" + numbers +
			"-12,50" + numbers +
			`" kept "` + numbers +
			";;;;;;;\r\n",
	}, unzipped(t, written(t, CSV, Options{Zone: saoPaulo(t), Language: Portuguese}, everyKind(hostileRows()...))))
	const english = `,-7,-1234.05,1.75,12.35,2026-02-28,2026-03-01T02:59:59.123Z,true` + "\n"
	for _, language := range []Language{"", English} {
		require.Equal(t, map[string]string{
			"kinds.csv": "text,integer,money,decimal,percent,day,at,yes\n" + "São Paulo" + english + `"a;b,c"` + english,
		}, unzipped(t, written(t, CSV, Options{Zone: saoPaulo(t), Language: language},
			everyKind(full("São Paulo"), full("a;b,c")))), language)
	}
}

// TestLibreOfficeOpensPortugueseCSVSoak: LibreOffice in pt_BR has the columns apart, takes amounts for numbers and days
// for days, and their sum is right.
func TestLibreOfficeOpensPortugueseCSVSoak(t *testing.T) {
	t.Parallel()
	if !soak.On() {
		t.Skip("LibreOffice takes seconds to start: make soak opens the file with it")
	}
	office, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("LibreOffice is not installed: the csv file is compared byte by byte alone")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "kinds.csv")
	content := unzipped(t, written(t, CSV, Options{Zone: saoPaulo(t), Language: Portuguese}, everyKind(hostileRows()...)))
	require.NoError(t, os.WriteFile(file, []byte(content["kinds.csv"]), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// The filter's words: semicolon, quotes, UTF-8, from the first line on, Portuguese of Brazil (1046), numbers and days
	// are looked for.
	command := exec.CommandContext(ctx, office, "-env:UserInstallation=file://"+dir+"/profile", "--headless",
		"--infilter=CSV:59,34,76,1,,1046,false,true", "--convert-to", "xlsx", "--outdir", dir, file)
	command.Env = append(os.Environ(), "LANG=pt_BR.UTF-8", "LC_ALL=pt_BR.UTF-8")
	said, err := command.CombinedOutput()
	require.NoError(t, err, "%s", said)
	book, err := excelize.OpenFile(filepath.Join(dir, "kinds.xlsx"))
	require.NoError(t, err, "%s", said)
	t.Cleanup(func() { _ = book.Close() })
	rows, err := book.GetRows("kinds", excelize.Options{RawCellValue: true})
	require.NoError(t, err)
	require.Equal(t, []string{"text", "integer", "money", "decimal", "percent", "day", "at", "yes"}, rows[0])
	require.GreaterOrEqual(t, len(rows), 1+len(hostile))
	sum := 0.0
	for i := range hostile {
		row := rows[i+1]
		require.Len(t, row, 8, row)
		cents, err := strconv.ParseFloat(row[2], 64)
		require.NoError(t, err, "an amount is a number")
		sum += cents
		require.Equal(t, []string{"-7", "-1234.05", "1.75", "12.35", "46081"}, row[1:6], "28 February 2026 is day 46081")
		kind, err := book.GetCellType("kinds", "C"+strconv.Itoa(i+2))
		require.NoError(t, err)
		require.NotEqual(t, excelize.CellTypeSharedString, kind)
		formula, err := book.GetCellFormula("kinds", "A"+strconv.Itoa(i+2))
		require.NoError(t, err)
		require.Empty(t, formula)
	}
	require.InDelta(t, float64(len(hostile))*-1234.05, sum, 0.001)
	require.Equal(t, "two\nlines", rows[3][0])
}
