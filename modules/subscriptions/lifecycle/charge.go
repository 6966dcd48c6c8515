package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// RenewalCharge is a PIX code that pays a further period.
type RenewalCharge = subscriptionsdb.SubscriptionsRenewalCharge

// SaveChargeTx writes a locked charge.
func (s *Store) SaveChargeTx(ctx context.Context, tx pgx.Tx, c RenewalCharge, edit func(c *RenewalCharge)) (RenewalCharge, error) {
	from, asked := c.State, c.IntentOpen
	edit(&c)
	c.RegisterUpdateDate = s.deps.Clock.Now()
	n, err := s.db.UpdateRenewalCharge(ctx, tx, subscriptionsdb.UpdateRenewalChargeParams{
		ID: c.ID, FromState: from, State: c.State, IntentOpen: c.IntentOpen, LookAt: c.LookAt, Misses: c.Misses, GatewayPaymentID: c.GatewayPaymentID,
		PixPayload: c.PixPayload, PixImage: c.PixImage, PixExpiresAt: c.PixExpiresAt, MovedFrom: c.MovedFrom, MovedTo: c.MovedTo, Now: c.RegisterUpdateDate,
	})
	if err == nil && n == 0 {
		err = errMoved
	}
	if err == nil && asked && !c.IntentOpen { // by an event, if not by who looked
		err = s.deps.Intents.EndTx(ctx, tx, IntentOfCharge(c.ID), intent.Succeeded[any]{}, intent.ByWebhook)
	}
	if err != nil {
		return c, fmt.Errorf("write renewal charge %s: %w", c.ID, err)
	}
	return c, nil
}

// TendTx has a renewal charge looked after at an instant.
func (s *Store) TendTx(ctx context.Context, tx pgx.Tx, id objectid.ID, at time.Time) error {
	_, err := s.deps.Jobs.InsertTx(ctx, tx, RenewalChargeArgs{ChargeID: id, At: at}, &river.InsertOpts{
		Queue: jobs.QueueGateway, ScheduledAt: at, UniqueOpts: river.UniqueOpts{ByArgs: true},
	})
	if err != nil {
		return fmt.Errorf("schedule renewal charge: %w", err)
	}
	return nil
}

// withdrawChargesTx has the open codes of a subscription that has ended made
// unpayable, by job.
func (s *Store) withdrawChargesTx(ctx context.Context, tx pgx.Tx, sub Row) error {
	ids, err := s.db.ListOpenRenewalCharges(ctx, tx, sub.ID)
	if err != nil {
		return fmt.Errorf("list renewal charges: %w", err)
	}
	for _, id := range ids {
		if err := s.TendTx(ctx, tx, id, s.deps.Clock.Now()); err != nil {
			return err
		}
	}
	return nil
}

// IntentOfCharge names the order of a renewal's PIX code.
func IntentOfCharge(id objectid.ID) intent.Ref {
	return intent.Ref{Kind: intent.RenewalCharge, Subject: id}
}
