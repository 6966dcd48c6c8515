package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/platform/faultpoint"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
)

// Answer is what a gateway says of an intent, whoever asked: the request itself,
// the recovery job, a live read.
type Answer struct {
	Source   Source
	Remote   *payments.RemoteSubscription
	Pix      *payments.PixCharge
	Auth     *payments.PixAuthorization
	Charge   *payments.CardCharge // the first month that a promo code lowered
	Invoice  *payments.Payment    // an open invoice that was paid on request
	waits    bool                 // a payment is left for its event to tell, or the recovery
	Declined bool                 // the first payment was refused
	Dead     bool                 // a live read found it over
	Nothing  bool                 // nothing was made and nothing will be
	Open     bool                 // the outcome is still not known: ask again later
	Seeks    bool                 // with open: the first month is paid, and its recurrence was not found yet
}

// Settle writes a gateway's answer.
func (s *Settler) Settle(ctx context.Context, sub Row, a Answer) (Row, error) {
	// The money has moved or not by now: a client that went away must not keep
	// that from being written.
	ctx = context.WithoutCancel(ctx)
	var settled Row
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) (err error) {
		settled, err = s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil {
			return err
		}
		ended := Status(settled.Status).Ended()
		if err := s.settleTx(ctx, tx, &settled, a); err != nil {
			return err
		}
		if ended && Status(settled.Status).Ended() {
			if err := s.store.EndAtGatewayTx(ctx, tx, settled); err != nil { // it was not known there when it ended here
				return err
			}
		}
		faultpoint.Hit("subscribe.before_commit")
		return nil
	})
	if err != nil {
		return Row{}, fmt.Errorf("settle subscription %s: %w", sub.ID, err)
	}
	return settled, nil
}

func (s *Settler) settleTx(ctx context.Context, tx pgx.Tx, sub *Row, a Answer) error {
	if a.Nothing {
		moved, err := s.store.MoveTx(ctx, tx, sub, Change{Action: NothingAtGateway, Source: a.Source})
		if err != nil || moved {
			return err
		}
		err = s.store.EditAsTx(ctx, tx, sub, IntentEnd{How: intent.Missing, By: string(a.Source)}, s.closeUnmade) // it was ended or opened by somebody else
		if err != nil || !s.calendar.ChargesFirstMonth(*sub) || KnownAtGateway(*sub) {
			return err
		}
		return s.endAfterFirstMonthTx(ctx, tx, sub)
	}
	firstSight := !KnownAtGateway(*sub)
	err := s.store.EditTx(ctx, tx, sub, func(r *Row) {
		s.calendar.LearnRemote(r, a.Remote)
		LearnPix(r, a.Pix)
		LearnAuthorization(r, a.Auth)
		if a.Remote != nil && firstSight && s.calendar.ChargesFirstMonth(*r) {
			due := s.calendar.FirstDue(*r).UTC()
			r.NextBillingDate = &due // its answer already tells the charge after the first
		}
		if !a.Open {
			CloseIntent(r)
		}
	})
	if err != nil {
		return err
	}
	if firstSight {
		// Events may have overtaken the ids by which they are found.
		ids := []string{sub.ID.String(), Text(sub.GwaSubscriptionID), Text(sub.GwbSubscriptionID), Text(sub.PixPaymentID), Text(sub.GwaPixAuthID), Text(sub.PixConciliationID)}
		if err := s.payments.ReplayWaitingTx(ctx, tx, payments.GatewayName(sub.Gateway), ids...); err != nil {
			return err
		}
	}
	switch {
	case a.Dead:
		_, err := s.store.MoveTx(ctx, tx, sub, Change{Action: LiveReadDead, Source: a.Source})
		return err
	case a.Declined:
		return s.declineTx(ctx, tx, sub, a)
	case a.Pix != nil:
		if a.Pix.Payment.Status != payments.PaymentSettled {
			return nil
		}
		return s.SettlePaymentTx(ctx, tx, sub, Payment{Payment: a.Pix.Payment, Source: a.Source, Recurs: false})
	case a.Invoice != nil:
		return s.SettlePaymentTx(ctx, tx, sub, Payment{Payment: *a.Invoice, Source: a.Source, Recurs: !Status(sub.Status).Ended()})
	case a.Auth != nil:
		return s.settleAuthorizationTx(ctx, tx, sub, a)
	case a.Charge != nil && !a.waits:
		return s.settleFirstMonthTx(ctx, tx, sub, a)
	case a.Remote != nil:
		return s.settleRemoteTx(ctx, tx, sub, a)
	}
	return nil
}

