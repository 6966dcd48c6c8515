package ledger

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/postgres"
)

// FindPayment finds the ledger's row of a gateway payment by any of its ids:
// payment, invoice or payment intent. Nil when the ledger has none.
func (s *Reader) FindPayment(ctx context.Context, db postgres.DB, gateway gateway.Name, ids ...string) (*gateway.LedgerPayment, error) {
	known := []string{}
	for _, id := range ids {
		if id != "" {
			known = append(known, id)
		}
	}
	if len(known) == 0 {
		return nil, nil //nolint:nilnil // nil is the answer: no row
	}
	row, err := s.db.PaymentByGatewayID(ctx, db, paymentsdb.PaymentByGatewayIDParams{Gateway: gateway, Ids: known})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // as above
	}
	if err != nil {
		return nil, err
	}
	return new(ledgerPayment(row)), nil
}

// KnownPayment is the ledger's row of the payment that the event is about. Of
// settled payments there is none yet, or the applier finds it by recording.
func (s *Reader) KnownPayment(ctx context.Context, db postgres.DB, e gateway.Event) (*gateway.LedgerPayment, error) {
	if _, settled := e.Payload.(gateway.SettledPayment); settled {
		return nil, nil //nolint:nilnil // not asked for
	}
	return s.FindPayment(ctx, db, e.Gateway, e.PaymentIDs()...)
}
