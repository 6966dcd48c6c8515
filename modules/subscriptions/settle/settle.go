package settle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
)

// Deps is what New needs.
type Deps struct {
	Pool     *pgxpool.Pool
	Jobs     *jobs.Client
	Clock    clock.Clock
	Log      *slog.Logger
	Accounts *accounts.Service
	Payments *payments.Service
	Config   lifecycle.Config
	Calendar *lifecycle.Calendar
	Reads    *lifecycle.Reads
	Store    *lifecycle.Store
	Debits   *debits.Debits
	Disputes *disputes.Disputes
}

// Settler writes what money and a gateway's answer mean to a subscription.
type Settler struct {
	pool     *pgxpool.Pool
	jobs     *jobs.Client
	clock    clock.Clock
	log      *slog.Logger
	accounts *accounts.Service
	payments *payments.Service
	cfg      lifecycle.Config
	db       *subscriptionsdb.Queries
	calendar *lifecycle.Calendar
	reads    *lifecycle.Reads
	store    *lifecycle.Store
	debits   *debits.Debits
	disputes *disputes.Disputes
}

// New makes the room.
func New(d Deps) *Settler {
	return &Settler{pool: d.Pool, jobs: d.Jobs, clock: d.Clock, log: d.Log, accounts: d.Accounts, payments: d.Payments, cfg: d.Config, db: subscriptionsdb.New(), calendar: d.Calendar, reads: d.Reads, store: d.Store, debits: d.Debits, disputes: d.Disputes}
}

// Settle writes what a gateway says beside the subscription's own call.
func (s *Settler) Settle(ctx context.Context, sub lifecycle.Row, source state.Source, outcome Outcome) (settled lifecycle.Row, err error) {
	// The money has moved or not by now: a client that went away must not keep
	// that from being written.
	ctx = context.WithoutCancel(ctx)
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) (err error) {
		settled, err = s.SettleTx(ctx, tx, sub, source, outcome)
		return err
	})
	return settled, err
}

// SettleTx locks the subscription and writes an outcome into it.
func (s *Settler) SettleTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, source state.Source, outcome Outcome) (lifecycle.Row, error) {
	settled, err := s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
	ended := err == nil && settled.Status.Ended()
	if err == nil {
		err = s.settleTx(ctx, tx, &settled, source, outcome)
	}
	if err == nil && ended && settled.Status.Ended() {
		err = s.store.EndAtGatewayTx(ctx, tx, settled) // it was not known there when it ended here
	}
	if err != nil {
		return lifecycle.Row{}, fmt.Errorf("settle subscription %s: %w", sub.ID, err)
	}
	return settled, nil
}

func (s *Settler) settleTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, source state.Source, outcome Outcome) error {
	switch outcome := outcome.(type) {
	case Succeeded:
		if err := s.learnTx(ctx, tx, sub, outcome.Answer, false); err != nil {
			return err
		}
		return s.settleMadeTx(ctx, tx, sub, source, outcome.Answer, false)
	case Pending:
		if err := s.learnTx(ctx, tx, sub, outcome.Answer, true); err != nil {
			return err
		}
		return s.settleMadeTx(ctx, tx, sub, source, outcome.Answer, true)
	case Declined:
		if err := s.learnTx(ctx, tx, sub, outcome.Answer, false); err != nil {
			return err
		}
		return s.declineTx(ctx, tx, sub, source, outcome.Answer)
	case Void:
		if err := s.learnTx(ctx, tx, sub, outcome.Answer, false); err != nil {
			return err
		}
		_, err := s.store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: state.LiveReadDead, Source: source})
		return err
	}
	return s.unmadeTx(ctx, tx, sub, source)
}

// unmadeTx ends what the gateway has not made and will not make.
func (s *Settler) unmadeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, source state.Source) error {
	moved, err := s.store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: state.NothingAtGateway, Source: source})
	if err != nil || moved {
		return err
	}
	err = s.store.EditEndingTx(ctx, tx, sub, state.MadeNothing, lifecycle.IntentEnd{How: intent.Missing[any]{}, By: string(source)}, s.closeUnmade) // it was ended or opened by somebody else
	if err != nil || !s.calendar.ChargesFirstMonth(*sub) || lifecycle.KnownAtGateway(*sub) {
		return err
	}
	return s.endAfterFirstMonthTx(ctx, tx, sub)
}

