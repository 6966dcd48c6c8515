package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// signedUpWith gives the customer a code at signup, which lowers the first month to
// the price.
func signedUpWith(t *testing.T, price money.Cents) *bundle {
	t.Helper()
	b := setup(t)
	realCodes(t, b, "SIGN01", price)
	givesCode(t, b)
	return b
}

// givesCode: the present customer gave the code at signup.
func givesCode(t *testing.T, b *bundle) {
	t.Helper()
	_, err := b.db.Exec(t.Context(), "UPDATE accounts.users SET promo_code_used = 'SIGN01' WHERE id = $1",
		b.customer.ID)
	require.NoError(t, err)
}

// subscribeB subscribes by card at gateway B, which names no code.
func subscribeB(t *testing.T, b *bundle, token string) (objectid.ID, object) {
	t.Helper()
	a := b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(token))
	return idOf(a), a
}

// redemption tells what became of the code: "", "held" or "used".
func redemption(t *testing.T, b *bundle, id objectid.ID) string {
	t.Helper()
	if b.count(t, "SELECT count(*) FROM promos.redemptions WHERE subscription_id = $1::text", id) == 0 {
		return ""
	}
	if b.count(t, "SELECT count(*) FROM promos.redemptions WHERE subscription_id = $1::text AND paid_at IS NOT NULL",
		id) == 1 {
		return "used"
	}
	return "held"
}

// chargedCents are the cents in the ledger, oldest first.
func chargedCents(t *testing.T, b *bundle, id objectid.ID) (cents []int) {
	t.Helper()
	rows, err := b.db.Query(t.Context(), "SELECT amount_cents FROM payments.payments WHERE local_id = $1 ORDER BY id",
		id)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var c int
		require.NoError(t, rows.Scan(&c))
		cents = append(cents, c)
	}
	return cents
}

// aMonthLater lets gateway B charge the next month; webhooks are signed in real time.
func aMonthLater(t *testing.T, b *bundle) {
	t.Helper()
	_, err := b.gateways.Sandbox.GWB.Stage().Clock.AdvanceTo(b.clock.Now().AddDate(0, 0, 32))
	require.NoError(t, err)
	b.settle(t)
}

func TestPromoAtGatewayBLowersTheFirstInvoiceAlone(t *testing.T) {
	t.Parallel()
	b := signedUpWith(t, 1990)
	b.listen()
	id, a := subscribeB(t, b, paymentstest.TokenApproved)
	require.Equal(t, "active", doc(a)["status"])
	b.settle(t)
	require.Equal(t, []int{1990}, chargedCents(t, b, id), "what was charged")
	require.Equal(t, "used", redemption(t, b, id))
	require.Equal(t, 4990, column[int](t, b, id, "price_cents"), "its price is the whole")
	require.Equal(t, 4990, b.count(t, "SELECT sum(price_cents) FROM finance.subscriptions WHERE status = 'active'"))
	next := column[time.Time](t, b, id, "next_billing_date")
	require.WithinDuration(t, b.clock.Now().AddDate(0, 1, 0), next, 25*time.Hour,
		"gateway B's own month, not thirty days")

	aMonthLater(t, b)
	require.Equal(t, []int{1990, 4990}, chargedCents(t, b, id))
	b.expect(t, 422, http.MethodPost, "/gwb/subscribe",
		object{"plan_id": plan, "payment_method_id": "pm_card_visa", "promo_code": "SIGN01"})
}

func TestPromoAtGatewayBDeclinedGivesTheCodeBack(t *testing.T) {
	t.Parallel()
	b := signedUpWith(t, 1990)
	b.listen()
	for _, token := range []string{paymentstest.TokenDeclined, paymentstest.TokenRefused} {
		id, a := subscribeB(t, b, token)
		require.Equal(t, true, info(a)["payment_failed"])
		b.settle(t)
		require.Empty(t, redemption(t, b, id))
		require.Empty(t, chargedCents(t, b, id))
	}
	id, _ := subscribeB(t, b, paymentstest.TokenApproved)
	require.Equal(t, []int{1990}, chargedCents(t, b, id), "it is still there for the next try")
}

