package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// PauseArgs asks the gateway for a pause, or for its end. Only the release before inserts it: the checks do.
type PauseArgs struct {
	PauseID objectid.ID `json:"pause_id"`
	At      time.Time   `json:"at"` // distinguishes the tries of one pause
}

// Kind names the job.
func (PauseArgs) Kind() string { return "subscriptions_pause" }

// RenewalChargeArgs does what is due for an open renewal charge.
type RenewalChargeArgs struct {
	ChargeID objectid.ID `json:"charge_id"`
	At       time.Time   `json:"at"` // tells the checks of one charge apart
}

// Kind names the job.
func (RenewalChargeArgs) Kind() string { return "subscriptions_renewal_charge" }

// ExpireArgs ends access when expires_at is reached.
type ExpireArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	At             time.Time   `json:"at"`
}

// Kind names the job.
func (ExpireArgs) Kind() string { return "subscriptions_expire" }

// DropPixArgs gives up a PIX that nobody paid in time.
type DropPixArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	At             time.Time   `json:"at"`
}

// Kind names the job.
func (DropPixArgs) Kind() string { return "subscriptions_drop_pix" }

// DebitArgs orders the next debit of an automatic PIX.
type DebitArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	At             time.Time   `json:"at"`
}

// Kind names the job.
func (DebitArgs) Kind() string { return "subscriptions_debit" }

// EndArgs ends at the gateway what has ended here. Only the release before inserts it: the checks do.
type EndArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	// Told is that the gateway said by an event that it has ended there: a check may be enough.
	Told bool `json:"told,omitempty"`
}

// Kind names the job.
func (EndArgs) Kind() string { return "subscriptions_end_at_gateway" }

// StopArgs ends at gateway A a recurrence or authorization whose subscription goes
// on until the end of its paid time. Only the release before inserts it: the checks do.
type StopArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
}

// Kind names the job.
func (StopArgs) Kind() string { return "subscriptions_stop_recurrence" }

// GiveBackArgs gives the money of a withdrawn subscription back.
type GiveBackArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
}

// Kind names the job.
func (GiveBackArgs) Kind() string { return "subscriptions_give_back" }

// Reopen has a subscription that is opened again for one period keep the end of its
// recurrence at the gateway: it was to end with the subscription. Where the gateway has
// not confirmed that end, it is requested again until it has, whatever state the row is in. What is
// not known there yet ends with the period as soon as it is.
func (s *Store) Reopen(r *Subscription, ended Subscription) {
	r.GatewayEndOpenSince = nil
	switch {
	case !r.Collects():
		r.CancelAtPeriodEnd = !r.Traits().EndsWithPeriod && !r.PaysOnce()
	case ended.GatewayEndedAt != nil:
		r.GatewayDeletedAt = ended.GatewayEndedAt
	case ended.GatewayDeletedAt == nil:
		r.GatewayEndOpenSince = new(s.deps.Clock.Now())
	}
}

// StopTx has the checks end at the gateway, from an instant on, what would charge a subscription that ends with its
// paid time. An error is the database's.
func (s *Store) StopTx(ctx context.Context, tx pgx.Tx, sub Subscription, at time.Time) error {
	if !sub.Stops() {
		return nil
	}
	o := OpeningOfEnd(sub, "")
	o.After = at.Sub(s.deps.Clock.Now())
	return s.deps.Intents.RequestTx(ctx, tx, o)
}

// EndAtGatewayTx has the checks end at the gateway what is known there. An error is the database's.
func (s *Store) EndAtGatewayTx(ctx context.Context, tx pgx.Tx, sub Subscription) error {
	return s.EndAfterTx(ctx, tx, sub, 0)
}

// EndAfterTx is EndAtGatewayTx for what a request is to end before so much time is over. An error is the database's.
func (s *Store) EndAfterTx(ctx context.Context, tx pgx.Tx, sub Subscription, after time.Duration) error {
	if !sub.KnownAtGateway() || sub.GatewayEndedAt != nil {
		return nil
	}
	o := OpeningOfEnd(sub, "")
	o.After = after
	return s.deps.Intents.RequestTx(ctx, tx, o)
}

