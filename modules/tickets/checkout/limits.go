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

// The kinds, in the order of tickets.places_taken, and those of tickets.declines_taken, which are of no event.
const (
	byCustomer subjectKind = iota
	byTaxID
	byEmail
	byAddress
	triedFromAddress
	triedCard
	triedByBuyer
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

// holding is how many places a subject has: unpaid ones, and with the paid ones. Of one that pays by card, how many
// were declined lately, and with those that may be, since their answer is not there.
type holding struct{ unpaid, taken, declined, tried int }

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

// recordDeclines adds what was counted of those who pay an event by card: two numbers for each of their subjects.
// Nothing, where somebody else counts one of them in this moment.
func (all holdings) recordDeclines(event objectid.ID, requests []request, counted []int32) {
	for _, w := range requests {
		for _, sub := range w.tried.counted() {
			if w.event.ID == event && len(counted) > 0 {
				all[sub] = holding{declined: int(counted[0]), tried: int(counted[1])}
				counted = counted[2:]
			}
		}
	}
}

// lockAndCount locks the event and counts in the same statement.
func (s *Checkout) lockAndCount(ctx context.Context, tx pgx.Tx, requests []request) (onSale, holdings, error) {
	by, tried, taken := subjectsOf(requests), triedBy(requests), holdings{}
	row, err := s.db.EventLockForSale(ctx, tx, ticketsdb.EventLockForSaleParams{
		ID: requests[0].event.ID, Customers: textsOf(by[byCustomer]),
		TaxIds: keysOf(by[byTaxID]), Emails: keysOf(by[byEmail]), Addresses: keysOf(by[byAddress]),
		TriedAddresses: tried.addresses, TriedCards: tried.cards, TriedBuyers: tried.buyers, Since: s.declinesSince(),
	})
	if err != nil {
		return nil, nil, err
	}
	taken.record(row.ID, by, row.Taken)
	taken.recordDeclines(row.ID, requests, row.Declines)
	return onSale{row.ID: eventOf(ticketsdb.EventLockManyForSaleRow(row))}, taken, nil
}

// lockManyAndCount does so for those of their events that nobody else has locked.
func (s *Checkout) lockManyAndCount(ctx context.Context, tx pgx.Tx, requests []request) (onSale, holdings, error) {
	by, tried, taken, sale := subjectsOf(requests), triedBy(requests), holdings{}, onSale{}
	rows, err := s.db.EventLockManyForSale(ctx, tx, ticketsdb.EventLockManyForSaleParams{
		Ids:            eventsOf(by[byCustomer]),
		CustomerEvents: eventsOf(by[byCustomer]), Customers: textsOf(by[byCustomer]),
		TaxIDEvents: eventsOf(by[byTaxID]), TaxIds: keysOf(by[byTaxID]),
		EmailEvents: eventsOf(by[byEmail]), Emails: keysOf(by[byEmail]),
		AddressEvents: eventsOf(by[byAddress]), Addresses: keysOf(by[byAddress]),
		TriedEvents: tried.events, TriedAddresses: tried.addresses, TriedCards: tried.cards, TriedBuyers: tried.buyers,
		Since: s.declinesSince(),
	})
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		sale[row.ID] = eventOf(row)
		taken.record(row.ID, by, row.Taken)
		taken.recordDeclines(row.ID, requests, row.Declines)
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
	for _, sub := range w.tried.counted() {
		h := all[sub]
		h.tried++
		all[sub] = h
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

// counted are the subjects by which declines are counted; none of a payment without a card.
func (sub *subjects) counted() []subject {
	if sub == nil {
		return nil
	}
	return []subject{
		{kind: triedFromAddress, key: string(sub.address)},
		{kind: triedCard, key: string(sub.card)},
		{kind: triedByBuyer, key: string(sub.buyer)},
	}
}

// tried are the cards of several payments, in lists of one length, each with the event that it is to pay.
type tried struct {
	events                   []string
	addresses, cards, buyers [][]byte
}

func triedBy(requests []request) (t tried) {
	for _, w := range requests {
		if w.tried != nil {
			t.events, t.addresses = append(t.events, w.event.ID.String()), append(t.addresses, w.tried.address)
			t.cards, t.buyers = append(t.cards, w.tried.card), append(t.buyers, w.tried.buyer)
		}
	}
	return t
}

// declinesSince is from when on declines count.
func (s *Checkout) declinesSince() time.Time {
	return s.deps.Clock.Now().Add(-s.deps.Config.DeclineWindow)
}

// checkDeclines answers 429 when one of the subjects has had too many cards declined lately, or has so many payments
// under way that they may be: whoever tries stolen numbers does not try many. What is counted here is counted again
// with the lock of the event, which bounds those that come at once.
func (s *Checkout) checkDeclines(ctx context.Context, sub subjects) error {
	n, err := s.db.DeclineCount(ctx, s.deps.Pool, ticketsdb.DeclineCountParams{
		AddressMac: sub.address, CardMac: sub.card, BuyerMac: sub.buyer, Since: s.declinesSince(),
	})
	if err != nil {
		return fmt.Errorf("count declines: %w", err)
	}
	by := sub.counted()
	return s.withinDeclines(holdings{
		by[0]: {declined: int(n.Address), tried: int(n.AddressTried)},
		by[1]: {declined: int(n.Card), tried: int(n.CardTried)},
		by[2]: {declined: int(n.Buyer), tried: int(n.BuyerTried)},
	}, &sub)
}

// underWayWait is when to try again where the answers to other payments decide.
const underWayWait = 2 * time.Second

// withinDeclines answers 429 for as many declines of a subject, or as many that there may be: a payment whose answer is
// not there counts as declined. errEventQueue where somebody else counts in this moment.
func (s *Checkout) withinDeclines(all holdings, sub *subjects) error {
	most := map[subjectKind]int{
		triedFromAddress: s.deps.Config.DeclinesPerAddress, triedCard: s.deps.Config.DeclinesPerCard,
		triedByBuyer: s.deps.Config.DeclinesPerBuyer,
	}
	waits := false
	for _, of := range sub.counted() {
		n, counted := all[of]
		if !counted {
			return errEventQueue
		}
		if n.declined >= most[of.kind] {
			return fault.TooManyRequests(s.deps.Config.DeclineWindow,
				"Too many declined payments. Wait up to %s, or pay by PIX.",
				fault.Count(int(s.deps.Config.DeclineWindow.Minutes()), "minute"))
		}
		waits = waits || n.tried >= most[of.kind]
	}
	if waits && !s.deps.Config.NoHoldLimits {
		return fault.TooManyRequests(underWayWait,
			"Too many card payments are under way. Try again in %s, or pay by PIX.", fault.Seconds(underWayWait))
	}
	return nil
}
