package payments_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/testutil/apitest"
	"marquee/testutil/secrettest"
)

// users knows two tokens by name.
type users struct{}

func (users) Verify(token string) (httpapi.Claims, error) {
	if token != "admin" && token != "customer" {
		return httpapi.Claims{}, httpapi.ErrBadToken()
	}
	return httpapi.Claims{TokenID: token}, nil
}

func (users) Caller(_ context.Context, c httpapi.Claims) (httpapi.Caller, error) {
	return httpapi.Caller{ID: objectid.New(), Type: c.TokenID, Claims: c}, nil
}

type logDoc struct {
	ID             objectid.ID     `json:"_id"`
	EventID        *string         `json:"event_id"`
	EventType      *string         `json:"event_type"`
	Gateway        string          `json:"gateway"`
	Payload        json.RawMessage `json:"payload"`
	Signature      *string         `json:"signature"`
	SignatureValid bool            `json:"signature_valid"`
	Processed      bool            `json:"processed"`
	Result         json.RawMessage `json:"result"`
	ReceivedAt     string          `json:"received_at"`
	ProcessedAt    *string         `json:"processed_at"`
}

// admin is a client whose answers are checked against the OpenAPI document.
func (b *bundle) admin() *apitest.Client { return apitest.New(b.t, b.api).As("admin") }

func (b *bundle) logList(query string) []logDoc {
	b.t.Helper()
	a := b.admin().Get("/webhook-logs?query=" + url.QueryEscape(query))
	require.Equal(b.t, http.StatusOK, a.Status, string(a.Body))
	var page struct {
		Docs []logDoc `json:"docs"`
	}
	require.NoError(b.t, json.Unmarshal(a.Body, &page))
	return page.Docs
}

func TestWebhookLogs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paid := sample(t, "gwb.invoice.paid.first.dahlia")
	b.deliver("gwb", paid)
	b.deliver("gwb", paid)
	b.send("gwb", "Stripe-Signature", "t=1,v1=00", paid)
	b.clock.Advance(time.Second)
	b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription"))

	require.Len(t, b.logList(`{}`), 4)
	require.Len(t, b.logList(`{"signature_valid":false}`), 1)
	require.Len(t, b.logList(`{"processed":true}`), 3)
	require.Len(t, b.logList(`{"gateway":"gwa","event_type":"PAYMENT_CONFIRMED"}`), 1)
	require.Len(t, b.logList(`{"payload.data.object.id":"in_1SVaBbLkdIwHu7ixQwErTyUi","processed":true}`), 2,
		"dotted paths lead into the payload")
	require.Len(t, b.logList(`{"result.status":"processed"}`), 3)
	require.Len(t, b.logList(`{"payload.payment.value":{"$gt":40}}`), 1)
	redelivered := b.logList(`{"event_id":"` + eventIDOf(t, paid) + `","signature_valid":true}`)
	require.Len(t, redelivered, 2, "one log a delivery")
	require.JSONEq(t, string(redelivered[0].Result), string(redelivered[1].Result))
	require.NotNil(t, redelivered[0].ProcessedAt)
	require.Equal(t, "gwa", b.logList(`{}`)[0].Gateway, "newest first")

	anybody := apitest.New(t, b.api)
	for token, status := range map[string]int{"": 401, "customer": 403, "nobody": 403} {
		for _, path := range []string{"/webhook-logs", "/webhook-logs/stats"} {
			require.Equal(t, status, anybody.As(token).Get(path).Status, token)
		}
		require.Equal(t, status, anybody.As(token).Post("/webhook-logs/"+objectid.New().String()+"/replay", nil).Status,
			token)
	}
}

func eventIDOf(t *testing.T, body []byte) string {
	t.Helper()
	var e struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal(body, &e))
	return e.ID
}

func TestLogsShowNothingToPayWith(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription"))
	b.deliver("gwb", sample(t, "gwb.payment_intent.requires_action.pix-subscription"))
	b.send("gwa", "asaas-access-token", paymentstest.GWAToken+"x",
		[]byte(`{"a":[{"creditCardToken":"11111111-2222"}]}`))
	all := string(b.admin().Get("/webhook-logs").Body) + b.dump()
	for _, leak := range []string{
		"0f6f1b52-66b2-4f2c-8f50-6c1f2f0a9b11", "11111111-2222", "_secret_", paymentstest.GWAToken,
		paymentstest.GWBSecret,
	} {
		require.NotContains(t, all, leak)
	}
	require.Contains(t, all, "[hidden]")
}

