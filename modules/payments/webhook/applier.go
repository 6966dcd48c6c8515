package webhook

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
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
