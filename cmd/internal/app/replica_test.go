package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

// replicaStates are what GET /readyz tells of the replicas.
func replicaStates(t *testing.T, p *platformtest.Platform) string {
	t.Helper()
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	var r struct {
		Checks struct{ Replicas []struct{ Status string } }
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &r), "%s", w.Body)
	states := make([]string, len(r.Checks.Replicas))
	for i, one := range r.Checks.Replicas {
		states[i] = one.Status
	}
	return strings.Join(states, " ")
}

// replicasAre waits until GET /readyz tells so of the replicas.
func replicasAre(t *testing.T, p *platformtest.Platform, want ...string) {
	t.Helper()
	require.Eventually(t, func() bool { return replicaStates(t, p) == strings.Join(want, " ") }, 2*time.Minute,
		50*time.Millisecond, "%v", want)
}

// TestReplicasLagBehindNobodysBackLong: with all replicas standing still, lists, searches, reports and exports are as they
// were, but not for who has written; and who may do what is as it is.
func TestReplicasLagBehindNobodysBackLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	c := pgtest.Replicated(t, 2)
	p := platformtest.New(t, withReplicas(c, 30*time.Minute))
	writer := p.Admin()
	_, reader := p.NewAdmin(platformtest.Named("reader"))
	person, customer := p.NewSubscriber()
	lagging := map[string]*apitest.Client{
		"/events?qty_docs_page=100": reader, "/search/events?q=premiere": reader,
		"/admin/events-dashboard/events": reader, "/admin/events-dashboard/events/export?format=json": reader,
		"/store/events": p.Guest,
	}
	premiere := func(title string) {
		p.Make(writer, "/events", platformtest.Object{
			"title": title, "event_date": "2099-01-01T20:00:00.000Z", "capacity": 10, "is_sale_box_office": true,
		})
	}
	replicasAre(t, p, "ok", "ok")
	premiere("Premiere of old")
	for path, who := range lagging {
		require.Eventually(t, func() bool { return has(who, path, "Premiere of old") }, time.Minute, 20*time.Millisecond,
			path)
	}
	customer.Get("/videos").Expect(http.StatusOK)
	reader.Get("/admin/requisitions").Expect(http.StatusOK)

	c.Pause(0)
	c.Pause(1)
	premiere("Premiere of now")
	for path, who := range lagging {
		require.True(t, has(writer, path, "Premiere of now"), "%s: who wrote it lists it", path)
		require.Eventually(t, func() bool { return !has(who, path, "Premiere of now") }, time.Minute, 20*time.Millisecond,
			"%s is read on a replica", path)
	}
	requireRightsOfNow(t, p, person.ID.String(), customer, reader)
}

func withReplicas(c *pgtest.Cluster, lag time.Duration) func(*app.Config) {
	return func(cfg *app.Config) {
		cfg.Database.URL, cfg.Database.ReplicaURL = c.URL(), c.ReplicaURLs()
		cfg.Database.ReplicaMaxLag = lag
	}
}

// has reports whether a list holds a text.
func has(who *apitest.Client, path, text string) bool {
	return strings.Contains(string(who.Get(path).Expect(http.StatusOK).Body), text)
}

// requireRightsOfNow takes access, tokens, a right and an account away while no replica hears of it.
func requireRightsOfNow(t *testing.T, p *platformtest.Platform, person string, customer, reader *apitest.Client) {
	t.Helper()
	const access = `UPDATE subscriptions.subscriptions SET expires_at = $2 WHERE customer_id = $1`
	p.Exec(access, person, time.Now().Add(-time.Minute))
	customer.Get("/videos").Expect(http.StatusForbidden)
	customer.Get("/search/videos?q=film").Expect(http.StatusForbidden)
	p.Exec(access, person, nil)
	customer.Get("/videos").Expect(http.StatusOK)
	p.Exec(`UPDATE accounts.users SET tokens_valid_after = clock_timestamp() + interval '1 minute' WHERE id = $1`, person)
	customer.Get("/customers/me").Expect(http.StatusForbidden)
	customer.Get("/videos").Expect(http.StatusForbidden)
	p.Exec(`UPDATE accounts.users_type SET "view" = '{}'`)
	reader.Get("/admin/requisitions").Expect(http.StatusUnauthorized)
	reader.Get("/search/requisitions?q=film").Expect(http.StatusUnauthorized)
	p.Exec(`UPDATE accounts.users SET enable = false WHERE username = 'reader'`)
	reader.Get("/events").Expect(http.StatusForbidden)
}

// TestNoRequestFailsWithItsReplicaLong: whatever becomes of the replicas, lists, searches, reports and exports are answered;
// and replicas are taken back.
func TestNoRequestFailsWithItsReplicaLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	c := pgtest.Replicated(t, 2)
	p := platformtest.New(t, withReplicas(c, 2*time.Second))
	stop := repeatOn(t, p.Admin(), "/events", "/search/events?q=film", "/admin/finance/overview",
		"/admin/customers/export?format=json", "/webhook-logs/stats")
	replicasAre(t, p, "ok", "ok")
	c.Pause(0)
	c.Pause(1)
	p.Exec(`SELECT pg_logical_emit_message(true, 'test', 'what the replicas do not have')`)
	replicasAre(t, p, "lagging", "lagging")
	c.Resume(0)
	replicasAre(t, p, "ok", "lagging")
	c.Kill(1)
	replicasAre(t, p, "ok", "away")
	c.Freeze(0)
	replicasAre(t, p, "away", "away")
	c.Thaw(0)
	c.Start(1)
	replicasAre(t, p, "ok", "ok")
	c.Promote(0)
	replicasAre(t, p, "away", "ok")
	stop()
}

// repeatOn asks for the paths again and again, each of which has to be answered, until the end is called.
func repeatOn(t *testing.T, who *apitest.Client, paths ...string) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for _, path := range paths {
		asking.Go(func() {
			for ctx.Err() == nil {
				if res := who.Get(path); res.Status != http.StatusOK {
					t.Errorf("%s: %d %s", path, res.Status, res.Body)
					return
				}
			}
		})
	}
	return func() { cancel(); asking.Wait() }
}
