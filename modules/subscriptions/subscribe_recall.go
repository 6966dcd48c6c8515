package subscriptions

import (
	"context"
	"fmt"

	"marquee/modules/payments"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/objectid"
)

// Recall tells what became of the subscription of a request that was cut off
// (httpapi.Idempotent). While the gateway's answer is open nobody knows; one that
// ended unpaid cost nothing, so that the request may run anew.
func (s *Checkout) Recall(ctx context.Context, id objectid.ID) (Row, error) {
	sub, err := s.db.GetSubscription(ctx, s.pool, id)
	switch {
	case err != nil:
		return Row{}, fmt.Errorf("read subscription: %w", err)
	case Status(sub.Status).Ended() && sub.StartedAt == nil:
		return Row{}, httpapi.ErrCameToNothing
	case sub.IntentOpen:
		return Row{}, idempotency.InProgress()
	}
	return sub, nil
}

// RecallCardGWB reads a pending subscription live, since a client secret is kept
// nowhere.
func (h checkoutHandlers) RecallCardGWB(ctx context.Context, id objectid.ID) (*Envelope, error) {
	sub, err := h.service.Recall(ctx, id)
	if err != nil {
		return nil, err
	}
	out := CardOutcome{Sub: sub, PaymentStatus: string(payments.Succeeded)}
	if Status(sub.Status) == Pending {
		out.PaymentStatus = string(payments.OutcomeUnknown)
		if out.Sub, out.clientSecret, err = h.service.recovery.Resolve(ctx, sub); err != nil {
			return nil, payments.FaultOf(err)
		}
		switch {
		case out.clientSecret != "":
			out.PaymentStatus = string(payments.RequiresAction)
		case Status(out.Sub.Status) == Active:
			out.PaymentStatus = string(payments.Succeeded)
		case Status(out.Sub.Status).Ended():
			return nil, httpapi.ErrCameToNothing
		}
	}
	return cardGWBEnvelope(ctx, out), nil
}

func (h checkoutHandlers) RecallCardGWA(ctx context.Context, id objectid.ID) (*Envelope, error) {
	sub, err := h.service.Recall(ctx, id)
	if err != nil {
		return nil, err
	}
	out := CardOutcome{Sub: sub, PaymentStatus: "PENDING"}
	if Status(sub.Status) == Active {
		out.PaymentStatus = "CONFIRMED"
	}
	return cardGWAEnvelope(ctx, out), nil
}

func (h checkoutHandlers) RecallPixGWA(ctx context.Context, id objectid.ID) (*Envelope, error) {
	sub, err := h.service.Recall(ctx, id)
	if err != nil {
		return nil, err
	}
	return pixGWAEnvelope(ctx, pixOutcome{sub: sub}), nil
}

// RecallPixGWB reads the client secret at the gateway, since it is kept nowhere.
func (h checkoutHandlers) RecallPixGWB(ctx context.Context, id objectid.ID) (*Envelope, error) {
	sub, err := h.service.Recall(ctx, id)
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

func (h ownHandlers) RecallRenewal(ctx context.Context, id objectid.ID) (*httpapi.Output[renewedBody], error) {
	sub, err := h.service.checkout.Recall(ctx, id)
	if err != nil {
		return nil, err
	}
	return renewedOutput(h.service.asBegun(CardOutcome{Sub: sub}))
}
