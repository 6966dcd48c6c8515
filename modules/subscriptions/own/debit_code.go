package own

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

const payDebit = "Your bank did not take the automatic payment of this period: pay it with this PIX. The automatic PIX stays authorized for the next ones."

// debitShown shows the code of a failed debit of automatic PIX that the bank is not
// asked for any more; 404 where there is none.
func (s *Own) debitShown(ctx context.Context, sub lifecycle.Row) (pixShown, error) {
	none := fault.NotFound("Pending subscription")
	if !sub.PixAutomatic || sub.HasChargeback {
		return pixShown{}, none
	}
	d, err := s.db.GetFailedDebit(ctx, s.pool, subscriptionsdb.GetFailedDebitParams{SubscriptionID: sub.ID, PassedOver: new(debits.FailedGone)})
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
