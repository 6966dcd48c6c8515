package webhooks

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/nullable"
)

// applyStatusTx: customer.subscription.created and .updated.
func (s *Applier) applyStatusTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, e gateway.Event,
	change gateway.SubscriptionChange,
) (gateway.Reason, error) {
	if sub.Status.Ended() {
		return gateway.ReasonEnded, nil
	}
	action, known := lifecycle.StatusActions[change.Subscription.Status]
	if !known {
		return gateway.ReasonUnknownStatus, nil
	}
	if older(*sub, action, e, change) {
		return gateway.ReasonOlder, nil
	}
	if _, err := s.locator.adoptTx(ctx, tx, sub, e); err != nil {
		return "", err
	}
	if sub.EndsThere() {
		if action == state.GatewaySaysCancelled {
			return s.applyEndTx(ctx, tx, sub, e, change.Subscription)
		}
		return gateway.ReasonRecurrenceEnds, nil
	}
	putBack, err := s.deps.PutEndBackTx(ctx, tx, *sub, change.Subscription)
	if err != nil {
		return "", err
	}
	if putBack {
		change.Subscription.CancelAtPeriodEnd = sub.CancelAtPeriodEnd
	} else if doubtsPeriodEnd(*sub, e, change.Subscription) {
		if err := s.queueRecurrenceCheckTx(ctx, tx, sub, RecurrenceArgs{EventID: e.ID}); err != nil {
			return "", err
		}
		change.Subscription.CancelAtPeriodEnd = sub.CancelAtPeriodEnd
	}
	return s.moveByStatusTx(ctx, tx, sub, action, e, change.Subscription)
}

// moveByStatusTx does what the gateway's newest word asks for.
func (s *Applier) moveByStatusTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, action state.Action,
	e gateway.Event, remote gateway.RemoteSubscription,
) (gateway.Reason, error) {
	if action == state.GatewaySaysExpired && sub.IntentOpen {
		// The echo of ending a declined one, before the answer to the customer is written.
		action = state.PaymentDeclined
	}
	by, err := s.deps.Reads.SuspendedByTx(ctx, tx, *sub)
	if err != nil {
		return "", err
	}
	if by != "" && (action == state.GatewaySaysActive || action == state.GatewaySaysIncomplete) {
		action = state.GatewaySaysOpenSuspended
	}
	extended, err := s.deps.Reads.ExtendedTo(ctx, tx, *sub)
	if err != nil {
		return "", err
	}
	c := lifecycle.Change{Action: action, Source: state.ByWebhook, Event: &e.ID}
	switch action {
	case state.GatewaySaysOpenSuspended:
		c.Edit = func(r *lifecycle.Subscription) {
			recordEvent(r, e)
			if lifecycle.Running(remote.Status) {
				s.applyStatusDates(r, e, remote, extended)
			}
		}
		_, err := s.deps.Store.MoveTx(ctx, tx, sub, c)
		return by, err
	case state.GatewaySaysActive:
		c.Edit = func(r *lifecycle.Subscription) {
			s.applyStatusDates(r, e, remote, extended)
			r.CloseIntent()
			r.PaymentFailures = 0
		}
	case state.GatewaySaysSuspended:
		counts, err := s.countsTx(ctx, tx, *sub, e, remote.LatestPayment)
		if err != nil {
			return "", err
		}
		if s.deps.Config.PastDueOnlyCounts && remote.Status == gateway.RemotePastDue {
			return "", s.onlyCountTx(ctx, tx, sub, counts, extended, e, remote)
		}
		c.Edit = func(r *lifecycle.Subscription) {
			s.applyStatusDates(r, e, remote, extended)
			r.CloseIntent()
			if counts {
				r.PaymentFailures++
			}
		}
		if counts && sub.Status != state.Pending && !paidAlready(*sub, remote.LatestPayment) {
			if err := s.deps.Dunning.DunTx(ctx, tx, *sub, remote.LatestPayment); err != nil {
				return "", err
			}
		}
	default:
		c.Edit = func(r *lifecycle.Subscription) { s.applyStatusDates(r, e, remote, extended) }
	}
	if _, err := s.deps.Store.MoveTx(ctx, tx, sub, c); err != nil || !sub.Status.Ended() {
		return "", err
	}
	return "", s.deps.Store.EndReportedTx(ctx, tx, *sub)
}

// paidAlready reports whether the newest payment that a status event names is
// known to be made.
func paidAlready(sub lifecycle.Subscription, latest *gateway.Payment) bool {
	return latest != nil && latest.ID == nullable.Value(sub.LastPaidInvoiceID)
}

