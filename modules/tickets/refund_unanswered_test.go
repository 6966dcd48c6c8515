package tickets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	gwastage "marquee/testutil/sandbox/gwa/account"
	"marquee/testutil/sandbox/stage"
)

// TestNothingIsSaidOfARefundThatIsNotAnswered: while the gateway has not told whether it made the
// first one, a further cancel and refund are 409 with its name, whoever asks and by whatever key.
// Refused in the end, it is listed: who asked was told that it is not known.
func TestNothingIsSaidOfARefundThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	for _, gateway := range []string{"gwa", "gwb"} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			b := withdrawable(t)
			event := b.event(nil)
			m := buyTwo[gateway+" card"](b, b.me, event)
			path := "/admin/ticket-orders/" + order(m)["_id"].(string)
			suffix, refusal, faults := "/refund", `{"errors":[{"code":"invalid_action","description":"No."}]}`,
				b.gateways.Sandbox.GWA.Stage().Faults
			if gateway == "gwb" {
				suffix, refusal = "/refunds",
					`{"error":{"type":"invalid_request_error","code":"charge_disputed","message":"It has been charged back."}}`
				faults = b.gateways.Sandbox.GWB.Stage().Faults
			}
			require.NoError(t, faults.Plan(stage.Fault{
				Method: "POST", Suffix: suffix, Kind: stage.FaultOdd, Answer: stage.OddObject, Status: 200,
				Times: manyTimes,
			}))
			b.admin.With("Idempotency-Key", "5e1a2f6e-0c7b-4b61-9d53-1d0a7ce1b011").Post(path+"/cancel",
				object{"reason": "the first one"}).Expect(503)
			refund := ""
			require.NoError(t, b.db.QueryRow(t.Context(), "SELECT id FROM payments.refunds WHERE status = 'requested'").
				Scan(&refund))

			keyed := b.admin.With("Idempotency-Key", "5e1a2f6e-0c7b-4b61-9d53-1d0a7ce1b012")
			require.Contains(t, keyed.Post(path+"/cancel", object{"reason": "the second one"}).Expect(409).Detail(),
				refund)
			require.Contains(t, b.admin.Post(path+"/refund", object{"reason": "the second one"}).Expect(409).Detail(),
				refund)
			named := object{"reason": "the second one", "ticket_ids": []objectid.ID{ticketsOf(m)[0]}}
			require.Contains(t, b.admin.Post(path+"/refund", named).Expect(409).Detail(), refund)
			require.Contains(t, b.me.Post(withdrawPath(m), nil).Expect(409).Detail(), refund)

			faults.Clear()
			require.NoError(t, faults.Plan(stage.Fault{
				Method: "POST", Suffix: suffix, Kind: stage.FaultStatus, Status: 400, Body: refusal, Times: manyTimes,
			}))
			b.eventually("the refund comes to nothing", func() bool {
				b.clock.Advance(time.Hour)
				b.sweep()
				return b.count("SELECT count(*) FROM payments.refunds WHERE status = 'failed' AND id = $1", refund) == 1
			})
			state, _ := b.orderRow(order(m)["_id"].(string))
			require.Equal(t, "paid", state)
			b.code(ticketsOf(m)[0])
			b.eventually("it is left to people", func() bool {
				return b.count("SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'unrefundable' AND state = 'open' AND amount_cents = 24100 AND order_id = $1", order(m)["_id"]) == 1
			})
			if gateway == "gwb" {
				return
			}

			faults.Clear()
			_, err := b.gateways.Sandbox.GWA.ChangeSettings(func(s *gwastage.Settings) { s.RefundsInProgress = true })
			require.NoError(t, err)
			first := b.admin.Post(path+"/cancel", object{"reason": "the third one"}).Expect(200).Map()
			second := b.admin.Post(path+"/cancel", object{"reason": "the fourth one"}).Expect(200).Map()
			require.Equal(t, []any{
				first["refund_id"], 241.0,
			}, []any{second["refund_id"], second["refund_amount"]}, "it is under way, and may yet be denied")
			require.Contains(t, second["message"], "under way")
			_, err = b.gateways.Sandbox.GWA.EndRefund(order(m)["gateway_payment_id"].(string), false)
			require.NoError(t, err)
			b.settle()
			require.Equal(t, 1,
				b.count("SELECT count(*) FROM payments.unapplied_payments WHERE state = 'refunded' AND order_id = $1",
					order(m)["_id"]))
		})
	}
}
