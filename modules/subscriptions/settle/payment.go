package settle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/nullable"
)

// Payment is settled money on its way into a subscription, and what who brings it knows of it.
type Payment struct {
	gateway.Payment

	Source state.Source
	Event  *string
	Role   Role
	Recurs bool                     // it will be charged again without the payer's doing
	Older  bool                     // than a failure that counts, of another charge: it pays nothing that is owed
	Charge *lifecycle.RenewalCharge // the code that it paid, which was made for a further period
	Absent Absent                   // what was looked for before
}

// Role is what a payment is to its subscription.
type Role int

// The roles.
const (
	OfPeriod     Role = iota // it pays a period: a charge of the recurrence, a code, a debit
	Opening                  // the one-off that began the subscription, charged apart from the recurrence
	OpeningAgain             // one more of these, although the first has been paid
	Beside                   // made beside the recurrence that pays the subscription, which it names
)

// opens reports whether it was made as that which begins the subscription.
func (r Role) opens() bool { return r == Opening || r == OpeningAgain }

// beside reports whether it pays no period.
func (r Role) beside() bool { return r == OpeningAgain || r == Beside }

// isCharge reports whether a recurrence has charged it, and not the one-off before it.
func (p Payment) isCharge() bool { return p.Recurs && !p.Role.opens() }

// settling is a payment that is being settled, with what is learnt of it on the way.
type settling struct {
	*Settler
	Payment

	cycle   *time.Time // of a debit of automatic PIX: the beginning of the period that it pays
	before  bool       // an extension has moved the next charge: it pays a period that began before
	booking *Booking   // the caller books it, together with others; nil: it is booked here
}

// Booking is a payment, of which the ledger has none, that the caller takes into the ledger after it is settled.
type Booking struct {
	Record payments.Record
	Counts bool // it opened the subscription, or paid one of its periods
}

// SettlePaymentTx is where every payment of a subscription ends, keyed by the
// gateway's payment id: the first to bring it does what follows from the money,
// everybody later nothing. Confirming: the gateway is asked for it first, and nothing else has changed.
func (s *Settler) SettlePaymentTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	p Payment,
) (confirming bool, err error) {
	return settling{Settler: s, Payment: p}.settlePaymentTx(ctx, tx, sub)
}

// SettleUnbookedTx is SettlePaymentTx of a payment that the ledger was seen to lack, and that the caller books.
func (s *Settler) SettleUnbookedTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	p Payment,
) (b Booking, confirming bool, err error) {
	confirming, err = settling{Settler: s, Payment: p, booking: &b}.settlePaymentTx(ctx, tx, sub)
	return b, confirming, err
}

func (p settling) settlePaymentTx(ctx context.Context, tx pgx.Tx,
	sub *lifecycle.Subscription,
) (confirming bool, err error) {
	if p.Amount == 0 {
		return false, p.settleZeroInvoiceTx(ctx, tx, sub)
	}
	if !p.Absent.Others {
		known, err := p.deps.Payments.FindPayment(ctx, tx, sub.Gateway, p.ID)
		if err != nil || IsOthers(*sub, known) {
			return false, err
		}
		p.Absent.Payment = known == nil
	}
	if p.Absent.Payment {
		confirming, err := p.confirmFirstTx(ctx, tx, *sub)
		if err == nil && !confirming {
			confirming, err = p.confirmTwinTx(ctx, tx, *sub)
		}
		if err != nil || confirming {
			return confirming, err
		}
	}
	first, err := p.bookTx(ctx, tx, sub)
	if err != nil {
		return false, fmt.Errorf("record payment: %w", err)
	}
	if !first && sub.Status != state.Pending {
		return false, nil
	}
	if listed, err := p.keepOtherAmountTx(ctx, tx, *sub); err != nil || listed {
		return false, err
	}
	if p.Charge != nil {
		return false, p.settleChargeTx(ctx, tx, sub)
	}
	return false, p.settleBookedTx(ctx, tx, sub)
}

