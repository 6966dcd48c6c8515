package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/state"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Change is one action on a subscription: the move that the table gives it, and
// further fields.
type Change struct {
	Action state.Action
	Source state.Source
	Actor  *objectid.ID
	Event  *string                 // the gateway's event, when one is behind it
	Edit   func(sub *Subscription) // sets what changes besides the state
}

// errMoved says that somebody else moved the subscription since it was read.
var errMoved = errors.New("subscription was moved by somebody else")

// LockTx reads a subscription for a change. It locks the customer first and the
// row after: subscribing does so too, and two orders would end in deadlocks. An unknown id is pgx.ErrNoRows; other
// errors are the database's.
func (s *Store) LockTx(ctx context.Context, tx pgx.Tx, customerID, id objectid.ID) (Subscription, error) {
	if err := s.LockCustomerTx(ctx, tx, customerID); err != nil {
		return Subscription{}, err
	}
	return s.db.SubscriptionLock(ctx, tx, id)
}

// Locked runs f with the subscription as it is once it is locked, in a transaction of its own. Errors are those of
// LockTx, and f's own: with one nothing is written.
func (s *Store) Locked(ctx context.Context, sub Subscription, f func(tx pgx.Tx, locked Subscription) error) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		locked, err := s.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil {
			return err
		}
		return f(tx, locked)
	})
}

// LockCustomerTx lets a deleted customer pass: what they owe and are owed goes on. The lock is taken with
// the transaction's next statement. An error is the database's.
func (s *Store) LockCustomerTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	return s.deps.Accounts.HoldCustomerTx(ctx, tx, customerID)
}

// IsGoneTx reports whether the account is deleted. An error is the database's.
func (s *Store) IsGoneTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) (bool, error) {
	err := s.deps.Accounts.LockCustomerTx(ctx, tx, customerID)
	if IsMissing(err) {
		return true, nil
	}
	return false, err
}

// MoveTx applies a change to a locked subscription and is the only way in which
// a state changes: compare-and-set, history, the customer's pointer and the job
// for its expiry in the caller's transaction. Moved is false, and nothing is
// written, when the state holds against the action; errMoved when the row, which was not locked then, has
// another state by now, which the next statement reports (postgres.ChangeLater). Other errors are the database's, or
// of promo codes: the caller rolls back.
func (s *Store) MoveTx(ctx context.Context, tx pgx.Tx, sub *Subscription, c Change) (moved bool, err error) {
	from := sub.Status
	to, ok := state.Next(from, c.Action)
	if !ok {
		return false, nil
	}
	now := s.deps.Clock.Now()
	after := *sub
	after.Status = to
	switch {
	case to == state.Active && after.StartedAt == nil:
		after.StartedAt = &now
		if err := s.startTrialTx(ctx, tx, after); err != nil {
			return false, err
		}
	case to.Ended() && !from.Ended():
		after.EndedAt = &now
		if c.Source.SettlesOutcome() {
			after.CloseIntent()
		}
		after.GatewayEndOpenSince = nil // its end is gateway_ended_at from here on
	}
	if !to.Ended() {
		after.EndedAt, after.GatewayEndedAt = nil, nil
	}
	if c.Edit != nil {
		c.Edit(&after)
	}
	reason, before := state.ReasonFor(c.Action, sub.known()), *sub
	if sub.IsPendingRenewal() && !to.Ended() && to != state.Pending {
		if err := s.replaceTx(ctx, tx, *sub); err != nil {
			return false, err
		}
	}
	saved, err := s.saveTx(ctx, tx, *sub, after, named{string(c.Action), state.WrittenBy(c.Action)}, endOf(c))
	if err != nil {
		return false, err
	}
	*sub = saved
	if err := s.movePromoTx(ctx, tx, before, saved); err != nil {
		return false, err
	}
	if to == from && c.Action != state.CustomerWithdraws {
		return true, nil
	}
	if err := s.recordMoveTx(ctx, tx, saved, from, reason, c); err != nil {
		return false, err
	}
	byPerson := c.Source == state.ByCustomer || c.Source == state.ByAdmin
	if to.Ended() && byPerson && c.Action != state.Replaced {
		return true, s.EndWaitingTx(ctx, tx, saved, c)
	}
	return true, nil
}

