package main

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
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// renewed is how many subscriptions the platform of W5 has; the events renew
	// those that gateway B charges by card.
	renewed = 5_000
	// invoicePaid is a renewal as gateway B tells it.
	invoicePaid = "modules/payments/testdata/webhooks/gwb.invoice.paid.renewal.dahlia.json"
	// one call in so many repeats an event, most often one that is still under way.
	repeatEvery, repeatBack = 5, 3
)

// renewal is a subscription that the events renew.
type renewal struct {
	ID, CustomerID, GatewayID string
	Cents                     int64
}

// renewals makes signed calls of gateway B, and knows what has to come of them.
type renewals struct {
	subs     []renewal
	template string
	secret   []byte
	last     atomic.Int64 // the calls made
}

// benchWebhooks is W5, on a platform of its own: renewals told by gateway B, each
// applied in full (ledger, subscription, history, finance) and answered after its
// commit, and beside them what Postgres itself does of one durable statement.
func benchWebhooks(ctx context.Context, _ *platform, o options) error {
	p, err := start(ctx, o.binary)
	if err != nil {
		return err
	}
	defer p.stop()
	o.subscriptions = renewed
	if err := p.scale(ctx, o); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, p.DatabaseURL)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	r, err := p.renewals(ctx, conn)
	if err != nil {
		return err
	}
	alone, err := newStatement(ctx, p.DatabaseURL, conn, r.template)
	if err != nil {
		return err
	}
	fmt.Printf("\nwebhooks of gateway B, each a paid renewal, one in %d a repetition, %v each; beside it one durable statement by %s\n", repeatEvery, o.length, alone.by)
	fmt.Printf("%8s %8s %10s %10s %12s %14s %8s   %s\n", "clients", "req/s", "p50", "p99", "CPU/request",
		"statements/s", "ratio", "goal at 32 clients")
	for _, clients := range []int{1, 8, 32} {
		if _, err := p.drive(ctx, clients, o.length/6, p.deliveries(r)); err != nil { // warm up
			return err
		}
		got, err := p.drive(ctx, clients, o.length, p.deliveries(r))
		if err != nil {
			return err
		}
		perSecond, err := alone.run(ctx, clients, o.length)
		if err != nil {
			return err
		}
		goal := ""
		if clients == 32 {
			goal = "ratio >= 1.0: " + verdict(got.perSecond >= perSecond) + "; p99 <= 20 ms: " +
				verdict(got.p99 <= 20*time.Millisecond)
		}
		fmt.Printf("%8d %8.0f %10v %10v %12v %14.0f %8.2f   %s\n", clients, got.perSecond,
			got.p50.Round(10*time.Microsecond), got.p99.Round(10*time.Microsecond),
			got.cpu.Round(10*time.Microsecond), perSecond, got.perSecond/perSecond, goal)
	}
	return r.check(ctx, conn)
}

func (p *platform) renewals(ctx context.Context, conn *pgx.Conn) (*renewals, error) {
	raw, err := os.ReadFile(invoicePaid)
	if err != nil {
		return nil, fmt.Errorf("the sample of an event (run from the repository's root): %w", err)
	}
	_, err = conn.Exec(ctx, `UPDATE subscriptions.subscriptions SET gwb_subscription_id = 'sub_bench_' || id
		WHERE gateway = 'gwb' AND payment_method = 'credit_card' AND status = 'active' AND gwb_subscription_id IS NULL`)
	if err != nil {
		return nil, fmt.Errorf("name subscriptions at gateway B: %w", err)
	}
	rows, err := conn.Query(ctx,
		`SELECT id, customer_id, gwb_subscription_id, price_cents FROM subscriptions.subscriptions
		WHERE gateway = 'gwb' AND payment_method = 'credit_card' AND status = 'active' AND gwb_subscription_id IS NOT NULL AND NOT cancel_at_period_end AND NOT has_chargeback`)
	if err != nil {
		return nil, fmt.Errorf("list subscriptions: %w", err)
	}
	subs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[renewal])
	if err != nil || len(subs) == 0 {
		return nil, errors.Join(errors.New("no subscription to renew"), err)
	}
	var flat bytes.Buffer
	if err := json.Compact(&flat, raw); err != nil { // as it travels
		return nil, fmt.Errorf("the sample of an event: %w", err)
	}
	return &renewals{subs: subs, template: flat.String(), secret: []byte(p.Webhooks.GWBSecret)}, nil
}

