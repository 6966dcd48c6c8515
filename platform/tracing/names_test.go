package tracing_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"marquee/platform/tracing"
)

// TestPathsOfGatewaysHoldNoIDs: words of their APIs stay, and whatever names a record goes.
func TestPathsOfGatewaysHoldNoIDs(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"":                           "",
		"/v3/payments":               "/v3/payments",
		"/v3/customers/cus_00000521": "/v3/customers/{id}",
		"/v3/subscriptions/sub_VXJBYgPuxeOa/creditCard":          "/v3/subscriptions/{id}/creditCard",
		"/v3/pix/automatic/paymentInstructions":                  "/v3/pix/automatic/paymentInstructions",
		"/v3/payments/pay_1/pixQrCode":                           "/v3/payments/{id}/pixQrCode",
		"/v1/payment_intents/pi_3MtwBwLkdIwHu7ix/confirm":        "/v1/payment_intents/{id}/confirm",
		"/v1/subscriptions/search":                               "/v1/subscriptions/search",
		"/v1/customers/cus_Nffrfeuhrwelvm":                       "/v1/customers/{id}",
		"/v3/installments/2765d086-c7c5-5cca-898a-4262d212587c/": "/v3/installments/{id}/",
		"/v1/customers/ana@example.com":                          "/v1/customers/{id}",
		"/v1/customers/52998224725":                              "/v1/customers/{id}",
	} {
		require.Equal(t, want, tracing.TemplateOf(path), path)
	}
	letters := rapid.SliceOfN(rapid.SampledFrom([]byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")), 12, 30)
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{"cus_", "sub_", "pay_", "pi_", "ch_", "pm_", "in_", "evt_"}).Draw(t, "prefix") +
			string(letters.Draw(t, "id"))
		if strings.ToLower(id) == id && !strings.ContainsAny(id, "0123456789") {
			t.Skip("one of 100,000 of twelve letters is all in lower case")
		}
		require.Equal(t, "/v1/{id}", tracing.TemplateOf("/v1/"+id))
	})
}

// TestStatementsAreNamedByWhatIsOurs: the name that a query has, else its command and first table.
func TestStatementsAreNamedByWhatIsOurs(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"-- name: CallerCheck :one\nSELECT 1": "CallerCheck",
		"begin":                               "BEGIN",
		"SET lock_timeout = 2000":             "SET",
		"SELECT a FROM catalog.videos v WHERE v.title = $1":                   "SELECT catalog.videos",
		"WITH x AS (SELECT 1 FROM jobs.river_job) SELECT 1":                   "WITH jobs.river_job",
		"  -- what is read\n  select 1":                                       "SELECT",
		"INSERT INTO jobs.workers (id) VALUES ($1) ON CONFLICT DO NOTHING":    "INSERT jobs.workers",
		"SELECT 'ana@example.com' FROM 'x'":                                   "SELECT",
		"":                                                                    "statement",
		"'ana@example.com'":                                                   "statement",
		"SELECT count(*) FROM ana.souza@example.com":                          "SELECT ana.souza",
		"SELECT 1 FROM " + strings.Repeat("x", 200) + "." + "y":               "SELECT",
		strings.Repeat("x", 200):                                              "statement",
		"SELECT set_config('jit', 'off', true)":                               "SELECT",
		"UPDATE accounts.users SET email = $1":                                "UPDATE accounts.users",
		"-- name: " + "Ana Souza" + " SELECT":                                 "statement",
		"/* a note */ SELECT 1":                                               "statement",
		"SAVEPOINT sp_1":                                                      "SAVEPOINT",
		"-- name: LastOfMany :exec\n" + strings.Repeat("SELECT 1;\n", 10_000): "LastOfMany",
	} {
		require.Equal(t, want, tracing.QueryName(sql), "%.80s", sql)
	}
}
