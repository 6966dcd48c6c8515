package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/money"
	"marquee/platform/postgres"
)

// reconcileTold compares the payments that are booked here since, and that only an event
// has told: what gateway A does not show as paid is listed for people. Listed are the ids
// of those that the lists of the gateway have shown.
func (s *Reconciler) reconcileTold(ctx context.Context, gw gateway.Adapter, o Options, listed map[string]bool, report *Report) error {
	if gw.Name().Traits().SignsEvents {
		return nil
	}
	rows, err := s.db.PaymentListToldSince(ctx, s.deps.Pool, paymentsdb.PaymentListToldSinceParams{Gateway: gw.Name(), Since: o.Since})
	if err != nil {
		return fmt.Errorf("list booked payments: %w", err)
	}
	var failed error
	for _, row := range rows {
		if listed[row.GatewayPaymentID] {
			continue
		}
		if err := s.Pace(ctx, gw.Name()); err != nil {
			return errors.Join(failed, err)
		}
		shown, err := s.shows(ctx, gw, []gateway.Event{gateway.BookedPayment(s.deps.Clock.Now(), row.GatewayPaymentID)})
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("read %s, which is booked: %w", row.GatewayPaymentID, err))
			continue
		}
		if shown {
			continue
		}
		f := Finding{
			Gateway: gw.Name(), Kind: UnshownPayment, ID: row.GatewayPaymentID, LocalID: row.LocalID, Amount: money.Cents(row.AmountCents), Verdict: Unknown,
			Detail: "booked here, not shown there as paid",
		}
		s.tell(ctx, f)
		report.Add(f)
		if !o.DryRun {
			failed = errors.Join(failed, postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.cases.ListUnshownTx(ctx, tx, row) }))
		}
	}
	return failed
}
