// Package financetest makes the golden data set: eight months of a small platform
// (golden.txt) and the figures that follow from it, worked out by hand
// (golden.md). Views, API, workbook, csv and json are held against the same tables.
package financetest

import (
	_ "embed" // the data set
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

//go:embed golden.txt
var facts string

//go:embed golden.md
var figures string

// Now is the instant at which the figures of golden.md hold.
var Now = time.Date(2026, 8, 20, 15, 0, 0, 0, time.UTC)

// Golden writes the data set in the order of time, with the triggers on, as the
// service would have. The report time zone has to be the default.
func Golden(t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	book := read(t, facts)
	require.Equal(t, Now, book.now)
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) error {
		for _, f := range book.inOrder() {
			if err := f.write(t, tx); err != nil {
				return fmt.Errorf("golden.txt:%d: %w", f.line, err)
			}
		}
		return nil
	}))
}

// ID is the id of a name in golden.txt, such as S01, C27, O3, E1 or P2.
func ID(name string) objectid.ID {
	n, err := strconv.Atoi(name[1:])
	if err != nil {
		panic("financetest: no name of golden.txt: " + name)
	}
	return objectid.ID(fmt.Sprintf("%02x%022d", name[0], n))
}

// Name is the reverse of ID.
func Name(id string) string {
	letter, err := strconv.ParseUint(id[:2], 16, 8)
	if err != nil {
		return id
	}
	n, err := strconv.Atoi(id[2:])
	if err != nil {
		return id
	}
	if c := string(rune(letter)); c == "S" || c == "C" {
		return fmt.Sprintf("%s%02d", c, n)
	}
	return fmt.Sprintf("%c%d", rune(letter), n)
}

// Row is a row of a table of golden.md, by the heading of the column.
type Row map[string]string

// Int is a cell as a number.
func (r Row) Int(t testing.TB, column string) int64 {
	t.Helper()
	require.Contains(t, r, column)
	n, err := strconv.ParseInt(r[column], 10, 64)
	require.NoError(t, err, column)
	return n
}

// Float is a cell as a number with decimals.
func (r Row) Float(t testing.TB, column string) float64 {
	t.Helper()
	require.Contains(t, r, column)
	n, err := strconv.ParseFloat(r[column], 64)
	require.NoError(t, err, column)
	return n
}

// Table is the table under a heading of golden.md, such as "Revenue by month".
func Table(t testing.TB, heading string) []Row {
	t.Helper()
	_, section, found := strings.Cut(figures, "\n## "+heading+"\n")
	require.True(t, found, "golden.md has no heading %q", heading)
	var columns []string
	var rows []Row
	for line := range strings.Lines(section) {
		switch {
		case strings.HasPrefix(line, "## "):
			return rows
		case !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--"):
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if columns == nil {
			columns = make([]string, len(cells))
			for i, c := range cells {
				columns[i] = strings.TrimSpace(c)
			}
			continue
		}
		require.Len(t, cells, len(columns), "golden.md: %s", line)
		row := Row{}
		for i, c := range cells {
			row[columns[i]] = strings.TrimSpace(c)
		}
		rows = append(rows, row)
	}
	require.NotEmpty(t, rows, heading)
	return rows
}
