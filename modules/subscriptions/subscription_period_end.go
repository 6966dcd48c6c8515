package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// StopArgs ends at gateway A a recurrence or authorization whose subscription goes
// on until the end of its paid time.
type StopArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
}

// Kind names the job.
func (StopArgs) Kind() string { return "subscriptions_stop_recurrence" }

// PaidUntil is the one answer to until when an active subscription is paid, or free; nil
// when no paid time lies ahead. A card whose last charge failed has none: the failed
// charge is that of the present period. The debit of an automatic PIX may fail before its
// period begins (debitedUntil).
func (s *Reads) PaidUntil(ctx context.Context, db postgres.DB, sub Row) (*time.Time, error) {
	end := sub.ExpiresAt
	switch {
	case end != nil:
	case sub.PixAutomatic:
		var err error
		if end, err = s.debitedUntil(ctx, db, sub); err != nil {
			return nil, err
		}
	case sub.PaymentFailures == 0:
		end = sub.NextBillingDate
		if sub.Gateway == string(payments.GWA) && sub.PaymentMethod == string(payments.MethodCard) && end != nil {
			due, err := s.FirstUnpaid(ctx, db, sub)
			if err != nil {
				return nil, err
			}
			end = new(earlierOf(due, *end))
		}
	}
	if Status(sub.Status) != Active || end == nil || !end.After(s.clock.Now()) {
		return nil, nil //nolint:nilnil // nil is the answer: nothing is paid
	}
	return end, nil
}

// FirstUnpaid is the due date after that of the newest payment of a card at gateway
// A, or the one to which an extension has moved it. Its next_billing_date is no measure: the gateway makes charges up to 40 days
// ahead, and tells the date after the one that it has made.
func (s *Reads) FirstUnpaid(ctx context.Context, db postgres.DB, sub Row) (time.Time, error) {
	due, err := s.calendar.afterLastPayment(ctx, db, sub)
	if err != nil {
		return due, err
	}
	extended, err := s.db.GetLastChargeMove(ctx, db, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return due, nil
	}
	return LatestOf(due, &extended.ToAt), err
}

func (s *Calendar) afterLastPayment(ctx context.Context, db postgres.DB, sub Row) (time.Time, error) {
	first := s.FirstDue(sub).UTC()
	paid, err := s.payments.PaymentsOf(ctx, db, payments.ForSubscription, sub.ID)
	if err != nil {
		return time.Time{}, fmt.Errorf("read payments: %w", err)
	}
	if len(paid) == 0 {
		return first, nil
	}
	last := StartOfDay(*paid[0].Payment.SettledAt, s.cfg.Zone)
	if first.After(last) {
		return first, nil
	}
	return s.MonthsOn(s.CycleStart(last, sub), 1, sub), nil
}

// CycleStart is the last day, not after t, on which a period of the row begins.
func (s *Calendar) CycleStart(t time.Time, sub Row) time.Time {
	year, month, day := t.In(s.cfg.Zone).Date()
	if sub.AnchorDay == nil {
		return StartOfDay(t, s.cfg.Zone)
	}
	anchor := int(*sub.AnchorDay)
	if day < min(anchor, lastDay(year, month)) {
		month--
	}
	first := time.Date(year, month, 1, 0, 0, 0, 0, s.cfg.Zone)
	return first.AddDate(0, 0, min(anchor, lastDay(first.Year(), first.Month()))-1).UTC()
}

func earlierOf(t, other time.Time) time.Time {
	if other.Before(t) {
		return other
	}
	return t
}