// settleFirstSeenTx is SettlePaymentTx, but that a plain first payment of a card, which nothing makes anything else, is
// booked without waiting for the answer. The argument replays says that the events are replayed that wait for it.
func (s *Settler) settleFirstSeenTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, p Payment,
	replays bool,
) error {
	plain := Absent{Payment: true, Others: true, Pauses: true, ChargeMoves: true, Deletion: true}
	if !replays || p.Absent != plain || sub.Status != state.Pending || sub.Traits().AmountsMayChange ||
		sub.PaysOnce() || sub.PixAutomatic || sub.HasChargeback || p.paysADay(*sub) {
		_, err := s.SettlePaymentTx(ctx, tx, sub, p)
		return err
	}
	booking, _, err := s.SettleUnbookedTx(ctx, tx, sub, p)
	if err == nil {
		booking.Record.Unbooked, booking.Record.Counts = true, booking.Counts
		_, err = s.deps.Payments.RecordPaymentTx(ctx, tx, booking.Record)
	}
	return err
}

// bookTx takes a payment into the ledger, where the caller does not. First: it was not there.
func (p settling) bookTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) (first bool, err error) {
	r := payments.Record{Owner: sub.Owner(), Payment: p.Payment.Payment, Confirmed: p.Source != state.ByWebhook}
	if p.booking != nil {
		p.booking.Record = r
		return true, nil
	}
	return p.deps.Payments.RecordPaymentTx(ctx, tx, r)
}

// countTx notes that a payment counts.
func (p settling) countTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) error {
	if p.booking != nil {
		p.booking.Counts = true
		return nil
	}
	return p.deps.Payments.CountPaymentTx(ctx, tx, sub.Gateway, p.ID)
}

// confirmFirstTx has money of gateway A that the ledger lacks, and that comes after the
// subscription's end, or would lengthen it without having been ordered here, confirmed by
// the gateway first, by job: nothing is booked until then.
func (p settling) confirmFirstTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) (bool, error) {
	if sub.Traits().SignsEvents || p.Source != state.ByWebhook {
		return false, nil
	}
	if !sub.Status.Ended() {
		if ordered, err := p.isOrderedTx(ctx, tx, sub); err != nil || ordered {
			return false, err
		}
	}
	a := LateMoneyArgs{
		Gateway: sub.Gateway, SubscriptionID: sub.ID, PaymentID: p.ID, EventID: nullable.Value(p.Event),
		First: p.Role.opens(), SettledAt: p.SettledAt,
	}
	if p.Charge != nil {
		a.ChargeID = p.Charge.ID
	}
	return true, p.InsertLateTx(ctx, tx, a)
}

// confirmTwinTx has a job read a charge for a due date live, and the one that has paid for
// that day as well when only an event has reported it: an event may be forged, and what is
// refunded must not be the real payment.
func (p settling) confirmTwinTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) (bool, error) {
	if !p.paysADay(sub) || sub.Status.Ended() {
		return false, nil
	}
	twins, err := p.deps.Payments.PaidFor(ctx, tx, sub.Gateway, sub.ID, p.Payment.Payment)
	if err != nil {
		return false, err
	}
	for _, twin := range twins {
		if !twin.Confirmed {
			return true, p.InsertLateTx(ctx, tx, LateMoneyArgs{
				Gateway: sub.Gateway, SubscriptionID: sub.ID, PaymentID: p.ID, EventID: nullable.Value(p.Event),
				SettledAt: p.SettledAt,
			})
		}
	}
	return false, nil
}

// paysADay reports whether a payment is a charge of gateway A's recurrence, of which each
// day that is due has one.
func (p Payment) paysADay(sub lifecycle.Subscription) bool {
	return p.isCharge() && sub.Traits().ChargesByDay && sub.PaymentMethod != gateway.MethodPix
}

// settleChargeTx settles the payment of a renewal charge, and notes which end it moved.
func (p settling) settleChargeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) error {
	if made := nullable.Value(p.Charge.GatewayPaymentID); made != "" &&
		made != p.ID { // it names the charge, and is not its code
		p.Charge = nil
		if sub.PixAutomatic {
			p.Role = Beside
		}
		return p.settleBookedTx(ctx, tx, sub)
	}
	if p.Charge.Cycle.Valid {
		p.cycle = new(p.deps.Calendar.DayOf(p.Charge.Cycle))
	}
	before := *sub
	if err := p.settleBookedTx(ctx, tx, sub); err != nil {
		return err
	}
	return p.movedByTx(ctx, tx, before, *sub)
}

