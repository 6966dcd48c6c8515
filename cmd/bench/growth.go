package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// growthGoal: from the fewest rows to the most a request costs at most 1.3 times as much.
var growthGoal = goal{rate: map[int]float64{8: 1 / 1.3}, cpu: 1.3}

// benchGrowth is W1 to W3, W5 and W6 at 8 clients, of platforms that have more and more rows (videos, subscriptions and
// orders each), by turns with the one that has the fewest.
func benchGrowth(ctx context.Context, b *bench) error {
	var sizes []int
	for text := range strings.SplitSeq(b.growth, ",") {
		size, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("-growth: %w", err)
		}
		sizes = append(sizes, size)
	}
	if len(sizes) < 2 || !slices.IsSorted(sizes) {
		return errors.New("-growth: two sizes or more, the fewest rows first")
	}
	fewest, err := b.startOfSize(ctx, sizes[0])
	if err != nil {
		return err
	}
	defer fewest.stop()
	for _, size := range sizes[1:] {
		if err := b.grow(ctx, fewest.side(strconv.Itoa(sizes[0])), size); err != nil {
			return fmt.Errorf("%d rows: %w", size, err)
		}
	}
	return nil
}

// grow measures a platform of that size by turns with the one that has the fewest rows.
func (b *bench) grow(ctx context.Context, fewest side, size int) error {
	p, err := b.startOfSize(ctx, size)
	if err != nil {
		return err
	}
	defer p.stop()
	both := &bench{options: b.options, ours: p.side(strconv.Itoa(size)), beside: fewest, report: b.report}
	renewals, err := both.renewals(ctx)
	if err != nil {
		return err
	}
	defer renewals.close(ctx)
	for _, p := range both.platforms() {
		if err := p.settleDown(ctx); err != nil {
			return err
		}
	}
	if _, err := awaitQuiet(ctx, b.load); err != nil {
		return err
	}
	both.report.heading("%d rows of each kind beside %s, %v a turn", size, fewest.name, b.length)
	for _, l := range readLoads {
		l.clients = []int{8}
		if l.addresses == 0 {
			continue
		}
		if err := both.measureReads(ctx, l, growthGoal); err != nil {
			return err
		}
	}
	err = both.deliver(ctx, renewals, []int{8}, growthGoal)
	if err == nil {
		err = both.sell(ctx, load{
			name: "W6b", what: fmt.Sprintf("over %d events", spread), clients: []int{8}, goal: growthGoal,
		}, spread, nil)
	}
	b.report = both.report
	return err
}

// startOfSize starts a platform with so many videos, subscriptions and orders.
func (b *bench) startOfSize(ctx context.Context, size int) (*platform, error) {
	p, err := start(ctx, b.binary, b.full(), b.full())
	if err != nil {
		return nil, err
	}
	err = p.fill(ctx, size)
	if err == nil {
		err = p.scale(ctx, size)
	}
	if err == nil {
		err = p.addOrders(ctx, size)
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// moreOrders adds so many times the orders of `seed --scale`, and their tickets.
const moreOrders = `WITH orders AS (
		INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method,
			gateway_payment_id, payment_status, state, paid_at, intent_open, created_at, updated_at)
		SELECT platform.new_object_id(), o.customer_id, o.event_id, o.quantity, o.unit_price_cents, o.total_cents, o.gateway,
			o.payment_method, o.gateway_payment_id || '_' || k, o.payment_status, o.state, o.paid_at, false, o.created_at, o.updated_at
		FROM tickets.orders o CROSS JOIN generate_series(1, $1::int) k WHERE o.gateway_payment_id LIKE '%\_order\_%'
		RETURNING id, customer_id, event_id, quantity, state, created_at)
	INSERT INTO tickets.tickets (event_id, customer_id, order_id, title, status, holds_place, reason, register_date, register_update_date)
	SELECT o.event_id, o.customer_id, o.id, 'Evening', CASE o.state WHEN 'paid' THEN 'available' ELSE 'expired' END, o.state = 'paid',
		o.state, o.created_at, o.created_at
	FROM orders o CROSS JOIN generate_series(1, o.quantity)`

// addOrders makes as many orders as there are subscriptions: `seed --scale` makes a tenth of it.
func (p *platform) addOrders(ctx context.Context, size int) error {
	return p.inDatabase(ctx, func(conn *pgx.Conn) error {
		began := time.Now()
		if _, err := conn.Exec(ctx, moreOrders, 9); err != nil {
			return fmt.Errorf("add orders: %w", err)
		}
		fmt.Printf("%d orders took %v\n", size, time.Since(began).Round(time.Second))
		return nil
	})
}

// settleDown leaves the database as it is some time after its rows came: statistics and visibility are known, and
// nothing is written behind what is measured.
func (p *platform) settleDown(ctx context.Context) error {
	return p.inDatabase(ctx, func(conn *pgx.Conn) error {
		for _, statement := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
}

func (p *platform) inDatabase(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, p.databaseURL)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return do(conn)
}
