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
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gwa"
	"marquee/modules/payments/gwb"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// bundle is the module behind a real server, with an applier that counts.
type bundle struct {
	t     *testing.T
	pool  *pgxpool.Pool
	svc   *payments.Service
	clock *clock.Fake
	url   string
	logs  *bytes.Buffer
	apply *applier
}

// applier writes one row an application, and fails or disowns on demand.
type applier struct {
	unknown, failing, panicking atomic.Bool
	local                       objectid.ID
}

func (a *applier) ApplyEventTx(ctx context.Context, tx pgx.Tx, e payments.Event) (payments.Result, error) {
	if a.unknown.Load() {
		return payments.Result{Unclaimed: true}, nil
	}
	if _, err := tx.Exec(ctx, "INSERT INTO public.effects VALUES ($1)", e.ID); err != nil {
		return payments.Result{}, err
	}
	if a.panicking.Load() {
		panic("the applier is broken")
	}
	if a.failing.Load() {
		return payments.Result{}, errors.New("the applier fails")
	}
	return payments.Result{Status: payments.ResultApplied, SubscriptionID: &a.local, NewStatus: new("active")}, nil
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{t: t, pool: pgtest.DB(t), clock: clock.NewFake(time.Now()), logs: &bytes.Buffer{}, apply: &applier{local: objectid.New()}}
	_, err := b.pool.Exec(t.Context(), "CREATE TABLE public.effects (event_id text)")
	require.NoError(t, err)
	log := slog.New(slog.NewJSONHandler(&lockedWriter{w: b.logs}, nil))
	client, err := jobs.New(b.pool, jobs.Options{Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	b.svc = payments.New(payments.Deps{
		Pool: b.pool, Jobs: client, Clock: b.clock, Log: log, GWBPublishableKey: "pk_test_sandbox",
		Adapters: []payments.Adapter{
			gwa.New(gwa.Config{APIKey: "$aact_hmlg_x", WebhookTokens: []string{paymentstest.GWAToken}, Clock: b.clock}),
			gwb.New(gwb.Config{SecretKey: "sk_test_x", WebhookSecrets: []string{paymentstest.GWBSecret, "whsec_rolled"}, Clock: b.clock}),
		},
	})
	b.svc.Register(b.apply)
	api := httpapi.New(httpapi.Config{Log: log})
	b.svc.Routes(api)
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// work runs the module's jobs until the test ends.
func (b *bundle) work() {
	b.t.Helper()
	workers := river.NewWorkers()
	b.svc.Workers(workers)
	client, err := jobs.New(b.pool, jobs.Options{Workers: workers, Log: slog.New(slog.DiscardHandler), PollOnly: true})
	require.NoError(b.t, err)
	require.NoError(b.t, client.Start(context.WithoutCancel(b.t.Context())))
	b.t.Cleanup(func() { require.NoError(b.t, client.Stop(context.Background())) })
}

type answer struct {
	status int
	raw    string
	body   struct {
		Received  bool            `json:"received"`
		EventID   *string         `json:"event_id"`
		EventType *string         `json:"event_type"`
		Result    payments.Result `json:"result"`
	}
}

// send posts a body to a gateway's webhook with a header.
func (b *bundle) send(gateway, header, value string, body []byte) answer {
	req, err := http.NewRequest(http.MethodPost, b.url+"/webhooks/"+gateway, bytes.NewReader(body))
	if err != nil {
		b.t.Error(err)
		return answer{}
	}
	req.Header.Set("Content-Type", "application/json")
	if header != "" {
		req.Header.Set(header, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Error(err)
		return answer{}
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	a := answer{status: res.StatusCode, raw: string(raw)}
	_ = json.Unmarshal(raw, &a.body)
	return a
}

// deliver posts an event as its gateway does.
func (b *bundle) deliver(gateway string, body []byte) answer {
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

func TestEverySampleIsAccepted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply.unknown.Store(true)
	files, err := filepath.Glob("testdata/webhooks/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 50)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		a := b.deliver(name[:3], sample(t, name))
		require.Equal(t, http.StatusOK, a.status, "%s: %s", name, a.raw)
		require.True(t, a.body.Received, name)
		require.NotEmpty(t, *a.body.EventID, name)
		require.True(t, strings.HasPrefix(name[4:], *a.body.EventType), name)
		require.Equal(t, payments.ResultIgnored, a.body.Result.Status, name)
	}
	require.Equal(t, len(files), b.count("SELECT count(*) FROM payments.webhook_logs WHERE signature_valid AND processed"))
}

func TestAnswerHasTheSpecifiedForm(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.deliver("gwb", sample(t, "gwb.invoice.paid.first.dahlia"))
	require.JSONEq(t, `{"received":true,"event_id":"evt_1SVaC06LkdIwHu7ixEv000006","event_type":"invoice.paid",
		"result":{"status":"processed","subscription_id":"`+b.apply.local.String()+`","new_status":"active"}}`, a.raw)
	b.apply.unknown.Store(true)
	a = b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription"))
	require.JSONEq(t, `{"received":true,"event_id":"evt_15e444ff9b9ab9ec29294aa1abe68025&41870213","event_type":"PAYMENT_CONFIRMED",
		"result":{"status":"ignored","subscription_id":null,"new_status":null,"reason":"unknown subject"}}`, a.raw)
}

// fiveAtOnce delivers one event five times at the same time.
func fiveAtOnce(b *bundle) []answer {
	body := sample(b.t, "gwb.invoice.paid.renewal.dahlia")
	answers := make([]answer, 5)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			<-start
			answers[i] = b.deliver("gwb", body)
		})
	}
	close(start)
	all.Wait()
	return answers
}

func TestFiveDeliveriesAtOnceHaveOneEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	answers := fiveAtOnce(b)
	for _, a := range answers {
		require.Equal(t, http.StatusOK, a.status, a.raw)
		require.Equal(t, answers[0].raw, a.raw)
	}
	require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
	require.Equal(t, 5, b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed"))
	require.Equal(t, 1, b.count("SELECT count(DISTINCT result) FROM payments.webhook_logs"))
}

// TestFiveDeliveriesAtOnceWithoutTheConstraint shows that it is the constraint
// which keeps the effect to one.
func TestFiveDeliveriesAtOnceWithoutTheConstraint(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.pool.Exec(t.Context(), "ALTER TABLE payments.processed_events DROP CONSTRAINT processed_events_one_row_per_gateway_event")
	require.NoError(t, err)
	fiveAtOnce(b)
	require.Equal(t, 5, b.count("SELECT count(*) FROM public.effects"))
}

// TestManyRepetitionsAtOnce: repetitions must not wait for one another's logs.
func TestManyRepetitionsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 8 {
		fiveAtOnce(b)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, a := range fiveAtOnce(b) {
				if a.status != http.StatusOK || a.body.Result.Status != payments.ResultApplied {
					b.t.Error(a.raw)
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
	require.Equal(t, 80, b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed AND result->>'status' = 'processed'"))
}

// TestRowHeldBySomebodyElseQueuesTheEvent: the gateway gets its answer in time.
func TestRowHeldBySomebodyElseQueuesTheEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE public.effects")
	require.NoError(t, err)
	a := b.deliver("gwb", sample(t, "gwb.invoice.paid.first.dahlia"))
	require.Equal(t, http.StatusOK, a.status, a.raw)
	require.Equal(t, payments.ResultQueued, a.body.Result.Status)
	require.NoError(t, tx.Rollback(t.Context()))
	b.work()
	require.Eventually(t, func() bool { return b.count("SELECT count(*) FROM public.effects") == 1 }, 10*time.Second, 20*time.Millisecond)
}

// TestRepetitionWhileTheEventIsAppliedAgain: its log must not keep the result
// that the retry overtakes.
func TestRepetitionWhileTheEventIsAppliedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply.failing.Store(true)
	body := sample(t, "gwb.invoice.paid.first.dahlia")
	require.Equal(t, payments.ResultQueued, b.deliver("gwb", body).body.Result.Status)
	b.apply.failing.Store(false)
	b.work()
	n := 1
	require.Eventually(t, func() bool {
		n++
		return b.deliver("gwb", body).body.Result.Status == payments.ResultApplied
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, n, b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed AND result->>'status' = 'processed'"))
}

func TestFailureIsQueuedAndRetried(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"error", "panic"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			broken := &b.apply.failing
			if how == "panic" {
				broken = &b.apply.panicking
			}
			broken.Store(true)
			body := sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription")
			first := b.deliver("gwa", body)
			require.Equal(t, http.StatusOK, first.status)
			require.Equal(t, payments.ResultQueued, first.body.Result.Status)
			require.Equal(t, 0, b.count("SELECT count(*) FROM public.effects"), "rolled back to the savepoint")
			require.Equal(t, 1, b.count("SELECT count(*) FROM payments.webhook_logs WHERE NOT processed AND processed_at IS NULL AND result->>'status' = 'queued'"))
			require.Equal(t, first.raw, b.deliver("gwa", body).raw, "a repetition tells the same")
			require.Equal(t, 1, b.count("SELECT count(*) FROM jobs.river_job WHERE kind = 'payments_event_retry'"))

			broken.Store(false)
			b.work()
			require.Eventually(t, func() bool {
				return b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed AND result->>'status' = 'processed'") == 2
			}, 10*time.Second, 20*time.Millisecond)
			require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
			require.Equal(t, payments.ResultApplied, b.deliver("gwa", body).body.Result.Status)
			require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
		})
	}
}

func TestEarlyEventIsAppliedOnceItsSubjectIsKnown(t *testing.T) {
	t.Parallel()
	for _, subject := range []string{"sub_k3v9x1m7q2t8w4z6", "pay_a1b2c3d4e5f6g7h8"} {
		b := setup(t)
		b.apply.unknown.Store(true)
		b.work()
		body := sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription")
		require.Equal(t, payments.ResultIgnored, b.deliver("gwa", body).body.Result.Status)
		jobsDone := func() bool {
			return b.count("SELECT count(*) FROM jobs.river_job WHERE kind = 'payments_events_replay' AND state <> 'completed'") == 0
		}
		require.Eventually(t, jobsDone, 10*time.Second, 20*time.Millisecond, "the look after the commit finds nothing")
		require.Equal(t, 0, b.count("SELECT count(*) FROM public.effects"))

		b.apply.unknown.Store(false)
		require.NoError(t, postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error {
			return b.svc.ReplayWaitingTx(t.Context(), tx, payments.GWA, "", subject, "another")
		}))
		require.Eventually(t, func() bool { return b.count("SELECT count(*) FROM public.effects") == 1 }, 10*time.Second, 20*time.Millisecond)
		require.Eventually(t, jobsDone, 10*time.Second, 20*time.Millisecond)
		require.Equal(t, payments.ResultApplied, b.deliver("gwa", body).body.Result.Status)
		require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
	}
}

// TestSubjectThatBecomesKnownWhileTheEventIsTaken: the replay of the row's own
// transaction may run before the event is committed; the look after the event's
// commit finds the row then.
func TestSubjectThatBecomesKnownWhileTheEventIsTaken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply.unknown.Store(true)
	b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription"))
	b.apply.unknown.Store(false)
	b.work()
	require.Eventually(t, func() bool { return b.count("SELECT count(*) FROM public.effects") == 1 }, 10*time.Second, 20*time.Millisecond)
}

func TestForeignCallsAreLoggedAndRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := sample(t, "gwb.invoice.paid.first.dahlia")
	now := b.clock.Now()
	for name, c := range map[string]struct {
		gateway, header, value string
		body                   []byte
	}{
		"B without signature":     {"gwb", "", "", body},
		"B with another secret":   {"gwb", "Stripe-Signature", signed("whsec_other", now, body), body},
		"B with a changed body":   {"gwb", "Stripe-Signature", signed(paymentstest.GWBSecret, now, body), append([]byte(" "), body...)},
		"B too old":               {"gwb", "Stripe-Signature", signed(paymentstest.GWBSecret, now.Add(-6*time.Minute), body), body},
		"B no JSON":               {"gwb", "Stripe-Signature", "nonsense", []byte("hello \x00 \xff")},
		"A without token":         {"gwa", "", "", []byte(`{"id":"evt_1","event":"PAYMENT_CONFIRMED"}`)},
		"A with another token":    {"gwa", "asaas-access-token", "not-the-token-that-was-agreed-upon-00", []byte(`{"id":"evt_2","event":"PAYMENT_CONFIRMED"}`)},
		"A with B's signature":    {"gwa", "Stripe-Signature", signed(paymentstest.GWBSecret, now, body), body},
		"A with an absurd number": {"gwa", "", "", []byte(`{"id":"evt_3","n":1e999999}`)},
	} {
		before := b.count("SELECT count(*) FROM payments.webhook_logs")
		a := b.send(c.gateway, c.header, c.value, c.body)
		require.Equal(t, http.StatusUnauthorized, a.status, name)
		require.Contains(t, a.raw, `"detail":`, name)
		require.Equal(t, before+1, b.count("SELECT count(*) FROM payments.webhook_logs"), name)
	}
	require.Equal(t, 0, b.count("SELECT count(*) FROM payments.webhook_logs WHERE signature_valid OR processed"))
	require.Equal(t, 0, b.count("SELECT count(*) FROM public.effects"))
	require.Equal(t, 0, b.count("SELECT count(*) FROM payments.processed_events"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.webhook_logs WHERE event_id = 'evt_2' AND event_type = 'PAYMENT_CONFIRMED'"))

	a := b.send("gwb", "", "", []byte(`"`+strings.Repeat("a", 100_000)+`"`))
	require.Equal(t, http.StatusUnauthorized, a.status)
	require.LessOrEqual(t, b.count("SELECT max(length(payload::text)) FROM payments.webhook_logs"), 17_000, "stored bounded")

	require.Equal(t, http.StatusRequestEntityTooLarge, b.deliver("gwb", []byte(`"`+strings.Repeat("a", 1<<20)+`"`)).status)
	require.NotContains(t, b.dump(), "not-the-token-that-was-agreed-upon")
}

func TestAForgedEventDoesNotTakeThePlaceOfTheRealOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := sample(t, "gwb.invoice.paid.first.dahlia")
	require.Equal(t, http.StatusUnauthorized, b.send("gwb", "", "", body).status)
	require.Equal(t, payments.ResultApplied, b.deliver("gwb", body).body.Result.Status)
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.webhook_logs WHERE NOT signature_valid AND NOT processed AND result IS NULL"))
}

