package subscriptions_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/idempotency"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/sandbox/stage"
)

// refundRoutes are the routes that give money back, with the gateway of what they
// give back and a body for a part, or for all of it where a route takes no part.
func refundRoutes() map[string]struct {
	paid func(*bundle, *testing.T) objectid.ID
	body object
} {
	return map[string]struct {
		paid func(*bundle, *testing.T) objectid.ID
		body object
	}{
		"/admin/gwa/subscriptions/%s/refund": {(*bundle).paidGWA, object{"reason": "as agreed", "value": 20.0}},
		"/admin/gwb/subscriptions/%s/refund": {(*bundle).paidGWB, object{"reason": "as agreed", "amount": 2000}},
		"/subscriptions/%s/refund":           {(*bundle).paidGWB, object{"reason": "as agreed"}},
	}
}

// loseRefunds has the answers to refunds lost once they are made.
func loseRefunds(t *testing.T, b *bundle, kind stage.FaultKind) (again func()) {
	t.Helper()
	a, bb := b.gateways.Sandbox.GWA.Stage(), b.gateways.Sandbox.GWB.Stage()
	delay := stage.Duration(0)
	if kind == stage.FaultDelay {
		delay = stage.Duration(300 * time.Millisecond)
	}
	var paid string
	require.NoError(t,
		b.db.QueryRow(t.Context(),
			"SELECT coalesce(max(gateway_payment_id), '') FROM payments.payments WHERE gateway = 'gwa'").Scan(&paid))
	require.NoError(t, a.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v3/payments/" + paid + "/refund", Kind: kind, Delay: delay, Times: 50,
	}))
	require.NoError(t, bb.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v1/refunds", Kind: kind, Delay: delay, Times: 50,
	}))
	return func() { a.Faults.Clear(); bb.Faults.Clear() }
}

func eachRefundRoute(t *testing.T, run func(t *testing.T, b *bundle, id objectid.ID, path string, body object)) {
	for route, r := range refundRoutes() {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := r.paid(b, t)
			run(t, b, id, fmt.Sprintf(route, id), r.body)
		})
	}
}

func TestEveryRefundRouteRepeatsItsAnswer(t *testing.T) {
	t.Parallel()
	eachRefundRoute(t, func(t *testing.T, b *bundle, id objectid.ID, path string, body object) {
		admin := b.admin(t).With("Idempotency-Key", "k")
		first := admin.Post(path, body).Expect(200)
		require.Equal(t, string(first.Body), string(admin.Post(path, body).Expect(200).Body))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
		require.Equal(t, idempotency.CodeReused, admin.Post(path, object{"reason": "another one"}).Expect(409).Code())

		// As if the process had died before it could keep the answer.
		_, err := b.db.Exec(t.Context(), "UPDATE platform.idempotency_keys SET answer = NULL")
		require.NoError(t, err)
		require.JSONEq(t, string(first.Body), string(admin.Post(path, body).Expect(200).Body))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
		b.settle(t)
		require.Equal(t, b.count(t, "SELECT sum(amount_cents) FROM payments.refunds"),
			int(column[int64](t, b, id, "total_refunded_cents")))
	})
}

func TestAKeyIsOfOneSubscription(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.paidGWB(t)
	b.newcomer(t)
	second := b.paidGWB(t)
	admin := b.admin(t).With("Idempotency-Key", "k")
	admin.Post("/subscriptions/"+first.String()+"/refund", object{"reason": "as agreed"}).Expect(200)
	require.Equal(t, idempotency.CodeReused,
		admin.Post("/subscriptions/"+second.String()+"/refund", object{"reason": "as agreed"}).Expect(409).Code())
}

func TestTwentyEqualRefundsGiveBackOnce(t *testing.T) {
	t.Parallel()
	eachRefundRoute(t, func(t *testing.T, b *bundle, _ objectid.ID, path string, body object) {
		loseRefunds(t, b, stage.FaultDelay)
		admin := b.admin(t).With("Idempotency-Key", "k")
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if a := admin.Post(path, body); a.Status != 200 {
					require.Equal(t, idempotency.CodeInProgress, a.Expect(409).Code())
				}
			})
		}
		wg.Wait()
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.refunds"))
		b.settle(t)
	})
}

// TestARefundThatIsNotAnswered: its repetition waits, any other names it.
func TestARefundThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	eachRefundRoute(t, func(t *testing.T, b *bundle, _ objectid.ID, path string, body object) {
		again := loseRefunds(t, b, stage.FaultResetBefore)
		admin := b.admin(t)
		unknown := admin.With("Idempotency-Key", "k").Post(path, body).Expect(503)
		require.NotEmpty(t, unknown.Header.Get("Retry-After"))
		again()
		require.Equal(t, idempotency.CodeInProgress,
			admin.With("Idempotency-Key", "k").Post(path, body).Expect(409).Code())
		var open string
		require.NoError(t, b.db.QueryRow(t.Context(), "SELECT id FROM payments.refunds WHERE status = 'requested'").
			Scan(&open))
		for _, key := range []*apitest.Client{admin, admin.With("Idempotency-Key", "another")} {
			a := key.Post(path, body).Expect(409)
			require.Equal(t, "CONFLICT", a.Code())
			require.Contains(t, a.Detail(), open)
		}
		listed := admin.Get(path + "s").Expect(200).Map()["refunds"].([]any)[0].(object)
		require.Equal(t, open, listed["refund_id"])
		require.Equal(t, "requested", listed["status"])
	})
}

func TestAPartIsGivenBackAtGatewayB(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, admin := b.paidGWB(t), b.admin(t)
	path := "/admin/gwb/subscriptions/" + id.String() + "/refund"
	for _, amount := range []string{"0", "-1", "1.5", "4991", `"100"`, "1e2"} {
		a := admin.Post(path, fmt.Sprintf(`{"reason":"as agreed","amount":%s}`, amount)).Expect(422)
		require.Equal(t, "VALIDATION_ERROR", a.Code(), amount)
		require.Equal(t, "amount", a.Field(), amount)
	}
	part := admin.Post(path, object{"reason": "as agreed", "amount": 1990}).Expect(200).Map()
	require.Equal(t, 1990.0, part["refund_amount"])
	require.Equal(t, "amount", admin.Post(path, object{"reason": "as agreed", "amount": 3001}).Expect(422).Field())
	rest := admin.Post(path, object{"reason": "the rest"}).Expect(200).Map()
	require.Equal(t, 3000.0, rest["refund_amount"])
	b.settle(t)
	require.Equal(t, int64(4990), column[int64](t, b, id, "total_refunded_cents"))
	require.Equal(t, "REFUND_NOT_ALLOWED",
		admin.Post(path, object{"reason": "once more", "amount": 1}).Expect(422).Code())
}
