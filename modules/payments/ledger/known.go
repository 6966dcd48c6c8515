package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/money"
	"marquee/platform/postgres"
)

// Knows reports whether the ledgers say what a reconciled event says.
func (s *Reader) Knows(ctx context.Context, db postgres.DB, e gateway.Event) (bool, error) {
	switch {
	case e.Dispute != nil:
		state, err := s.db.DisputeStateOf(ctx, db, paymentsdb.DisputeStateOfParams{Gateway: string(e.Gateway), GatewayDisputeID: e.Dispute.ID})
		return state == string(e.Dispute.State), orNone(err)
	case e.Refund != nil && e.Refund.HasTotal:
		total, err := s.db.RefundTotalOfPayment(ctx, db, paymentsdb.RefundTotalOfPaymentParams{Gateway: string(e.Gateway), PaymentRef: e.Refund.PaymentID})
		if err != nil || money.Cents(total) >= e.Refund.Total {
			return money.Cents(total) == e.Refund.Total, err
		}
		return s.tookByRefund(ctx, db, e)
	case e.Refund != nil:
		known, err := s.refundsInLedger(ctx, db, e)
		if err != nil || known || hasFailed(e.Refund.Singles) {
			return known, err
		}
		return s.tookByRefund(ctx, db, e)
	case e.Payment != nil:
		p, err := s.FindPayment(ctx, db, e.Gateway, e.Payment.ID)
		return p != nil, err
	}
	return true, nil
}

// tookByRefund reports whether what no row of the refunds tells stands among the
// disputes that were lost (disputeByRefundTx).
func (s *Reader) tookByRefund(ctx context.Context, db postgres.DB, e gateway.Event) (bool, error) {
	return s.db.DisputeTookPayment(ctx, db, paymentsdb.DisputeTookPaymentParams{Gateway: string(e.Gateway), PaymentRef: e.Refund.PaymentID})
}

// refundsInLedger compares refunds that are told one by one. One that is under way
// there and not here is no difference yet, and neither is one that came to nothing.
func (s *Reader) refundsInLedger(ctx context.Context, db postgres.DB, e gateway.Event) (bool, error) {
	for _, single := range e.Refund.Singles {
		status, err := s.db.RefundStatusOf(ctx, db, paymentsdb.RefundStatusOfParams{Gateway: string(e.Gateway), GatewayRefundID: &single.ID})
		if err := orNone(err); err != nil {
			return false, err
		}
		if status != string(single.Status) && (status != "" || single.Status == gateway.RefundDone) {
			return false, nil
		}
		if status == "" && single.Status == gateway.RefundFailed {
			lost, err := s.db.DisputeLostByRefund(ctx, db, paymentsdb.DisputeLostByRefundParams{
				Gateway: string(e.Gateway), PaymentRef: e.Refund.PaymentID, GatewayDisputeID: TakenBackID(e.Refund.PaymentID), RefundID: single.ID,
			})
			if err != nil || lost {
				return false, err
			}
		}
	}
	return true, nil
}

func hasFailed(all []gateway.SingleRefund) bool {
	return slices.ContainsFunc(all, func(r gateway.SingleRefund) bool { return r.Status == gateway.RefundFailed })
}

// orNone is nil for no row.
func orNone(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}
