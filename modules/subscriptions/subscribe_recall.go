package subscriptions

import (
	"context"
	"fmt"

	"marquee/modules/payments"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
)

// recall tells what became of the subscription of a request that was cut off
// (httpapi.Idempotent). While the gateway's answer is open nobody knows; one that
// ended unpaid cost nothing, so that the request may run anew.
func (s *Checkout) recall(ctx context.Context, id objectid.ID) (row, error) {
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	switch {
	case err != nil:
		return row{}, fmt.Errorf("read subscription: %w", err)
	case Status(sub.Status).Ended() && sub.StartedAt == nil:
		return row{}, httpapi.ErrCameToNothing
	case sub.IntentOpen:
		return row{}, idempotency.InProgress()
	}
	return sub, nil
}

// recallCardGWB reads a pending subscription live, since a client secret is kept
// nowhere.
func (h checkoutHandlers) recallCardGWB(ctx context.Context, id objectid.ID) (*envelope, error) {
	sub, err := h.service.recall(ctx, id)
	if err != nil {
		return nil, err
	}
	out := cardOutcome{sub: sub, paymentStatus: string(payments.Succeeded)}
	if Status(sub.Status) == Pending {
		out.paymentStatus = string(payments.OutcomeUnknown)
		if out.sub, out.clientSecret, err = h.service.recovery.resolve(ctx, sub); err != nil {
			return nil, payments.FaultOf(err)
		}
		switch {
		case out.clientSecret != "":
			out.paymentStatus = string(payments.RequiresAction)
		case Status(out.sub.Status) == Active:
			out.paymentStatus = string(payments.Succeeded)
		case Status(out.sub.Status).Ended():
			return nil, httpapi.ErrCameToNothing
		}
	}
	return cardGWBEnvelope(ctx, out), nil
}

func (h checkoutHandlers) recallCardGWA(ctx context.Context, id objectid.ID) (*envelope, error) {
	sub, err := h.service.recall(ctx, id)
	if err != nil {
		return nil, err
	}
	out := cardOutcome{sub: sub, paymentStatus: "PENDING"}
	if Status(sub.Status) == Active {
		out.paymentStatus = "CONFIRMED"
	}
	return cardGWAEnvelope(ctx, out), nil
}

func (h checkoutHandlers) recallPixGWA(ctx context.Context, id objectid.ID) (*envelope, error) {
	sub, err := h.service.recall(ctx, id)
	if err != nil {
		return nil, err
	}
	return pixGWAEnvelope(ctx, pixOutcome{sub: sub}), nil
}

// recallPixGWB reads the client secret at the gateway, since it is kept nowhere.
func (h checkoutHandlers) recallPixGWB(ctx context.Context, id objectid.ID) (*envelope, error) {
	sub, err := h.service.recall(ctx, id)
	if err != nil {
		return nil, err
	}
	var charge payments.PixCharge
	if Status(sub.Status) == Pending && sub.PixPaymentID != nil {
		gateway, err := h.service.payments.Gateway(payments.GWB)
		if err != nil {
			return nil, payments.FaultOf(err)
		}
		if charge, err = gateway.ReadPix(ctx, *sub.PixPaymentID, sub.ID); err != nil {
			return nil, h.service.payments.Refused(ctx, "read PIX", err)
		}
	}
	return pixGWBEnvelope(ctx, pixOutcome{sub: sub, clientSecret: charge.ClientSecret}), nil
}

func (h ownHandlers) recallRenewal(ctx context.Context, id objectid.ID) (*httpapi.Output[renewedBody], error) {
	sub, err := h.service.checkout.recall(ctx, id)
	if err != nil {
		return nil, err
	}
	return renewedOutput(h.service.asBegun(cardOutcome{sub: sub}))
}