type stats struct {
	Total            int            `json:"total"`
	Processed        int            `json:"processed"`
	Pending          int            `json:"pending"`
	Failed           int            `json:"failed"`
	InvalidSignature int            `json:"invalid_signature"`
	ByGateway        map[string]int `json:"by_gateway"`
	ByEventType      map[string]int `json:"by_event_type"`
	ByHour           []statsHour    `json:"by_hour"`
	LastReceivedAt   *string        `json:"last_received_at"`
	P95              float64        `json:"p95_processing_ms"`
}

type statsHour struct {
	At    time.Time `json:"at"`
	Calls int       `json:"calls"`
}

func (b *bundle) stats(query string) stats {
	b.t.Helper()
	a := b.admin().Get("/webhook-logs/stats" + query)
	require.Equal(b.t, http.StatusOK, a.Status, string(a.Body))
	var s stats
	require.NoError(b.t, json.Unmarshal(a.Body, &s))
	return s
}

func TestWebhookLogStats(t *testing.T) {
	t.Parallel()
	b := setup(t)
	none := stats{ByGateway: map[string]int{"gwa": 0, "gwb": 0}, ByEventType: map[string]int{}, ByHour: []statsHour{}}
	require.Equal(t, none, b.stats(""))
	b.deliver("gwb", sample(t, "gwb.invoice.paid.first.dahlia"))
	b.apply.failing.Store(true)
	b.deliver("gwb", sample(t, "gwb.invoice.paid.renewal.dahlia"))
	b.apply.failing.Store(false)
	b.apply.unknown.Store(true)
	b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription"))
	b.send("gwa", "asaas-access-token", "wrong", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription"))
	got := b.stats("")
	require.Equal(t, b.clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"), *got.LastReceivedAt)
	require.GreaterOrEqual(t, got.P95, 0.0)
	got.LastReceivedAt, got.P95 = nil, 0
	require.Equal(t, stats{
		Total: 4, Processed: 1, Pending: 1, Failed: 1, InvalidSignature: 1,
		ByGateway:   map[string]int{"gwa": 2, "gwb": 2},
		ByEventType: map[string]int{"invoice.paid": 2, "PAYMENT_CONFIRMED": 1},
		ByHour:      []statsHour{{At: b.clock.Now().UTC().Truncate(time.Hour), Calls: 4}},
	}, got)
	later := b.clock.Now().AddDate(0, 0, 8).UTC().Format(time.RFC3339)
	require.Empty(t, b.stats("?end="+url.QueryEscape(later)).ByHour, "of the last seven days alone")

	today, tomorrow := b.clock.Now().UTC().Format(time.DateOnly),
		b.clock.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	require.Equal(t, 4, b.stats("?start="+today+"&end="+today).Total, "the last day is inside")
	require.Zero(t, b.stats("?start="+tomorrow).Total)
	require.Zero(t, b.stats("?end="+url.QueryEscape(b.clock.Now().Add(-time.Hour).Format(time.RFC3339))).Total)
	for _, bad := range []string{"?start=x", "?end=2026-13-01", "?start=" + tomorrow + "&end=" + today} {
		require.Equal(t, 422, b.admin().Get("/webhook-logs/stats"+bad).Status, bad)
	}
}

func TestWebhookLogStatsOfTooManyCalls(t *testing.T) {
	t.Parallel()
	b := setup(t)
	reads, err := postgres.NewPool(t.Context(), b.pool.Config().ConnString(), postgres.Options{
		MaxConns: 1, StatementTimeout: time.Second,
	})
	require.NoError(t, err)
	t.Cleanup(reads.Close)
	svc := payments.New(payments.Deps{Pool: b.pool, Reads: replica.Only(reads), Clock: b.clock, Log: secrettest.Logger(t)})
	api := httpapi.New(httpapi.Config{Log: secrettest.Logger(t), Auth: users{}})
	svc.Routes(api)
	admin := apitest.New(t, api).As("admin")
	answer := admin.Get("/webhook-logs/stats")
	for try := 0; answer.Status != 200 && try < 10; try++ { // of a machine that stands still for a second
		answer = admin.Get("/webhook-logs/stats")
	}
	answer.Expect(200)

	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(),
		"LOCK TABLE payments.webhook_logs IN ACCESS EXCLUSIVE MODE") // it takes as long as many rows do
	require.NoError(t, err)
	require.Equal(t, "start", admin.Get("/webhook-logs/stats").Expect(422).Field())
}

type replayed struct {
	Result struct {
		Status    string  `json:"status"`
		NewStatus *string `json:"new_status"`
	} `json:"result"`
	EventID string `json:"event_id"`
	DryRun  bool   `json:"dry_run"`
	Changes []struct {
		Table    string `json:"table"`
		Inserted int    `json:"inserted"`
	} `json:"changes"`
}

func (b *bundle) replay(id objectid.ID, query string) (int, replayed) {
	b.t.Helper()
	a := b.admin().Post("/webhook-logs/"+id.String()+"/replay"+query, nil)
	var r replayed
	_ = json.Unmarshal(a.Body, &r)
	return a.Status, r
}

func TestReplay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply.unknown.Store(true)
	body := sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription")
	b.deliver("gwa", body)
	b.deliver("gwa", body)
	logs := b.logList(`{}`)
	require.JSONEq(t, `"ignored"`, string(field(t, logs[0].Result, "status")))
	b.apply.unknown.Store(false)

	status, dry := b.replay(logs[0].ID, "?dry_run=1")
	require.Equal(t, http.StatusOK, status)
	require.True(t, dry.DryRun)
	require.Equal(t, "processed", dry.Result.Status)
	require.Equal(t, "active", *dry.Result.NewStatus)
	require.Equal(t, eventIDOf(t, body), dry.EventID, "whole, with its &")
	require.Len(t, dry.Changes, 1)
	require.Equal(t, "public.effects", dry.Changes[0].Table)
	require.Equal(t, 1, dry.Changes[0].Inserted)
	require.Zero(t, b.count("SELECT count(*) FROM public.effects"), "a dry run leaves nothing")
	require.JSONEq(t, `"ignored"`, string(field(t, b.logList(`{}`)[0].Result, "status")))

	refused := b.admin().Post("/webhook-logs/"+logs[0].ID.String()+"/replay", map[string]any{"dry_run": true})
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status, string(refused.Body))
	require.Contains(t, string(refused.Body), "dry_run is not taken in the body: dry_run stands in the address")
	listed := b.admin().Post("/webhook-logs/"+logs[0].ID.String()+"/replay?dry_run=1", []any{})
	require.Equal(t, http.StatusUnprocessableEntity, listed.Status, string(listed.Body))
	empty := b.admin().Post("/webhook-logs/"+logs[0].ID.String()+"/replay?dry_run=1", map[string]any{})
	require.Equal(t, http.StatusOK, empty.Status, string(empty.Body))
	require.Zero(t, b.count("SELECT count(*) FROM public.effects"), "nothing of what was refused is replayed")

	status, done := b.replay(logs[0].ID, "")
	require.Equal(t, http.StatusOK, status)
	require.False(t, done.DryRun)
	require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
	for _, l := range b.logList(`{}`) {
		require.JSONEq(t, `"processed"`, string(field(t, l.Result, "status")), "every log of the event tells the same")
	}
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.processed_events WHERE state = 'done'"))
}

