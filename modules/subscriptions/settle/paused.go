package settle

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/lifecycle"
)

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
	_, err = s.payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedLate, Gateway: sub.Gateway, PaymentID: p.ID, Amount: &p.Amount, CustomerID: sub.CustomerID,
		SubscriptionID: sub.ID, PaidAt: &at, Automatic: true, Reference: referenceOf(p),
		Note: disputes.SlippedNote,
	})
	return true, err
}