// cancelAtPeriodEnd stops the renewals of the customer's subscription and leaves
// access until the paid time ends. Gateway B is told to cancel at the period's end.
// Gateway A can only delete: the row says first that it ends then, so that what the
// gateway tells of the deleting changes nothing, and a job in the same commit deletes.
// 409 when nothing is paid; with anyPeriod not while gateway B has a period, paid or
// not, that can end.
func (s *Own) cancelAtPeriodEnd(ctx context.Context, customerID objectid.ID, only payments.GatewayName, anyPeriod bool) (Row, error) {
	sub, err := s.currentAt(ctx, customerID, only)
	if err != nil {
		return Row{}, err
	}
	if sub.IntentOpen {
		return Row{}, s.checkout.ConflictWith(ctx, s.pool, Pending.StandIn(sub))
	}
	end, err := s.reads.PaidUntil(ctx, s.pool, sub)
	if err != nil {
		return Row{}, err
	}
	if end == nil && !(anyPeriod && Status(sub.Status) == Active && sub.GwbSubscriptionID != nil) {
		return Row{}, errNothingPaid()
	}
	if err := s.giveUpResume(ctx, sub); err != nil {
		return Row{}, err
	}
	var told *time.Time
	before := sub
	if sub.GwbSubscriptionID != nil && !EndsThere(sub) { // also where the row says so already: a resumption may be under way
		told, err = s.calls.SetPeriodEnd(ctx, sub, true)
		if errors.Is(err, payments.ErrGatewayMissing) { // what is not there charges nobody
			err = s.calls.ProvedMissing(ctx, sub, err)
		}
		if err != nil {
			return Row{}, s.payments.Refused(ctx, "cancel at period end", err)
		}
	}
	err = postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		sub, err = s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || Status(sub.Status).Ended() && told != nil { // the gateway's event was faster
			return err
		}
		if sub.CancelAtPeriodEnd && sub.ExpiresAt != nil {
			return s.reconciler.NoteToldTx(ctx, tx, &sub, before, told != nil)
		}
		end, err := s.reads.PaidUntil(ctx, tx, sub)
		if err != nil {
			return err
		}
		if end = Latest(end, told); end == nil {
			return errNothingPaid()
		}
		extended, err := s.reads.ExtendedTo(ctx, tx, sub)
		if err != nil {
			return err
		}
		end = new(LatestOf(*end, extended))
		if err := s.endWithPeriodTx(ctx, tx, &sub, *end); err != nil {
			return err
		}
		return s.reconciler.NoteToldTx(ctx, tx, &sub, before, told != nil)
	})
	switch {
	case err != nil:
		return sub, err
	case Stops(sub):
		return s.calls.StopNow(ctx, sub)
	}
	if sub, err = s.reconciler.AgreedNow(ctx, sub); err == nil && !sub.CancelAtPeriodEnd && !Status(sub.Status).Ended() {
		err = fault.Conflict("Your subscription was resumed at the same time, and goes on.")
	}
	return sub, err
}

func errNothingPaid() error {
	return fault.Conflict("Your subscription has no paid time left. Cancel it without at=period_end.")
}

// Latest is the gateway's word where there is one.
func Latest(known, told *time.Time) *time.Time {
	if told != nil {
		return told
	}
	return known
}

// endWithPeriodTx has the locked row end with its paid time.
func (s *Own) endWithPeriodTx(ctx context.Context, tx pgx.Tx, sub *Row, end time.Time) error {
	err := s.store.EditTx(ctx, tx, sub, func(r *Row) {
		r.CancelAtPeriodEnd, r.ExpiresAt = true, &end
		if r.Gateway == string(payments.GWA) {
			r.NextBillingDate = nil
		}
	})
	if err == nil {
		err = s.store.EndWaitingTx(ctx, tx, *sub, Change{Action: CustomerCancels, Source: ByCustomer, Actor: &sub.CustomerID})
	}
	if err != nil {
		return err
	}
	return s.store.StopTx(ctx, tx, *sub, s.clock.Now().Add(EndRetry))
}

// Stopped reports whether the recurrence was deleted on our order, or is to be, so that
// nothing it tells of its charges moves a date or counts.
func Stopped(sub Row) bool {
	return sub.CancelAtPeriodEnd && sub.Gateway == string(payments.GWA) || EndsThere(sub)
}

// EndsWithPeriod reports whether the subscription goes on without a recurrence until
// its paid time ends: an end at the gateway, our own doing, changes nothing then.
func (s *Calendar) EndsWithPeriod(sub Row) bool {
	return (sub.CancelAtPeriodEnd || EndsThere(sub)) && sub.ExpiresAt != nil && sub.ExpiresAt.After(s.clock.Now())
}

