package unapplied

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/refund"
	"marquee/modules/payments/state"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Extension is a payment that gave nobody anything and is to lengthen a subscription.
type Extension struct {
	CustomerID     objectid.ID // whose the payment is
	SubscriptionID objectid.ID // "" for the one that lives
	Amount         money.Cents // what is left of the payment
}

// Extender is an Applier whose rows may be lengthened by a payment that gave nobody
// anything.
type Extender interface {
	// ExtendTx moves the end of a living subscription by the period that the amount
	// pays for at its price, and returns its id. It locks the row; the payment itself
	// is the caller's affair. Errors: 404 for a subscription that is not there; 409
	// for one that has ended or is another customer's, for a customer without any,
	// and when the amount pays for no period.
	ExtendTx(ctx context.Context, tx pgx.Tx, e Extension) (objectid.ID, error)
}

// unappliedCallTime is how long an admin's refund waits for the gateway.
const unappliedCallTime = 75 * time.Second

// refund gives an unapplied payment back because an admin says so: 409 when
// it is decided, when no payment stands behind it, and when its amount is gone or is not
// what is left of the payment; 422 while the payment is disputed,
// which changes nothing; 500 REFUND_FAILED when the gateway refuses; 503 when it does not answer. A refund that is
// under way, or of which nobody knows yet, shows in the state.
func (s *List) refund(ctx context.Context, id objectid.ID, reason string) error {
	u, paid, err := s.withBooked(ctx, id)
	if err != nil {
		return err
	}
	var disputed *ledger.RefundDisputedError
	if u.State == state.UnappliedOpen {
		if err := s.requireWholePayment(ctx, u, paid); err != nil {
			return err
		}
		if err := s.reader.NotDisputed(ctx, s.deps.Pool, paid.Gateway, paid.Payment.Amount,
			paid.Names()...); errors.As(err, &disputed) {
			return disputed.Fault()
		} else if err != nil {
			return err
		}
	}
	err = s.decide(ctx, u, ledger.Move{By: state.UnappliedAdminRefunds, Reason: reason}, nil)
	if err != nil {
		return err
	}
	faultpoint.Hit("unapplied.claimed")
	// The trail and the request's key have the decision: the refund is but its consequence.
	quiet := idempotency.WithAttempt(audit.With(context.WithoutCancel(ctx), nil), nil)
	call, cancel := context.WithTimeout(quiet, unappliedCallTime)
	defer cancel()
	caller := httpapi.CallerOf(ctx)
	err = s.refundClaimed(call, u, paid, refund.Request{Reason: reason, Admin: caller.Username, AdminID: &caller.ID})
	var rejected *gateway.Rejected
	switch {
	case errors.As(err, &disputed):
		return disputed.Fault()
	case errors.As(err, &rejected), gateway.IsDeclined(err), errors.Is(err, refund.ErrTooMuch):
		return (&fault.Error{
			Kind: fault.KindInternal, Code: fault.CodeRefundFailed, Message: "The payment gateway rejected the refund.",
		}).WithCause(err)
	case err != nil:
		return s.refunds.Refused(ctx, "refund unapplied payment", err)
	}
	return nil
}

