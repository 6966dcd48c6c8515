package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/money"
)

// travel moves the test's clock and both sandboxes to an instant.
func travel(t *testing.T, b *bundle, instant string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, instant)
	require.NoError(t, err)
	b.clock.Advance(at.Sub(b.clock.Now()))
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(at.Sub(b.gateways.Sandbox.GWA.Now())))
	_, err = b.gateways.Sandbox.GWB.Stage().Clock.AdvanceTo(at)
	require.NoError(t, err)
}

// lastOfJanuary lies far ahead of the machine's clock, from which travel starts, and which the
// sandboxes' clocks never go back behind.
const lastOfJanuary = "2083-01-31T15:00:00Z"

func TestAddMonthsOn(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	for _, tc := range []struct {
		name   string
		from   string
		months int
		anchor int
		want   string
	}{
		{"back on the 31st", "2027-02-28T15:00:00Z", 1, 31, "2027-03-31T15:00:00Z"},
		{"the 30th after February", "2027-02-28T15:00:00Z", 1, 30, "2027-03-30T15:00:00Z"},
		{"a month of 30 days", "2027-03-31T15:00:00Z", 1, 31, "2027-04-30T15:00:00Z"},
		{"and on", "2027-04-30T15:00:00Z", 1, 31, "2027-05-31T15:00:00Z"},
		{"29 February, a year later", "2028-02-29T15:00:00Z", 12, 29, "2029-02-28T15:00:00Z"},
		{"and the next leap year", "2031-02-28T15:00:00Z", 12, 29, "2032-02-29T15:00:00Z"},
		{"a quarter", "2027-02-28T15:00:00Z", 3, 30, "2027-05-30T15:00:00Z"},
		{"a day that is not the month's last stays", "2027-02-10T15:00:00Z", 1, 31, "2027-03-10T15:00:00Z"},
		{"an anchor before it does nothing", "2027-02-28T15:00:00Z", 1, 5, "2027-03-28T15:00:00Z"},
		{"the last day in the zone, the first in UTC", "2027-03-01T02:00:00Z", 1, 31, "2027-04-01T02:00:00Z"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			from, err := time.Parse(time.RFC3339, tc.from)
			require.NoError(t, err)
			require.Equal(t, tc.want, lifecycle.AddMonthsOn(from, tc.months, tc.anchor, zone).Format(time.RFC3339))
		})
	}
}

func TestCardOfGatewayAStaysOnThe31st(t *testing.T) {
	t.Parallel()
	b := setup(t)
	travel(t, b, lastOfJanuary)
	id := b.paidGWA(t)
	require.Equal(t, "2083-02-28", b.day(t, id, "next_billing_date"))
	for _, after := range []string{"2083-03-01T12:00:00Z", "2083-04-01T12:00:00Z", "2083-05-01T12:00:00Z"} {
		travel(t, b, after)
		b.settle(t)
		next := column[time.Time](t, b, id, "next_billing_date").In(reportZone(t))
		require.Equal(t, 1, next.AddDate(0, 0, 1).Day(), "the last day of a month, not %s", next)
		require.True(t, next.After(b.clock.Now()))
	}
	require.Equal(t, 4, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
}

// TestCardOfGatewayAWithoutItsDates: the gateway's date events are lost, and the
// payments alone tell.
func TestCardOfGatewayAWithoutItsDates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	travel(t, b, lastOfJanuary)
	id := b.paidGWA(t)
	remote := column[string](t, b, id, "gwa_subscription_id")
	for _, step := range [][2]string{
		{"2083-02-28", "2083-03-31"}, {"2083-03-31", "2083-04-30"}, {"2083-04-30", "2083-05-31"},
	} {
		due, err := time.Parse(time.RFC3339, step[0]+"T03:00:00Z")
		require.NoError(t, err)
		b.apply(t, gateway.Event{
			Gateway: gateway.GWA, SubscriptionID: remote, CreatedAt: due,
			Payload: gateway.SettledPayment{Payment: gateway.Payment{
				ID: "pay_" + step[0], Status: gateway.PaymentStatusSettled, NativeStatus: "CONFIRMED",
				Method: gateway.MethodCard, Amount: 4990, DueDate: &due, SettledAt: &due,
			}},
		})
		require.Equal(t, step[1], b.day(t, id, "next_billing_date"))
	}
}

func TestCardOfGatewayBFollowsTheGateway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	advance := func(instant string) { // the sandbox alone: its webhooks are signed in real time
		at, err := time.Parse(time.RFC3339, instant)
		require.NoError(t, err)
		_, err = b.gateways.Sandbox.GWB.Stage().Clock.AdvanceTo(at)
		require.NoError(t, err)
	}
	advance(lastOfJanuary)
	id := b.paidGWB(t)
	require.Equal(t, "2083-02-28", b.day(t, id, "next_billing_date"))
	advance("2083-03-01T15:00:00Z")
	b.settle(t)
	require.Equal(t, "2083-03-31", b.day(t, id, "next_billing_date"))
	require.Equal(t, 31, column[int](t, b, id, "anchor_day"))
}

