package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/money"
	"marquee/platform/postgres"
)

// takenBackID is the id of the dispute that a PIX is which was whole taken back: no gateway
// tells one.
func takenBackID(paymentID string) string { return "MED-" + paymentID }

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
func (s *Service) disputeByRefundTx(ctx context.Context, tx pgx.Tx, r RefundRecord, unasked, total money.Cents) (disputed bool, change *DisputeChange, err error) {
	found, err := s.db.DisputeListOfPayment(ctx, tx, paymentsdb.DisputeListOfPaymentParams{Gateway: string(r.Gateway), PaymentRef: r.Report.PaymentID})
	if err != nil {
		return false, nil, fmt.Errorf("read disputes: %w", err)
	}
	whole := r.Payment != nil && total >= r.Payment.Amount
	for _, d := range found {
		if r.Payment != nil && !whole && gateway.DisputeState(d.State) == gateway.DisputeLost && d.GatewayDisputeID == takenBackID(d.PaymentRef) {
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
		tookByRefund := r.Gateway == gateway.GWA || gateway.DisputeKind(d.Kind) == gateway.TakenBack
		switch {
		case gateway.DisputeState(d.State) == gateway.DisputeLost && tookByRefund:
			return true, nil, nil
		case gateway.DisputeState(d.State) == gateway.DisputeOpen && r.Gateway == gateway.GWA && whole && !r.Report.At.Before(d.ReportedAt):
			open = true
			change, err = s.recordByRefundTx(ctx, tx, r, gateway.DisputeReport{
				ID: d.GatewayDisputeID, PaymentID: d.PaymentRef, Kind: gateway.DisputeKind(d.Kind), State: gateway.DisputeLost, NativeStatus: nativeRefunded,
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
func (s *Service) decideTakenBackTx(ctx context.Context, tx pgx.Tx, r RefundRecord, d gateway.DisputeReport) (*DisputeChange, error) {
	d.ID, d.PaymentID, d.Kind, d.OfRefunds = takenBackID(r.Report.PaymentID), r.Report.PaymentID, gateway.TakenBack, true
	return s.recordByRefundTx(ctx, tx, r, d)
}

func (s *Service) recordByRefundTx(ctx context.Context, tx pgx.Tx, r RefundRecord, d gateway.DisputeReport) (*DisputeChange, error) {
	d.At, d.EventID = r.Report.At, r.Report.EventID
	change, err := s.RecordDisputeTx(ctx, tx, DisputeRecord{
		Gateway: r.Gateway, Purpose: r.Purpose, LocalID: r.LocalID, CustomerID: r.CustomerID, Report: d,
	})
	if err != nil {
		return nil, err
	}
	return &change, nil
}

// decideLostTx decides what of a payment waits for people, when lost disputes took it and
// all of its money is gone, a part that was given back before included: nothing is left to
// decide. When a part is left, the case is about that. Whatever comes last calls it, the
// dispute or the case: the case's row is locked before the disputes are read.
func (s *Service) decideLostTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, paymentRef string) error {
	found, err := s.db.UnappliedOfPayment(ctx, tx, paymentsdb.UnappliedOfPaymentParams{Gateway: string(gateway), PaymentRef: paymentRef})
	if err != nil {
		return fmt.Errorf("find unapplied payment: %w", err)
	}
	for _, row := range found {
		if UnappliedState(row.PaymentsUnappliedPayment.State) != UnappliedOpen {
			continue
		}
		if err := s.decideLostCaseTx(ctx, tx, gateway, paymentRef, row); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) decideLostCaseTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, paymentRef string, row paymentsdb.UnappliedOfPaymentRow) error {
	paid, err := s.FindPayment(ctx, tx, gateway, value(row.PaymentsUnappliedPayment.GatewayPaymentID))
	if err != nil || paid == nil {
		return err
	}
	gone, err := s.lostOf(ctx, tx, gateway, append(paid.Names(), paymentRef)...)
	if err != nil || gone == 0 {
		return err
	}
	refunds, err := s.refundsOfPayment(ctx, tx, gateway, cmp.Or(paid.RefundKey(), paymentRef))
	if err != nil {
		return err
	}
	if left := leftOf(paid.Payment.Amount, refunds) - gone; left > 0 {
		err := s.db.UnappliedLeft(ctx, tx, paymentsdb.UnappliedLeftParams{ID: row.PaymentsUnappliedPayment.ID, AmountCents: new(int64(left)), At: s.deps.Clock.Now()})
		if err != nil {
			return fmt.Errorf("note what is left of %s: %w", paymentRef, err)
		}
		return nil
	}
	_, err = s.moveUnappliedTx(ctx, tx, row.PaymentsUnappliedPayment, unappliedChange{
		to: UnappliedKept, source: byGateway, forPeople: true, reason: "All of the payment was taken back.",
		note: "The payer's bank took all of the payment back: nothing is left of it.",
	})
	return err
}

// decideLost decides what stands on the list although a lost dispute took all of it: who
// listed it and who told of the dispute passed each other, or an earlier release did.
func (s *Service) decideLost(ctx context.Context) error {
	lost, err := s.db.UnappliedLost(ctx, s.deps.Pool, unappliedBatch)
	if err != nil {
		return fmt.Errorf("list lost money: %w", err)
	}
	var failed error
	for _, row := range lost {
		failed = errors.Join(failed, postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
			return s.decideLostTx(ctx, tx, gateway.Name(row.Gateway), row.GatewayPaymentID)
		}))
	}
	return failed
}

// reopenReturnedTx has people decide again what was decided because all of its money was
// gone: it is with us again.
func (s *Service) reopenReturnedTx(ctx context.Context, tx pgx.Tx, r DisputeRecord) error {
	found, err := s.db.UnappliedOfPayment(ctx, tx, paymentsdb.UnappliedOfPaymentParams{Gateway: string(r.Gateway), PaymentRef: r.Report.PaymentID})
	if err != nil {
		return fmt.Errorf("find unapplied payment: %w", err)
	}
	for _, row := range found {
		u := row.PaymentsUnappliedPayment
		last, err := s.db.UnappliedLastDecision(ctx, tx, u.ID)
		if err != nil {
			return fmt.Errorf("read decision: %w", err)
		}
		if UnappliedState(u.State) != UnappliedKept || last.Source != byGateway && !u.TakenBack {
			continue
		}
		_, err = s.moveUnappliedTx(ctx, tx, u, unappliedChange{
			to: UnappliedOpen, source: byGateway, forPeople: true, reason: "A refund by which the payer's bank took the payment back has failed.",
			note: returnedNote,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// returnedNote is what people read of money that was taken back, and is with us again.
const returnedNote = "The payer's bank had taken the payment back by a refund that failed since: the money is with us."
