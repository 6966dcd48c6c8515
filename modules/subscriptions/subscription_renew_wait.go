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

const (
	// LeastPaidTime is the shortest rest of paid time that a renewal waits for: what is
	// shorter may be over when the gateway is asked.
	LeastPaidTime = time.Hour
	// MostPaidTime is the longest: gateway B begins no recurrence later.
	MostPaidTime = 720 * 24 * time.Hour
)

// Waits reports whether the row is a renewal that stands beside the subscription that
// it will replace.
func Waits(sub Row) bool { return Status(sub.Status) == Pending && sub.RenewsID != nil }

func errRenewalWaits() error {
	return fault.Conflict("A renewal of yours is still being confirmed. Your present subscription goes on meanwhile. Try again in a few minutes.")
}

// WaitingRenewal is the customer's renewal that waits; ok is false when there is none.
func (s *Reads) WaitingRenewal(ctx context.Context, db postgres.DB, customerID objectid.ID) (waiting Row, ok bool, err error) {
	waiting, err = s.db.GetWaitingRenewal(ctx, db, customerID)
	if errors.Is(err, pgx.ErrNoRows) {
		return Row{}, false, nil
	}
	if err != nil {
		return Row{}, false, fmt.Errorf("read renewal: %w", err)
	}
	return waiting, true, nil
}

// beginRenewalTx lets the wish wait beside the live subscription that it renews, and
// begin at the end of its paid time. A trial that has not ended goes on in it: it is
// the customer's one, and no other.
func (s *Checkout) beginRenewalTx(ctx context.Context, tx pgx.Tx, w *wish, live Row) error {
	if Status(live.Status) != Active {
		return s.ConflictWith(ctx, tx, live)
	}
	if live.CancelAtPeriodEnd && !w.renews.CancelAtPeriodEnd {
		return fault.Conflict("Your subscription has just been set to end with its paid time. Renew it again if it shall go on.")
	}
	if _, waiting, err := s.reads.WaitingRenewal(ctx, tx, live.CustomerID); err != nil || waiting {
		return errors.Join(err, errRenewalWaits())
	}
	paid, err := s.reads.PaidUntil(ctx, tx, live)
	if err != nil {
		return err
	}
	now := s.clock.Now()
	switch {
	case paid == nil || paid.Sub(now) < LeastPaidTime:
		return nil
	case paid.Sub(now) > MostPaidTime:
		return fault.Conflict("Your subscription is paid until %s. Renew it later.", s.calendar.Day(*paid))
	}
	w.startsAt = paid
	if live.LastPaymentAt == nil {
		w.trial = int(live.TrialDays)
	}
	return nil
}

// renewsStillTx answers, for a customer without a live subscription, whether the wish
// stands: what it renews may have been ended by its cancel, or by a withdrawal, since it
// was read. A PIX that the renewal itself has dropped was to end, and nobody else ended it.
func (s *Checkout) renewsStillTx(ctx context.Context, tx pgx.Tx, w *wish) error {
	if w.renews == nil {
		return nil
	}
	if !Status(w.renews.Status).Ended() {
		return fault.NotFound("Subscription")
	}
	last, err := s.db.GetLastReason(ctx, tx, w.renews.ID)
	if err != nil {
		return fmt.Errorf("read why the renewed subscription ended: %w", err)
	}
	switch Reason(last) {
	case ReasonCustomerCancelled, ReasonAdminCancelled, ReasonWithdrawn:
		return fault.NotFound("Subscription")
	}
	return nil
}

// replaceTx ends the subscription that a waiting renewal replaces, in the transaction
// that makes the renewal active: its customer always has one of them. Money that the
// old one took meanwhile for time that the new one will charge, too, is listed.
func (s *Store) replaceTx(ctx context.Context, tx pgx.Tx, renewal Row) error {
	old, err := s.db.GetSubscriptionForUpdate(ctx, tx, *renewal.RenewsID)
	if err != nil {
		return fmt.Errorf("read renewed subscription: %w", err)
	}
	if Status(old.Status).Ended() {
		return nil
	}
	if err := s.listPaidTwiceTx(ctx, tx, old, renewal); err != nil {
		return err
	}
	_, err = s.MoveTx(ctx, tx, &old, Change{Action: Replaced, Source: ByCustomer, Actor: &old.CustomerID})
	if err != nil {
		return err
	}
	return s.EndAtGatewayTx(ctx, tx, old)
}

// listPaidTwiceTx lists the payment by which the old subscription was extended after
// its renewal had been ordered to begin before.
func (s *Store) listPaidTwiceTx(ctx context.Context, tx pgx.Tx, old, renewal Row) error {
	until, err := s.reads.PaidUntil(ctx, tx, old)
	if err != nil || until == nil || old.LastPaymentAt == nil || old.LastPaymentAt.Before(renewal.RegisterDate) {
		return err
	}
	begins := renewal.RegisterDate
	if renewal.StartsAt != nil {
		begins = *renewal.StartsAt
	}
	if until.Sub(begins) < 48*time.Hour {
		return nil
	}
	paid, err := s.payments.PaymentsOf(ctx, tx, payments.ForSubscription, old.ID)
	if err != nil || len(paid) == 0 {
		return err
	}
	p := paid[0].Payment
	_, err = s.payments.RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedDuplicate, Gateway: payments.GatewayName(old.Gateway), PaymentID: p.ID, Amount: &p.Amount,
		CustomerID: old.CustomerID, SubscriptionID: old.ID, PaidAt: p.SettledAt,
		Note: "Paid while its renewal " + renewal.ID.String() + " was being confirmed, which charges the same time.", Automatic: true,
	})
	return err
}

