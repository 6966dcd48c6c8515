package subscriptions

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
)

// StatusActions is the specification's mapping of gateway B's statuses.
var StatusActions = map[payments.RemoteStatus]Action{
	payments.RemoteActive:            GatewaySaysActive,
	payments.RemoteTrialing:          GatewaySaysActive,
	payments.RemotePastDue:           GatewaySaysSuspended,
	payments.RemoteUnpaid:            GatewaySaysSuspended,
	payments.RemotePaused:            GatewaySaysSuspended,
	payments.RemoteCanceled:          GatewaySaysCancelled,
	payments.RemoteIncomplete:        GatewaySaysIncomplete,
	payments.RemoteIncompleteExpired: GatewaySaysExpired,
}

// applyStatusTx: customer.subscription.created and .updated.
func (s *Applier) applyStatusTx(ctx context.Context, tx pgx.Tx, sub *Row, e payments.Event) (string, error) {
	if e.Subscription == nil {
		return "no subscription in the event", nil
	}
	if Status(sub.Status).Ended() {
		return IgnoredEnded, nil
	}
	action, known := StatusActions[e.Subscription.Status]
	if !known {
		return "a status without meaning here", nil
	}
	if older(*sub, action, e) {
		return IgnoredOlder, nil
	}
	if _, err := s.locator.adoptTx(ctx, tx, sub, e); err != nil {
		return "", err
	}
	if EndsThere(*sub) {
		if action == GatewaySaysCancelled {
			return s.applyEndTx(ctx, tx, sub, e)
		}
		return "its recurrence is to end: nothing is owed", nil
	}
	if doubtsPeriodEnd(*sub, e) {
		if err := s.askRecurrenceTx(ctx, tx, sub, RecurrenceArgs{EventID: e.ID}); err != nil {
			return "", err
		}
		told := *e.Subscription
		told.CancelAtPeriodEnd = sub.CancelAtPeriodEnd
		e.Subscription = &told
	}
	return s.followTx(ctx, tx, sub, action, e)
}

// followTx does what the gateway's newest word asks for.
func (s *Applier) followTx(ctx context.Context, tx pgx.Tx, sub *Row, action Action, e payments.Event) (string, error) {
	if action == GatewaySaysExpired && sub.IntentOpen {
		action = PaymentDeclined // the echo of ending a declined one, before the answer to the customer is written
	}
	by, err := s.reads.HeldTx(ctx, tx, *sub)
	if err != nil {
		return "", err
	}
	if by != "" && (action == GatewaySaysActive || action == GatewaySaysIncomplete) {
		action = GatewaySaysOpenHeld
	}
	extended, err := s.reads.ExtendedTo(ctx, tx, *sub)
	if err != nil {
		return "", err
	}
	c := Change{Action: action, Source: ByWebhook, Event: &e.ID}
	switch action {
	case GatewaySaysOpenHeld:
		c.Edit = func(r *Row) {
			noteEvent(r, e)
			if Running(e.Subscription.Status) {
				s.follow(r, e, extended)
			}
		}
		_, err := s.store.MoveTx(ctx, tx, sub, c)
		return by, err
	case GatewaySaysActive:
		c.Edit = func(r *Row) { s.follow(r, e, extended); CloseIntent(r); r.PaymentFailures = 0 }
	case GatewaySaysSuspended:
		counts, err := s.countsTx(ctx, tx, *sub, e)
		if err != nil {
			return "", err
		}
		if s.cfg.PastDueOnlyCounts && e.Subscription.Status == payments.RemotePastDue {
			return "", s.onlyCountTx(ctx, tx, sub, counts, extended, e)
		}
		c.Edit = func(r *Row) {
			s.follow(r, e, extended)
			CloseIntent(r)
			if counts {
				r.PaymentFailures++
			}
		}
		if counts && Status(sub.Status) != Pending && !paidAlready(*sub, e.Subscription.LatestPayment) {
			if err := s.dunning.DunTx(ctx, tx, *sub, e.Subscription.LatestPayment); err != nil {
				return "", err
			}
		}
	default:
		c.Edit = func(r *Row) { s.follow(r, e, extended) }
	}
	if _, err := s.store.MoveTx(ctx, tx, sub, c); err != nil || !Status(sub.Status).Ended() {
		return "", err
	}
	return "", s.store.EndTx(ctx, tx, EndArgs{SubscriptionID: sub.ID, Told: true})
}