func (s *Applier) onlyCountTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, counts bool,
	extended *time.Time, e gateway.Event, remote gateway.RemoteSubscription,
) error {
	if counts && sub.Status != state.Pending {
		if err := s.failTx(ctx, tx, sub, e, remote.LatestPayment); err != nil {
			return err
		}
	}
	return s.deps.Store.EditTx(ctx, tx, sub, state.RecurrenceReported,
		func(r *lifecycle.Subscription) { s.applyStatusDates(r, e, remote, extended) })
}

// countsTx reports whether the event tells of a failure that is not counted yet:
// a failed renewal sends this event and invoice.payment_failed, and counts once,
// whichever comes first. Without an open invoice it counts when it suspends.
func (s *Applier) countsTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, e gateway.Event,
	latest *gateway.Payment,
) (bool, error) {
	if latest == nil || latest.ID == "" || latest.ID == nullable.Value(sub.LastPaidInvoiceID) {
		return sub.Status != state.Suspended, nil
	}
	return s.deps.Payments.RecordFailureTx(ctx, tx, payments.Failure{
		Gateway: e.Gateway, Purpose: gateway.ForSubscription, LocalID: sub.ID,
		PaymentID: latest.ID, Amount: latest.Amount, FailedAt: e.CreatedAt,
	})
}

// applyStatusDates writes the dates that a status event tells. Cancelled at the period's
// end means access until then; taken back, the recurrence runs on. Of a period that an
// extension is about to lengthen it still tells the old end.
func (s *Applier) applyStatusDates(r *lifecycle.Subscription, e gateway.Event, remote gateway.RemoteSubscription,
	extended *time.Time,
) {
	recordEvent(r, e)
	s.deps.Calendar.SetRemote(r, &remote)
	s.SetPeriodEnd(r, &remote, extended)
}

// SetPeriodEnd writes whether the gateway ends the recurrence with its paid time.
func (s *Applier) SetPeriodEnd(r *lifecycle.Subscription, remote *gateway.RemoteSubscription, extended *time.Time) {
	before := r.CancelAtPeriodEnd
	switch {
	case remote.CancelAtPeriodEnd && remote.NextBilling != nil:
		r.CancelAtPeriodEnd, r.ExpiresAt = true, new(lifecycle.LatestOf(*remote.NextBilling, extended))
	case !remote.CancelAtPeriodEnd && r.CancelAtPeriodEnd:
		r.CancelAtPeriodEnd, r.ExpiresAt = false, extended
	}
	if r.CancelAtPeriodEnd != before {
		s.PlanPeriodEndCheck(r)
	}
}

// older reports whether a status event tells less than what is known. The
// gateway's clock has whole seconds: on a tie nothing worse than the present
// state is believed, except an end, from which there is no way back, and a change
// that says of itself that it left the present state.
func older(sub lifecycle.Subscription, action state.Action, e gateway.Event, change gateway.SubscriptionChange) bool {
	if action == state.GatewaySaysIncomplete && isCreation(e) && sub.Status != state.Pending {
		return true // it was paid since it was created
	}
	if sub.LastEventAt == nil {
		return false
	}
	if !e.CreatedAt.Equal(*sub.LastEventAt) {
		return e.CreatedAt.Before(*sub.LastEventAt)
	}
	if isSuccessor(sub, change) {
		return false
	}
	to, ok := state.Next(sub.Status, action)
	return ok && !to.Ended() && goodness[to] < goodness[sub.Status]
}

// isSuccessor reports whether the event's change began at the present state. One about
// an invoice that is paid by now lies before that payment.
func isSuccessor(sub lifecycle.Subscription, change gateway.SubscriptionChange) bool {
	left, known := lifecycle.StatusActions[change.Left]
	if !known || paidAlready(sub, change.Subscription.LatestPayment) {
		return false
	}
	state, ok := state.Next(sub.Status, left)
	return ok && state == sub.Status
}

var goodness = map[state.Status]int{state.Pending: 0, state.Suspended: 1, state.Active: 2}

// recordEvent keeps the newest status event, against which older ones are told.
func recordEvent(r *lifecycle.Subscription, e gateway.Event) {
	if r.LastEventAt == nil || !e.CreatedAt.Before(*r.LastEventAt) {
		at := e.CreatedAt
		r.LastEventAt, r.LastEventID = &at, &e.ID
	}
}

// isCreation reports whether the event tells of the subscription's beginning: the
// oldest there is, whatever comes with it.
func isCreation(e gateway.Event) bool { return strings.HasSuffix(e.Type, ".created") }
