package finance_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/objectid"
)

// TestExportsOfHostileTexts: what people write reaches no spreadsheet as a formula,
// and no other program changed.
func TestExportsOfHostileTexts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	given := []string{
		"=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=HYPERLINK(\"http://x\")",
		"O'Neill - a name", "-12.50",
	}
	for range given {
		accountstest.Customer(t, b.db, func(u *accounts.NewUser) { u.Phone = "+5511912345678" })
	}
	_, err := b.db.Exec(t.Context(), `UPDATE accounts.users u SET full_name = ($1::text[])[k.n]
		FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM accounts.users WHERE user_type = 'customer') k WHERE k.id = u.id`, given)
	require.NoError(t, err)

	of := func(s sheets) (names, phones []string) {
		for _, row := range s["customers"] {
			names, phones = append(names, row["full_name"]), append(phones, row["phone"])
		}
		return names, phones
	}
	dialled := []string{}
	for range given {
		dialled = append(dialled, "+5511912345678")
	}
	for format, want := range map[string][]string{
		"csv": {
			"'=1+1", "'+1+cmd|' /C calc'!A0", "'-2+3", "'@SUM(A1)", "'\t=1", "'\r=1", "'=HYPERLINK(\"http://x\")",
			"O'Neill - a name", "-12.50",
		},
		"json": given, "xlsx": given, // a cell of type text is no formula
	} {
		names, phones := of(b.opened("/admin/customers/export?bom=0", format))
		require.Equal(t, want, names, format)
		require.Equal(t, dialled, phones, format)
	}
	book, err := excelize.OpenReader(bytes.NewReader(b.admin.Get("/admin/customers/export").Expect(http.StatusOK).Body))
	require.NoError(t, err)
	for row := range given {
		for _, column := range []int{4, 6} { // full_name, phone
			cell, err := excelize.CoordinatesToCellName(column, row+2)
			require.NoError(t, err)
			formula, err := book.GetCellFormula("customers", cell)
			require.NoError(t, err)
			require.Empty(t, formula)
			kind, err := book.GetCellType("customers", cell)
			require.NoError(t, err)
			require.Equal(t, excelize.CellTypeInlineString, kind, "also a telephone number")
		}
	}
}

// TestExportsWithAByteOrderMark: it stands before each csv when asked for, also in
// the file that a job writes.
func TestExportsWithAByteOrderMark(t *testing.T) {
	t.Parallel()
	b := setup(t)
	heading := func(file []byte) string { return csvFiles(t, file)["customers.csv"][0][0] }
	require.Equal(t, "_id", heading(b.admin.Get("/admin/customers/export?format=csv").Expect(http.StatusOK).Body))
	require.Equal(t, "\ufeff_id",
		heading(b.admin.Get("/admin/customers/export?format=csv&bom=1").Expect(http.StatusOK).Body))
	id := b.requestExport("/admin/customers/export?format=csv&bom=true&async=1")
	require.NoError(t, b.svc.RunExport(t.Context(), objectid.ID(id)))
	require.Equal(t, "\ufeff_id", heading(b.admin.Get("/admin/exports/"+id+"/file").Expect(http.StatusOK).Body))
}

// TestAnExportTellsHowFarItIs in percent of its rows, and 100 when the file is
// whole alone.
func TestAnExportTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.customers(3)
	id := b.requestExport(asyncCustomers)
	for _, step := range []struct {
		status  string
		written int
		total   any
		percent float64
	}{
		{status: "queued", written: 0, total: nil, percent: 0},
		{status: "running", written: 0, total: nil, percent: 0},
		{status: "running", written: 0, total: 400, percent: 0},
		{status: "running", written: 100, total: 400, percent: 25},
		{status: "running", written: 399, total: 400, percent: 99},
		{status: "running", written: 400, total: 400, percent: 99},
		{status: "running", written: 0, total: 0, percent: 0},
	} {
		_, err := b.db.Exec(t.Context(), `UPDATE finance.exports SET status = $1, rows_written = $2, rows_total = $3,
			attempt = 1, started_at = $4, lease_until = CASE $1 WHEN 'running' THEN $4::timestamptz END`, step.status,
			step.written, step.total, noon)
		require.NoError(t, err)
		state := b.get("/admin/exports/" + id)
		require.Equal(t, step.status, state["status"])
		require.InDelta(t, step.percent, state["percent"], 0)
		require.Nil(t, state["download_url"])
		b.admin.Get("/admin/exports/" + id + "/file").Expect(http.StatusConflict)
	}
}

// TestExportInPortuguese: a csv file as spreadsheets there read it, made at once or by a job; in English as ever.
func TestExportInPortuguese(t *testing.T) {
	t.Parallel()
	b := goldenAPI(t)
	of := func(query string) string {
		return string(unzippedFile(t, b.admin.Get("/admin/finance/export?format=csv&start=2026-01-01&end=2026-08-20"+query).
			Expect(http.StatusOK).Body, "refunds.csv"))
	}
	english, portuguese := of(""), of("&language=pt")
	require.Equal(t, english, of("&language=en"))
	require.True(t, strings.HasPrefix(portuguese, "\ufeff"))
	lines := strings.Split(strings.TrimPrefix(portuguese, "\ufeff"), "\r\n")
	require.Len(t, lines, strings.Count(english, "\n")+1)
	require.Equal(t, strings.ReplaceAll(strings.SplitN(english, "\n", 2)[0], ",", ";"), lines[0], "the headings stay")
	require.Contains(t, portuguese, ";598,80;")
	require.Contains(t, english, ",598.80,")
	require.Regexp(t, `;\d\d/03/2026 \d\d:00:00`, portuguese)
	b.work()
	begun := b.admin.Get("/admin/finance/export?format=csv&start=2026-01-01&end=2026-08-20&language=pt&async=1").
		Expect(http.StatusAccepted).Map()
	made := b.until(begun["_id"].(string), "done")
	require.Equal(t, portuguese, string(unzippedFile(t, b.admin.Get(path(t, made["download_url"])).Expect(http.StatusOK).Body,
		"refunds.csv")))
	require.Equal(t, "language", b.admin.Get("/admin/finance/export?format=csv&language=fr").Expect(422).Field())
}

// unzippedFile is a file of a zip.
func unzippedFile(t *testing.T, archive []byte, name string) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	r, err := z.Open(name)
	require.NoError(t, err)
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return content
}
