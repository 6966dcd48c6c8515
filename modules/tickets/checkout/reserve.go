package checkout

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/idempotency"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// request is a purchase before anything is written.
type request struct {
	event        events.Event
	customer     accounts.Customer
	payer        gateway.Payer   // with GatewayID; empty for a free event
	gateway      gateway.Gateway // nil for a free event
	method       gateway.Method
	quantity     int
	withoutLogin bool
	unproved     bool // nobody has proved the account's e-mail
	holder       holder
	attempt      *idempotency.Attempt // nil without an Idempotency-Key
}

// reservation is an order that was written with its tickets, or why not.
type reservation struct {
	order   orders.Order
	tickets []objectid.ID
	err     error
}

// reserve holds the places of a purchase in a short transaction of its own, alone
// or together with others that wait for the same event.
func (s *Checkout) reserve(ctx context.Context, w request) (orders.Order, []objectid.ID, error) {
	r := s.gate.enter(ctx, w)
	if r.err != nil {
		return orders.Order{}, nil, r.err
	}
	faultpoint.Hit("purchase.reserved")
	return r.order, r.tickets, nil
}

// gate gathers purchases of one event that come while an earlier transaction of
// the same event is being committed, and passes them on together: one lock and one
// flush for all of them, instead of one each (docs/decisions/seats-by-gate.md).
// A purchase that comes alone waits for nobody. The database's own conditions
// stay the truth, so any number of processes may each have a gate.
type gate struct {
	reserve func(ctx context.Context, requests []request) []reservation
	mu      sync.Mutex
	busy    map[objectid.ID]bool
	waiting map[objectid.ID][]*visitor
}

type visitor struct {
	request request
	done    chan reservation // holds one
}

// maxTogether bounds one transaction.
const maxTogether = 64

// reserveTime bounds one transaction of the gate, which belongs to no request.
const reserveTime = 15 * time.Second

func newGate(reserve func(context.Context, []request) []reservation) *gate {
	return &gate{reserve: reserve, busy: map[objectid.ID]bool{}, waiting: map[objectid.ID][]*visitor{}}
}

// enter reserves. It waits for the outcome also when the client goes away: what
// is reserved has to be followed up.
func (g *gate) enter(ctx context.Context, w request) reservation {
	v := &visitor{request: w, done: make(chan reservation, 1)}
	id := w.event.ID
	g.mu.Lock()
	g.waiting[id] = append(g.waiting[id], v)
	lead := !g.busy[id]
	g.busy[id] = true
	g.mu.Unlock()
	if lead {
		go g.lead(postgres.Detach(ctx), id)
	}
	return <-v.done
}

// lead serves the event until nobody waits.
func (g *gate) lead(ctx context.Context, id objectid.ID) {
	for {
		g.mu.Lock()
		n := min(len(g.waiting[id]), maxTogether)
		if n == 0 {
			delete(g.waiting, id)
			delete(g.busy, id)
			g.mu.Unlock()
			return
		}
		visitors := g.waiting[id][:n:n]
		g.waiting[id] = g.waiting[id][n:]
		g.mu.Unlock()
		g.serve(ctx, visitors)
	}
}

func (g *gate) serve(ctx context.Context, visitors []*visitor) {
	ctx, cancel := context.WithTimeout(ctx, reserveTime)
	defer cancel()
	requests := make([]request, len(visitors))
	for i, v := range visitors {
		requests[i] = v.request
	}
	for i, r := range g.reserveSafely(ctx, requests) {
		visitors[i].done <- r
	}
}

// reserveSafely answers everybody also when reserving panics: nobody else would.
func (g *gate) reserveSafely(ctx context.Context, requests []request) (results []reservation) {
	defer func() {
		if p := recover(); p != nil {
			results = make([]reservation, len(requests))
			for i := range results {
				results[i].err = fmt.Errorf("panic while reserving: %v\n%s", p, debug.Stack())
			}
		}
	}()
	return g.reserve(ctx, requests)
}

