package checkout

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/objectid"
)

// claimTrialTx takes the one trial of the customer's tax id for a subscription that is
// about to be written. Of two customers who have had the same tax id, one after the
// other, one gets it. A subscription that ends before its trial begins gives it back.
func (s *Checkout) claimTrialTx(ctx context.Context, tx pgx.Tx, w wish, subscriptionID objectid.ID) (bool, error) {
	now := s.clock.Now()
	before := lifecycle.Forgotten(now)
	n, err := s.db.ClaimTrial(ctx, tx, subscriptionsdb.ClaimTrialParams{
		TaxIDMac: s.accounts.TaxIDMAC(w.customer.TaxID), SubscriptionID: &subscriptionID, Now: now, Forgotten: &before,
	})
	if err != nil {
		return false, fmt.Errorf("claim trial: %w", err)
	}
	return n == 1, nil
}
