package webhooks

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
)

// applyDisputeTx: charge.dispute.*, PAYMENT_CHARGEBACK_*.
func (s *Applier) applyDisputeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e gateway.Event, told gateway.DisputeReport) (gateway.Reason, error) {
	changed, err := s.payments.RecordDisputeTx(ctx, tx, payments.DisputeRecord{
		Gateway: e.Gateway, Purpose: gateway.ForSubscription, LocalID: sub.ID, CustomerID: sub.CustomerID, Report: told,
	})
	if err != nil {
		return "", err
	}
	return s.disputes.FollowDisputeTx(ctx, tx, sub, changed, lifecycle.Change{Source: settle.SourceOf(e), Event: settle.EventOf(e)})
}