// recordMoveTx does what a move brings with it. It writes the history: a move by an event that an admin had applied
// again names that admin. With an end or a beginning go pauses, codes, the customer's pointer and the renewal that
// waited. Of an account that was deleted there is none. An error is the database's.
func (s *Store) recordMoveTx(ctx context.Context, tx pgx.Tx, sub Subscription, from state.Status, reason state.Reason,
	c Change,
) error {
	if c.Event != nil {
		c.Actor = CallerID(ctx)
	}
	err := s.db.TransitionInsert(ctx, postgres.Later(tx), subscriptionsdb.TransitionInsertParams{
		SubscriptionID: sub.ID, CustomerID: sub.CustomerID, At: sub.RegisterUpdateDate, FromStatus: nullable.Ptr(from),
		ToStatus: sub.Status, Reason: reason, Source: c.Source, ActorID: c.Actor, EventID: c.Event,
	})
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	if to := sub.Status; to.Ended() {
		if err := s.VoidPauses(ctx, tx, sub.ID, *sub.EndedAt); err != nil {
			return err
		}
		if err := s.deps.Accounts.ClearCurrentSubscriptionTx(ctx, tx, sub.CustomerID, sub.ID); err != nil {
			return err
		}
		if err := s.withdrawChargesTx(ctx, tx, sub); err != nil {
			return err
		}
		return s.activateRenewalTx(ctx, tx, sub)
	}
	if from.Ended() || from == state.None && !sub.IsPendingRenewal() || from == state.Pending && sub.RenewsID != nil {
		return s.deps.Accounts.SetCurrentSubscriptionTx(ctx, tx, sub.CustomerID, sub.ID)
	}
	return nil
}

// CallerID is the admin who asks, nil for everybody else.
func CallerID(ctx context.Context) *objectid.ID {
	id := httpapi.CallerOf(ctx).ID
	if id == "" {
		return nil
	}
	return &id
}

// InsertTx writes a subscription that begins by the action, pending and with its intent open, with all that goes with
// that, with the transaction's next statement, whose error is the database's, subscriptions_one_live_per_customer
// included. Other errors are those of PromoCodes.
func (s *Store) InsertTx(ctx context.Context, tx pgx.Tx, sub Subscription, by state.Action) (Subscription, error) {
	sub.Status, sub.IntentOpen, sub.DocumentCreatedByID = state.Pending, true, &sub.CustomerID
	sub.RegisterUpdateDate = sub.RegisterDate
	err := s.db.SubscriptionInsert(ctx, postgres.Later(tx), subscriptionsdb.SubscriptionInsertParams{
		ID: sub.ID, CustomerID: sub.CustomerID, PlanID: sub.PlanID, Gateway: sub.Gateway,
		PaymentMethod: sub.PaymentMethod, PriceCents: sub.PriceCents, PeriodMonths: sub.PeriodMonths,
		TrialDays: sub.TrialDays, GwaCustomerID: sub.GwaCustomerID, GwbCustomerID: sub.GwbCustomerID,
		GwbPriceID: sub.GwbPriceID, PixAutomatic: sub.PixAutomatic, PromoCode: sub.PromoCode,
		FirstAmountCents: sub.FirstAmountCents, AnchorDay: sub.AnchorDay, RenewsID: sub.RenewsID,
		StartsAt: sub.StartsAt, Now: sub.RegisterDate,
	})
	if err != nil {
		return Subscription{}, err
	}
	if err := s.ScheduleTx(ctx, tx, sub); err != nil {
		return Subscription{}, err
	}
	if sub.PromoCode != nil {
		if err := s.deps.Promos.HoldTx(ctx, tx, sub.CustomerID, sub.ID, *sub.PromoCode); err != nil {
			return Subscription{}, err
		}
	}
	return sub, s.recordMoveTx(ctx, tx, sub, state.None, state.ReasonFor(by, state.Known{}),
		Change{Source: state.BySubscribe, Actor: &sub.CustomerID})
}

// EditTx changes fields of a locked subscription and leaves its state alone: errMoved when that is another
// by now. Other errors are the database's.
func (s *Store) EditTx(ctx context.Context, tx pgx.Tx, sub *Subscription, as state.Edit,
	edit func(sub *Subscription),
) error {
	return s.EditEndingTx(ctx, tx, sub, as, IntentEnd{How: intent.Succeeded[any]{}, By: intent.ByResponse}, edit)
}

// EditEndingTx is EditTx, for an edit that may close the intent in another way. Errors are as there.
func (s *Store) EditEndingTx(ctx context.Context, tx pgx.Tx, sub *Subscription, as state.Edit, end IntentEnd,
	edit func(sub *Subscription),
) error {
	after := *sub
	edit(&after)
	saved, err := s.saveTx(ctx, tx, *sub, after, named{string(as), state.EditedBy(as)}, end)
	if err != nil {
		return err
	}
	*sub = saved
	return nil
}