// learnTx keeps what the gateway has made; open: it decides later.
func (s *Settler) learnTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, made Made, open bool) error {
	firstSight := !lifecycle.KnownAtGateway(*sub)
	err := s.store.EditTx(ctx, tx, sub, state.Learned, func(r *lifecycle.Row) {
		if made != nil {
			made.learn(s, r)
		}
		if recurrenceOf(made) != nil && firstSight && s.calendar.ChargesFirstMonth(*r) {
			due := s.calendar.FirstDue(*r).UTC()
			r.NextBillingDate = &due // its answer already tells the charge after the first
		}
		if !open {
			lifecycle.CloseIntent(r)
		}
	})
	if err != nil || !firstSight {
		return err
	}
	// Events may have overtaken the ids by which they are found.
	ids := []string{sub.ID.String(), lifecycle.Text(sub.GwaSubscriptionID), lifecycle.Text(sub.GwbSubscriptionID), lifecycle.Text(sub.PixPaymentID), lifecycle.Text(sub.GwaPixAuthID), lifecycle.Text(sub.PixConciliationID)}
	return s.payments.ReplayWaitingTx(ctx, tx, sub.Gateway, ids...)
}

// settleMadeTx does what follows from it.
func (s *Settler) settleMadeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, source state.Source, made Made, open bool) error {
	switch made := made.(type) {
	case Code:
		if made.Payment.Status != gateway.PaymentSettled {
			return nil
		}
		return s.SettlePaymentTx(ctx, tx, sub, Payment{Payment: made.Payment, Source: source, Recurs: false})
	case Invoice:
		return s.SettlePaymentTx(ctx, tx, sub, Payment{Payment: made.Payment, Source: source, Recurs: !sub.Status.Ended()})
	case Authorization:
		return s.settleAuthorizationTx(ctx, tx, sub, source, &made.PixAuthorization)
	case FirstMonth:
		return s.settleFirstMonthTx(ctx, tx, sub, source, made, open)
	case Recurrence:
		return s.settleRemoteTx(ctx, tx, sub, source, &made.RemoteSubscription)
	}
	return nil
}

// closeUnmade notes that the gateway has made nothing. An automatic PIX that an admin has
// activated meanwhile has no authorization that would ever be debited: it runs for one
// period from then, as a PIX that nobody has paid.
func (s *Settler) closeUnmade(r *lifecycle.Row) {
	lifecycle.CloseIntent(r)
	if r.Status == state.Active && r.ExpiresAt == nil && lifecycle.DebitsNothing(*r) {
		r.AnchorDay = nil
		r.ExpiresAt, r.NextBillingDate = s.calendar.PeriodFrom(lifecycle.LatestOf(r.RegisterDate, r.StartedAt), r), nil
	}
}

// declineTx ends the subscription here, and by job at the gateway: what is left
// there could still be paid.
func (s *Settler) declineTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, source state.Source, made Made) error {
	if _, err := s.store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: state.PaymentDeclined, Source: source}); err != nil {
		return err
	}
	if remote := recurrenceOf(made); remote != nil && remote.Status != gateway.RemoteIncomplete {
		return nil // it is over there too
	}
	return s.store.EndAtGatewayTx(ctx, tx, *sub)
}

// settleRemoteTx writes what became of a card subscription. At gateway A the
// charge runs after the call, so only a trial is active at once; the rest is
// told by webhook, or by the recovery when that one is lost.
func (s *Settler) settleRemoteTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, source state.Source, remote *gateway.RemoteSubscription) error {
	if !lifecycle.Running(remote.Status) {
		return nil
	}
	latest := remote.LatestPayment
	paid := latest != nil && latest.Status == gateway.PaymentSettled
	waits := !lifecycle.TraitsOf(*sub).StatusTellsPayment && source == state.BySubscribe
	begins := sub.Status == state.Pending && !(paid && latest.Amount > 0)
	switch {
	case begins && (lifecycle.StartsFree(*sub) || sub.StartsAt != nil):
		action := state.TrialStarts
		if sub.StartsAt != nil {
			action = state.RenewalTaken
		}
		_, err := s.store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: action, Source: source, Edit: func(r *lifecycle.Row) {
			if due := s.calendar.FirstDue(*r).UTC(); lifecycle.TraitsOf(*r).ChargesAhead > 0 {
				r.NextBillingDate = &due // its answer already tells the charge after the first
			}
		}})
		return err
	case paid && !waits:
		return s.SettlePaymentTx(ctx, tx, sub, Payment{Payment: *latest, Source: source, Recurs: true})
	case lifecycle.TraitsOf(*sub).StatusTellsPayment && sub.Status != state.Suspended: // what reopens that is judged elsewhere
		_, err := s.store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: state.GatewaySaysActive, Source: source, Edit: func(r *lifecycle.Row) { r.PaymentFailures = 0 }})
		return err
	}
	return nil
}

