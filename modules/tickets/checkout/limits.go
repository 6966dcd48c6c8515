package checkout

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// Limits of unpaid places, each of one event: without them somebody who pays for
// nothing keeps an event to themselves, 30 minutes and again.
const (
	unpaidPerPerson  = 10 // of a customer, an e-mail, a tax id
	unpaidPerAddress = 40 // of a client's network
	// crowdedPixTTL is how long a PIX holds its places while more than crowdedPercent of
	// all are held unpaid.
	crowdedPixTTL  = 10 * time.Minute
	crowdedPercent = 30
	// holdWait is when to try again where the places wait for others, who pay or not.
	holdWait = time.Minute
)

// holder is who takes places, besides the customer: each an HMAC, so that nobody finds a
// tax id, an e-mail or an address in an order, nor the same person at two events.
type holder struct{ taxID, email, address []byte }

// holderOf tells who takes places of an event. The address is a network: the IPv4
// address, or the /64 of an IPv6 address.
func (s *Checkout) holderOf(ctx context.Context, e events.Event, c accounts.Customer, b *Buyer) holder {
	taxID := c.TaxID
	if taxID == "" && b != nil {
		taxID = b.TaxID
	}
	h := holder{taxID: s.holderMAC("tax_id", e.ID, taxID), email: s.holderMAC("email", e.ID, accounts.Mailbox(c.Email))}
	if !s.deps.Config.NoHoldLimits {
		h.address = s.holderMAC("address", e.ID, httpapi.ClientNetwork(ctx))
	}
	return h
}

func (s *Checkout) holderMAC(kind string, event objectid.ID, value string) []byte {
	if value == "" {
		return nil
	}
	return secret.MAC(s.holders, kind, event.String(), value)[:16]
}

// limitKeys is what of it is written with an order: only what a limit asks for.
func (h holder) limitKeys(o orders.Order, e events.Event) holder {
	switch {
	case o.State == state.Reserved:
		return h
	case e.MaxPerPerson != nil:
		return holder{taxID: h.taxID, email: h.email}
	}
	return holder{}
}

// subject is somebody whose places of an event are counted.
type subject struct {
	event objectid.ID
	kind  subjectKind
	key   string
}

type subjectKind int

// The kinds, in the order of tickets.places_taken.
const (
	byCustomer subjectKind = iota
	byTaxID
	byEmail
	byAddress
)

func (w request) placesOf() [4]subject {
	e := w.event.ID
	return [4]subject{
		{e, byCustomer, w.customer.ID.String()},
		{e, byTaxID, string(w.holder.taxID)},
		{e, byEmail, string(w.holder.email)},
		{e, byAddress, string(w.holder.address)},
	}
}

// asGuest reports whether unpaid places of the order count as guests': an account that anybody
// makes in a second is no more than a made-up address.
func (w request) asGuest() bool { return w.withoutLogin || w.unproved }

// holding is how many places a subject has: unpaid ones, and with the paid ones.
type holding struct{ unpaid, taken int }

// holdings are those of the buyers whose orders wait for the lock of their events.
type holdings map[subject]holding

// subjectsOf are whose places have to be counted, each once, by kind.
func subjectsOf(requests []request) (by [4][]subject) {
	known := map[subject]bool{}
	for _, w := range requests {
		for _, sub := range w.placesOf() {
			if sub.key != "" && !known[sub] {
				known[sub] = true
				by[sub.kind] = append(by[sub.kind], sub)
			}
		}
	}
	return by
}

// record adds what was counted of an event: two numbers for each of its subjects, kind by
// kind. Nothing, where nothing bounds what one may have of it.
func (all holdings) record(event objectid.ID, by [4][]subject, counted []int32) {
	if len(counted) == 0 {
		return
	}
	for _, kind := range by {
		for _, sub := range kind {
			if sub.event == event {
				all[sub] = holding{unpaid: int(counted[0]), taken: int(counted[1])}
				counted = counted[2:]
			}
		}
	}
}

// lockAndCount locks the event and counts in the same statement.
func (s *Checkout) lockAndCount(ctx context.Context, tx pgx.Tx, requests []request) (onSale, holdings, error) {
	by, taken := subjectsOf(requests), holdings{}
	row, err := s.db.EventLockForSale(ctx, tx, ticketsdb.EventLockForSaleParams{
		ID: requests[0].event.ID, Customers: textsOf(by[byCustomer]),
		TaxIds: keysOf(by[byTaxID]), Emails: keysOf(by[byEmail]), Addresses: keysOf(by[byAddress]),
	})
	if err != nil {
		return nil, nil, err
	}
	taken.record(row.ID, by, row.Taken)
	return onSale{row.ID: eventOf(ticketsdb.EventLockManyForSaleRow(row))}, taken, nil
}

