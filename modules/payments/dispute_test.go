package payments_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	gwastage "marquee/testutil/sandbox/gwa/account"
)

func TestDisputeStory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	local := objectid.New()
	record := func(id string, state gateway.DisputeState, second int) payments.DisputeChange {
		var change payments.DisputeChange
		require.NoError(t, postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) (err error) {
			at := b.clock.Now().Add(time.Duration(second) * time.Second)
			change, err = b.svc.RecordDisputeTx(t.Context(), tx, payments.DisputeRecord{
				Owner: gateway.Owner{
					Gateway: gateway.GWB, Purpose: gateway.ForSubscription, LocalID: local, CustomerID: objectid.New(),
				},
				Report: gateway.DisputeReport{
					ID: id, PaymentID: "pi_1", Amount: 4990, Reason: "fraudulent", State: state,
					NativeStatus: string(state),
					OpenedAt:     at, At: at,
				},
			})
			require.Equal(t, at, change.At)
			change.At = time.Time{}
			return err
		}))
		return change
	}
	require.Equal(t, payments.DisputeChange{
		State: gateway.DisputeOpen, Opened: true,
	}, record("du_1", gateway.DisputeOpen, 1))
	require.Equal(t, payments.DisputeChange{State: gateway.DisputeOpen}, record("du_1", gateway.DisputeOpen, 1),
		"told twice")
	require.Equal(t, payments.DisputeChange{
		State: gateway.DisputeOpen, Opened: true,
	}, record("du_2", gateway.DisputeOpen, 2))
	require.Equal(t, payments.DisputeChange{
		State: gateway.DisputeWon, Closed: true,
	}, record("du_1", gateway.DisputeWon, 3))
	require.Equal(t, payments.DisputeChange{State: gateway.DisputeWon}, record("du_1", gateway.DisputeOpen, 2),
		"late news reopen nothing")
	require.Equal(t, payments.DisputeChange{
		State: gateway.DisputeLost, Closed: true,
	}, record("du_2", gateway.DisputeLost, 2), "in the same second the later step wins")
	require.Equal(t, payments.DisputeChange{State: gateway.DisputeLost}, record("du_2", gateway.DisputeWon, 9),
		"what was lost stays lost")
	require.Equal(t, payments.DisputeChange{State: gateway.DisputeInquiry}, record("du_3", gateway.DisputeInquiry, 5),
		"an inquiry holds no money")
	all, err := b.svc.DisputesOf(t.Context(), b.pool, gateway.ForSubscription, local)
	require.NoError(t, err)
	require.Len(t, all, 3)
}

func TestDisputeOfAnInvoiceThatNeverToldItsIntent(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.listen()
	terms := termsB(t, s.g, paymentstest.TokenApproved)
	terms.SubscriptionID = s.local
	sub, err := s.g.B.Subscribe(t.Context(), terms)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.count("SELECT count(*) FROM payments.payments") == 1 }, time.Minute,
		20*time.Millisecond)
	require.Equal(t, 1, s.count("SELECT count(*) FROM payments.payments WHERE payment_intent_id IS NULL"),
		"newer invoice events tell no intent")
	_, err = s.g.Sandbox.GWB.OpenDispute(sub.LatestPayment.PaymentIntentID, "fraudulent", false)
	require.NoError(t, err)
	require.Eventually(t,
		func() bool { return s.count("SELECT count(*) FROM payments.disputes WHERE state = 'open'") == 1 },
		time.Minute, 20*time.Millisecond)
	require.Equal(t, 1, s.count("SELECT count(*) FROM payments.payments WHERE payment_intent_id = $1",
		sub.LatestPayment.PaymentIntentID))
}

func TestDisputeBeforeItsPayment(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	payer := paymentstest.Payer()
	var err error
	payer.GatewayID, err = s.g.A.EnsureCustomer(t.Context(), payer)
	require.NoError(t, err)
	pix, err := s.g.A.CreatePix(t.Context(), gateway.PixTerms{
		Reference: objectid.New(), Payer: payer, Amount: 4990, DueDate: s.clock.Now(),
	})
	require.NoError(t, err)
	paid := pix.Payment.ID
	_, err = s.g.Sandbox.GWA.Pay(paid)
	require.NoError(t, err)
	_, err = s.g.Sandbox.GWA.Chargeback(paid, gwastage.ChargebackRequested, "")
	require.NoError(t, err)
	body := []byte(`{"id":"evt_1&1","event":"PAYMENT_CHARGEBACK_REQUESTED","dateCreated":"2026-11-24 18:20:49","payment":{"id":"` + paid + `","value":49.90,"status":"CHARGEBACK_REQUESTED"}}`)
	b := &bundle{t: t, pool: s.pool, url: s.url}
	require.Equal(t, gateway.ResultIgnored, b.deliver("gwa", body).body.Result.Status)
	require.NoError(t, postgres.InTx(t.Context(), s.pool, func(tx pgx.Tx) error {
		_, err := s.svc.RecordPaymentTx(t.Context(), tx, payments.Record{
			Owner: gateway.Owner{
				Gateway: gateway.GWA, Purpose: gateway.ForOrder, LocalID: s.local, CustomerID: s.buyer,
			},
			Payment: settled(paid, "CONFIRMED"),
		})
		return err
	}))
	require.Eventually(t,
		func() bool { return s.count("SELECT count(*) FROM payments.disputes WHERE state = 'open'") == 1 },
		time.Minute, 20*time.Millisecond)
}
