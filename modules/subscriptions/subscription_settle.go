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

// answer is what a gateway says of an intent, whoever asked: the request itself,
// the recovery job, a live read.
type answer struct {
	source   Source
	remote   *payments.RemoteSubscription
	pix      *payments.PixCharge
	auth     *payments.PixAuthorization
	charge   *payments.CardCharge // the first month that a promo code lowered
	invoice  *payments.Payment    // an open invoice that was paid on request
	waits    bool                 // a payment is left for its event to tell, or the recovery
	declined bool                 // the first payment was refused
	dead     bool                 // a live read found it over
	nothing  bool                 // nothing was made and nothing will be
	open     bool                 // the outcome is still not known: ask again later
	seeks    bool                 // with open: the first month is paid, and its recurrence was not found yet
}

// settle writes a gateway's answer.
func (s *Settler) settle(ctx context.Context, sub row, a answer) (row, error) {
	// The money has moved or not by now: a client that went away must not keep
	// that from being written.
	ctx = context.WithoutCancel(ctx)
	var settled row
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) (err error) {
		settled, err = s.store.lockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil {
			return err
		}
		ended := Status(settled.Status).Ended()
		if err := s.settleTx(ctx, tx, &settled, a); err != nil {
			return err
		}
		if ended && Status(settled.Status).Ended() {
			if err := s.store.endAtGatewayTx(ctx, tx, settled); err != nil { // it was not known there when it ended here
				return err
			}
		}
		faultpoint.Hit("subscribe.before_commit")
		return nil
	})
	if err != nil {
		return row{}, fmt.Errorf("settle subscription %s: %w", sub.ID, err)
	}
	return settled, nil
}

func (s *Settler) settleTx(ctx context.Context, tx pgx.Tx, sub *row, a answer) error {
	if a.nothing {
		moved, err := s.store.moveTx(ctx, tx, sub, change{action: NothingAtGateway, source: a.source})
		if err != nil || moved {
			return err
		}
		err = s.store.editAsTx(ctx, tx, sub, intentEnd{how: intent.Missing, by: string(a.source)}, s.closeUnmade) // it was ended or opened by somebody else
		if err != nil || !s.calendar.chargesFirstMonth(*sub) || knownAtGateway(*sub) {
			return err
		}
		return s.endAfterFirstMonthTx(ctx, tx, sub)
	}
	firstSight := !knownAtGateway(*sub)
	err := s.store.editTx(ctx, tx, sub, func(r *row) {
		s.calendar.learnRemote(r, a.remote)
		learnPix(r, a.pix)
		learnAuthorization(r, a.auth)
		if a.remote != nil && firstSight && s.calendar.chargesFirstMonth(*r) {
			due := s.calendar.firstDue(*r).UTC()
			r.NextBillingDate = &due // its answer already tells the charge after the first
		}
		if !a.open {
			closeIntent(r)
		}
	})
	if err != nil {
		return err
	}
	if firstSight {
		// Events may have overtaken the ids by which they are found.
		ids := []string{sub.ID.String(), text(sub.GwaSubscriptionID), text(sub.GwbSubscriptionID), text(sub.PixPaymentID), text(sub.GwaPixAuthID), text(sub.PixConciliationID)}
		if err := s.payments.ReplayWaitingTx(ctx, tx, payments.GatewayName(sub.Gateway), ids...); err != nil {
			return err
		}
	}
	switch {
	case a.dead:
		_, err := s.store.moveTx(ctx, tx, sub, change{action: LiveReadDead, source: a.source})
		return err
	case a.declined:
		return s.declineTx(ctx, tx, sub, a)
	case a.pix != nil:
		if a.pix.Payment.Status != payments.PaymentSettled {
			return nil
		}
		return s.settlePaymentTx(ctx, tx, sub, payment{Payment: a.pix.Payment, source: a.source, recurs: false})
	case a.invoice != nil:
		return s.settlePaymentTx(ctx, tx, sub, payment{Payment: *a.invoice, source: a.source, recurs: !Status(sub.Status).Ended()})
	case a.auth != nil:
		return s.settleAuthorizationTx(ctx, tx, sub, a)
	case a.charge != nil && !a.waits:
		return s.settleFirstMonthTx(ctx, tx, sub, a)
	case a.remote != nil:
		return s.settleRemoteTx(ctx, tx, sub, a)
	}
	return nil
}

