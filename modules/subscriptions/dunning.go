package subscriptions

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// dunningArgs is the job that mails the customer about a failed payment, some
// days after it failed.
type dunningArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	PaymentID      string      `json:"payment_id"`
	Day            int32       `json:"day"`
}

// Kind names the job.
func (dunningArgs) Kind() string { return "subscriptions_dunning_mail" }

// dunTx plans the mails about a payment that failed, in the transaction that
// records the failure: one a configured day. Further failures of the same payment
// plan nothing new, and a payment without an id none: the gateway tells the failed
// payment by an event of its own.
func (s *Service) dunTx(ctx context.Context, tx pgx.Tx, sub row, failed *payments.Payment) error {
	if s.mail == nil || failed == nil || failed.ID == "" {
		return nil
	}
	amount := int64(failed.Amount)
	if amount == 0 { // a status event names the invoice alone
		amount = sub.PriceCents * int64(sub.PeriodMonths)
	}
	now := s.clock.Now()
	for _, day := range s.cfg.DunningDays {
		due := now.In(s.cfg.Zone).AddDate(0, 0, day).UTC()
		args := dunningArgs{SubscriptionID: sub.ID, PaymentID: failed.ID, Day: int32(day)} //nolint:gosec // a configured number of days
		n, err := s.db.InsertDunningMail(ctx, tx, subscriptionsdb.InsertDunningMailParams{
			SubscriptionID: sub.ID, PaymentID: failed.ID, Day: args.Day, AmountCents: amount, DueAt: due, Now: now,
		})
		if err != nil {
			return fmt.Errorf("plan dunning mail: %w", err)
		}
		if n == 0 {
			continue
		}
		opts := &river.InsertOpts{Queue: jobs.QueueMail, MaxAttempts: 1} // the sweep tries again what fails
		if day > 0 {
			opts.ScheduledAt = due
		}
		if _, err = s.jobs.InsertTx(ctx, tx, args, opts); err != nil {
			return fmt.Errorf("schedule dunning mail: %w", err)
		}
	}
	return nil
}

// stillOwes reports whether the failed payment is still to be asked for: not once
// it or a later one was made, the subscription has ended, or its money is
// disputed.
func (s *Service) stillOwes(ctx context.Context, sub row, paymentID string) (bool, error) {
	if Status(sub.Status).Ended() || sub.HasChargeback || sub.PaymentFailures == 0 {
		return false, nil
	}
	paid, err := s.payments.FindPayment(ctx, s.pool, payments.GatewayName(sub.Gateway), paymentID)
	if err != nil {
		return false, fmt.Errorf("find payment: %w", err)
	}
	return paid == nil, nil
}

// dunningLate is how long after its day a mail is no longer sent: after an outage
// nobody wants three at once.
const dunningLate = 48 * time.Hour

func (s *Service) tooLate(m subscriptionsdb.SubscriptionsDunningMail) bool {
	day := m.RegisterDate.In(s.cfg.Zone).AddDate(0, 0, int(m.Day))
	return s.clock.Now().Sub(day) > dunningLate
}
