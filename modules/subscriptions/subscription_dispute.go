package subscriptions

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/lifecycle"
)

// applyDisputeTx: charge.dispute.*, PAYMENT_CHARGEBACK_*.
func (s *Applier) applyDisputeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, e payments.Event) (string, error) {
	if e.Dispute == nil {
		return "no dispute in the event", nil
	}
	changed, err := s.payments.RecordDisputeTx(ctx, tx, payments.DisputeRecord{
		Gateway: e.Gateway, Purpose: payments.ForSubscription, LocalID: sub.ID, CustomerID: sub.CustomerID, Report: *e.Dispute,
	})
	if err != nil {
		return "", err
	}
	return s.disputes.FollowDisputeTx(ctx, tx, sub, changed, lifecycle.Change{Source: SourceOf(e), Event: EventOf(e)})
}

// keepPausedTx lists a charge that slipped through while collection was paused, to be
// given back. False: it counts as any other.
func (s *Settler) keepPausedTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment) (bool, error) {
	at := s.clock.Now()
	if p.SettledAt != nil {
		at = *p.SettledAt
	}
	paused, err := s.reads.PausedAtTx(ctx, tx, sub.ID, at)
	if err != nil || !paused {
		return false, err
	}
	all, err := s.disputes.DisputesOf(ctx, tx, sub)
	if err != nil || disputes.DisputedPayment(all, p.Payment) {
		return false, err
	}
	_, err = s.payments.RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedLate, Gateway: payments.GatewayName(sub.Gateway), PaymentID: p.ID, Amount: &p.Amount, CustomerID: sub.CustomerID,
		SubscriptionID: sub.ID, PaidAt: &at, Automatic: true, Reference: referenceOf(p),
		Note: disputes.SlippedNote,
	})
	return true, err
}
