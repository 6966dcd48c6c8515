package debits

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
)

// HowToPayDebit says how a failed debit is paid after all: the bank is asked again, or
// the payer pays the code of that very payment, which thereby pays its period, while
// the authorization lives on. No code is shown while the bank may still take the money.
func (s *Debits) HowToPayDebit(ctx context.Context, sub lifecycle.Row, paymentID string) (again bool, code gateway.PixCharge, paid bool, err error) {
	if !sub.PixAutomatic {
		return false, code, false, nil
	}
	d, err := s.db.GetDebitByPayment(ctx, s.deps.Pool, &paymentID)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, code, false, nil
	}
	if err != nil {
		return false, code, false, fmt.Errorf("read debit: %w", err)
	}
	next, open, err := s.RetriesOf(ctx, s.deps.Pool, d)
	if err != nil || next != nil || open != nil {
		return true, code, false, err
	}
	gw, err := s.deps.Payments.Gateway(gateway.GWA)
	if err != nil {
		return false, code, false, err
	}
	charge, err := gw.ReadPix(ctx, paymentID, sub.ID)
	switch {
	case errors.Is(err, gateway.ErrMissing):
		return false, code, false, nil
	case err != nil:
		return false, code, false, fmt.Errorf("read code of debit: %w", err)
	case charge.Payment.Status == gateway.PaymentSettled:
		return false, code, true, nil // its event is under way
	case charge.Expired:
		return false, code, false, nil
	}
	return false, charge, false, nil
}
