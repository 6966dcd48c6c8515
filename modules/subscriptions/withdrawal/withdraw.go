package withdrawal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// withdrawal is what became of a withdrawal.
type withdrawal struct {
	sub lifecycle.Subscription
	// Given back by it and by refunds beside it, or on its way: without what had been given back before, unless that
	// was all.
	amount     money.Cents
	refundedAt *time.Time // nil until all of it is given back
	underWay   bool       // a refund is not answered, or not done
}

// withdraw ends the customer's subscription at once and gives all of its money back
// (CDC, art. 49; Decreto 7.962/2013), also what was paid for those that it renewed.
// One that has ended meanwhile, by them or otherwise, stays as it ended.
// What follows the commit is done by job should it not succeed at once: the
// recurrence ended, the money refunded. Asking again answers the same. Errors: 404
// without a subscription; 422 WITHDRAWAL_NOT_ALLOWED without a payment, after the
// right has ended or under dispute, with the date of its end where there is one.
func (s *Withdrawals) withdraw(ctx context.Context, customerID objectid.ID) (withdrawal, error) {
	sub, err := s.deps.Reads.Current(ctx, customerID)
	if lifecycle.IsMissing(err) {
		sub, err = s.endedLast(ctx, customerID, err)
	}
	if err != nil {
		return withdrawal{}, err
	}
	withdrawn, err := s.isWithdrawn(ctx, s.deps.Pool, sub.ID)
	switch {
	case err != nil:
		return withdrawal{}, err
	case withdrawn: // asked again
		return s.withdrawalOf(ctx, sub.ID)
	}
	if err := s.mayWithdraw(ctx, s.deps.Pool, sub); err != nil {
		return withdrawal{}, err
	}
	err = postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		locked, err := s.deps.Store.LockTx(ctx, tx, customerID, sub.ID)
		if err != nil {
			return err
		}
		sub = locked
		if err := s.withdrawTx(ctx, tx, &sub); err != nil {
			return err
		}
		return idempotency.AttemptOf(ctx).BindTx(ctx, tx, sub.ID)
	})
	if err != nil {
		return withdrawal{}, err
	}
	// The request's key has the subscription; its refunds are but the consequence.
	ctx = idempotency.WithAttempt(audit.With(ctx, nil), nil)
	if sub, err = s.deps.Calls.EndNow(ctx, sub); err != nil {
		return withdrawal{}, err
	}
	if err := s.giveBack(context.WithoutCancel(ctx), sub.ID); err != nil {
		s.deps.Log.WarnContext(ctx, "withdrawal not refunded yet", "subscription_id", sub.ID, "error", err)
	}
	return s.withdrawalOf(ctx, sub.ID)
}

// mayWithdraw answers why not.
func (s *Withdrawals) mayWithdraw(ctx context.Context, db postgres.DB, sub lifecycle.Subscription) error {
	chain, err := s.deps.Reads.RenewalChain(ctx, db, sub)
	if err != nil {
		return err
	}
	until, err := s.withdrawalEnd(ctx, db, chain)
	if err != nil {
		return err
	}
	refuse := func(message string) error {
		return &fault.Error{Kind: fault.KindInvalid, Code: fault.CodeWithdrawalNotAllowed, Message: message}
	}
	switch {
	case s.deps.Config.WithdrawalDays == 0:
		return refuse("Withdrawal is not offered. Cancel the subscription instead.")
	case until == nil:
		return refuse("Nothing has been paid for the subscription. Cancel it instead.")
	case !s.deps.Clock.Now().Before(*until):
		return refuse("The right of withdrawal ended at " + until.UTC().Format(time.RFC3339) + ".")
	case slices.ContainsFunc(chain, func(r lifecycle.Subscription) bool { return r.HasChargeback }):
		return refuse("A payment of the subscription is disputed: the bank decides about the money. The right of withdrawal ends at " +
			until.UTC().Format(time.RFC3339) + ".")
	}
	return nil
}

