package settle

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/nullable"
	"marquee/platform/postgres"
)

// Made is what a gateway has made for a subscription; the types below are all there are.
// nil: it tells nothing of it.
type Made interface {
	// applyTo keeps what the row has of it.
	applyTo(s *Settler, r *lifecycle.Subscription)
}

// Recurrence charges a card.
type Recurrence struct{ gateway.RemoteSubscription }

// Code is a PIX payment.
type Code struct{ gateway.PixCharge }

// Authorization is an automatic PIX.
type Authorization struct{ gateway.PixAuthorization }

// FirstMonth is the charge of a month that a promo code lowered, and what charges from the
// second on; nil: nothing does (yet).
type FirstMonth struct {
	Charge     gateway.CardCharge
	Recurrence *gateway.RemoteSubscription
}

// Invoice is an open invoice that was paid on request.
type Invoice struct{ gateway.Payment }

func (m Recurrence) applyTo(s *Settler, r *lifecycle.Subscription) {
	s.deps.Calendar.SetRemote(r, &m.RemoteSubscription)
}

func (m Code) applyTo(_ *Settler, r *lifecycle.Subscription) { r.SetPix(&m.PixCharge) }

func (m Authorization) applyTo(_ *Settler, r *lifecycle.Subscription) {
	r.SetAuthorization(&m.PixAuthorization)
}

func (m FirstMonth) applyTo(s *Settler, r *lifecycle.Subscription) {
	s.deps.Calendar.SetRemote(r, m.Recurrence)
}

func (Invoice) applyTo(*Settler, *lifecycle.Subscription) {}

// Outcome is what a gateway says of a subscription's call, whoever asked: the request
// itself, a check, a live read. Void: a live read found it over. What was refused or is
// missing was not made, and will not be.
type Outcome = intent.Outcome[Made]

// The outcomes that are of something.
type (
	Succeeded = intent.Succeeded[Made]
	Pending   = intent.Pending[Made]
	Declined  = intent.Declined[Made]
	Void      = intent.Void[Made]
)

// recurrenceOf is the recurrence among it.
func recurrenceOf(made Made) *gateway.RemoteSubscription {
	switch made := made.(type) {
	case Recurrence:
		return &made.RemoteSubscription
	case FirstMonth:
		return made.Recurrence
	case Code, Authorization, Invoice:
	}
	return nil
}

// JudgeRecurrence judges a card subscription that was read live.
func JudgeRecurrence(remote gateway.RemoteSubscription) Outcome {
	made := Recurrence{RemoteSubscription: remote}
	incomplete := remote.Status == gateway.RemoteIncomplete
	switch {
	case remote.Status == gateway.RemoteCanceled, remote.Status == gateway.RemoteIncompleteExpired,
		incomplete && remote.Outcome == gateway.RequiresPaymentMethod:
		return Declined{Result: made}
	case incomplete && remote.Outcome == gateway.OutcomeUnknown:
		return Pending{Result: made}
	}
	return Succeeded{Result: made}
}

// Settle writes what a gateway reports outside of the subscription's own call.
func (s *Settler) Settle(ctx context.Context, sub lifecycle.Subscription, source state.Source,
	outcome Outcome,
) (settled lifecycle.Subscription, err error) {
	// The money has moved or not by now: a client that went away must not keep
	// that from being written.
	ctx = context.WithoutCancel(ctx)
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) (err error) {
		settled, err = s.SettleTx(ctx, tx, sub, source, outcome)
		return err
	})
	return settled, err
}

// SettleTx locks the subscription and writes an outcome into it.
func (s *Settler) SettleTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, source state.Source,
	outcome Outcome,
) (lifecycle.Subscription, error) {
	settled, a, err := s.lockTx(ctx, tx, sub, outcome)
	ended := err == nil && settled.Status.Ended()
	if err == nil {
		err = s.settleTx(ctx, tx, &settled, source, outcome, a)
	}
	if err == nil && ended && settled.Status.Ended() {
		err = s.deps.Store.EndAtGatewayTx(ctx, tx, settled) // it was not known there when it ended here
	}
	if err != nil {
		return lifecycle.Subscription{}, fmt.Errorf("settle subscription %s: %w", sub.ID, err)
	}
	return settled, nil
}

