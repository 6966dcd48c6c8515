package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// row is a subscription as the database holds it.
type row = subscriptionsdb.Subscription

// Source says what brought a move about, in the history.
type Source string

// The sources.
const (
	BySubscribe Source = "subscribe"
	ByWebhook   Source = "webhook"
	ByRecovery  Source = "recovery"
	ByLiveRead  Source = "live_read"
	ByJob       Source = "job"
	ByCustomer  Source = "customer"
	ByAdmin     Source = "admin"
	ByReconcile Source = "reconciliation"
)

// tellsOutcome reports whether the gateway is behind a move. Where a person or the
// clock ends a subscription whose call has not been answered, somebody still has
// to find out what is to be ended at the gateway.
func (s Source) tellsOutcome() bool {
	return s != ByAdmin && s != ByCustomer && s != ByJob
}

// change is one action on a subscription: the move that the table gives it, and
// further fields.
type change struct {
	action Action
	source Source
	actor  *objectid.ID
	event  *string        // the gateway's event, when one is behind it
	edit   func(sub *row) // sets what changes besides the state
}

// errMoved says that somebody else moved the subscription since it was read.
var errMoved = errors.New("subscription was moved by somebody else")

// lockTx reads a subscription for a change. It locks the customer first and the
// row after: subscribing does so too, and two orders would end in deadlocks.
func (s *Store) lockTx(ctx context.Context, tx pgx.Tx, customerID, id objectid.ID) (row, error) {
	if err := s.lockCustomerTx(ctx, tx, customerID); err != nil {
		return row{}, err
	}
	return s.db.GetSubscriptionForUpdate(ctx, tx, id)
}

// lockCustomerTx lets a deleted customer pass: what he owes and is owed goes on.
func (s *Store) lockCustomerTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	err := s.accounts.LockCustomerTx(ctx, tx, customerID)
	if isMissing(err) {
		return nil
	}
	return err
}

// isGoneTx reports whether the customer has deleted his account.
func (s *Store) isGoneTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) (bool, error) {
	err := s.accounts.LockCustomerTx(ctx, tx, customerID)
	if isMissing(err) {
		return true, nil
	}
	return false, err
}

// moveTx applies a change to a locked subscription and is the only way in which
// a state changes: compare-and-set, history, the customer's pointer and the job
// for its expiry in the caller's transaction. Moved is false, and nothing is
// written, when the state holds against the action.
func (s *Store) moveTx(ctx context.Context, tx pgx.Tx, sub *row, c change) (moved bool, err error) {
	from := Status(sub.Status)
	to, ok := Next(from, c.action)
	if !ok {
		return false, nil
	}
	now := s.clock.Now()
	after := *sub
	after.Status = string(to)
	switch {
	case to == Active && after.StartedAt == nil:
		after.StartedAt = &now
		if err := s.startTrialTx(ctx, tx, after); err != nil {
			return false, err
		}
	case to.Ended() && !from.Ended():
		after.EndedAt = &now
		if c.source.tellsOutcome() {
			closeIntent(&after)
		}
		after.GatewayEndOpenSince = nil // its end is gateway_ended_at from here on
	}
	if !to.Ended() {
		after.EndedAt, after.GatewayEndedAt = nil, nil
	}
	if c.edit != nil {
		c.edit(&after)
	}
	reason, before := reasonFor(c.action, *sub), *sub
	if waits(*sub) && !to.Ended() && to != Pending {
		if err := s.replaceTx(ctx, tx, *sub); err != nil {
			return false, err
		}
	}
	saved, err := s.saveTx(ctx, tx, *sub, after, endOf(c))
	if err != nil {
		return false, err
	}
	*sub = saved
	if err := s.movePromoTx(ctx, tx, before, saved); err != nil {
		return false, err
	}
	if to == from && c.action != CustomerWithdraws {
		return true, nil
	}
	if err := s.recordMoveTx(ctx, tx, saved, from, reason, c); err != nil {
		return false, err
	}
	byPerson := c.source == ByCustomer || c.source == ByAdmin
	if to.Ended() && byPerson && c.action != Replaced {
		return true, s.endWaitingTx(ctx, tx, saved, c)
	}
	return true, nil
}