func TestAutomaticPixStaysOnThe31st(t *testing.T) {
	t.Parallel()
	b := setup(t)
	travel(t, b, lastOfJanuary)
	id, _ := b.authorized(t)
	for i, next := range []string{"2083-02-28", "2083-03-31", "2083-04-30", "2083-05-31"} {
		require.Equal(t, next, b.day(t, id, "next_billing_date"))
		cycle := column[time.Time](t, b, id, "next_billing_date")
		travel(t, b, cycle.AddDate(0, 0, -6).Format(time.RFC3339))
		require.NoError(t, b.service.Debit(t.Context(), id))
		require.Equal(t, next, b.text(t, "SELECT max(cycle)::text FROM subscriptions.debits"))
		travel(t, b, cycle.AddDate(0, 0, 2).Format(time.RFC3339))
		b.settle(t)
		require.Equal(t, i+2, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
	}
	require.Equal(t, "active", b.status(t, id))
}

func TestFailedDebitKeepsThe31st(t *testing.T) {
	t.Parallel()
	b := setup(t)
	travel(t, b, lastOfJanuary)
	id, auth := b.authorized(t)
	travel(t, b, "2083-02-22T12:00:00Z")
	require.NoError(t, b.service.Debit(t.Context(), id))
	b.apply(t, gateway.Event{
		Gateway: gateway.GWA, AuthorizationID: auth, CreatedAt: b.clock.Now(),
		Payload: gateway.FailedPayment{
			Attempt: 1, Payment: gateway.Payment{
				ID: b.text(t, "SELECT gateway_payment_id FROM subscriptions.debits"), Method: gateway.MethodPix,
				Amount: 4990,
			},
		},
	})
	require.Equal(t, "2083-03-31", b.day(t, id, "next_billing_date"))
}

// TestManualPixPaidAgain: what is paid again before the end adds a period to it,
// at both gateways.
func TestManualPixPaidAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, tc := range []struct { // the clocks of the gateways only run forward
		name   string
		months int
		paid   string
		want   []string
	}{
		{"not the month's end", 1, "2083-01-15T15:00:00Z", []string{"2083-02-15", "2083-03-15"}},
		{"a month", 1, "2083-01-31T15:00:00Z", []string{"2083-02-28", "2083-03-31", "2083-04-30", "2083-05-31"}},
		{"half a year", 6, "2083-08-31T15:00:00Z", []string{"2084-02-29", "2084-08-31"}},
		{"a quarter", 3, "2083-11-30T15:00:00Z", []string{"2084-02-29", "2084-05-30"}},
		{"a year", 12, "2084-02-29T15:00:00Z", []string{"2085-02-28", "2086-02-28", "2087-02-28", "2088-02-29"}},
	} {
		b.pix.months = tc.months
		travel(t, b, tc.paid)
		for _, gw := range []gateway.Name{gateway.GWA, gateway.GWB} {
			t.Run(tc.name+" "+string(gw), func(t *testing.T) {
				b.newcomer(t)
				id := idOf(b.expect(t, 201, http.MethodPost, "/"+string(gw)+"/subscribe/pix", object{"plan_id": plan}))
				for i, want := range tc.want {
					at := b.clock.Now()
					b.apply(t, gateway.Event{
						Gateway: gw, Type: gateway.Reconciled, Reference: id, CreatedAt: at,
						Payload: gateway.SettledPayment{Payment: gateway.Payment{
							ID: "pay_" + want + id.String(), Status: gateway.PaymentStatusSettled,
							NativeStatus: "RECEIVED", Method: gateway.MethodPix,
							Amount: money.Cents(4990 * tc.months), SettledAt: &at,
						}},
					})
					require.Equal(t, want, b.day(t, id, "expires_at"), "payment %d", i+1)
				}
			})
		}
	}
}

func TestPromoMonthKeepsItsThirtyDays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sellCode(b, 1990)
	at, err := time.Parse(time.RFC3339, lastOfJanuary)
	require.NoError(t, err)
	b.clock.Advance(at.Sub(b.clock.Now()))
	b.listen()
	id := idOf(b.expect(t, 201, http.MethodPost, "/gwa/subscribe", discountedCard(paymentstest.CardApproved)))
	b.settle(t)
	require.Equal(t, "2083-03-02", b.day(t, id, "next_billing_date"))
	travel(t, b, "2083-03-03T12:00:00Z")
	b.settle(t)
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id))
	require.Equal(t, 2, column[time.Time](t, b, id, "next_billing_date").In(reportZone(t)).Day())
}

func TestAdminMovesTheAnchor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	travel(t, b, lastOfJanuary)
	id, _ := b.authorized(t)
	admin := b.admin(t)
	admin.Post("/admin/subscriptions/"+id.String()+"/extend", object{"days": 10}).Expect(200)
	require.Equal(t, "2083-03-10", b.day(t, id, "next_billing_date"))
	require.Equal(t, 10, column[int](t, b, id, "anchor_day"))
	require.Nil(t, column[*time.Time](t, b, id, "expires_at"), "the debit of that day may be paid in the evening")
	admin.Put("/subscriptions", []object{{"_id": id, "next_billing_date": "2083-03-15T12:00:00Z"}}).Expect(200)
	require.Equal(t, 15, column[int](t, b, id, "anchor_day"))
	admin.Post("/subscriptions/"+id.String()+"/cancel", nil).Expect(200)
	travel(t, b, "2083-02-28T15:00:00Z")
	admin.Post("/admin/subscriptions/"+id.String()+"/activate", nil).Expect(200)
	require.Equal(t, "2083-03-28", b.day(t, id, "expires_at"), "it begins anew")
}
