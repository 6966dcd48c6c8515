package tickets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"marquee/modules/payments"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// sweepArgs is the periodic job that follows up what is due: places
// held too long, refunds that are due, tickets of ended events.
type sweepArgs struct{}

// Kind names the job.
func (sweepArgs) Kind() string { return "tickets_sweep" }

const (
	// sweepWidth is how many gateway calls a sweep makes at once.
	sweepWidth = 8
	// keepDeclines is how long declines are kept beyond the window in which they count.
	keepDeclines = 24 * time.Hour
)

// Sweep does what is due.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.clock.Now()
	var failed error
	each := func(ids []objectid.ID, err error, step func(context.Context, objectid.ID) error) {
		failed = errors.Join(failed, err, s.each(ctx, ids, step))
	}
	recoveries, err := s.db.OrderListDueRecoveries(ctx, s.pool, &now)
	each(recoveries, err, s.adopt)
	held, err := s.db.OrderListHeldTooLong(ctx, s.pool, &now)
	each(held, err, s.GiveBackUnpaid)
	refunds, err := s.db.OrderListRefundsDue(ctx, s.pool)
	each(refunds, err, s.queueRefund)
	_, err = s.db.DeclineDeleteOld(ctx, s.pool, now.Add(-s.cfg.DeclineWindow-keepDeclines))
	_, forgot := s.db.OrderForgetHolders(ctx, s.pool, now)
	return errors.Join(failed, err, forgot, s.events.ExpireEnded(ctx), s.queueGiveBacks(ctx))
}

// each runs a step for all ids, some at a time. One that fails is tried again by
// the next sweep and keeps no other waiting.
func (s *Service) each(ctx context.Context, ids []objectid.ID, step func(context.Context, objectid.ID) error) error {
	var group errgroup.Group
	group.SetLimit(sweepWidth)
	failures := make([]error, len(ids))
	for i, id := range ids {
		group.Go(func() error {
			failures[i] = step(ctx, id)
			return nil
		})
	}
	_ = group.Wait() // never fails
	return errors.Join(failures...)
}

// GiveBackUnpaid frees the places of an order that nobody paid before its code
// ran out or its event ended.
func (s *Service) GiveBackUnpaid(ctx context.Context, id objectid.ID) error {
	o, err := s.db.OrderGet(ctx, s.pool, id)
	if err != nil || o.State != state.Reserved || o.IntentOpen {
		return err
	}
	return s.giveBack(ctx, id)
}

// giveBack makes the charge unpayable at the gateway first, so that nobody pays
// an old code, and frees the places after. When it has just been paid, the
// payment is settled instead.
func (s *Service) giveBack(ctx context.Context, id objectid.ID) error {
	o, err := s.db.OrderGet(ctx, s.pool, id)
	if err != nil {
		return err
	}
	if o.GatewayPaymentID != nil {
		gateway, err := s.payments.Gateway(payments.GatewayName(postgres.Text(o.Gateway)))
		if err != nil {
			return err
		}
		err = gateway.CancelPix(ctx, *o.GatewayPaymentID, o.ID)
		if errors.Is(err, payments.ErrAlreadyPaid) {
			charge, err := gateway.ReadPix(ctx, *o.GatewayPaymentID, o.ID)
			if err != nil {
				return fmt.Errorf("read paid charge: %w", err)
			}
			_, err = s.orders.Settle(ctx, id, orders.Answer{Pix: &charge})
			return err
		}
		if err != nil && !errors.Is(err, payments.ErrGatewayMissing) {
			return fmt.Errorf("cancel charge: %w", err)
		}
	}
	_, err = s.orders.Settle(ctx, id, orders.Answer{RanOut: true})
	return err
}

// errHeld has the job come again: after a restore nothing is refunded by itself.
var errHeld = errors.New("tickets: refunds are held after a restore (docs/operations.md)")

// queueRefund sees to it that a refund that is due has its job, which is there
// once however often it is asked for, and tries again by itself.
func (s *Service) queueRefund(ctx context.Context, id objectid.ID) error {
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		o, err := s.db.OrderLock(ctx, tx, id)
		if err != nil || o.State != state.RefundDue || o.GatewayPaymentID == nil {
			return err
		}
		return s.orders.RefundLaterTx(ctx, tx, o, *o.GatewayPaymentID)
	})
}

