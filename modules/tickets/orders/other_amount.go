package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/tickets/state"
	"marquee/platform/money"
	"marquee/platform/postgres"
)

// isOtherAmount reports whether money is not the order's price, at a gateway where what was
// asked for may be changed.
func isOtherAmount(o Order, p gateway.Payment) bool {
	return postgres.Text(o.Gateway).Traits().AmountsMayChange && p.Status == gateway.PaymentSettled && int64(p.Amount) != o.TotalCents
}

// keepOtherAmountTx books and lists it: it buys nothing, and people decide. Where it paid
// the order's own charge nobody can pay that any more, and the places are free again.
func (s *Store) keepOtherAmountTx(ctx context.Context, tx pgx.Tx, o *Order, p gateway.Payment) error {
	first, err := s.payments.RecordPaymentTx(ctx, tx, payments.Record{
		Gateway: postgres.Text(o.Gateway), Purpose: gateway.ForOrder, LocalID: o.ID, CustomerID: o.CustomerID, Payment: p,
	})
	if err != nil {
		return fmt.Errorf("record payment: %w", err)
	}
	if first {
		note := fmt.Sprintf("R$ %s were paid where R$ %s are asked for.", p.Amount, money.Cents(o.TotalCents))
		if err := s.ListUnappliedTx(ctx, tx, *o, p, payments.UnappliedForeign, note); err != nil {
			return err
		}
	}
	if postgres.Text(o.GatewayPaymentID) != p.ID || o.State != state.Reserved {
		return nil
	}
	return s.GiveBackTx(ctx, tx, o, Made{RanOut: true}, End{How: Succeeded{}, By: intent.ByAnswer})
}
