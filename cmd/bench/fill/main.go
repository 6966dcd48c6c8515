// Command fill adds rows to the database of `marquee dev` at DATABASE_URL, for the tests and the times of the front ends:
// a customer with as much history as the heaviest have, many customers, and webhook calls by COPY. Its rows are for
// looking at: no gateway knows of them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

// wanted says what is added; the zero value of each is nothing.
type wanted struct {
	customer            string // ID
	webhooks, customers int
	event               string // ID
	given, sold         int    // tickets of the event
	reconciled          string // ID of a customer
	recurrences         bool
}

func main() {
	var w wanted
	flag.StringVar(&w.customer, "customer", "", "`ID` of a customer with a subscription, who gets a heavy history")
	flag.IntVar(&w.webhooks, "webhooks", 0, "how many webhook calls are added, over the last 60 days")
	flag.IntVar(&w.customers, "customers", 0, "how many customers without anything are added")
	flag.StringVar(&w.event, "event", "", "`ID` of an event that many tickets are given to")
	flag.IntVar(&w.given, "tickets", 10_000, "how many tickets the event gets, each of a person of its own")
	flag.IntVar(&w.sold, "sold", 0, "how many tickets of the event are sold, by orders of two")
	flag.StringVar(&w.reconciled, "reconciled", "", "`ID` of a customer with a subscription, which a reconciliation has repaired")
	flag.BoolVar(&w.recurrences, "recurrences", false, "name recurrences of made-up subscriptions that are charged")
	flag.Parse()
	if err := fill(context.Background(), w); err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
}

func fill(ctx context.Context, w wanted) error {
	url := os.Getenv("DATABASE_URL")
	if url == "" {
		return errors.New("DATABASE_URL is not set")
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, part := range []struct {
		wanted bool
		add    func() error
	}{
		{w.reconciled != "", func() error { return reconciliations(ctx, conn, w.reconciled) }},
		{w.customer != "", func() error { return history(ctx, conn, w.customer) }},
		{w.event != "", func() error { return guests(ctx, conn, w.event, w.given) }},
		{w.event != "" && w.sold > 1, func() error { return sales(ctx, conn, w.event, w.sold) }},
		{w.customers > 0, func() error { return people(ctx, conn, w.customers) }},
		{w.recurrences, func() error { return recurrences(ctx, conn) }},
		{w.webhooks > 0, func() error { return calls(ctx, conn, w.webhooks) }},
	} {
		if !part.wanted {
			continue
		}
		if err := part.add(); err != nil {
			return err
		}
	}
	return nil
}

// The heaviest customer: so many settled payments, moments of the timeline in all, and films begun.
const (
	heavyPayments = 300
	heavyMoments  = 5000
	heavyFilms    = 2000
)

// heavy are statements; $1 is the customer, $2 a number.
var heavy = []struct {
	sql string
	n   int
}{
	{`INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status,
		settled_at, created_at, updated_at)
	SELECT 'gwb', 'in_heavy_' || s.id || '_' || k, 'subscription', s.id, s.customer_id, 2990, 'credit_card', 'paid', at, at, at
	FROM subscriptions.subscriptions s CROSS JOIN generate_series(1, $2::int) k
	CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', now()) - k * interval '30 days' AS at) t WHERE s.customer_id = $1`, heavyPayments},
	{
		`INSERT INTO payments.failed_attempts (gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
	SELECT 'gwb', 'in_failed_' || s.id || '_' || k, 1, 'subscription', s.id, 2990, at, at
	FROM subscriptions.subscriptions s CROSS JOIN generate_series(1, $2::int) k
	CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', now()) - k * interval '1 day' AS at) t WHERE s.customer_id = $1`,
		heavyMoments - heavyPayments,
	},
	{`INSERT INTO catalog.videos (title, slug, video_id, duration, release_date, enable, register_date, register_update_date)
	SELECT 'Filme ' || k, 'heavy-' || $1::text || '-' || k, 'https://videos.example.com/1', 90, '2024-01-02', false, now(), now()
	FROM generate_series(1, $2::int) k`, heavyFilms},
	{`INSERT INTO catalog.watch_history (user_id, video_id, timeline, updated_at)
	SELECT $1::text, v.id, 60, now() - row_number() OVER (ORDER BY v.id) * interval '1 hour' FROM catalog.videos v
	WHERE v.slug LIKE 'heavy-' || $1::text || '-%' AND $2::int > 0`, heavyFilms},
}

func history(ctx context.Context, conn *pgx.Conn, customer string) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, h := range heavy {
			tag, err := tx.Exec(ctx, h.sql, customer, h.n)
			if err != nil {
				return err
			}
			if tag.RowsAffected() != int64(h.n) {
				return fmt.Errorf("%d rows instead of %d: the customer has to have one subscription", tag.RowsAffected(), h.n)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return nil
}

// days is over how many days the calls are spread.
const days = 60

var columns = []string{
	"gateway", "event_id", "event_type", "payload", "signature_valid", "processed", "result", "received_at", "processed_at",
}

// calls adds webhook calls: of two gateways and five types, one in a hundred not applied yet.
func calls(ctx context.Context, conn *pgx.Conn, n int) error {
	now := time.Now().UTC().Truncate(time.Millisecond)
	if _, err := conn.Exec(ctx, "SELECT payments.add_webhook_log_months($1, 4)", now.AddDate(0, 0, -days)); err != nil {
		return err
	}
	types := map[string][]string{
		"gwa": {"PAYMENT_RECEIVED", "PAYMENT_CONFIRMED", "PAYMENT_OVERDUE", "PAYMENT_CREATED", "PAYMENT_REFUNDED"},
		"gwb": {"invoice.paid", "invoice.payment_failed", "customer.subscription.updated", "charge.refunded", "invoice.created"},
	}
	step := days * 24 * time.Hour / time.Duration(n)
	rows := pgx.CopyFromSlice(n, func(i int) ([]any, error) {
		gateway := []string{"gwa", "gwb"}[i%2]
		kind, at := types[gateway][i/2%5], now.Add(-time.Duration(i)*step)
		id := fmt.Sprintf("evt_fill_%d", i)
		payload := map[string]any{"id": id, "type": kind, "data": map[string]any{"object": map[string]any{
			"id": fmt.Sprintf("in_fill_%d", i), "amount_paid": 1990 + i%7*1000, "customer": fmt.Sprintf("cus_%d", i%9973),
		}}}
		row := []any{gateway, id, kind, payload, true, i%100 != 7, nil, at, nil}
		if i%100 != 7 {
			row[6], row[8] = map[string]any{"status": "processed", "reason": ""}, at.Add(20*time.Millisecond)
		}
		return row, nil
	})
	if _, err := conn.CopyFrom(ctx, pgx.Identifier{"payments", "webhook_logs"}, columns, rows); err != nil {
		return fmt.Errorf("copy webhook calls: %w", err)
	}
	_, err := conn.Exec(ctx, "VACUUM (ANALYZE) payments.webhook_logs")
	return err
}