// ahead is what is known of a payment before it is settled.
type ahead struct {
	absent  Absent
	replays bool // the events that wait for it are replayed, since its recurrence is seen for the first time
}

// lockTx locks the subscription as LockTx of its store does. In the same round trip it is read, behind the locks, what
// the payment of a recurrence has to be held against.
func (s *Settler) lockTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, outcome Outcome,
) (locked lifecycle.Subscription, a ahead, err error) {
	if err := s.deps.Store.LockCustomerTx(ctx, tx, sub.CustomerID); err != nil {
		return locked, a, err
	}
	row := postgres.Queue(tx, func(db postgres.DB) (lifecycle.Subscription, error) {
		return s.db.SubscriptionLock(ctx, db, sub.ID)
	})
	made, _ := outcome.(Succeeded)
	paid := latestPaid(recurrenceOf(made.Result))
	if paid == nil {
		locked, err = row.Get(ctx)
		return locked, a, err
	}
	absent := postgres.Queue(tx, func(db postgres.DB) (Absent, error) {
		found, err := s.db.SubscriptionCheckAbsent(ctx, db, sub, paid.ID, gateway.Event{Gateway: sub.Gateway})
		found.Failures, found.Charge = false, false // they were not asked for
		return Absent(found), err
	})
	if locked, err = row.Get(ctx); err == nil {
		a.absent, err = absent.Get(ctx)
	}
	return locked, a, err
}

// latestPaid is the money that a recurrence was last paid; nil for none.
func latestPaid(remote *gateway.RemoteSubscription) *gateway.Payment {
	if remote == nil || remote.LatestPayment == nil || remote.LatestPayment.Amount == 0 ||
		remote.LatestPayment.Status != gateway.PaymentStatusSettled {
		return nil
	}
	return remote.LatestPayment
}

func (s *Settler) settleTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, source state.Source,
	outcome Outcome, a ahead,
) error {
	switch outcome := outcome.(type) {
	case Succeeded:
		a.replays = !sub.KnownAtGateway()
		if err := s.recordMadeTx(ctx, tx, sub, outcome.Result, false); err != nil {
			return err
		}
		return s.settleMadeTx(ctx, tx, sub, source, outcome.Result, a, false)
	case Pending:
		if err := s.recordMadeTx(ctx, tx, sub, outcome.Result, true); err != nil {
			return err
		}
		return s.settleMadeTx(ctx, tx, sub, source, outcome.Result, ahead{}, true)
	case Declined:
		if err := s.recordMadeTx(ctx, tx, sub, outcome.Result, false); err != nil {
			return err
		}
		return s.declineTx(ctx, tx, sub, source, outcome.Result)
	case Void:
		if err := s.recordMadeTx(ctx, tx, sub, outcome.Result, false); err != nil {
			return err
		}
		_, err := s.deps.Store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: state.LiveReadEnded, Source: source})
		return err
	case intent.Refused[Made], intent.Missing[Made]:
		return s.unmadeTx(ctx, tx, sub, source)
	case intent.NotKnown[Made]:
	}
	return fmt.Errorf("an outcome %T", outcome)
}

// unmadeTx ends what the gateway has not made and will not make.
func (s *Settler) unmadeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, source state.Source) error {
	moved, err := s.deps.Store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: state.AbsentAtGateway, Source: source})
	if err != nil || moved {
		return err
	}
	err = s.deps.Store.EditEndingTx(ctx, tx, sub, state.CallVoided,
		lifecycle.IntentEnd{How: intent.Missing[any]{}, By: intent.By(source)},
		s.closeUnmade) // it was ended or opened by somebody else
	if err != nil || !sub.ChargesFirstMonth() || sub.KnownAtGateway() {
		return err
	}
	return s.endAfterFirstMonthTx(ctx, tx, sub)
}

