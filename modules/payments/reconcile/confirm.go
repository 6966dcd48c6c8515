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
	switch p := e.Payload.(type) {
	case gateway.DisputeChange:
		if e.Gateway.Traits().Invoices {
			all, err := gw.ListDisputes(ctx, refOf(p.Report.PaymentID, p.Report.ChargeID))
			known := slices.ContainsFunc(all, func(d gateway.DisputeReport) bool { return d.ID == p.Report.ID })
			return confirmed(known, err)
		}
		_, err := gw.ReadPayment(ctx, p.Report.PaymentID, "")
		return err
	case gateway.RefundChange:
		if !p.Report.HasTotal {
			return confirmSingles(ctx, gw, p.Report)
		}
		if !e.Gateway.Traits().Invoices {
			_, err := gw.ReadPayment(ctx, p.Report.PaymentID, "")
			return err
		}
	}
	if p, ok := e.Payment(); ok && !gateway.IsCharge(p.ID) {
		_, err := gw.ReadPayment(ctx, p.ID, "")
		return err
	}
	return nil
}

// confirmSingles reads refunds that were told one by one.
func confirmSingles(ctx context.Context, gw gateway.Adapter, told gateway.RefundReport) error {
	all, err := gw.ListRefunds(ctx, refOf(told.PaymentID, told.ChargeID))
	for _, single := range told.Singles {
		known := slices.ContainsFunc(all, func(r gateway.RemoteRefund) bool { return r.ID == single.ID })
		if err := confirmed(known, err); err != nil {
			return err
		}
	}
	return err
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