// lockManyAndCount does so for those of their events that nobody else has locked.
func (s *Checkout) lockManyAndCount(ctx context.Context, tx pgx.Tx, requests []request) (onSale, holdings, error) {
	by, taken, sale := subjectsOf(requests), holdings{}, onSale{}
	rows, err := s.db.EventLockManyForSale(ctx, tx, ticketsdb.EventLockManyForSaleParams{
		Ids:            eventsOf(by[byCustomer]),
		CustomerEvents: eventsOf(by[byCustomer]), Customers: textsOf(by[byCustomer]),
		TaxIDEvents: eventsOf(by[byTaxID]), TaxIds: keysOf(by[byTaxID]),
		EmailEvents: eventsOf(by[byEmail]), Emails: keysOf(by[byEmail]),
		AddressEvents: eventsOf(by[byAddress]), Addresses: keysOf(by[byAddress]),
	})
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		sale[row.ID] = eventOf(row)
		taken.record(row.ID, by, row.Taken)
	}
	return sale, taken, nil
}

func eventOf(row ticketsdb.EventLockManyForSaleRow) *events.Event {
	return &events.Event{
		ID: row.ID, Title: row.Title, EndsAt: row.EndsAt, Capacity: row.Capacity, TicketsIssued: row.TicketsIssued,
		TicketValueCents: row.TicketValueCents,
		IsSaleBoxOffice:  row.IsSaleBoxOffice, ImageID: row.ImageID, IsActive: row.IsActive,
		MaxPerPerson: row.MaxPerPerson, PlacesUnpaid: row.PlacesUnpaid, PlacesUnpaidGuests: row.PlacesUnpaidGuests,
	}
}

func eventsOf(subjects []subject) []string {
	ids := make([]string, len(subjects))
	for i, sub := range subjects {
		ids[i] = sub.event.String()
	}
	return ids
}

func textsOf(subjects []subject) []string {
	texts := make([]string, len(subjects))
	for i, sub := range subjects {
		texts[i] = sub.key
	}
	return texts
}

func keysOf(subjects []subject) [][]byte {
	keys := make([][]byte, len(subjects))
	for i, sub := range subjects {
		keys[i] = []byte(sub.key)
	}
	return keys
}

// add counts an order that has got its places, for those behind it.
func (all holdings) add(e *events.Event, w request) {
	e.TicketsIssued += int32(w.quantity) //nolint:gosec // at most MaxQuantity
	unpaid := 0
	if w.gateway != nil {
		unpaid = w.quantity
	}
	e.PlacesUnpaid += int32(unpaid) //nolint:gosec // at most MaxQuantity
	if w.asGuest() {
		e.PlacesUnpaidGuests += int32(unpaid) //nolint:gosec // at most MaxQuantity
	}
	for _, sub := range w.placesOf() {
		h := all[sub]
		all[sub] = holding{unpaid: h.unpaid + unpaid, taken: h.taken + w.quantity}
	}
}

// ofPerson is the most that the customer, the tax id or the e-mail of an order has.
func (all holdings) ofPerson(w request) holding {
	var most holding
	for _, sub := range w.placesOf() {
		if sub.kind != byAddress && sub.key != "" {
			most.unpaid, most.taken = max(most.unpaid, all[sub].unpaid), max(most.taken, all[sub].taken)
		}
	}
	return most
}

// withinLimits refuses an order by which one person would have more places than the
// event sells to one (409), or more would be held unpaid than may be by one person, from
// one network, or by guests and accounts that proved no e-mail (429): those at most half of the places that are free
// but for theirs, rounded up, so that the last one can be bought.
func (s *Checkout) withinLimits(e events.Event, taken holdings, w request) error {
	person := taken.ofPerson(w)
	if e.MaxPerPerson != nil && person.taken+w.quantity > int(*e.MaxPerPerson) {
		return errTooManyForOne(e)
	}
	if w.gateway == nil || s.deps.Config.NoHoldLimits {
		return nil
	}
	if most := max(unpaidPerPerson, s.deps.Config.MaxQuantity); person.unpaid+w.quantity > most {
		return fault.TooManyRequests(s.deps.Config.PixTTL,
			"At most %s of an event may wait for one person's payment at a time. Pay for those, or wait up to %s until they are released.",
			fault.Count(most, "place"), fault.Count(int(s.deps.Config.PixTTL.Minutes()), "minute"))
	}
	if taken[w.placesOf()[byAddress]].unpaid+w.quantity > unpaidPerAddress && w.holder.address != nil {
		return fault.TooManyRequests(holdWait,
			"At most %s of an event may wait for payment from one network at a time. Try again in %s.",
			fault.Count(unpaidPerAddress, "place"), fault.Seconds(holdWait))
	}
	if !w.asGuest() || e.Capacity == nil {
		return nil
	}
	free := int(*e.Capacity) - int(e.TicketsIssued) + int(e.PlacesUnpaidGuests)
	if 2*(int(e.PlacesUnpaidGuests)+w.quantity) > free+1 {
		return fault.TooManyRequests(holdWait,
			"At most half of the free places of an event may wait for the payment of buyers who are not signed in, or have not verified their e-mail. Sign in or verify it, take fewer places, or try again in %s.",
			fault.Seconds(holdWait))
	}
	return nil
}

