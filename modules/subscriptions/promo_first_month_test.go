package subscriptions_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/modules/promos"
	"marquee/modules/subscriptions"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
	"marquee/testutil/secrettest"
)

// codes stands for the module promos: one code, and what became of it; or it is the
// module itself.
type codes struct {
	real  subscriptions.PromoCodes
	price money.Cents
	mu    sync.Mutex
	steps []string
}

func (c *codes) FirstMonth(ctx context.Context, customer objectid.ID,
	code string,
) (subscriptions.PromoDiscount, bool, error) {
	if c.real != nil {
		return c.real.FirstMonth(ctx, customer, code)
	}
	switch code {
	case "":
		return subscriptions.PromoDiscount{}, false, nil
	case "FIRST1":
		return subscriptions.PromoDiscount{Code: code, FirstMonth: c.price}, true, nil
	}
	return subscriptions.PromoDiscount{}, false, fault.BadRequest("Promo code not found.").WithField("promo_code")
}

func (c *codes) record(step string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps = append(c.steps, step)
	return nil
}

func (c *codes) HoldTx(ctx context.Context, tx pgx.Tx, customer, subscription objectid.ID, code string) error {
	if c.real != nil {
		return c.real.HoldTx(ctx, tx, customer, subscription, code)
	}
	return c.record("held")
}

func (c *codes) RedeemTx(ctx context.Context, tx pgx.Tx, customer, subscription objectid.ID, code string) error {
	if c.real != nil {
		return c.real.RedeemTx(ctx, tx, customer, subscription, code)
	}
	return c.record("redeemed")
}

func (c *codes) ReleaseTx(ctx context.Context, tx pgx.Tx, customer, subscription objectid.ID, code string) error {
	if c.real != nil {
		return c.real.ReleaseTx(ctx, tx, customer, subscription, code)
	}
	return c.record("released")
}

// promoModule is the module promos as the platform wires it.
type promoModule struct{ *promos.Service }

func (p promoModule) FirstMonth(ctx context.Context, customer objectid.ID,
	code string,
) (subscriptions.PromoDiscount, bool, error) {
	d, ok, err := p.Service.FirstMonth(ctx, customer, code)
	return subscriptions.PromoDiscount{Code: d.Code, FirstMonth: d.FirstMonth}, ok, err
}

// realCodes puts the module promos behind the subscriptions, with one code.
func realCodes(t *testing.T, b *bundle, code string, price money.Cents) {
	t.Helper()
	_, err := b.db.Exec(t.Context(),
		`INSERT INTO promos.promo_codes (code, title, code_type, discount_first_month_cents) VALUES ($1, $1, 'promo', $2)`, code, int64(price))
	require.NoError(t, err)
	b.promos.real = promoModule{
		promos.New(promos.Deps{Pool: b.db, Clock: b.clock, Log: secrettest.Logger(t), Accounts: b.accounts}),
	}
}

func discountedCard(number string) object {
	body := gwaCard(number)
	body["promo_code"] = "FIRST1"
	return body
}

func TestPromoByCardChargesTheFirstMonthApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := sellCode(b, 1990)
	refused(t, b.expect(t, 400, http.MethodPost, "/gwa/subscribe",
		func() object { o := gwaCard(paymentstest.CardApproved); o["promo_code"] = "NOSUCH"; return o }()),
		"VALIDATION_ERROR", "promo_code")
	b.listen()
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe", discountedCard(paymentstest.CardApproved))
	id := idOf(a)
	require.Equal(t, "CONFIRMED", info(a)["payment_status"])
	require.NotEmpty(t, column[string](t, b, id, "gwa_subscription_id"))
	b.settle(t)
	require.Equal(t, "active", b.status(t, id), "by the webhook of the one-off")
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE amount_cents = 1990"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
	require.WithinDuration(t, time.Now().AddDate(0, 0, 30), column[time.Time](t, b, id, "next_billing_date"),
		25*time.Hour)
	require.False(t, column[bool](t, b, id, "intent_open"))
	require.Equal(t, []string{"held", "redeemed"}, slices.Compact(c.steps))
}

func TestPromoDeclinedGivesTheCodeBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := sellCode(b, 1990)
	b.expect(t, 400, http.MethodPost, "/gwa/subscribe", discountedCard(paymentstest.CardDeclined))
	require.Equal(t, []string{"held", "released"}, c.steps)
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'cancelled' AND gwa_subscription_id IS NULL"))
}

func TestPromoRecurrenceIsMadeLater(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sellCode(b, 1990)
	lose(t, b.gateways.Sandbox.GWA.Stage(), stage.FaultResetBefore, "/v3/subscriptions")
	a := b.expect(t, 201, http.MethodPost, "/gwa/subscribe", discountedCard(paymentstest.CardApproved))
	id := idOf(a)
	require.Nil(t, column[*string](t, b, id, "gwa_subscription_id"))
	b.gateways.Sandbox.GWA.Stage().Faults.Clear()
	b.listen()
	b.settle(t)
	require.Equal(t, "active", b.status(t, id), "the month is paid")
	require.True(t, column[bool](t, b, id, "intent_open"))
	require.NoError(t, b.service.Recover(t.Context(), id))
	require.Nil(t, column[*string](t, b, id, "gwa_subscription_id"), "one empty check proves nothing")
	b.runStatusChecks(t, 3*time.Minute)
	require.Nil(t, column[*string](t, b, id, "gwa_subscription_id"), "nor do two")
	b.runStatusChecks(t, 8*time.Minute)
	require.NotNil(t, column[*string](t, b, id, "gwa_subscription_id"))
	require.False(t, column[bool](t, b, id, "intent_open"))
	b.settle(t)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"), "nothing is charged again")
}

// sellCode gives the code a price.
func sellCode(b *bundle, price money.Cents) *codes {
	b.promos.price = price
	return b.promos
}

// The code of the signup waits for a first subscription, and lowers none after that.
func TestCodeOfTheSignupLowersTheFirstSubscriptionAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.listen()
	realCodes(t, b, "SIGN01", 1990)
	_, err := b.db.Exec(t.Context(), "UPDATE accounts.users SET promo_code_used = 'SIGN01' WHERE id = $1",
		b.customer.ID)
	require.NoError(t, err)
	amount := func() any {
		return info(b.expect(t, 201, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))["amount"]
	}
	for range 2 { // given back unpaid, it waits on
		require.Equal(t, 19.9, amount())
		b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
	}
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwb/subscribe",
		object{"plan_id": plan, "payment_method_id": "pm_card_visa"}))
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	require.Equal(t, 1990, b.count(t, "SELECT amount_cents FROM payments.payments WHERE local_id = $1", id))
	b.admin(t).Post("/subscriptions/"+id.String()+"/cancel", nil).Expect(200)
	require.Equal(t, 49.9, amount())
}
