package subscriptions_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// pixKind is a way to pay by PIX: how its code is paid, and which date tells what
// was granted.
type pixKind struct {
	path     string
	inCents  bool // info.amount
	promo    bool // the route takes a code
	pay      func(b *bundle, a object) error
	paidTill string
}

var pixKinds = map[string]pixKind{
	"gwa": {path: "/gwa/subscribe/pix", promo: true, paidTill: "expires_at", pay: func(b *bundle, a object) error {
		_, err := b.gateways.Sandbox.GWA.PayPIX(info(a)["pix"].(object)["payload"].(string))
		return err
	}},
	"gwa automatic": {
		path: "/gwa/subscribe/pix-automatico", promo: true, paidTill: "next_billing_date",
		pay: func(b *bundle, a object) error {
			_, err := b.gateways.Sandbox.GWA.ActivateAuthorization(info(a)["gwa_pix_auth_id"].(string))
			return err
		},
	},
	"gwb": {path: "/gwb/subscribe/pix", inCents: true, paidTill: "expires_at", pay: func(b *bundle, a object) error {
		return b.gateways.Sandbox.GWB.PayPIX(info(a)["payment_intent_id"].(string))
	}},
}

// TestMonthsChargedAreMonthsGranted by PIX: the amount is the plan's price a month,
// one of them lowered by a promo code, and access lasts as many months.
func TestMonthsChargedAreMonthsGranted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sellCode(b, 1990)
	b.listen()
	for kind, k := range pixKinds {
		for _, months := range []int{1, 3, 6, 12} {
			for _, code := range []string{"", "FIRST1"} {
				if code != "" && !k.promo {
					continue
				}
				t.Run(fmt.Sprintf("%s %d %s", kind, months, code), func(t *testing.T) {
					b.newcomer(t)
					b.pix.months = months
					body, cents := object{"plan_id": plan}, int64(months)*4990
					if code != "" {
						body["promo_code"], cents = code, int64(months-1)*4990+1990
					}
					a := b.expect(t, http.StatusCreated, http.MethodPost, k.path, body)
					if k.inCents {
						require.EqualValues(t, cents, info(a)["amount"])
					} else {
						require.InDelta(t, float64(cents)/100, info(a)["amount"], 0.001)
					}
					require.EqualValues(t, months, info(a)["months"])
					require.NoError(t, k.pay(b, a))
					b.settle(t)
					id := idOf(a)
					require.Equal(t, "active", b.status(t, id))
					require.Equal(t, 1, b.count(t,
						"SELECT count(*) FROM payments.payments WHERE local_id = $1 AND amount_cents = $2", id, cents))
					require.WithinDuration(t, lifecycle.AddMonths(b.clock.Now(), months, reportZone(t)),
						column[time.Time](t, b, id, k.paidTill), time.Hour)
				})
			}
		}
	}
}

// TestDebitsAreOfThePeriod: a quarter that was sold is debited as one, at full price.
func TestDebitsAreOfThePeriod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sellCode(b, 1990)
	b.listen()
	b.pix.months = 3
	a := b.expect(t, http.StatusCreated, http.MethodPost, "/gwa/subscribe/pix-automatico",
		object{"plan_id": plan, "promo_code": "FIRST1"})
	require.NoError(t, pixKinds["gwa automatic"].pay(b, a))
	b.settle(t)
	b.set(t, idOf(a), "next_billing_date = $2", b.clock.Now().AddDate(0, 0, 3))
	require.NoError(t, b.service.Debit(t.Context(), idOf(a)))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.debits WHERE amount_cents = 3 * 4990"))
}

func TestSmallestPix(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, tc := range []struct {
		kind   string
		plan   int64
		promo  money.Cents // 0 for no code
		months int
		status int
		least  string
	}{
		{"gwa", 499, 0, 1, 400, "5.00"},
		{"gwa", 500, 0, 1, 201, ""},
		{"gwa", 499, 0, 3, 201, ""},
		{"gwa", 4990, 499, 1, 400, "5.00"},
		{"gwa", 4990, 500, 1, 201, ""},
		{"gwa", 4990, 1, 3, 201, ""},
		{"gwa automatic", 499, 0, 1, 400, "5.00"}, // its debits have the minimum
		{"gwa automatic", 499, 0, 3, 201, ""},
		{"gwa automatic", 4990, 1, 1, 201, ""}, // its first code has none
		{"gwb", 49, 0, 1, 400, "0.50"},
		{"gwb", 50, 0, 1, 201, ""},
	} {
		t.Run(fmt.Sprint(tc.kind, tc.plan, tc.promo, tc.months), func(t *testing.T) {
			b.newcomer(t)
			_, err := b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET amount_cents = $1 WHERE plan_id = $2",
				tc.plan, plan)
			require.NoError(t, err)
			b.pix.months = tc.months
			body := object{"plan_id": plan}
			if tc.promo > 0 {
				sellCode(b, tc.promo)
				body["promo_code"] = "FIRST1"
			}
			a := b.expect(t, tc.status, http.MethodPost, pixKinds[tc.kind].path, body)
			if tc.status == 400 {
				refused(t, a, "VALIDATION_ERROR", "plan_id")
				require.Contains(t, a["detail"], "R$ "+tc.least)
				require.Empty(t, b.current(t), "nothing was written")
			}
		})
	}
}

// TestPromoOfAPixToItsEnd with the promo codes themselves: the code is held while
// the code of the PIX is open, given back when nobody pays it, and used up once it
// is paid.
func TestPromoOfAPixToItsEnd(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/gwa/subscribe/pix", "/gwa/subscribe/pix-automatico", "/gwa/subscribe"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			realCodes(t, b, "FIRST2", 1990)
			b.listen()
			body := object{"plan_id": plan}
			if path == "/gwa/subscribe" {
				body = gwaCard(paymentstest.CardDeclined)
			}
			body["promo_code"] = "first2"
			redemption := func(paid bool, id objectid.ID) int {
				return b.count(t,
					"SELECT count(*) FROM promos.redemptions WHERE code = 'FIRST2' AND customer_id = $1 AND subscription_id = $2 AND (paid_at IS NOT NULL) = $3", b.customer.ID, id, paid)
			}
			if path == "/gwa/subscribe" { // declined
				b.expect(t, 400, http.MethodPost, path, body)
				body["credit_card"] = gwaCard(paymentstest.CardApproved)["credit_card"]
			} else {
				id := idOf(b.expect(t, 201, http.MethodPost, path, body))
				require.Equal(t, 1, redemption(false, id), "held")
				b.clock.Advance(24*time.Hour + time.Minute)
				require.NoError(t, b.service.Sweep(t.Context()))
				require.Equal(t, "cancelled", b.status(t, id))
			}
			require.Zero(t, b.count(t, "SELECT count(*) FROM promos.redemptions"), "given back")

			a := b.expect(t, 201, http.MethodPost, path, body)
			switch path {
			case "/gwa/subscribe/pix":
				require.NoError(t, pixKinds["gwa"].pay(b, a))
			case "/gwa/subscribe/pix-automatico":
				require.NoError(t, pixKinds["gwa automatic"].pay(b, a))
			}
			b.settle(t)
			require.Equal(t, "active", b.status(t, idOf(a)))
			require.Equal(t, 1, redemption(true, idOf(a)), "used")
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments WHERE amount_cents = 1990"))
			b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
			require.Equal(t, 1, redemption(true, idOf(a)), "and stays used")
			refused(t, b.expect(t, 409, http.MethodPost, path, body), "CONFLICT", "promo_code")
		})
	}
}
