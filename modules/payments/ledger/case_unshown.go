package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/money"
)

// unshownNote is what people are told of money that is booked and that its gateway does
// not show.
const unshownNote = "An event alone told that it was paid: the gateway does not show it so."

// UncountUnshownTx takes a payment that its gateway does not show out of what counts, and
// lists it for people. The ledger keeps it.
func (s *Cases) UncountUnshownTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, paymentID string) error {
	row, err := s.db.PaymentUncount(ctx, tx, paymentsdb.PaymentUncountParams{Gateway: gateway, GatewayPaymentID: paymentID, At: s.deps.Clock.Now()})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("take payment %s out of what counts: %w", paymentID, err)
	}
	return s.ListUnshownTx(ctx, tx, row)
}

// ListUnshownTx lists a booked payment that its gateway does not show, for people to decide.
func (s *Cases) ListUnshownTx(ctx context.Context, tx pgx.Tx, row paymentsdb.PaymentsPayment) error {
	u := Unapplied{
		Kind: state.UnappliedUnknown, Gateway: row.Gateway, PaymentID: row.GatewayPaymentID, Amount: new(money.Cents(row.AmountCents)),
		CustomerID: row.CustomerID, PaidAt: &row.SettledAt, Note: unshownNote,
	}
	if row.Purpose == gateway.ForOrder {
		u.OrderID = row.LocalID
	} else {
		u.SubscriptionID = row.LocalID
	}
	_, err := s.RecordUnappliedTx(ctx, tx, u)
	return err
}

// toldAgainTx has the gateway asked for a payment that waits on the list since an event
// alone had told it: it was told once more.
func (s *Cases) toldAgainTx(ctx context.Context, tx pgx.Tx, gw gateway.Name, paymentID string) error {
	id, err := s.db.UnappliedToldAgain(ctx, tx, paymentsdb.UnappliedToldAgainParams{Gateway: gw, Subject: paymentID})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("have unapplied payment %s asked for: %w", paymentID, err)
	}
	return s.insertJobTx(ctx, tx, id)
}
