package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"marquee/modules/payments"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// renewalCharge is a PIX code that pays a further period.
type renewalCharge = subscriptionsdb.SubscriptionsRenewalCharge

// The states of a renewal charge.
const (
	chargeOpen      = "open"
	chargePaid      = "paid"
	chargeUnapplied = "unapplied"
	chargeGone      = "gone"
)

// constraintOneCharge keeps a period from having two codes that can be paid.
const constraintOneCharge = "renewal_charges_one_open"

// chargeOrder is what a renewal charge is for.
type chargeOrder struct {
	cycle  *time.Time // of automatic PIX: the beginning of the period; nil: the next of a manual PIX
	amount money.Cents
	until  time.Time // when the code is to run out
}

// renewPix answers the open PIX code that pays the next period of the customer's
// manual PIX, and makes one where there is none (open-shapes, section 5). Unpaid it
// changes nothing.
func (s *Charges) renewPix(ctx context.Context, customerID objectid.ID) (row, renewalCharge, error) {
	sub, err := s.reads.current(ctx, customerID)
	if err != nil {
		return row{}, renewalCharge{}, err
	}
	if err := s.mayRenewByPix(sub); err != nil {
		return row{}, renewalCharge{}, err
	}
	if _, err := s.plans.sellablePlan(ctx, sub.PlanID); err != nil {
		return row{}, renewalCharge{}, err
	}
	o := chargeOrder{amount: money.Cents(sub.PriceCents * int64(sub.PeriodMonths)), until: *sub.ExpiresAt}
	charge, err := s.chargeByPix(ctx, sub, o, s.mayRenewByPix)
	return sub, charge, err
}

// mayRenewByPix: 409 for what is not paid by PIX, or by its own debits, while it does
// not run, and before the window opens.
func (s *Charges) mayRenewByPix(sub row) error {
	opens := s.clock.Now().In(s.cfg.Zone).AddDate(0, 0, s.cfg.RenewPixDays)
	switch {
	case sub.PaymentMethod != string(payments.MethodPix):
		return fault.Conflict("Your subscription is not paid by PIX. It renews itself by card.")
	case sub.PixAutomatic:
		return fault.Conflict("Your subscription renews itself by automatic PIX.")
	case sub.HasChargeback:
		return fault.Conflict("A payment of your subscription is disputed.")
	case Status(sub.Status) != Active || sub.ExpiresAt == nil:
		return fault.Conflict("Your subscription is %s.", sub.Status)
	case sub.ExpiresAt.After(opens):
		return fault.Conflict("Your subscription is paid until %s. It can be renewed from %s before.", s.calendar.day(*sub.ExpiresAt), fault.Count(s.cfg.RenewPixDays, "day"))
	}
	return nil
}

// chargeByPix answers the open code of a period, or orders one. The row that stands
// for the order is committed before the gateway is asked. May is asked again with the
// locked subscription. While it is not known what the gateway made, the charge comes
// without a code and its intent is open.
func (s *Charges) chargeByPix(ctx context.Context, sub row, o chargeOrder, may func(row) error) (renewalCharge, error) {
	charge, err := s.db.GetOpenRenewalChargeOf(ctx, s.pool, subscriptionsdb.GetOpenRenewalChargeOfParams{SubscriptionID: sub.ID, Cycle: s.cycleDate(o.cycle)})
	if err == nil {
		charge, err = s.openCode(ctx, charge)
		if err != nil || charge.State == chargeOpen {
			return charge, err
		}
	} else if !errors.Is(err, pgx.ErrNoRows) {
		return renewalCharge{}, fmt.Errorf("read renewal charge: %w", err)
	}
	least := minPixGWA
	if sub.Gateway == string(payments.GWB) {
		least = minGWB
	}
	if o.amount < least {
		return renewalCharge{}, fault.Conflict("The renewal costs less than R$ %s, the smallest amount that can be paid by PIX. Renew it by card.", least)
	}
	terms, gateway, err := s.chargeTerms(ctx, sub, o)
	if err != nil {
		return renewalCharge{}, err
	}
	charge, err = s.intendCharge(ctx, sub, o, may)
	if err != nil {
		return renewalCharge{}, err
	}
	terms.Reference = charge.ID
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	made, err := gateway.CreatePix(call, terms)
	faultpoint.Hit("renewal_charge.after_call")
	if err == nil {
		return s.keepCode(ctx, charge, made, byAnswer)
	}
	if !certain(err) {
		s.log.WarnContext(ctx, "what the gateway did is not known", slog.String("charge_id", charge.ID.String()),
			slog.String("gateway", charge.Gateway), slog.Any("error", err))
		return charge, s.intents.NotKnown(ctx, intentOfCharge(charge.ID), err)
	}
	if dropped := s.dropCharge(ctx, charge.ID, intent.Refused, byAnswer); dropped != nil {
		return charge, errors.Join(payments.FaultOf(err), dropped)
	}
	return charge, s.payments.Refused(ctx, "make renewal PIX", err)
}