// WithdrawalUntil is the end of the right to withdraw; nil where there is none:
// nothing paid, the setting off.
func (s *Withdrawals) WithdrawalUntil(ctx context.Context, sub lifecycle.Subscription) (*time.Time, error) {
	chain, err := s.deps.Reads.RenewalChain(ctx, s.deps.Pool, sub)
	if err != nil {
		return nil, err
	}
	return s.withdrawalEnd(ctx, s.deps.Pool, chain)
}

// withdrawalEnd is the end of the right: of the day, in REPORT_TZ, that lies
// WITHDRAWAL_DAYS after that of the first payment, which is itself not counted. A payment
// of before that lengthened the subscription neither begins the right nor ends it.
func (s *Withdrawals) withdrawalEnd(ctx context.Context, db postgres.DB,
	chain []lifecycle.Subscription,
) (*time.Time, error) {
	if s.deps.Config.WithdrawalDays == 0 {
		return nil, nil //nolint:nilnil // nil is the answer: none
	}
	for _, sub := range slices.Backward(chain) {
		first, err := s.deps.Payments.FirstPaymentOf(ctx, db, gateway.ForSubscription, sub.ID)
		if err != nil {
			return nil, err
		}
		if first == nil { // a trial that was renewed
			continue
		}
		return new(lifecycle.StartOfDay(*first, s.deps.Config.Zone).In(s.deps.Config.Zone).AddDate(0, 0,
			s.deps.Config.WithdrawalDays+1)), nil
	}
	return nil, nil //nolint:nilnil // as above
}

// withdrawTx ends the row, and has the rest done by job. One that has ended stays as it
// is: its history tells of the withdrawal.
func (s *Withdrawals) withdrawTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription) error {
	if withdrawn, err := s.isWithdrawn(ctx, tx, sub.ID); err != nil || withdrawn {
		return err // asked for twice at once
	}
	if err := s.mayWithdraw(ctx, tx, *sub); err != nil {
		return err // a payment was disputed since it was read
	}
	moved, err := s.deps.Store.MoveTx(ctx, tx, sub,
		lifecycle.Change{Action: state.CustomerWithdraws, Source: state.ByCustomer, Actor: &sub.CustomerID})
	if err != nil {
		return err
	}
	if !moved {
		return fault.Conflict("The subscription is %s.", sub.Status)
	}
	if err := s.deps.Store.EndAfterTx(ctx, tx, *sub, lifecycle.EndRetry); err != nil {
		return err
	}
	return s.deps.Store.GiveBackLaterTx(ctx, tx, sub.ID)
}

// endedLast is the customer's last subscription that has begun, for who has none now;
// none when nothing was paid for it, so that there is nothing to withdraw from.
func (s *Withdrawals) endedLast(ctx context.Context, customerID objectid.ID,
	none error,
) (lifecycle.Subscription, error) {
	last, err := s.db.SubscriptionGetLatestBegun(ctx, s.deps.Pool, customerID)
	if errors.Is(err, pgx.ErrNoRows) {
		return lifecycle.Subscription{}, none
	}
	if err != nil {
		return lifecycle.Subscription{}, fmt.Errorf("read subscription: %w", err)
	}
	if withdrawn, err := s.isWithdrawn(ctx, s.deps.Pool, last.ID); err != nil || withdrawn {
		return last, err
	}
	until, err := s.WithdrawalUntil(ctx, last)
	if err == nil && until == nil {
		err = none
	}
	return last, err
}

