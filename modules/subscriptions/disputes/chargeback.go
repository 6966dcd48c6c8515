package disputes

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/postgres"
)

// LatestOfChainTx is the latest payment that gave time to a subscription, or to what it has
// renewed, and which of them it was made for; nil without one.
func (s *Disputes) LatestOfChainTx(ctx context.Context, tx pgx.Tx,
	sub lifecycle.Subscription,
) (lifecycle.Subscription, *gateway.LedgerPayment, error) {
	chain, err := s.deps.Reads.RenewalChain(ctx, tx, sub)
	if err != nil {
		return sub, nil, err
	}
	for _, r := range chain {
		if last, err := s.latestPaymentTx(ctx, tx, r); err != nil || last != nil {
			return r, last, err
		}
	}
	return sub, nil, nil
}

// DisputableTx locks the money of a payment and returns how much of it can be disputed,
// and under which id: what is neither refunded or requested, nor taken by another one.
// 409 while one is open, and while a withdrawal has still to ask for the money.
func (s *Disputes) DisputableTx(ctx context.Context, tx pgx.Tx, sub, of lifecycle.Subscription,
	paid gateway.LedgerPayment,
) (payment string, left money.Cents, err error) {
	if err := s.deps.Payments.LockMoneyTx(ctx, tx, paid.Gateway, paid.Names()...); err != nil {
		return "", 0, err
	}
	now, err := s.deps.Payments.FindPayment(ctx, tx, paid.Gateway,
		paid.Payment.ID) // a refund may have told its payment intent
	if err != nil {
		return "", 0, err
	}
	if now != nil {
		paid = *now
	}
	given, err := s.deps.Payments.RefundsOf(ctx, tx, gateway.ForSubscription, of.ID)
	if err != nil {
		return "", 0, err
	}
	left = LeftOf(paid, given)
	all, err := s.DisputesOf(ctx, tx, sub)
	if err != nil {
		return "", 0, err
	}
	for _, d := range all {
		switch {
		case !IsOne(paid.Payment, []string{d.PaymentID}):
		case d.State == gateway.DisputeOpen:
			return "", 0, fault.Conflict("The payment has an open chargeback already.")
		case d.State == gateway.DisputeLost:
			left -= d.Amount
		}
	}
	if left > 0 {
		err = s.notWithdrawnTx(ctx, tx, of, paid)
	}
	return cmp.Or(paid.Payment.PaymentIntentID, paid.Payment.ID), left, err
}

// notWithdrawnTx is 409 when the customer has withdrawn and the payment's refund is still
// to be asked for: they were told that the money comes back. What stands on the list of
// unapplied payments is not: people decide about it.
func (s *Disputes) notWithdrawnTx(ctx context.Context, tx pgx.Tx, of lifecycle.Subscription,
	paid gateway.LedgerPayment,
) error {
	withdrawn, err := s.db.TransitionListWithdrawals(ctx, tx, of.ID)
	if err != nil || len(withdrawn) == 0 {
		return err
	}
	listed, err := s.deps.Payments.Cases().UnappliedStateOf(ctx, tx, paid.Gateway, paid.Payment.ID)
	if err != nil || listed != "" {
		return err
	}
	return fault.Conflict("The customer has withdrawn from the subscription: the payment is being given back.")
}

// latestPaymentTx is the latest payment that gave a subscription time; nil without one.
func (s *Disputes) latestPaymentTx(ctx context.Context, tx pgx.Tx,
	sub lifecycle.Subscription,
) (*gateway.LedgerPayment, error) {
	paid, err := s.deps.Payments.PaymentsOf(ctx, tx, gateway.ForSubscription, sub.ID)
	if err != nil {
		return nil, err
	}
	for _, p := range paid {
		unused, err := s.deps.Payments.Cases().IsUnused(ctx, tx, p.Gateway, p.Payment.ID)
		if err != nil || !unused {
			return &p, err
		}
	}
	return nil, nil //nolint:nilnil // nil is the answer: none
}

// WithdrawDisputeTx withdraws a dispute of a payment of the subscription, or of those
// that it followed by renewals, and answers which one's it is.
func (s *Disputes) WithdrawDisputeTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	disputeID string,
) (disputed lifecycle.Subscription, withdrawn bool, err error) {
	chain, err := s.deps.Reads.RenewalChain(ctx, tx, sub)
	if err != nil {
		return lifecycle.Subscription{}, false, err
	}
	for _, disputed = range chain {
		withdrawn, err = s.deps.Payments.WithdrawDisputeTx(ctx, tx, gateway.ForSubscription, disputed.ID, disputeID)
		if !postgres.IsNoRows(err) {
			break
		}
	}
	return disputed, withdrawn, err
}

// ForgetChargebackTx undoes what a chargeback did that is withdrawn. Where another one
// was won since, it is that one's end which opens the subscription.
func (s *Disputes) ForgetChargebackTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Subscription, at time.Time) error {
	all, err := s.holdingDisputesOf(ctx, tx, *sub)
	if err != nil || hasState(all, gateway.DisputeOpen) || hasState(all, gateway.DisputeLost) {
		return err
	}
	c := lifecycle.Change{Action: state.ChargebackWithdrawn, Source: state.ByAdmin, Actor: lifecycle.CallerID(ctx)}
	switch {
	case hasState(all, gateway.DisputeWon):
		return s.winDisputeTx(ctx, tx, sub, at, c)
	case sub.StartedAt == nil && sub.Status == state.Suspended:
		c.Action = state.UnpaidWithdrawn
	}
	return s.liftDisputeTx(ctx, tx, sub, at, c)
}