func TestMalformedAuthenticatedBodiesAreIgnored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	bodies := []string{
		``, `null`, `[]`, `5`, `"x"`, `{}`, `not json`, "{\"id\":\"\xff\"", `{"id":5,"type":6,"event":7}`, `{"id":null}`,
		`{"id":"evt_1"}`, `{"id":"evt_\u0000","type":"x","event":"x"}`, `{"id":"` + strings.Repeat("x", 300) + `","type":"x","event":"x"}`,
		`{"id":"evt_a","type":"invoice.paid","event":"PAYMENT_CONFIRMED"}`,
		`{"id":"evt_b","type":"invoice.paid","event":"PAYMENT_CONFIRMED","data":null,"payment":null}`,
		`{"id":"evt_c","type":"invoice.paid","event":"PAYMENT_CONFIRMED","data":{"object":"in_1"},"payment":"pay_1"}`,
		`{"id":"evt_d","type":"invoice.paid","event":"PAYMENT_CONFIRMED","data":{"object":[]},"payment":[]}`,
		`{"id":"evt_e","type":"customer.subscription.updated","event":"PAYMENT_RECEIVED","data":{"object":{}},"payment":{}}`,
		`{"id":"evt_f","type":"unheard.of","event":"UNHEARD_OF","deep":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`,
		`{"id":"evt_g","type":"unheard.of","event":"UNHEARD_OF","n":1e99999,"s":"\ud800"}`,
	}
	for _, body := range bodies {
		for _, gateway := range []string{"gwa", "gwb"} {
			a := b.deliver(gateway, []byte(body))
			require.Equal(t, http.StatusOK, a.status, "%s %s: %s", gateway, body, a.raw)
			require.True(t, a.body.Received)
			require.Equal(t, payments.ResultIgnored, a.body.Result.Status, "%s %s: %s", gateway, body, a.raw)
		}
	}
	require.Equal(t, 2*len(bodies), b.count("SELECT count(*) FROM payments.webhook_logs WHERE signature_valid AND processed"))
}

