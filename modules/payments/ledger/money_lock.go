package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
)

// LockMoneyTx holds the money of the payment that has one of the names until the
// transaction ends. Whatever takes of it, a refund, a chargeback that an admin enters, or
// a gateway's report of either, locks it before it reads what is left: of two at once the
// second sees what the first took. Lock order: the customer and the subscription before
// it; orders, events, cases and intents after it.
func (s *Ledger) LockMoneyTx(ctx context.Context, tx pgx.Tx, on gateway.Name, names ...string) error {
	err := s.db.MoneyLock(ctx, tx, paymentsdb.MoneyLockParams{Gateway: string(on), Names: names})
	if err != nil {
		return fmt.Errorf("lock the payment's money: %w", err)
	}
	return nil
}

// LockRefundsTx locks the money of a payment and gives its refunds.
func (s *Ledger) LockRefundsTx(ctx context.Context, tx pgx.Tx, on gateway.Name, paymentID string) ([]*Refund, error) {
	if err := s.LockMoneyTx(ctx, tx, on, paymentID); err != nil {
		return nil, err
	}
	return s.reader.RefundsOfPayment(ctx, tx, on, paymentID)
}