func (s *Withdrawals) isWithdrawn(ctx context.Context, db postgres.DB, id objectid.ID) (bool, error) {
	reason, err := s.db.TransitionGetLastReason(ctx, db, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return reason == state.ReasonWithdrawn, err
}

// withdrawalOf reads what became of a withdrawal.
func (s *Withdrawals) withdrawalOf(ctx context.Context, id objectid.ID) (withdrawal, error) {
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, id)
	if err != nil {
		return withdrawal{}, fmt.Errorf("read subscription: %w", err)
	}
	chain, err := s.deps.Reads.RenewalChain(ctx, s.deps.Pool, sub)
	if err != nil {
		return withdrawal{}, err
	}
	at, err := s.db.TransitionGetWithdrawnAt(ctx, s.deps.Pool, id)
	if errors.Is(err, pgx.ErrNoRows) {
		at, err = s.deps.Clock.Now(), nil
	}
	if err != nil {
		return withdrawal{}, fmt.Errorf("read when it was withdrawn from: %w", err)
	}
	w := withdrawal{sub: sub}
	var done, earlier money.Cents
	for _, r := range chain {
		paid, given, err := s.paidAndGiven(ctx, r.ID)
		if err != nil {
			return withdrawal{}, err
		}
		disputed, err := s.deps.Payments.DisputesOf(ctx, s.deps.Pool, gateway.ForSubscription, r.ID)
		if err != nil {
			return withdrawal{}, err
		}
		for _, p := range paid {
			w.amount += p.Payment.Amount - min(disputes.LostOf(disputed, p.Payment),
				p.Payment.Amount) // the bank gave that back
		}
		for _, r := range given {
			before := givenBefore(r, at)
			if before {
				earlier += r.Amount
				w.amount -= r.Amount
			}
			if r.Status == gateway.RefundStatusRequested || r.Status == gateway.RefundStatusPending {
				w.underWay = true
			}
			if r.Status != gateway.RefundStatusDone {
				continue
			}
			if !before {
				done += r.Amount
			}
			if w.refundedAt == nil || r.RefundedAt.After(*w.refundedAt) {
				w.refundedAt = r.RefundedAt
			}
		}
	}
	switch {
	case w.amount == 0: // nothing was left: what had been given back is told
		w.amount = earlier
	case done < w.amount:
		w.refundedAt = nil
	}
	return w, nil
}

// givenBefore reports whether the refund was made when the customer withdrew. One that was
// under way then, as an admin's beside the withdrawal, gives its money back with it.
func givenBefore(r payments.Refund, withdrawn time.Time) bool {
	return r.Status == gateway.RefundStatusDone && !belongsToCaller(r) && !r.UpdatedAt.After(withdrawn)
}

// belongsToCaller reports whether a withdrawal asked for the refund.
func belongsToCaller(r payments.Refund) bool {
	return r.AdminID == nil && r.Reason == lifecycle.WithdrawalReason
}

// paidAndGiven are the payments of a subscription and the refunds of them.
func (s *Withdrawals) paidAndGiven(ctx context.Context,
	id objectid.ID,
) ([]gateway.LedgerPayment, []payments.Refund, error) {
	paid, err := s.deps.Payments.PaymentsOf(ctx, s.deps.Pool, gateway.ForSubscription, id)
	if err != nil {
		return nil, nil, err
	}
	given, err := s.deps.Payments.RefundsOf(ctx, s.deps.Pool, gateway.ForSubscription, id)
	return paid, given, err
}

// GiveBack refunds what a withdrawn subscription still has, and comes again until all
// of it is given back or stands on the list of unapplied payments.
func (s *Withdrawals) GiveBack(ctx context.Context, id objectid.ID) error {
	if err := s.giveBack(ctx, id); err != nil {
		return err
	}
	w, err := s.withdrawalOf(ctx, id)
	if err == nil && w.refundedAt == nil && w.underWay {
		return river.JobSnooze(lifecycle.GivenBackSoon)
	}
	return err
}