// Refund gives a payment of an order back in full, and tells the buyer. What has
// been given back, or is on its way, is not given again: the ledger of refunds
// knows.
func (s *Service) Refund(ctx context.Context, id objectid.ID, paymentID string) error {
	o, err := s.db.OrderGet(ctx, s.pool, id)
	if err != nil {
		return err
	}
	paid, err := s.payments.FindPayment(ctx, s.pool, payments.GatewayName(postgres.Text(o.Gateway)), paymentID)
	if err != nil || paid == nil {
		return err
	}
	if kept, err := s.payments.IsKept(ctx, s.pool, paid.Gateway, paid.Payment.ID); err != nil || kept {
		return err // an admin has decided so
	}
	if listed, err := s.payments.IsRefundedByList(ctx, s.pool, paid.Gateway, paid.Payment.ID); err != nil || listed {
		return err // within the limits
	}
	if disputed, err := s.isDisputed(ctx, *paid); err != nil || disputed {
		return err // it stands on the list, for people
	}
	if held, err := s.payments.RefundsHeld(ctx, s.pool); err != nil || held {
		return cmp.Or(err, errHeld)
	}
	e, err := s.db.EventGet(ctx, s.pool, o.EventID)
	if err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	reason := "No place was left when the payment arrived."
	if e.CancelledAt != nil {
		reason = state.EventCancelled.Reason()
	}
	_, err = s.payments.RefundPayment(ctx, payments.RefundRequest{Payment: *paid, Reason: reason},
		func(ctx context.Context, tx pgx.Tx, _ payments.Refund) error {
			return s.refundedTx(ctx, tx, id, paymentID)
		})
	switch {
	case errors.Is(err, payments.ErrRefundTooMuch): // given back before
		return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
			o, err := s.db.OrderLock(ctx, tx, id)
			if err != nil {
				return err
			}
			return s.orders.ReturnedTx(ctx, tx, &o)
		})
	case errors.Is(err, payments.ErrOutcomeUnknown): // the ledger's own recovery asks what became of it
		return nil
	case errors.Is(err, payments.ErrDisputed):
		return s.listDisputed(ctx, o, *paid)
	case err != nil:
		return fmt.Errorf("refund order %s: %w", id, err)
	}
	return nil
}

// isDisputed reports whether the gateway has refused to give the payment back since it
// is disputed, now or when the recovery of a refund asked for it: then it is listed.
func (s *Service) isDisputed(ctx context.Context, paid payments.LedgerPayment) (bool, error) {
	refunds, err := s.payments.RefundsOf(ctx, s.pool, payments.ForOrder, paid.LocalID)
	if err != nil {
		return false, fmt.Errorf("read refunds: %w", err)
	}
	for _, r := range refunds {
		if r.FailedByDispute() && (r.PaymentID == paid.Payment.ID || r.PaymentID == paid.Payment.PaymentIntentID) {
			o, err := s.db.OrderGet(ctx, s.pool, paid.LocalID)
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
func (s *Service) listDisputed(ctx context.Context, o orders.Order, paid payments.LedgerPayment) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		return s.orders.ListUnappliedTx(ctx, tx, o, paid.Payment, payments.UnappliedUnrefundable, "The gateway refused its refund: the payment is disputed.")
	})
}

// refundedTx follows a refund that the gateway took on. One of a second payment
// leaves the order as it is.
func (s *Service) refundedTx(ctx context.Context, tx pgx.Tx, id objectid.ID, paymentID string) error {
	o, err := s.db.OrderLock(ctx, tx, id)
	if err != nil {
		return err
	}
	switch {
	case o.State == state.RefundDue:
		return s.orders.ReturnedTx(ctx, tx, &o)
	case postgres.Text(o.GatewayPaymentID) == paymentID:
		return nil // the refund's webhook was faster, and has told the buyer
	}
	return s.orders.MailLaterTx(ctx, tx, id, orders.MailRefund)
}
