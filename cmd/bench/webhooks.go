package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/cmd/bench/busiest"
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

// renewals makes signed calls of gateway B, and knows what has to come of them.
type renewals struct {
	busiest.Gateway
	subs []busiest.Subscription
	conn *pgx.Conn    // to look at what has come of them
	last atomic.Int64 // the calls made, by both sides
}

func (r *renewals) close(ctx context.Context) { _ = r.conn.Close(context.WithoutCancel(ctx)) }

// benchWebhooks is W5: renewals told by gateway B, each applied in full (ledger, subscription,
// history, finance) and answered after its commit; and what Postgres itself does of one
// durable statement.
func benchWebhooks(ctx context.Context, b *bench) error {
	all, err := b.renewals(ctx)
	if err != nil {
		return err
	}
	defer all.close(ctx)
	b.report.heading("webhooks of gateway B, each a paid renewal, one in %d a repetition, %v a turn", repeatEvery, b.length)
	ours := all[b.ours.platform]
	if b.isLimit() {
		if err := b.sameRenewals(ctx, ours); err != nil {
			return err
		}
	}
	err = b.deliver(ctx, all, []int{1, 8, 32}, goal{rate: map[int]float64{8: 1, 32: 1}, cpu: 1.5, p99: 20 * time.Millisecond})
	if err != nil {
		return err
	}
	alone, err := newStatement(ctx, b.ours.platform.databaseURL, ours.conn, ours.Renewal(0, ours.subs[0]).Body)
	if err != nil {
		return err
	}
	return b.besidePostgres("W5", []int{1, 8, 32}, func(clients int) (float64, error) {
		return alone.run(ctx, clients, b.length)
	})
}

// allRenewals are those of each platform.
type allRenewals map[*platform]*renewals

func (b *bench) renewals(ctx context.Context) (allRenewals, error) {
	all := allRenewals{}
	for _, p := range b.platforms() {
		r, err := p.renewals(ctx)
		if err != nil {
			all.close(ctx)
			return nil, err
		}
		all[p] = r
	}
	return all, nil
}

func (all allRenewals) close(ctx context.Context) {
	for _, r := range all {
		r.close(ctx)
	}
}

// deliver measures W5, and checks what has come of it.
func (b *bench) deliver(ctx context.Context, all allRenewals, clients []int, g goal) error {
	err := b.run(ctx, load{
		name: "W5", what: "renewal by webhook", clients: clients, goal: g,
		at: func(s side) caller { return all[s.platform].deliveries(s) },
	})
	for _, r := range all {
		if err == nil {
			err = r.check(ctx)
		}
	}
	return err
}

// sameRenewals has both sides take events and a repetition each, the other's: answers and rows
// have to be the same.
func (b *bench) sameRenewals(ctx context.Context, r *renewals) error {
	if r.last.Add(2*repeatEvery) != 2*repeatEvery {
		return errors.New("it is compared before anything else is delivered")
	}
	for _, pair := range [][2]int64{{1, 2}, {3, 4}, {7, 6}, {5, 10}, {8, 9}} { // 5 repeats 2, 10 repeats 7
		one, two := r.delivery(pair[0]), r.delivery(pair[1])
		if _, err := b.compareResponses(ctx, one.request, two.request, true); err != nil {
			return err
		}
	}
	const rows = `SELECT (to_jsonb(p) - 'amount_cents')::text FROM payments.payments p WHERE p.gateway_payment_id = 'in_bench_' || $1::text
		UNION ALL SELECT to_jsonb(e)::text FROM payments.processed_events e WHERE e.event_id = 'evt_bench_' || $1::text
		UNION ALL SELECT (to_jsonb(l) - 'payload')::text FROM payments.webhook_logs l WHERE l.event_id = 'evt_bench_' || $1::text
		UNION ALL SELECT (to_jsonb(j) - '{id,unique_key,unique_states,metadata}'::text[])::text FROM jobs.river_job j
			WHERE j.kind = 'payments_events_replay' AND j.args->'subjects' ? ('in_bench_' || $1::text)
		UNION ALL SELECT concat_ws(' ', s.status, s.payment_failures, s.last_paid_invoice_id, s.last_payment_at = s.register_update_date,
			s.expires_at IS NULL, s.next_billing_date IS NULL)
			FROM payments.payments p JOIN subscriptions.subscriptions s ON s.id = p.local_id WHERE p.gateway_payment_id = 'in_bench_' || $1::text`
	return errors.Join(compareRows(ctx, r.conn, rows, "1", "4"), compareRows(ctx, r.conn, rows, "8", "9"),
		compareRows(ctx, r.conn, rows, "7", "2")) // those that were repeated at the other side
}