// recordMadeTx keeps what the gateway has made; open: it decides later.
func (s *Settler) recordMadeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, made Made,
	open bool,
) error {
	firstSight := !sub.KnownAtGateway()
	err := s.deps.Store.EditTx(ctx, tx, sub, state.CallRecorded, func(r *lifecycle.Subscription) {
		if made != nil {
			made.applyTo(s, r)
		}
		if recurrenceOf(made) != nil && firstSight && r.ChargesFirstMonth() {
			due := s.deps.Calendar.FirstDue(*r).UTC()
			r.NextBillingDate = &due // its answer already tells the charge after the first
		}
		if !open {
			r.CloseIntent()
		}
	})
	if err != nil || !firstSight {
		return err
	}
	// Events may have overtaken the ids by which they are found.
	ids := []string{
		sub.ID.String(), nullable.Value(sub.GwaSubscriptionID), nullable.Value(sub.GwbSubscriptionID),
		nullable.Value(sub.PixPaymentID), nullable.Value(sub.GwaPixAuthID), nullable.Value(sub.PixConciliationID),
	}
	if paid := latestPaid(recurrenceOf(made)); paid != nil {
		ids = append(ids, payments.Record{Payment: *paid}.EventSubjects()...)
	}
	return s.deps.Payments.ReplayWaitingTx(ctx, tx, sub.Gateway, ids...)
}

// settleMadeTx does what follows from it.
func (s *Settler) settleMadeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, source state.Source,
	made Made, a ahead, open bool,
) error {
	switch made := made.(type) {
	case Code:
		if made.Payment.Status != gateway.PaymentStatusSettled {
			return nil
		}
		_, err := s.SettlePaymentTx(ctx, tx, sub, Payment{Payment: made.Payment, Source: source})
		return err
	case Invoice:
		_, err := s.SettlePaymentTx(ctx, tx, sub,
			Payment{Payment: made.Payment, Source: source, Recurs: !sub.Status.Ended()})
		return err
	case Authorization:
		return s.settleAuthorizationTx(ctx, tx, sub, source, &made.PixAuthorization)
	case FirstMonth:
		return s.settleFirstMonthTx(ctx, tx, sub, source, made, open)
	case Recurrence:
		return s.settleRemoteTx(ctx, tx, sub, source, &made.RemoteSubscription, a)
	}
	return nil
}

// closeUnmade notes that the gateway has made nothing. An automatic PIX that an admin has
// activated meanwhile has no authorization that would ever be debited: it runs for one
// period from then, as a PIX that nobody has paid.
func (s *Settler) closeUnmade(r *lifecycle.Subscription) {
	r.CloseIntent()
	if r.Status == state.Active && r.ExpiresAt == nil && r.HasNoAuthorization() {
		r.AnchorDay = nil
		r.ExpiresAt, r.NextBillingDate = s.deps.Calendar.PeriodFrom(lifecycle.LatestOf(r.RegisterDate, r.StartedAt), r),
			nil
	}
}

// declineTx ends the subscription here, and by job at the gateway: what is left
// there could still be paid.
func (s *Settler) declineTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, source state.Source,
	made Made,
) error {
	if _, err := s.deps.Store.MoveTx(ctx, tx, sub,
		lifecycle.Change{Action: state.PaymentDeclined, Source: source}); err != nil {
		return err
	}
	if remote := recurrenceOf(made); remote != nil && remote.Status != gateway.RemoteIncomplete {
		return nil // it is over there too
	}
	return s.deps.Store.EndAtGatewayTx(ctx, tx, *sub)
}

// settleRemoteTx writes what became of a card subscription. At gateway A the
// charge runs after the call, so only a trial is active at once; the rest is
// told by webhook, or by a check when that one is lost.
func (s *Settler) settleRemoteTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, source state.Source,
	remote *gateway.RemoteSubscription, a ahead,
) error {
	if !lifecycle.Running(remote.Status) {
		return nil
	}
	latest := remote.LatestPayment
	paid := latest != nil && latest.Status == gateway.PaymentStatusSettled
	awaitsPayment := !sub.Traits().StatusImpliesPayment && source == state.BySubscribe
	begins := sub.Status == state.Pending && !(paid && latest.Amount > 0)
	switch {
	case begins && (sub.StartsFree() || sub.StartsAt != nil):
		action := state.TrialStarts
		if sub.StartsAt != nil {
			action = state.RenewalTaken
		}
		_, err := s.deps.Store.MoveTx(ctx, tx, sub,
			lifecycle.Change{Action: action, Source: source, Edit: func(r *lifecycle.Subscription) {
				if due := s.deps.Calendar.FirstDue(*r).UTC(); r.Traits().ChargesAhead > 0 {
					r.NextBillingDate = &due // its answer already tells the charge after the first
				}
			}})
		return err
	case paid && !awaitsPayment:
		return s.settleFirstSeenTx(ctx, tx, sub,
			Payment{Payment: *latest, Source: source, Recurs: true, Absent: a.absent}, a.replays)
	case sub.Traits().StatusImpliesPayment &&
		sub.Status != state.Suspended: // what reopens that is judged elsewhere
		_, err := s.deps.Store.MoveTx(ctx, tx, sub, lifecycle.Change{
			Action: state.GatewaySaysActive, Source: source,
			Edit: func(r *lifecycle.Subscription) { r.PaymentFailures = 0 },
		})
		return err
	}
	return nil
}

