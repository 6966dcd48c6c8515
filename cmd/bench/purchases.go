package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// plenty is a capacity that no run exhausts, few one that every run does.
	plenty, few = 100_000_000, 500
	spread      = 100 // events of the second workload
	together    = 2   // tickets of a purchase
)

// takePlace is the measure of W6: what Postgres itself does of a purchase by one
// durable statement, with the condition that keeps an event from being oversold.
const takePlace = `WITH taken AS (UPDATE bench.seats SET issued = issued + 2 WHERE id = %s AND issued + 2 <= capacity RETURNING id),
	bought AS (INSERT INTO bench.orders (seat_id, created_at) SELECT id, now() FROM taken RETURNING id, seat_id)
	INSERT INTO bench.tickets (order_id, seat_id, created_at) SELECT id, seat_id, now() FROM bought, generate_series(1, 2)`

const placeTables = `CREATE SCHEMA IF NOT EXISTS bench;
	CREATE TABLE bench.seats (id bigint PRIMARY KEY, capacity integer NOT NULL, issued integer NOT NULL);
	CREATE TABLE bench.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, seat_id bigint NOT NULL REFERENCES bench.seats, created_at timestamptz NOT NULL);
	CREATE TABLE bench.tickets (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, order_id bigint NOT NULL REFERENCES bench.orders,
		seat_id bigint NOT NULL REFERENCES bench.seats, created_at timestamptz NOT NULL);
	CREATE INDEX ON bench.tickets (seat_id);
	INSERT INTO bench.seats SELECT n, 100000000, 0 FROM generate_series(1, 100) n`

type object = map[string]any

// benchPurchases is W6: purchases of two free tickets each of one hot event and over 100
// events, as Postgres alone does them too. The counters, the rows and the answers have to
// agree, and a small event has to end sold out to the seat.
func benchPurchases(ctx context.Context, b *bench) error {
	b.report.heading("purchases of %d free tickets each, %v a turn", together, b.length)
	hot := load{
		name: "W6a", what: "of one event", clients: []int{1, 8, 32},
		goal: goal{rate: map[int]float64{1: 0.8, 8: 1, 32: 1.5}},
	}
	many := load{
		name: "W6b", what: fmt.Sprintf("over %d events", spread), clients: []int{8, 32},
		goal: goal{rate: map[int]float64{8: 0.8, 32: 0.8}, cpu: 1.5},
	}
	if err := b.sell(ctx, hot, 1, nil); err != nil {
		return err
	}
	if err := b.sell(ctx, many, spread, nil); err != nil {
		return err
	}
	for _, p := range b.platforms() {
		if err := p.sellOut(ctx); err != nil {
			return err
		}
	}
	return b.placesByPostgres(ctx, map[string]int{hot.name: 1, many.name: spread})
}

// benchCards is the same by card of gateway B, whose sandbox is a process of its own.
func benchCards(ctx context.Context, b *bench) error {
	b.report.heading("purchases of %d tickets by card at the sandbox of gateway B, %v a turn", together, b.length)
	return b.sell(ctx, load{name: "card", what: fmt.Sprintf("over %d events", spread), clients: []int{1, 8}}, spread,
		object{"ticket_value": 50})
}

// sell measures purchases over so many new events. Where they cost something there is no
// bare server to measure beside.
func (b *bench) sell(ctx context.Context, l load, events int, changes object) error {
	shops := map[*platform]*shop{}
	for _, p := range b.platforms() {
		s, err := p.openShop(ctx, events, plenty, changes)
		if err != nil {
			return err
		}
		defer s.close(ctx)
		shops[p] = s
	}
	l.at = func(s side) caller { return shops[s.platform].purchases(s) }
	var err error
	switch {
	case b.isLimit() && changes != nil:
		err = b.alone(ctx, b.ours, l)
	case b.isLimit():
		if err = b.samePurchase(ctx, shops[b.ours.platform]); err == nil {
			err = b.run(ctx, l)
		}
	default:
		err = b.run(ctx, l)
	}
	for _, s := range shops {
		err = errors.Join(err, s.check(ctx))
	}
	return err
}

// samePurchase has both sides sell once: answers and rows have to be the same.
func (b *bench) samePurchase(ctx context.Context, s *shop) error {
	var ids [2]string
	for i, sides := range [2][2]side{{b.ours, b.beside}, {b.beside, b.ours}} {
		turned := &bench{options: b.options, ours: sides[0], beside: sides[1]}
		body, err := turned.compareResponses(ctx, s.request(0), s.request(0), true)
		if err != nil {
			return err
		}
		var got purchased
		if err := json.Unmarshal(body, &got); err != nil {
			return err
		}
		ids[i] = got.Order.ID
	}
	s.sold[0].Add(4 * together)
	return compareRows(ctx, s.conn, `SELECT to_jsonb(o)::text FROM tickets.orders o WHERE o.id = $1
		UNION ALL SELECT to_jsonb(t)::text FROM tickets.tickets t WHERE t.order_id = $1
		UNION ALL SELECT (to_jsonb(m) - 'id')::text FROM tickets.tickets t JOIN tickets.transitions m ON m.ticket_id = t.id WHERE t.order_id = $1
		UNION ALL SELECT (to_jsonb(m) - 'id')::text FROM tickets.order_transitions m WHERE m.order_id = $1`, ids[0], ids[1])
}