// reserveMany reserves for purchases of one event in the order of arrival, in one
// transaction, and tells each how it went. When the transaction fails, each is
// tried alone, so that nobody pays for another's fault; but not when the database has no
// room or a lock is held, which each would only wait for again.
func (s *Checkout) reserveMany(ctx context.Context, requests []request) []reservation {
	results, err := s.reserveTogether(ctx, requests)
	if err == nil {
		return results
	}
	if len(requests) == 1 || postgres.IsBusy(err) {
		return slices.Repeat([]reservation{{err: reserveFault(err)}}, len(requests))
	}
	all := make([]reservation, 0, len(requests))
	for i := range requests {
		all = append(all, s.reserveMany(ctx, requests[i:i+1])...)
	}
	return all
}

func reserveFault(err error) error {
	switch {
	case postgres.Constraint(err) == events.ConstraintCapacity:
		return events.ErrSoldOut()
	case postgres.IsNoRows(err):
		return fault.NotFound("Event")
	}
	return fmt.Errorf("reserve places: %w", err)
}

func (s *Checkout) reserveTogether(ctx context.Context, requests []request) ([]reservation, error) {
	var results []reservation
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if err := s.keepBuyersTx(ctx, tx, requests); err != nil {
			return err
		}
		e, taken, err := s.lockForSale(ctx, tx, requests)
		if err != nil {
			return err
		}
		results = s.seat(e, taken, requests)
		return s.writeTx(ctx, tx, e, requests, results)
	})
	return results, err
}

func (s *Checkout) keepBuyersTx(ctx context.Context, tx pgx.Tx, requests []request) error {
	buyers := map[objectid.ID]accounts.Customer{}
	for _, w := range requests {
		buyers[w.customer.ID] = w.customer
	}
	return s.deps.Events.KeepNamesTx(ctx, tx, buyers)
}

// seat gives places as long as there are any, within the limits of what one buyer and
// all guests may hold: an order that is too large for what is left is refused, a smaller
// one behind it is not.
func (s *Checkout) seat(e events.Event, taken holdings, requests []request) []reservation {
	now := s.deps.Clock.Now()
	results := make([]reservation, len(requests))
	for i, w := range requests {
		err := events.Sellable(e, now)
		if err == nil && e.Capacity != nil && int(e.TicketsIssued)+w.quantity > int(*e.Capacity) {
			err = events.ErrSoldOut()
		}
		if err == nil && (w.gateway == nil) != (priceOf(e) == 0) {
			err = fault.Conflict("The price of the event has just changed. Check it and try again.")
		}
		if err == nil {
			err = s.withinLimits(e, taken, w)
		}
		if err != nil {
			results[i].err = err
			continue
		}
		results[i].order = s.newOrder(e, w, now)
		taken.add(&e, w)
	}
	return results
}

func priceOf(e events.Event) int64 {
	if e.TicketValueCents == nil {
		return 0
	}
	return *e.TicketValueCents
}

func (s *Checkout) newOrder(e events.Event, w request, now time.Time) orders.Order {
	o := orders.Order{
		ID: objectid.At(now), CustomerID: w.customer.ID, EventID: e.ID, Quantity: int32(w.quantity), //nolint:gosec // at most MaxQuantity
		UnitPriceCents: priceOf(e), TotalCents: priceOf(e) * int64(w.quantity), WithoutLogin: w.withoutLogin,
		CreatedAt: now, UpdatedAt: now,
	}
	if w.gateway == nil {
		o.State, o.PaymentStatus, o.PaidAt = state.Paid, orders.StatusConfirmed, &now
		return o
	}
	o.State, o.PaymentStatus, o.IntentOpen = state.Reserved, orders.OpenStatus(w.gateway.Name(), w.method), true
	o.Gateway, o.PaymentMethod, o.GatewayCustomerID = new(w.gateway.Name()), new(w.method),
		nullable.Ptr(w.payer.GatewayID)
	o.RecoveryAt = new(now.Add(orders.AdoptAfter))
	o.HoldUntil = new(s.holdUntil(e, w.method, now))
	return o
}

