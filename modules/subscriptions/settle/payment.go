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

// Payment is settled money on its way into a subscription.
type Payment struct {
	gateway.Payment
	Source       state.Source
	Event        *string
	Recurs       bool                     // it will be charged again without the payer's doing
	First        bool                     // the one-off that began it, charged apart from the recurrence
	Beside       bool                     // made beside the recurrence that pays the subscription, which it names
	Older        bool                     // than a failure that counts, of another charge: it pays nothing that is owed
	Charge       *lifecycle.RenewalCharge // the code that it paid, which was made for a further period
	cycle        *time.Time               // of a debit of automatic PIX: the beginning of the period that it pays
	Absent       Absent                   // what was looked for before
	ConfirmFirst *bool                    // filled: the gateway is asked for it first, and nothing else has changed
	Booking      *Booking                 // filled: the caller books it, together with others
	before       bool                     // an extension has moved the next charge: it pays a period that began before
}

// Booking is a payment, of which the ledger has none, that the caller takes into the ledger after it is settled.
type Booking struct {
	Record payments.Record
	Counts bool // it opened the subscription, or paid one of its periods
}

// SettlePaymentTx is where every payment of a subscription ends, keyed by the
// gateway's payment id: the first to bring it does what follows from the money,
// everybody later nothing.
func (s *Settler) SettlePaymentTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, p Payment) error {
	if p.Amount == 0 {
		return s.settleZeroInvoiceTx(ctx, tx, sub, p)
	}
	if !p.Absent.Others {
		known, err := s.deps.Payments.FindPayment(ctx, tx, sub.Gateway, p.ID)
		if err != nil || IsOthers(*sub, known) {
			return err
		}
		p.Absent.Payment = known == nil
	}
	if p.Absent.Payment {
		confirming, err := s.confirmFirstTx(ctx, tx, *sub, p)
		if err == nil && !confirming {
			confirming, err = s.confirmTwinTx(ctx, tx, *sub, p)
		}
		if err != nil || confirming {
			if p.ConfirmFirst != nil {
				*p.ConfirmFirst = confirming
			}
			return err
		}
	}
	first, err := p.bookTx(ctx, tx, s.deps.Payments, sub)
	if err != nil {
		return fmt.Errorf("record payment: %w", err)
	}
	if !first && sub.Status != state.Pending {
		return nil
	}
	if listed, err := s.keepOtherAmountTx(ctx, tx, *sub, p); err != nil || listed {
		return err
	}
	if p.Charge != nil {
		return s.settleChargeTx(ctx, tx, sub, p)
	}
	return s.settleBookedTx(ctx, tx, sub, p)
}

// settleFirstSeenTx is SettlePaymentTx, but that a plain first payment of a card, which nothing makes anything else, is
// booked without waiting for the answer. The argument replays says that the events are replayed that wait for it.
func settleFirstSeenTx(ctx context.Context, s *Settler, tx pgx.Tx, sub *lifecycle.Subscription, p Payment,
	replays bool,
) error {
	plain := Absent{Payment: true, Others: true, Pauses: true, ChargeMoves: true, Deletion: true}
	if !replays || p.Absent != plain || sub.Status != state.Pending || sub.Traits().AmountsMayChange ||
		sub.PaysOnce() || sub.PixAutomatic || sub.HasChargeback || paysADay(*sub, p) {
		return s.SettlePaymentTx(ctx, tx, sub, p)
	}
	booking := Booking{}
	p.Booking = &booking
	err := s.SettlePaymentTx(ctx, tx, sub, p)
	if err == nil {
		booking.Record.Unbooked, booking.Record.Counts = true, booking.Counts
		_, err = s.deps.Payments.RecordPaymentTx(ctx, tx, booking.Record)
	}
	return err
}

