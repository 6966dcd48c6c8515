package refund

import (
	"context"

	"marquee/modules/payments/ledger"
)

// Follower is an Applier that keeps something which follows from the ledger
// of refunds.
type Follower interface {
	// FollowRefund is called when it is known what became of a refund that was asked
	// for here, whether or not an event tells of it. It must be safe to repeat.
	FollowRefund(ctx context.Context, r ledger.Refund) error
}
