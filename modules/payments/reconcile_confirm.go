package payments

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// confirm reads by its id what a list has told and the ledgers do not know: a row of a
// list that carries another object's id would be booked beside the true one.
func (s *Service) confirm(ctx context.Context, gateway Adapter, e Event) error {
	switch {
	case e.Dispute != nil && e.Gateway == GWB:
		all, err := gateway.ListDisputes(ctx, refOf(e.Dispute.PaymentID, e.Dispute.ChargeID))
		known := slices.ContainsFunc(all, func(d DisputeReport) bool { return d.ID == e.Dispute.ID })
		return confirmed(known, err)
	case e.Dispute != nil:
		_, err := gateway.ReadPayment(ctx, e.Dispute.PaymentID, "")
		return err
	case e.Refund != nil && !e.Refund.HasTotal:
		all, err := gateway.ListRefunds(ctx, refOf(e.Refund.PaymentID, e.Refund.ChargeID))
		for _, single := range e.Refund.Singles {
			known := slices.ContainsFunc(all, func(r RemoteRefund) bool { return r.ID == single.ID })
			if err := confirmed(known, err); err != nil {
				return err
			}
		}
		return err
	case e.Refund != nil && e.Gateway == GWA:
		_, err := gateway.ReadPayment(ctx, e.Refund.PaymentID, "")
		return err
	case e.Payment != nil && !isCharge(e.Payment.ID):
		_, err := gateway.ReadPayment(ctx, e.Payment.ID, "")
		return err
	}
	return nil
}

// isCharge reports whether a payment is a charge of gateway B without an intent, which no
// call of ours reads.
func isCharge(paymentID string) bool { return strings.HasPrefix(paymentID, "ch_") }

// refOf names a payment by its key among refunds: an intent, else the charge.
func refOf(paymentID, chargeID string) PaymentRef {
	if paymentID == chargeID {
		return PaymentRef{ChargeID: chargeID}
	}
	return PaymentRef{PaymentIntentID: paymentID, PaymentID: paymentID}
}

func confirmed(known bool, err error) error {
	if err == nil && !known {
		return fmt.Errorf("%w: a list told what is not there", ErrUnavailable)
	}
	return err
}
