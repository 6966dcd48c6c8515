package reconcile

import (
	"context"
	"fmt"
	"slices"

	"marquee/modules/payments/gateway"
)

// confirm reads by its id what a list has told and the ledgers do not know: a row of a
// list that carries another object's id would be booked beside the true one.
func (s *Reconciler) confirm(ctx context.Context, gw gateway.Adapter, e gateway.Event) error {
	switch {
	case e.Dispute != nil && e.Gateway == gateway.GWB:
		all, err := gw.ListDisputes(ctx, refOf(e.Dispute.PaymentID, e.Dispute.ChargeID))
		known := slices.ContainsFunc(all, func(d gateway.DisputeReport) bool { return d.ID == e.Dispute.ID })
		return confirmed(known, err)
	case e.Dispute != nil:
		_, err := gw.ReadPayment(ctx, e.Dispute.PaymentID, "")
		return err
	case e.Refund != nil && !e.Refund.HasTotal:
		all, err := gw.ListRefunds(ctx, refOf(e.Refund.PaymentID, e.Refund.ChargeID))
		for _, single := range e.Refund.Singles {
			known := slices.ContainsFunc(all, func(r gateway.RemoteRefund) bool { return r.ID == single.ID })
			if err := confirmed(known, err); err != nil {
				return err
			}
		}
		return err
	case e.Refund != nil && e.Gateway == gateway.GWA:
		_, err := gw.ReadPayment(ctx, e.Refund.PaymentID, "")
		return err
	case e.Payment != nil && !gateway.IsCharge(e.Payment.ID):
		_, err := gw.ReadPayment(ctx, e.Payment.ID, "")
		return err
	}
	return nil
}

// refOf names a payment by its key among refunds: an intent, else the charge.
func refOf(paymentID, chargeID string) gateway.PaymentRef {
	if paymentID == chargeID {
		return gateway.PaymentRef{ChargeID: chargeID}
	}
	return gateway.PaymentRef{PaymentIntentID: paymentID, PaymentID: paymentID}
}

func confirmed(known bool, err error) error {
	if err == nil && !known {
		return fmt.Errorf("%w: a list told what is not there", gateway.ErrUnavailable)
	}
	return err
}
