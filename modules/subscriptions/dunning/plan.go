package dunning

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// DunningArgs is the job that mails the customer about a failed payment, some
// days after it failed.
type DunningArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	PaymentID      string      `json:"payment_id"`
	Day            int32       `json:"day"`
}

// Kind names the job.
func (DunningArgs) Kind() string { return "subscriptions_dunning_mail" }

// DunTx plans the mails about a payment that failed, in the transaction that
// records the failure: one a configured day. Further failures of the same payment
// plan nothing new, and a payment without an id none: the gateway tells the failed
// payment by an event of its own.
func (s *Dunning) DunTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, failed *gateway.Payment) error {
	if s.deps.Mail == nil || failed == nil || failed.ID == "" {
		return nil
	}
	now := s.deps.Clock.Now()
	for _, day := range s.deps.Config.DunningDays {
		if _, err := s.planDunningTx(ctx, tx, sub, failed, day,
			now.In(s.deps.Config.Zone).AddDate(0, 0, day).UTC()); err != nil {
			return err
		}
	}
	return nil
}

// DunAgainTx plans one more mail, for now, about a debit that failed before: the bank is
// no longer asked, as the last mail said, and the mail holds the code that pays it.
func (s *Dunning) DunAgainTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, d lifecycle.Debit,
	failed *gateway.Payment,
) error {
	if s.deps.Mail == nil || d.FailedAt == nil {
		return nil
	}
	now := s.deps.Clock.Now()
	day := int(now.Sub(*d.FailedAt) / (24 * time.Hour))
	for planned, tries := false,
		0; !planned && tries <= len(s.deps.Config.DunningDays)+len(s.deps.Config.PixRetryDays); tries++ {
		var err error
		if planned, err = s.planDunningTx(ctx, tx, sub, failed, day+tries, now); err != nil {
			return err
		}
	}
	return nil
}

// planDunningTx plans the mail of a day after the failure; planned is false when that
// day has one already.
func (s *Dunning) planDunningTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, failed *gateway.Payment,
	day int, due time.Time,
) (planned bool, err error) {
	amount, now := int64(failed.Amount), s.deps.Clock.Now()
	if amount == 0 { // a status event names the invoice alone
		amount = sub.PriceCents * int64(sub.PeriodMonths)
	}
	args := DunningArgs{SubscriptionID: sub.ID, PaymentID: failed.ID, Day: int32(day)} //nolint:gosec // a number of days
	n, err := s.db.DunningMailInsert(ctx, tx, subscriptionsdb.DunningMailInsertParams{
		SubscriptionID: sub.ID, PaymentID: failed.ID, Day: args.Day, AmountCents: amount, DueAt: due, Now: now,
	})
	if err != nil {
		return false, fmt.Errorf("plan dunning mail: %w", err)
	}
	if n == 0 {
		return false, nil
	}
	opts := &river.InsertOpts{Queue: jobs.QueueMail, MaxAttempts: 1} // the sweep tries again what fails
	if due.After(now) {
		opts.ScheduledAt = due
	}
	if _, err = s.deps.Jobs.InsertTx(ctx, tx, args, opts); err != nil {
		return false, fmt.Errorf("schedule dunning mail: %w", err)
	}
	return true, nil
}

// stillOwes reports whether the failed payment is still to be asked for: not once
// it or a later one was made, the subscription has ended or ends with its paid time, or
// its money is disputed.
func (s *Dunning) stillOwes(ctx context.Context, sub lifecycle.Subscription, paymentID string) (bool, error) {
	if sub.Status.Ended() || sub.Stopped() || sub.HasChargeback || sub.PaymentFailures == 0 {
		return false, nil
	}
	paid, err := s.deps.Payments.FindPayment(ctx, s.deps.Pool, sub.Gateway, paymentID)
	if err != nil {
		return false, fmt.Errorf("find payment: %w", err)
	}
	return paid == nil, nil
}

// dunningLate is how long after its day a mail is no longer sent: after an outage
// nobody wants three at once.
const dunningLate = 48 * time.Hour

func (s *Dunning) tooLate(m subscriptionsdb.DunningMail) bool {
	day := m.RegisterDate.In(s.deps.Config.Zone).AddDate(0, 0, int(m.Day))
	return s.deps.Clock.Now().Sub(day) > dunningLate
}