// crowded reports whether so many places are held unpaid that new ones are held shorter.
func (s *Checkout) crowded(e events.Event) bool {
	return !s.deps.Config.NoHoldLimits && e.Capacity != nil &&
		100*int64(e.PlacesUnpaid) > crowdedPercent*int64(*e.Capacity)
}

func errTooManyForOne(e events.Event) *fault.Error {
	return fault.Conflict("One person can have at most %s of this event, paid for or waiting for payment.",
		fault.Count(int(*e.MaxPerPerson), "place")).WithField("quantity")
}

// subjects are whom declines count against: the client's address, the card, and
// the buyer. Each is an HMAC, so that nobody finds a card number, an address or an
// e-mail in them.
type subjects struct{ address, card, buyer []byte }

// subjects of a payment; buyer is the account's e-mail, a guest's too.
func (s *Checkout) subjects(ctx context.Context, instrument gateway.Instrument, buyer string) subjects {
	card := instrument.PaymentMethodID
	if instrument.Card != nil {
		card = instrument.Card.Number.Reveal()
	}
	return subjects{
		address: secret.MAC(s.declines, "address", httpapi.ClientIP(ctx)),
		card:    secret.MAC(s.declines, "card", card),
		buyer:   secret.MAC(s.declines, "buyer", accounts.Mailbox(buyer)),
	}
}

// checkDeclines answers 429 when one of the subjects has had too many cards
// declined lately: whoever tries stolen numbers does not try many.
func (s *Checkout) checkDeclines(ctx context.Context, sub subjects) error {
	n, err := s.db.DeclineCount(ctx, s.deps.Pool, ticketsdb.DeclineCountParams{
		AddressMac: sub.address, CardMac: sub.card, BuyerMac: sub.buyer,
		Since: s.deps.Clock.Now().Add(-s.deps.Config.DeclineWindow),
	})
	if err != nil {
		return fmt.Errorf("count declines: %w", err)
	}
	return s.withinDeclines(n)
}

// withinDeclines answers 429 for as many declines.
func (s *Checkout) withinDeclines(n ticketsdb.DeclineCountRow) error {
	if int(n.Address) >= s.deps.Config.DeclinesPerAddress || int(n.Card) >= s.deps.Config.DeclinesPerCard ||
		int(n.Buyer) >= s.deps.Config.DeclinesPerBuyer {
		return fault.TooManyRequests(s.deps.Config.DeclineWindow,
			"Too many declined payments. Wait up to %s, or pay by PIX.",
			fault.Count(int(s.deps.Config.DeclineWindow.Minutes()), "minute"))
	}
	return nil
}

// queueDeclines counts the recent declines of those who order, by their places, with the statement that locks their
// events. What it returns reads them.
func (s *Checkout) queueDeclines(ctx context.Context, tx pgx.Tx,
	requests []request,
) (read func() (map[int]ticketsdb.DeclineCountRow, error)) {
	p := ticketsdb.DeclineCountManyParams{Since: s.deps.Clock.Now().Add(-s.deps.Config.DeclineWindow)}
	for i, w := range requests {
		if w.tried != nil {
			p.Places = append(p.Places, int32(i)) //nolint:gosec // at most maxTogether
			p.AddressMacs, p.CardMacs = append(p.AddressMacs, w.tried.address), append(p.CardMacs, w.tried.card)
			p.BuyerMacs = append(p.BuyerMacs, w.tried.buyer)
		}
	}
	counted := map[int]ticketsdb.DeclineCountRow{}
	if len(p.Places) == 0 {
		return func() (map[int]ticketsdb.DeclineCountRow, error) { return counted, nil }
	}
	asked := postgres.Queue(tx, func(db postgres.DB) ([]ticketsdb.DeclineCountManyRow, error) {
		return s.db.DeclineCountMany(ctx, db, p)
	})
	return func() (map[int]ticketsdb.DeclineCountRow, error) {
		rows, err := asked.Get(ctx)
		if err != nil {
			return nil, fmt.Errorf("count declines: %w", err)
		}
		for _, row := range rows {
			counted[int(row.Place)] = ticketsdb.DeclineCountRow{Address: row.Address, Card: row.Card, Buyer: row.Buyer}
		}
		return counted, nil
	}
}

func (s *Checkout) recordDecline(ctx context.Context, sub subjects) error {
	err := s.db.DeclineInsert(ctx, s.deps.Pool, ticketsdb.DeclineInsertParams{
		AddressMac: sub.address, CardMac: sub.card, BuyerMac: sub.buyer, At: s.deps.Clock.Now(),
	})
	if err != nil {
		return fmt.Errorf("note decline: %w", err)
	}
	return nil
}
