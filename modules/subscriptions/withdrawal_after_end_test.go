package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
)

// TestWithdrawAfterTheEnd: who has cancelled may withdraw all the same, also after
// renewals and after another try to subscribe that came to nothing.
func TestWithdrawAfterTheEnd(t *testing.T) {
	t.Parallel()
	cancel := func(b *bundle, t *testing.T, _ objectid.ID) {
		b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
	}
	for name, way := range map[string]struct {
		paid   func(*bundle, *testing.T) objectid.ID
		end    func(*bundle, *testing.T, objectid.ID)
		amount float64
	}{
		"card at A": {(*bundle).paidGWA, cancel, 49.90}, "PIX at A": {(*bundle).paidPixGWA, cancel, 49.90},
		"card at B": {(*bundle).paidGWB, cancel, 4990},
		"renewed": {(*bundle).paidGWB, func(b *bundle, t *testing.T, id objectid.ID) {
			renewedByCard(t, b)
			cancel(b, t, id)
		}, 4990},
		"tried anew": {(*bundle).paidGWB, func(b *bundle, t *testing.T, id objectid.ID) {
			cancel(b, t, id)
			b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenDeclined))
		}, 4990},
		"by an admin": {(*bundle).paidGWA, func(b *bundle, t *testing.T, id objectid.ID) {
			b.admin(t).Post("/admin/gwa/subscriptions/"+id.String()+"/cancel", object{"reason": "asked by phone"}).
				Expect(200)
		}, 49.90},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			id := way.paid(b, t)
			b.settle(t)
			way.end(b, t, id)
			b.settle(t)
			ended := b.count(t, "SELECT count(*) FROM subscriptions.transitions")
			res := b.expect(t, 200, http.MethodPost, withdrawPath, nil)
			require.Equal(t, way.amount, res["refund_amount"])
			require.Equal(t, "cancelled", res["status"])
			b.settle(t)
			require.Equal(t, int64(4990), column[int64](t, b, id, "total_refunded_cents"))
			require.Empty(t, b.gateways.Paid(t))
			require.Equal(t, res, b.expect(t, 200, http.MethodPost, withdrawPath, nil), "asked again")
			require.Equal(t, ended+1, b.count(t, "SELECT count(*) FROM subscriptions.transitions"))
			require.Equal(t, "cancelled cancelled withdrawn",
				b.text(t, `SELECT from_status || ' ' || to_status || ' ' || reason FROM subscriptions.transitions
				ORDER BY id DESC LIMIT 1`))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM finance.exits"))
		})
	}
}

// TestNoWithdrawalAfterTheEnd: the right ends as it would have, and is of money.
func TestNoWithdrawalAfterTheEnd(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	until := withdrawableUntil(t, b)
	b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
	b.clock.Advance(until.Sub(b.clock.Now()))
	a := b.expect(t, 422, http.MethodPost, withdrawPath, nil)
	refused(t, a, "WITHDRAWAL_NOT_ALLOWED", "")
	require.Contains(t, a["detail"], until.UTC().Format(time.RFC3339))

	b.newcomer(t)
	b.expect(t, 201, http.MethodPost, "/gwb/subscribe/pix", object{"plan_id": plan})
	b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
	b.expect(t, 404, http.MethodPost, withdrawPath, nil)

	b.newcomer(t)
	id := b.paidGWB(t)
	b.settle(t)
	b.expect(t, 200, http.MethodDelete, subscriptionPath, nil)
	disputesAt["gwb"].open(b, t, id)
	refused(t, b.expect(t, 422, http.MethodPost, withdrawPath, nil), "WITHDRAWAL_NOT_ALLOWED", "")
}