// Stops reports whether something at gateway A, or at either when the subscription was
// opened again, would go on charging a subscription that ends with its paid time.
func Stops(sub Row) bool {
	if Status(sub.Status).Ended() || sub.GatewayDeletedAt != nil {
		return false
	}
	runs := sub.GwaSubscriptionID != nil || sub.GwaPixAuthID != nil
	return sub.GatewayEndOpenSince != nil || runs && sub.CancelAtPeriodEnd && sub.ExpiresAt != nil
}

// StopNow tries what the job would do, and answers the row as it is after.
func (s *Calls) StopNow(ctx context.Context, sub Row) (Row, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	if err := s.StopRecurrence(ctx, sub.ID); err != nil {
		s.log.WarnContext(ctx, "recurrence not stopped yet", slog.String("subscription_id", sub.ID.String()), slog.Any("error", err))
	}
	return s.db.GetSubscription(ctx, s.pool, sub.ID)
}

// StopRecurrence deletes at the gateway what would charge a subscription that ends with
// its paid time. It may be repeated, and the looks do so when it fails: gateway_deleted_at
// notes that it is gone.
func (s *Calls) StopRecurrence(ctx context.Context, id objectid.ID) error {
	return s.Ends(ctx, id, Stops, s.StopThere)
}

func (s *Calls) StopThere(ctx context.Context, sub Row) error {
	if err := s.stopRemote(ctx, sub); err != nil {
		return err
	}
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || !Stops(locked) {
			return err
		}
		return s.store.EditTx(ctx, tx, &locked, s.calendar.EndedThere)
	})
}

// SetPeriodEnd has gateway B end the subscription with the paid period, or takes that
// back; it answers when that period ends.
func (s *Calls) SetPeriodEnd(ctx context.Context, sub Row, cancel bool) (*time.Time, error) {
	gateway, err := s.payments.Gateway(payments.GWB)
	if err != nil {
		return nil, err
	}
	remote, err := gateway.SetCancelAtPeriodEnd(ctx, *sub.GwbSubscriptionID, sub.ID, cancel)
	if err != nil {
		return nil, err
	}
	if remote.NextBilling == nil {
		return sub.NextBillingDate, nil
	}
	return remote.NextBilling, nil
}

// ProvedMissing has a look confirm that what a call did not find at gateway B is not
// there, which is then looked for again in an hour, as anything that was there once.
func (s *Calls) ProvedMissing(ctx context.Context, sub Row, cause error) error {
	gateway, err := s.payments.Gateway(payments.GWB)
	if err != nil {
		return err
	}
	_, err = s.ReadRunning(ctx, gateway, sub)
	switch {
	case err == nil:
		return fmt.Errorf("%w: a read shows it: %w", payments.ErrUnavailable, errors.New(cause.Error()))
	case err == ErrMissingOnce: //nolint:errorlint // joined with another, that one has failed
		return nil
	}
	return err
}

// Day is the date of an instant where the platform reports.
func (s *Calendar) Day(t time.Time) string { return t.In(s.cfg.Zone).Format(time.DateOnly) }

// GivenUp says what time a customer throws away who cancels at once, and whether they had
// paid for it; "" for none. The days are those from today to the date that it names,
// whatever the time of day.
func (s *Reads) GivenUp(sub Row, end *time.Time, wasPaid bool) string {
	now := s.clock.Now()
	if end == nil || !end.After(now) {
		return ""
	}
	kind := "paid"
	if !wasPaid {
		kind = "free"
		if sub.TrialDays > 0 || sub.StartsAt != nil { // a trial that was renewed has gone on
			kind = "trial"
		}
	}
	days := max(1, daysBetween(now.In(s.cfg.Zone), end.In(s.cfg.Zone)))
	if days == 1 {
		return fmt.Sprintf(" One %s day, until %s, was given up.", kind, s.calendar.Day(*end))
	}
	return fmt.Sprintf(" %d %s days, until %s, were given up.", days, kind, s.calendar.Day(*end))
}

// daysBetween counts the days from one date to another, each as its own zone names it.
func daysBetween(from, to time.Time) int {
	date := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	return int(date(to).Sub(date(from)).Hours() / 24)
}
