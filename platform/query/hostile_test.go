package query_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/query"
	"marquee/testutil/pgtest"
)

// Operands at the edges of what Postgres holds, and texts full of its syntax, run
// without an error on every kind of field and with every operator.
func TestFilter_hostileOperands(t *testing.T) {
	t.Parallel()
	tx := pgtest.Tx(t)
	_, err := tx.Exec(t.Context(), thingsTable)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(),
		`INSERT INTO things VALUES ($1, 's', NULL, 1, 1.5, 150, true, now(), NULL, '{a}', '{1}', '{}',
		'{"a":[{"b":1},{"b":[1,"x",null]}],"k":1e-16000,"n":[[1],2]}')`, strings.Repeat("a", 24))
	require.NoError(t, err)
	text := func(s string) string { quoted, _ := json.Marshal(s); return string(quoted) }
	operands := []string{
		"0", "-0", "1.8e308", "-1.8e308", "1e-16383", "1e-16384", "-1e-99999", "1e-999999999999999999999",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775808.5",
		"-9223372036854775809", "92233720368547758.07", "2147483648", strings.Repeat("9", 64),
		"0." + strings.Repeat("1", 62), "true", "null", "[]", "{}", `[1e-99999]`, `{"a":[1.8e308,{"b":-1e-16000}]}`,
		`{"$date":"0001-01-01T00:00:00Z"}`, `{"$date":"9999-12-31T23:59:59.999Z"}`, `{"$date":253402300799999}`,
		`{"$oid":"ffffffffffffffffffffffff"}`, text(`'; DROP TABLE things; --`), text(`$1`), text(`\`), text(`"`),
		text(`" ? (@ == 1)`), text("\u0001\u007f\u2028\ufffd\U0010ffff"), `"\ud800"`,
	}
	paths := []string{
		"_id", "s", "w", "i", "n", "price", "b", "o", "tags", "nums", "ids", "doc", "doc.a", "doc.a.b", "doc.a.1.b",
		"doc.99999999999.b", "tags.0", "tags.2147483646", "tags.2147483647", "nums.99999999999999999999", `doc.\".\\`,
		"doc.'; --", "doc.-1.b", "doc.é.😀",
	}
	for _, path := range paths {
		for _, operand := range operands {
			conditions := []string{
				operand, `{"$ne":` + operand + `}`, `{"$in":[` + operand + `]}`, `{"$all":[` + operand + `]}`,
			}
			if operand[0] != '[' && !slices.Contains([]string{"{}", `{"a":[1.8e308,{"b":-1e-16000}]}`}, operand) {
				for _, op := range []string{"$gt", "$gte", "$lt", "$lte"} {
					conditions = append(conditions, fmt.Sprintf(`{"%s":%s}`, op, operand),
						fmt.Sprintf(`{"$elemMatch":{"%s":%s}}`, op, operand))
				}
			}
			filter := `{"$or":[` + `{"` + path + `":` + strings.Join(conditions, `},{"`+path+`":`) + `}]}`
			_, err := find(t.Context(), tx, things, "things t", filter, `{"`+path+`":1}`)
			require.NoError(t, err, filter)
		}
		for _, condition := range []string{
			`{"$size":1e300}`, `{"$size":3}`, `{"$mod":[9223372036854775807,0]}`, `{"$mod":[-1,0]}`,
			`{"$mod":[-9223372036854775808,1]}`,
			`{"$type":["double","string","object","array",7,8,9,10,16,18,"number",-1]}`,
			`{"$elemMatch":{"$elemMatch":{"0":null}}}`, `{"$elemMatch":{}}`,
			`{"$elemMatch":{"$type":["array","null"]}}`,
			`{"$not":{"$regex":"\\x{10FFFF}|\\0"}}`,
		} {
			filter := `{"` + path + `":` + condition + `}`
			_, err := find(t.Context(), tx, things, "things t", filter, "")
			require.NoError(t, err, filter)
		}
	}
}

// A list at its limit is one parameter in jsonb as well, and runs.
func TestFilter_longLists(t *testing.T) {
	t.Parallel()
	tx := setup(t)
	var members []string
	for i := range query.MaxMembers {
		members = append(members, fmt.Sprintf(`"pay_%d"`, i))
	}
	ids, err := find(t.Context(), tx, webhookLogs, "webhook_logs w",
		`{"payload.data.id":{"$in":[`+strings.Join(members, ",")+`]}}`, "")
	require.NoError(t, err)
	require.Len(t, ids, 3)
}

// The arguments fit every execution mode of pgx.
func TestFilter_executionModes(t *testing.T) {
	t.Parallel()
	tx := pgtest.Tx(t)
	_, err := tx.Exec(t.Context(), thingsTable)
	require.NoError(t, err)
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec,
		pgx.QueryExecModeSimpleProtocol,
	} {
		for _, text := range goldenFilters {
			f, err := query.Compile(things, text, 1)
			require.NoError(t, err)
			_, err = tx.Exec(t.Context(), "SELECT FROM things t WHERE "+f.SQL, append([]any{mode}, f.Args...)...)
			require.NoError(t, err, "%s: %s", mode, text)
		}
		for _, text := range goldenSorts {
			s, err := query.CompileSort(things, text, 1)
			require.NoError(t, err)
			_, err = tx.Exec(t.Context(), "SELECT FROM things t ORDER BY "+s.SQL, append([]any{mode}, s.Args...)...)
			require.NoError(t, err, "%s: %s", mode, text)
		}
	}
}
