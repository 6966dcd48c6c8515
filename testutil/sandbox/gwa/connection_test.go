package gwa_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/stage"
)

func TestKeyIsChecked_A1(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for key, code := range map[string]string{
		"":                    "access_token_not_found",
		"no key at all":       "invalid_access_token_format",
		"$aact_hmlg_other":    "invalid_access_token",
		"$aact_prod_whatever": "invalid_environment",
	} {
		resp, raw := b.send("GET", "/v3/customers", nil, func(r *http.Request) { r.Header.Set("access_token", key) })
		require.Equal(t, http.StatusUnauthorized, resp.StatusCode, key)
		require.Contains(t, string(raw), `{"errors":[{"code":"`+code+`","description":"`)
	}
}

func TestUserAgentIsCompulsory_A1(t *testing.T) {
	t.Parallel()
	b := setup(t)
	resp, _ := b.send("GET", "/v3/customers", nil, func(r *http.Request) { r.Header.Set("User-Agent", "") })
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
}

func TestGETWithBodyIsForbidden_A1(t *testing.T) {
	t.Parallel()
	b := setup(t)
	resp, _ := b.send("GET", "/v3/customers", object{"a": 1})
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
}

func TestUnknownIDsAnswer404WithEmptyBody_A1(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{
		"/v3/customers/cus_000000000000", "/v3/subscriptions/sub_0000000000000000", "/v3/payments/pay_0000000000000000",
		"/v3/pix/automatic/authorizations/7d1f0c62-4b7e-4f0b-9a4c-5b6c7d8e9f01", "/v3/nothing",
	} {
		resp, raw := b.send("GET", path, nil)
		require.Equal(t, http.StatusNotFound, resp.StatusCode, path)
		require.Empty(t, raw, path)
	}
}

func TestUnknownFieldsAreDroppedSilently_A1(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.ok("POST", "/v3/customers", object{"name": "Ana", "cpfCnpj": validCPF, "externalRefrence": "x"})
	require.Nil(t, c["externalReference"])
	require.NotContains(t, c, "externalRefrence")
}

func TestLists_A1(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var ids []string
	for range 12 {
		ids = append(ids, b.customer())
	}
	list := b.ok("GET", "/v3/customers", nil)
	require.Len(t, list["data"], 10)
	delete(list, "data")
	require.Equal(t, object{"object": "list", "hasMore": true, "totalCount": 12.0, "limit": 10.0, "offset": 0.0}, list)
	require.Equal(t, ids[11], b.newest("/v3/customers?limit=1")["id"], "newest first")

	list = b.ok("GET", "/v3/customers?limit=500&offset=11", nil)
	require.Len(t, list["data"], 1)
	require.Equal(t, 100.0, list["limit"])
	require.Equal(t, false, list["hasMore"])
	require.Equal(t, 12.0,
		b.ok("GET", "/v3/customers?cpfCnpj=529.982.247-25&externalReference=66f0a1b2c3d4e5f607182901",
			nil)["totalCount"])
	require.Equal(t, 0.0, b.ok("GET", "/v3/customers?externalReference=other", nil)["totalCount"])
}

func TestPaymentFilters_A5(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ana, bia := b.customer(), b.customer()
	b.ok("POST", "/v3/payments", pixPayment(ana, 10))
	b.ok("POST", "/v3/payments", cardPayment(bia, 20))
	b.ok("POST", "/v3/subscriptions", subscription(bia, "2035-03-20"))
	for query, want := range map[string]float64{
		"":                            3,
		"customer=" + ana:             1,
		"billingType=CREDIT_CARD":     2,
		"status=CONFIRMED":            1,
		"dateCreated[ge]=2035-03-12":  3,
		"dateCreated[ge]=2035-03-13":  0,
		"dateCreated%5Ble%5D=2035-01": 0,
		"externalReference=66f0a1b2c3d4e5f607182a01": 1,
		"externalReference=66f0a1b2c3d4e5f607182b01": 2,
	} {
		require.Equal(t, want, b.ok("GET", "/v3/payments?"+query, nil)["totalCount"], query)
	}
}

