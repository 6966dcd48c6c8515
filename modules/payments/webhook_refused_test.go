package payments_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/testutil/apitest"
	"marquee/testutil/soak"
)

// sendFrom posts as a caller of that address.
func (b *bundle) sendFrom(address, gateway, header, value string, body io.Reader) int {
	b.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/webhooks/"+gateway, body)
	r.RemoteAddr = address
	if header != "" {
		r.Header.Set(header, value)
	}
	w := httptest.NewRecorder()
	apitest.Handler(b.t.(*testing.T), b.api).ServeHTTP(w, r)
	return w.Code
}

func (b *bundle) refusedCounted() int {
	b.t.Helper()
	return b.count("SELECT coalesce(sum(calls), 0) FROM payments.refused_webhook_counts")
}

// unread is a body of which not a byte may be read.
type unread struct{ t testing.TB }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body of a call that is refused by its headers was read")
	return 0, io.EOF
}

// TestForgedCallsBesideGenuineOnesSoak: a flood from the gateway's own address (10,000 in
// a soak) neither fills the log nor costs a genuine call its 200.
func TestForgedCallsBesideGenuineOnesSoak(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const senders = 8
	forged := soak.Rounds(400, 10_000) / senders * senders
	body := sample(t, "gwb.invoice.paid.renewal.dahlia")
	const id = "evt_"
	name := eventIDOf(t, body)
	began := time.Now()
	var all sync.WaitGroup
	for n := range senders {
		all.Go(func() {
			for i := range forged / senders {
				var a response
				switch i % 4 {
				case 0:
					a = b.send("gwa", "asaas-access-token", "guess-"+strconv.Itoa(i), body)
				case 1:
					a = b.send("gwb", "", "", body)
				case 2: // the body has to be read to know
					a = b.send("gwb", "Stripe-Signature", signed("whsec_other", b.clock.Now(), body), body)
				case 3:
					a = b.send("gwb", "Stripe-Signature",
						signed(paymentstest.GWBSecret, b.clock.Now().Add(-time.Hour), []byte("another")), body)
				}
				if a.status != http.StatusUnauthorized {
					t.Errorf("a forged call was answered %d: %s", a.status, a.raw)
				}
			}
		})
		_ = n
	}
	genuine := soak.Rounds(60, 600)
	for n := range genuine {
		event := bytes.ReplaceAll(body, []byte(name), []byte(id+strconv.Itoa(n)))
		a := b.deliver([]string{"gwa", "gwb"}[n%2], event)
		require.Equal(t, http.StatusOK, a.status, a.raw)
	}
	all.Wait()
	t.Logf("%d forged and %d genuine calls in %v", forged, genuine, time.Since(began).Round(time.Millisecond))
	require.Equal(t, genuine, b.count("SELECT count(*) FROM payments.webhook_logs"))
	stored := b.count("SELECT count(*) FROM payments.refused_webhooks")
	require.Equal(t, 20, stored, "the first of an hour and address")
	require.Equal(t, forged-stored, b.refusedCounted())
	s := b.stats("")
	require.Equal(t, forged, s.InvalidSignature, "stored and counted")
	require.Equal(t, forged+genuine, s.Total)
	require.Equal(t, s.Total, s.Processed+s.Pending+s.Failed+s.InvalidSignature)
	require.Equal(t, s.Total, s.ByGateway["gwa"]+s.ByGateway["gwb"])
	require.Len(t, b.logList(`{"signature_valid":false}`), 10, "a page of them")
}

