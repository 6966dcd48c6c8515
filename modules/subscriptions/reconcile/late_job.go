package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// retryConfirmation has a payment looked for once more after a miss, unless it was the last.
func (s *Reconciler) retryConfirmation(ctx context.Context, a settle.LateMoneyArgs, why error) error {
	again, err := s.retryLater(ctx, a)
	if err == nil && !again {
		s.deps.Log.WarnContext(ctx, "money that the gateway does not confirm gives nothing",
			slog.String("subscription_id", a.SubscriptionID.String()),
			slog.String("payment_id", a.PaymentID), slog.Any("error", why))
		return s.finishConfirmation(ctx, gateway.GWA, a.EventID, a.SubscriptionID, gateway.ReasonNotAsIsTold)
	}
	return err
}

// retryLater has a payment looked for once more after a pause; false: that was the last look.
func (s *Reconciler) retryLater(ctx context.Context, a settle.LateMoneyArgs) (bool, error) {
	pause, again := gateway.LivePause(a.Misses)
	if !again {
		return false, nil
	}
	at := s.deps.Clock.Now().Add(pause)
	a.Misses++
	return true, postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool,
		func(tx pgx.Tx) error { return s.deps.Settler.InsertLateTx(ctx, tx, a, at) })
}

// ConfirmLateMoney applies money as the gateway shows it. What it does not know, or shows
// as another's or unpaid, gives nothing; what it does not answer is asked again.
func (s *Reconciler) ConfirmLateMoney(ctx context.Context, a settle.LateMoneyArgs) error {
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, a.SubscriptionID)
	if err != nil {
		return err
	}
	reference := sub.ID
	charge, err := s.deps.Locator.ChargeOf(ctx, s.deps.Pool, gateway.Event{
		Gateway: gateway.GWA, Reference: a.ChargeID,
		Payload: gateway.SettledPayment{Payment: gateway.Payment{ID: a.PaymentID}},
	})
	if err != nil {
		return fmt.Errorf("read renewal charge: %w", err)
	}
	if charge != nil && charge.SubscriptionID == sub.ID {
		reference = charge.ID
	}
	remote, err := s.deps.Payments.ReadSettled(ctx, gateway.GWA, a.PaymentID, reference)
	if err == nil {
		err = s.confirmRecurrence(ctx, sub, remote.SubscriptionGatewayID)
	}
	if errors.Is(err, gateway.ErrMissing) {
		return s.retryConfirmation(ctx, a, err)
	}
	if err != nil {
		return fmt.Errorf("read late payment %s: %w", a.PaymentID, err)
	}
	untrue, err := s.untrueTwins(ctx, sub, remote)
	if err != nil {
		return fmt.Errorf("read what has paid the day of %s: %w", a.PaymentID, err)
	}
	if len(untrue) > 0 { // its answers may lag
		if again, err := s.retryLater(ctx, a); err != nil || again {
			return err
		}
	}
	if settledAt := a.SettledAt; settledAt != nil && remote.SettledAt != nil &&
		lifecycle.StartOfDay(*settledAt, s.deps.Config.Zone).Equal(lifecycle.StartOfDay(*remote.SettledAt,
			s.deps.Config.Zone)) {
		remote.SettledAt = settledAt
	}
	e := gateway.Event{
		Gateway: gateway.GWA, ID: a.EventID, Type: gateway.ReadLive, CreatedAt: s.deps.Clock.Now(),
		SubscriptionID: remote.SubscriptionGatewayID, AuthorizationID: a.AuthorizationID, Reference: reference,
		Payload: gateway.SettledPayment{Payment: remote},
	}
	if a.First {
		e.ConciliationID = nullable.Value(sub.PixConciliationID)
	}
	return postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		if err := s.uncountTx(ctx, tx, sub, untrue); err != nil {
			return err
		}
		result, err := s.deps.Applier.ApplyEventTx(ctx, tx, e)
		if err != nil {
			return err
		}
		return s.deps.Payments.FinishConfirmationTx(ctx, tx, gateway.GWA, a.EventID, result)
	})
}

// uncountTx takes payments out of what counts that gateway A does not show.
func (s *Reconciler) uncountTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, untrue []string) error {
	if len(untrue) == 0 {
		return nil
	}
	if _, err := s.deps.Store.LockTx(ctx, tx, sub.CustomerID, sub.ID); err != nil { // before its payments, as everybody
		return err
	}
	for _, id := range untrue {
		s.deps.Log.WarnContext(ctx, "payment that the gateway does not show counts no more",
			slog.String("subscription_id", sub.ID.String()), slog.String("payment_id", id))
		if err := s.deps.Payments.Cases().UncountUnshownTx(ctx, tx, gateway.GWA, id); err != nil {
			return err
		}
	}
	return nil
}

// finishConfirmation tells in the log of an event, which only had the gateway asked, what came of
// it: why it changed nothing, "" when it was applied.
func (s *Reconciler) finishConfirmation(ctx context.Context, gw gateway.Name, event string, id objectid.ID,
	ignored gateway.Reason,
) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		sub, err := s.db.SubscriptionGet(ctx, tx, id)
		if err != nil {
			return fmt.Errorf("read subscription: %w", err)
		}
		r := gateway.Result{
			Status: gateway.ResultApplied, SubscriptionID: &sub.ID, NewStatus: new(string(sub.Status)), Reason: ignored,
		}
		if ignored != "" {
			r.Status = gateway.ResultIgnored
		}
		return s.deps.Payments.FinishConfirmationTx(ctx, tx, gw, event, r)
	})
}

// confirmRecurrence reads a recurrence that the subscription does not know as its own: a
// charge of it need not carry our reference, the recurrence has to.
func (s *Reconciler) confirmRecurrence(ctx context.Context, sub lifecycle.Row, recurrence string) error {
	if recurrence == "" || recurrence == lifecycle.RemoteID(sub) {
		return nil
	}
	gateway, err := s.deps.Payments.Gateway(gateway.GWA)
	if err != nil {
		return err
	}
	_, err = gateway.ReadSubscription(ctx, recurrence, sub.ID)
	return err
}

// untrueTwins reads the payments that have paid the day of a charge, and of which only an
// event has told: those that gateway A does not show are returned.
func (s *Reconciler) untrueTwins(ctx context.Context, sub lifecycle.Row, p gateway.Payment) ([]string, error) {
	if sub.Status.Ended() || sub.PaymentMethod == gateway.MethodPix {
		return nil, nil
	}
	twins, err := s.deps.Payments.PaidFor(ctx, s.deps.Pool, gateway.GWA, sub.ID, p)
	if err != nil {
		return nil, err
	}
	var untrue []string
	for _, t := range twins {
		confirmed := t.Confirmed
		if !confirmed {
			if confirmed, err = s.deps.Payments.Comparison().IsConfirmed(ctx, gateway.GWA, t.PaymentID); err != nil {
				return nil, err
			}
		}
		if !confirmed {
			untrue = append(untrue, t.PaymentID)
		}
	}
	return untrue, nil
}