// bookTx takes a payment into the ledger, where the caller does not. First: it was not there.
func (p Payment) bookTx(ctx context.Context, tx pgx.Tx, in *payments.Service,
	sub *lifecycle.Subscription,
) (first bool, err error) {
	r := payments.Record{Owner: sub.Owner(), Payment: p.Payment, Confirmed: p.Source != state.ByWebhook}
	if p.Booking != nil {
		p.Booking.Record = r
		return true, nil
	}
	return in.RecordPaymentTx(ctx, tx, r)
}

// countTx notes that a payment counts.
func (p Payment) countTx(ctx context.Context, tx pgx.Tx, in *payments.Service, sub *lifecycle.Subscription) error {
	if p.Booking != nil {
		p.Booking.Counts = true
		return nil
	}
	return in.CountPaymentTx(ctx, tx, sub.Gateway, p.ID)
}

// confirmFirstTx has money of gateway A that the ledger lacks, and that comes after the
// subscription's end, or would lengthen it without having been ordered here, confirmed by
// the gateway first, by job: nothing is booked until then.
func (s *Settler) confirmFirstTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, p Payment) (bool, error) {
	if sub.Traits().SignsEvents || p.Source != state.ByWebhook {
		return false, nil
	}
	if !sub.Status.Ended() {
		if ordered, err := s.isOrderedTx(ctx, tx, sub, p); err != nil || ordered {
			return false, err
		}
	}
	a := LateMoneyArgs{
		Gateway: sub.Gateway, SubscriptionID: sub.ID, PaymentID: p.ID, EventID: nullable.Value(p.Event), First: p.First,
		SettledAt: p.SettledAt,
	}
	if p.Charge != nil {
		a.ChargeID = p.Charge.ID
	}
	return true, s.InsertLateTx(ctx, tx, a)
}

// confirmTwinTx has a job read a charge for a due date live, and the one that has paid for
// that day as well when only an event has reported it: an event may be forged, and what is
// refunded must not be the real payment.
func (s *Settler) confirmTwinTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, p Payment) (bool, error) {
	if !paysADay(sub, p) || sub.Status.Ended() {
		return false, nil
	}
	twins, err := s.deps.Payments.PaidFor(ctx, tx, sub.Gateway, sub.ID, p.Payment)
	if err != nil {
		return false, err
	}
	for _, twin := range twins {
		if !twin.Confirmed {
			return true, s.InsertLateTx(ctx, tx, LateMoneyArgs{
				Gateway: sub.Gateway, SubscriptionID: sub.ID, PaymentID: p.ID, EventID: nullable.Value(p.Event),
				SettledAt: p.SettledAt,
			})
		}
	}
	return false, nil
}

// paysADay reports whether a payment is a charge of gateway A's recurrence, of which each
// day that is due has one.
func paysADay(sub lifecycle.Subscription, p Payment) bool {
	return p.Recurs && !p.First && sub.Traits().ChargesByDay && sub.PaymentMethod != gateway.MethodPix
}

// settleChargeTx settles the payment of a renewal charge, and notes which end it moved.
func (s *Settler) settleChargeTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, p Payment) error {
	if made := nullable.Value(p.Charge.GatewayPaymentID); made != "" &&
		made != p.ID { // it names the charge, and is not its code
		p.Charge, p.Beside = nil, sub.PixAutomatic
		return s.settleBookedTx(ctx, tx, sub, p)
	}
	if p.Charge.Cycle.Valid {
		p.cycle = new(s.deps.Calendar.DayOf(p.Charge.Cycle))
	}
	before := *sub
	if err := s.settleBookedTx(ctx, tx, sub, p); err != nil {
		return err
	}
	return s.movedByTx(ctx, tx, before, *sub, p)
}

