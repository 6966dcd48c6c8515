package payments

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
	"marquee/testutil/pgtest"
)

var bodies = map[string]string{
	`{"a":1}`:                       `{"a":1}`,
	`{"a":49.90,"b":1e3}`:           `{"a":49.90,"b":1e3}`,
	` [1,2] `:                       `[1,2]`,
	``:                              `""`,
	`not json`:                      `"not json"`,
	`{} {}`:                         `"{} {}"`,
	`{"a":1e999999}`:                `"{\"a\":1e999999}"`,
	`{"a":"\u0000"}`:                `"{\"a\":\"\\u0000\"}"`,
	"\x00\xff":                      `"��"`,
	`{"a":"\ud800"}`:                `{"a":"�"}`,
	`{"a":"` + "\xff" + `"}`:        `{"a":"�"}`,
	strings.Repeat("[", 40):         `"` + strings.Repeat("[", 40) + `"`,
	`"` + strings.Repeat("x", 200):  `"\"` + strings.Repeat("x", 99) + `"`,
	`{"deep":` + nested(31) + `}`:   `{"deep":` + nested(31) + `}`,
	`{"deep":` + nested(32) + `}`:   `"{\"deep\":` + nested(32) + `}"`,
	`{"a":` + digits(64) + `}`:      `{"a":` + digits(64) + `}`,
	`{"a":` + digits(65) + `}`:      `"{\"a\":` + digits(65) + `}"`,
	`{"<a>":"&"}`:                   `{"\u003ca\u003e":"\u0026"}`,
	`{"a":true,"a":false,"b":null}`: `{"a":false,"b":null}`,
}

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
func digits(n int) string { return strings.Repeat("7", n) }

func TestStorableBodies(t *testing.T) {
	t.Parallel()
	tx := pgtest.Tx(t)
	for body, want := range bodies {
		got := storable([]byte(body), 100)
		require.Equal(t, want, string(got), body)
		_, err := tx.Exec(t.Context(), "SELECT $1::jsonb", []byte(got))
		require.NoError(t, err, body)
	}
}

func FuzzStorable(f *testing.F) {
	for body := range bodies {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got := storable(body, 1000)
		require.True(t, json.Valid(got))
		require.NoError(t, httpapi.CheckJSON(got), "Postgres cannot hold U+0000")
		id, kind := claimedIdentity(got)
		require.LessOrEqual(t, len(id), maxEventID)
		require.LessOrEqual(t, len(kind), maxEventID)
	})
}
