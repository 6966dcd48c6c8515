package webhooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// LiveMoneyArgs reads live what a webhook of gateway A reports of an order's money, unless
// it is the payment made for the order, at its price.
type LiveMoneyArgs struct {
	OrderID   objectid.ID `json:"order_id"`
	PaymentID string      `json:"payment_id"`
	EventID   string      `json:"event_id"`
	Misses    int         `json:"misses,omitempty"` // looks that did not find it paid
}

// Kind names the job.
func (LiveMoneyArgs) Kind() string { return "tickets_live_money" }

func (s *Applier) insertLiveTx(ctx context.Context, tx pgx.Tx, a LiveMoneyArgs, at time.Time) error {
	_, err := s.deps.Jobs.InsertTx(ctx, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway, ScheduledAt: at})
	if err != nil {
		return fmt.Errorf("have money of an order read: %w", err)
	}
	return nil
}

// ConfirmLiveMoney applies money of an order as the gateway shows it. What it does not
// know, or shows as unpaid, gives nothing; what it does not answer is asked again.
func (s *Applier) ConfirmLiveMoney(ctx context.Context, a LiveMoneyArgs) error {
	known, err := s.deps.Payments.FindPayment(ctx, s.deps.Pool, gateway.GWA, a.PaymentID)
	if err != nil || known != nil {
		return cmp.Or(err, s.finishConfirmation(ctx, a,
			gateway.Result{Status: gateway.ResultApplied})) // the answer to the purchase was faster
	}
	p, err := s.deps.Payments.ReadSettled(ctx, gateway.GWA, a.PaymentID, a.OrderID)
	if errors.Is(err, gateway.ErrMissing) {
		return s.retryConfirmation(ctx, a, err)
	}
	if err != nil {
		return fmt.Errorf("read payment %s: %w", a.PaymentID, err)
	}
	return postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		result, err := s.ApplyEventTx(ctx, tx, gateway.Event{
			Gateway: gateway.GWA, ID: a.EventID, Type: gateway.ReadLive, CreatedAt: s.deps.Clock.Now(),
			Reference: a.OrderID, Payload: gateway.SettledPayment{Payment: p},
		})
		if err != nil {
			return err
		}
		return s.deps.Payments.FinishConfirmationTx(ctx, tx, gateway.GWA, a.EventID, result)
	})
}

// finishConfirmation tells in the webhook's log what came of asking the gateway.
func (s *Applier) finishConfirmation(ctx context.Context, a LiveMoneyArgs, r gateway.Result) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		return s.deps.Payments.FinishConfirmationTx(ctx, tx, gateway.GWA, a.EventID, r)
	})
}

// retryConfirmation has a payment looked for once more, unless this was the last look.
func (s *Applier) retryConfirmation(ctx context.Context, a LiveMoneyArgs, why error) error {
	pause, again := gateway.LivePause(a.Misses)
	if !again {
		s.deps.Log.WarnContext(ctx, "money of an order that the gateway does not confirm gives nothing",
			slog.String("order_id", a.OrderID.String()),
			slog.String("payment_id", a.PaymentID), slog.Any("error", why))
		return s.finishConfirmation(ctx, a, gateway.Result{
			Status: gateway.ResultIgnored, Reason: gateway.ReasonNotAsIsTold,
		})
	}
	at := s.deps.Clock.Now().Add(pause)
	a.Misses++
	return postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool,
		func(tx pgx.Tx) error { return s.insertLiveTx(ctx, tx, a, at) })
}