func (s *Withdrawals) giveBack(ctx context.Context, id objectid.ID) error {
	if withdrawn, err := s.isWithdrawn(ctx, s.deps.Pool, id); err != nil || !withdrawn {
		return err
	}
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, id)
	if err != nil {
		return fmt.Errorf("read subscription: %w", err)
	}
	chain, err := s.deps.Reads.RenewalChain(ctx, s.deps.Pool, sub)
	if err != nil {
		return err
	}
	var failed error
	for _, sub := range chain {
		failed = errors.Join(failed, s.giveBackAll(ctx, sub))
	}
	return failed
}

// giveBackAll refunds what is left of the payments of one subscription.
func (s *Withdrawals) giveBackAll(ctx context.Context, sub lifecycle.Subscription) error {
	paid, given, err := s.paidAndGiven(ctx, sub.ID)
	if err != nil {
		return err
	}
	var failed error
	for _, p := range paid {
		if left := disputes.LeftOf(p, given); left > 0 && !sub.HasChargeback {
			failed = errors.Join(failed, s.giveBackPayment(ctx, sub, p, given, left))
		}
	}
	_, err = s.deps.Applier.TotalRefunds(ctx, sub.CustomerID, sub.ID)
	return errors.Join(failed, err)
}

// giveBackPayment refunds one payment. What its gateway refuses, now or after it had
// taken the refund on, is left to people. Gateway A refuses a refund beside another that
// is under way: once it has, the rest waits for the end of that one.
func (s *Withdrawals) giveBackPayment(ctx context.Context, sub lifecycle.Subscription, p gateway.LedgerPayment,
	given []payments.Refund, left money.Cents,
) error {
	beside, refused := false, false
	for _, r := range given {
		if !disputes.IsOne(p.Payment, []string{r.PaymentID}) {
			continue
		}
		if r.FailedAtGateway() {
			return s.listUnrefunded(ctx, sub, p, left, "The refund of a withdrawal failed at the gateway.")
		}
		beside = beside || r.Status == gateway.RefundStatusPending
		refused = refused || r.Status == gateway.RefundStatusFailed && belongsToCaller(r) && !r.FailedUnasked()
	}
	if beside && refused {
		return nil
	}
	call, cancel := context.WithTimeout(ctx, s.deps.Intents.CallTime())
	defer cancel()
	_, err := s.deps.Payments.RefundPayment(call,
		payments.RefundRequest{Payment: p, Reason: lifecycle.WithdrawalReason}, nil)
	var disputed *payments.RefundDisputedError
	switch {
	case err == nil, errors.Is(err, payments.ErrRefundTooMuch), errors.Is(err, gateway.ErrOutcomeUnknown):
		return nil // what is not known is asked about until it is
	case errors.As(err, &disputed):
		return s.listUnrefunded(ctx, sub, p, left, "The refund of a withdrawal was not made. "+disputed.Sentence())
	case gateway.IsRejected(err) && beside:
		return nil
	case gateway.IsRejected(err), gateway.IsDeclined(err):
		return s.listUnrefunded(ctx, sub, p, left, "The gateway refused the refund of a withdrawal: "+err.Error())
	}
	return fmt.Errorf("refund withdrawal of %s: %w", sub.ID, err)
}

func (s *Withdrawals) listUnrefunded(ctx context.Context, sub lifecycle.Subscription, p gateway.LedgerPayment,
	left money.Cents, note string,
) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		u := payments.Unapplied{Kind: payments.UnappliedUnrefundable, Amount: &left, Note: note, Bought: true}
		_, err := s.deps.Payments.Cases().RecordUnappliedTx(ctx, tx, u.Of(sub.Owner().At(p.Gateway), p.Payment))
		return err
	})
}

// amountAt is an amount in the unit that its gateway's routes tell: the body of a withdrawal is the DTO of a purchase.
type amountAt struct {
	gateway gateway.Name
	amount  money.Cents
}

// MarshalJSON writes the amount.
func (a amountAt) MarshalJSON() ([]byte, error) {
	if a.gateway.Traits().AmountsInReais {
		return json.Marshal(a.amount.Reais())
	}
	return json.Marshal(int64(a.amount))
}
