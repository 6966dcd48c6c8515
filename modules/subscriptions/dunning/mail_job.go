package dunning

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

const (
	// mailPaymentFailed is the template of web/mail.
	mailPaymentFailed = "payment-failed"
	// DunningClaim is how long a job may have a mail in hand before another takes
	// it: longer than any mail server is waited for.
	DunningClaim = 5 * time.Minute
	// RescuedClaim is the same for a job that is started again, which River does not do
	// with it: its worker died, at least 15 s after its claim was made.
	RescuedClaim = 10 * time.Second
	// dunningRetry is how long a mail waits that the mail server did not take.
	dunningRetry = 15 * time.Minute
)

// dunningMail is what the templates show.
type dunningMail struct {
	Plan      string
	Total     string // reais
	Reminder  bool   // the failure was told before
	Suspended bool   // there is no access meanwhile
	Pix       bool   // the payer authorized debits; else they pay by card
	Again     bool   // the bank is asked again
	Code      string // a PIX that pays this period; "" where there is none
}

// MailDunning mails one planned mail about a failed payment, if it is due and the
// payment is still open; else it is dropped. It is sent once: a job claims it
// first. Only a crash between the mail server's answer and ours sends it again.
func (s *Dunning) MailDunning(ctx context.Context, id objectid.ID, paymentID string, day int) error {
	return s.MailDunningAfter(ctx, id, paymentID, day, DunningClaim)
}

// MailDunningAfter is MailDunning, and takes the mail from whoever has had it in hand for
// longer than claim.
func (s *Dunning) MailDunningAfter(ctx context.Context, id objectid.ID, paymentID string, day int,
	claim time.Duration,
) error {
	now := s.deps.Clock.Now()
	lost := now.Add(-claim)
	m, err := s.db.DunningMailClaim(ctx, s.deps.Pool, subscriptionsdb.DunningMailClaimParams{
		SubscriptionID: id, PaymentID: paymentID, Day: int32(day), Now: &now, LostSince: &lost, //nolint:gosec // a configured number of days
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("claim dunning mail: %w", err)
	}
	sent, failed := s.writeDunning(ctx, m)
	after := subscriptionsdb.DunningMailReleaseParams{
		SubscriptionID: id, PaymentID: paymentID, Day: m.Day, DueAt: m.DueAt,
	}
	switch now := s.deps.Clock.Now(); {
	case failed != nil:
		after.DueAt = now.Add(dunningRetry)
	case sent:
		after.SentAt = &now
	default:
		after.DroppedAt = &now
	}
	if err := s.db.DunningMailRelease(context.WithoutCancel(ctx), s.deps.Pool, after); err != nil {
		return errors.Join(failed, fmt.Errorf("note dunning mail: %w", err))
	}
	return failed
}

// writeDunning writes and sends the mail; sent is false when there is nothing to
// be asked for any more, or nobody to be asked.
func (s *Dunning) writeDunning(ctx context.Context, m subscriptionsdb.DunningMail) (sent bool, err error) {
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, m.SubscriptionID)
	if err != nil {
		return false, fmt.Errorf("read subscription: %w", err)
	}
	owes, err := s.stillOwes(ctx, sub, m.PaymentID)
	if err != nil || !owes || s.tooLate(m) {
		return false, err
	}
	customer, err := s.deps.Accounts.CustomerByID(ctx, s.deps.Pool, sub.CustomerID)
	if fault.Is(err, fault.KindNotFound) {
		return false, nil // the account is deleted
	}
	if err != nil {
		return false, err
	}
	plan, err := s.db.PlanGetByPlanID(ctx, s.deps.Pool, sub.PlanID)
	if err != nil {
		return false, fmt.Errorf("read plan: %w", err)
	}
	mail := dunningMail{
		Plan: plan.Name, Total: money.Cents(m.AmountCents).In(customer.Language), Reminder: m.Day > 0,
		Suspended: sub.Status == state.Suspended, Pix: sub.PaymentMethod == gateway.MethodPix,
	}
	again, code, paid, err := s.deps.Debits.HowToPayDebit(ctx, sub, m.PaymentID)
	if err != nil || paid {
		return false, err
	}
	mail.Again, mail.Code = again, code.Payload
	message, err := s.deps.Templates.Render(ctx, mailPaymentFailed, customer.Language, customer.Email, mail)
	if err != nil {
		return false, fmt.Errorf("write mail: %w", err)
	}
	if err := s.deps.Mail.Send(ctx, message); err != nil {
		return false, err
	}
	return true, nil
}

// MailDueDunning sends what is due and was not sent: its job was lost, or the mail
// server would not take it.
func (s *Dunning) MailDueDunning(ctx context.Context, now time.Time) error {
	if s.deps.Mail == nil {
		return nil
	}
	lost := now.Add(-DunningClaim)
	due, err := s.db.DunningMailListDue(ctx, s.deps.Pool, now, &lost)
	if err != nil {
		return fmt.Errorf("list dunning mails: %w", err)
	}
	var failed error
	for _, m := range due {
		failed = errors.Join(failed, s.MailDunning(ctx, m.SubscriptionID, m.PaymentID, int(m.Day)))
	}
	return failed
}
