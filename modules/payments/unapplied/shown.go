package unapplied

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/platform/fault"
)

// IsShown asks the gateway for a payment that is booked. One that was paid there, whatever
// has become of it since, is read no more.
func (s *List) IsShown(ctx context.Context, name gateway.Name, paymentID string) (bool, error) {
	gw, err := s.deps.Gateways.Find(name)
	if err != nil {
		return false, err
	}
	live, err := gw.Confirm(gateway.Background(ctx), gateway.BookedPayment(s.deps.Clock.Now(), paymentID))
	if errors.Is(err, gateway.ErrMissing) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read payment %s: %w", paymentID, err)
	}
	err = s.db.PaymentShown(context.WithoutCancel(ctx), s.deps.Pool, paymentsdb.PaymentShownParams{
		Gateway: string(name), GatewayPaymentID: paymentID, DueAt: live.Payment.MadeFor, At: s.deps.Clock.Now(),
	})
	if err != nil {
		return false, fmt.Errorf("note that payment %s is shown: %w", paymentID, err)
	}
	return true, nil
}

// showsTold is 409 of money that nobody could place, and that gateway A, whose events are
// not signed, does not show as paid: it was booked by an event alone.
func (s *List) showsTold(ctx context.Context, u paymentsdb.PaymentsUnappliedPayment, paid gateway.LedgerPayment) error {
	if ledger.UnappliedKind(u.Kind) != ledger.UnappliedUnknown || paid.Gateway != gateway.GWA || paid.Purpose == gateway.ForCustomer {
		return nil
	}
	call, cancel := context.WithTimeout(ctx, unappliedCallTime)
	defer cancel()
	shown, err := s.IsShown(call, paid.Gateway, paid.Payment.ID)
	if err != nil {
		return s.refunds.Refused(ctx, "read unapplied payment", err)
	}
	if !shown {
		return fault.Conflict("The gateway does not show the payment as paid: it can only be kept.")
	}
	return nil
}

// paysNothing is 409 of a payment that has paid for something: a period of a subscription,
// or the order that it was booked for, of which an event alone had told.
func (s *List) paysNothing(ctx context.Context, tx pgx.Tx, u paymentsdb.PaymentsUnappliedPayment, paid gateway.LedgerPayment) error {
	counts, err := s.db.PaymentCounts(ctx, tx, paymentsdb.PaymentCountsParams{Gateway: u.Gateway, GatewayPaymentID: paid.Payment.ID})
	if err != nil {
		return fmt.Errorf("read whether %s counts: %w", paid.Payment.ID, err)
	}
	if counts || ledger.UnappliedKind(u.Kind) == ledger.UnappliedUnknown && paid.Purpose == gateway.ForOrder {
		return fault.Conflict("What the payment pays for was given already: it can be refunded or kept.")
	}
	return nil
}