// Payment is settled money on its way into a subscription.
type Payment struct {
	gateway.Payment
	Source state.Source
	Event  *string
	Recurs bool                     // it will be charged again without the payer's doing
	First  bool                     // the one-off that began it, charged apart from the recurrence
	Beside bool                     // made beside the recurrence that pays the subscription, which it names
	Older  bool                     // than a failure that counts, of another charge: it pays nothing that is owed
	Charge *lifecycle.RenewalCharge // the code that it paid, which was made for a further period
	cycle  *time.Time               // of a debit of automatic PIX: the beginning of the period that it pays
	Asked  *bool                    // filled: the gateway is asked for it first, and nothing else has changed
	before bool                     // an extension that has moved the next charge: it pays a period that was over, or ran, then
}

// SettlePaymentTx is where every payment of a subscription ends, keyed by the
// gateway's payment id: the first to bring it does what follows from the money,
// everybody later nothing.
func (s *Settler) SettlePaymentTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, p Payment) error {
	if p.Amount == 0 {
		return s.settleNothingTx(ctx, tx, sub, p)
	}
	known, err := s.payments.FindPayment(ctx, tx, sub.Gateway, p.ID)
	if err != nil || IsOthers(*sub, known) {
		return err
	}
	asked, err := s.asksLiveTx(ctx, tx, *sub, p)
	if err == nil && !asked && known == nil {
		asked, err = s.asksTwinTx(ctx, tx, *sub, p)
	}
	if err != nil || asked {
		if p.Asked != nil {
			*p.Asked = asked
		}
		return err
	}
	first, err := s.payments.RecordPaymentTx(ctx, tx, payments.Record{
		Gateway: sub.Gateway, Purpose: gateway.ForSubscription,
		LocalID: sub.ID, CustomerID: sub.CustomerID, Payment: p.Payment, Shown: p.Source != state.ByWebhook,
	})
	if err != nil {
		return fmt.Errorf("record payment: %w", err)
	}
	if !first && sub.Status != state.Pending {
		return nil
	}
	if kept, err := s.keepOtherAmountTx(ctx, tx, *sub, p); err != nil || kept {
		return err
	}
	if p.Charge != nil {
		return s.settleChargeTx(ctx, tx, sub, p)
	}
	return s.settleBookedTx(ctx, tx, sub, p)
}

// settleChargeTx settles the payment of a renewal charge, and notes which end it moved.
func (s *Settler) settleChargeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, p Payment) error {
	if made := lifecycle.Text(p.Charge.GatewayPaymentID); made != "" && made != p.ID { // it names the charge, and is not its code
		p.Charge, p.Beside = nil, sub.PixAutomatic
		return s.settleBookedTx(ctx, tx, sub, p)
	}
	if p.Charge.Cycle.Valid {
		p.cycle = new(s.calendar.DayOf(p.Charge.Cycle))
	}
	before := *sub
	if err := s.settleBookedTx(ctx, tx, sub, p); err != nil {
		return err
	}
	return s.movedByTx(ctx, tx, before, *sub, p)
}

// settleBookedTx does what follows from money that has just come into the ledger.
func (s *Settler) settleBookedTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, p Payment) (err error) {
	if !p.First && p.Charge == nil {
		older := false
		if p.cycle, older, err = s.debits.PayDebitTx(ctx, tx, *sub, p.Payment); err != nil {
			return err
		}
		p.Older = p.Older || older
	}
	if sub.Status.Ended() {
		return s.lateMoneyTx(ctx, tx, sub, p)
	}
	if kept, err := s.keepPausedTx(ctx, tx, *sub, p); err != nil || kept {
		return err
	}
	if refunded, err := s.refundDeletedTx(ctx, tx, sub, p); err != nil || refunded {
		return err
	}
	if kept, err := s.keepMovedTx(ctx, tx, *sub, p); err != nil || kept {
		return err
	}
	if listed, err := s.keepUnrecurringTx(ctx, tx, *sub, p); err != nil || listed {
		return err
	}
	if listed, err := s.keepBesideTx(ctx, tx, *sub, p); err != nil || listed {
		return err
	}
	if listed, err := s.keepTwiceTx(ctx, tx, *sub, p); err != nil || listed {
		return err
	}
	if p.Older {
		return s.countTx(ctx, tx, *sub, p) // a later charge failed, and is owed
	}
	if p.before, err = s.isBeforeMoveTx(ctx, tx, *sub, p); err != nil {
		return err
	}
	if sub.HasChargeback && sub.Status == state.Suspended {
		err = s.store.EditTx(ctx, tx, sub, state.PaidWhileDisputed, func(r *lifecycle.Row) { s.pay(r, p) }) // paid, but closed while disputed
		return errors.Join(err, s.countTx(ctx, tx, *sub, p))
	}
	moved, err := s.store.MoveTx(ctx, tx, sub, lifecycle.Change{Action: state.PaymentSettles, Source: p.Source, Event: p.Event, Edit: func(r *lifecycle.Row) { s.pay(r, p) }})
	if err != nil || !moved {
		return err
	}
	return s.countTx(ctx, tx, *sub, p)
}