// movedByTx notes what the payment of a renewal charge did to the end of the paid
// time, in the transaction that did it.
func (p settling) movedByTx(ctx context.Context, tx pgx.Tx, before, after lifecycle.Subscription) error {
	charge, err := p.db.RenewalChargeLock(ctx, tx, p.Charge.ID)
	if err != nil {
		return fmt.Errorf("read renewal charge: %w", err)
	}
	from, to, as := paidEnd(before), paidEnd(after), state.CodePaid
	if to == nil || from != nil && !to.After(*from) {
		as = state.CodeUnapplied
	}
	_, err = p.deps.Store.SaveChargeTx(ctx, tx, charge, as, func(c *lifecycle.RenewalCharge) {
		c.IntentOpen = false
		if as == state.CodePaid {
			c.MovedFrom, c.MovedTo = from, to
		}
		lifecycle.SetOnce(&c.GatewayPaymentID, p.ID)
	})
	return err
}

// paidEnd is what a renewal charge moves; nil of what has ended.
func paidEnd(sub lifecycle.Subscription) *time.Time {
	switch {
	case sub.Status.Ended():
		return nil
	case sub.ExpiresAt != nil:
		return sub.ExpiresAt
	}
	return sub.NextBillingDate
}

// settleBookedTx does what follows from money that has just come into the ledger.
func (p settling) settleBookedTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) (err error) {
	if sub.PixAutomatic && !p.Role.opens() && p.Charge == nil {
		var older bool
		if p.cycle, older, err = p.deps.Debits.PayDebitTx(ctx, tx, *sub, p.Payment.Payment); err != nil {
			return err
		}
		p.Older = p.Older || older
	}
	if sub.Status.Ended() {
		return p.lateMoneyTx(ctx, tx, sub)
	}
	if listed, err := p.listByRuleTx(ctx, tx, sub); err != nil || listed {
		return err
	}
	if p.Older {
		return p.countTx(ctx, tx, sub) // a later charge failed, and is owed
	}
	if p.before, err = p.isBeforeMoveTx(ctx, tx, *sub); err != nil {
		return err
	}
	if sub.HasChargeback && sub.Status == state.Suspended {
		err = p.deps.Store.EditTx(ctx, tx, sub, state.PaidWhileDisputed,
			func(r *lifecycle.Subscription) { p.pay(r) }) // paid, but closed while disputed
		return errors.Join(err, p.countTx(ctx, tx, sub))
	}
	moved, err := p.deps.Store.MoveTx(ctx, tx, sub, lifecycle.Change{
		Action: state.PaymentSettles, Source: p.Source, Event: p.Event,
		Edit: func(r *lifecycle.Subscription) { p.pay(r) },
	})
	if err != nil || !moved {
		return err
	}
	return p.countTx(ctx, tx, sub)
}

// listByRuleTx lists money that pays no period of a living subscription, by the first of the rules that holds of it:
// each with what it can concern at all.
func (p settling) listByRuleTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) (listed bool, err error) {
	charge := p.isCharge()
	for _, rule := range []struct {
		concerns bool
		listTx   func(context.Context, pgx.Tx, *lifecycle.Subscription) (listed bool, err error)
	}{
		{!p.Absent.Pauses, p.listPausedTx},
		{!p.Absent.Deletion, p.refundDeletedTx},
		{charge && sub.Recurs() && !p.Absent.ChargeMoves, p.listMovedTx},
		{charge && p.Charge == nil && !p.Older && sub.Stopped() && sub.ExpiresAt != nil, p.listUnrecurringTx},
		{p.Role.beside(), p.listBesideTx},
		{p.paysADay(*sub), p.listTwiceTx},
	} {
		if !rule.concerns {
			continue
		}
		if listed, err = rule.listTx(ctx, tx, sub); err != nil || listed {
			return listed, err
		}
	}
	return false, nil
}

// isBeforeMoveTx reports whether a card was charged for a period that lies before the end
// to which an extension has moved the next charge: that end stays.
func (p settling) isBeforeMoveTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) (bool, error) {
	if p.Absent.ChargeMoves || !p.isCharge() || !sub.Recurs() || sub.ExpiresAt == nil {
		return false, nil
	}
	last, err := p.db.ChargeMoveGetLast(ctx, tx, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil && p.dueOf(sub, p.deps.Clock.Now()).Before(last.ToAt), err
}

// dueOf is the instant for which a card was charged: gateway A's due date; gateway B
// charges when the period begins.
func (p Payment) dueOf(sub lifecycle.Subscription, now time.Time) time.Time {
	switch {
	case sub.Traits().ChargesByDay && p.DueDate != nil:
		return *p.DueDate
	case p.SettledAt != nil:
		return *p.SettledAt
	}
	return now
}

// settleZeroInvoiceTx: an invoice of nothing is no money for the ledger. It opens a
// trial, a first month that a promo code gives away, and a plan that is free.
func (p settling) settleZeroInvoiceTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) error {
	if sub.Status != state.Pending {
		return nil
	}
	c := lifecycle.Change{
		Action: state.PaymentSettles, Source: p.Source, Event: p.Event, Edit: (*lifecycle.Subscription).CloseIntent,
	}
	switch {
	case sub.StartsAt != nil:
		c.Action = state.RenewalTaken
	case sub.StartsFree():
		c.Action = state.TrialStarts
	}
	_, err := p.deps.Store.MoveTx(ctx, tx, sub, c)
	return err
}

