package lifecycle

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// PromoCodes is what the module asks of promo codes; the module promos fills it.
// Errors are fit to be shown: 400 for a code that is not valid or no promo code,
// 409 for one that the customer has used.
type PromoCodes interface {
	// FirstMonth finds what the first month costs with a code. An empty code asks
	// for the one that the customer gave when he signed up; ok is false when none
	// applies.
	FirstMonth(ctx context.Context, customerID objectid.ID, code string) (d PromoDiscount, ok bool, err error)
	// HoldTx keeps the code for a pending subscription.
	HoldTx(ctx context.Context, tx pgx.Tx, customerID, subscriptionID objectid.ID, code string) error
	// RedeemTx marks the code as used: the subscription is paid, perhaps after it
	// had been given back. It may be called again.
	RedeemTx(ctx context.Context, tx pgx.Tx, customerID, subscriptionID objectid.ID, code string) error
	// ReleaseTx gives the code back: the subscription ended unpaid.
	ReleaseTx(ctx context.Context, tx pgx.Tx, customerID, subscriptionID objectid.ID, code string) error
}

// PromoDiscount is a code and the price that it gives the first month.
type PromoDiscount struct {
	Code       string
	FirstMonth money.Cents
}

// NoPromoCodes knows none, where the module promos is left out.
type NoPromoCodes struct{}

// FirstMonth finds none, and refuses a code that is given.
func (NoPromoCodes) FirstMonth(_ context.Context, _ objectid.ID, code string) (PromoDiscount, bool, error) {
	if code == "" {
		return PromoDiscount{}, false, nil
	}
	return PromoDiscount{}, false, fault.Bad("Promo code not found.").WithField("promo_code")
}

// HoldTx has none to keep.
func (NoPromoCodes) HoldTx(context.Context, pgx.Tx, objectid.ID, objectid.ID, string) error {
	return nil
}

// RedeemTx has none to use.
func (NoPromoCodes) RedeemTx(context.Context, pgx.Tx, objectid.ID, objectid.ID, string) error {
	return nil
}

// ReleaseTx has none to give back.
func (NoPromoCodes) ReleaseTx(context.Context, pgx.Tx, objectid.ID, objectid.ID, string) error {
	return nil
}

// movePromoTx tells the promo codes what became of the subscription that one of
// them lowered: it is used once access begins, and given back when that never
// came.
func (s *Store) movePromoTx(ctx context.Context, tx pgx.Tx, before, after Row) error {
	switch {
	case after.PromoCode == nil:
		return nil
	case after.Status == state.Active && before.StartedAt == nil:
		return s.promos.RedeemTx(ctx, tx, after.CustomerID, after.ID, *after.PromoCode)
	case after.Status.Ended() && after.StartedAt == nil:
		return s.promos.ReleaseTx(ctx, tx, after.CustomerID, after.ID, *after.PromoCode)
	}
	return nil
}
