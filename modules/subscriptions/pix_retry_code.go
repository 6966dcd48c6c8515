package subscriptions

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

// HowToPayDebit says how a failed debit is paid after all: the bank is asked again, or
// the payer pays the code of that very payment, which thereby pays its period, while
// the authorization lives on. No code is shown while the bank may still take the money.
func (s *Debits) HowToPayDebit(ctx context.Context, sub lifecycle.Row, paymentID string) (again bool, code payments.PixCharge, paid bool, err error) {
	if !sub.PixAutomatic {
		return false, code, false, nil
	}
	d, err := s.db.GetDebitByPayment(ctx, s.pool, &paymentID)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, code, false, nil
	}
	if err != nil {
		return false, code, false, fmt.Errorf("read debit: %w", err)
	}
	next, open, err := s.RetriesOf(ctx, s.pool, d)
	if err != nil || next != nil || open != nil {
		return true, code, false, err
	}
	gateway, err := s.payments.Gateway(payments.GWA)
	if err != nil {
		return false, code, false, err
	}
	charge, err := gateway.ReadPix(ctx, paymentID, sub.ID)
	switch {
	case errors.Is(err, payments.ErrGatewayMissing):
		return false, code, false, nil
	case err != nil:
		return false, code, false, fmt.Errorf("read code of debit: %w", err)
	case charge.Payment.Status == payments.PaymentSettled:
		return false, code, true, nil // its event is under way
	case charge.Expired:
		return false, code, false, nil
	}
	return false, charge, false, nil
}

const payDebit = "Your bank did not take the automatic payment of this period: pay it with this PIX. The automatic PIX stays authorized for the next ones."

// debitShown shows the code of a failed debit of automatic PIX that the bank is not
// asked for any more; 404 where there is none.
func (s *Own) debitShown(ctx context.Context, sub lifecycle.Row) (pixShown, error) {
	none := fault.NotFound("Pending subscription")
	if !sub.PixAutomatic || sub.HasChargeback {
		return pixShown{}, none
	}
	d, err := s.db.GetFailedDebit(ctx, s.pool, subscriptionsdb.GetFailedDebitParams{SubscriptionID: sub.ID, PassedOver: new(FailedGone)})
	if errors.Is(err, pgx.ErrNoRows) {
		return pixShown{}, none
	}
	if err != nil {
		return pixShown{}, fmt.Errorf("read failed debit: %w", err)
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return pixShown{}, err
	}
	_, code, _, err := s.debits.HowToPayDebit(ctx, sub, *d.GatewayPaymentID)
	if err != nil {
		return pixShown{}, s.payments.Refused(ctx, "read PIX code", err)
	}
	if code.Payload == "" {
		return pixShown{}, none
	}
	sub.PixPaymentID, sub.PixPayload, sub.PixImage, sub.PixExpiresAt = d.GatewayPaymentID, &code.Payload, &code.EncodedImage, code.ExpiresAt
	return pixShown{sub: sub, message: payDebit}, nil
}
