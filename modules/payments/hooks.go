package payments

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
)

// Applier applies an event inside the webhook's transaction; it must be safe to
// repeat. It answers Unclaimed when the event's subject is not its own.
type Applier interface {
	ApplyEventTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error)
}

// StrayMoneyTaker is an Applier that takes in money of a customer of ours which is of
// nothing that is known here. It answers Result.Taken when it does; the event waits all
// the same, should its subject become known.
type StrayMoneyTaker interface {
	TakeStrayMoneyTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error)
}

// RefundFollower is an Applier that keeps something which follows from the ledger
// of refunds.
type RefundFollower interface {
	// FollowRefund is called when it is known what became of a refund that was asked
	// for here, whether or not an event tells of it. It must be safe to repeat.
	FollowRefund(ctx context.Context, r ledger.Refund) error
}