// EndReportedTx has the checks confirm at the gateway an end that its event reports. An error is the database's.
func (s *Store) EndReportedTx(ctx context.Context, tx pgx.Tx, sub Subscription) error {
	return s.deps.Intents.RequestTx(ctx, tx, OpeningOfEnd(sub, EndReported))
}

// EndReported is the item of an end that the gateway's event has reported: it is read first, and ended where it runs.
const EndReported = "reported"

// EndWithPeriod is the item of an order to end with the paid time, once more after a late call that took it back.
const EndWithPeriod = "period"

// OpeningOfEnd is the intent of an order to end at its gateway whatever of a subscription is to end there. The item is
// EndReported, EndWithPeriod or "".
func OpeningOfEnd(sub Subscription, item string) intent.Opening {
	return intent.Opening{
		Ref:      intent.Ref{Kind: intent.End, Subject: sub.ID, Item: item},
		Customer: sub.CustomerID, Gateway: sub.Gateway,
	}
}

// LateResumption is how long after its end the call of a resumption is reckoned with.
const LateResumption = 10 * time.Minute

// Resumption names the intent that takes back that a subscription ends with its paid time.
func Resumption(id objectid.ID) intent.Ref { return intent.Ref{Kind: intent.Resume, Subject: id} }

// PutEndBackTx has the end of the paid time ordered once more where the gateway takes it back, and reports whether.
// While a resumption that its customer gave up may still come late, that is what came, and the end that they were
// answered stands. One that is under way is believed.
func (b Base) PutEndBackTx(ctx context.Context, tx pgx.Tx, sub Subscription,
	remote gateway.RemoteSubscription,
) (bool, error) {
	if !sub.CancelAtPeriodEnd || remote.CancelAtPeriodEnd || sub.Status.Ended() {
		return false, nil
	}
	if _, resuming, err := b.Intents.Open(ctx, tx, Resumption(sub.ID)); err != nil || resuming {
		return false, err
	}
	order := OpeningOfEnd(sub, EndWithPeriod)
	if _, open, err := b.Intents.Open(ctx, tx, order.Ref); err != nil || open {
		return open, err
	}
	since := b.Clock.Now().Add(-LateResumption)
	again, err := b.Intents.CheckedSince(ctx, tx, order.Ref, since)
	if err != nil || !again {
		return false, err
	}
	return true, b.Intents.RequestTx(ctx, tx, order)
}

// EndRetry is when the checks end at the gateway what the request could not.
const EndRetry = time.Minute

// GivenBackSoon is when a refund that is not answered, or under way, is looked at again.
const GivenBackSoon = 10 * time.Minute

// WithdrawalReason is what the refunds of a withdrawal say why, here and at the gateway.
const WithdrawalReason = "Withdrawal within the days of regret (CDC, art. 49)."

// GiveBackWithdrawnTx has a job give back what the withdrawal from a subscription, or from one
// that followed it by renewals, still has; where nobody withdrew there is nothing to do. An error is the database's.
func (s *Store) GiveBackWithdrawnTx(ctx context.Context, tx pgx.Tx, id objectid.ID) error {
	withdrawn, err := s.db.TransitionListWithdrawals(ctx, tx, id)
	if err != nil {
		return fmt.Errorf("read withdrawals: %w", err)
	}
	for _, id := range withdrawn {
		if err := s.GiveBackLaterTx(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}

// GiveBackLaterTx has a job give back what a withdrawn subscription still has. An error is the database's.
func (s *Store) GiveBackLaterTx(ctx context.Context, tx pgx.Tx, id objectid.ID) error {
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, GiveBackArgs{SubscriptionID: id}, &river.InsertOpts{
		Queue: jobs.QueueGateway, ScheduledAt: s.deps.Clock.Now().Add(EndRetry),
	})
}
