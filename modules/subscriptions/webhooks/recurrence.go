package webhooks

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// RecurrenceArgs reads a recurrence live, since an event tells of it what cannot be
// believed by itself: at gateway A that it has ended, or charges on another day, at gateway
// B whether it ends with its period.
type RecurrenceArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	EventID        string      `json:"event_id"`
	Moved          bool        `json:"moved,omitempty"` // the event tells of another day, not of an end
}

// Kind names the job.
func (RecurrenceArgs) Kind() string { return "subscriptions_follow_recurrence" }

// askRecurrenceTx has the recurrence of the locked row read by job.
func (s *Applier) askRecurrenceTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, a RecurrenceArgs) error {
	if lifecycle.TraitsOf(*sub).EndsWithPeriod { // the sweep looks where the job is lost
		now := s.clock.Now()
		if err := s.store.EditTx(ctx, tx, sub, state.LookAsked, func(r *lifecycle.Row) { r.PeriodEndLookAt = &now }); err != nil {
			return err
		}
	}
	a.SubscriptionID = sub.ID
	_, err := s.jobs.InsertTx(ctx, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway})
	if err != nil {
		return fmt.Errorf("have the recurrence read: %w", err)
	}
	return nil
}

// EndWithGatewayTx ends a subscription whose recurrence has ended at its gateway. Where it
// goes on to the end of its paid time, that the recurrence has ended is all that is
// written. What gateway A only holds inactive keeps the charges that it made ahead, which
// are collected all the same: it is deleted, which takes them away. What only an event says
// has ended is read first, and ended where it runs: the event may be of another environment.
func (s *Applier) EndWithGatewayTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, c lifecycle.Change, remote gateway.RemoteSubscription) error {
	now := s.clock.Now()
	traits := lifecycle.TraitsOf(*sub)
	told := c.Source == state.ByWebhook && traits.SignsEvents
	leaves := told || traits.ChargesAhead > 0 && remote.NativeStatus != deletedAtGWA
	if !s.calendar.Outlives(*sub) {
		note := c.Edit
		c.Edit = func(r *lifecycle.Row) {
			if note != nil {
				note(r)
			}
			if !leaves {
				r.GatewayEndedAt = &now
			}
		}
		if _, err := s.store.MoveTx(ctx, tx, sub, c); err != nil || !leaves {
			return err
		}
		return s.store.EndTx(ctx, tx, lifecycle.EndArgs{SubscriptionID: sub.ID, Told: told})
	}
	if sub.GatewayDeletedAt != nil {
		return nil
	}
	c.Action, c.Edit = state.GatewayDeletedPaid, s.calendar.EndedThere
	if leaves {
		c.Edit = func(r *lifecycle.Row) { r.GatewayEndOpenSince = &now }
	}
	if _, err := s.store.MoveTx(ctx, tx, sub, c); err != nil {
		return err
	}
	return s.store.StopTx(ctx, tx, *sub, now)
}

// deletedAtGWA is how the adapter calls a recurrence that was deleted.
const deletedAtGWA = "DELETED"
