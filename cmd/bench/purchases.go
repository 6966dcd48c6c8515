package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// plenty is a capacity that no run exhausts, few one that every run does.
	plenty, few = 100_000_000, 500
	spread      = 100 // events of the second workload
)

// takePlace is the measure of W6: what Postgres itself does of a purchase by one
// durable statement, with the condition that keeps an event from being oversold.
const takePlace = `WITH taken AS (UPDATE bench.seats SET issued = issued + 1 WHERE id = %s AND issued < capacity RETURNING id),
	bought AS (INSERT INTO bench.orders (seat_id, created_at) SELECT id, now() FROM taken RETURNING id, seat_id)
	INSERT INTO bench.tickets (order_id, seat_id, created_at) SELECT id, seat_id, now() FROM bought`

const placeTables = `CREATE SCHEMA IF NOT EXISTS bench;
	CREATE TABLE bench.seats (id bigint PRIMARY KEY, capacity integer NOT NULL, issued integer NOT NULL);
	CREATE TABLE bench.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, seat_id bigint NOT NULL REFERENCES bench.seats, created_at timestamptz NOT NULL);
	CREATE TABLE bench.tickets (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, order_id bigint NOT NULL REFERENCES bench.orders,
		seat_id bigint NOT NULL REFERENCES bench.seats, created_at timestamptz NOT NULL);
	CREATE INDEX ON bench.tickets (seat_id);
	INSERT INTO bench.seats SELECT n, 100000000, 0 FROM generate_series(1, 100) n`

// shop buys tickets and knows how many it was given.
type shop struct {
	p      *platform
	token  string
	path   string
	events []string
	sold   []atomic.Int64 // of each event
	asked  atomic.Int64
}

type object = map[string]any

// benchPurchases is W6: purchases of one hot event and over 100 events. Free
// events measure the platform alone; the same by card goes through the sandbox of
// gateway B, in the same process, too. The counters, the rows and the answers have
// to agree, and a small event has to end sold out to the seat.
func benchPurchases(ctx context.Context, p *platform, o options) error {
	conn, err := pgx.Connect(ctx, p.DatabaseURL)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, placeTables); err != nil {
		return fmt.Errorf("tables of the measure: %w", err)
	}
	fmt.Printf("\npurchases of one free ticket each, %v each; beside it one durable statement by %s that takes a place, an order and a ticket\n", o.length, whoCalls())
	fmt.Printf("%8s %8s %8s %10s %10s %12s %14s %8s   %s\n", "events", "clients", "req/s", "p50", "p99", "CPU/request",
		"statements/s", "ratio", "goal at 32 clients")
	for _, events := range []int{1, spread} {
		if err := p.measurePurchases(ctx, conn, o, events); err != nil {
			return err
		}
	}
	if err := p.measurePaid(ctx, conn, o); err != nil {
		return err
	}
	return p.sellOut(ctx, conn)
}

func (p *platform) measurePurchases(ctx context.Context, conn *pgx.Conn, o options, events int) error {
	s, err := p.openShop(ctx, events, plenty, nil)
	if err != nil {
		return err
	}
	alone := 0.0
	for _, clients := range []int{1, 8, 32} {
		r, err := s.run(ctx, clients, o.length)
		if err != nil {
			return err
		}
		perSecond, err := runStatement(ctx, p.DatabaseURL,
			fmt.Sprintf("\\set n random(1, %d)\n", events)+fmt.Sprintf(takePlace, ":n")+";\n",
			fmt.Sprintf(takePlace, "$1::bigint"), func(n int64) []any { return []any{1 + n%int64(events)} }, clients,
			o.length)
		if err != nil {
			return err
		}
		if clients == 1 {
			alone = r.perSecond
		}
		goal := ""
		switch {
		case clients == 32 && events == 1:
			goal = "ratio >= 3: " + verdict(r.perSecond >= 3*perSecond) + "; not slower than one client: " +
				verdict(r.perSecond >= alone)
		case clients == 32:
			goal = "ratio >= 0.9: " + verdict(r.perSecond >= 0.9*perSecond)
		}
		fmt.Printf("%8d %8d %8.0f %10v %10v %12v %14.0f %8.2f   %s\n", events, clients, r.perSecond,
			r.p50.Round(10*time.Microsecond), r.p99.Round(10*time.Microsecond),
			r.cpu.Round(10*time.Microsecond), perSecond, r.perSecond/perSecond, goal)
	}
	return s.check(ctx, conn)
}

// measurePaid is the same by card of gateway B.
func (p *platform) measurePaid(ctx context.Context, conn *pgx.Conn, o options) error {
	fmt.Printf("\npurchases by card at the sandbox of gateway B, over %d events, %v each\n%8s %8s %10s %10s %12s\n",
		spread, o.length, "clients", "req/s", "p50", "p99", "CPU/request")
	s, err := p.openShop(ctx, spread, plenty, object{"ticket_value": 50})
	if err != nil {
		return err
	}
	for _, clients := range []int{1, 8} {
		r, err := s.run(ctx, clients, o.length)
		if err != nil {
			return err
		}
		fmt.Printf("%8d %8.0f %10v %10v %12v\n", clients, r.perSecond, r.p50.Round(10*time.Microsecond),
			r.p99.Round(10*time.Microsecond), r.cpu.Round(10*time.Microsecond))
	}
	return s.check(ctx, conn)
}