// settleAuthorizationTx writes the state in which an authorization was found.
func (s *Settler) settleAuthorizationTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	source state.Source, auth *gateway.PixAuthorization,
) error {
	c := lifecycle.Change{Source: source}
	switch auth.Status {
	case gateway.AuthorizationStatusActive:
		c.Action = state.AuthorizationActivated
		if sub.Status.Ended() {
			return s.deps.Store.EndAtGatewayTx(ctx, tx, *sub)
		}
		return s.AuthorizeTx(ctx, tx, sub, c, auth)
	case gateway.AuthorizationStatusCancelled, gateway.AuthorizationStatusRefused:
		c.Action = state.AuthorizationCancelled
	case gateway.AuthorizationStatusExpired:
		c.Action = state.AuthorizationExpired
	default:
		return nil
	}
	if s.deps.Calendar.EndsWithPeriod(*sub) {
		c.Action, c.Edit = state.GatewayDeletedPaid, s.deps.Calendar.EndedThere
	}
	_, err := s.deps.Store.MoveTx(ctx, tx, sub, c)
	return err
}

// AuthorizeTx activates an automatic PIX that the payer has authorized.
func (s *Settler) AuthorizeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, c lifecycle.Change,
	a *gateway.PixAuthorization,
) error {
	now, edit := s.deps.Clock.Now(), c.Edit
	c.Edit = func(r *lifecycle.Subscription) {
		if edit != nil {
			edit(r)
		}
		r.CloseIntent()
		r.SetAuthorization(a)
		if r.NextBillingDate == nil {
			r.NextBillingDate = s.deps.Calendar.PeriodFrom(now, r)
		}
	}
	if sub.HasChargeback && sub.Status == state.Suspended {
		return s.deps.Store.EditTx(ctx, tx, sub, state.Authorized, c.Edit)
	}
	_, err := s.deps.Store.MoveTx(ctx, tx, sub, c)
	return err
}

// settleFirstMonthTx writes what a check found: the first month is paid, with a recurrence
// behind it or not, or it is open whether there is one.
func (s *Settler) settleFirstMonthTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, source state.Source,
	m FirstMonth, open bool,
) error {
	paid := m.Charge.Payment.Status == gateway.PaymentStatusSettled
	if open && !paid {
		return nil
	}
	recurs := m.Recurrence != nil || open
	if paid {
		p := Payment{Payment: m.Charge.Payment, Source: source, Recurs: recurs}
		if recurs {
			p.Role = Opening
		}
		if _, err := s.SettlePaymentTx(ctx, tx, sub, p); err != nil {
			return err
		}
	}
	if recurs {
		return nil
	}
	return s.endAfterFirstMonthTx(ctx, tx, sub)
}

// endAfterFirstMonthTx: without a recurrence the month that was paid is the last, or
// nothing would end it.
func (s *Settler) endAfterFirstMonthTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) error {
	if !sub.AccessBegun() || sub.ExpiresAt != nil {
		return nil
	}
	began := s.deps.Clock.Now()
	if sub.StartedAt != nil {
		began = *sub.StartedAt
	}
	return s.deps.Store.EditTx(ctx, tx, sub, state.FirstMonthAlone,
		func(r *lifecycle.Subscription) {
			r.ExpiresAt, r.NextBillingDate = s.deps.Calendar.PeriodFrom(began, r), nil
		})
}
