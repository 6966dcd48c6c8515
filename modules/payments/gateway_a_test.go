package payments_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/gwa"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/clock"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

func termsA(t *testing.T, g *paymentstest.Gateways, card string) gateway.SubscriptionTerms {
	t.Helper()
	payer := paymentstest.Payer()
	id, err := g.A.EnsureCustomer(t.Context(), payer)
	require.NoError(t, err)
	payer.GatewayID = id
	return gateway.SubscriptionTerms{
		SubscriptionID: objectid.New(), Payer: payer, PlanID: "plus", PlanName: "Plus", Amount: 4990,
		FirstDue: g.Sandbox.GWA.Now(), Instrument: paymentstest.Card(card),
	}
}

func TestA_PostIsNeverRepeated(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	terms := termsA(t, g, paymentstest.CardApproved)
	st := g.Sandbox.GWA.Stage()
	for _, kind := range []stage.FaultKind{stage.FaultStatus, stage.FaultResetBefore, stage.FaultBadGateway} {
		require.NoError(t, st.Faults.Plan(stage.Fault{Method: "POST", Kind: kind, Times: 1}))
		_, err := g.A.Subscribe(t.Context(), terms)
		require.ErrorIs(t, err, gateway.ErrOutcomeUnknown, kind)
	}
	posted := func() (n int) {
		for _, e := range st.Journal.Entries(stage.EntryCall) {
			if e.Path == "/v3/subscriptions" {
				n++
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return posted() >= 3 }, time.Minute, time.Millisecond)
	require.Equal(t, 3, posted())
}

func TestA_FirstChargeIsConfirmed(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	terms := termsA(t, g, paymentstest.CardApproved)
	sub, err := g.A.Subscribe(t.Context(), terms)
	require.NoError(t, err)
	require.NoError(t, g.Sandbox.GWA.Advance(time.Minute))
	read, err := g.A.ReadSubscription(t.Context(), sub.GatewayID, terms.SubscriptionID)
	require.NoError(t, err)
	require.Equal(t, gateway.Succeeded, read.Outcome)
	require.Equal(t, "CONFIRMED", read.PaymentStatus)
	require.Equal(t, gateway.PaymentStatusSettled, read.LatestPayment.Status)
	require.Equal(t, sub.LatestPayment.ID, read.LatestPayment.ID)
}

func TestA_CancelledPixIsGone(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	payer := termsA(t, g, paymentstest.CardApproved).Payer
	order := objectid.New()
	made, err := g.A.CreatePix(t.Context(), gateway.PixTerms{
		Reference: order, Payer: payer, Amount: 4990, DueDate: g.Sandbox.GWA.Now(),
	})
	require.NoError(t, err)
	_, err = g.Sandbox.GWA.ExpirePIX(made.Payment.ID)
	require.NoError(t, err)
	require.NoError(t, g.A.CancelPix(t.Context(), made.Payment.ID, order))
	read, err := g.A.ReadPix(t.Context(), made.Payment.ID, order)
	if err == nil {
		require.True(t, read.Expired)
		require.Equal(t, gateway.PaymentStatusGone, read.Payment.Status)
	} else {
		require.ErrorIs(t, err, gateway.ErrMissing)
	}
}

func TestA_CodeThatIsNotThereYetIsAskedForAgain(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	terms := gateway.PixTerms{
		Reference: objectid.New(), Payer: termsA(t, g, paymentstest.CardApproved).Payer, Amount: 4990,
		DueDate: g.Sandbox.GWA.Now(),
	}
	require.NoError(t, g.Sandbox.GWA.Stage().Faults.Plan(stage.Fault{
		Method: "GET", Path: "/v3/payments/", Suffix: "/pixQrCode", Kind: stage.FaultStatus, Status: 400, Times: 2,
	}))
	made, err := g.A.CreatePix(t.Context(), terms)
	require.NoError(t, err)
	require.NotEmpty(t, made.Payload)

	terms.Reference = objectid.New()
	require.NoError(t, g.Sandbox.GWA.Stage().Faults.Plan(stage.Fault{
		Method: "GET", Path: "/v3/payments/", Suffix: "/pixQrCode", Kind: stage.FaultStatus, Status: 400, Times: 50,
	}))
	_, err = g.A.CreatePix(t.Context(), terms)
	require.ErrorIs(t, err, gateway.ErrOutcomeUnknown, "the payment was made")
	g.Sandbox.GWA.Stage().Faults.Clear()
	found, ok, err := g.A.FindPix(t.Context(), terms)
	require.NoError(t, err)
	require.True(t, ok)
	require.NotEmpty(t, found.Payload)
}

// A platform whose days are not those of São Paulo asks for its own, but for none
// that is over there.
func TestA_DueDaysAreThoseOfTheReports(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	now := clock.NewFake(g.Sandbox.GWA.Now())
	payer := termsA(t, g, paymentstest.CardApproved).Payer
	today := now.Now().In(zoneA(t)).Format(time.DateOnly)
	for _, tc := range []struct {
		zone string
		days int // from today in that zone
	}{
		{"UTC", 0},
		{"UTC", 7},
		{"Asia/Tokyo", 0},
		{"Asia/Tokyo", 7},
		{"America/Los_Angeles", 0},
		{"America/Los_Angeles", 7},
	} {
		zone, err := time.LoadLocation(tc.zone)
		require.NoError(t, err)
		a := gwa.New(gwa.Config{URL: g.Sandbox.GWAURL(), APIKey: "$aact_hmlg_sandbox", Days: zone, Clock: now})
		year, month, day := now.Now().In(zone).Date()
		due := time.Date(year, month, day+tc.days, 0, 0, 0, 0, zone)
		made, err := a.CreatePix(t.Context(), gateway.PixTerms{
			Reference: objectid.New(), Payer: payer, Amount: 4990, DueDate: due.UTC(),
		})
		require.NoError(t, err, tc)
		require.Equal(t, max(due.Format(time.DateOnly), today), made.Payment.DueDate.In(zoneA(t)).Format(time.DateOnly),
			tc)
	}
}

func zoneA(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	return zone
}

func TestA_PixBelowTheMinimumIsRejected(t *testing.T) {
	t.Parallel()
	g := paymentstest.NewGateways(t)
	_, err := g.A.CreatePix(t.Context(), gateway.PixTerms{
		Reference: objectid.New(), Payer: termsA(t, g, paymentstest.CardApproved).Payer, Amount: 499,
		DueDate: g.Sandbox.GWA.Now(),
	})
	var rejected *gateway.Rejected
	require.ErrorAs(t, err, &rejected)
	require.Equal(t, "invalid_object", rejected.Code)
}

// TestA_RestsAfter429: the endpoint rests for a minute, whatever the window of the
// account, and then sends one probe. Two endpoints make it the account: checks stop,
// what a customer waits for goes on with a probe a minute.
func TestA_RestsAfter429(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("RateLimit-Reset", "43200")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"errors":[{"code":"too_many_requests","description":"x"}]}`)
	}))
	t.Cleanup(server.Close)
	now := clock.NewFake(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	a := gwa.New(gwa.Config{URL: server.URL, APIKey: "$aact_hmlg_x", Clock: now})
	for range 5 {
		_, err := a.ReadPix(t.Context(), "pay_1", objectid.New())
		require.ErrorIs(t, err, gateway.ErrUnavailable)
	}
	require.EqualValues(t, 1, calls.Load(), "the others did not reach the gateway")
	now.Advance(time.Minute)
	_, err := a.ReadPix(t.Context(), "pay_1", objectid.New())
	require.ErrorIs(t, err, gateway.ErrUnavailable)
	require.EqualValues(t, 2, calls.Load())

	background, subscribe := gateway.Background(t.Context()), gateway.SubscriptionTerms{
		SubscriptionID: objectid.New(), Instrument: paymentstest.Card(paymentstest.CardApproved),
	}
	_, err = a.Subscribe(t.Context(), subscribe)
	require.ErrorIs(t, err, gateway.ErrUnavailable, "nothing was done")
	require.EqualValues(t, 3, calls.Load(), "another endpoint")
	for range 3 {
		now.Advance(time.Minute)
		_, err = a.ReadSubscription(background, "sub_1", objectid.New())
		require.ErrorIs(t, err, gateway.ErrUnavailable)
		_, _ = a.Subscribe(t.Context(), subscribe)
		_, err = a.Subscribe(t.Context(), subscribe)
		require.ErrorIs(t, err, gateway.ErrUnavailable)
	}
	require.EqualValues(t, 6, calls.Load(), "one probe a minute, and no check")
}

// TestA_AnswerThatDoesNotEcho: the gateway drops fields that it does not know without
// a word. What it shows of another amount is undone; without our reference it may be
// anybody's, and is left alone.
func TestA_AnswerThatDoesNotEcho(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, reference, value string
		undone                 bool
	}{{"amount", "ours", "0", true}, {"reference", "", "49.9", false}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var deleted atomic.Bool
			local := objectid.New()
			reference := "null"
			if tc.reference != "" {
				reference = `"` + local.String() + `"`
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodDelete {
					deleted.Store(true)
					_, _ = io.WriteString(w, `{"deleted":true,"id":"sub_1"}`)
					return
				}
				_, _ = fmt.Fprintf(w,
					`{"object":"subscription","id":"sub_1","status":"ACTIVE","value":%s,"externalReference":%s}`,
					tc.value, reference)
			}))
			t.Cleanup(server.Close)
			a := gwa.New(gwa.Config{URL: server.URL, APIKey: "$aact_hmlg_x"})
			_, err := a.Subscribe(t.Context(), gateway.SubscriptionTerms{
				SubscriptionID: local, Amount: 4990, FirstDue: time.Now(),
				Instrument: paymentstest.Card(paymentstest.CardApproved),
			})
			require.Equal(t, tc.undone, deleted.Load())
			if !tc.undone {
				require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
				return
			}
			var rejected *gateway.Rejected
			require.ErrorAs(t, err, &rejected)
			require.Equal(t, "not_echoed", rejected.Code)
		})
	}
}

// TestA_Request holds what goes over the wire: exact reais, the day in São Paulo,
// the headers, and no redirect that would carry the key elsewhere.
func TestA_Request(t *testing.T) {
	t.Parallel()
	var body map[string]any
	var header http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		dec := json.NewDecoder(r.Body)
		dec.UseNumber()
		_ = dec.Decode(&body)
		http.Redirect(w, r, "https://elsewhere.example/", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	now := time.Date(2026, 11, 21, 1, 30, 0, 0, time.UTC) // still the 20th in São Paulo
	a := gwa.New(gwa.Config{URL: server.URL, APIKey: "$aact_hmlg_x", Clock: clock.NewFake(now)})
	id := objectid.New()
	_, err := a.Subscribe(t.Context(), gateway.SubscriptionTerms{
		SubscriptionID: id, Payer: gateway.Payer{GatewayID: "cus_1"}, PlanName: "Plus", Amount: 4990,
		FirstDue:   now,
		Instrument: paymentstest.Card(paymentstest.CardApproved),
	})
	require.ErrorIs(t, err, gateway.ErrOutcomeUnknown)
	require.Equal(t, json.Number("49.90"), body["value"])
	require.Equal(t, "2026-11-20", body["nextDueDate"])
	require.Equal(t, id.String(), body["externalReference"])
	require.Equal(t, "MONTHLY", body["cycle"])
	require.Equal(t, "203.0.113.7", body["remoteIp"])
	require.Equal(t, "$aact_hmlg_x", header.Get("access_token"))
	require.Equal(t, "Marquee", header.Get("User-Agent"))
}