// cycleDate is the day of a cycle, null for none.
func (s *Charges) cycleDate(cycle *time.Time) pgtype.Date {
	if cycle == nil {
		return pgtype.Date{}
	}
	return s.calendar.dateOf(*cycle)
}

// chargeTerms is what the gateway is asked for, but the reference, and by which it is
// searched.
func (s *Charges) chargeTerms(ctx context.Context, sub row, o chargeOrder) (payments.PixTerms, payments.Gateway, error) {
	plan, err := s.db.GetPlanByPlanID(ctx, s.pool, sub.PlanID)
	if err != nil {
		return payments.PixTerms{}, nil, fmt.Errorf("read plan: %w", err)
	}
	gateway, err := s.payments.Gateway(payments.GatewayName(sub.Gateway))
	if err != nil {
		return payments.PixTerms{}, nil, payments.FaultOf(err)
	}
	return payments.PixTerms{
		Kind: payments.KindSubscriptionPix, Payer: s.reads.payerOfRow(ctx, sub), Amount: o.amount, Description: plan.Name,
		DueDate: startOfDay(o.until, s.cfg.Zone).In(s.cfg.Zone), ExpiresIn: max(o.until.Sub(s.clock.Now()), time.Minute),
	}, gateway, nil
}

// intendCharge commits the order. Of two at once the second finds the first.
func (s *Charges) intendCharge(ctx context.Context, sub row, o chargeOrder, may func(row) error) (renewalCharge, error) {
	ctx = context.WithoutCancel(ctx)
	var charge renewalCharge
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.lockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil {
			return err
		}
		if err := may(locked); err != nil {
			return err
		}
		if locked.PriceCents != sub.PriceCents {
			return fault.Conflict("The price of your subscription has just changed: ask again.")
		}
		now := s.clock.Now()
		look := now.Add(adoptAfter)
		charge, err = s.db.InsertRenewalCharge(ctx, tx, subscriptionsdb.InsertRenewalChargeParams{
			ID: objectid.At(now), SubscriptionID: sub.ID, CustomerID: sub.CustomerID, Gateway: sub.Gateway, Cycle: s.cycleDate(o.cycle),
			AmountCents: int64(o.amount), PayableUntil: o.until, LookAt: &look, Now: now,
		})
		if err != nil {
			return err
		}
		if err := s.openChargeIntentTx(ctx, tx, charge, s.intents.CallTime()); err != nil {
			return err
		}
		return idempotency.AttemptOf(ctx).BindTx(ctx, tx, charge.ID)
	})
	if postgres.Constraint(err) == constraintOneCharge {
		return renewalCharge{}, errChargeBeingMade()
	}
	if err == nil {
		faultpoint.Hit("renewal_charge.after_intent")
	}
	return charge, err
}

func errChargeBeingMade() error {
	return fault.Conflict("A PIX code is being made for this period: ask again in a moment.")
}

// openCode answers an open charge with its code: the same as before while it can be
// paid. While it is not known whether there is a code, its intent is open. One that has run out is made unpayable first, and comes back as gone; one that
// has just been paid is settled, which is 409.
func (s *Charges) openCode(ctx context.Context, charge renewalCharge) (renewalCharge, error) {
	if charge.IntentOpen {
		charge = s.lookNowForCharge(ctx, charge)
	}
	if charge.IntentOpen {
		i, open, err := s.intents.OpenOf(ctx, s.pool, charge.ID)
		if err == nil && open && i.NotKnownSince == nil { // somebody's call is still open
			err = errChargeBeingMade()
		}
		return charge, err
	}
	if charge.State == chargeOpen && s.runsOut(charge) {
		if err := s.withdrawCode(ctx, charge); err != nil {
			return charge, s.payments.Refused(ctx, "cancel renewal PIX", err)
		}
		var err error
		if charge, err = s.db.GetRenewalCharge(ctx, s.pool, charge.ID); err != nil {
			return charge, fmt.Errorf("read renewal charge: %w", err)
		}
	}
	if charge.State == chargePaid || charge.State == chargeUnapplied {
		return charge, fault.Conflict("Your PIX has just been paid.")
	}
	return charge, nil
}

func (s *Charges) runsOut(c renewalCharge) bool {
	now := s.clock.Now()
	return !c.PayableUntil.After(now) || c.PixExpiresAt != nil && !c.PixExpiresAt.After(now)
}

