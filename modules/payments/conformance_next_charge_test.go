package payments_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/gwa"
	"marquee/testutil/sandbox/stage"
)

// TestNextChargeIsMoved: nothing is charged before the instant, and once from it on,
// although it was asked for twice. Gateway B's request is judged by stripe-mock.
func TestNextChargeIsMoved(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		sub, c := g.collected(t)
		open, err := g.OpenCharges(t.Context(), c)
		require.NoError(t, err)
		for _, charge := range open { // gateway A's that was made ahead
			require.NoError(t, g.DropCharge(t.Context(), charge.ID, c.SubscriptionID))
		}
		to := g.stage.Clock.Now().Add(45 * day).Truncate(time.Second)
		for range 2 {
			moved, err := g.MoveNextCharge(t.Context(), c, to)
			require.NoError(t, err)
			require.False(t, moved.Status.Ended())
			require.NotNil(t, moved.NextBilling)
			require.WithinDuration(t, to, *moved.NextBilling, day)
		}
		g.advance(t, 43*day)
		require.Equal(t, 1, g.paid(t, sub))
		g.advance(t, 4*day)
		require.Equal(t, 2, g.paid(t, sub))
	})
}

// TestNextChargeOfWhatDoesNotRun: a lost answer is not known, and repeated; what has
// ended stays so; what is not there is missing.
func TestNextChargeOfWhatDoesNotRun(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		sub, c := g.collecting(t)
		to := g.stage.Clock.Now().AddDate(0, 0, 75).Truncate(time.Second)
		verb := map[gateway.Name]string{gateway.GWA: http.MethodPut, gateway.GWB: http.MethodPost}[g.Name()]
		g.fault(t, stage.Fault{Method: verb, Path: "/subscriptions", Kind: stage.FaultResetAfter})
		_, err := g.MoveNextCharge(t.Context(), c, to)
		require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
		g.stage.Faults.Clear()
		moved, err := g.MoveNextCharge(t.Context(), c, to)
		require.NoError(t, err, "repeated")
		require.WithinDuration(t, to, *moved.NextBilling, 24*time.Hour)
		require.NoError(t, g.CancelSubscription(t.Context(), sub.GatewayID, c.SubscriptionID))
		ended, err := g.MoveNextCharge(t.Context(), c, to.AddDate(0, 0, 1))
		require.NoError(t, err)
		require.True(t, ended.Status.Ended())
		c.GatewayID = "sub_nobody"
		_, err = g.MoveNextCharge(t.Context(), c, to)
		require.ErrorIs(t, err, gateway.ErrMissing)
	})
}

// putsA keeps what gateway A is sent by PUT, with change made to it on its way.
type putsA struct {
	sent   []*http.Request
	bodies []string
	change func(body string) string
}

// RoundTrip implements http.RoundTripper.
func (p *putsA) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPut {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		p.sent, p.bodies = append(p.sent, r), append(p.bodies, string(body))
		changed := p.change(string(body))
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(changed)), int64(len(changed))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestA_NextChargeIsMovedByItsDayAlone: the request has the shape of docs/gateway-facts.md, A4, and the gateway drops
// unknown fields with 200: the day has to be in the answer, else it is not known.
func TestA_NextChargeIsMovedByItsDayAlone(t *testing.T) {
	t.Parallel()
	eachGateway(t, func(t *testing.T, g *gatewayUnderTest) {
		if g.Name() != gateway.GWA {
			return
		}
		terms := g.terms(t, g.approved)
		sub, err := g.Subscribe(t.Context(), terms)
		require.NoError(t, err)
		puts := &putsA{change: func(body string) string { return body }}
		a := gwa.New(gwa.Config{
			URL: g.all.Sandbox.GWAURL(), APIKey: "$aact_hmlg_sandbox", RetryWait: time.Millisecond, Transport: puts,
		})
		c := gateway.Collection{SubscriptionID: terms.SubscriptionID, GatewayID: sub.GatewayID}
		zone, err := time.LoadLocation("America/Sao_Paulo")
		require.NoError(t, err)
		now := g.stage.Clock.Now().In(zone).AddDate(0, 0, 75)
		late := time.Date(now.Year(), now.Month(), now.Day(), 22, 30, 0, 0, zone) // in UTC it is the next day
		_, err = a.MoveNextCharge(t.Context(), c, late.UTC())
		require.NoError(t, err)
		require.Len(t, puts.sent, 1)
		r := puts.sent[0]
		require.Equal(t, "/v3/subscriptions/"+sub.GatewayID, r.URL.Path)
		require.Empty(t, r.URL.RawQuery)
		require.Equal(t, "$aact_hmlg_sandbox", r.Header.Get("access_token"))
		require.NotEmpty(t, r.Header.Get("User-Agent"))
		require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		fields := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(puts.bodies[0]), &fields))
		require.Equal(t, map[string]any{
			"status": "ACTIVE", "nextDueDate": late.Format(time.DateOnly),
		}, fields, "and nothing of charges that were made already")

		puts.change = func(body string) string { return strings.ReplaceAll(body, "nextDueDate", "nextDueDay") }
		_, err = a.MoveNextCharge(t.Context(), c, late.AddDate(0, 0, 3))
		require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
	})
}