// IntentEnd is how an intent ends that a change closes, and who brought it.
type IntentEnd struct {
	How intent.Outcome[any]
	By  intent.By
}

func endOf(c Change) IntentEnd {
	e := IntentEnd{How: intent.Succeeded[any]{}, By: intent.By(c.Source)}
	switch {
	case c.Action == state.PaymentDeclined:
		e.How = intent.Declined[any]{}
	case c.Action == state.AbsentAtGateway && c.Source == state.BySubscribe:
		e.How = intent.Refused[any]{}
	case c.Action == state.AbsentAtGateway:
		e.How = intent.Missing[any]{}
	}
	return e
}

// named is an action or an edit, and the columns that it may write.
type named struct {
	name    string
	columns state.Columns
}

// saveTx writes the columns in which the row differs from before, if its state is still that
// of before, ends its intent when its outcome stands in it, and schedules what its dates ask
// for. What differs is written in any case; a column that the change does not name is a
// programming error, and logged as one: to refuse it would lose money. errMoved when the state is
// another. Other errors are the database's.
func (s *Store) saveTx(ctx context.Context, tx pgx.Tx, before, r Subscription, as named,
	end IntentEnd,
) (Subscription, error) {
	r.RegisterUpdateDate = s.deps.Clock.Now()
	differ := columns.Differing(&before, &r)
	if more := differ.Outside(as.columns); more != nil {
		s.deps.Log.ErrorContext(ctx, "a change of a subscription writes columns that it does not name",
			slog.String("subscription_id", r.ID.String()), slog.String("change", as.name), slog.Any("columns", more))
	}
	const update = "UPDATE subscriptions.subscriptions SET register_update_date = $3%s WHERE id = $1 AND status = $2"
	moved := fmt.Errorf("subscription %s is no longer %s: %w", r.ID, before.Status, errMoved)
	if err := differ.UpdateLater(ctx, tx, moved, update, &r, r.ID, before.Status, r.RegisterUpdateDate); err != nil {
		return Subscription{}, fmt.Errorf("write subscription: %w", err)
	}
	if before.IntentOpen && !r.IntentOpen {
		if err := s.deps.Intents.EndTx(ctx, tx, IntentOf(r.ID), end.How, end.By); err != nil {
			return Subscription{}, err
		}
	}
	return r, s.ScheduleTx(ctx, tx, r)
}

// IntentOf names the intent of a subscription's first call.
func IntentOf(id objectid.ID) intent.Ref { return intent.Ref{Kind: intent.Subscription, Subject: id} }

// ScheduleTx inserts the jobs for the instants that the row waits for. A job
// looks at the row again when its time comes, so one too many does no harm. An error is the database's.
func (s *Store) ScheduleTx(ctx context.Context, tx pgx.Tx, sub Subscription) error {
	status := sub.Status
	if end := sub.ExpiresAt; end != nil && (status == state.Active || status == state.Suspended) {
		args := ExpireArgs{SubscriptionID: sub.ID, At: *end}
		if err := s.insertAtTx(ctx, tx, jobs.QueueDefault, *end, args); err != nil {
			return err
		}
	}
	switch {
	case sub.IntentOpen: // its checks come by themselves
	case status == state.Pending && (sub.PixPaymentID != nil || sub.GwaPixAuthID != nil):
		due := s.calendar.PixDue(sub)
		return s.InsertAtTx(ctx, tx, due, DropPixArgs{SubscriptionID: sub.ID, At: due})
	case status == state.Active && sub.PixAutomatic && sub.NextBillingDate != nil:
		due := s.calendar.DebitAt(*sub.NextBillingDate)
		return s.InsertAtTx(ctx, tx, due, DebitArgs{SubscriptionID: sub.ID, At: due})
	}
	return nil
}

// InsertAtTx inserts a job that asks a gateway at an instant; the same job is inserted once. An error is the
// database's, which has the jobs.
func (s *Store) InsertAtTx(ctx context.Context, tx pgx.Tx, at time.Time, args river.JobArgs) error {
	return s.insertAtTx(ctx, tx, jobs.QueueGateway, at, args)
}

// insertAtTx is InsertAtTx for any queue. An error is the database's.
func (s *Store) insertAtTx(ctx context.Context, tx pgx.Tx, queue string, at time.Time, args river.JobArgs) error {
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, args, &river.InsertOpts{
		ScheduledAt: at, Queue: queue, UniqueOpts: river.UniqueOpts{ByArgs: true},
	})
}

