package promos_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// inTx runs one of the methods that subscriptions call.
func (b *bundle) inTx(call func(tx pgx.Tx) error) error {
	return postgres.InTx(b.t.Context(), b.db, call)
}

func TestSubscriptionHoldsAndUsesACode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, me := t.Context(), b.customer.ID
	full := b.event(0)
	sold := b.code(doc{"code": "SOLDX2", "code_type": "ticket", "event_id": full})
	gift := b.code(doc{"code": "GIFTX2", "code_type": "ticket", "event_id": b.event(5)})
	b.code(doc{
		"code": "FIRST2", "code_type": "promo", "discount_first_month": 9.9,
		"children_code_ids": []any{sold["_id"], gift["_id"]},
	})
	d, ok, err := b.service.FirstMonth(ctx, me, "first2")
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, 990, d.FirstMonth)
	require.Equal(t, "FIRST2", d.Code)

	one, two := objectid.New(), objectid.New()
	hold := func(sub objectid.ID) error {
		return b.inTx(func(tx pgx.Tx) error { return b.service.HoldTx(ctx, tx, me, sub, "FIRST2") })
	}
	require.NoError(t, hold(one))
	require.NoError(t, hold(one), "again")
	require.True(t, fault.Is(hold(two), fault.KindConflict), "held by another")
	require.Equal(t, false, b.me.Get("/customers/validate-promo-code?code=FIRST2").Map()["consumed"],
		"held is not redeemed")

	require.NoError(t, b.inTx(func(tx pgx.Tx) error { return b.service.ReleaseTx(ctx, tx, me, one, "FIRST2") }))
	require.NoError(t, hold(two), "given back, so free again")
	pay := func(sub objectid.ID) {
		require.NoError(t, b.inTx(func(tx pgx.Tx) error { return b.service.RedeemTx(ctx, tx, me, sub, "FIRST2") }))
	}
	pay(two)
	pay(two)
	pay(one) // its money came late, after the code went to the other
	require.Equal(t, 1,
		b.count(`SELECT count(*) FROM promos.redemptions WHERE code = 'FIRST2' AND subscription_id = $1 AND paid_at IS NOT NULL`, two))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM tickets.tickets WHERE promo_code = 'GIFTX2'`),
		"the bundle comes with the payment, once")
	require.Zero(t, b.count(`SELECT count(*) FROM promos.redemptions WHERE code = 'SOLDX2'`),
		"a sold out event stands in nobody's way")

	_, _, err = b.service.FirstMonth(ctx, me, "FIRST2")
	require.True(t, fault.Is(err, fault.KindConflict))
	require.True(t, fault.Is(hold(objectid.New()), fault.KindConflict))
	b.me.Put("/customers/me/redeem-promo-code?code=FIRST2", nil).Expect(409)
}

func TestPaidAfterGivenBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, me, sub := t.Context(), b.customer.ID, objectid.New()
	b.code(doc{"code": "LATEX2", "code_type": "promo", "discount_first_month": 1})
	require.NoError(t, b.inTx(func(tx pgx.Tx) error { return b.service.HoldTx(ctx, tx, me, sub, "LATEX2") }))
	require.NoError(t, b.inTx(func(tx pgx.Tx) error { return b.service.ReleaseTx(ctx, tx, me, sub, "LATEX2") }))
	require.Zero(t, b.count(`SELECT count(*) FROM promos.redemptions`))
	require.NoError(t, b.inTx(func(tx pgx.Tx) error { return b.service.RedeemTx(ctx, tx, me, sub, "LATEX2") }))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM promos.redemptions WHERE paid_at IS NOT NULL`))
}

func TestRedeemedCodeLowersOneMonth(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, me, sub := t.Context(), b.customer.ID, objectid.New()
	b.code(doc{"code": "OWNED2", "code_type": "promo", "discount_first_month": 1})
	b.me.Put("/customers/me/redeem-promo-code?code=OWNED2", nil).Expect(200)
	require.NoError(t, b.inTx(func(tx pgx.Tx) error { return b.service.HoldTx(ctx, tx, me, sub, "OWNED2") }))
	require.NoError(t, b.inTx(func(tx pgx.Tx) error { return b.service.ReleaseTx(ctx, tx, me, sub, "OWNED2") }))
	require.Equal(t, 1,
		b.count(`SELECT count(*) FROM promos.redemptions WHERE redeemed_at IS NOT NULL AND subscription_id IS NULL`))
}

func TestCodesThatGiveNoDiscount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.code(doc{"code": "TICKT2", "code_type": "ticket", "event_id": b.event(nil)})
	b.code(doc{"code": "BUNDL2", "code_type": "promo"})
	for _, text := range []string{"NOSUCH", "TICKT2", "BUNDL2"} {
		_, _, err := b.service.FirstMonth(t.Context(), b.customer.ID, text)
		var f *fault.Error
		require.ErrorAs(t, err, &f, text)
		require.Equal(t, fault.KindBadRequest, f.Kind, text)
		require.Equal(t, "promo_code", f.Field, text)
	}
	_, ok, err := b.service.FirstMonth(t.Context(), b.customer.ID, "")
	require.NoError(t, err)
	require.False(t, ok)
	_, err = b.service.SignupPromoCode(t.Context(), "NOSUCH")
	require.True(t, fault.Is(err, fault.KindBadRequest))
	_, err = b.service.SignupPromoCode(t.Context(), "tickt2")
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), `UPDATE accounts.users SET promo_code_used = 'SIGNU2' WHERE id = $1`, b.customer.ID)
	require.NoError(t, err)
	b.code(doc{"code": "SIGNU2", "code_type": "promo", "discount_first_month": 5})
	d, ok, err := b.service.FirstMonth(t.Context(), b.customer.ID, "")
	require.NoError(t, err)
	require.True(t, ok, "the code given at signup counts when none is named")
	require.EqualValues(t, 500, d.FirstMonth)
}