// renewals makes enough subscriptions that gateway B charges by card.
func (p *platform) renewals(ctx context.Context) (*renewals, error) {
	raw, err := os.ReadFile(invoicePaid)
	if err != nil {
		return nil, fmt.Errorf("the sample of an event (run from the repository's root): %w", err)
	}
	filled, err := p.filled(ctx)
	if err == nil && !filled {
		err = p.scale(ctx, renewed)
	}
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, p.databaseURL)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	_, err = conn.Exec(ctx, `UPDATE subscriptions.subscriptions SET gwb_subscription_id = 'sub_bench_' || id
		WHERE gateway = 'gwb' AND payment_method = 'credit_card' AND status = 'active' AND gwb_subscription_id IS NULL`)
	if err != nil {
		return nil, fmt.Errorf("name subscriptions at gateway B: %w", err)
	}
	rows, err := conn.Query(ctx,
		`SELECT id, customer_id, gwb_subscription_id, price_cents FROM subscriptions.subscriptions s
		WHERE gateway = 'gwb' AND payment_method = 'credit_card' AND status = 'active' AND gwb_subscription_id LIKE 'sub\_bench\_%'
		AND NOT cancel_at_period_end AND NOT has_chargeback`)
	if err != nil {
		return nil, fmt.Errorf("list subscriptions: %w", err)
	}
	subs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[busiest.Subscription])
	if err != nil || len(subs) == 0 {
		return nil, errors.Join(errors.New("no subscription to renew"), err)
	}
	gateway, err := busiest.NewGateway(raw, p.gateways.Webhooks.GWBSecret)
	return &renewals{Gateway: gateway, subs: subs, conn: conn}, err
}

// delivery is one call of the gateway.
type delivery struct {
	request
	eventID string
	of      busiest.Subscription
}

// delivery is the n-th call: an event, or the repetition of one.
func (r *renewals) delivery(n int64) delivery {
	if n%repeatEvery == 0 {
		n -= repeatBack
	}
	of := r.subs[n%int64(len(r.subs))]
	return delivery{request: r.Renewal(n, of), eventID: busiest.EventID(n), of: of}
}

// deliveries is a client that delivers events as the gateway does.
func (r *renewals) deliveries(s side) caller {
	var d delivery
	return repeated(s, func(int) request {
		d = r.delivery(r.last.Add(1))
		return d.request
	}, func(_, code int, body []byte) error {
		var got struct {
			Received bool   `json:"received"`
			EventID  string `json:"event_id"`
			Result   struct {
				Status         string `json:"status"`
				SubscriptionID string `json:"subscription_id"`
				NewStatus      string `json:"new_status"`
			} `json:"result"`
		}
		if err := json.Unmarshal(body, &got); err != nil || code != http.StatusOK || !got.Received ||
			got.EventID != d.eventID || got.Result.Status != "processed" || got.Result.SubscriptionID != d.of.ID ||
			got.Result.NewStatus != "active" {
			return fmt.Errorf("event %s of subscription %s: %d %s", d.eventID, d.of.ID, code, body)
		}
		return nil
	})
}

// check holds the database to what was answered: each event one payment of its
// amount, one processed event, one log a delivery.
func (r *renewals) check(ctx context.Context) error {
	calls := r.last.Load()
	events, cents := int64(0), int64(0)
	for n := int64(1); n <= calls; n++ {
		if n%repeatEvery != 0 {
			events++
			cents += r.subs[n%int64(len(r.subs))].Cents
		}
	}
	var payments, sum, processed, logs int64
	err := r.conn.QueryRow(ctx, `SELECT
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
