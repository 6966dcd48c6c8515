package unapplied

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/state"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// bookedOf is the ledger's row of an unapplied payment. What was listed without one, as
// money that reconciliation could not place, is read live and booked for its customer
// first, or, where nobody knows them, for the id of ours that it names: 409 when it is
// decided, when it names nothing, or when the gateway does not show it as it is listed.
func (s *List) bookedOf(ctx context.Context, u paymentsdb.PaymentsUnappliedPayment) (gateway.LedgerPayment, error) {
	name, id := u.Gateway, nullable.Value(u.GatewayPaymentID)
	paid, err := s.reader.FindPayment(ctx, s.deps.Pool, name, id)
	switch {
	case err != nil:
		return gateway.LedgerPayment{}, err
	case paid != nil:
		return *paid, nil
	case u.State != state.UnappliedOpen:
		return gateway.LedgerPayment{}, errDecided(u.State)
	case id == "" || u.CustomerID == nil && u.Reference == nil || s.deps.Accounts == nil:
		return gateway.LedgerPayment{}, errNoPayment()
	}
	named := objectid.ID("")
	if u.CustomerID == nil {
		named = *u.Reference
	}
	call, cancel := context.WithTimeout(ctx, unappliedCallTime)
	defer cancel()
	live, err := s.deps.Gateways.ReadSettled(call, name, id, named)
	if errors.Is(err, gateway.ErrMissing) {
		return gateway.LedgerPayment{},
			fault.Conflict("The gateway does not show the payment as paid: it can only be kept.").WithCause(err)
	}
	if err != nil {
		return gateway.LedgerPayment{}, s.refunds.Refused(ctx, "read unapplied payment", err)
	}
	owner, err := s.deps.Accounts.CustomerOfGateway(ctx, s.deps.Pool, string(u.Gateway), live.CustomerGatewayID)
	if err != nil {
		return gateway.LedgerPayment{}, fmt.Errorf("find the customer of %s: %w", id, err)
	}
	if owner == "" && u.CustomerID != nil { // gateway B tells whom of ours it took it of
		owner = live.LocalCustomerID
	}
	if owner == "" && named != "" {
		owner = named
	}
	if live.ID != id || u.CustomerID != nil && owner != *u.CustomerID ||
		u.AmountCents != nil && live.Amount != money.Cents(*u.AmountCents) {
		return gateway.LedgerPayment{},
			fault.Conflict("The gateway shows another payment than the one that is listed: it can only be kept.")
	}
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		_, err := s.ledger.RecordPaymentTx(ctx, tx,
			ledger.Record{Owner: gateway.OfCustomer(name, owner), Payment: live})
		return err
	})
	if err != nil {
		return gateway.LedgerPayment{}, fmt.Errorf("book payment %s of customer %s: %w", id, owner, err)
	}
	if paid, err = s.reader.FindPayment(ctx, s.deps.Pool, name, id); err == nil && paid == nil {
		err = fmt.Errorf("payments: %s was booked and is not in the ledger", id)
	}
	if err != nil {
		return gateway.LedgerPayment{}, err
	}
	return *paid, nil
}
