package gwa

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	charges = "GET /payments"
	orders  = "POST /subscriptions"
	search  = "GET /subscriptions"
)

var limitedAt = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func reset(seconds string) http.Header {
	h := http.Header{}
	h.Set("RateLimit-Reset", seconds)
	return h
}

func TestEndpointsOfCalls(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/payments": "GET /payments", "/payments/pay_c3d4e5f6g7h8i9j0/pixQrCode": "GET /payments/{id}/pixQrCode",
		"/subscriptions/sub_k3v9x1m7q2t8w4z6/payments":                                    "GET /subscriptions/{id}/payments",
		"/pix/automatic/authorizations/7d1f0c62-4b7e-4f0b-9a4c-5b6c7d8e9f01":              "GET /pix/automatic/authorizations/{id}",
		"/pix/automatic/paymentInstructions/7d1f0c62-4b7e-4f0b-9a4c-5b6c7d8e9f01/retries": "GET /pix/automatic/paymentInstructions/{id}/retries",
	} {
		require.Equal(t, want, (&request{method: http.MethodGet, path: path}).endpoint())
	}
}

func TestOneEndpointRestsAlone(t *testing.T) {
	t.Parallel()
	var l limits
	at := func(after time.Duration) time.Time { return limitedAt.Add(after) }
	require.Zero(t, l.wait(charges, true, at(0)))
	l.observe(charges, 429, reset("43200"), at(0))
	for _, background := range []bool{true, false} {
		require.Equal(t, time.Minute, l.wait(charges, background, at(0)), "not until the window of the account ends")
		require.Zero(t, l.wait(search, background, at(0)), "other endpoints go on")
	}
	require.Zero(t, l.wait(charges, false, at(time.Minute)), "one probe")
	require.Positive(t, l.wait(charges, false, at(time.Minute)), "while it is under way, no other")
	l.observe(charges, 429, reset("43200"), at(time.Minute))
	require.Equal(t, 2*time.Minute, l.wait(charges, false, at(time.Minute)), "refused again: two minutes")

	require.Zero(t, l.wait(charges, false, at(3*time.Minute)))
	l.failed(charges)
	require.Zero(t, l.wait(charges, false, at(3*time.Minute)), "no answer came: the next one is the probe")
	l.observe(charges, 200, nil, at(3*time.Minute))
	for range 3 {
		require.Zero(t, l.wait(charges, true, at(3*time.Minute)))
	}
	l.observe(charges, 429, nil, at(4*time.Minute))
	require.Equal(t, time.Minute, l.wait(charges, true, at(4*time.Minute)), "and begins anew")

	require.Zero(t, l.wait(charges, true, at(5*time.Minute)))
	require.Zero(t, l.wait(charges, true, at(5*time.Minute+probeLife)), "a probe that got lost is none")
}

func TestTwoEndpointsMeanTheAccount(t *testing.T) {
	t.Parallel()
	var l limits
	at := func(after time.Duration) time.Time { return limitedAt.Add(after) }
	l.observe(charges, 429, reset("7200"), at(0))
	l.observe(charges, 429, reset("7200"), at(30*time.Second))
	require.Zero(t, l.wait(search, true, at(30*time.Second)), "one endpoint twice is one")
	l.observe(search, 429, reset("7200"), at(time.Minute))
	require.Equal(t, 2*time.Hour, l.wait(orders, true, at(time.Minute)), "background work stops until the window ends")
	require.Equal(t, time.Minute, l.wait(orders, false, at(time.Minute)))

	require.Zero(t, l.wait(orders, false, at(2*time.Minute)), "what a customer waits for: one probe")
	require.Equal(t, time.Minute, l.wait(search, false, at(2*time.Minute)), "a minute")
	l.observe(orders, 429, reset("7140"), at(2*time.Minute))
	require.Zero(t, l.wait(orders, false, at(3*time.Minute)), "the next, whatever the endpoint's own rest")
	l.observe(orders, 200, nil, at(3*time.Minute))
	for range 3 {
		require.Zero(t, l.wait(orders, false, at(3*time.Minute)), "once one was answered they go on")
	}
	require.Positive(t, l.wait(orders, true, at(3*time.Minute)), "background work does not")
	require.Zero(t, l.wait(orders, true, at(121*time.Minute)), "but when the window has ended")
}

func TestTwoEndpointsFarApartAreTwo(t *testing.T) {
	t.Parallel()
	var l limits
	l.observe(charges, 429, nil, limitedAt)
	later := limitedAt.Add(accountWide + time.Second)
	l.observe(search, 429, nil, later)
	require.Zero(t, l.wait(orders, true, later))
}

func TestResetIsBounded(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"": time.Minute, "x": time.Minute, "-1": time.Minute, "90": 90 * time.Second, "999999": maxReset,
	} {
		require.Equal(t, want, resetAfter(reset(header)), header)
	}
}

// TestRestEndsWhateverTheClockDoes: one that is set back makes no rest longer than it
// was to be, one that jumps forward ends it.
func TestRestEndsWhateverTheClockDoes(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{-24 * time.Hour, -time.Hour, -time.Second, time.Hour} {
		var l limits
		l.observe(charges, 429, reset("7200"), limitedAt)
		require.True(t, l.observe(search, 429, reset("7200"), limitedAt), "it closes the account")
		back := limitedAt.Add(jump)
		require.LessOrEqual(t, l.wait(orders, true, back), 2*time.Hour, "the account")
		require.LessOrEqual(t, l.wait(orders, false, back), time.Minute, "its probes")
		require.Zero(t, l.wait(orders, false, back.Add(2*time.Minute)))
		require.LessOrEqual(t, l.wait(orders, true, back.Add(2*time.Hour)), time.Duration(0))

		var one limits
		one.observe(charges, 429, reset("7200"), limitedAt)
		require.LessOrEqual(t, one.wait(charges, true, back), time.Minute, "one endpoint")
		at := back.Add(probeLife)
		require.Zero(t, one.wait(charges, true, at))
		require.LessOrEqual(t, one.wait(charges, true, at.Add(-time.Hour)), probeLife, "its probe")
	}
	var q quota
	h := reset("600")
	h.Set("RateLimit-Remaining", "0")
	q.record(h, limitedAt)
	_, known := q.left(limitedAt.Add(-time.Hour))
	require.True(t, known)
	_, known = q.left(limitedAt.Add(-50 * time.Minute))
	require.False(t, known, "ten minutes later")
}

// TestTheAccountRestsNoLongerThanTheGatewaySays: its clock may run before ours.
func TestTheAccountRestsNoLongerThanTheGatewaySays(t *testing.T) {
	t.Parallel()
	var l limits
	l.observe(charges, 429, reset("43200"), limitedAt)
	l.observe(search, 429, reset("43200"), limitedAt)
	probe := limitedAt.Add(time.Minute)
	require.Zero(t, l.wait(orders, false, probe))
	h := reset("43200")
	h.Set("RateLimit-Remaining", "0")
	l.observe(orders, 200, h, probe)
	require.Positive(t, l.wait(orders, true, probe), "nothing is left")
	h.Set("RateLimit-Remaining", "24999")
	l.observe(orders, 200, h, probe)
	require.Zero(t, l.wait(orders, true, probe), "another window has begun")
	l.observe(orders, 429, reset("43200"), probe)
	require.True(t, l.observe("GET /customers", 429, reset("43200"), probe),
		"and is used up: two endpoints close it again")
}
