package orders

import (
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/state"
	"marquee/platform/money"
)

// AdoptAfter is when an order whose outcome is open has to have an intent of its own:
// the release before the schedule of looks makes orders without, and recovers by
// recovery_at, which lies so far ahead that it leaves the orders of this one alone.
const AdoptAfter = 10 * time.Minute

// Payable reports whether an order's places are held and its code can be paid.
func Payable(o Order, now time.Time) bool {
	return o.State == state.Reserved && o.PixPayload != nil && o.HoldUntil != nil && o.HoldUntil.After(now)
}

// PixTerms are the terms of an order that is paid by PIX.
func (s *Store) PixTerms(o Order, payer gateway.Payer, description string) gateway.PixTerms {
	terms := gateway.PixTerms{
		Reference: o.ID, Kind: gateway.KindTicketOrder, Payer: payer, Amount: money.Cents(o.TotalCents), Description: description,
		DueDate: o.CreatedAt.In(s.cfg.Zone), ExpiresIn: s.cfg.PixTTL,
	}
	if o.HoldUntil != nil {
		terms.ExpiresIn = o.HoldUntil.Sub(o.CreatedAt)
	}
	return terms
}

// CardTerms are the terms of an order that is paid by card.
func CardTerms(o Order, payer gateway.Payer, description string, instrument gateway.Instrument) gateway.CardTerms {
	return gateway.CardTerms{
		Reference: o.ID, Kind: gateway.KindTicketOrder, Payer: payer, Amount: money.Cents(o.TotalCents), Description: description, Instrument: instrument,
	}
}
