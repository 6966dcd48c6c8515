package refunds

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// errStopped has the job come again: after a restore nothing is refunded by itself.
var errStopped = errors.New("tickets: refunds are held after a restore (docs/operations.md)")

// QueueDue sees to it that a refund that is due has its job, which is there
// once however often it is asked for, and tries again by itself.
func (s *Refunds) QueueDue(ctx context.Context, id objectid.ID) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		o, err := s.db.OrderLock(ctx, tx, id)
		if err != nil || o.State != state.RefundDue || o.GatewayPaymentID == nil {
			return err
		}
		return s.deps.Orders.RefundLaterTx(ctx, tx, o, *o.GatewayPaymentID)
	})
}

// Refund gives a payment of an order back in full, and tells the buyer. What has
// been given back, or is on its way, is not given again: the ledger of refunds
// knows.
func (s *Refunds) Refund(ctx context.Context, id objectid.ID, paymentID string) error {
	o, err := s.db.OrderGet(ctx, s.deps.Pool, id)
	if err != nil {
		return err
	}
	paid, err := s.deps.Payments.FindPayment(ctx, s.deps.Pool, nullable.Value(o.Gateway), paymentID)
	if err != nil || paid == nil {
		return err
	}
	if closed, err := s.deps.Payments.Cases().IsClosedByAdmin(ctx, s.deps.Pool, paid.Gateway,
		paid.Payment.ID); err != nil || closed {
		return err // an admin has decided so
	}
	if listed, err := s.deps.Payments.Cases().IsRefundedByList(ctx, s.deps.Pool, paid.Gateway,
		paid.Payment.ID); err != nil || listed {
		return err // within the limits
	}
	if disputed, err := s.isDisputed(ctx, *paid); err != nil || disputed {
		return err // it stands on the list, for people
	}
	if stopped, err := s.deps.Payments.Comparison().RefundsStopped(ctx, s.deps.Pool); err != nil || stopped {
		return cmp.Or(err, errStopped)
	}
	e, err := s.db.EventGet(ctx, s.deps.Pool, o.EventID)
	if err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	reason := "No place was left when the payment arrived."
	if e.CancelledAt != nil {
		reason = state.EventCancelled.Reason()
	}
	_, err = s.deps.Payments.RefundPayment(ctx, payments.RefundRequest{Payment: *paid, Reason: reason},
		func(ctx context.Context, tx pgx.Tx, _ payments.Refund) error {
			return s.refundedTx(ctx, tx, id, paymentID)
		})
	switch {
	case errors.Is(err, payments.ErrRefundTooMuch): // given back before
		return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
			o, err := s.db.OrderLock(ctx, tx, id)
			if err != nil {
				return err
			}
			return s.deps.Orders.ReturnedTx(ctx, tx, &o, "")
		})
	case errors.Is(err, gateway.ErrOutcomeUnknown): // the checks ask what became of it
		return nil
	case errors.Is(err, gateway.ErrDisputed):
		return s.listDisputed(ctx, o, *paid)
	case err != nil:
		return fmt.Errorf("refund order %s: %w", id, err)
	}
	return nil
}

// isDisputed reports whether the gateway has refused to give the payment back since it
// is disputed, now or when a check of a refund asked for it: then it is listed.
func (s *Refunds) isDisputed(ctx context.Context, paid gateway.LedgerPayment) (bool, error) {
	refunds, err := s.deps.Payments.RefundsOf(ctx, s.deps.Pool, gateway.ForOrder, paid.LocalID)
	if err != nil {
		return false, fmt.Errorf("read refunds: %w", err)
	}
	for _, r := range refunds {
		if r.FailedByDispute() && (r.PaymentID == paid.Payment.ID || r.PaymentID == paid.Payment.PaymentIntentID) {
			o, err := s.db.OrderGet(ctx, s.deps.Pool, paid.LocalID)
			if err != nil {
				return false, err
			}
			return true, s.listDisputed(ctx, o, paid)
		}
	}
	return false, nil
}

// listDisputed leaves to people what the gateway does not give back: the payer's bank
// has the money, or takes it.
func (s *Refunds) listDisputed(ctx context.Context, o orders.Order, paid gateway.LedgerPayment) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		return s.deps.Orders.ListUnappliedTx(ctx, tx, o, paid.Payment, payments.Unapplied{
			Kind: payments.UnappliedUnrefundable, Note: "The gateway refused its refund: the payment is disputed.",
		})
	})
}

// refundedTx follows a refund that the gateway took on. One of a second payment
// leaves the order as it is.
func (s *Refunds) refundedTx(ctx context.Context, tx pgx.Tx, id objectid.ID, paymentID string) error {
	o, err := s.db.OrderLock(ctx, tx, id)
	if err != nil {
		return err
	}
	switch {
	case o.State == state.RefundDue:
		return s.deps.Orders.ReturnedTx(ctx, tx, &o, "")
	case nullable.Value(o.GatewayPaymentID) == paymentID:
		return nil // the refund's webhook was faster, and has told the buyer
	}
	return s.deps.Orders.MailLaterTx(ctx, tx, id, orders.MailRefund)
}