// closeUnmade notes that the gateway has made nothing. An automatic PIX that an admin has
// activated meanwhile has no authorization that would ever be debited: it runs for one
// period from then, as a PIX that nobody has paid.
func (s *Settler) closeUnmade(r *row) {
	closeIntent(r)
	if Status(r.Status) == Active && r.ExpiresAt == nil && debitsNothing(*r) {
		r.AnchorDay = nil
		r.ExpiresAt, r.NextBillingDate = s.calendar.periodFrom(latestOf(r.RegisterDate, r.StartedAt), r), nil
	}
}

// declineTx ends the subscription here, and by job at the gateway: what is left
// there could still be paid.
func (s *Settler) declineTx(ctx context.Context, tx pgx.Tx, sub *row, a answer) error {
	if _, err := s.store.moveTx(ctx, tx, sub, change{action: PaymentDeclined, source: a.source}); err != nil {
		return err
	}
	if a.remote != nil && a.remote.Status != payments.RemoteIncomplete {
		return nil // it is over there too
	}
	return s.store.endAtGatewayTx(ctx, tx, *sub)
}

func (s *Store) endAtGatewayTx(ctx context.Context, tx pgx.Tx, sub row) error {
	if !knownAtGateway(sub) {
		return nil
	}
	return s.endTx(ctx, tx, endArgs{SubscriptionID: sub.ID})
}

func (s *Store) endTx(ctx context.Context, tx pgx.Tx, a endArgs) error {
	if _, err := s.jobs.InsertTx(ctx, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway}); err != nil {
		return fmt.Errorf("queue the end at the gateway: %w", err)
	}
	return nil
}

// settleRemoteTx writes what became of a card subscription. At gateway A the
// charge runs after the call, so only a trial is active at once; the rest is
// told by webhook, or by the recovery when that one is lost.
func (s *Settler) settleRemoteTx(ctx context.Context, tx pgx.Tx, sub *row, a answer) error {
	if !running(a.remote.Status) {
		return nil
	}
	latest := a.remote.LatestPayment
	paid := latest != nil && latest.Status == payments.PaymentSettled
	if a.waits {
		return nil
	}
	waits := sub.Gateway == string(payments.GWA) && a.source == BySubscribe
	begins := Status(sub.Status) == Pending && !(paid && latest.Amount > 0)
	switch {
	case begins && (startsFree(*sub) || sub.StartsAt != nil):
		action := TrialStarts
		if sub.StartsAt != nil {
			action = RenewalTaken
		}
		_, err := s.store.moveTx(ctx, tx, sub, change{action: action, source: a.source, edit: func(r *row) {
			if due := s.calendar.firstDue(*r).UTC(); r.Gateway == string(payments.GWA) {
				r.NextBillingDate = &due // its answer already tells the charge after the first
			}
		}})
		return err
	case paid && !waits:
		return s.settlePaymentTx(ctx, tx, sub, payment{Payment: *latest, source: a.source, recurs: true})
	case sub.Gateway == string(payments.GWB) && Status(sub.Status) != Suspended: // what reopens that is judged elsewhere
		_, err := s.store.moveTx(ctx, tx, sub, change{action: GatewaySaysActive, source: a.source, edit: func(r *row) { r.PaymentFailures = 0 }})
		return err
	}
	return nil
}

// startsFree reports whether the first charge lies ahead: a trial, or a promo code
// that gives the first month away.
func startsFree(sub row) bool {
	return sub.TrialDays > 0 || sub.FirstAmountCents != nil && *sub.FirstAmountCents == 0
}

// payment is settled money on its way into a subscription.
type payment struct {
	payments.Payment
	source Source
	event  *string
	recurs bool           // it will be charged again without the payer's doing
	first  bool           // the one-off that began it, charged apart from the recurrence
	beside bool           // made beside the recurrence that pays the subscription, which it names
	older  bool           // than a failure that counts, of another charge: it pays nothing that is owed
	charge *renewalCharge // the code that it paid, which was made for a further period
	cycle  *time.Time     // of a debit of automatic PIX: the beginning of the period that it pays
	asked  *bool          // filled: the gateway is asked for it first, and nothing else has changed
	before bool           // an extension that has moved the next charge: it pays a period that was over, or ran, then
}

