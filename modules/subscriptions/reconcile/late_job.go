package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// ConfirmLateMoney applies money as the gateway shows it. What it does not know, or shows
// as another's or unpaid, gives nothing; what it does not answer is asked again.
func (s *Reconciler) ConfirmLateMoney(ctx context.Context, a settle.LateMoneyArgs) error {
	a.Gateway = cmp.Or(a.Gateway, gateway.Unsigned()[0])
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, a.SubscriptionID)
	if err != nil {
		return err
	}
	again := a
	again.Misses++
	var untrue []string
	return s.deps.Payments.Confirm(ctx, payments.Confirmation{
		Gateway: a.Gateway, EventID: a.EventID, Misses: a.Misses, Again: again,
		Read: func(ctx context.Context, last bool) (e gateway.Event, err error) {
			if e, err = s.readLate(ctx, sub, a); err != nil {
				return e, err
			}
			paid, _ := e.Payment()
			if untrue, err = s.untrueTwins(ctx, sub, a.Gateway, paid); err != nil {
				return e, fmt.Errorf("read what has paid the day of %s: %w", a.PaymentID, err)
			}
			if len(untrue) > 0 && !last { // its answers may lag
				return e, gateway.ErrMissing
			}
			return e, nil
		},
		ApplyTx: func(ctx context.Context, tx pgx.Tx, live gateway.Event) (gateway.Result, error) {
			if err := s.uncountTx(ctx, tx, sub, a.Gateway, untrue); err != nil {
				return gateway.Result{}, err
			}
			return s.deps.Applier.ApplyEventTx(ctx, tx, live)
		},
		GivenUpTx: func(ctx context.Context, tx pgx.Tx, why error) (gateway.Result, error) {
			s.deps.Log.WarnContext(ctx, "money that the gateway does not confirm gives nothing",
				slog.String("subscription_id", sub.ID.String()),
				slog.String("payment_id", a.PaymentID), slog.Any("error", why))
			return s.resultTx(ctx, tx, sub.ID, gateway.ReasonUnconfirmed)
		},
	})
}

// readLate reads late money as an event. It is our id's, or that of the code for a further period
// which it names; a recurrence that charged it has to be the subscription's.
func (s *Reconciler) readLate(ctx context.Context, sub lifecycle.Subscription,
	a settle.LateMoneyArgs,
) (gateway.Event, error) {
	e := gateway.Event{
		Gateway: a.Gateway, ID: a.EventID, Type: gateway.ReadLive, CreatedAt: s.deps.Clock.Now(),
		AuthorizationID: a.AuthorizationID, Reference: sub.ID,
	}
	charge, err := s.deps.Locator.ChargeOf(ctx, s.deps.Pool, gateway.Event{
		Gateway: a.Gateway, Reference: a.ChargeID,
		Payload: gateway.SettledPayment{Payment: gateway.Payment{ID: a.PaymentID}},
	})
	if err != nil {
		return e, fmt.Errorf("read renewal charge: %w", err)
	}
	if charge != nil && charge.SubscriptionID == sub.ID {
		e.Reference = charge.ID
	}
	remote, err := s.deps.Payments.ReadSettled(ctx, a.Gateway, a.PaymentID, e.Reference)
	if err == nil {
		err = s.confirmRecurrence(ctx, sub, a.Gateway, remote.SubscriptionGatewayID)
	}
	if err != nil {
		return e, fmt.Errorf("read late payment %s: %w", a.PaymentID, err)
	}
	if told := a.SettledAt; told != nil && remote.SettledAt != nil &&
		lifecycle.StartOfDay(*told, s.deps.Config.Zone).Equal(lifecycle.StartOfDay(*remote.SettledAt,
			s.deps.Config.Zone)) {
		remote.SettledAt = told
	}
	e.SubscriptionID, e.Payload = remote.SubscriptionGatewayID, gateway.SettledPayment{Payment: remote}
	if a.First {
		e.ConciliationID = nullable.Value(sub.PixConciliationID)
	}
	return e, nil
}

// uncountTx takes payments out of what counts that the gateway does not show.
func (s *Reconciler) uncountTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, gw gateway.Name,
	untrue []string,
) error {
	if len(untrue) == 0 {
		return nil
	}
	if _, err := s.deps.Store.LockTx(ctx, tx, sub.CustomerID, sub.ID); err != nil { // before its payments, as everybody
		return err
	}
	for _, id := range untrue {
		s.deps.Log.WarnContext(ctx, "payment that the gateway does not show counts no more",
			slog.String("subscription_id", sub.ID.String()), slog.String("payment_id", id))
		if err := s.deps.Payments.Cases().UncountUnshownTx(ctx, tx, gw, id); err != nil {
			return err
		}
	}
	return nil
}

// finishConfirmation tells in the log of an event, which only had the gateway asked, what came of
// it: why it changed nothing, "" when it was applied.
func (s *Reconciler) finishConfirmation(ctx context.Context, sub lifecycle.Subscription, event string,
	ignored gateway.Reason,
) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		r, err := s.resultTx(ctx, tx, sub.ID, ignored)
		if err != nil {
			return err
		}
		return s.deps.Payments.FinishConfirmationTx(ctx, tx, sub.Gateway, event, r)
	})
}

func (s *Reconciler) resultTx(ctx context.Context, tx pgx.Tx, id objectid.ID,
	ignored gateway.Reason,
) (gateway.Result, error) {
	sub, err := s.db.SubscriptionGet(ctx, tx, id)
	if err != nil {
		return gateway.Result{}, fmt.Errorf("read subscription: %w", err)
	}
	r := gateway.Result{
		Status: gateway.ResultApplied, SubscriptionID: &sub.ID, NewStatus: new(string(sub.Status)), Reason: ignored,
	}
	if ignored != "" {
		r.Status = gateway.ResultIgnored
	}
	return r, nil
}

// confirmRecurrence reads a recurrence that the subscription does not know as its own: a
// charge of it need not carry our reference, the recurrence has to.
func (s *Reconciler) confirmRecurrence(ctx context.Context, sub lifecycle.Subscription, name gateway.Name,
	recurrence string,
) error {
	if recurrence == "" || recurrence == sub.RemoteID() {
		return nil
	}
	gw, err := s.deps.Payments.Gateway(name)
	if err != nil {
		return err
	}
	_, err = gw.ReadSubscription(ctx, recurrence, sub.ID)
	return err
}

// untrueTwins reads the payments that have paid the day of a charge, and of which only an
// event has told: those that the gateway does not show are returned.
func (s *Reconciler) untrueTwins(ctx context.Context, sub lifecycle.Subscription, gw gateway.Name,
	p gateway.Payment,
) ([]string, error) {
	if sub.Status.Ended() || sub.PaymentMethod == gateway.MethodPix {
		return nil, nil
	}
	twins, err := s.deps.Payments.PaidFor(ctx, s.deps.Pool, gw, sub.ID, p)
	if err != nil {
		return nil, err
	}
	var untrue []string
	for _, t := range twins {
		confirmed := t.Confirmed
		if !confirmed {
			if confirmed, err = s.deps.Payments.Comparison().IsConfirmed(ctx, gw, t.PaymentID); err != nil {
				return nil, err
			}
		}
		if !confirmed {
			untrue = append(untrue, t.PaymentID)
		}
	}
	return untrue, nil
}