// keepCode writes the gateway's code, and settles it if it is paid already.
func (s *Charges) keepCode(ctx context.Context, charge renewalCharge, made payments.PixCharge, by string) (renewalCharge, error) {
	ctx = context.WithoutCancel(ctx)
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		sub, err := s.store.lockTx(ctx, tx, charge.CustomerID, charge.SubscriptionID)
		if err != nil {
			return err
		}
		if charge, err = s.db.GetRenewalChargeForUpdate(ctx, tx, charge.ID); err != nil {
			return err
		}
		first := charge.GatewayPaymentID == nil
		if err := s.intents.EndTx(ctx, tx, intentOfCharge(charge.ID), intent.Done, by); err != nil {
			return err
		}
		if charge, err = s.store.saveChargeTx(ctx, tx, charge, func(c *renewalCharge) { learnCode(c, made) }); err != nil {
			return err
		}
		if first {
			if err := s.payments.ReplayWaitingTx(ctx, tx, payments.GatewayName(charge.Gateway), charge.ID.String(), made.Payment.ID); err != nil {
				return err
			}
		}
		if made.Payment.Status == payments.PaymentSettled {
			return s.settler.settlePaymentTx(ctx, tx, &sub, payment{Payment: made.Payment, source: ByRecovery, charge: &charge, recurs: charge.Cycle.Valid})
		}
		if Status(sub.Status).Ended() {
			return s.store.tendTx(ctx, tx, charge.ID, s.clock.Now())
		}
		return nil
	})
	if err != nil {
		return charge, fmt.Errorf("keep renewal charge %s: %w", charge.ID, err)
	}
	return s.db.GetRenewalCharge(ctx, s.pool, charge.ID)
}

func learnCode(c *renewalCharge, made payments.PixCharge) {
	c.IntentOpen, c.LookAt = false, nil
	learn(&c.GatewayPaymentID, made.Payment.ID)
	learn(&c.PixPayload, made.Payload)
	learn(&c.PixImage, made.EncodedImage)
	if made.ExpiresAt != nil {
		c.PixExpiresAt = made.ExpiresAt
	}
}

// saveChargeTx writes a locked charge.
func (s *Store) saveChargeTx(ctx context.Context, tx pgx.Tx, c renewalCharge, edit func(c *renewalCharge)) (renewalCharge, error) {
	from, asked := c.State, c.IntentOpen
	edit(&c)
	c.RegisterUpdateDate = s.clock.Now()
	n, err := s.db.UpdateRenewalCharge(ctx, tx, subscriptionsdb.UpdateRenewalChargeParams{
		ID: c.ID, FromState: from, State: c.State, IntentOpen: c.IntentOpen, LookAt: c.LookAt, Misses: c.Misses, GatewayPaymentID: c.GatewayPaymentID,
		PixPayload: c.PixPayload, PixImage: c.PixImage, PixExpiresAt: c.PixExpiresAt, MovedFrom: c.MovedFrom, MovedTo: c.MovedTo, Now: c.RegisterUpdateDate,
	})
	if err == nil && n == 0 {
		err = errMoved
	}
	if err == nil && asked && !c.IntentOpen { // by an event, if not by who looked
		err = s.intents.EndTx(ctx, tx, intentOfCharge(c.ID), intent.Done, byWebhook)
	}
	if err != nil {
		return c, fmt.Errorf("write renewal charge %s: %w", c.ID, err)
	}
	return c, nil
}

// dropCharge notes that an open charge can no longer be paid, and how its order ended.
func (s *Charges) dropCharge(ctx context.Context, id objectid.ID, how intent.State, by string) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		c, err := s.db.GetRenewalChargeForUpdate(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := s.intents.EndTx(ctx, tx, intentOfCharge(id), how, by); err != nil {
			return err
		}
		return s.goneTx(ctx, tx, c)
	})
}

func (s *Charges) goneTx(ctx context.Context, tx pgx.Tx, c renewalCharge) error {
	if c.State != chargeOpen {
		return nil
	}
	_, err := s.store.saveChargeTx(ctx, tx, c, func(c *renewalCharge) { c.State, c.IntentOpen, c.LookAt = chargeGone, false, nil })
	return err
}

// chargeOfTx finds the renewal charge that an event is about, by our own id or the
// payment's; nil when it is about none.
func (s *Reads) chargeOf(ctx context.Context, db postgres.DB, e payments.Event) (*renewalCharge, error) {
	if objectid.Valid(e.Reference.String()) {
		c, err := s.db.GetRenewalCharge(ctx, db, e.Reference)
		if !errors.Is(err, pgx.ErrNoRows) {
			return &c, err
		}
	}
	if e.Payment == nil || e.Payment.ID == "" {
		return nil, nil //nolint:nilnil // nil is the answer: no charge
	}
	c, err := s.db.GetRenewalChargeByPayment(ctx, db, subscriptionsdb.GetRenewalChargeByPaymentParams{Gateway: string(e.Gateway), GatewayPaymentID: &e.Payment.ID})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // as above
	}
	return &c, err
}

