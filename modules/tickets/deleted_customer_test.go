package tickets_test

import (
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/sandbox/stage"
)

// TestACodePaidByADeletedCustomerIsRefunded: the gateway could not drop it in time. The
// money is listed and given back by itself, whether it is told before or after the
// personal data went.
func TestACodePaidByADeletedCustomerIsRefunded(t *testing.T) {
	t.Parallel()
	for _, gw := range []gateway.Name{gateway.GWA, gateway.GWB} {
		for _, erased := range []bool{false, true} {
			t.Run(string(gw)+map[bool]string{false: " closed", true: " erased"}[erased], func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				event := b.event(nil)
				m := b.me.Post("/store/purchase/"+string(gw)+"/pix", pix(event, 2)).Expect(200).Map()
				id, payment := objectid.ID(order(m)["_id"].(string)), order(m)["gateway_payment_id"].(string)
				st, path, method := b.gateways.Sandbox.GWA.Stage(), "/v3/payments", http.MethodDelete
				if gw == gateway.GWB {
					st, path, method = b.gateways.Sandbox.GWB.Stage(), "/v1/payment_intents/"+payment+"/cancel",
						http.MethodPost
				}
				require.NoError(t, st.Faults.Plan(stage.Fault{
					Method: method, Path: path, Kind: stage.FaultStatus, Status: 500, Times: manyTimes,
				}))
				require.NoError(t, b.accounts.DeleteCustomer(t.Context(), b.customer.ID, b.customer.ID))
				require.Error(t, b.service.StopBilling(t.Context(), b.customer.ID))
				st.Faults.Clear()
				if gw == gateway.GWA {
					_, err := b.gateways.Sandbox.GWA.Pay(payment)
					require.NoError(t, err)
					b.gateways.Sandbox.GWA.SetBalance(10_000_000)
				} else {
					require.NoError(t, b.gateways.Sandbox.GWB.PayPIX(payment))
				}
				erase := func() {
					require.NoError(t, b.service.StopBilling(t.Context(), b.customer.ID))
					require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
						return b.service.ErasePersonalDataTx(t.Context(), tx, b.customer.ID)
					}))
				}
				if erased {
					erase() // which finds it paid
				}
				b.listen()
				b.settle()
				state, _ := b.orderRow(id.String())
				require.Equal(t, "refund_due", state)
				require.Zero(t, b.issued(event))
				require.Contains(t, b.history(id), "reserved>refund_due customer_deleted")
				listed := func(state string) int {
					return b.count("SELECT count(*) FROM payments.unapplied_payments WHERE order_id = $1 AND kind = 'late' AND automatic AND amount_cents = 24100 AND state = $2 AND note = $3",
						id, state, "Paid after the customer had deleted the account.")
				}
				require.Equal(t, 1, listed("open"))
				erase()
				b.sweep()
				require.NoError(t, b.service.Refunds().Refund(t.Context(), id, payment))
				require.Zero(t, b.count("SELECT count(*) FROM payments.refunds"),
					"the list gives it back, within its limits")
				require.NoError(t, b.payments.Cases().Sweep(t.Context()))
				b.settle()
				state, status := b.orderRow(id.String())
				require.Equal(t, "refunded", state)
				require.Equal(t, map[gateway.Name]string{gateway.GWA: "REFUNDED", gateway.GWB: "refunded"}[gw], status)
				require.Equal(t, 1, listed("refunded"))
				require.Zero(t, b.issued(event))
			})
		}
	}
}