// settleNothingTx: an invoice of nothing is no money for the ledger. It opens a
// trial, a first month that a promo code gives away, and a plan that is free.
func (s *Settler) settleNothingTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row, p Payment) error {
	if sub.Status != state.Pending {
		return nil
	}
	c := lifecycle.Change{Action: state.PaymentSettles, Source: p.Source, Event: p.Event, Edit: lifecycle.CloseIntent}
	switch {
	case sub.StartsAt != nil:
		c.Action = state.RenewalTaken
	case lifecycle.StartsFree(*sub):
		c.Action = state.TrialStarts
	}
	_, err := s.store.MoveTx(ctx, tx, sub, c)
	return err
}

// pay writes what a payment means for the dates of a subscription.
func (s *Settler) pay(r *lifecycle.Row, p Payment) {
	now := s.clock.Now()
	settledAt := now
	if p.SettledAt != nil {
		settledAt = lifecycle.LatestOf(*p.SettledAt, &r.RegisterDate) // gateway A may tell the day alone
	}
	if !p.First || r.PixAutomatic || r.GwaSubscriptionID != nil { // else the recurrence has still to be made
		lifecycle.CloseIntent(r)
	}
	first := r.LastPaymentAt == nil
	r.LastPaymentAt, r.PaymentFailures = &now, 0
	if first && p.First && r.PixAutomatic && r.ExpiresAt == nil {
		r.NextBillingDate = nil // told by the authorization, which was known first, at a guess
	}
	if p.Recurs && !p.before && !r.CancelAtPeriodEnd && r.GatewayDeletedAt == nil && r.GatewayEndOpenSince == nil {
		r.ExpiresAt = nil // set by an admin's extension
	}
	lifecycle.Learn(&r.LastPaidInvoiceID, p.InvoiceID)
	switch {
	case r.PixAutomatic && p.Recurs:
		s.payAutomatic(r, p, settledAt)
	case r.PaymentMethod == gateway.MethodPix:
		if r.PixPaymentID == nil && !r.PixAutomatic {
			r.PixPaymentID = &p.ID
		}
		r.ExpiresAt, r.NextBillingDate = s.calendar.PeriodFrom(lifecycle.LatestOf(settledAt, r.ExpiresAt), r), nil
		if p.Charge != nil {
			r.CancelAtPeriodEnd = false
		}
	case !p.Recurs:
		r.ExpiresAt, r.NextBillingDate = s.calendar.PeriodFrom(settledAt, r), nil
	case p.First:
		next := s.calendar.FirstDue(*r).UTC()
		r.NextBillingDate = &next
	case lifecycle.TraitsOf(*r).ChargesByDay:
		due := lifecycle.StartOfDay(settledAt, s.cfg.Zone)
		if p.DueDate != nil {
			due = *p.DueDate
		}
		if r.AnchorDay == nil {
			s.calendar.Anchor(r, due)
		}
		next := lifecycle.LatestOf(s.calendar.MonthsOn(due, 1, *r), r.NextBillingDate)
		r.NextBillingDate = &next
	case r.NextBillingDate == nil:
		r.NextBillingDate = s.calendar.PeriodFrom(settledAt, r)
	}
	payStopped(r, p)
}

// payStopped has a charge that slipped through before the recurrence was stopped at
// gateway A pay its period all the same.
func payStopped(r *lifecycle.Row, p Payment) {
	if !p.Recurs || !lifecycle.Stopped(*r) || lifecycle.TraitsOf(*r).EndsWithPeriod || r.NextBillingDate == nil {
		return
	}
	r.ExpiresAt, r.NextBillingDate = new(lifecycle.LatestOf(*r.NextBillingDate, r.ExpiresAt)), nil
}

// payAutomatic moves the date of the next debit. The first code pays the period
// from its payment on; a debit that of its cycle, whenever it is taken.
func (s *Settler) payAutomatic(r *lifecycle.Row, p Payment, settledAt time.Time) {
	from := settledAt
	switch {
	case p.First:
	case p.cycle != nil:
		from = *p.cycle
	case p.DueDate != nil:
		from = *p.DueDate
	}
	next := lifecycle.LatestOf(*s.calendar.PeriodFrom(from, r), r.NextBillingDate)
	r.NextBillingDate = &next
	if !lifecycle.Stopped(*r) {
		r.ExpiresAt = nil
	}
}