func TestPromoAtGatewayBAuthentication(t *testing.T) {
	t.Parallel()
	b := signedUpWith(t, 1990)
	first, _ := subscribeB(t, b, paymentstest.TokenAuthentication)
	require.Equal(t, "held", redemption(t, b, first))
	second, a := subscribeB(t, b, paymentstest.TokenAuthentication)
	require.Equal(t, "cancelled", b.status(t, first))
	require.Empty(t, redemption(t, b, first), "given back when the second took its place")
	require.Equal(t, "held", redemption(t, b, second))
	require.NoError(t, b.gateways.Sandbox.GWB.CompleteChallenge(intentOf(a)))
	b.listen()
	b.settle(t)
	require.Equal(t, "active", b.status(t, second))
	require.Equal(t, []int{1990}, chargedCents(t, b, second))
	require.Equal(t, "used", redemption(t, b, second))

	b.newcomer(t)
	givesCode(t, b)
	id, _ := subscribeB(t, b, paymentstest.TokenAuthentication)
	b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
	require.Empty(t, redemption(t, b, id), "cancelled unpaid")
}

func TestPromoAtGatewayBAnswerLost(t *testing.T) {
	t.Parallel()
	for price, charged := range map[money.Cents][]int{1990: {1990}, 0: nil} {
		b := signedUpWith(t, price)
		lose(t, b.gateways.Sandbox.GWB.Stage(), stage.FaultResetAfter, "/v1/subscriptions")
		id, a := subscribeB(t, b, paymentstest.TokenApproved)
		require.Equal(t, "unknown", info(a)["payment_status"])
		require.Equal(t, "held", redemption(t, b, id))
		b.gateways.Sandbox.GWB.Stage().Faults.Clear()
		require.NoError(t, b.service.Recover(t.Context(), id))
		require.Equal(t, "active", b.status(t, id))
		b.listen()
		b.settle(t)
		require.Equal(t, charged, chargedCents(t, b, id))
		require.Equal(t, "used", redemption(t, b, id))
	}
}

func TestPromoAtGatewayBNothingWasMade(t *testing.T) {
	t.Parallel()
	b := signedUpWith(t, 1990)
	lose(t, b.gateways.Sandbox.GWB.Stage(), stage.FaultResetBefore, "/v1/subscriptions")
	id, _ := subscribeB(t, b, paymentstest.TokenApproved)
	b.gateways.Sandbox.GWB.Stage().Faults.Clear()
	b.runStatusChecks(t, 10*time.Minute)
	require.Equal(t, "cancelled", b.status(t, id))
	require.Empty(t, redemption(t, b, id))
}

// The first month is charged with its coupon, or not at all: without one the whole
// price would be taken.
func TestPromoAtGatewayBWithoutItsCoupon(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]stage.Fault{
		"not made":       {Method: http.MethodPost, Kind: stage.FaultResetBefore},
		"made, not told": {Method: http.MethodPost, Kind: stage.FaultResetAfter},
		"broken":         {Method: http.MethodPost, Kind: stage.FaultStatus, Status: 500},
		"refused": {
			Method: http.MethodPost, Kind: stage.FaultStatus, Status: 400,
			Body: `{"error":{"type":"invalid_request_error","message":"No."}}`,
		},
		"another's":       {Method: http.MethodGet, Kind: stage.FaultOddAfter, Answer: "foreign", Status: 200},
		"a proxy's page":  {Method: http.MethodGet, Kind: stage.FaultOdd, Answer: "html", Status: 404},
		"nothing at once": {Method: http.MethodGet, Kind: stage.FaultOdd, Answer: "object", Status: 200},
	} {
		b := signedUpWith(t, 1990)
		f.Path, f.Times = "/v1/coupons", manyTimes
		require.NoError(t, b.gateways.Sandbox.GWB.Stage().Faults.Plan(f))
		status, _ := b.call(t, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
		require.GreaterOrEqual(t, status, 500, name)
		require.Equal(t, 1, b.count(t,
			"SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'cancelled' AND gwb_subscription_id IS NULL"), name)
		require.Equal(t, 0, b.count(t, "SELECT count(*) FROM promos.redemptions"), name)
		b.gateways.Sandbox.GWB.Stage().Faults.Clear()
		id, _ := subscribeB(t, b, paymentstest.TokenApproved)
		require.Equal(t, []int{1990}, chargedCents(t, b, id), name)
	}
}

