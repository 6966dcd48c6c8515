package webhook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/httpapi"
	"marquee/testutil/pgtest"
)

var bodies = map[string]string{
	`{"a":1}`:                                `{"a":1}`,
	`{"a":49.90,"b":1e3}`:                    `{"a":49.90,"b":1e3}`,
	` [1,2] `:                                `[1,2]`,
	``:                                       `""`,
	`not json`:                               `"not json"`,
	`{} {}`:                                  `"{} {}"`,
	`{"a":1e999999}`:                         `"{\"a\":1e999999}"`,
	`{"a":"\u0000"}`:                         `"{\"a\":\"\\u0000\"}"`,
	"\x00\xff":                               `"��"`,
	`{"a":"\ud800"}`:                         `{"a":"�"}`,
	`{"a":"` + "\xff" + `"}`:                 `{"a":"�"}`,
	strings.Repeat("[", 40):                  `"` + strings.Repeat("[", 40) + `"`,
	`"` + strings.Repeat("x", 200):           `"\"` + strings.Repeat("x", 99) + `"`,
	`{"deep":` + nested(31) + `}`:            `{"deep":` + nested(31) + `}`,
	`{"deep":` + nested(32) + `}`:            `"{\"deep\":` + nested(32) + `}"`,
	`{"a":` + digits(64) + `}`:               `{"a":` + digits(64) + `}`,
	`{"a":` + digits(65) + `}`:               `"{\"a\":` + digits(65) + `}"`,
	`{"<a>":"&"}`:                            `{"<a>":"&"}`,
	`{"a":true,"a":false,"b":null}`:          `{"a":true,"a":false,"b":null}`, // jsonb keeps the last
	`{"a":"\\\"e1","b":[1]}`:                 `{"a":"\\\"e1","b":[1]}`,
	`{"client_secret":"pi_1_secret_2"}`:      `{"client_secret":"[hidden]"}`,
	`{"client\u005fsecret":"pi_1_secret_2"}`: `{"client_secret":"[hidden]"}`,
	`{"a":{"creditCardToken":"11111111-2222"}}`: `{"a":{"creditCardToken":"[hidden]"}}`,
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

// TestPlainBodiesAreStoredAsTheLongWayWould: of each sample, the jsonb is the same.
func TestPlainBodiesAreStoredAsTheLongWayWould(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/webhooks/*.json")
	require.NoError(t, err)
	short := 0
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		long, ok := normalised(body)
		require.True(t, ok)
		require.JSONEq(t, string(long), string(storable(body, len(body))), file)
		if plain(body) {
			short++
		}
	}
	require.Greater(t, short, len(files)/3)
}

func BenchmarkStorable(b *testing.B) {
	body, err := os.ReadFile("../testdata/webhooks/gwb.invoice.paid.renewal.dahlia.json")
	require.NoError(b, err)
	for name, f := range map[string]func(){
		"plain":    func() { storable(body, len(body)) },
		"long way": func() { _ = httpapi.CheckJSON(body); _, _ = normalised(body) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
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
		require.False(t, plain(body) && httpapi.CheckJSON(body) != nil,
			"what is stored as it stands passes the long way too")
		id, kind := claimedIdentity(got)
		require.LessOrEqual(t, len(id), gateway.MaxID)
		require.LessOrEqual(t, len(kind), gateway.MaxID)
	})
}
