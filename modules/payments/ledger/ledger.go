package ledger

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
)

// Deps is what the room needs.
type Deps struct {
	Pool    postgres.Pool
	Jobs    *jobs.Client
	Clock   clock.Clock
	Log     *slog.Logger
	Intents *intent.Service
	// Accounts has the audit trail of what the platform decides, and whose money it is that
	// nothing here knows. Nil: none is written, and it is nobody's.
	Accounts *accounts.Service
}

// Reader reads the ledgers and the list, and changes neither.
type Reader struct {
	deps Deps
	db   *paymentsdb.Queries
}

// NewReader makes it.
func NewReader(d Deps) *Reader { return &Reader{deps: d, db: paymentsdb.New()} }

// Cases is the list of money that gave nobody anything: what is put on it, and the one way
// in which a case changes its state.
type Cases struct {
	deps   Deps
	db     *paymentsdb.Queries
	reader *Reader
}

// NewCases makes it.
func NewCases(d Deps, r *Reader) *Cases { return &Cases{deps: d, db: paymentsdb.New(), reader: r} }

// Ledger writes the ledgers; what they make of a case on the list follows in the same
// transaction. Its methods are for the modules above, too; what the rooms alone may do are functions beside it.
type Ledger struct {
	deps   Deps
	db     *paymentsdb.Queries
	reader *Reader
	cases  *Cases
}

// New makes it.
func New(d Deps, r *Reader, c *Cases) *Ledger {
	return &Ledger{deps: d, db: paymentsdb.New(), reader: r, cases: c}
}

// LockMoneyTx holds the money of the payment that has one of the names until the
// transaction ends. Whatever takes of it, a refund, a chargeback that an admin enters, or
// a gateway's report of either, locks it before it reads what is left: of two at once the
// second sees what the first took. Lock order: the customer and the subscription before
// it; orders, events, cases and intents after it. A deadlock with who locks otherwise is the database's
// error, and the transaction is made again.
func (s *Ledger) LockMoneyTx(ctx context.Context, tx pgx.Tx, on gateway.Name, names ...string) error {
	err := s.db.MoneyLock(ctx, tx, paymentsdb.MoneyLockParams{Gateway: string(on), Names: names})
	if err != nil {
		return fmt.Errorf("lock the payment's money: %w", err)
	}
	return nil
}

// LockRefundsTx locks the money of a payment and gives its refunds. Errors are as of LockMoneyTx.
func LockRefundsTx(ctx context.Context, tx pgx.Tx, s *Ledger, on gateway.Name, paymentID string) ([]*Refund, error) {
	if err := s.LockMoneyTx(ctx, tx, on, paymentID); err != nil {
		return nil, err
	}
	return s.reader.RefundsOfPayment(ctx, tx, on, paymentID)
}
