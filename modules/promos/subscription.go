package promos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/promos/internal/promosdb"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Discount is what a code gives a new subscription.
type Discount struct {
	Code       string
	FirstMonth money.Cents // price of the first month
}

// FirstMonth finds what the first month costs with a code (docs/contract/promo-codes.md, At subscribing). An empty text
// asks for the code given at signup; ok is false when none applies. Errors, with the field promo_code: 400 in one
// sentence for a code that is unknown, not valid or gives no discount, 409 for one that the
// customer has used in a paid subscription; 429 after too many tries.
func (s *Service) FirstMonth(ctx context.Context, customerID objectid.ID,
	text string,
) (d Discount, ok bool, err error) {
	if text != "" {
		if err := s.limit(ctx); err != nil {
			return d, false, err
		}
		d, err = s.firstMonth(ctx, customerID, text)
		return d, err == nil, err
	}
	customer, err := s.deps.Accounts.CustomerByID(ctx, s.deps.Pool, customerID)
	if err != nil || customer.PromoCodeUsed == "" {
		return d, false, err
	}
	d, err = s.firstMonth(ctx, customerID, customer.PromoCodeUsed)
	var refusal *fault.Error
	if errors.As(err, &refusal) {
		return Discount{}, false, nil // this request did not ask for it
	}
	return d, err == nil, err
}

func (s *Service) firstMonth(ctx context.Context, customerID objectid.ID, text string) (Discount, error) {
	c, err := s.validCode(ctx, s.deps.Pool, text)
	if err != nil {
		return Discount{}, asUseless(err)
	}
	if c.CodeType != TypePromo || c.DiscountFirstMonthCents == nil {
		return Discount{}, errUseless()
	}
	r, err := s.db.RedemptionGet(ctx, s.deps.Pool,
		promosdb.RedemptionGetParams{PromoCodeID: c.ID, CustomerID: customerID})
	if err != nil && !postgres.IsNoRows(err) {
		return Discount{}, fmt.Errorf("read redemption: %w", err)
	}
	if err == nil && r.PaidAt != nil {
		return Discount{}, errUsed()
	}
	return Discount{Code: c.Code, FirstMonth: money.Cents(*c.DiscountFirstMonthCents)}, nil
}

// HoldTx keeps a code for a pending subscription; 409 when another subscription
// of the customer holds or has used it, 400 when it is not valid any more.
func (s *Service) HoldTx(ctx context.Context, tx pgx.Tx, customerID, subscriptionID objectid.ID, text string) error {
	c, err := s.validCode(ctx, tx, text)
	if err != nil {
		return asUseless(err)
	}
	n, err := s.db.RedemptionHold(ctx, tx, promosdb.RedemptionHoldParams{
		PromoCodeID: c.ID, CustomerID: customerID, Code: c.Code, SubscriptionID: subscriptionID.String(),
		Now: s.deps.Clock.Now(),
	})
	if err != nil {
		return fmt.Errorf("hold promo code: %w", err)
	}
	if n == 0 {
		return errUsed()
	}
	return nil
}

// RedeemTx marks the code as used, since the subscription is paid, perhaps after
// the code had been released, and redeems its bundle. It may be called again.
// A code that is no longer fit never stands in the way of money that has come.
func (s *Service) RedeemTx(ctx context.Context, tx pgx.Tx, customerID, subscriptionID objectid.ID, text string) error {
	now := s.deps.Clock.Now()
	c, known, err := s.find(ctx, tx, text)
	if err != nil {
		return err
	}
	n, err := s.db.RedemptionPay(ctx, tx, promosdb.RedemptionPayParams{
		Now: now, CustomerID: customerID, SubscriptionID: subscriptionID.String(),
	})
	if err == nil && n == 0 && known {
		n, err = s.db.RedemptionPayLate(ctx, tx, promosdb.RedemptionPayLateParams{
			PromoCodeID: c.ID, CustomerID: customerID, Code: c.Code, SubscriptionID: subscriptionID.String(), Now: now,
		})
	}
	if err != nil {
		return fmt.Errorf("use promo code: %w", err)
	}
	if n == 0 || !known {
		return nil
	}
	return s.redeemPaidBundleTx(ctx, tx, c, customerID)
}

// redeemPaidBundleTx redeems the bundle where it can: a child whose event is sold
// out stays for the customer to redeem later.
func (s *Service) redeemPaidBundleTx(ctx context.Context, tx pgx.Tx, c code, customerID objectid.ID) error {
	_, err := s.redeemBundleTx(ctx, tx, c, customerID, func(child code, err error) bool {
		var refusal *fault.Error
		if !errors.As(err, &refusal) {
			return false
		}
		if !isRedeemed(err) {
			s.deps.Log.WarnContext(ctx, "child of a promo code not redeemed with the payment",
				slog.String("promo_code_id", child.ID.String()), slog.String("customer_id", customerID.String()),
				slog.Any("error", refusal))
		}
		return true
	})
	return err
}

// ReleaseTx releases the code: the subscription ended unpaid.
func (s *Service) ReleaseTx(ctx context.Context, tx pgx.Tx, customerID, subscriptionID objectid.ID, _ string) error {
	id := subscriptionID.String()
	if err := s.db.RedemptionRelease(ctx, tx,
		promosdb.RedemptionReleaseParams{CustomerID: customerID, SubscriptionID: id}); err != nil {
		return fmt.Errorf("release promo code: %w", err)
	}
	err := s.db.RedemptionReleaseRedeemed(ctx, tx,
		promosdb.RedemptionReleaseRedeemedParams{CustomerID: customerID, SubscriptionID: id})
	if err != nil {
		return fmt.Errorf("release promo code: %w", err)
	}
	return nil
}

func errUsed() *fault.Error {
	return fault.Conflict("You have already used this promo code in a subscription.").WithField("promo_code")
}
