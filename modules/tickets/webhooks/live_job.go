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
	"marquee/modules/tickets/orders"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// LiveMoneyArgs reads live what a webhook of gateway A tells of an order's money and is not
// the payment that was made for the order, of its price.
type LiveMoneyArgs struct {
	OrderID   objectid.ID `json:"order_id"`
	PaymentID string      `json:"payment_id"`
	EventID   string      `json:"event_id"`
	Misses    int         `json:"misses,omitempty"` // looks that did not find it paid
}

// Kind names the job.
func (LiveMoneyArgs) Kind() string { return "tickets_live_money" }

// asksLiveTx has money that the event alone does not prove be read from the gateway, by
// job: until then nothing is booked, and no ticket is issued. What the ledger has is not
// asked for again.
func (s *Applier) asksLiveTx(ctx context.Context, tx pgx.Tx, o orders.Order, e gateway.Event) (bool, error) {
	told, settled := e.Payload.(gateway.SettledPayment)
	if !settled || e.IsProof() {
		return false, nil
	}
	p := told.Payment
	ordered := postgres.Text(o.Gateway) == e.Gateway && postgres.Text(o.GatewayPaymentID) == p.ID && int64(p.Amount) == o.TotalCents
	if ordered {
		return false, nil
	}
	known, err := s.payments.FindPayment(ctx, tx, e.Gateway, p.ID)
	if err != nil || known != nil {
		return false, err
	}
	return true, s.insertLiveTx(ctx, tx, LiveMoneyArgs{OrderID: o.ID, PaymentID: p.ID, EventID: e.ID}, time.Time{})
}

func (s *Applier) insertLiveTx(ctx context.Context, tx pgx.Tx, a LiveMoneyArgs, at time.Time) error {
	_, err := s.jobs.InsertTx(ctx, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway, ScheduledAt: at})
	if err != nil {
		return fmt.Errorf("have money of an order read: %w", err)
	}
	return nil
}

// ConfirmLiveMoney applies money of an order as the gateway shows it. What it does not
// know, or shows as unpaid, gives nothing; what it does not answer is asked again.
func (s *Applier) ConfirmLiveMoney(ctx context.Context, a LiveMoneyArgs) error {
	known, err := s.payments.FindPayment(ctx, s.pool, gateway.GWA, a.PaymentID)
	if err != nil || known != nil {
		return cmp.Or(err, s.finishAsked(ctx, a, gateway.Result{Status: gateway.ResultApplied})) // the answer to the purchase was faster
	}
	p, err := s.payments.ReadSettled(ctx, gateway.GWA, a.PaymentID, a.OrderID)
	if errors.Is(err, gateway.ErrMissing) {
		return s.lookLater(ctx, a, err)
	}
	if err != nil {
		return fmt.Errorf("read payment %s: %w", a.PaymentID, err)
	}
	return postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		result, err := s.ApplyEventTx(ctx, tx, gateway.Event{
			Gateway: gateway.GWA, ID: a.EventID, Type: gateway.ReadLive, CreatedAt: s.clock.Now(),
			Reference: a.OrderID, Payload: gateway.SettledPayment{Payment: p},
		})
		if err != nil {
			return err
		}
		return s.payments.FinishAskedTx(ctx, tx, gateway.GWA, a.EventID, result)
	})
}

// finishAsked tells in the webhook's log what came of asking the gateway.
func (s *Applier) finishAsked(ctx context.Context, a LiveMoneyArgs, r gateway.Result) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error {
		return s.payments.FinishAskedTx(ctx, tx, gateway.GWA, a.EventID, r)
	})
}

// lookLater has a payment looked for once more, unless this was the last look.
func (s *Applier) lookLater(ctx context.Context, a LiveMoneyArgs, why error) error {
	pause, again := gateway.LivePause(a.Misses)
	if !again {
		s.log.WarnContext(ctx, "money of an order that the gateway does not confirm gives nothing", slog.String("order_id", a.OrderID.String()),
			slog.String("payment_id", a.PaymentID), slog.Any("error", why))
		return s.finishAsked(ctx, a, gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonNotAsIsTold})
	}
	at := s.clock.Now().Add(pause)
	a.Misses++
	return postgres.InTx(context.WithoutCancel(ctx), s.pool, func(tx pgx.Tx) error { return s.insertLiveTx(ctx, tx, a, at) })
}
