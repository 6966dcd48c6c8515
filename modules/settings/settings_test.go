package settings_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/settings"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

type bundle struct {
	db      *pgxpool.Pool
	svc     *settings.Service
	handler http.Handler
}

const adminID = objectid.ID("00000000000000000000aaaa")

// people stand in for the module accounts, which is above this one: the token is
// the caller's name.
type people map[string]httpapi.Caller

func (p people) Verify(token string) (httpapi.Claims, error) {
	c, known := p[token]
	if !known {
		return httpapi.Claims{}, httpapi.ErrBadToken()
	}
	return httpapi.Claims{UserID: c.ID, TokenID: token}, nil
}

func (p people) Caller(_ context.Context, claims httpapi.Claims) (httpapi.Caller, error) {
	return p[claims.TokenID], nil
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{db: pgtest.DB(t)}
	b.svc = settings.New(settings.Deps{
		Pool: b.db, Clock: clock.NewFake(time.Date(2026, 11, 20, 17, 3, 12, 0, time.UTC)),
	})
	api := httpapi.New(httpapi.Config{Log: secrettest.Logger(t), Auth: people{
		"root":     {ID: objectid.New(), Type: httpapi.TypeAdmin, Root: true},
		"admin":    {ID: adminID, Type: httpapi.TypeAdmin},
		"customer": {ID: objectid.New(), Type: httpapi.TypeCustomer},
	}})
	b.svc.Routes(api)
	b.handler = apitest.Handler(t, api)
	return b
}

func (b *bundle) call(t *testing.T, method, path, token, body string) (int, string) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, httpapi.Prefix+path, strings.NewReader(body))
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, request)
	return w.Code, w.Body.String()
}

func (b *bundle) get(t *testing.T, path string) string {
	t.Helper()
	status, body := b.call(t, http.MethodGet, path, "", "")
	require.Equal(t, 200, status, body)
	return body
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.JSONEq(t, `{"default_payment_gateway":"gwa"}`, b.get(t, "/config/payment-gateway"))
	require.JSONEq(t, `{"pix_billing_mode":"monthly"}`, b.get(t, "/config/pix-billing-mode"))
	require.JSONEq(t, `{"pix_subscription_mode":"manual"}`, b.get(t, "/config/pix-subscription-mode"))
	require.JSONEq(t, `{"client_version":"1.0.0","min_version":null}`, b.get(t, "/config/client-version"))
}

func TestChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct{ put, get, body, key, want string }{
		{
			put: "/admin/config/payment-gateway", get: "/config/payment-gateway", body: `{"gateway":"gwb"}`,
			key: "default_payment_gateway", want: "gwb",
		},
		{
			put: "/admin/config/pix-billing-mode", get: "/config/pix-billing-mode", body: `{"mode":"yearly"}`,
			key: "pix_billing_mode", want: "yearly",
		},
		{
			put: "/admin/config/pix-subscription-mode", get: "/config/pix-subscription-mode",
			body: `{"mode":"recurring"}`, key: "pix_subscription_mode", want: "recurring",
		},
	} {
		status, raw := b.call(t, http.MethodPut, c.put, "admin", c.body)
		require.Equal(t, 200, status, raw)
		var body map[string]string
		require.NoError(t, json.Unmarshal([]byte(raw), &body))
		require.Equal(t, c.want, body[c.key])
		require.NotEmpty(t, body["message"])
		require.JSONEq(t, `{"`+c.key+`":"`+c.want+`"}`, b.get(t, c.get))
	}
	mode, err := b.svc.PixSubscriptionMode(t.Context())
	require.NoError(t, err)
	require.Equal(t, settings.PixRecurring, mode)
}

func TestPixBillingMonths(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for mode, want := range map[string]int{"quarterly": 3, "semiannually": 6, "yearly": 12, "monthly": 1} {
		status, raw := b.call(t, http.MethodPut, "/admin/config/pix-billing-mode", "admin", `{"mode":"`+mode+`"}`)
		require.Equal(t, 200, status, raw)
		months, err := b.svc.PixBillingMonths(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, months, mode)
	}
}

func TestClientVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	put := func(body string) (int, string) {
		return b.call(t, http.MethodPut, "/config/client-version", "root", body)
	}
	status, raw := put(`{"client_version":"2.10.0","min_version":"2.9.3"}`)
	require.Equal(t, 200, status, raw)
	require.JSONEq(t, `{"client_version":"2.10.0","min_version":"2.9.3"}`, raw)
	_, raw = put(`{"client_version":"2.11.0-rc.1"}`)
	require.JSONEq(t, `{"client_version":"2.11.0-rc.1","min_version":"2.9.3"}`, raw, "what is not sent stays")
	_, raw = put(`{"client_version":"2.11.0","min_version":null}`)
	require.JSONEq(t, `{"client_version":"2.11.0","min_version":null}`, raw)
	for _, bad := range []string{
		`{}`, `{"client_version":""}`, `{"client_version":"2"}`, `{"client_version":"v2.0.0"}`,
		`{"client_version":"02.0.0"}`, `{"client_version":null}`, `{"client_version":"2.0.0","min_version":"x"}`,
		`{"client_version":"2.0.0","min_version":"2.0.1"}`, `{"client_version":"9.9.9","other":1}`,
	} {
		status, raw := put(bad)
		require.Equal(t, 422, status, "%s: %s", bad, raw)
		require.Contains(t, raw, `"VALIDATION_ERROR"`)
	}
	require.JSONEq(t, `{"client_version":"2.11.0","min_version":null}`, b.get(t, "/config/client-version"))
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, good := range map[string]string{
		"/admin/config/payment-gateway": `{"gateway":"gwb"}`, "/admin/config/pix-billing-mode": `{"mode":"yearly"}`,
		"/admin/config/pix-subscription-mode": `{"mode":"recurring"}`,
		"/config/client-version":              `{"client_version":"2.0.0"}`,
	} {
		for token, want := range map[string]int{"": 401, "x": 403, "customer": 403} {
			status, raw := b.call(t, http.MethodPut, path, token, good)
			require.Equal(t, want, status, "%s: %s", path, raw)
		}
		for _, bad := range []string{
			`{"gateway":"gwc","mode":"weekly","client_version":"x"}`, `{}`, `[]`, `{"mode":1,"gateway":1}`, `{`,
		} {
			status, raw := b.call(t, http.MethodPut, path, "root", bad)
			require.Equal(t, 422, status, "%s %s: %s", path, bad, raw)
		}
	}
	status, raw := b.call(t, http.MethodPut, "/config/client-version", "admin", `{"client_version":"2.0.0"}`)
	require.Equal(t, 403, status, "root alone: %s", raw)
	require.Contains(t, raw, `"FORBIDDEN"`)
	require.JSONEq(t, `{"default_payment_gateway":"gwa"}`, b.get(t, "/config/payment-gateway"))
}

func TestChangesAreWrittenDown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 2 { // the second changes nothing
		status, raw := b.call(t, http.MethodPut, "/admin/config/payment-gateway", "admin", `{"gateway":"gwb"}`)
		require.Equal(t, 200, status, raw)
	}
	var history string
	require.NoError(t, b.db.QueryRow(t.Context(),
		`SELECT string_agg(format('%s %s %s %s %s', setting, from_value, to_value, changed_by, platform.json_time(changed_at)), ';') FROM settings.changes`).Scan(&history))
	require.Equal(t, "default_payment_gateway gwa gwb "+adminID.String()+" 2026-11-20T17:03:12.000Z", history)
}
