package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/state"
	"marquee/platform/objectid"
)

// ListOfCustomerTx books money of a customer that is of no subscription and no order, and
// lists it as foreign: for people to decide, or to be given back by itself. The payment was
// read live.
func (s *Ledger) ListOfCustomerTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, customer objectid.ID, p gateway.Payment, note string, automatic bool) error {
	if err := s.BookOfCustomerTx(ctx, tx, gateway, customer, p); err != nil {
		return err
	}
	_, err := s.cases.RecordUnappliedTx(ctx, tx, Unapplied{
		Kind: state.UnappliedForeign, Gateway: gateway, PaymentID: p.ID, Amount: &p.Amount, CustomerID: customer, PaidAt: p.SettledAt, Note: note,
		Automatic: automatic,
	})
	return err
}

// BookOfCustomerTx books money of a customer that is of no subscription and no order.
func (s *Ledger) BookOfCustomerTx(ctx context.Context, tx pgx.Tx, name gateway.Name, customer objectid.ID, p gateway.Payment) error {
	_, err := s.RecordPaymentTx(ctx, tx, Record{Gateway: name, Purpose: gateway.ForCustomer, LocalID: customer, CustomerID: customer, Payment: p})
	if err != nil {
		return fmt.Errorf("book payment %s of customer %s: %w", p.ID, customer, err)
	}
	return nil
}