func TestRefusedCallsStoredByHourAddressAndDay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := b.clock.Now().UTC()
	b.clock.Advance(now.Truncate(24 * time.Hour).Add(24*time.Hour + time.Minute).Sub(now)) // a day begins
	stored := func() int { return b.count("SELECT count(*) FROM payments.refused_webhooks") }
	for range 25 {
		require.Equal(t, 401, b.sendFrom("192.0.2.7:1", "gwa", "", "", strings.NewReader("{}")))
		require.Equal(t, 401, b.sendFrom("[2001:db8:1:2:a::1]:1", "gwa", "", "", strings.NewReader("{}")))
		require.Equal(t, 401, b.sendFrom("[2001:db8:1:2:b::1]:1", "gwa", "", "", strings.NewReader("{}")),
			"the same /64")
	}
	require.Equal(t, 40, stored())
	require.Equal(t, 401, b.sendFrom("192.0.2.8:1", "gwa", "", "", strings.NewReader("{}")))
	require.Equal(t, 41, stored(), "another address of the same network")
	require.Equal(t, 5,
		b.count("SELECT calls FROM payments.refused_webhook_counts WHERE network = '192.0.2.0/24' AND gateway = 'gwa' AND reason = 'signature'"))
	require.Equal(t, 30, b.count("SELECT calls FROM payments.refused_webhook_counts WHERE network = '2001:db8:1::/48'"))
	b.clock.Advance(time.Hour)
	require.Equal(t, 401, b.sendFrom("192.0.2.7:1", "gwa", "", "", strings.NewReader("{}")))
	require.Equal(t, 42, stored(), "a new hour")

	for n := range 1100 {
		require.Equal(t, 401,
			b.sendFrom(fmt.Sprintf("198.%d.%d.1:1", 18+n/200, n%200), "gwa", "", "", strings.NewReader("{}")))
	}
	require.Equal(t, 1000, stored(), "of the day")
	require.LessOrEqual(t, b.count("SELECT count(*) FROM payments.refused_webhook_counts"), 210,
		"an hour names so many networks")
	require.Equal(t, 75+1+1+1100, b.stats("").InvalidSignature)

	b.clock.Advance(24 * time.Hour)
	require.Equal(t, 401, b.sendFrom("192.0.2.7:1", "gwa", "", "", strings.NewReader("{}")))
	require.Equal(t, 1001, stored(), "a new day")

	require.NoError(t, b.svc.TidyLogMonths(t.Context(), 0))
	require.Equal(t, 1001, stored())
	b.clock.Advance(7*24*time.Hour - time.Hour)
	require.NoError(t, b.svc.TidyLogMonths(t.Context(), 0))
	require.Equal(t, 1, stored(), "kept 7 days")
	require.Equal(t, 75+1+1+1100+1, b.stats("").InvalidSignature, "and counted from then on")
	b.clock.Advance(62 * 24 * time.Hour)
	require.NoError(t, b.svc.TidyLogMonths(t.Context(), 1))
	require.Zero(t, b.stats("").InvalidSignature)
}

// TestAnotherProcessStoresNoMore: each counts for itself, the database for all.
func TestAnotherProcessStoresNoMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.pool.Exec(t.Context(),
		`INSERT INTO payments.refused_webhooks (id, gateway, payload, received_at, reason, address, network)
		SELECT platform.new_object_id(), 'gwa', '{}', $1, 'signature', '192.0.2.7', '192.0.2.0/24' FROM generate_series(1, 20)`, b.clock.Now())
	require.NoError(t, err)
	require.Equal(t, 401, b.sendFrom("192.0.2.7:1", "gwa", "", "", strings.NewReader("{}")))
	require.Equal(t, 20, b.count("SELECT count(*) FROM payments.refused_webhooks"))
	require.Equal(t, 1, b.refusedCounted())
}

func TestBodiesAreNotReadForWhatTheHeadersRefuse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 20 { // those are stored, with the beginning of their body
		b.sendFrom("192.0.2.7:1", "gwa", "", "", strings.NewReader(strings.Repeat("x", 1<<20)))
	}
	require.Equal(t, 4096+2, b.count("SELECT max(octet_length(payload::text)) FROM payments.refused_webhooks"))
	old := signed(paymentstest.GWBSecret, b.clock.Now().Add(-25*time.Hour), []byte("{}"))
	ahead := signed(paymentstest.GWBSecret, b.clock.Now().Add(25*time.Hour), []byte("{}"))
	for _, c := range []struct{ gateway, header, value string }{
		{"gwa", "", ""},
		{"gwa", "asaas-access-token", "guess"},
		{"gwb", "", ""},
		{"gwb", "Stripe-Signature", "t=1"},
		{"gwb", "Stripe-Signature", old},
		{"gwb", "Stripe-Signature", ahead},
		{"gwb", "Stripe-Signature", "sha256=00"},
	} {
		require.Equal(t, 401, b.sendFrom("192.0.2.7:1", c.gateway, c.header, c.value, unread{t}), c.value)
	}
	require.Equal(t, 7, b.refusedCounted())
}