// extend makes an unapplied payment a living subscription's: 409 when it
// is decided, while it is disputed or when it was lost, when a refund of it was asked for
// or made, when it has paid for something already or its gateway does not show it, and as
// Extender says.
func (s *List) extend(ctx context.Context, id, subscriptionID objectid.ID) error {
	u, paid, err := s.withBooked(ctx, id)
	if err != nil {
		return err
	}
	if s.extender == nil {
		return fault.Conflict("The payment cannot extend a subscription: there are none here.")
	}
	if err := s.requireConfirmed(ctx, u, paid); err != nil {
		return err
	}
	return s.decide(ctx, u, ledger.Move{By: state.UnappliedAdminExtends}, func(tx pgx.Tx, c *ledger.Move) error {
		extended, err := s.extender.ExtendTx(ctx, tx,
			Extension{CustomerID: paid.CustomerID, SubscriptionID: subscriptionID, Amount: paid.Payment.Amount})
		if err != nil {
			return err
		}
		// What counts payments and reports of disputes hold the customer, as ExtendTx does now.
		if err := s.requireUnused(ctx, tx, u, paid); err != nil {
			return err
		}
		if err := s.ledger.LockMoneyTx(ctx, tx, paid.Gateway, paid.Names()...); err != nil {
			return err
		}
		var disputed *ledger.RefundDisputedError
		if err := s.reader.NotDisputed(ctx, tx, paid.Gateway, 0, paid.Names()...); errors.As(err, &disputed) {
			return disputed.Conflict()
		} else if err != nil {
			return err
		}
		if key := paid.RefundKey(); key != "" {
			refunds, err := s.reader.RefundsOfPayment(ctx, tx, paid.Gateway, key)
			if err != nil {
				return err
			}
			for _, r := range refunds {
				if r.Status != gateway.RefundStatusFailed {
					return fault.Conflict("A refund of the payment was requested or made.")
				}
			}
		}
		c.SubscriptionID = extended
		n, err := s.db.PaymentMoveTo(ctx, tx, paymentsdb.PaymentMoveToParams{
			LocalID: extended, At: s.deps.Clock.Now(), Gateway: u.Gateway, GatewayPaymentID: paid.Payment.ID,
			CustomerID: paid.CustomerID,
		})
		if err == nil && n != 1 {
			err = fmt.Errorf("payments: %s is no longer in the ledger", paid.Payment.ID)
		}
		return err
	})
}

// TakeExtensionBackTx opens again the payments that have lengthened a subscription since
// an instant: its gateway refuses to charge it later. The operators are told.
func (s *List) TakeExtensionBackTx(ctx context.Context, tx pgx.Tx, subscription objectid.ID, since time.Time,
	cause string,
) error {
	extended, err := s.db.UnappliedListExtended(ctx, tx,
		paymentsdb.UnappliedListExtendedParams{SubscriptionID: &subscription, Since: since})
	if err != nil {
		return fmt.Errorf("read what has extended: %w", err)
	}
	for _, u := range extended {
		_, err := s.cases.MoveTx(ctx, tx, u, ledger.Move{
			By: state.UnappliedExtensionRefused, Source: state.ByGateway, Reason: cause, ForPeople: true,
			Note: "It had extended subscription " + subscription.String() +
				", whose gateway refuses to charge it later: decide again.",
		})
		if err != nil {
			return err
		}
	}
	return s.deps.Operators.NotifyTx(ctx, tx, "An extension was taken back", fmt.Sprintf(
		"The gateway of subscription %s refuses to charge it later: %s.\nIts dates are those before the extension again; %d payments that had extended it are open on the list of unapplied payments.\nSee docs/operations.md, An extension that the gateway refuses.\n",
		subscription, cause, len(extended)))
}

// keep notes that the money stays, and why: 409 when it is decided.
func (s *List) keep(ctx context.Context, id objectid.ID, reason string) error {
	u, err := s.findUnapplied(ctx, id)
	if err != nil {
		return err
	}
	return s.decide(ctx, u, ledger.Move{By: state.UnappliedAdminKeeps, Reason: reason, Note: reason}, nil)
}

// withBooked is an unapplied payment whose amount is not back with its payer, and the ledger's row of it:
// 404 when it is not listed, 409 when it is gone, and what bookedOf refuses.
func (s *List) withBooked(ctx context.Context, id objectid.ID) (
	u paymentsdb.PaymentsUnappliedPayment, paid gateway.LedgerPayment, err error,
) {
	if u, err = s.findUnapplied(ctx, id); err != nil {
		return u, paid, err
	}
	if err = notGone(u); err != nil {
		return u, paid, err
	}
	paid, err = s.bookedOf(ctx, u)
	return u, paid, err
}

func (s *List) findUnapplied(ctx context.Context, id objectid.ID) (paymentsdb.PaymentsUnappliedPayment, error) {
	u, err := s.db.UnappliedFind(ctx, s.deps.Pool, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return u, fault.NotFound("Unapplied payment")
	}
	return u, err
}