// closeUnmade notes that the gateway has made nothing. An automatic PIX that an admin has
// activated meanwhile has no authorization that would ever be debited: it runs for one
// period from then, as a PIX that nobody has paid.
func (s *Settler) closeUnmade(r *Row) {
	CloseIntent(r)
	if Status(r.Status) == Active && r.ExpiresAt == nil && DebitsNothing(*r) {
		r.AnchorDay = nil
		r.ExpiresAt, r.NextBillingDate = s.calendar.PeriodFrom(LatestOf(r.RegisterDate, r.StartedAt), r), nil
	}
}

// declineTx ends the subscription here, and by job at the gateway: what is left
// there could still be paid.
func (s *Settler) declineTx(ctx context.Context, tx pgx.Tx, sub *Row, a Answer) error {
	if _, err := s.store.MoveTx(ctx, tx, sub, Change{Action: PaymentDeclined, Source: a.Source}); err != nil {
		return err
	}
	if a.Remote != nil && a.Remote.Status != payments.RemoteIncomplete {
		return nil // it is over there too
	}
	return s.store.EndAtGatewayTx(ctx, tx, *sub)
}

func (s *Store) EndAtGatewayTx(ctx context.Context, tx pgx.Tx, sub Row) error {
	if !KnownAtGateway(sub) {
		return nil
	}
	return s.EndTx(ctx, tx, EndArgs{SubscriptionID: sub.ID})
}

func (s *Store) EndTx(ctx context.Context, tx pgx.Tx, a EndArgs) error {
	if _, err := s.jobs.InsertTx(ctx, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway}); err != nil {
		return fmt.Errorf("queue the end at the gateway: %w", err)
	}
	return nil
}

// settleRemoteTx writes what became of a card subscription. At gateway A the
// charge runs after the call, so only a trial is active at once; the rest is
// told by webhook, or by the recovery when that one is lost.
func (s *Settler) settleRemoteTx(ctx context.Context, tx pgx.Tx, sub *Row, a Answer) error {
	if !Running(a.Remote.Status) {
		return nil
	}
	latest := a.Remote.LatestPayment
	paid := latest != nil && latest.Status == payments.PaymentSettled
	if a.waits {
		return nil
	}
	waits := sub.Gateway == string(payments.GWA) && a.Source == BySubscribe
	begins := Status(sub.Status) == Pending && !(paid && latest.Amount > 0)
	switch {
	case begins && (StartsFree(*sub) || sub.StartsAt != nil):
		action := TrialStarts
		if sub.StartsAt != nil {
			action = RenewalTaken
		}
		_, err := s.store.MoveTx(ctx, tx, sub, Change{Action: action, Source: a.Source, Edit: func(r *Row) {
			if due := s.calendar.FirstDue(*r).UTC(); r.Gateway == string(payments.GWA) {
				r.NextBillingDate = &due // its answer already tells the charge after the first
			}
		}})
		return err
	case paid && !waits:
		return s.SettlePaymentTx(ctx, tx, sub, Payment{Payment: *latest, Source: a.Source, Recurs: true})
	case sub.Gateway == string(payments.GWB) && Status(sub.Status) != Suspended: // what reopens that is judged elsewhere
		_, err := s.store.MoveTx(ctx, tx, sub, Change{Action: GatewaySaysActive, Source: a.Source, Edit: func(r *Row) { r.PaymentFailures = 0 }})
		return err
	}
	return nil
}

// StartsFree reports whether the first charge lies ahead: a trial, or a promo code
// that gives the first month away.
func StartsFree(sub Row) bool {
	return sub.TrialDays > 0 || sub.FirstAmountCents != nil && *sub.FirstAmountCents == 0
}

// Payment is settled money on its way into a subscription.
type Payment struct {
	payments.Payment
	Source Source
	Event  *string
	Recurs bool           // it will be charged again without the payer's doing
	First  bool           // the one-off that began it, charged apart from the recurrence
	Beside bool           // made beside the recurrence that pays the subscription, which it names
	Older  bool           // than a failure that counts, of another charge: it pays nothing that is owed
	Charge *RenewalCharge // the code that it paid, which was made for a further period
	cycle  *time.Time     // of a debit of automatic PIX: the beginning of the period that it pays
	Asked  *bool          // filled: the gateway is asked for it first, and nothing else has changed
	before bool           // an extension that has moved the next charge: it pays a period that was over, or ran, then
}

