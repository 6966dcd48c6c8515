package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	counter      *counterSale         // nil for a purchase of the store
	tried        *subjects            // whose declines count; nil without a card
}

// reservation is an order that was written with its tickets, or why not.
type reservation struct {
	order   orders.Order
	tickets []objectid.ID
	err     error
}

// reserve holds the places of a purchase in a short transaction, alone or together with others that wait.
func (s *Checkout) reserve(ctx context.Context, w request) (orders.Order, []objectid.ID, error) {
	r := s.gate.enter(ctx, w)
	if r.err != nil {
		return orders.Order{}, nil, r.err
	}
	faultpoint.Hit("purchase.reserved")
	return r.order, r.tickets, nil
}

// gate gathers purchases that come while an earlier transaction is being committed, and
// commits them together: one flush for all of them, instead of one each, and one lock for
// those of the same event (docs/decisions/seats-by-gate.md). A purchase that comes alone
// waits for nobody.
//
// Each waits in the shared queue first, whose transaction waits for no event. Those of an event
// that somebody else has locked, and all of a transaction that failed, go on to the queue of
// their event, where they wait for its lock and for nobody but each other; what comes while
// others stand there joins them. So each passes two queues at most, in each in the order of
// arrival. The database's own conditions stay the truth, so any number of processes may each
// have a gate.
type gate struct {
	reserveShared reserver // of any events; errEventQueue for what has to go on to the queue of its event
	reserveEvent  reserver // of one event
	mu            sync.Mutex
	queues        map[objectid.ID][]*entry // by event, or sharedQueue; there while it is served
}

// reserver reserves for purchases, answers each in its place, and does not panic.
type reserver func(ctx context.Context, requests []request) []reservation

// sharedQueue is the key of the queue for purchases of all events.
const sharedQueue objectid.ID = ""

// errEventQueue sends a purchase on from the shared queue to that of its event.
var errEventQueue = errors.New("checkout: to be reserved with others of its event alone")

// entry is a purchase that waits in a queue.
type entry struct {
	request request
	done    chan reservation // holds one
}

// maxTogether bounds one transaction.
const maxTogether = 64

// reserveTime bounds one transaction of the gate, which belongs to no request.
const reserveTime = 15 * time.Second

func newGate(shared, event reserver) *gate {
	return &gate{reserveShared: shared, reserveEvent: event, queues: map[objectid.ID][]*entry{}}
}

// enter reserves. It waits for the outcome also when the client goes away: what
// is reserved has to be followed up.
func (g *gate) enter(ctx context.Context, w request) reservation {
	e := &entry{request: w, done: make(chan reservation, 1)}
	g.enqueue(postgres.Detach(ctx), sharedQueue, e)
	return <-e.done
}

// enqueue has a purchase wait in a queue, or in that of its event while there is one, and has
// the queue served.
func (g *gate) enqueue(ctx context.Context, queue objectid.ID, e *entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, served := g.queues[e.request.event.ID]; served {
		queue = e.request.event.ID
	}
	entries, served := g.queues[queue]
	g.queues[queue] = append(entries, e)
	if !served {
		go g.serve(ctx, queue)
	}
}

// serve commits what waits in a queue until it is empty.
func (g *gate) serve(ctx context.Context, queue objectid.ID) {
	for {
		g.mu.Lock()
		n := min(len(g.queues[queue]), maxTogether)
		if n == 0 {
			delete(g.queues, queue)
			g.mu.Unlock()
			return
		}
		entries := g.queues[queue][:n:n]
		g.queues[queue] = g.queues[queue][n:]
		g.mu.Unlock()
		g.commit(ctx, queue, entries)
	}
}

// commit reserves for purchases of a queue in one transaction.
func (g *gate) commit(ctx context.Context, queue objectid.ID, entries []*entry) {
	requests := make([]request, len(entries))
	for i, e := range entries {
		requests[i] = e.request
	}
	reserve := g.reserveEvent
	if queue == sharedQueue {
		reserve = g.reserveShared
	}
	limited, cancel := context.WithTimeout(ctx, reserveTime)
	defer cancel()
	for i, r := range reserve(limited, requests) {
		if errors.Is(r.err, errEventQueue) {
			g.enqueue(ctx, requests[i].event.ID, entries[i])
			continue
		}
		entries[i].done <- r
	}
}