// movedByTx notes what the payment of a renewal charge did to the end of the paid
// time, in the transaction that did it.
func (s *Settler) movedByTx(ctx context.Context, tx pgx.Tx, before, after lifecycle.Subscription, p Payment) error {
	charge, err := s.db.RenewalChargeLock(ctx, tx, p.Charge.ID)
	if err != nil {
		return fmt.Errorf("read renewal charge: %w", err)
	}
	from, to, as := paidEnd(before), paidEnd(after), state.CodePaid
	if to == nil || from != nil && !to.After(*from) {
		as = state.CodeUnapplied
	}
	_, err = s.deps.Store.SaveChargeTx(ctx, tx, charge, as, func(c *lifecycle.RenewalCharge) {
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
func (s *Settler) settleBookedTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, p Payment) (err error) {
	if sub.PixAutomatic && !p.First && p.Charge == nil {
		var older bool
		if p.cycle, older, err = s.deps.Debits.PayDebitTx(ctx, tx, *sub, p.Payment); err != nil {
			return err
		}
		p.Older = p.Older || older
	}
	if sub.Status.Ended() {
		return s.lateMoneyTx(ctx, tx, sub, p)
	}
	if listed, err := s.listByRuleTx(ctx, tx, sub, p); err != nil || listed {
		return err
	}
	if p.Older {
		return p.countTx(ctx, tx, s.deps.Payments, sub) // a later charge failed, and is owed
	}
	if p.before, err = s.isBeforeMoveTx(ctx, tx, *sub, p); err != nil {
		return err
	}
	if sub.HasChargeback && sub.Status == state.Suspended {
		err = s.deps.Store.EditTx(ctx, tx, sub, state.PaidWhileDisputed,
			func(r *lifecycle.Subscription) { s.pay(r, p) }) // paid, but closed while disputed
		return errors.Join(err, p.countTx(ctx, tx, s.deps.Payments, sub))
	}
	moved, err := s.deps.Store.MoveTx(ctx, tx, sub, lifecycle.Change{
		Action: state.PaymentSettles, Source: p.Source, Event: p.Event,
		Edit: func(r *lifecycle.Subscription) { s.pay(r, p) },
	})
	if err != nil || !moved {
		return err
	}
	return p.countTx(ctx, tx, s.deps.Payments, sub)
}

// listByRuleTx lists money that pays no period of a living subscription, by the first of the rules that holds of it:
// each with what it can concern at all.
func (s *Settler) listByRuleTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription,
	p Payment,
) (listed bool, err error) {
	charge := p.Recurs && !p.First
	for _, rule := range []struct {
		concerns bool
		listTx   func(context.Context, pgx.Tx, *lifecycle.Subscription, Payment) (listed bool, err error)
	}{
		{!p.Absent.Pauses, s.listPausedTx},
		{!p.Absent.Deletion, s.refundDeletedTx},
		{charge && sub.Recurs() && !p.Absent.ChargeMoves, s.listMovedTx},
		{charge && p.Charge == nil && !p.Older && sub.Stopped() && sub.ExpiresAt != nil, s.listUnrecurringTx},
		{p.Beside, s.listBesideTx},
		{paysADay(*sub, p), s.listTwiceTx},
	} {
		if !rule.concerns {
			continue
		}
		if listed, err = rule.listTx(ctx, tx, sub, p); err != nil || listed {
			return listed, err
		}
	}
	return false, nil
}

// isBeforeMoveTx reports whether a card was charged for a period that lies before the end
// to which an extension has moved the next charge: that end stays.
func (s *Settler) isBeforeMoveTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, p Payment) (bool, error) {
	if p.Absent.ChargeMoves || !p.Recurs || p.First || !sub.Recurs() || sub.ExpiresAt == nil {
		return false, nil
	}
	last, err := s.db.ChargeMoveGetLast(ctx, tx, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil && dueOf(sub, p.Payment, s.deps.Clock.Now()).Before(last.ToAt), err
}

// dueOf is the instant for which a card was charged: gateway A's due date; gateway B
// charges when the period begins.
func dueOf(sub lifecycle.Subscription, p gateway.Payment, now time.Time) time.Time {
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
func (s *Settler) settleZeroInvoiceTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, p Payment) error {
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
	_, err := s.deps.Store.MoveTx(ctx, tx, sub, c)
	return err
}

// pay writes what a payment means for the dates of a subscription.
func (s *Settler) pay(r *lifecycle.Subscription, p Payment) {
	now := s.deps.Clock.Now()
	settledAt := now
	if p.SettledAt != nil {
		settledAt = lifecycle.LatestOf(*p.SettledAt, &r.RegisterDate) // gateway A may tell the day alone
	}
	if !p.First || r.PixAutomatic || r.GwaSubscriptionID != nil { // else the recurrence has still to be made
		r.CloseIntent()
	}
	first := r.LastPaymentAt == nil
	r.LastPaymentAt, r.PaymentFailures = &now, 0
	if first && p.First && r.PixAutomatic && r.ExpiresAt == nil {
		r.NextBillingDate = nil // told by the authorization, which was known first, at a guess
	}
	if p.Recurs && !p.before && !r.CancelAtPeriodEnd && r.GatewayDeletedAt == nil && r.GatewayEndOpenSince == nil {
		r.ExpiresAt = nil // set by an admin's extension
	}
	lifecycle.SetOnce(&r.LastPaidInvoiceID, p.InvoiceID)
	switch {
	case r.PixAutomatic && p.Recurs:
		s.payAutomatic(r, p, settledAt)
	case r.PaymentMethod == gateway.MethodPix:
		if r.PixPaymentID == nil && !r.PixAutomatic {
			r.PixPaymentID = &p.ID
		}
		r.ExpiresAt, r.NextBillingDate = s.deps.Calendar.PeriodFrom(lifecycle.LatestOf(settledAt, r.ExpiresAt), r), nil
		if p.Charge != nil {
			r.CancelAtPeriodEnd = false
		}
	case !p.Recurs:
		r.ExpiresAt, r.NextBillingDate = s.deps.Calendar.PeriodFrom(settledAt, r), nil
	case p.First:
		next := s.deps.Calendar.FirstDue(*r).UTC()
		r.NextBillingDate = &next
	case r.Traits().ChargesByDay:
		due := lifecycle.StartOfDay(settledAt, s.deps.Config.Zone)
		if p.DueDate != nil {
			due = *p.DueDate
		}
		if r.AnchorDay == nil {
			s.deps.Calendar.Anchor(r, due)
		}
		next := lifecycle.LatestOf(s.deps.Calendar.MonthsOn(due, 1, *r), r.NextBillingDate)
		r.NextBillingDate = &next
	case r.NextBillingDate == nil:
		r.NextBillingDate = s.deps.Calendar.PeriodFrom(settledAt, r)
	}
	payStopped(r, p)
}

// payStopped has a charge that slipped through before the recurrence was stopped at
// gateway A pay its period all the same.
func payStopped(r *lifecycle.Subscription, p Payment) {
	if !p.Recurs || !r.Stopped() || r.Traits().EndsWithPeriod || r.NextBillingDate == nil {
		return
	}
	r.ExpiresAt, r.NextBillingDate = new(lifecycle.LatestOf(*r.NextBillingDate, r.ExpiresAt)), nil
}

// payAutomatic moves the date of the next debit. The first code pays the period
// from its payment on; a debit that of its cycle, whenever it is taken.
func (s *Settler) payAutomatic(r *lifecycle.Subscription, p Payment, settledAt time.Time) {
	from := settledAt
	switch {
	case p.First:
	case p.cycle != nil:
		from = *p.cycle
	case p.DueDate != nil:
		from = *p.DueDate
	}
	next := lifecycle.LatestOf(*s.deps.Calendar.PeriodFrom(from, r), r.NextBillingDate)
	r.NextBillingDate = &next
	if !r.Stopped() {
		r.ExpiresAt = nil
	}
}