func TestLimitsAreAnnouncedAnd429Follows_A1(t *testing.T) {
	t.Parallel()
	b := setup(t)
	resp, _ := b.send("GET", "/v3/customers", nil)
	require.Equal(t, "25000", resp.Header.Get("RateLimit-Limit"))
	require.Equal(t, "24999", resp.Header.Get("RateLimit-Remaining"))
	require.Equal(t, "43200", resp.Header.Get("RateLimit-Reset"))

	b.g.ExhaustRateLimit(30 * time.Second)
	resp, raw := b.send("GET", "/v3/customers", nil)
	require.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	require.Equal(t, "0", resp.Header.Get("RateLimit-Remaining"))
	require.Contains(t, string(raw), `"errors":[`)
	b.advance(31 * time.Second)
	b.ok("GET", "/v3/customers", nil)

	require.NoError(t, b.g.Stage().Faults.Plan(stage.Fault{Kind: stage.FaultStatus, Status: 429}))
	resp, _ = b.send("GET", "/v3/customers", nil)
	require.Equal(t, http.StatusTooManyRequests, resp.StatusCode)
	require.Equal(t, "0", resp.Header.Get("RateLimit-Remaining"))
	require.NotEmpty(t, resp.Header.Get("RateLimit-Reset"))
}

func TestFaults(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	plan := func(kind stage.FaultKind, status int) {
		require.NoError(t, b.g.Stage().Faults.Plan(stage.Fault{
			Method: "POST", Path: "/v3/payments", Kind: kind, Status: status,
		}))
	}
	payments := func() float64 { return b.ok("GET", "/v3/payments", nil)["totalCount"].(float64) }
	unanswered := func(until func() bool) {
		raw, _ := json.Marshal(pixPayment(c, 10))
		ctx, hangUp := context.WithCancel(t.Context())
		defer hangUp()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+"/v3/payments",
			strings.NewReader(string(raw)))
		require.NoError(t, err)
		req.Header.Set("access_token", apiKey)
		ended := make(chan error, 1)
		go func() {
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			ended <- err
		}()
		require.Eventually(t, until, time.Minute, time.Millisecond)
		time.Sleep(100 * time.Millisecond) // in which an answer, or an effect, would come
		hangUp()
		require.ErrorIs(t, <-ended, context.Canceled)
	}

	plan(stage.FaultStatus, 500)
	status, code, _ := b.refused("POST", "/v3/payments", pixPayment(c, 10))
	require.Equal(t, 500, status)
	require.NotEmpty(t, code)
	plan(stage.FaultTimeoutBefore, 0)
	unanswered(func() bool { return len(b.g.Stage().Faults.Planned()) == 0 })
	require.Zero(t, payments(), "no effect before")
	plan(stage.FaultTimeoutAfter, 0)
	unanswered(func() bool { return payments() > 0 })
	require.Equal(t, 1.0, payments(), "the effect, unknown to the caller")
	require.Equal(t, []string{"PAYMENT_CREATED"}, names(b.deliveredEvents()), "its event comes all the same")

	plan(stage.FaultStatus, 404)
	resp, raw := b.send("POST", "/v3/payments", pixPayment(c, 10))
	require.Equal(t, 404, resp.StatusCode)
	require.Empty(t, raw)
}

func TestMoneyIsExact_A1(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.customer()
	for sent, printed := range map[string]string{
		"49.90": "49.9", "240": "240", "19.99": "19.99", "1234567.05": "1234567.05", "5.00": "5", "0.1e2": "",
		"10.001": "", "\"x\"": "", "-5": "", "0": "",
	} {
		resp, raw := b.send("POST", "/v3/payments", merged(pixPayment(c, json.RawMessage(sent))))
		if printed == "" {
			require.Equal(t, 400, resp.StatusCode, sent)
			require.Contains(t, string(raw), `"invalid_value"`)
			continue
		}
		require.Equal(t, 200, resp.StatusCode, string(raw))
		require.Contains(t, string(raw), fmt.Sprintf(`"value":%s,`, printed))
	}
}

func TestControlsAreListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	list := b.ok("GET", "/_sandbox", nil)
	require.Equal(t, "gwa", list["gateway"])
	paths := map[string]bool{}
	for _, c := range list["controls"].([]any) {
		paths[c.(object)["path"].(string)] = true
	}
	for _, want := range []string{
		"/_sandbox/payments/{id}/pay", "/_sandbox/payments/{id}/expire", "/_sandbox/subscriptions/{id}/renew",
		"/_sandbox/authorizations/{id}/activate", "/_sandbox/events", "/_sandbox/settings", "/_sandbox/clock/advance",
		"/_sandbox/faults", "/_sandbox/journal",
	} {
		require.True(t, paths[want], want)
	}
}