func TestConfigOfGatewayB(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res, err := http.Get(b.url + "/api/v1/gwb/config")
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.JSONEq(t, `{"publishable_key":"pk_test_sandbox"}`, string(raw))

	api := httpapi.New(httpapi.Config{Log: slog.New(slog.DiscardHandler)})
	payments.New(payments.Deps{Pool: b.pool, Clock: b.clock, Log: slog.New(slog.DiscardHandler)}).Routes(api)
	w := httptest.NewRecorder()
	api.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/gwb/config", nil))
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.JSONEq(t, `{"detail":"Internal Server Error"}`, w.Body.String())
	w = httptest.NewRecorder()
	api.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/webhooks/gwb", strings.NewReader("{}")))
	require.Equal(t, http.StatusUnauthorized, w.Code, "a gateway that is not configured cannot be authenticated")
}

func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply.failing.Store(true)
	b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription"))
	b.deliver("gwb", sample(t, "gwb.invoice.paid.first.dahlia"))
	b.deliver("gwa", []byte("{"))
	dump := b.dump() + b.logs.String()
	for _, leak := range []string{paymentstest.GWAToken, paymentstest.GWBSecret, "aact_hmlg", "sk_test"} {
		require.NotContains(t, dump, leak)
	}
	require.Equal(t, 2, b.count("SELECT count(*) FROM payments.webhook_logs WHERE gateway = 'gwa' AND signature IS NULL"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.webhook_logs WHERE gateway = 'gwb' AND signature LIKE 't=%'"))
}

// dump is all that the module and its jobs keep, as text.
func (b *bundle) dump() string {
	b.t.Helper()
	var all strings.Builder
	for _, table := range []string{"payments.webhook_logs", "payments.processed_events", "payments.payments", "payments.failed_attempts", "jobs.river_job"} {
		rows, err := b.pool.Query(b.t.Context(), "SELECT t::text FROM "+table+" t")
		require.NoError(b.t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(b.t, err)
		all.WriteString(strings.Join(lines, "\n"))
	}
	return all.String()
}