func TestPromoAtGatewayBLostAnswerOfTheCouponIsAskedAgain(t *testing.T) {
	t.Parallel()
	b := signedUpWith(t, 1990)
	require.NoError(t, b.gateways.Sandbox.GWB.Stage().Faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v1/coupons", Kind: stage.FaultStatusAfter, Status: 500,
	}))
	id, _ := subscribeB(t, b, paymentstest.TokenApproved)
	require.Equal(t, []int{1990}, chargedCents(t, b, id))
}

func TestPromoAtGatewayBGivesTheFirstMonthAway(t *testing.T) {
	t.Parallel()
	b := signedUpWith(t, 0)
	b.listen()
	id, a := subscribeB(t, b, paymentstest.TokenApproved)
	require.Equal(t, "active", doc(a)["status"])
	b.settle(t)
	require.Empty(t, chargedCents(t, b, id), "an invoice of nothing is no payment")
	require.Equal(t, "used", redemption(t, b, id))
	require.Equal(t, "pending>active trial_started subscribe", b.history(t, id)[1])
	aMonthLater(t, b)
	require.Equal(t, []int{4990}, chargedCents(t, b, id))

	reported := signedUpWith(t, 0) // by its webhook alone
	reported.listen()
	lose(t, reported.gateways.Sandbox.GWB.Stage(), stage.FaultResetAfter, "/v1/subscriptions")
	id, _ = subscribeB(t, reported, paymentstest.TokenApproved)
	reported.settle(t)
	require.Equal(t, "active", reported.status(t, id))
	require.Equal(t, "used", redemption(t, reported, id))
	require.Empty(t, chargedCents(t, reported, id))
}

func TestPromoAtGatewayBTakesTheTrialsPlace(t *testing.T) {
	t.Parallel()
	b := signedUpWith(t, 1990)
	_, err := b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET trial_enabled = true, trial_days = 7")
	require.NoError(t, err)
	id, _ := subscribeB(t, b, paymentstest.TokenApproved)
	require.Equal(t, []int{1990}, chargedCents(t, b, id))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM accounts.users WHERE id = $1 AND trial_used_at IS NULL",
		b.customer.ID))
}

func TestPromoAtGatewayBAmounts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		price   money.Cents
		charged []int
	}{{4990, []int{4990}}, {9990, []int{4990}}, {50, []int{50}}, {4989, []int{4989}}} {
		b := signedUpWith(t, tc.price)
		id, _ := subscribeB(t, b, paymentstest.TokenApproved)
		require.Equal(t, tc.charged, chargedCents(t, b, id), tc.price)
	}
	b := signedUpWith(t, 49) // the gateway would add it to the next month
	refused(t, b.expect(t, 400, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved)),
		"VALIDATION_ERROR", "plan_id")
	require.Equal(t, 0, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions"))
}

func TestPromoAtGatewayBIsForNoRenewal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := subscribeB(t, b, paymentstest.TokenApproved)
	realCodes(t, b, "SIGN01", 1990)
	givesCode(t, b)
	a := b.expect(t, 200, http.MethodPut, renewPath, object{"payment_method_id": paymentstest.TokenApproved})
	renewed := objectid.ID(a["subscription"].(object)["id"].(string))
	require.NotEqual(t, id, renewed)
	require.Nil(t, column[*string](t, b, renewed, "promo_code"))
	require.Nil(t, column[*int64](t, b, renewed, "first_amount_cents"))
}
