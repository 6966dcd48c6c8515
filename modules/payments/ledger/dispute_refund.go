package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/money"
)

// TakenBackID is the id of the dispute that a PIX is which was whole taken back: no gateway
// tells one.
func TakenBackID(paymentID string) string { return "MED-" + paymentID }

// Native statuses of a dispute of which a gateway tells by the refunds of its payment alone.
const (
	nativeRefunded     = "REFUNDED"
	nativeRefundFailed = "REFUND_FAILED" // one of them: the money is with us again
)

// disputeByRefundTx tells a dispute that was lost from a refund, by what a gateway
// counts among a payment's refunds and nobody here asked for. Disputed is true when
// that money is a dispute's, now or since before: it is no refund then. Gateway A tells
// of a lost dispute as PAYMENT_REFUNDED; and a PIX of a subscription, or of nothing, that is
// whole taken back is the payer's bank's doing, while an order's is a refund. When one of
// the refunds by which it was taken fails, that dispute is won: what is still taken back is
// a part, which is a refund. The refunds of the payment are locked.
func (s *Ledger) disputeByRefundTx(ctx context.Context, tx pgx.Tx, r RefundRecord, unasked, total money.Cents) (disputed bool, change *DisputeChange, err error) {
	found, err := s.db.DisputeListOfPayment(ctx, tx, paymentsdb.DisputeListOfPaymentParams{Gateway: r.Gateway, PaymentRef: r.Report.PaymentID})
	if err != nil {
		return false, nil, fmt.Errorf("read disputes: %w", err)
	}
	whole := r.Payment != nil && total >= r.Payment.Amount
	for _, d := range found {
		if r.Payment != nil && !whole && d.State == gateway.DisputeLost && d.GatewayDisputeID == TakenBackID(d.PaymentRef) {
			change, err = s.decideTakenBackTx(ctx, tx, r, gateway.DisputeReport{
				State: gateway.DisputeWon, NativeStatus: nativeRefundFailed, Amount: money.Cents(d.AmountCents), OpenedAt: d.OpenedAt,
			})
			return false, change, err
		}
	}
	if unasked <= 0 {
		return false, nil, nil
	}
	open := false
	for _, d := range found {
		tookByRefund := r.Gateway.Traits().DisputeLostByRefund || d.Kind == gateway.TakenBack
		switch {
		case d.State == gateway.DisputeLost && tookByRefund:
			return true, nil, nil
		case d.State == gateway.DisputeOpen && r.Gateway.Traits().DisputeLostByRefund && whole && !r.Report.At.Before(d.ReportedAt):
			open = true
			change, err = s.recordByRefundTx(ctx, tx, r, gateway.DisputeReport{
				ID: d.GatewayDisputeID, PaymentID: d.PaymentRef, Kind: d.Kind, State: gateway.DisputeLost, NativeStatus: nativeRefunded,
				Amount: unasked, OpenedAt: d.OpenedAt,
			})
			if err != nil {
				return false, nil, err
			}
		}
	}
	if open || !whole || !r.isPix() || r.Purpose == gateway.ForOrder {
		return open, change, nil
	}
	change, err = s.decideTakenBackTx(ctx, tx, r, gateway.DisputeReport{
		State: gateway.DisputeLost, NativeStatus: nativeRefunded, Amount: unasked, OpenedAt: r.Report.At,
	})
	return err == nil, change, err
}

// decideTakenBackTx records what the refunds of a PIX make of the dispute that it is.
func (s *Ledger) decideTakenBackTx(ctx context.Context, tx pgx.Tx, r RefundRecord, d gateway.DisputeReport) (*DisputeChange, error) {
	d.ID, d.PaymentID, d.Kind, d.OfRefunds = TakenBackID(r.Report.PaymentID), r.Report.PaymentID, gateway.TakenBack, true
	return s.recordByRefundTx(ctx, tx, r, d)
}

func (s *Ledger) recordByRefundTx(ctx context.Context, tx pgx.Tx, r RefundRecord, d gateway.DisputeReport) (*DisputeChange, error) {
	d.At, d.EventID = r.Report.At, r.Report.EventID
	change, err := s.RecordDisputeTx(ctx, tx, DisputeRecord{
		Gateway: r.Gateway, Purpose: r.Purpose, LocalID: r.LocalID, CustomerID: r.CustomerID, Report: d,
	})
	if err != nil {
		return nil, err
	}
	return &change, nil
}