// decide writes an admin's decision about an open case, with the audit trail, and
// binds a repeatable request to it. Before, when not nil, runs in the same
// transaction, before the case is locked: what it locks comes first wherever money is
// booked.
func (s *List) decide(ctx context.Context, u paymentsdb.PaymentsUnappliedPayment, c ledger.Move,
	before func(pgx.Tx, *ledger.Move) error,
) error {
	caller := httpapi.CallerOf(ctx)
	c.Source, c.Admin = state.ByAdmin, &caller.ID
	if u.State != state.UnappliedOpen {
		return errDecided(u.State)
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if before != nil {
			if err := before(tx, &c); err != nil {
				return err
			}
		}
		locked, err := s.db.UnappliedLock(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		if locked.State != state.UnappliedOpen {
			return errDecided(locked.State)
		}
		if c.By != state.UnappliedAdminKeeps { // the bank may have taken it since it was read
			if err := notGone(locked); err != nil {
				return err
			}
		}
		if err := idempotency.AttemptOf(ctx).BindTx(ctx, tx, u.ID); err != nil {
			return err
		}
		return ledger.UnappliedPayments.AuditTx(ctx, tx, []objectid.ID{u.ID}, func() error {
			_, err := s.cases.MoveTx(ctx, tx, locked, c)
			return err
		})
	})
}

func errDecided(as state.Unapplied) error {
	return fault.Conflict("The payment is decided already: %s.", as)
}

// notGone is 409 of an open case whose amount went back to the payer, by their bank or at the gateway: what a
// refund or an extension would move is another amount, that of the rest.
func notGone(u paymentsdb.PaymentsUnappliedPayment) error {
	if !u.TakenBack || u.State != state.UnappliedOpen {
		return nil
	}
	return fault.Conflict("This money is already back with the payer: nothing is left to refund or to extend a subscription with. It can only be kept.")
}

// requireWholePayment is 409 when less is listed than what is left of the payment, which a refund
// would give back: the list of the subscription's or order's refunds is the place for it.
func (s *List) requireWholePayment(ctx context.Context, u paymentsdb.PaymentsUnappliedPayment,
	paid gateway.LedgerPayment,
) error {
	key := paid.RefundKey()
	if u.AmountCents == nil || key == "" {
		return nil
	}
	found, err := s.db.RefundListOfPayment(ctx, s.deps.Pool,
		paymentsdb.RefundListOfPaymentParams{Gateway: &u.Gateway, PaymentRef: key})
	if err != nil {
		return fmt.Errorf("read refunds: %w", err)
	}
	lost, err := s.reader.LostOf(ctx, s.deps.Pool, paid.Gateway, append(paid.Names(), key)...)
	if err != nil {
		return err
	}
	left := paid.Payment.Amount - lost
	for _, row := range found {
		if r := ledger.RefundOf(row); r.Status != gateway.RefundStatusFailed {
			left -= r.Amount
		}
	}
	if listed := money.Cents(*u.AmountCents); listed < left {
		return fault.Conflict("Only R$ %s of the payment is listed here, and R$ %s is left of it: refund it at the subscription or order that it paid for.", listed, left)
	}
	return nil
}

func errNoPayment() error {
	return fault.Conflict("This money belongs to no payment of a known customer: it can only be kept.")
}

// afterRefundTx settles a case whose refund was claimed, whatever came of asking for
// it: what the ledger says, else it is open again.
func (s *List) afterRefundTx(ctx context.Context, tx pgx.Tx, id objectid.ID, refused error) error {
	u, err := s.db.UnappliedLock(ctx, tx, id)
	if err != nil || u.State != state.UnappliedRefunding {
		return err
	}
	c := ledger.Move{By: state.UnappliedRefundNotRequested, Source: state.ByGateway}
	var disputed *ledger.RefundDisputedError
	if errors.As(refused, &disputed) { // nobody was asked: when the dispute is over it is as before
		c.By = state.UnappliedPaymentDisputed
	} else if gateway.IsRejected(refused) || errors.Is(refused, refund.ErrTooMuch) {
		c.Kind, c.ForPeople, c.Note = state.UnappliedUnrefundable, true, "The gateway has nothing to refund of it."
	}
	_, err = s.cases.MoveTx(ctx, tx, u, c)
	return err
}