// placesByPostgres measures the statement over so many events a load.
func (b *bench) placesByPostgres(ctx context.Context, events map[string]int) error {
	conn, err := pgx.Connect(ctx, b.ours.platform.databaseURL)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, placeTables); err != nil {
		return fmt.Errorf("tables of the measure: %w", err)
	}
	for name, n := range events {
		err := b.besidePostgres(name, []int{8, 32}, func(clients int) (float64, error) {
			return runStatement(ctx, b.ours.platform.databaseURL,
				fmt.Sprintf("\\set n random(1, %d)\n", n)+fmt.Sprintf(takePlace, ":n")+";\n",
				fmt.Sprintf(takePlace, "$1::bigint"), func(i int64) []any { return []any{1 + i%int64(n)} },
				clients, b.length)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// shop is events on sale, and how many tickets of each were given out by both sides.
type shop struct {
	token    string
	conn     *pgx.Conn
	events   []string
	sold     []atomic.Int64
	requests atomic.Int64
}

func (s *shop) close(ctx context.Context) { _ = s.conn.Close(context.WithoutCancel(ctx)) }

// openShop puts so many events on sale.
func (p *platform) openShop(ctx context.Context, events, capacity int, changes object) (s *shop, err error) {
	admin, err := p.server.login(ctx, "admin")
	if err != nil {
		return nil, err
	}
	s = &shop{sold: make([]atomic.Int64, events)}
	if s.token, err = p.server.login(ctx, "customer"); err != nil {
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
	err = p.server.call(ctx, request{
		Method: http.MethodPost, Path: "/api/v1/events", Token: admin, ContentType: "application/json",
		Body: string(raw),
	}, &made)
	if err != nil {
		return nil, err
	}
	if s.events, err = idsOf(made.Docs); err != nil {
		return nil, err
	}
	s.conn, err = pgx.Connect(ctx, p.databaseURL)
	return s, err
}

// request is a purchase of an event.
func (s *shop) request(event int) request {
	return request{
		Method: http.MethodPost, Path: "/api/v1/store/purchase/gwb/card", Token: s.token,
		ContentType: "application/json",
		Body:        fmt.Sprintf(`{"event_id":%q,"quantity":%d,"payment_method_id":"pm_card_visa"}`, s.events[event], together),
	}
}

// purchased is what is read of an answer.
type purchased struct {
	Order struct {
		ID            string   `json:"_id"`
		EventID       string   `json:"event_id"`
		PaymentStatus string   `json:"payment_status"`
		TicketIDs     []string `json:"ticket_ids"`
	} `json:"order"`
}

// errSoldOut is the end of a small event.
var errSoldOut = errors.New("sold out")

// purchases is a client that buys of one event after the other. A purchase under way is
// finished also when the run ends.
func (s *shop) purchases(at side) caller {
	event := 0
	buy := repeated(at, func(int) request {
		event = int(s.requests.Add(1)) % len(s.events)
		return s.request(event)
	}, func(_, code int, body []byte) error {
		var got purchased
		switch {
		case code == http.StatusConflict:
			return errSoldOut
		case code != http.StatusOK || json.Unmarshal(body, &got) != nil || got.Order.EventID != s.events[event] ||
			len(got.Order.TicketIDs) != together ||
			got.Order.PaymentStatus != "CONFIRMED" && got.Order.PaymentStatus != "succeeded":
			return fmt.Errorf("%d %s", code, body)
		}
		s.sold[event].Add(together)
		return nil
	})
	return func(ctx context.Context, until time.Time) ([]time.Duration, error) {
		return buy(context.WithoutCancel(ctx), until)
	}
}

// sellOut has 32 clients buy an event up, and checks that it ends full.
func (p *platform) sellOut(ctx context.Context) error {
	s, err := p.openShop(ctx, 1, few, nil)
	if err != nil {
		return err
	}
	defer s.close(ctx)
	began := time.Now()
	_, err = drive(ctx, p.server, 32, time.Minute, func(at side) caller {
		buy := s.purchases(at)
		return func(ctx context.Context, until time.Time) ([]time.Duration, error) {
			times, err := buy(ctx, until)
			switch {
			case err == nil:
				err = errors.New("the event never sells out")
			case errors.Is(err, errSoldOut):
				err = nil
			}
			return times, err
		}
	})
	if err != nil {
		return err
	}
	if sold := s.sold[0].Load(); sold != few {
		return fmt.Errorf("%d tickets sold of %d", sold, few)
	}
	fmt.Printf("%d seats sold out by 32 clients in %v, not one twice\n", few, time.Since(began).Round(time.Millisecond))
	return s.check(ctx)
}

// check holds the database to what was answered: each event has as many tickets as
// it sold, counts them so, and no more than its capacity.
func (s *shop) check(ctx context.Context) error {
	for i, id := range s.events {
		var counted, rows, capacity int64
		err := s.conn.QueryRow(ctx,
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