// recordMoveTx writes the history. A move by an event that an admin had applied
// again names him.
func (s *Store) recordMoveTx(ctx context.Context, tx pgx.Tx, sub row, from Status, reason Reason, c change) error {
	if c.event != nil {
		c.actor = callerID(ctx)
	}
	err := s.db.InsertTransition(ctx, tx, subscriptionsdb.InsertTransitionParams{
		SubscriptionID: sub.ID, CustomerID: sub.CustomerID, At: sub.RegisterUpdateDate, FromStatus: filled(string(from)),
		ToStatus: sub.Status, Reason: string(reason), Source: string(c.source), ActorID: c.actor, EventID: c.event,
	})
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	if to := Status(sub.Status); to.Ended() {
		if err := s.db.VoidPauses(ctx, tx, subscriptionsdb.VoidPausesParams{SubscriptionID: sub.ID, Now: sub.EndedAt}); err != nil {
			return fmt.Errorf("void pauses: %w", err)
		}
		if err := s.accounts.ClearCurrentSubscriptionTx(ctx, tx, sub.CustomerID, sub.ID); err != nil {
			return err
		}
		if err := s.withdrawChargesTx(ctx, tx, sub); err != nil {
			return err
		}
		return s.followedByTx(ctx, tx, sub)
	}
	if from.Ended() || from == None && !waits(sub) || from == Pending && sub.RenewsID != nil {
		err = s.accounts.SetCurrentSubscriptionTx(ctx, tx, sub.CustomerID, sub.ID)
		if isMissing(err) {
			return nil // the customer has deleted his account meanwhile
		}
		return err
	}
	return nil
}

// editTx changes fields of a locked subscription and leaves its state alone.
func (s *Store) editTx(ctx context.Context, tx pgx.Tx, sub *row, edit func(sub *row)) error {
	return s.editAsTx(ctx, tx, sub, intentEnd{how: intent.Done, by: "answer"}, edit)
}

// editAsTx is editTx, for an edit that may close the intent in another way.
func (s *Store) editAsTx(ctx context.Context, tx pgx.Tx, sub *row, end intentEnd, edit func(sub *row)) error {
	after := *sub
	edit(&after)
	saved, err := s.saveTx(ctx, tx, *sub, after, end)
	if err != nil {
		return err
	}
	*sub = saved
	return nil
}

// intentEnd is how an intent ends that a change closes, and who brought it.
type intentEnd struct {
	how intent.State
	by  string
}

func endOf(c change) intentEnd {
	e := intentEnd{how: intent.Done, by: string(c.source)}
	switch {
	case c.action == PaymentDeclined:
		e.how = intent.Declined
	case c.action == NothingAtGateway && c.source == BySubscribe:
		e.how = intent.Refused
	case c.action == NothingAtGateway:
		e.how = intent.Missing
	}
	return e
}