// HeldTx says what keeps a subscription suspended against gateway B's routine word
// that its recurrence runs: money that is disputed, or an admin. "" when that word
// opens it.
func (s *Reads) HeldTx(ctx context.Context, tx pgx.Tx, sub Row) (string, error) {
	switch {
	case Status(sub.Status) != Suspended:
		return "", nil
	case sub.HasChargeback:
		return "suspended by a dispute", nil
	}
	reason, err := s.db.GetLastReason(ctx, tx, sub.ID)
	if err == nil && Reason(reason) == Reasons[AdminSuspends] {
		return "suspended by an admin", nil
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return "", err
}

// paidAlready reports whether the newest payment that a status event names is
// known to be made.
func paidAlready(sub Row, latest *payments.Payment) bool {
	return latest != nil && latest.ID == Text(sub.LastPaidInvoiceID)
}

func (s *Applier) onlyCountTx(ctx context.Context, tx pgx.Tx, sub *Row, counts bool, extended *time.Time, e payments.Event) error {
	if counts && Status(sub.Status) != Pending {
		if err := s.failTx(ctx, tx, sub, e); err != nil {
			return err
		}
	}
	return s.store.EditTx(ctx, tx, sub, func(r *Row) { s.follow(r, e, extended) })
}

// countsTx reports whether the event tells of a failure that is not counted yet:
// a failed renewal sends this event and invoice.payment_failed, and counts once,
// whichever comes first. Without an open invoice it counts when it suspends.
func (s *Applier) countsTx(ctx context.Context, tx pgx.Tx, sub Row, e payments.Event) (bool, error) {
	latest := e.Subscription.LatestPayment
	if latest == nil || latest.ID == "" || latest.ID == Text(sub.LastPaidInvoiceID) {
		return Status(sub.Status) != Suspended, nil
	}
	return s.payments.RecordFailureTx(ctx, tx, payments.Failure{
		Gateway: e.Gateway, Purpose: payments.ForSubscription, LocalID: sub.ID,
		PaymentID: latest.ID, Amount: latest.Amount, FailedAt: e.CreatedAt,
	})
}

// follow writes the dates that a status event tells. Cancelled at the period's
// end means access until then; taken back, the recurrence runs on. Of a period that an
// extension is about to lengthen it still tells the old end.
func (s *Applier) follow(r *Row, e payments.Event, extended *time.Time) {
	noteEvent(r, e)
	s.calendar.LearnRemote(r, e.Subscription)
	s.FollowPeriodEnd(r, e.Subscription, extended)
}

func (s *Applier) FollowPeriodEnd(r *Row, remote *payments.RemoteSubscription, extended *time.Time) {
	before := r.CancelAtPeriodEnd
	switch {
	case remote.CancelAtPeriodEnd && remote.NextBilling != nil:
		r.CancelAtPeriodEnd, r.ExpiresAt = true, new(LatestOf(*remote.NextBilling, extended))
	case !remote.CancelAtPeriodEnd && r.CancelAtPeriodEnd:
		r.CancelAtPeriodEnd, r.ExpiresAt = false, extended
	}
	if r.CancelAtPeriodEnd != before {
		s.PlanPeriodEndLook(r)
	}
}

// older reports whether a status event tells less than what is known. The
// gateway's clock has whole seconds: on a tie nothing worse than the present
// state is believed, except an end, from which there is no way back, and a change
// that says of itself that it left the present state.
func older(sub Row, action Action, e payments.Event) bool {
	if action == GatewaySaysIncomplete && isCreation(e) && Status(sub.Status) != Pending {
		return true // it was paid since it was created
	}
	if sub.LastEventAt == nil {
		return false
	}
	if !e.CreatedAt.Equal(*sub.LastEventAt) {
		return e.CreatedAt.Before(*sub.LastEventAt)
	}
	if follows(sub, e) {
		return false
	}
	to, ok := Next(Status(sub.Status), action)
	return ok && !to.Ended() && goodness[to] < goodness[Status(sub.Status)]
}

// follows reports whether the event's change began at the present state. One about
// an invoice that is paid by now lies before that payment.
func follows(sub Row, e payments.Event) bool {
	left, told := StatusActions[e.LeftStatus]
	if !told || paidAlready(sub, e.Subscription.LatestPayment) {
		return false
	}
	state, ok := Next(Status(sub.Status), left)
	return ok && string(state) == sub.Status
}

var goodness = map[Status]int{Pending: 0, Suspended: 1, Active: 2}
