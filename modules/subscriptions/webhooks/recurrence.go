package webhooks

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// applyEndTx: customer.subscription.deleted; gateway A's deleted and inactivated, which
// are not signed: the gateway is asked first. Inactivated is also the echo of a pause of
// ours, which changes nothing.
func (s *Applier) applyEndTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	remote gateway.RemoteSubscription,
) (gateway.Reason, error) {
	if sub.Status.Ended() {
		return gateway.ReasonEnded, nil
	}
	if echo, err := s.deps.Reads.IsEchoTx(ctx, tx, *sub, remote, e.CreatedAt); err != nil || echo {
		return gateway.ReasonPaused, err
	}
	switch {
	case !e.IsProof() && sub.GatewayDeletedAt != nil:
		return gateway.ReasonEndKnown, nil
	case !e.IsProof():
		return gateway.ReasonToConfirmRecurrence, s.queueRecurrenceCheckTx(ctx, tx, sub, RecurrenceArgs{EventID: e.ID})
	}
	c := lifecycle.Change{
		Action: state.GatewaySaysCancelled, Source: state.ByWebhook, Event: &e.ID,
		Edit: func(r *lifecycle.Subscription) { recordEvent(r, e) },
	}
	return "", s.EndWithGatewayTx(ctx, tx, sub, c, remote)
}

// applyNextDueTx: SUBSCRIPTION_UPDATED, which tells the next due date alone. It is not
// signed: one of a day that is not known has the recurrence read, whose answer tells it.
func (s *Applier) applyNextDueTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	remote gateway.RemoteSubscription,
) (gateway.Reason, error) {
	switch {
	case sub.Status.Ended():
		return gateway.ReasonEnded, nil
	case remote.NextBilling == nil:
		return gateway.ReasonNoDate, nil
	case !e.IsProof() && sub.NextBillingDate != nil && sub.NextBillingDate.Equal(*remote.NextBilling):
		return gateway.ReasonDayKnown, nil
	case !e.IsProof():
		return gateway.ReasonToConfirmRecurrence,
			s.queueRecurrenceCheckTx(ctx, tx, sub, RecurrenceArgs{EventID: e.ID, Moved: true})
	case sub.LastEventAt != nil && e.CreatedAt.Before(*sub.LastEventAt):
		return gateway.ReasonOlder, nil
	}
	return "", s.deps.Store.EditTx(ctx, tx, sub, state.RecurrenceReported, func(r *lifecycle.Subscription) {
		recordEvent(r, e)
		s.deps.Calendar.SetRemote(r, &remote)
	})
}

// RecurrenceArgs reads a recurrence live, since an event alone cannot be believed: at
// gateway A that it has ended, or charges on another day, at gateway B whether it ends with
// its period.
type RecurrenceArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	EventID        string      `json:"event_id"`
	Moved          bool        `json:"moved,omitempty"` // the event tells of another day, not of an end
}

// Kind names the job.
func (RecurrenceArgs) Kind() string { return "subscriptions_follow_recurrence" }

// queueRecurrenceCheckTx has the recurrence of the locked row read by job.
func (s *Applier) queueRecurrenceCheckTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	a RecurrenceArgs,
) error {
	if sub.Traits().EndsWithPeriod { // the sweep looks where the job is lost
		now := s.deps.Clock.Now()
		if err := s.deps.Store.EditTx(ctx, tx, sub, state.CheckScheduled,
			func(r *lifecycle.Subscription) { r.PeriodEndLookAt = &now }); err != nil {
			return err
		}
	}
	a.SubscriptionID = sub.ID
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway})
}

// EndWithGatewayTx ends a subscription whose recurrence has ended at its gateway. Where it
// goes on to the end of its paid time, that the recurrence has ended is all that is
// written. What gateway A only holds inactive keeps the charges that it made ahead, which
// are collected all the same: it is deleted, which takes them away. What only an event says
// has ended is read first, and ended where it runs: the event may be of another environment.
func (s *Applier) EndWithGatewayTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, c lifecycle.Change,
	remote gateway.RemoteSubscription,
) error {
	now := s.deps.Clock.Now()
	traits := sub.Traits()
	proven := c.Source == state.ByWebhook && traits.SignsEvents
	leaves := proven || traits.ChargesAhead > 0 && remote.NativeStatus != deletedAtGWA
	if !s.deps.Calendar.Outlives(*sub) {
		edit := c.Edit
		c.Edit = func(r *lifecycle.Subscription) {
			if edit != nil {
				edit(r)
			}
			if !leaves {
				r.GatewayEndedAt = &now
			}
		}
		switch _, err := s.deps.Store.MoveTx(ctx, tx, sub, c); {
		case err != nil || !leaves:
			return err
		case proven:
			return s.deps.Store.EndReportedTx(ctx, tx, *sub)
		}
		return s.deps.Store.EndAtGatewayTx(ctx, tx, *sub)
	}
	if sub.GatewayDeletedAt != nil {
		return nil
	}
	c.Action, c.Edit = state.GatewayDeletedPaid, s.deps.Calendar.EndedThere
	if leaves {
		c.Edit = func(r *lifecycle.Subscription) { r.GatewayEndOpenSince = &now }
	}
	if _, err := s.deps.Store.MoveTx(ctx, tx, sub, c); err != nil {
		return err
	}
	return s.deps.Store.StopTx(ctx, tx, *sub, now)
}

// deletedAtGWA is how the adapter calls a recurrence that was deleted.
const deletedAtGWA = "DELETED"

// clocksApart is by how much gateway B's clock may differ from ours.
const clocksApart = time.Minute

// CheckAhead is how long before a period's end gateway B is asked whether the
// subscription ends with it: soon enough that the difference costs nobody a charge.
const CheckAhead = 24 * time.Hour

// doubtsPeriodEnd reports whether an event of gateway B says otherwise than the row
// whether the subscription ends with its period, and may be the older word: one of the
// second of the last event, or from before our own last call.
func doubtsPeriodEnd(sub lifecycle.Subscription, e gateway.Event, remote gateway.RemoteSubscription) bool {
	if remote.CancelAtPeriodEnd == sub.CancelAtPeriodEnd {
		return false
	}
	tie := sub.LastEventAt != nil && e.CreatedAt.Equal(*sub.LastEventAt)
	return tie || sub.PeriodEndToldAt != nil && !e.CreatedAt.After(sub.PeriodEndToldAt.Add(clocksApart))
}

// PlanPeriodEndCheck has the gateway read a day before the period ends.
func (s *Applier) PlanPeriodEndCheck(r *lifecycle.Subscription) {
	end := r.NextBillingDate
	if r.CancelAtPeriodEnd {
		end = r.ExpiresAt
	}
	r.PeriodEndLookAt = nil
	if r.Traits().EndsWithPeriod && r.RemoteID() != "" && end != nil {
		r.PeriodEndLookAt = new(lifecycle.LatestOf(end.Add(-CheckAhead), new(s.deps.Clock.Now())))
	}
}
