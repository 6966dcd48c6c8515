package selfservice

import (
	"context"
	"strings"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// renewal is what a customer renews with: a card for gateway A, or a card's token
// for gateway B.
type renewal struct {
	card     gateway.CardBody
	holder   gateway.CardHolderBody
	token    gateway.PaymentMethodBody
	remoteIP string
}

// renew replaces the customer's subscription by a new one of the same plan at the
// same gateway, by card (docs/contract/subscriptions.md, Renewing). An active one goes on until the gateway took the
// card, and the new one charges first when its paid time ends; a refused card changes nothing. A pending one gives no
// access, and ends in the commit that begins the new one.
func (s *SelfService) renew(ctx context.Context, customerID objectid.ID, r renewal) (checkout.CardOutcome, error) {
	old, err := s.deps.Reads.Current(ctx, customerID)
	if err != nil {
		return checkout.CardOutcome{}, err
	}
	if old.Status == state.Suspended && old.HasChargeback {
		return checkout.CardOutcome{},
			fault.BadRequest("A payment of the subscription is disputed: it cannot be renewed until the bank has decided. You can cancel it and subscribe again.")
	}
	if status := old.Status; status != state.Active && status != state.Pending {
		return checkout.CardOutcome{},
			fault.BadRequest("A %s subscription cannot be renewed. Change the card to pay what is open, or cancel it and subscribe again.", old.Status)
	}
	if r.empty() && old.Resumable() && old.Traits().EndsWithPeriod {
		return s.resume(ctx, old)
	}
	o := checkout.CardOrder{CustomerID: customerID, PlanID: old.PlanID, Renews: &old}
	if o.Instrument, err = r.instrument(old.Gateway); err != nil {
		return checkout.CardOutcome{}, err
	}
	if old.IntentOpen {
		return checkout.CardOutcome{},
			s.deps.Checkout.ConflictWith(ctx, s.deps.Pool, old.StandIn(state.Pending))
	}
	if _, err := s.deps.Plans.SellablePlan(ctx, s.deps.Pool, old.PlanID); err != nil {
		return checkout.CardOutcome{}, err
	}
	if old.Status == state.Active {
		if err := s.deps.Checkout.DropWaiting(ctx, customerID); err != nil {
			return checkout.CardOutcome{}, err
		}
	}
	if old.Status == state.Pending && old.PaymentMethod == gateway.MethodPix {
		if old, err = s.dropForRenewal(ctx, old); err != nil {
			return checkout.CardOutcome{}, err
		}
	}
	out, err := s.deps.Checkout.SubscribeCard(ctx, old.Gateway, o)
	if err != nil {
		return out, err
	}
	return s.finishRenewal(ctx, out)
}

// finishRenewal ends the replaced subscription at its gateway at once, which a job would
// do, and words the answer, which is that of a new subscription (docs/contract/subscriptions.md, Renewing): pending,
// also once the gateway took the card.
func (s *SelfService) finishRenewal(ctx context.Context, out checkout.CardOutcome) (checkout.CardOutcome, error) {
	switch waited := out.Sub.RenewsID != nil; {
	case waited && out.Sub.Status == state.Active:
		old, err := s.db.SubscriptionGet(ctx, s.deps.Pool, *out.Sub.RenewsID)
		if err == nil && old.Status.Ended() {
			_, err = s.deps.Calls.EndNow(ctx, old)
		}
		if err != nil {
			return out, err
		}
	case waited && out.Sub.Status.Ended():
		out.Message = strings.TrimSpace(out.Message + " Your current subscription goes on.")
	}
	return s.asBegun(out), nil
}

// asBegun shows a renewal as it began.
func (s *SelfService) asBegun(out checkout.CardOutcome) checkout.CardOutcome {
	if out.Sub.Status != state.Active {
		return out
	}
	out.Sub.Status, out.Sub.StartedAt = state.Pending, nil
	if out.Sub.StartsAt != nil {
		out.Message = "The card was accepted: it is charged first on " +
			s.deps.Calendar.Day(s.deps.Calendar.FirstDue(out.Sub)) + "."
	}
	return out
}

// dropForRenewal makes an open PIX unpayable before its row is replaced, and answers
// the row as it is after; one that has just been paid stays.
func (s *SelfService) dropForRenewal(ctx context.Context, old lifecycle.Subscription) (lifecycle.Subscription, error) {
	if _, err := s.deps.Recovery.Drop(ctx, old, state.Replaced, state.ByCustomer); err != nil {
		return lifecycle.Subscription{}, s.deps.Payments.Refused(ctx, "cancel PIX", err)
	}
	after, err := s.db.SubscriptionGet(ctx, s.deps.Pool, old.ID)
	if err == nil && after.Status == state.Active {
		return lifecycle.Subscription{}, fault.Conflict("Your PIX has just been paid: the subscription is active.")
	}
	return after, err
}

// empty reports whether the request holds no card data at all.
func (r renewal) empty() bool { return !r.card.Given() && !r.holder.Given() && !r.token.Given() }

func (r renewal) instrument(gw gateway.Name) (gateway.Instrument, error) {
	i := gateway.Instrument{RemoteIP: r.remoteIP}
	var err error
	if gw.Traits().TakesTokens {
		i.PaymentMethodID, err = r.token.Read()
		return i, err
	}
	if i.Card, err = r.card.Read(); err != nil {
		return i, err
	}
	i.Holder, err = r.holder.Read()
	return i, err
}

// ReplayRenewal answers a repeated PUT /customers/me/subscription/renew.
func (h Handlers) ReplayRenewal(ctx context.Context, id objectid.ID) (*httpapi.Output[renewedBody], error) {
	sub, err := h.service.deps.Checkout.Replay(ctx, id)
	if err != nil {
		return nil, err
	}
	return renewedOutput(h.service.asBegun(checkout.CardOutcome{Sub: sub}))
}
