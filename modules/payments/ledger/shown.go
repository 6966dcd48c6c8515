package ledger

import (
	"context"
	"fmt"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// PaidFor is a payment that paid for a day.
type PaidFor struct {
	PaymentID string
	Shown     bool // the gateway showed it, once it was asked
}

// PaidFor lists the other payments of a subscription that count, that gateway A charged for
// the same day (Payment.MadeFor), and of which something is left.
func (s *Reader) PaidFor(ctx context.Context, db postgres.DB, gateway gateway.Name, subscription objectid.ID, p gateway.Payment) ([]PaidFor, error) {
	if p.MadeFor == nil {
		return nil, nil
	}
	rows, err := s.db.PaymentPaidFor(ctx, db, paymentsdb.PaymentPaidForParams{LocalID: subscription, Gateway: gateway, DueAt: *p.MadeFor, GatewayPaymentID: p.ID})
	if err != nil {
		return nil, fmt.Errorf("read what was paid for %s: %w", p.MadeFor.Format(time.DateOnly), err)
	}
	all := make([]PaidFor, len(rows))
	for i, row := range rows {
		all[i] = PaidFor{PaymentID: row.GatewayPaymentID, Shown: row.IsShown}
	}
	return all, nil
}
