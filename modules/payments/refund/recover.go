package refund

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/ledger"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Recover has a refund followed that is answered, and else all that nobody asks about looked for.
func (s *Refunds) Recover(ctx context.Context, id objectid.ID) error {
	row, err := s.db.RefundFind(ctx, s.deps.Pool, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if refund := ledger.RefundOf(row); refund.Status != gateway.RefundStatusRequested {
		return s.Notify(ctx, refund)
	}
	return s.Adopt(ctx)
}

// AdoptArgs opens the intents of requests that have none: of a version before
// the intents, or taken for done by a report that its gateway took back.
type AdoptArgs struct{}

// Kind names the job.
func (AdoptArgs) Kind() string { return "payments_refunds_adopt" }

// InsertOpts: what fails comes with the next.
func (AdoptArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 1} }

// AdoptEvery is how often that is looked for.
const AdoptEvery = time.Minute

// Adopt sees to it that every request that is not answered is asked about,
// whatever became of who asked. Of two of one payment the later waits for the first.
func (s *Refunds) Adopt(ctx context.Context) error {
	found, err := s.db.RefundListForgotten(ctx, s.deps.Pool, s.deps.Clock.Now().Add(-refundGrace))
	if err != nil {
		return err
	}
	var failed error
	for _, row := range found {
		err := postgres.InTx(ctx, s.deps.Pool,
			func(tx pgx.Tx) error { return s.deps.Intents.OpenTx(ctx, tx, opening(ledger.RefundOf(row), 0)) })
		if !intent.AlreadyOpen(err) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// Notify tells the followers what became of a refund.
func (s *Refunds) Notify(ctx context.Context, r ledger.Refund) error {
	for _, f := range s.followers {
		if err := f.RefundChanged(ctx, r); err != nil {
			return fmt.Errorf("follow refund %s: %w", r.ID, err)
		}
	}
	return nil
}
