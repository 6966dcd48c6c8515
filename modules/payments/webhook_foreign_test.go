package payments_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
	"marquee/testutil/secrettest"
)

func TestForeignCallsAreLoggedAndRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := sample(t, "gwb.invoice.paid.first.dahlia")
	now := b.clock.Now()
	for name, c := range map[string]struct {
		gateway, header, value string
		body                   []byte
	}{
		"B without signature": {gateway: "gwb", header: "", value: "", body: body},
		"B with another secret": {
			gateway: "gwb", header: "Stripe-Signature", value: signed("whsec_other", now, body), body: body,
		},
		"B with a changed body": {
			gateway: "gwb", header: "Stripe-Signature", value: signed(paymentstest.GWBSecret, now, body),
			body: append([]byte(" "), body...),
		},
		"B too old": {
			gateway: "gwb", header: "Stripe-Signature",
			value: signed(paymentstest.GWBSecret, now.Add(-6*time.Minute), body), body: body,
		},
		"B no JSON": {
			gateway: "gwb", header: "Stripe-Signature", value: "nonsense", body: []byte("hello \x00 \xff"),
		},
		"A without token": {
			gateway: "gwa", header: "", value: "", body: []byte(`{"id":"evt_1","event":"PAYMENT_CONFIRMED"}`),
		},
		"A with another token": {
			gateway: "gwa", header: "asaas-access-token", value: "not-the-token-that-was-agreed-upon-00",
			body: []byte(`{"id":"evt_2","event":"PAYMENT_CONFIRMED"}`),
		},
		"A with B's signature": {
			gateway: "gwa", header: "Stripe-Signature", value: signed(paymentstest.GWBSecret, now, body), body: body,
		},
		"A with an absurd number": {gateway: "gwa", header: "", value: "", body: []byte(`{"id":"evt_3","n":1e999999}`)},
	} {
		before := b.count("SELECT count(*) FROM payments.refused_webhooks")
		a := b.send(c.gateway, c.header, c.value, c.body)
		require.Equal(t, http.StatusUnauthorized, a.status, name)
		require.Contains(t, a.raw, `"detail":`, name)
		require.Equal(t, before+1, b.count("SELECT count(*) FROM payments.refused_webhooks"), name)
	}
	require.Equal(t, 0, b.count("SELECT count(*) FROM payments.webhook_logs"))
	require.Equal(t, 0, b.count("SELECT count(*) FROM public.effects"))
	require.Equal(t, 0, b.count("SELECT count(*) FROM payments.processed_events"))
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.refused_webhooks WHERE event_id = 'evt_2' AND event_type = 'PAYMENT_CONFIRMED'"))

	a := b.send("gwb", "", "", []byte(`"`+strings.Repeat("a", 100_000)+`"`))
	require.Equal(t, http.StatusUnauthorized, a.status)
	require.LessOrEqual(t,
		b.count("SELECT max(octet_length(payload #>> '{}')) FROM payments.refused_webhooks WHERE jsonb_typeof(payload) = 'string'"), 4096, "stored bounded")

	require.Equal(t, http.StatusRequestEntityTooLarge,
		b.deliver("gwb", []byte(`"`+strings.Repeat("a", 1<<20)+`"`)).status)
	require.NotContains(t, b.dump(), "not-the-token-that-was-agreed-upon")
}

func TestAForgedEventDoesNotTakeThePlaceOfTheRealOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := sample(t, "gwb.invoice.paid.first.dahlia")
	require.Equal(t, http.StatusUnauthorized, b.send("gwb", "", "", body).status)
	require.Equal(t, gateway.ResultApplied, b.deliver("gwb", body).body.Result.Status)
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.refused_webhooks WHERE NOT signature_valid AND NOT processed AND result IS NULL"))
}

func TestMalformedAuthenticatedBodiesAreIgnored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	bodies := []string{
		``, `null`, `[]`, `5`, `"x"`, `{}`, `not json`, "{\"id\":\"\xff\"", `{"id":5,"type":6,"event":7}`,
		`{"id":null}`, `{"id":"evt_1"}`, `{"id":"evt_\u0000","type":"x","event":"x"}`,
		`{"id":"` + strings.Repeat("x", 300) + `","type":"x","event":"x"}`,
		`{"id":"evt_a","type":"invoice.paid","event":"PAYMENT_CONFIRMED"}`,
		`{"id":"evt_b","type":"invoice.paid","event":"PAYMENT_CONFIRMED","data":null,"payment":null}`,
		`{"id":"evt_c","type":"invoice.paid","event":"PAYMENT_CONFIRMED","data":{"object":"in_1"},"payment":"pay_1"}`,
		`{"id":"evt_d","type":"invoice.paid","event":"PAYMENT_CONFIRMED","data":{"object":[]},"payment":[]}`,
		`{"id":"evt_e","type":"customer.subscription.updated","event":"PAYMENT_RECEIVED","data":{"object":{}},"payment":{}}`,
		`{"id":"evt_f","type":"unheard.of","event":"UNHEARD_OF","deep":` + strings.Repeat("[", 60) +
			strings.Repeat("]", 60) + `}`,
		`{"id":"evt_g","type":"unheard.of","event":"UNHEARD_OF","n":1e99999,"s":"\ud800"}`,
	}
	for _, body := range bodies {
		for _, name := range []string{"gwa", "gwb"} {
			a := b.deliver(name, []byte(body))
			require.Equal(t, http.StatusOK, a.status, "%s %s: %s", name, body, a.raw)
			require.True(t, a.body.Received)
			require.Equal(t, gateway.ResultIgnored, a.body.Result.Status, "%s %s: %s", name, body, a.raw)
		}
	}
	require.Equal(t, 2*len(bodies),
		b.count("SELECT count(*) FROM payments.webhook_logs WHERE signature_valid AND processed"))
}

func TestConfigOfGatewayB(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res, err := http.Get(b.url + "/api/v1/gwb/config")
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.JSONEq(t, `{"publishable_key":"pk_test_sandbox"}`, string(raw))

	api := httpapi.New(httpapi.Config{Log: secrettest.Logger(t)})
	payments.New(payments.Deps{Pool: b.pool, Clock: b.clock, Log: secrettest.Logger(t)}).Routes(api)
	w := httptest.NewRecorder()
	apitest.Handler(t, api).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/gwb/config", nil))
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.JSONEq(t, `{"detail":"Internal Server Error"}`, w.Body.String())
	w = httptest.NewRecorder()
	apitest.Handler(t, api).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/webhooks/gwb", strings.NewReader("{}")))
	require.Equal(t, http.StatusUnauthorized, w.Code, "a gateway that is not configured cannot be authenticated")
}

func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply.failing.Store(true)
	b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription"))
	b.deliver("gwb", sample(t, "gwb.invoice.paid.first.dahlia"))
	b.deliver("gwa", []byte("{"))
	dump := b.dump() + b.logs.String()
	for _, leak := range []string{paymentstest.GWAToken, paymentstest.GWBSecret, "aact_hmlg", "sk_test"} {
		require.NotContains(t, dump, leak)
	}
	require.Equal(t, 2,
		b.count("SELECT count(*) FROM payments.webhook_logs WHERE gateway = 'gwa' AND signature IS NULL"))
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.webhook_logs WHERE gateway = 'gwb' AND signature LIKE 't=%'"))
}