// pay writes what a payment means for the dates of a subscription.
func (p settling) pay(r *lifecycle.Subscription) {
	now := p.deps.Clock.Now()
	settledAt := now
	if p.SettledAt != nil {
		settledAt = lifecycle.LatestOf(*p.SettledAt, &r.RegisterDate) // gateway A may tell the day alone
	}
	if !p.Role.opens() || r.PixAutomatic || r.GwaSubscriptionID != nil { // else the recurrence has still to be made
		r.CloseIntent()
	}
	first := r.LastPaymentAt == nil
	r.LastPaymentAt, r.PaymentFailures = &now, 0
	if first && p.Role.opens() && r.PixAutomatic && r.ExpiresAt == nil {
		r.NextBillingDate = nil // told by the authorization, which was known first, at a guess
	}
	if p.Recurs && !p.before && !r.CancelAtPeriodEnd && r.GatewayDeletedAt == nil && r.GatewayEndOpenSince == nil {
		r.ExpiresAt = nil // set by an admin's extension
	}
	lifecycle.SetOnce(&r.LastPaidInvoiceID, p.InvoiceID)
	switch {
	case r.PixAutomatic && p.Recurs:
		p.payAutomatic(r, settledAt)
	case r.PaymentMethod == gateway.MethodPix:
		if r.PixPaymentID == nil && !r.PixAutomatic {
			r.PixPaymentID = &p.ID
		}
		r.ExpiresAt, r.NextBillingDate = p.deps.Calendar.PeriodFrom(lifecycle.LatestOf(settledAt, r.ExpiresAt), r), nil
		if p.Charge != nil {
			r.CancelAtPeriodEnd = false
		}
	case !p.Recurs:
		r.ExpiresAt, r.NextBillingDate = p.deps.Calendar.PeriodFrom(settledAt, r), nil
	case p.Role.opens():
		next := p.deps.Calendar.FirstDue(*r).UTC()
		r.NextBillingDate = &next
	case r.Traits().ChargesByDay:
		due := lifecycle.StartOfDay(settledAt, p.deps.Config.Zone)
		if p.DueDate != nil {
			due = *p.DueDate
		}
		if r.AnchorDay == nil {
			p.deps.Calendar.Anchor(r, due)
		}
		next := lifecycle.LatestOf(p.deps.Calendar.MonthsOn(due, 1, *r), r.NextBillingDate)
		r.NextBillingDate = &next
	case r.NextBillingDate == nil:
		r.NextBillingDate = p.deps.Calendar.PeriodFrom(settledAt, r)
	}
	p.payStopped(r)
}

// payStopped has a charge that slipped through before the recurrence was stopped at
// gateway A pay its period all the same.
func (p Payment) payStopped(r *lifecycle.Subscription) {
	if !p.Recurs || !r.Stopped() || r.Traits().EndsWithPeriod || r.NextBillingDate == nil {
		return
	}
	r.ExpiresAt, r.NextBillingDate = new(lifecycle.LatestOf(*r.NextBillingDate, r.ExpiresAt)), nil
}

// payAutomatic moves the date of the next debit. The first code pays the period
// from its payment on; a debit that of its cycle, whenever it is taken.
func (p settling) payAutomatic(r *lifecycle.Subscription, settledAt time.Time) {
	from := settledAt
	switch {
	case p.Role.opens():
	case p.cycle != nil:
		from = *p.cycle
	case p.DueDate != nil:
		from = *p.DueDate
	}
	next := lifecycle.LatestOf(*p.deps.Calendar.PeriodFrom(from, r), r.NextBillingDate)
	r.NextBillingDate = &next
	if !r.Stopped() {
		r.ExpiresAt = nil
	}
}
