package subscriptions

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
)

// howToPayDebit says how a failed debit is paid after all: the bank is asked again, or
// the payer pays the code of that very payment, which thereby pays its period, while
// the authorization lives on. No code is shown while the bank may still take the money.
func (s *Service) howToPayDebit(ctx context.Context, sub row, paymentID string) (again bool, code string, paid bool, err error) {
	if !sub.PixAutomatic {
		return false, "", false, nil
	}
	d, err := s.db.GetDebitByPayment(ctx, s.pool, &paymentID)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, "", false, nil
	}
	if err != nil {
		return false, "", false, fmt.Errorf("read debit: %w", err)
	}
	next, open, err := s.retriesOf(ctx, s.pool, d)
	if err != nil || next != nil || open != nil {
		return true, "", false, err
	}
	gateway, err := s.payments.Gateway(payments.GWA)
	if err != nil {
		return false, "", false, err
	}
	charge, err := gateway.ReadPix(ctx, paymentID, sub.ID)
	switch {
	case errors.Is(err, payments.ErrGatewayMissing):
		return false, "", false, nil
	case err != nil:
		return false, "", false, fmt.Errorf("read code of debit: %w", err)
	case charge.Payment.Status == payments.PaymentSettled:
		return false, "", true, nil // its event is under way
	case charge.Expired:
		return false, "", false, nil
	}
	return false, charge.Payload, false, nil
}