// EndWaitingTx ends the renewal that waits beside a subscription which a person has
// ended. What its call made, or makes, at the gateway is ended there when it is known.
func (s *Store) EndWaitingTx(ctx context.Context, tx pgx.Tx, ended Row, c Change) error {
	waiting, ok, err := s.reads.WaitingRenewal(ctx, tx, ended.CustomerID)
	if err != nil || !ok || *waiting.RenewsID != ended.ID {
		return err
	}
	locked, err := s.db.GetSubscriptionForUpdate(ctx, tx, waiting.ID)
	if err != nil {
		return fmt.Errorf("read renewal: %w", err)
	}
	action := c.Action
	if action == CustomerWithdraws { // nothing of it has been paid: there is no withdrawing from it
		action = CustomerCancels
	}
	if _, err := s.MoveTx(ctx, tx, &locked, Change{Action: action, Source: c.Source, Actor: c.Actor}); err != nil {
		return err
	}
	return s.EndAtGatewayTx(ctx, tx, locked)
}

// followedByTx has the customer's pointer name the renewal that waits, once what it
// renews has ended by itself.
func (s *Store) followedByTx(ctx context.Context, tx pgx.Tx, ended Row) error {
	waiting, ok, err := s.reads.WaitingRenewal(ctx, tx, ended.CustomerID)
	if err != nil || !ok || waiting.ID == ended.ID {
		return err
	}
	err = s.accounts.SetCurrentSubscriptionTx(ctx, tx, ended.CustomerID, waiting.ID)
	if IsMissing(err) {
		return nil // the customer has deleted the account meanwhile
	}
	return err
}

// DropWaiting makes room for another renewal: one whose card still has to be
// authenticated, or to be charged, is ended at the gateway first. What turns out to be
// paid is settled instead. 409 while nobody knows what the gateway made of it.
func (s *Checkout) DropWaiting(ctx context.Context, customerID objectid.ID) error {
	waiting, ok, err := s.reads.WaitingRenewal(ctx, s.pool, customerID)
	if err != nil || !ok {
		return err
	}
	if waiting.IntentOpen {
		return s.ConflictWith(ctx, s.pool, waiting)
	}
	taken, err := s.recovery.EndUntaken(ctx, waiting)
	switch {
	case err != nil:
		return s.payments.Refused(ctx, "end a waiting renewal", err)
	case taken:
		return fault.Conflict("Your renewal has just been confirmed.")
	}
	return s.recovery.End(ctx, waiting, Replaced, ByCustomer)
}

// EndUntaken ends a waiting renewal at its gateway, unless its card was taken.
func (s *Recovery) EndUntaken(ctx context.Context, waiting Row) (taken bool, err error) {
	id := RemoteID(waiting)
	if id == "" {
		return false, nil
	}
	gateway, err := s.payments.Gateway(payments.GatewayName(waiting.Gateway))
	if err != nil {
		return false, err
	}
	remote, err := gateway.ReadSubscription(ctx, id, waiting.ID)
	if errors.Is(err, payments.ErrGatewayMissing) { // one read ends nothing: it is deleted, and looked for after that
		return false, gateway.CancelSubscription(ctx, id, waiting.ID)
	}
	if err != nil {
		return false, err
	}
	paid := remote.LatestPayment != nil && remote.LatestPayment.Status == payments.PaymentSettled
	if paid || Running(remote.Status) && waiting.Gateway == string(payments.GWB) {
		_, err = s.settler.Settle(ctx, waiting, Answer{Source: ByLiveRead, Remote: &remote})
		return true, err
	}
	return false, gateway.CancelSubscription(ctx, id, waiting.ID)
}

// AsksLive reports whether a live read tells what became of a pending row.
func AsksLive(sub Row) bool { return sub.Gateway == string(payments.GWB) && !sub.IntentOpen }

// ReadRenewal is GET /gwb/subscription while a renewal waits beside the subscription:
// it is read live, and the secret by which its payer authenticates is told with the
// present one.
func (s *Checkout) ReadRenewal(ctx context.Context, sub, waiting Row, failed error) (Row, string, error) {
	if failed != nil || !AsksLive(waiting) {
		return sub, "", failed
	}
	_, clientSecret, err := s.recovery.Resolve(ctx, waiting)
	if err != nil {
		s.log.WarnContext(ctx, "live read failed", slog.String("subscription_id", waiting.ID.String()), slog.Any("error", err))
		return sub, "", nil
	}
	sub, err = s.reads.Current(ctx, sub.CustomerID)
	return sub, clientSecret, err
}
