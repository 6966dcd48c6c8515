package payments

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/money"
)

// loseByRefundTx tells a dispute that was lost from a refund, by what a gateway
// counts among a payment's refunds and nobody here asked for. Disputed is true when
// that money is a dispute's, now or since before: it is no refund then. Gateway A tells
// of a lost dispute as PAYMENT_REFUNDED; and a PIX of a subscription, or of nothing, that is
// whole taken back is the payer's bank's doing, while an order's is a refund. The refunds
// of the payment are locked.
func (s *Service) loseByRefundTx(ctx context.Context, tx pgx.Tx, r RefundRecord, unasked, total money.Cents) (disputed bool, lost *DisputeChange, err error) {
	if unasked <= 0 {
		return false, nil, nil
	}
	found, err := s.db.DisputeListOfPayment(ctx, tx, paymentsdb.DisputeListOfPaymentParams{Gateway: string(r.Gateway), PaymentRef: r.Report.PaymentID})
	if err != nil {
		return false, nil, fmt.Errorf("read disputes: %w", err)
	}
	whole := r.Payment != nil && total >= r.Payment.Amount
	open := false
	for _, d := range found {
		tookByRefund := r.Gateway == GWA || DisputeKind(d.Kind) == TakenBack
		switch {
		case DisputeState(d.State) == DisputeLost && tookByRefund:
			return true, nil, nil
		case DisputeState(d.State) == DisputeOpen && r.Gateway == GWA && whole && !r.Report.At.Before(d.ReportedAt):
			open = true
			lost, err = s.loseTx(ctx, tx, r, DisputeReport{
				ID: d.GatewayDisputeID, PaymentID: d.PaymentRef, Kind: DisputeKind(d.Kind), Amount: unasked, OpenedAt: d.OpenedAt,
			})
			if err != nil {
				return false, nil, err
			}
		}
	}
	if open || !whole || !r.isPix() || r.Purpose == ForOrder {
		return open, lost, nil
	}
	lost, err = s.loseTx(ctx, tx, r, DisputeReport{
		ID: "MED-" + r.Report.PaymentID, PaymentID: r.Report.PaymentID, Kind: TakenBack, Amount: unasked, OpenedAt: r.Report.At,
	})
	return err == nil, lost, err
}

func (s *Service) loseTx(ctx context.Context, tx pgx.Tx, r RefundRecord, d DisputeReport) (*DisputeChange, error) {
	d.State, d.NativeStatus, d.At, d.EventID = DisputeLost, "REFUNDED", r.Report.At, r.Report.EventID
	change, err := s.RecordDisputeTx(ctx, tx, DisputeRecord{
		Gateway: r.Gateway, Purpose: r.Purpose, LocalID: r.LocalID, CustomerID: r.CustomerID, Report: d,
	})
	if err != nil {
		return nil, err
	}
	return &change, nil
}

// decideLostTx decides what of a lost payment waits for people, when all of its money is
// gone, a part that was taken or given back before included: nothing is left to decide.
func (s *Service) decideLostTx(ctx context.Context, tx pgx.Tx, r DisputeRecord) error {
	found, err := s.db.UnappliedOfPayment(ctx, tx, paymentsdb.UnappliedOfPaymentParams{Gateway: string(r.Gateway), PaymentRef: r.Report.PaymentID})
	if err != nil {
		return fmt.Errorf("find unapplied payment: %w", err)
	}
	for _, row := range found {
		refunds, err := s.db.RefundListOfPayment(ctx, tx, paymentsdb.RefundListOfPaymentParams{Gateway: string(r.Gateway), PaymentRef: r.Report.PaymentID})
		if err != nil {
			return fmt.Errorf("read refunds: %w", err)
		}
		gone := r.Report.Amount
		for _, refund := range refunds {
			if RefundStatus(refund.Status) != RefundFailed {
				gone += money.Cents(refund.AmountCents)
			}
		}
		if UnappliedState(row.PaymentsUnappliedPayment.State) != UnappliedOpen || gone < money.Cents(row.PaidCents) {
			continue
		}
		_, err = s.moveUnappliedTx(ctx, tx, row.PaymentsUnappliedPayment, unappliedChange{
			to: UnappliedKept, source: byGateway, forPeople: true, reason: "All of the payment was taken back.",
			note: "The payer's bank took all of the payment back: nothing is left of it.",
		})
		if err != nil {
			return err
		}
	}
	return nil
}