func (s *Charges) locateCharge(ctx context.Context, tx pgx.Tx, e payments.Event) (row, error) {
	c, err := s.reads.chargeOf(ctx, tx, e)
	if err != nil {
		return row{}, err
	}
	if c == nil {
		return row{}, pgx.ErrNoRows
	}
	return s.db.GetSubscription(ctx, tx, c.SubscriptionID)
}

// applyChargeTx applies an event about the payment of a renewal charge. Done is false
// for what concerns any payment, such as refunds and disputes.
func (s *Charges) applyChargeTx(ctx context.Context, tx pgx.Tx, sub *row, e payments.Event) (ignored string, done bool, err error) {
	switch e.Kind {
	case payments.PaymentWasSettled, payments.PaymentHasFailed, payments.PaymentWasLost, payments.PaymentWasDeleted:
	default:
		return "", false, nil
	}
	found, err := s.reads.chargeOf(ctx, tx, e)
	if err != nil || found == nil || found.SubscriptionID != sub.ID || found.Gateway != string(e.Gateway) {
		return "", false, err
	}
	charge, err := s.db.GetRenewalChargeForUpdate(ctx, tx, found.ID)
	if err != nil {
		return "", true, err
	}
	switch {
	case e.Kind == payments.PaymentWasSettled && e.Payment != nil:
		asked := false
		err := s.settler.settlePaymentTx(ctx, tx, sub, payment{
			Payment: *e.Payment, source: sourceOf(e), event: eventOf(e), charge: &charge, recurs: charge.Cycle.Valid, asked: &asked,
		})
		if err == nil && asked {
			return askedLive, true, nil
		}
		if err == nil && Status(sub.Status).Ended() {
			return ignoredEnded, true, nil
		}
		return "", true, err
	case e.Kind == payments.PaymentHasFailed:
		return "a code that nobody paid is no failure", true, nil
	}
	return "", true, s.goneTx(ctx, tx, charge)
}

// movedByTx notes what the payment of a renewal charge did to the end of the paid
// time, in the transaction that did it.
func (s *Settler) movedByTx(ctx context.Context, tx pgx.Tx, before, after row, p payment) error {
	charge, err := s.db.GetRenewalChargeForUpdate(ctx, tx, p.charge.ID)
	if err != nil {
		return fmt.Errorf("read renewal charge: %w", err)
	}
	from, to := paidEnd(before), paidEnd(after)
	_, err = s.store.saveChargeTx(ctx, tx, charge, func(c *renewalCharge) {
		c.State, c.IntentOpen, c.LookAt = chargeUnapplied, false, nil
		if to != nil && (from == nil || to.After(*from)) {
			c.State, c.MovedFrom, c.MovedTo = chargePaid, from, to
		}
		learn(&c.GatewayPaymentID, p.ID)
	})
	return err
}

// paidEnd is what a renewal charge moves; nil of what has ended.
func paidEnd(sub row) *time.Time {
	switch {
	case Status(sub.Status).Ended():
		return nil
	case sub.ExpiresAt != nil:
		return sub.ExpiresAt
	}
	return sub.NextBillingDate
}

// shownCharge is the open code of a subscription that is paid, without one while it is
// not known; ok is false when there is none that can be shown.
func (s *Charges) shownCharge(ctx context.Context, sub row) (c renewalCharge, ok bool, err error) {
	c, err = s.db.GetOpenRenewalCharge(ctx, s.pool, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, false, nil
	}
	if err != nil {
		return c, false, fmt.Errorf("read renewal charge: %w", err)
	}
	if c.IntentOpen {
		c = s.lookNowForCharge(ctx, c)
	}
	if c.IntentOpen {
		return c, true, nil
	}
	return c, c.State == chargeOpen && c.PixPayload != nil && !s.runsOut(c), nil
}

// lookNowForCharge asks the gateway what became of an order whose answer was lost,
// without waiting for its time. Whatever it does not tell, the looks find out.
func (s *Charges) lookNowForCharge(ctx context.Context, charge renewalCharge) renewalCharge {
	err := s.intents.LookNow(ctx, charge.ID)
	found, failed := s.db.GetRenewalCharge(ctx, s.pool, charge.ID)
	if err = errors.Join(err, failed); err != nil {
		s.log.WarnContext(ctx, "no look at a renewal PIX", slog.String("charge_id", charge.ID.String()), slog.Any("error", err))
	}
	if failed != nil {
		return charge
	}
	return found
}
