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

// Knows reports whether the ledgers say what a reconciled event says. An error is the database's.
func (s *Reader) Knows(ctx context.Context, db postgres.DB, e gateway.Event) (bool, error) {
	switch p := e.Payload.(type) {
	case gateway.DisputeChange:
		state, err := s.db.DisputeGetState(ctx, db,
			paymentsdb.DisputeGetStateParams{Gateway: e.Gateway, GatewayDisputeID: p.Report.ID})
		return state == p.Report.State, orNone(err)
	case gateway.RefundChange:
		return s.knowsRefunds(ctx, db, e.Gateway, p.Report)
	default:
		paid, ok := e.Payment()
		if !ok {
			return true, nil
		}
		found, err := s.FindPayment(ctx, db, e.Gateway, paid.ID)
		return found != nil, err
	}
}

// knowsRefunds compares a report of refunds with their ledger, and with what lost disputes took by refunds. An error
// is the database's.
func (s *Reader) knowsRefunds(ctx context.Context, db postgres.DB, gw gateway.Name,
	report gateway.RefundReport,
) (bool, error) {
	if report.HasTotal {
		total, err := s.db.RefundSumOfPayment(ctx, db,
			paymentsdb.RefundSumOfPaymentParams{Gateway: &gw, PaymentRef: report.PaymentID})
		if err != nil || money.Cents(total) >= report.Total {
			return money.Cents(total) == report.Total, err
		}
		return s.tookByRefund(ctx, db, gw, report)
	}
	known, err := s.refundsInLedger(ctx, db, gw, report)
	if err != nil || known || hasFailed(report.Singles) {
		return known, err
	}
	return s.tookByRefund(ctx, db, gw, report)
}

// tookByRefund reports whether refunds that have no row here are recorded as lost
// disputes (disputeByRefundTx). An error is the database's.
func (s *Reader) tookByRefund(ctx context.Context, db postgres.DB, gw gateway.Name,
	report gateway.RefundReport,
) (bool, error) {
	return s.db.DisputeHasTakenPayment(ctx, db, paymentsdb.DisputeHasTakenPaymentParams{
		Gateway: gw, PaymentRef: report.PaymentID, LostByRefund: gw.Traits().DisputeLostByRefund,
	})
}

// refundsInLedger compares refunds that are told one by one. One that is under way
// there and not here is no difference yet, and neither is one that came to nothing. An error is the database's.
func (s *Reader) refundsInLedger(ctx context.Context, db postgres.DB, gw gateway.Name,
	report gateway.RefundReport,
) (bool, error) {
	for _, single := range report.Singles {
		status, err := s.db.RefundGetStatus(ctx, db,
			paymentsdb.RefundGetStatusParams{Gateway: &gw, GatewayRefundID: &single.ID})
		if err := orNone(err); err != nil {
			return false, err
		}
		if status != single.Status && (status != "" || single.Status == gateway.RefundStatusDone) {
			return false, nil
		}
		if status == "" && single.Status == gateway.RefundStatusFailed {
			lost, err := s.db.DisputeIsLostByRefund(ctx, db, paymentsdb.DisputeIsLostByRefundParams{
				Gateway: gw, PaymentRef: report.PaymentID, GatewayDisputeID: TakenBackID(report.PaymentID),
				RefundID: single.ID,
			})
			if err != nil || lost {
				return false, err
			}
		}
	}
	return true, nil
}

func hasFailed(all []gateway.SingleRefund) bool {
	return slices.ContainsFunc(all, func(r gateway.SingleRefund) bool { return r.Status == gateway.RefundStatusFailed })
}

// orNone is nil for no row. Any other error is as it was.
func orNone(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}