// holdUntil is when unpaid places are given back: never later than the event, and
// sooner while many are held unpaid.
func (s *Checkout) holdUntil(e events.Event, method gateway.Method, now time.Time) time.Time {
	until := now.Add(s.deps.Config.PixTTL)
	switch {
	case method == gateway.MethodCard:
		until = now.Add(s.deps.Config.CardTTL)
	case s.crowded(e):
		until = now.Add(min(s.deps.Config.PixTTL, crowdedPixTTL))
	}
	if e.EndsAt.Before(until) {
		return e.EndsAt
	}
	return until
}

// writeTx inserts the orders that have places, with their tickets.
func (s *Checkout) writeTx(ctx context.Context, tx pgx.Tx, e events.Event, requests []request,
	results []reservation,
) error {
	p := ticketsdb.OrderReserveParams{
		EventID: e.ID.String(), UnitPriceCents: priceOf(e), Title: e.Title, Now: s.deps.Clock.Now(),
	}
	if e.ImageID != nil {
		p.ImageID = new(e.ImageID.String())
	}
	byID := map[string]*reservation{}
	attempts := map[string]*idempotency.Attempt{}
	for i := range results {
		r := &results[i]
		if r.err != nil {
			continue
		}
		o := r.order
		byID[o.ID.String()], attempts[o.ID.String()] = r, requests[i].attempt
		p.Ids, p.CustomerIds, p.Quantities = append(p.Ids, o.ID.String()), append(p.CustomerIds, o.CustomerID.String()),
			append(p.Quantities, o.Quantity)
		p.Gateways, p.Methods = append(p.Gateways, string(nullable.Value(o.Gateway))),
			append(p.Methods, string(nullable.Value(o.PaymentMethod)))
		p.GatewayCustomerIds = append(p.GatewayCustomerIds, requests[i].payer.GatewayID)
		p.PaymentStatuses, p.WithoutLogin = append(p.PaymentStatuses, o.PaymentStatus),
			append(p.WithoutLogin, o.WithoutLogin)
		p.Unproved = append(p.Unproved, !requests[i].withoutLogin && requests[i].unproved)
		p.HoldUntils, p.RecoveryAts = append(p.HoldUntils, orNow(o.HoldUntil, p.Now)),
			append(p.RecoveryAts, orNow(o.RecoveryAt, p.Now))
		h := requests[i].holder.limitKeys(o, e)
		p.TaxIDMacs, p.EmailMacs, p.AddressMacs = append(p.TaxIDMacs, h.taxID), append(p.EmailMacs, h.email),
			append(p.AddressMacs, h.address)
	}
	if len(p.Ids) == 0 {
		return nil
	}
	rows, err := s.db.OrderReserve(ctx, tx, p)
	if err != nil {
		return err
	}
	if err := s.intents.OpenTx(ctx, tx, s.openingsOf(results)...); err != nil {
		return err
	}
	for _, row := range rows {
		r := byID[row.OrderID]
		for _, id := range row.TicketIds {
			r.tickets = append(r.tickets, objectid.ID(id))
		}
		if err := attempts[row.OrderID].BindTx(ctx, tx, r.order.ID); err != nil {
			return err
		}
		if err := s.deps.Orders.PaidTx(ctx, tx, r.order); err != nil {
			return err
		}
	}
	return nil
}

// openingsOf are the intents of the orders whose gateway is about to be called.
func (s *Checkout) openingsOf(results []reservation) []intent.Opening {
	var all []intent.Opening
	for _, r := range results {
		if r.err == nil && r.order.IntentOpen {
			all = append(all, s.deps.Orders.OpeningOf(r.order))
		}
	}
	return all
}

func orNow(t *time.Time, now time.Time) time.Time {
	if t == nil {
		return now
	}
	return *t
}