// TestASlowBodyOfARefusedCallIsNotWaitedFor: also where the call is stored.
func TestASlowBodyOfARefusedCallIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rest, end := io.Pipe()
	defer end.Close()
	body := io.MultiReader(strings.NewReader(`{"id":"evt_1"`), rest)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/webhooks/gwa", body)
	require.NoError(t, err)
	began := time.Now()
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 401, res.StatusCode)
	require.Less(t, time.Since(began), 8*time.Second)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM payments.refused_webhooks WHERE payload = '"{\"id\":\"evt_1\""'`))
}

func TestClockSkewIsTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := sample(t, "gwb.invoice.paid.first.dahlia")
	for n, off := range []time.Duration{-6 * time.Minute, 6 * time.Minute, -23 * time.Hour, 23 * time.Hour} {
		require.Equal(t, 401,
			b.send("gwb", "Stripe-Signature", signed(paymentstest.GWBSecret, b.clock.Now().Add(off), body), body).
				status)
		require.Equal(t, n+1,
			b.count("SELECT count(*) FROM payments.refused_webhooks WHERE reason = 'clock_skew' AND event_id = $1",
				eventIDOf(t, body)))
	}
	require.Equal(t, 401, b.send("gwb", "Stripe-Signature", signed("whsec_other", b.clock.Now().Add(-time.Hour), body),
		body).status)
	logs := b.logList(`{"result.reason":"clock_skew"}`)
	require.Len(t, logs, 4)
	require.False(t, logs[0].SignatureValid)
	require.False(t, logs[0].Processed)
	require.Contains(t, b.logs.String(), "clock_skew")
	for range 30 {
		require.Equal(t, 401,
			b.send("gwb", "Stripe-Signature", signed(paymentstest.GWBSecret, b.clock.Now().Add(-time.Hour), body),
				body).status)
	}
	require.Equal(t, 15, b.count("SELECT sum(calls) FROM payments.refused_webhook_counts WHERE reason = 'clock_skew'"))
	require.Zero(t, b.count("SELECT count(*) FROM public.effects"))
	require.Equal(t, gateway.ResultApplied, b.deliver("gwb", body).body.Result.Status)
}

// TestRefusedCallsOfTheLogItself: once all stood in the log.
func TestRefusedCallsOfTheLogItself(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.pool.Exec(t.Context(),
		`INSERT INTO payments.webhook_logs (gateway, payload, signature_valid, received_at)
		SELECT 'gwb', '{}', false, $1::timestamptz - n * interval '1 day' FROM generate_series(1, 10) n`, b.clock.Now())
	require.NoError(t, err)
	require.Equal(t, 10, b.stats("").InvalidSignature)
	require.NoError(t, b.svc.TidyLogMonths(t.Context(), 0))
	require.Equal(t, 7, b.count("SELECT count(*) FROM payments.webhook_logs"), "of 7 days")
	require.Equal(t, 10, b.stats("").InvalidSignature)
}

// TestRefusedCallsWhileTheDatabaseIsAway are counted once it is back.
func TestRefusedCallsWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.pool.Exec(t.Context(), "ALTER TABLE payments.refused_webhooks RENAME TO away")
	require.NoError(t, err)
	for range 30 {
		require.Equal(t, 401, b.send("gwa", "", "", []byte("{}")).status)
	}
	_, err = b.pool.Exec(t.Context(), "ALTER TABLE payments.away RENAME TO refused_webhooks")
	require.NoError(t, err)
	require.Equal(t, 30, b.stats("").InvalidSignature)
	require.Equal(t, 20, b.count("SELECT count(*) FROM payments.refused_webhooks"))
}

// TestRefusedCallsThatAreNotStoredTakeNoPlace of the day's from those that come later.
func TestRefusedCallsThatAreNotStoredTakeNoPlace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.pool.Exec(t.Context(), "ALTER TABLE payments.refused_webhooks RENAME TO away")
	require.NoError(t, err)
	from := func(n int) {
		b.sendFrom(fmt.Sprintf("10.7.%d.%d:80", n/250, n%250), "gwa", "", "", strings.NewReader("{}"))
	}
	for n := range 1050 { // of which 100 wait
		from(n)
	}
	_, err = b.pool.Exec(t.Context(), "ALTER TABLE payments.away RENAME TO refused_webhooks")
	require.NoError(t, err)
	from(2000)                                           // finds no room
	require.Equal(t, 1051, b.stats("").InvalidSignature) // and what waits is written
	for n := range 20 {
		from(2001 + n)
	}
	require.Equal(t, 120, b.count("SELECT count(*) FROM payments.refused_webhooks"))
	require.Equal(t, 1071, b.stats("").InvalidSignature)
}