// sellOut has 32 clients buy an event up, and checks that it ends full.
func (p *platform) sellOut(ctx context.Context, conn *pgx.Conn) error {
	s, err := p.openShop(ctx, 1, few, nil)
	if err != nil {
		return err
	}
	began := time.Now()
	_, err = p.drive(ctx, 32, time.Minute,
		func(ctx context.Context, until time.Time) (times []time.Duration, err error) {
			for time.Now().Before(until) {
				start := time.Now()
				ok, err := s.buy(ctx, 0)
				if err != nil || !ok {
					return append(times, time.Since(start)), err
				}
				times = append(times, time.Since(start))
			}
			return times, errors.New("the event never sells out")
		})
	if err != nil {
		return err
	}
	if sold := s.sold[0].Load(); sold != few {
		return fmt.Errorf("%d tickets sold of %d", sold, few)
	}
	fmt.Printf("%d seats sold out by 32 clients in %v, not one twice\n", few, time.Since(began).Round(time.Millisecond))
	return s.check(ctx, conn)
}

// openShop puts so many events on sale.
func (p *platform) openShop(ctx context.Context, events, capacity int, changes object) (*shop, error) {
	admin, err := p.login(ctx, "admin")
	if err != nil {
		return nil, err
	}
	s := &shop{
		p: p, path: "/api/v1/store/purchase/gwb/card", events: make([]string, events),
		sold: make([]atomic.Int64, events),
	}
	if s.token, err = p.login(ctx, "customer"); err != nil {
		return nil, err
	}
	batch := make([]object, events)
	for i := range batch {
		batch[i] = object{
			"title":      fmt.Sprintf("Premiere %d", i),
			"event_date": time.Now().Add(30 * 24 * time.Hour).UTC().Format(time.RFC3339), "capacity": capacity,
			"is_sale_box_office": true,
		}
		for key, value := range changes {
			batch[i][key] = value
		}
	}
	raw, err := json.Marshal(batch)
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	var made envelope
	if err := p.call(ctx, http.MethodPost, "/api/v1/events", admin, "application/json", bytes.NewReader(raw),
		&made); err != nil {
		return nil, err
	}
	for i, doc := range made.Docs {
		var named struct {
			ID string `json:"_id"`
		}
		if err := json.Unmarshal(doc, &named); err != nil {
			return nil, fmt.Errorf("events: %w", err)
		}
		s.events[i] = named.ID
	}
	return s, nil
}

// run lets so many clients buy, after a warm-up.
func (s *shop) run(ctx context.Context, clients int, length time.Duration) (result, error) {
	client := func(ctx context.Context, until time.Time) (times []time.Duration, err error) {
		for time.Now().Before(until) {
			began := time.Now()
			ok, err := s.buy(ctx, int(s.asked.Add(1))%len(s.events))
			if err != nil {
				return times, err
			}
			if !ok {
				return times, errors.New("sold out before its time")
			}
			times = append(times, time.Since(began))
		}
		return times, nil
	}
	if _, err := s.p.drive(ctx, clients, length/6, client); err != nil {
		return result{}, err
	}
	return s.p.drive(ctx, clients, length, client)
}

// buy buys one ticket; ok is false when the event is sold out.
func (s *shop) buy(ctx context.Context, event int) (ok bool, err error) {
	raw, err := json.Marshal(object{"event_id": s.events[event], "quantity": 1, "payment_method_id": "pm_card_visa"})
	if err != nil {
		return false, fmt.Errorf("purchase: %w", err)
	}
	// The client may end its run, a purchase under way is finished.
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, s.p.URL+s.path,
		bytes.NewReader(raw))
	if err != nil {
		return false, fmt.Errorf("purchase: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.token)
	res, err := s.p.http.Do(req)
	if err != nil {
		return false, fmt.Errorf("purchase: %w", err)
	}
	defer res.Body.Close()
	raw, err = io.ReadAll(res.Body)
	if err != nil {
		return false, fmt.Errorf("purchase: %w", err)
	}
	var told struct {
		Order struct {
			EventID       string   `json:"event_id"`
			PaymentStatus string   `json:"payment_status"`
			TicketIDs     []string `json:"ticket_ids"`
		} `json:"order"`
	}
	switch {
	case res.StatusCode == http.StatusConflict:
		return false, nil
	case res.StatusCode != http.StatusOK || json.Unmarshal(raw, &told) != nil ||
		told.Order.EventID != s.events[event] || len(told.Order.TicketIDs) != 1 ||
		told.Order.PaymentStatus != "CONFIRMED" && told.Order.PaymentStatus != "succeeded":
		return false, fmt.Errorf("wrong answer to a purchase: %d %s", res.StatusCode, raw)
	}
	s.sold[event].Add(1)
	return true, nil
}

// check holds the database to what was answered: each event has as many tickets as
// it sold, counts them so, and no more than its capacity.
func (s *shop) check(ctx context.Context, conn *pgx.Conn) error {
	for i, id := range s.events {
		var counted, rows, capacity int64
		err := conn.QueryRow(ctx,
			`SELECT tickets_issued, (SELECT count(*) FROM tickets.tickets t WHERE t.event_id = e.id AND t.status = 'available'), capacity
			FROM tickets.events e WHERE id = $1`, id).Scan(&counted, &rows, &capacity)
		if err != nil {
			return fmt.Errorf("count tickets: %w", err)
		}
		if sold := s.sold[i].Load(); counted != sold || rows != sold || sold > capacity {
			return fmt.Errorf("event %s sold %d tickets of %d: %d are counted, %d are there", id, sold, capacity,
				counted, rows)
		}
	}
	return nil
}