func field(t *testing.T, raw json.RawMessage, name string) json.RawMessage {
	t.Helper()
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &all))
	return all[name]
}

func TestReplayThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply.failing.Store(true)
	b.deliver("gwb", sample(t, "gwb.invoice.paid.first.dahlia"))
	id := b.logList(`{}`)[0].ID
	status, _ := b.replay(id, "")
	require.Equal(t, http.StatusInternalServerError, status)
	require.Zero(t, b.count("SELECT count(*) FROM public.effects"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.processed_events WHERE state = 'queued'"))
	b.apply.failing.Store(false)
	status, _ = b.replay(id, "")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.processed_events WHERE state = 'done'"))
}

func TestWhatCannotBeReplayed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.send("gwb", "Stripe-Signature", "t=1,v1=00", sample(t, "gwb.invoice.paid.first.dahlia"))
	b.deliver("gwa", []byte(`{"what":"no event"}`))
	b.deliver("gwa", []byte(strings.Repeat("x", 10)))
	for _, l := range b.logList(`{}`) {
		status, _ := b.replay(l.ID, "")
		require.Equal(t, http.StatusConflict, status, string(l.Payload))
	}
	status, _ := b.replay(objectid.New(), "")
	require.Equal(t, http.StatusNotFound, status)
	require.Equal(t, 422, b.admin().Post("/webhook-logs/7/replay", nil).Status)
	require.Equal(t, 422,
		b.admin().Post("/webhook-logs/"+objectid.New().String()+"/replay?dry_run=perhaps", nil).Status)
	require.Zero(t, b.count("SELECT count(*) FROM public.effects"))
}
