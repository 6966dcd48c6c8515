package unapplied

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/refund"
	"marquee/modules/payments/state"
	"marquee/platform/objectid"
)

// afterRefundTx settles a case whose refund was claimed, whatever came of asking for
// it: what the ledger says, else it is open again.
func (s *List) afterRefundTx(ctx context.Context, tx pgx.Tx, id objectid.ID, refused error) error {
	u, err := s.db.UnappliedLock(ctx, tx, id)
	if err != nil || u.State != state.UnappliedRefunding {
		return err
	}
	c := ledger.Move{To: state.UnappliedOpen, Source: state.ByGateway, Reason: "The refund was not asked for."}
	var rejected *gateway.Rejected
	var disputed *ledger.RefundDisputedError
	if errors.As(refused, &disputed) { // nobody was asked: when the dispute is over it is as before
		c.Reason = "The payment is disputed."
	} else if errors.As(refused, &rejected) || errors.Is(refused, refund.ErrTooMuch) {
		c.Kind, c.ForPeople, c.Note = state.UnappliedUnrefundable, true, "The gateway has nothing to refund of it."
	}
	_, err = s.cases.MoveTx(ctx, tx, u, c)
	return err
}