// settlePaymentTx is where every payment of a subscription ends, keyed by the
// gateway's payment id: the first to bring it does what follows from the money,
// everybody later nothing.
func (s *Settler) settlePaymentTx(ctx context.Context, tx pgx.Tx, sub *row, p payment) error {
	if p.Amount == 0 {
		return s.settleNothingTx(ctx, tx, sub, p)
	}
	known, err := s.payments.FindPayment(ctx, tx, payments.GatewayName(sub.Gateway), p.ID)
	if err != nil || isOthers(*sub, known) {
		return err
	}
	asked, err := s.asksLiveTx(ctx, tx, *sub, p)
	if err == nil && !asked && known == nil {
		asked, err = s.asksTwinTx(ctx, tx, *sub, p)
	}
	if err != nil || asked {
		if p.asked != nil {
			*p.asked = asked
		}
		return err
	}
	first, err := s.payments.RecordPaymentTx(ctx, tx, payments.Record{
		Gateway: payments.GatewayName(sub.Gateway), Purpose: payments.ForSubscription,
		LocalID: sub.ID, CustomerID: sub.CustomerID, Payment: p.Payment, Shown: p.source != ByWebhook,
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
	if p.charge != nil {
		return s.settleChargeTx(ctx, tx, sub, p)
	}
	return s.settleBookedTx(ctx, tx, sub, p)
}

// settleChargeTx settles the payment of a renewal charge, and notes which end it moved.
func (s *Settler) settleChargeTx(ctx context.Context, tx pgx.Tx, sub *row, p payment) error {
	if made := text(p.charge.GatewayPaymentID); made != "" && made != p.ID { // it names the charge, and is not its code
		p.charge, p.beside = nil, sub.PixAutomatic
		return s.settleBookedTx(ctx, tx, sub, p)
	}
	if p.charge.Cycle.Valid {
		p.cycle = new(s.calendar.dayOf(p.charge.Cycle))
	}
	before := *sub
	if err := s.settleBookedTx(ctx, tx, sub, p); err != nil {
		return err
	}
	return s.movedByTx(ctx, tx, before, *sub, p)
}

// settleBookedTx does what follows from money that has just come into the ledger.
func (s *Settler) settleBookedTx(ctx context.Context, tx pgx.Tx, sub *row, p payment) (err error) {
	if !p.first && p.charge == nil {
		older := false
		if p.cycle, older, err = s.debits.payDebitTx(ctx, tx, *sub, p.Payment); err != nil {
			return err
		}
		p.older = p.older || older
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
	if p.older {
		return s.countTx(ctx, tx, *sub, p) // a later charge failed, and is owed
	}
	if p.before, err = s.isBeforeMoveTx(ctx, tx, *sub, p); err != nil {
		return err
	}
	if sub.HasChargeback && Status(sub.Status) == Suspended {
		err = s.store.editTx(ctx, tx, sub, func(r *row) { s.pay(r, p) }) // paid, but closed while disputed
		return errors.Join(err, s.countTx(ctx, tx, *sub, p))
	}
	moved, err := s.store.moveTx(ctx, tx, sub, change{action: PaymentSettles, source: p.source, event: p.event, edit: func(r *row) { s.pay(r, p) }})
	if err != nil || !moved {
		return err
	}
	return s.countTx(ctx, tx, *sub, p)
}

// settleNothingTx: an invoice of nothing is no money for the ledger. It opens a
// trial, a first month that a promo code gives away, and a plan that is free.
func (s *Settler) settleNothingTx(ctx context.Context, tx pgx.Tx, sub *row, p payment) error {
	if Status(sub.Status) != Pending {
		return nil
	}
	c := change{action: PaymentSettles, source: p.source, event: p.event, edit: closeIntent}
	switch {
	case sub.StartsAt != nil:
		c.action = RenewalTaken
	case startsFree(*sub):
		c.action = TrialStarts
	}
	_, err := s.store.moveTx(ctx, tx, sub, c)
	return err
}

// pay writes what a payment means for the dates of a subscription.
func (s *Settler) pay(r *row, p payment) {
	now := s.clock.Now()
	settledAt := now
	if p.SettledAt != nil {
		settledAt = latestOf(*p.SettledAt, &r.RegisterDate) // gateway A may tell the day alone
	}
	if !p.first || r.PixAutomatic || r.GwaSubscriptionID != nil { // else the recurrence has still to be made
		closeIntent(r)
	}
	first := r.LastPaymentAt == nil
	r.LastPaymentAt, r.PaymentFailures = &now, 0
	if first && p.first && r.PixAutomatic && r.ExpiresAt == nil {
		r.NextBillingDate = nil // told by the authorization, which was known first, at a guess
	}
	if p.recurs && !p.before && !r.CancelAtPeriodEnd && r.GatewayDeletedAt == nil && r.GatewayEndOpenSince == nil {
		r.ExpiresAt = nil // set by an admin's extension
	}
	learn(&r.LastPaidInvoiceID, p.InvoiceID)
	switch {
	case r.PixAutomatic && p.recurs:
		s.payAutomatic(r, p, settledAt)
	case r.PaymentMethod == string(payments.MethodPix):
		if r.PixPaymentID == nil && !r.PixAutomatic {
			r.PixPaymentID = &p.ID
		}
		r.ExpiresAt, r.NextBillingDate = s.calendar.periodFrom(latestOf(settledAt, r.ExpiresAt), r), nil
		if p.charge != nil {
			r.CancelAtPeriodEnd = false
		}
	case !p.recurs:
		r.ExpiresAt, r.NextBillingDate = s.calendar.periodFrom(settledAt, r), nil
	case p.first:
		next := s.calendar.firstDue(*r).UTC()
		r.NextBillingDate = &next
	case r.Gateway == string(payments.GWA):
		due := startOfDay(settledAt, s.cfg.Zone)
		if p.DueDate != nil {
			due = *p.DueDate
		}
		if r.AnchorDay == nil {
			s.calendar.anchor(r, due)
		}
		next := latestOf(s.calendar.monthsOn(due, 1, *r), r.NextBillingDate)
		r.NextBillingDate = &next
	case r.NextBillingDate == nil:
		r.NextBillingDate = s.calendar.periodFrom(settledAt, r)
	}
	payStopped(r, p)
}

// payStopped has a charge that slipped through before the recurrence was stopped at
// gateway A pay its period all the same.
func payStopped(r *row, p payment) {
	if !p.recurs || !stopped(*r) || r.Gateway != string(payments.GWA) || r.NextBillingDate == nil {
		return
	}
	r.ExpiresAt, r.NextBillingDate = new(latestOf(*r.NextBillingDate, r.ExpiresAt)), nil
}

// payAutomatic moves the date of the next debit. The first code pays the period
// from its payment on; a debit that of its cycle, whenever it is taken.
func (s *Settler) payAutomatic(r *row, p payment, settledAt time.Time) {
	from := settledAt
	switch {
	case p.first:
	case p.cycle != nil:
		from = *p.cycle
	case p.DueDate != nil:
		from = *p.DueDate
	}
	next := latestOf(*s.calendar.periodFrom(from, r), r.NextBillingDate)
	r.NextBillingDate = &next
	if !stopped(*r) {
		r.ExpiresAt = nil
	}
}

// periodFrom is the end of the row's period that begins at t, and keeps the day on
// which its periods begin.
func (s *Calendar) periodFrom(t time.Time, r *row) *time.Time {
	s.anchor(r, t)
	return new(s.monthsOn(t, int(r.PeriodMonths), *r))
}

func latestOf(t time.Time, other *time.Time) time.Time {
	if other != nil && other.After(t) {
		return *other
	}
	return t
}

// learnRemote keeps what a gateway tells of its subscription.
func (s *Calendar) learnRemote(r *row, remote *payments.RemoteSubscription) {
	if remote == nil {
		return
	}
	if r.Gateway == string(payments.GWA) {
		learn(&r.GwaSubscriptionID, remote.GatewayID)
		learn(&r.GwaCustomerID, remote.CustomerGatewayID)
	} else {
		learn(&r.GwbSubscriptionID, remote.GatewayID)
		learn(&r.GwbCustomerID, remote.CustomerGatewayID)
		learn(&r.GwbPriceID, remote.PriceID)
	}
	if remote.NextBilling != nil && !Status(r.Status).Ended() && !stopped(*r) {
		r.NextBillingDate = remote.NextBilling
		s.anchor(r, *remote.NextBilling)
	}
}

func learnPix(r *row, pix *payments.PixCharge) {
	if pix == nil {
		return
	}
	learn(&r.PixPaymentID, pix.Payment.ID)
	learn(&r.PixPayload, pix.Payload)
	learn(&r.PixImage, pix.EncodedImage)
	if pix.ExpiresAt != nil {
		r.PixExpiresAt = pix.ExpiresAt
	}
}

// remoteID is the subscription's id at its gateway, "" while it is not known.
func remoteID(sub row) string {
	if sub.Gateway == string(payments.GWA) {
		return text(sub.GwaSubscriptionID)
	}
	return text(sub.GwbSubscriptionID)
}

// runningID is what runs, or ran, of the subscription at its gateway: recurrence,
// authorization or a code that could be paid. "" for a period that is paid.
func runningID(sub row) string {
	switch {
	case remoteID(sub) != "":
		return remoteID(sub)
	case sub.GwaPixAuthID != nil:
		return *sub.GwaPixAuthID
	case sub.LastPaymentAt == nil:
		return text(sub.PixPaymentID)
	}
	return ""
}

func knownAtGateway(sub row) bool {
	return remoteID(sub) != "" || sub.PixPaymentID != nil || sub.GwaPixAuthID != nil
}
