package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// EndRetry is when the job ends at the gateway what the request could not.
const EndRetry = time.Minute

// GivenBackSoon is when a refund that is not answered, or under way, is looked at again.
const GivenBackSoon = 10 * time.Minute

// WithdrawalReason is what the refunds of a withdrawal say why, here and at the gateway.
const WithdrawalReason = "Withdrawal within the days of regret (CDC, art. 49)."

// GiveBackLaterTx has a job give back what a withdrawn subscription still has.
func (s *Store) GiveBackLaterTx(ctx context.Context, tx pgx.Tx, id objectid.ID) error {
	_, err := s.jobs.InsertTx(ctx, tx, GiveBackArgs{SubscriptionID: id}, &river.InsertOpts{
		Queue: jobs.QueueGateway, ScheduledAt: s.clock.Now().Add(EndRetry),
	})
	if err != nil {
		return fmt.Errorf("queue refund: %w", err)
	}
	return nil
}