// movePromoTx redeems the promo code of a subscription once access begins, and gives it
// back when access never began. Errors are those of PromoCodes.
func (s *Store) movePromoTx(ctx context.Context, tx pgx.Tx, before, after Subscription) error {
	switch {
	case after.PromoCode == nil:
		return nil
	case after.Status == state.Active && before.StartedAt == nil:
		return s.deps.Promos.RedeemTx(ctx, tx, after.CustomerID, after.ID, *after.PromoCode)
	case after.Status.Ended() && after.StartedAt == nil:
		return s.deps.Promos.ReleaseTx(ctx, tx, after.CustomerID, after.ID, *after.PromoCode)
	}
	return nil
}

// SetOnce keeps an id that became known; an empty one changes nothing.
func SetOnce(field **string, id string) {
	if id != "" {
		*field = &id
	}
}

var columns = postgres.Columns[Subscription]{
	{"status", func(r *Subscription) any { return r.Status }},
	{"started_at", func(r *Subscription) any { return r.StartedAt }},
	{"ended_at", func(r *Subscription) any { return r.EndedAt }},
	{"intent_open", func(r *Subscription) any { return r.IntentOpen }},
	{"gwa_subscription_id", func(r *Subscription) any { return r.GwaSubscriptionID }},
	{"gwa_customer_id", func(r *Subscription) any { return r.GwaCustomerID }},
	{"gwa_pix_auth_id", func(r *Subscription) any { return r.GwaPixAuthID }},
	{"gwb_subscription_id", func(r *Subscription) any { return r.GwbSubscriptionID }},
	{"gwb_customer_id", func(r *Subscription) any { return r.GwbCustomerID }},
	{"plan_id", func(r *Subscription) any { return r.PlanID }},
	{"price_cents", func(r *Subscription) any { return r.PriceCents }},
	{"gwb_price_id", func(r *Subscription) any { return r.GwbPriceID }},
	{"pix_conciliation_id", func(r *Subscription) any { return r.PixConciliationID }},
	{"pix_payment_id", func(r *Subscription) any { return r.PixPaymentID }},
	{"pix_payload", func(r *Subscription) any { return r.PixPayload }},
	{"pix_image", func(r *Subscription) any { return r.PixImage }},
	{"pix_expires_at", func(r *Subscription) any { return r.PixExpiresAt }},
	{"anchor_day", func(r *Subscription) any { return r.AnchorDay }},
	{"next_billing_date", func(r *Subscription) any { return r.NextBillingDate }},
	{"expires_at", func(r *Subscription) any { return r.ExpiresAt }},
	{"last_payment_at", func(r *Subscription) any { return r.LastPaymentAt }},
	{"last_paid_invoice_id", func(r *Subscription) any { return r.LastPaidInvoiceID }},
	{"payment_failures", func(r *Subscription) any { return r.PaymentFailures }},
	{"total_refunded_cents", func(r *Subscription) any { return r.TotalRefundedCents }},
	{"has_chargeback", func(r *Subscription) any { return r.HasChargeback }},
	{"cancel_at_period_end", func(r *Subscription) any { return r.CancelAtPeriodEnd }},
	{"period_end_told_at", func(r *Subscription) any { return r.PeriodEndToldAt }},
	{"period_end_tells", func(r *Subscription) any { return r.PeriodEndTells }},
	{"period_end_look_at", func(r *Subscription) any { return r.PeriodEndLookAt }},
	{"gateway_deleted_at", func(r *Subscription) any { return r.GatewayDeletedAt }},
	{"gateway_ended_at", func(r *Subscription) any { return r.GatewayEndedAt }},
	{"gateway_end_open_since", func(r *Subscription) any { return r.GatewayEndOpenSince }},
	{"last_event_at", func(r *Subscription) any { return r.LastEventAt }},
	{"last_event_id", func(r *Subscription) any { return r.LastEventID }},
}

var chargeColumns = postgres.Columns[RenewalCharge]{
	{"state", func(c *RenewalCharge) any { return c.State }},
	{"intent_open", func(c *RenewalCharge) any { return c.IntentOpen }},
	{"gateway_payment_id", func(c *RenewalCharge) any { return c.GatewayPaymentID }},
	{"pix_payload", func(c *RenewalCharge) any { return c.PixPayload }},
	{"pix_image", func(c *RenewalCharge) any { return c.PixImage }},
	{"pix_expires_at", func(c *RenewalCharge) any { return c.PixExpiresAt }},
	{"moved_from", func(c *RenewalCharge) any { return c.MovedFrom }},
	{"moved_to", func(c *RenewalCharge) any { return c.MovedTo }},
}