// saveTx writes the row if its state is still that of before, ends its intent when
// its outcome stands in it, and schedules what its dates ask for.
func (s *Store) saveTx(ctx context.Context, tx pgx.Tx, before, r row, end intentEnd) (row, error) {
	from := before.Status
	r.RegisterUpdateDate = s.clock.Now()
	n, err := s.db.UpdateSubscription(ctx, tx, subscriptionsdb.UpdateSubscriptionParams{
		ID: r.ID, FromStatus: from, Status: r.Status, Now: r.RegisterUpdateDate, PlanID: r.PlanID, PriceCents: r.PriceCents,
		GwaSubscriptionID: r.GwaSubscriptionID, GwaCustomerID: r.GwaCustomerID, GwaPixAuthID: r.GwaPixAuthID,
		GwbSubscriptionID: r.GwbSubscriptionID, GwbCustomerID: r.GwbCustomerID, GwbPriceID: r.GwbPriceID,
		PixConciliationID: r.PixConciliationID, PixPaymentID: r.PixPaymentID, PixPayload: r.PixPayload, PixImage: r.PixImage, PixExpiresAt: r.PixExpiresAt,
		StartedAt: r.StartedAt, AnchorDay: r.AnchorDay, NextBillingDate: r.NextBillingDate, LastPaymentAt: r.LastPaymentAt,
		ExpiresAt: r.ExpiresAt, EndedAt: r.EndedAt, GatewayDeletedAt: r.GatewayDeletedAt, GatewayEndedAt: r.GatewayEndedAt,
		GatewayEndOpenSince: r.GatewayEndOpenSince, PeriodEndToldAt: r.PeriodEndToldAt, PeriodEndTells: r.PeriodEndTells, PeriodEndLookAt: r.PeriodEndLookAt,
		CancelAtPeriodEnd: r.CancelAtPeriodEnd, PaymentFailures: r.PaymentFailures, HasChargeback: r.HasChargeback, TotalRefundedCents: r.TotalRefundedCents,
		IntentOpen: r.IntentOpen, RecoveryTries: r.RecoveryTries, RecoveryAt: r.RecoveryAt,
		LastEventAt: r.LastEventAt, LastEventID: r.LastEventID, LastPaidInvoiceID: r.LastPaidInvoiceID,
	})
	if err != nil {
		return row{}, fmt.Errorf("write subscription: %w", err)
	}
	if n == 0 {
		return row{}, fmt.Errorf("subscription %s is no longer %s: %w", r.ID, from, errMoved)
	}
	if before.IntentOpen && !r.IntentOpen {
		if err := s.intents.EndTx(ctx, tx, intentOf(r.ID), end.how, end.by); err != nil {
			return row{}, err
		}
	}
	return r, s.scheduleTx(ctx, tx, r)
}

// intentOf names the intent of a subscription's first call.
func intentOf(id objectid.ID) intent.Ref { return intent.Ref{Kind: intent.Subscription, Subject: id} }

// scheduleTx inserts the jobs for the instants that the row waits for. A job
// looks at the row again when its time comes, so one too many does no harm.
func (s *Store) scheduleTx(ctx context.Context, tx pgx.Tx, sub row) error {
	at := func(when time.Time, args river.JobArgs, queue string) error {
		_, err := s.jobs.InsertTx(ctx, tx, args, &river.InsertOpts{
			ScheduledAt: when, Queue: queue, UniqueOpts: river.UniqueOpts{ByArgs: true},
		})
		if err != nil {
			return fmt.Errorf("schedule %s: %w", args.Kind(), err)
		}
		return nil
	}
	status := Status(sub.Status)
	if sub.ExpiresAt != nil && (status == Active || status == Suspended) {
		if err := at(*sub.ExpiresAt, expireArgs{SubscriptionID: sub.ID, At: *sub.ExpiresAt}, jobs.QueueDefault); err != nil {
			return err
		}
	}
	switch {
	case sub.IntentOpen: // its looks come by themselves
	case status == Pending && (sub.PixPaymentID != nil || sub.GwaPixAuthID != nil):
		due := s.calendar.pixDue(sub)
		return at(due, dropPixArgs{SubscriptionID: sub.ID, At: due}, jobs.QueueGateway)
	case status == Active && sub.PixAutomatic && sub.NextBillingDate != nil:
		due := s.calendar.debitAt(*sub.NextBillingDate)
		return at(due, debitArgs{SubscriptionID: sub.ID, At: due}, jobs.QueueGateway)
	}
	return nil
}

// closeIntent notes that the gateway's answer stands in the row.
func closeIntent(sub *row) { sub.IntentOpen, sub.RecoveryAt = false, nil }

// filled is nil for "".
func filled(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// learn keeps an id that became known; an empty one changes nothing.
func learn(field **string, id string) {
	if id != "" {
		*field = &id
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