// reserveShared reserves for purchases of any events in one transaction, and waits for the
// lock of none: errEventQueue for a purchase of an event that somebody else has locked, and for
// all of them when the transaction fails; but not when there was no connection or no time for it,
// or it may stand.
func (s *Checkout) reserveShared(ctx context.Context, requests []request) []reservation {
	results, err := s.reserveTogether(ctx, requests, s.lockManyForSale)
	switch {
	case err == nil:
		return results
	case errors.Is(err, errUnsure), postgres.IsBusy(err) && !postgres.IsLocked(err), ctx.Err() != nil:
		err = reserveFault(err)
	default:
		s.deps.Log.WarnContext(ctx, "purchases are reserved again, those of each event apart",
			slog.Int("purchases", len(requests)), slog.Any("error", err))
		err = errEventQueue
	}
	return slices.Repeat([]reservation{{err: err}}, len(requests))
}

// reserveMany reserves for purchases of one event in the order of arrival, in one
// transaction, and tells each how it went. When the transaction fails, each is
// tried alone, so that nobody pays for another's fault; but not when the database has no
// room or a lock is held, which each would only wait for again, nor when it may stand.
func (s *Checkout) reserveMany(ctx context.Context, requests []request) []reservation {
	results, err := s.reserveTogether(ctx, requests, s.lockForSale)
	if err == nil {
		return results
	}
	if len(requests) == 1 || postgres.IsBusy(err) || errors.Is(err, errUnsure) {
		return slices.Repeat([]reservation{{err: reserveFault(err)}}, len(requests))
	}
	all := make([]reservation, 0, len(requests))
	for i := range requests {
		all = append(all, s.reserveMany(ctx, requests[i:i+1])...)
	}
	return all
}

// errUnsure says that the answer to a commit was lost: what it was about is not done again.
var errUnsure = errors.New("checkout: it is not known whether the transaction stands")

func reserveFault(err error) error {
	switch {
	case postgres.Constraint(err) == events.ConstraintCapacity:
		return events.ErrSoldOut()
	case postgres.IsNoRows(err):
		return fault.NotFound("Event")
	}
	return fmt.Errorf("reserve places: %w", err)
}

// lockSale locks the events of purchases, or those of them that it can, and tells what the
// buyers hold of them.
type lockSale func(ctx context.Context, tx pgx.Tx, requests []request) (onSale, holdings, error)

// onSale are the events that are locked, with the places that are taken.
type onSale map[objectid.ID]*events.Event

// reserveTogether reserves in one transaction. A panic is an error: whoever waits has to hear of it.
func (s *Checkout) reserveTogether(ctx context.Context, requests []request,
	lock lockSale,
) (results []reservation, err error) {
	written := false
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while reserving: %v\n%s", p, debug.Stack())
		}
		if err != nil && written && !postgres.IsServers(err) {
			err = fmt.Errorf("%w: %w", errUnsure, err)
		}
	}()
	var made *postgres.Result[[]ticketsdb.OrderReserveRow]
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if err := s.keepBuyersTx(ctx, tx, requests); err != nil {
			return err
		}
		sale, taken, err := lock(ctx, tx, requests)
		if err != nil {
			return err
		}
		results = s.seat(sale, taken, requests)
		made, err = s.writeTx(ctx, tx, sale, requests, results)
		written = err == nil
		return err
	})
	if err == nil && made != nil {
		err = nameTickets(ctx, results, made)
	}
	return results, err
}

// nameTickets tells the orders that were written which tickets they have.
func nameTickets(ctx context.Context, results []reservation, made *postgres.Result[[]ticketsdb.OrderReserveRow]) error {
	rows, err := made.Get(ctx)
	byOrder := map[string][]string{}
	for _, row := range rows {
		byOrder[row.OrderID] = row.TicketIds
	}
	for i := range results {
		for _, id := range byOrder[results[i].order.ID.String()] {
			results[i].tickets = append(results[i].tickets, objectid.ID(id))
		}
	}
	return err
}

func (s *Checkout) keepBuyersTx(ctx context.Context, tx pgx.Tx, requests []request) error {
	buyers := map[objectid.ID]accounts.Customer{}
	for _, w := range requests {
		buyers[w.customer.ID] = w.customer
	}
	return s.deps.Events.KeepNamesTx(ctx, tx, buyers)
}

