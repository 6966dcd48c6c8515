package webhooks

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// LiveMoneyArgs reads live what a webhook that is not signed reports of an order's money, unless
// it is the payment made for the order, at its price.
type LiveMoneyArgs struct {
	Gateway   gateway.Name `json:"gateway,omitempty"` // "" of the releases that queued none
	OrderID   objectid.ID  `json:"order_id"`
	PaymentID string       `json:"payment_id"`
	EventID   string       `json:"event_id"`
	Misses    int          `json:"misses,omitempty"` // checks that did not find it paid
}

// Kind names the job.
func (LiveMoneyArgs) Kind() string { return "tickets_live_money" }

func (s *Applier) insertLiveTx(ctx context.Context, tx pgx.Tx, a LiveMoneyArgs) error {
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway})
}

// ConfirmLiveMoney applies money of an order as the gateway shows it. What it does not
// know, or shows as unpaid, gives nothing; what it does not answer is asked again.
func (s *Applier) ConfirmLiveMoney(ctx context.Context, a LiveMoneyArgs) error {
	a.Gateway = cmp.Or(a.Gateway, gateway.Unsigned()[0])
	again := a
	again.Misses++
	var known *gateway.LedgerPayment
	return s.deps.Payments.Confirm(ctx, payments.Confirmation{
		Gateway: a.Gateway, EventID: a.EventID, Misses: a.Misses, Again: again,
		Read: func(ctx context.Context, _ bool) (e gateway.Event, err error) {
			known, err = s.deps.Payments.FindPayment(ctx, s.deps.Pool, a.Gateway, a.PaymentID)
			if err != nil || known != nil {
				return e, err
			}
			p, err := s.deps.Payments.ReadSettled(ctx, a.Gateway, a.PaymentID, a.OrderID)
			return gateway.Event{
				Gateway: a.Gateway, ID: a.EventID, Type: gateway.ReadLive, CreatedAt: s.deps.Clock.Now(),
				Reference: a.OrderID, Payload: gateway.SettledPayment{Payment: p},
			}, err
		},
		ApplyTx: func(ctx context.Context, tx pgx.Tx, live gateway.Event) (gateway.Result, error) {
			if known != nil { // the answer to the purchase was faster
				return gateway.Result{Status: gateway.ResultApplied}, nil
			}
			return s.ApplyEventTx(ctx, tx, live)
		},
		GivenUpTx: func(ctx context.Context, _ pgx.Tx, why error) (gateway.Result, error) {
			s.deps.Log.WarnContext(ctx, "money of an order that the gateway does not confirm gives nothing",
				slog.String("order_id", a.OrderID.String()),
				slog.String("payment_id", a.PaymentID), slog.Any("error", why))
			return gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonUnconfirmed}, nil
		},
	})
}