// body is the n-th event.
func (r *renewals) body(n int64) (body, eventID string, of renewal) {
	of = r.subs[n%int64(len(r.subs))]
	eventID = fmt.Sprintf("evt_bench_%d", n)
	now := strconv.FormatInt(time.Now().Unix(), 10)
	return strings.NewReplacer(
		"evt_1SVaC07LkdIwHu7ixEv000007", eventID, "in_1Sg5ZzLkdIwHu7ixAsDfGhJk", fmt.Sprintf("in_bench_%d", n),
		"sub_1SVaBcLkdIwHu7ix0aBcDeFg", of.GatewayID, "66f0a1b2c3d4e5f607182c01", of.ID, "66f0a1b2c3d4e5f607182901",
		of.CustomerID,
		"4990", strconv.FormatInt(of.Cents, 10), "1797789794", now, "1797786194", now,
	).Replace(r.template), eventID, of
}

func (r *renewals) signature(body string) string {
	at := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, r.secret)
	mac.Write([]byte(at + "." + body))
	return "t=" + at + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// deliveries is a client that delivers events as the gateway does.
func (p *platform) deliveries(r *renewals) func(context.Context, time.Time) ([]time.Duration, error) {
	return func(ctx context.Context, until time.Time) (times []time.Duration, err error) {
		for time.Now().Before(until) {
			n := r.last.Add(1)
			if n%repeatEvery == 0 {
				n -= repeatBack
			}
			body, eventID, of := r.body(n)
			signature := r.signature(body)
			began := time.Now()
			if err := p.deliver(ctx, body, signature, eventID, of); err != nil {
				return times, err
			}
			times = append(times, time.Since(began))
		}
		return times, nil
	}
}

// deliver posts an event and checks that the answer is that of a renewal.
func (p *platform) deliver(ctx context.Context, body, signature, eventID string, of renewal) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL+"/webhooks/gwb", strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Stripe-Signature", signature)
	res, err := p.http.Do(req)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	var told struct {
		Received bool   `json:"received"`
		EventID  string `json:"event_id"`
		Result   struct {
			Status         string `json:"status"`
			SubscriptionID string `json:"subscription_id"`
			NewStatus      string `json:"new_status"`
		} `json:"result"`
	}
	if err := json.Unmarshal(raw,
		&told); err != nil || res.StatusCode != http.StatusOK || !told.Received || told.EventID != eventID ||
		told.Result.Status != "processed" || told.Result.SubscriptionID != of.ID || told.Result.NewStatus != "active" {
		return fmt.Errorf("wrong answer to event %s of subscription %s: %d %s", eventID, of.ID, res.StatusCode, raw)
	}
	return nil
}

// check holds the database to what was answered: each event one payment of its
// amount, one processed event, one log a delivery.
func (r *renewals) check(ctx context.Context, conn *pgx.Conn) error {
	calls := r.last.Load()
	events, cents := int64(0), int64(0)
	for n := int64(1); n <= calls; n++ {
		if n%repeatEvery != 0 {
			events++
			cents += r.subs[n%int64(len(r.subs))].Cents
		}
	}
	var payments, sum, processed, logs int64
	err := conn.QueryRow(ctx, `SELECT
		(SELECT count(*) FROM payments.payments WHERE gateway_payment_id LIKE 'in\_bench\_%'), (SELECT coalesce(sum(amount_cents), 0) FROM payments.payments WHERE gateway_payment_id LIKE 'in\_bench\_%'),
		(SELECT count(*) FROM payments.processed_events WHERE event_id LIKE 'evt\_bench\_%' AND state = 'done'), (SELECT count(*) FROM payments.webhook_logs WHERE event_id LIKE 'evt\_bench\_%' AND processed)`).
		Scan(&payments, &sum, &processed, &logs)
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	if payments != events || sum != cents || processed != events || logs != calls {
		return fmt.Errorf("%d calls of %d events over %d cents, but %d payments of %d cents, %d processed events, %d logs", calls, events, cents, payments, sum, processed, logs)
	}
	fmt.Printf("%d calls of %d events: one payment in the ledger for each, to the cent\n", calls, events)
	return nil
}
