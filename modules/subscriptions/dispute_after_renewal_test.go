package subscriptions_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
)

// renewedByCard renews the customer's subscription and answers the one that has it now.
func renewedByCard(t *testing.T, b *bundle) objectid.ID {
	t.Helper()
	id := renewed(b.expect(t, 200, http.MethodPut, renewPath, goodCard()))
	b.settle(t)
	require.Equal(t, "active", b.status(t, id))
	return id
}

// suspendedAfterRenewal: the dispute of what the first one paid holds the one that has its customer now.
func suspendedAfterRenewal(t *testing.T, b *bundle, first, last objectid.ID) {
	t.Helper()
	require.Equal(t, "cancelled", b.status(t, first))
	require.Equal(t, "suspended", b.status(t, last))
	require.True(t, column[bool](t, b, last, "has_chargeback"))
	require.False(t, b.access(t))
	require.Equal(t, "pausing", b.pause(t, last))
	refused(t, b.expect(t, 422, http.MethodPost, withdrawPath, nil), "WITHDRAWAL_NOT_ALLOWED", "")
}

// TestADisputeAfterRenewals: the payment of a subscription that renewals have replaced is
// that of the one which goes on by it.
func TestADisputeAfterRenewals(t *testing.T) {
	t.Parallel()
	for gateway, d := range disputesAt {
		for _, end := range []string{"lost", "won"} {
			t.Run(gateway+" "+end, func(t *testing.T) {
				t.Parallel()
				b := withdrawable(t)
				first := d.begin(b, t)
				b.signLater(t)
				renewedByCard(t, b)
				last := renewedByCard(t, b)
				b.goBy(t, day)
				dispute := d.open(b, t, first)
				suspendedAfterRenewal(t, b, first, last)
				b.goBy(t, 40*day)
				require.Equal(t, "paused", b.pause(t, last))
				paid, waiting := b.taken(t, last)
				require.EqualValues(t, 4990, paid, "nothing is charged")
				require.Zero(t, waiting)
				d.close(b, t, dispute, end == "won")
				b.goBy(t, time.Hour)
				if end == "won" {
					require.Equal(t, "active", b.status(t, last))
					require.True(t, b.access(t))
					require.Equal(t, "resumed", b.pause(t, last))
					require.Zero(t, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions WHERE has_chargeback"))
					return
				}
				require.Equal(t, "cancelled", b.status(t, last))
				require.Equal(t, "void", b.pause(t, last))
				require.NoError(t, b.service.EndAtGateway(t.Context(), last))
				require.NotNil(t, column[*time.Time](t, b, last, "gateway_ended_at"))
				require.Equal(t, 1, b.count(t, "SELECT count(*) FROM finance.exits"))
				b.goBy(t, 40*day)
				paid, _ = b.taken(t, last)
				require.EqualValues(t, 4990, paid)
			})
		}
	}
}

// TestAPixThatIsTakenBackAfterARenewalByCard ends what was renewed by it.
func TestAPixThatIsTakenBackAfterARenewalByCard(t *testing.T) {
	t.Parallel()
	b := withdrawable(t)
	first := b.paidPixGWA(t)
	last := renewedByCard(t, b)
	_, err := b.gateways.Sandbox.GWA.TakeBack(column[string](t, b, first, "pix_payment_id"), 0)
	require.NoError(t, err)
	b.settle(t)
	require.Equal(t, "cancelled", b.status(t, last))
	require.False(t, b.access(t))
	moves := b.history(t, last)
	require.Equal(t, "active>cancelled chargeback webhook", moves[len(moves)-1])
	require.NoError(t, b.service.EndAtGateway(t.Context(), last))
	require.NotNil(t, column[*time.Time](t, b, last, "gateway_ended_at"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM finance.exits"))
}

// TestAnAdminsChargebackAfterARenewal: entered for either, it holds the one that goes on,
// and is of the payment that was made; the gateway's own report is the same dispute.
func TestAnAdminsChargebackAfterARenewal(t *testing.T) {
	t.Parallel()
	for gateway, d := range disputesAt {
		for _, entered := range []string{"old", "new"} {
			t.Run(gateway+" "+entered, func(t *testing.T) {
				t.Parallel()
				b := withdrawable(t)
				first, admin := d.begin(b, t), b.admin(t)
				last := renewedByCard(t, b)
				if gateway == "gwb" {
					_, err := b.db.Exec(t.Context(), "UPDATE payments.payments SET payment_intent_id = $1",
						intentPaid(t, b))
					require.NoError(t, err)
				}
				id := map[string]objectid.ID{"old": first, "new": last}[entered]
				a := admin.Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "told by the bank"}).
					Expect(200).Map()
				require.Equal(t, true, doc(a)["has_chargeback"], entered)
				suspendedAfterRenewal(t, b, first, last)
				require.Equal(t, 1, b.count(t,
					"SELECT count(*) FROM payments.disputes WHERE local_id = $1 AND amount_cents = 4990", first))
				list := admin.Get("/subscriptions/" + last.String() + "/refunds").Expect(200).Map()
				require.EqualValues(t, 1, list["chargeback_count"])
				dispute := d.open(b, t, first)
				require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.disputes"))
				d.close(b, t, dispute, false)
				require.Equal(t, "cancelled", b.status(t, last))
			})
		}
	}
}

// TestADisputeWhileARenewalWaits ends the renewal, whose card would open what is held.
func TestADisputeWhileARenewalWaits(t *testing.T) {
	t.Parallel()
	for _, won := range []bool{true, false} {
		b := withdrawable(t)
		first := b.paidGWB(t)
		b.set(t, first, "payment_failures = 1") // nothing is paid: the card is charged, and asked for, at once
		waiting := renewed(b.expect(t, 200, http.MethodPut, renewPath,
			object{"payment_method_id": paymentstest.TokenAuthentication}))
		b.settle(t)
		require.Equal(t, "pending", b.status(t, waiting))
		dispute := disputesAt["gwb"].open(b, t, first)
		require.Equal(t, "suspended", b.status(t, first))
		require.Equal(t, "cancelled", b.status(t, waiting))
		b.settle(t)
		require.NoError(t, b.service.EndAtGateway(t.Context(), waiting)) // or its job, which runs
		eventually(t, "it is ended at the gateway",
			func() bool { return column[*time.Time](t, b, waiting, "gateway_ended_at") != nil })
		disputesAt["gwb"].close(b, t, dispute, won)
		require.Equal(t, map[bool]string{true: "active", false: "cancelled"}[won], b.status(t, first))
		require.Equal(t, won, b.access(t))
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM finance.exits WHERE reason = 'chargeback'"))
	}
}

// TestTheSweepHoldsWhatWasDisputedBefore: the release that took the dispute in held, or
// ended, the replaced subscription alone. What an admin has activated since stays open.
func TestTheSweepHoldsWhatWasDisputedBefore(t *testing.T) {
	t.Parallel()
	for gateway, d := range disputesAt {
		for end, status := range map[string]string{"open": "suspended", "lost": "cancelled", "won": "active"} {
			t.Run(gateway+" "+end, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				first := d.begin(b, t)
				b.signLater(t)
				last := renewedByCard(t, b)
				b.goBy(t, day)
				// As that release did: the dispute is known, and nothing was done to the renewal.
				b.set(t, last, "renews_id = NULL, starts_at = NULL")
				dispute := d.open(b, t, first)
				if end != "open" {
					d.close(b, t, dispute, end == "won")
				}
				require.Equal(t, "active", b.status(t, last))
				b.set(t, last, "renews_id = $2", first)
				require.NoError(t, b.service.Sweep(t.Context()))
				require.Equal(t, status, b.status(t, last))
				require.Equal(t, end == "won", b.access(t))
				b.runStatusChecks(t, 10*time.Second)
				b.goBy(t, time.Hour)
				if end == "open" {
					require.Equal(t, "paused", b.pause(t, last))
					b.admin(t).Post("/admin/subscriptions/"+last.String()+"/activate",
						object{"reason": "We know them"}).Expect(200)
					b.goBy(t, time.Hour)
					require.Equal(t, "active", b.status(t, last), "an admin has lifted it")
				}
			})
		}
	}
}
