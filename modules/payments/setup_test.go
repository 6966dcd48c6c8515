package payments_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/gwa"
	"marquee/modules/payments/gwb"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/cleanup"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// bundle is the module behind a real server, with an applier that counts.
type bundle struct {
	t     testing.TB
	pool  *pgxpool.Pool
	svc   *payments.Service
	clock *clock.Fake
	url   string
	api   *httpapi.API
	logs  *secrettest.Log
	apply *applier
}

// applier writes one row an application, and fails or disowns on demand; of an event with "bad" in its id it always fails.
type applier struct {
	unknown, failing, panicking atomic.Bool
	local                       objectid.ID
}

func (a *applier) ApplyEventTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	if a.unknown.Load() {
		return gateway.Result{Unclaimed: true}, nil
	}
	if _, err := tx.Exec(ctx, "INSERT INTO public.effects VALUES ($1)", e.ID); err != nil {
		return gateway.Result{}, err
	}
	if a.panicking.Load() {
		panic("the applier is broken")
	}
	if a.failing.Load() || strings.Contains(e.ID, "bad") {
		return gateway.Result{}, errors.New("the applier fails")
	}
	return gateway.Result{Status: gateway.ResultApplied, SubscriptionID: &a.local, NewStatus: new("active")}, nil
}

func setup(t *testing.T) *bundle { t.Helper(); return setupIn(t) }

func setupIn(t testing.TB) *bundle { t.Helper(); return setupOn(t, pgtest.DB(t)) }

func setupOn(t testing.TB, pool *pgxpool.Pool) *bundle {
	t.Helper()
	b := &bundle{
		t: t, pool: pool, clock: clock.NewFake(paymentstest.Now()), logs: &secrettest.Log{},
		apply: &applier{local: objectid.New()},
	}
	_, err := b.pool.Exec(t.Context(), "CREATE TABLE public.effects (event_id text)")
	require.NoError(t, err)
	log := secrettest.Logger(t, b.logs)
	client, err := jobs.New(b.pool, jobs.Options{Log: secrettest.Logger(t)})
	require.NoError(t, err)
	b.svc = payments.New(payments.Deps{
		Pool: b.pool, Jobs: client, Clock: b.clock, Log: log, GWBPublishableKey: "pk_test_sandbox",
		Adapters: []gateway.Adapter{
			gwa.New(gwa.Config{APIKey: "$aact_hmlg_x", WebhookTokens: []string{paymentstest.GWAToken}, Clock: b.clock}),
			gwb.New(gwb.Config{
				SecretKey: "sk_test_x", WebhookSecrets: []string{paymentstest.GWBSecret, "whsec_rolled"},
				Clock: b.clock,
			}),
		},
	})
	b.svc.Connect(payments.Hooks{Applier: b.apply})
	api := httpapi.New(httpapi.Config{Log: log, Auth: users{}})
	b.api = api
	b.svc.Routes(api)
	b.url = apitest.Serve(t, api)
	return b
}

// work runs the module's jobs until the test ends.
func (b *bundle) work() {
	b.t.Helper()
	workers := river.NewWorkers()
	b.svc.Workers(workers)
	client, err := jobs.New(b.pool, jobs.Options{Workers: workers, Log: secrettest.Logger(b.t), PollOnly: true})
	require.NoError(b.t, err)
	require.NoError(b.t, client.Start(context.WithoutCancel(b.t.Context())))
	cleanup.Add(b.t, func() { require.NoError(b.t, client.Stop(context.Background())) })
}

type response struct {
	status int
	raw    string
	body   struct {
		Received  bool           `json:"received"`
		EventID   *string        `json:"event_id"`
		EventType *string        `json:"event_type"`
		Result    gateway.Result `json:"result"`
	}
}

// send posts a body to a gateway's webhook with a header.
func (b *bundle) send(gateway, header, value string, body []byte) response {
	req, err := http.NewRequest(http.MethodPost, b.url+"/webhooks/"+gateway, bytes.NewReader(body))
	if err != nil {
		b.t.Error(err)
		return response{}
	}
	req.Header.Set("Content-Type", "application/json")
	if header != "" {
		req.Header.Set(header, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Error(err)
		return response{}
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	a := response{status: res.StatusCode, raw: string(raw)}
	_ = json.Unmarshal(raw, &a.body)
	return a
}

// deliver posts an event as its gateway does.
func (b *bundle) deliver(gateway string, body []byte) response {
	if gateway == "gwa" {
		return b.send(gateway, "asaas-access-token", paymentstest.GWAToken, body)
	}
	return b.send(gateway, "Stripe-Signature", signed(paymentstest.GWBSecret, b.clock.Now(), body), body)
}

func signed(secret string, at time.Time, body []byte) string {
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), mac(secret, fmt.Sprintf("%d.%s", at.Unix(), body)))
}

func mac(secret, message string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(message))
	return hex.EncodeToString(h.Sum(nil))
}

func (b *bundle) count(sql string, args ...any) int {
	b.t.Helper()
	var n int
	require.NoError(b.t, b.pool.QueryRow(b.t.Context(), sql, args...).Scan(&n))
	return n
}

func sample(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "webhooks", name+".json"))
	require.NoError(t, err)
	return raw
}

// dump is all that the module and its jobs keep, as text.
func (b *bundle) dump() string {
	b.t.Helper()
	var all strings.Builder
	for _, table := range []string{
		"payments.webhook_logs", "payments.processed_events", "payments.payments", "payments.failed_attempts",
		"jobs.river_job",
	} {
		rows, err := b.pool.Query(b.t.Context(), "SELECT t::text FROM "+table+" t")
		require.NoError(b.t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(b.t, err)
		all.WriteString(strings.Join(lines, "\n"))
	}
	return all.String()
}
