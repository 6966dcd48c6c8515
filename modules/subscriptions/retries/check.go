package retries

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/nullable"
	"marquee/platform/postgres"
)

// CheckAutomatic asks about an automatic PIX whose cycle has begun without news: first
// about its debit, then, unless that was paid, whether it is authorized at all.
func (s *Retries) CheckAutomatic(ctx context.Context, sub lifecycle.Subscription,
	dryRun bool,
) (f payments.Finding, found bool, err error) {
	f, found, err = s.checkDebit(ctx, sub, dryRun)
	if err != nil || found && f.Kind == payments.MissedPayment {
		return f, found, err
	}
	end, over, err := s.checkAuthorization(ctx, sub, dryRun)
	if err != nil || over {
		return end, over, err
	}
	return f, found, nil
}

// checkAuthorization reads the authorization and ends a subscription whose is over,
// unless the run is dry: its debits are refused, and nothing else would end it.
func (s *Retries) checkAuthorization(ctx context.Context, sub lifecycle.Subscription,
	dryRun bool,
) (f payments.Finding, over bool, err error) {
	f = payments.Finding{Kind: payments.MissedEnd, ID: nullable.Value(sub.GwaPixAuthID)}
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return f, false, err
	}
	read := s.deps.Calls.ReadAuthorization
	if dryRun {
		read = func(ctx context.Context, gateway gateway.Gateway,
			sub lifecycle.Subscription,
		) (gateway.PixAuthorization, error) {
			return gateway.ReadPixAuthorization(ctx, sub.AuthorizationRef())
		}
	}
	auth, err := read(ctx, gw, sub)
	if errors.Is(err, calls.ErrMissingOnce) || errors.Is(err, gateway.ErrMissing) {
		return f, false, nil // seen missing once
	}
	if err != nil {
		return f, false, fmt.Errorf("read authorization of %s: %w", sub.ID, err)
	}
	switch auth.Status {
	case gateway.AuthorizationStatusCancelled, gateway.AuthorizationStatusRefused, gateway.AuthorizationStatusExpired:
	default:
		return f, false, nil
	}
	if dryRun {
		return f, true, nil
	}
	ended, err := s.deps.Settler.Settle(ctx, sub, state.ByReconcile,
		settle.Succeeded{Result: settle.Authorization{PixAuthorization: auth}})
	return f, err == nil && ended.Status.Ended(), err
}

// checkDebit reads the ordered debit of an automatic PIX whose cycle has begun without
// news, and applies what it finds as its event would have been, unless the run is
// dry: paid, not paid, or deleted. Nobody else moves the subscription on: until then
// it is debited no more, and goes on giving access. Found is false where there is
// nothing to be learned, such as a debit that is still to be ordered.
func (s *Retries) checkDebit(ctx context.Context, sub lifecycle.Subscription,
	dryRun bool,
) (f payments.Finding, found bool, err error) {
	f = payments.Finding{Kind: payments.MissedFailure}
	debit, err := s.db.DebitGet(ctx, s.deps.Pool, sub.ID, s.deps.Calendar.DateOf(*sub.NextBillingDate))
	if errors.Is(err, pgx.ErrNoRows) || err == nil && debit.GatewayPaymentID == nil {
		return f, false, nil
	}
	if err != nil {
		return f, false, fmt.Errorf("read debit of %s: %w", sub.ID, err)
	}
	e, waiting, err := s.debitAsEvent(ctx, sub, debit)
	paid, _ := e.Payment()
	f.ID, f.Amount = *debit.GatewayPaymentID, paid.Amount
	if _, settled := e.Payload.(gateway.SettledPayment); settled {
		f.Kind = payments.MissedPayment
	}
	if err != nil || waiting || dryRun {
		return f, err == nil && !waiting, err
	}
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		result, err := s.deps.Applier.ApplyEventTx(ctx, tx, e)
		found = result.Status == gateway.ResultApplied
		return err
	})
	if err != nil {
		return f, false, fmt.Errorf("apply debit of %s: %w", sub.ID, err)
	}
	return f, found, nil
}

// debitAsEvent reads a debit and says what its present state means. Waiting: it falls
// due only now, since its order came late.
func (s *Retries) debitAsEvent(ctx context.Context, sub lifecycle.Subscription,
	debit lifecycle.Debit,
) (e gateway.Event, waiting bool, err error) {
	now := s.deps.Clock.Now()
	e = gateway.Event{
		Gateway: sub.Gateway, Type: gateway.Reconciled, CreatedAt: now,
		AuthorizationID: nullable.Value(sub.GwaPixAuthID), Reference: sub.ID,
	}
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return e, false, err
	}
	paid, err := gw.ReadPayment(ctx, *debit.GatewayPaymentID, sub.ID)
	switch {
	case errors.Is(err, gateway.ErrMissing):
		e.Payload = gateway.DeletedPayment{Payment: gateway.Payment{ID: *debit.GatewayPaymentID}}
		return e, false, nil
	case err != nil:
		return e, false, fmt.Errorf("read payment of %s: %w", sub.ID, err)
	}
	switch paid.Status {
	case gateway.PaymentStatusSettled:
		e.Payload = gateway.SettledPayment{Payment: paid}
	case gateway.PaymentStatusGone:
		e.Payload = gateway.DeletedPayment{Payment: paid}
	default:
		e.Payload = gateway.FailedPayment{Payment: paid, Attempt: 1}
		waiting = paid.DueDate == nil || paid.DueDate.Add(OverdueAfter).After(now)
	}
	return e, waiting, nil
}

// OverdueAfter is how long after a period's end its payment may be told.
const OverdueAfter = 36 * time.Hour