// SettlePaymentTx is where every payment of a subscription ends, keyed by the
// gateway's payment id: the first to bring it does what follows from the money,
// everybody later nothing.
func (s *Settler) SettlePaymentTx(ctx context.Context, tx pgx.Tx, sub *Row, p Payment) error {
	if p.Amount == 0 {
		return s.settleNothingTx(ctx, tx, sub, p)
	}
	known, err := s.payments.FindPayment(ctx, tx, payments.GatewayName(sub.Gateway), p.ID)
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
		Gateway: payments.GatewayName(sub.Gateway), Purpose: payments.ForSubscription,
		LocalID: sub.ID, CustomerID: sub.CustomerID, Payment: p.Payment, Shown: p.Source != ByWebhook,
	})
	if err != nil {
		return fmt.Errorf("record payment: %w", err)
	}
	if !first && Status(sub.Status) != Pending {
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
func (s *Settler) settleChargeTx(ctx context.Context, tx pgx.Tx, sub *Row, p Payment) error {
	if made := Text(p.Charge.GatewayPaymentID); made != "" && made != p.ID { // it names the charge, and is not its code
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
func (s *Settler) settleBookedTx(ctx context.Context, tx pgx.Tx, sub *Row, p Payment) (err error) {
	if !p.First && p.Charge == nil {
		older := false
		if p.cycle, older, err = s.debits.PayDebitTx(ctx, tx, *sub, p.Payment); err != nil {
			return err
		}
		p.Older = p.Older || older
	}
	if Status(sub.Status).Ended() {
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
	if sub.HasChargeback && Status(sub.Status) == Suspended {
		err = s.store.EditTx(ctx, tx, sub, func(r *Row) { s.pay(r, p) }) // paid, but closed while disputed
		return errors.Join(err, s.countTx(ctx, tx, *sub, p))
	}
	moved, err := s.store.MoveTx(ctx, tx, sub, Change{Action: PaymentSettles, Source: p.Source, Event: p.Event, Edit: func(r *Row) { s.pay(r, p) }})
	if err != nil || !moved {
		return err
	}
	return s.countTx(ctx, tx, *sub, p)
}

// settleNothingTx: an invoice of nothing is no money for the ledger. It opens a
// trial, a first month that a promo code gives away, and a plan that is free.
func (s *Settler) settleNothingTx(ctx context.Context, tx pgx.Tx, sub *Row, p Payment) error {
	if Status(sub.Status) != Pending {
		return nil
	}
	c := Change{Action: PaymentSettles, Source: p.Source, Event: p.Event, Edit: CloseIntent}
	switch {
	case sub.StartsAt != nil:
		c.Action = RenewalTaken
	case StartsFree(*sub):
		c.Action = TrialStarts
	}
	_, err := s.store.MoveTx(ctx, tx, sub, c)
	return err
}

// pay writes what a payment means for the dates of a subscription.
func (s *Settler) pay(r *Row, p Payment) {
	now := s.clock.Now()
	settledAt := now
	if p.SettledAt != nil {
		settledAt = LatestOf(*p.SettledAt, &r.RegisterDate) // gateway A may tell the day alone
	}
	if !p.First || r.PixAutomatic || r.GwaSubscriptionID != nil { // else the recurrence has still to be made
		CloseIntent(r)
	}
	first := r.LastPaymentAt == nil
	r.LastPaymentAt, r.PaymentFailures = &now, 0
	if first && p.First && r.PixAutomatic && r.ExpiresAt == nil {
		r.NextBillingDate = nil // told by the authorization, which was known first, at a guess
	}
	if p.Recurs && !p.before && !r.CancelAtPeriodEnd && r.GatewayDeletedAt == nil && r.GatewayEndOpenSince == nil {
		r.ExpiresAt = nil // set by an admin's extension
	}
	Learn(&r.LastPaidInvoiceID, p.InvoiceID)
	switch {
	case r.PixAutomatic && p.Recurs:
		s.payAutomatic(r, p, settledAt)
	case r.PaymentMethod == string(payments.MethodPix):
		if r.PixPaymentID == nil && !r.PixAutomatic {
			r.PixPaymentID = &p.ID
		}
		r.ExpiresAt, r.NextBillingDate = s.calendar.PeriodFrom(LatestOf(settledAt, r.ExpiresAt), r), nil
		if p.Charge != nil {
			r.CancelAtPeriodEnd = false
		}
	case !p.Recurs:
		r.ExpiresAt, r.NextBillingDate = s.calendar.PeriodFrom(settledAt, r), nil
	case p.First:
		next := s.calendar.FirstDue(*r).UTC()
		r.NextBillingDate = &next
	case r.Gateway == string(payments.GWA):
		due := StartOfDay(settledAt, s.cfg.Zone)
		if p.DueDate != nil {
			due = *p.DueDate
		}
		if r.AnchorDay == nil {
			s.calendar.Anchor(r, due)
		}
		next := LatestOf(s.calendar.MonthsOn(due, 1, *r), r.NextBillingDate)
		r.NextBillingDate = &next
	case r.NextBillingDate == nil:
		r.NextBillingDate = s.calendar.PeriodFrom(settledAt, r)
	}
	payStopped(r, p)
}

// payStopped has a charge that slipped through before the recurrence was stopped at
// gateway A pay its period all the same.
func payStopped(r *Row, p Payment) {
	if !p.Recurs || !Stopped(*r) || r.Gateway != string(payments.GWA) || r.NextBillingDate == nil {
		return
	}
	r.ExpiresAt, r.NextBillingDate = new(LatestOf(*r.NextBillingDate, r.ExpiresAt)), nil
}

// payAutomatic moves the date of the next debit. The first code pays the period
// from its payment on; a debit that of its cycle, whenever it is taken.
func (s *Settler) payAutomatic(r *Row, p Payment, settledAt time.Time) {
	from := settledAt
	switch {
	case p.First:
	case p.cycle != nil:
		from = *p.cycle
	case p.DueDate != nil:
		from = *p.DueDate
	}
	next := LatestOf(*s.calendar.PeriodFrom(from, r), r.NextBillingDate)
	r.NextBillingDate = &next
	if !Stopped(*r) {
		r.ExpiresAt = nil
	}
}

// PeriodFrom is the end of the row's period that begins at t, and keeps the day on
// which its periods begin.
func (s *Calendar) PeriodFrom(t time.Time, r *Row) *time.Time {
	s.Anchor(r, t)
	return new(s.MonthsOn(t, int(r.PeriodMonths), *r))
}

func LatestOf(t time.Time, other *time.Time) time.Time {
	if other != nil && other.After(t) {
		return *other
	}
	return t
}

// LearnRemote keeps what a gateway tells of its subscription.
func (s *Calendar) LearnRemote(r *Row, remote *payments.RemoteSubscription) {
	if remote == nil {
		return
	}
	if r.Gateway == string(payments.GWA) {
		Learn(&r.GwaSubscriptionID, remote.GatewayID)
		Learn(&r.GwaCustomerID, remote.CustomerGatewayID)
	} else {
		Learn(&r.GwbSubscriptionID, remote.GatewayID)
		Learn(&r.GwbCustomerID, remote.CustomerGatewayID)
		Learn(&r.GwbPriceID, remote.PriceID)
	}
	if remote.NextBilling != nil && !Status(r.Status).Ended() && !Stopped(*r) {
		r.NextBillingDate = remote.NextBilling
		s.Anchor(r, *remote.NextBilling)
	}
}

func LearnPix(r *Row, pix *payments.PixCharge) {
	if pix == nil {
		return
	}
	Learn(&r.PixPaymentID, pix.Payment.ID)
	Learn(&r.PixPayload, pix.Payload)
	Learn(&r.PixImage, pix.EncodedImage)
	if pix.ExpiresAt != nil {
		r.PixExpiresAt = pix.ExpiresAt
	}
}

// RemoteID is the subscription's id at its gateway, "" while it is not known.
func RemoteID(sub Row) string {
	if sub.Gateway == string(payments.GWA) {
		return Text(sub.GwaSubscriptionID)
	}
	return Text(sub.GwbSubscriptionID)
}

// RunningID is what runs, or ran, of the subscription at its gateway: recurrence,
// authorization or a code that could be paid. "" for a period that is paid.
func RunningID(sub Row) string {
	switch {
	case RemoteID(sub) != "":
		return RemoteID(sub)
	case sub.GwaPixAuthID != nil:
		return *sub.GwaPixAuthID
	case sub.LastPaymentAt == nil:
		return Text(sub.PixPaymentID)
	}
	return ""
}

func KnownAtGateway(sub Row) bool {
	return RemoteID(sub) != "" || sub.PixPaymentID != nil || sub.GwaPixAuthID != nil
}
