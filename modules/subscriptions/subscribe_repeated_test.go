package subscriptions_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/idempotency"
	"marquee/testutil/sandbox/stage"
)

// subscribes are the routes that make a subscription, with what each is sent.
func subscribes() map[string]object {
	return map[string]object{
		"/gwa/subscribe":                gwaCard(paymentstest.CardApproved),
		"/gwa/subscribe/pix":            {"plan_id": plan},
		"/gwa/subscribe/pix-automatico": {"plan_id": plan},
		"/gwb/subscribe":                gwbCard(paymentstest.TokenApproved),
		"/gwb/subscribe/pix":            {"plan_id": plan},
	}
}

func TestEverySubscribeRouteRepeatsItsAnswer(t *testing.T) {
	t.Parallel()
	for path, body := range subscribes() {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			me := b.client(t, "k")
			first := me.Post(path, body).Expect(201)
			require.Equal(t, string(first.Body), string(me.Post(path, body).Expect(201).Body),
				"no 409 for what the customer has just made")
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions"))
			body["plan_id"] = "another"
			require.Equal(t, idempotency.CodeReused, me.Post(path, body).Expect(409).Code())

			// As if the process had died before it could keep the answer.
			body["plan_id"] = plan
			_, err := b.db.Exec(t.Context(), "UPDATE platform.idempotency_keys SET answer = NULL")
			require.NoError(t, err)
			created := me.Post(path, body).Expect(201)
			require.Equal(t, first.Map()["docs"], created.Map()["docs"])
			for _, field := range []string{
				"client_secret", "pix", "payment_id", "payment_intent_id", "amount", "months",
			} {
				require.Equal(t, first.Map()["info"].(object)[field], created.Map()["info"].(object)[field], field)
			}
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions"))
		})
	}
}

func TestARenewalRepeatsItsAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.expect(t, 201, http.MethodPost, "/gwb/subscribe", gwbCard(paymentstest.TokenApproved))
	me := b.client(t, "renewal")
	body := object{"payment_method_id": paymentstest.TokenApproved}
	first := me.Put("/customers/me/subscription/renew", body).Expect(200)
	require.Equal(t, string(first.Body), string(me.Put("/customers/me/subscription/renew", body).Expect(200).Body))
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions"))
	require.Len(t, b.gateways.Paid(t), 1, "the new one charges when the paid month ends")
}

func TestAnAuthenticationIsRepeatedWithItsSecret(t *testing.T) {
	t.Parallel()
	b := setup(t)
	me := b.client(t, "k")
	first := me.Post("/gwb/subscribe", gwbCard(paymentstest.TokenAuthentication)).Expect(201)
	secret, _ := first.Map()["info"].(object)["client_secret"].(string)
	require.NotEmpty(t, secret)
	require.Equal(t, string(first.Body),
		string(me.Post("/gwb/subscribe", gwbCard(paymentstest.TokenAuthentication)).Expect(201).Body))
	var stored string
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT encode(answer, 'escape') FROM platform.idempotency_keys").
		Scan(&stored))
	require.NotContains(t, stored, "secret")
	require.NotContains(t, stored, secret)
}

func TestTwentyEqualSubscribesChargeOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	me := b.client(t, "k")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if a := me.Post("/gwb/subscribe", gwbCard(paymentstest.TokenApproved)); a.Status != 201 {
				require.Equal(t, idempotency.CodeInProgress, a.Expect(409).Code())
			}
		})
	}
	wg.Wait()
	require.Len(t, b.gateways.Charges(t), 1)
	me.Post("/gwb/subscribe", gwbCard(paymentstest.TokenApproved)).Expect(201)
}

// TestASubscribeThatWasCutOffChargesOnce: the gateway's answer was lost.
func TestASubscribeThatWasCutOffChargesOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	st := b.gateways.Sandbox.GWA.Stage()
	me := b.client(t, "k")
	require.NoError(t, st.Faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v3/payments", Kind: stage.FaultResetAfter, Times: 100,
	}))
	first := me.Post("/gwa/subscribe/pix", object{"plan_id": plan}).Expect(201)
	st.Faults.Clear()
	b.runStatusChecks(t, 5*time.Second)
	again := me.Post("/gwa/subscribe/pix", object{"plan_id": plan}).Expect(201)
	require.Equal(t, string(first.Body), string(again.Body), "the first answer: that it is not known")
	require.NotEmpty(t, me.Get("/customers/me/pix-qr").Expect(200).Map()["pix"].(object)["qr_code"])
	require.Len(t, b.gateways.Charges(t), 1)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.subscriptions"))
}
