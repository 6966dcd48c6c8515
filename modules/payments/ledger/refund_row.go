package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// IntentOf names the intent of a refund that was asked for here.
func IntentOf(id objectid.ID) intent.Ref { return intent.Ref{Kind: intent.Refund, Subject: id} }

// LeftOf is what has neither been given back nor is on its way.
func LeftOf(paid money.Cents, rows []*Refund) money.Cents {
	for _, row := range rows {
		if row.Status != gateway.RefundFailed {
			paid -= row.Amount
		}
	}
	return paid
}

// RefundsOfPayment are the refunds of a payment, by the key that it has among refunds.
func (s *Reader) RefundsOfPayment(ctx context.Context, db postgres.DB, gateway gateway.Name, key string) ([]*Refund, error) {
	found, err := s.db.RefundListOfPayment(ctx, db, paymentsdb.RefundListOfPaymentParams{Gateway: gateway, PaymentRef: key})
	if err != nil {
		return nil, fmt.Errorf("read refunds: %w", err)
	}
	rows := make([]*Refund, len(found))
	for i, row := range found {
		rows[i] = new(RefundOf(row))
	}
	return rows, nil
}

// InsertRefundTx writes the row of a refund that is asked for.
func (s *Ledger) InsertRefundTx(ctx context.Context, tx pgx.Tx, r Refund) error {
	source := state.ByAdmin
	if r.AdminID == nil && r.Admin == "" {
		source = state.ByPlatform
	}
	return s.db.RefundInsert(ctx, tx, paymentsdb.RefundInsertParams{
		ID: r.ID, Gateway: r.Gateway, PaymentRef: r.PaymentID, Purpose: r.Purpose, LocalID: r.LocalID, CustomerID: r.CustomerID,
		AmountCents: int64(r.Amount), Kind: state.RefundByUs, Status: r.Status, Source: source, EventID: r.EventID, EventType: r.EventType,
		Reason: Filled(r.Reason), Admin: Filled(r.Admin), AdminID: r.AdminID, RequestedAt: r.RequestedAt, At: r.RequestedAt,
	})
}

// FailRefundTx marks a request that came to nothing, and why.
func (s *Ledger) FailRefundTx(ctx context.Context, tx pgx.Tx, id objectid.ID, amount money.Cents, failure string) error {
	return s.db.RefundUpdate(ctx, tx, paymentsdb.RefundUpdateParams{
		ID: id, AmountCents: int64(amount), Status: gateway.RefundFailed, Failure: Filled(failure), At: s.deps.Clock.Now(),
	})
}
