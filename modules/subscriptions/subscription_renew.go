package subscriptions

import (
	"context"
	"strings"

	"marquee/modules/payments"
	"marquee/platform/fault"
	"marquee/platform/objectid"
)

// renewal is what a customer renews with: a card for gateway A, or a card's token
// for gateway B.
type renewal struct {
	card     payments.CardBody
	holder   payments.CardHolderBody
	token    payments.PaymentMethodBody
	remoteIP string
}

// renew replaces the customer's subscription by a new one of the same plan at the
// same gateway, by card (specification, Billing, gateway B, Renew). An active one goes
// on until the gateway took the card, and the new one charges first when its paid time
// ends; a refused card changes nothing (open-shapes, section 5). A pending one gives no
// access, and ends in the commit that begins the new one.
func (s *Own) renew(ctx context.Context, customerID objectid.ID, r renewal) (cardOutcome, error) {
	old, err := s.reads.current(ctx, customerID)
	if err != nil {
		return cardOutcome{}, err
	}
	if Status(old.Status) == Suspended && old.HasChargeback {
		return cardOutcome{}, fault.Bad("A payment of the subscription is disputed: it cannot be renewed until the bank has decided. You can cancel it and subscribe anew.")
	}
	if status := Status(old.Status); status != Active && status != Pending {
		return cardOutcome{}, fault.Bad("A %s subscription cannot be renewed. Change the card to pay what is open, or cancel it and subscribe anew.", old.Status)
	}
	if r.empty() && resumable(old) && old.Gateway == string(payments.GWB) {
		return s.resumeOwn(ctx, old)
	}
	o := cardOrder{customerID: customerID, planID: old.PlanID, renews: &old}
	if o.instrument, err = r.instrument(payments.GatewayName(old.Gateway)); err != nil {
		return cardOutcome{}, err
	}
	if old.IntentOpen {
		return cardOutcome{}, s.checkout.conflictWith(ctx, s.pool, Pending.standIn(old))
	}
	if _, err := s.plans.sellablePlan(ctx, old.PlanID); err != nil {
		return cardOutcome{}, err
	}
	if Status(old.Status) == Active {
		if err := s.checkout.dropWaiting(ctx, customerID); err != nil {
			return cardOutcome{}, err
		}
	}
	if Status(old.Status) == Pending && old.PaymentMethod == string(payments.MethodPix) {
		if old, err = s.dropForRenewal(ctx, old); err != nil {
			return cardOutcome{}, err
		}
	}
	subscribe := s.checkout.subscribeGWB
	if old.Gateway == string(payments.GWA) {
		subscribe = s.checkout.subscribeGWA
	}
	out, err := subscribe(ctx, o)
	if err != nil {
		return out, err
	}
	return s.tellRenewal(ctx, out)
}

// tellRenewal ends the replaced subscription at its gateway at once, which a job would
// do, and words the answer, which is that of a new subscription (specification,
// Billing, gateway B, Renew): pending, also once the gateway took the card.
func (s *Own) tellRenewal(ctx context.Context, out cardOutcome) (cardOutcome, error) {
	switch waited := out.sub.RenewsID != nil; {
	case waited && Status(out.sub.Status) == Active:
		old, err := s.db.GetSubscription(ctx, s.pool, *out.sub.RenewsID)
		if err == nil && Status(old.Status).Ended() {
			_, err = s.calls.endNow(ctx, old)
		}
		if err != nil {
			return out, err
		}
	case waited && Status(out.sub.Status).Ended():
		out.message = strings.TrimSpace(out.message + " Your present subscription goes on.")
	}
	return s.asBegun(out), nil
}

// asBegun shows a renewal as it began.
func (s *Own) asBegun(out cardOutcome) cardOutcome {
	if Status(out.sub.Status) != Active {
		return out
	}
	out.sub.Status, out.sub.StartedAt = string(Pending), nil
	if out.sub.StartsAt != nil {
		out.message = "The card was accepted: it is charged first on " + s.calendar.day(s.calendar.firstDue(out.sub)) + "."
	}
	return out
}

// dropForRenewal makes an open PIX unpayable before its row is replaced, and answers
// the row as it is after; one that has just been paid stays.
func (s *Own) dropForRenewal(ctx context.Context, old row) (row, error) {
	if err := s.recovery.dropPix(ctx, old, Replaced, ByCustomer); err != nil {
		return row{}, s.payments.Refused(ctx, "cancel PIX", err)
	}
	after, err := s.db.GetSubscription(ctx, s.pool, old.ID)
	if err == nil && Status(after.Status) == Active {
		return row{}, fault.Conflict("Your PIX has just been paid: the subscription is active.")
	}
	return after, err
}

// empty reports whether the request holds no card data at all.
func (r renewal) empty() bool { return !r.card.Given() && !r.holder.Given() && !r.token.Given() }

func (r renewal) instrument(gateway payments.GatewayName) (payments.Instrument, error) {
	i := payments.Instrument{RemoteIP: r.remoteIP}
	var err error
	if gateway == payments.GWB {
		i.PaymentMethodID, err = r.token.Read()
		return i, err
	}
	if i.Card, err = r.card.Read(); err != nil {
		return i, err
	}
	i.Holder, err = r.holder.Read()
	return i, err
}