// seat gives places as long as there are any, within the limits of declined cards, and of what one buyer and
// all guests may hold: an order that is too large for what is left is refused, a smaller
// one behind it is not.
func (s *Checkout) seat(sale onSale, taken holdings, requests []request) []reservation {
	now := s.deps.Clock.Now()
	results := make([]reservation, len(requests))
	for i, w := range requests {
		e, locked := sale[w.event.ID]
		if !locked {
			results[i].err = errEventQueue
			continue
		}
		err := sellable(*e, w, now)
		if err == nil {
			err = s.withinDeclines(taken, w.tried)
		}
		if err == nil && w.counter == nil {
			err = s.withinLimits(*e, taken, w)
		}
		if err != nil {
			results[i].err = err
			continue
		}
		results[i].order = s.newOrder(*e, w, now)
		taken.add(e, w)
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
		CreatedAt: now, UpdatedAt: now, Moves: 1,
	}
	if w.gateway == nil {
		o.State, o.PaymentStatus, o.PaidAt = state.Paid, orders.StatusConfirmed, &now
		if w.counter != nil {
			o = w.counter.soldAt(o)
		}
		return o
	}
	o.State, o.PaymentStatus, o.IntentOpen = state.Reserved, orders.OpenStatus(w.gateway.Name(), w.method), true
	o.Gateway, o.PaymentMethod, o.GatewayCustomerID = new(w.gateway.Name()), new(w.method),
		nullable.Ptr(w.payer.GatewayID)
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

// writeTx has the orders inserted that have places, with their tickets, and what goes with them, with the transaction's
// next statement, which is COMMIT. Nil where none has.
func (s *Checkout) writeTx(ctx context.Context, tx pgx.Tx, sale onSale, requests []request,
	results []reservation,
) (*postgres.Result[[]ticketsdb.OrderReserveRow], error) {
	p := ticketsdb.OrderReserveParams{Now: s.deps.Clock.Now()}
	for i := range results {
		r := &results[i]
		if r.err != nil {
			continue
		}
		o, e := r.order, *sale[r.order.EventID]
		p.Ids, p.CustomerIds, p.Quantities = append(p.Ids, o.ID.String()), append(p.CustomerIds, o.CustomerID.String()),
			append(p.Quantities, o.Quantity)
		p.EventIds, p.UnitPrices = append(p.EventIds, e.ID.String()), append(p.UnitPrices, o.UnitPriceCents)
		p.Titles, p.ImageIds = append(p.Titles, e.Title), append(p.ImageIds, nullable.Value(e.ImageID).String())
		p.Gateways, p.Methods = append(p.Gateways, string(nullable.Value(o.Gateway))),
			append(p.Methods, string(nullable.Value(o.PaymentMethod)))
		p.GatewayCustomerIds = append(p.GatewayCustomerIds, requests[i].payer.GatewayID)
		p.PaymentStatuses, p.WithoutLogin = append(p.PaymentStatuses, o.PaymentStatus),
			append(p.WithoutLogin, o.WithoutLogin)
		p.Unproved = append(p.Unproved, !requests[i].withoutLogin && requests[i].unproved)
		p.HoldUntils = append(p.HoldUntils, *cmp.Or(o.HoldUntil, &p.Now))
		p.SoldByIds, p.SoldBy = append(p.SoldByIds, nullable.Value(o.SoldByID).String()),
			append(p.SoldBy, nullable.Value(o.SoldBy))
		p.Notes, p.BuyerPhones = append(p.Notes, nullable.Value(o.Note)),
			append(p.BuyerPhones, nullable.Value(o.BuyerPhone))
		h := requests[i].holder.limitKeys(o, e)
		p.TaxIDMacs, p.EmailMacs, p.AddressMacs = append(p.TaxIDMacs, h.taxID), append(p.EmailMacs, h.email),
			append(p.AddressMacs, h.address)
		p.Reasons = append(p.Reasons, state.Orders.ReasonOf(begunBy(o)))
		tried := nullable.Value(requests[i].tried)
		p.TriedAddresses, p.TriedCards, p.TriedBuyers = append(p.TriedAddresses, tried.address),
			append(p.TriedCards, tried.card), append(p.TriedBuyers, tried.buyer)
	}
	if len(p.Ids) == 0 {
		return nil, nil //nolint:nilnil // nil is the answer
	}
	made := postgres.Queue(tx, func(db postgres.DB) ([]ticketsdb.OrderReserveRow, error) {
		return s.db.OrderReserve(ctx, db, p)
	})
	if err := s.intents.OpenTx(ctx, tx, s.openingsOf(results)...); err != nil {
		return nil, err
	}
	for i, r := range results {
		if r.err != nil {
			continue
		}
		if err := requests[i].attempt.BindTx(ctx, tx, r.order.ID); err != nil {
			return nil, err
		}
		if err := requests[i].counter.saleTx(tx, r.order); err != nil {
			return nil, err
		}
		if err := s.deps.Orders.PaidTx(ctx, tx, r.order); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// begunBy is the action that begins an order.
func begunBy(o orders.Order) state.Action {
	switch {
	case o.State == state.Reserved:
		return state.Reserve
	case o.OfBoxOffice():
		return state.SellAtCounter
	}
	return state.IssueFree
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
