package export_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/export"
	"marquee/testutil/pgtest"
)

var columns = []export.Column{
	{Name: "id", Kind: export.Text},
	{Name: "n", Kind: export.Integer},
	{Name: "amount", Kind: export.Money},
	{Name: "rate", Kind: export.Percent},
	{Name: "day", Kind: export.Date},
	{Name: "at", Kind: export.Timestamp},
	{Name: "yes", Kind: export.Bool},
}

func TestRowsOfAStatement(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	rows := export.Rows(t.Context(), db, columns, `
		SELECT CASE WHEN i > 1 THEN lpad(i::text, 24, '0')::platform.object_id END, i::bigint, -i * 101::bigint, i * 12.35::float8,
			date '2026-02-28' + i, CASE i WHEN 3 THEN 'infinity' ELSE timestamptz '2026-03-01T02:59:59.123Z' END, i > 1
		FROM generate_series(1, $1::int) i`, 3)
	var out bytes.Buffer
	require.NoError(t, export.Write(t.Context(), &out, export.JSON, []export.Sheet{{
		Name: "s", Columns: columns, Rows: rows,
	}}, export.Options{}))
	require.Equal(t, `{
"s": [
{"id":null,"n":1,"amount":-1.01,"rate":12.35,"day":"2026-03-01","at":"2026-03-01T02:59:59.123Z","yes":false},
{"id":"000000000000000000000002","n":2,"amount":-2.02,"rate":24.7,"day":"2026-03-02","at":"2026-03-01T02:59:59.123Z","yes":true},
{"id":"000000000000000000000003","n":3,"amount":-3.03,"rate":37.05,"day":"2026-03-03","at":null,"yes":true}
]
}
`, out.String())
}

// A statement that fails after a thousand rows, and one that cannot begin.
func TestRowsTellOfAnError(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	for _, sql := range []string{`SELECT 1 / (2000 - i) FROM generate_series(1, 3000) i`, `SELECT nothing`} {
		var last error
		for _, err := range export.Rows(t.Context(), db, []export.Column{{Name: "n", Kind: export.Integer}}, sql) {
			last = err
		}
		require.Error(t, last, sql)
	}
}

func TestRowsCanBeLeft(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	conn, err := db.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	for values, err := range export.Rows(t.Context(), conn, []export.Column{{
		Name: "n", Kind: export.Integer,
	}}, `SELECT i FROM generate_series(1, 10) i`) {
		require.NoError(t, err)
		require.EqualValues(t, 1, values[0].Int)
		break
	}
	require.NoError(t, conn.Ping(t.Context()), "the connection is free for others")
}
