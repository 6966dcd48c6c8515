package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/cmd/bench/wire"
	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/postgres"
	"marquee/testutil/apitest"
	"marquee/testutil/golden"
	"marquee/testutil/pgtest"
)

// replicasAre waits until GET /readyz tells so of the replicas.
func replicasAre(t *testing.T, p *platformtest.Platform, want ...string) {
	t.Helper()
	require.Eventually(t, func() bool {
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
		return strings.Join(states, " ") == strings.Join(want, " ")
	}, 2*time.Minute, 50*time.Millisecond, "%v", want)
}

// TestReplicasLagBehindNobodysBack: with all replicas standing still, lists are as they were, but not for who has
// written; and who may do what is as it is.
func TestReplicasLagBehindNobodysBack(t *testing.T) {
	t.Parallel()
	c := pgtest.Replicated(t, 2)
	config := func(lag time.Duration) func(*app.Config) {
		return func(cfg *app.Config) {
			cfg.Database.URL, cfg.Database.ReplicaURL = c.URL(), c.ReplicaURLs()
			cfg.Database.ReplicaMaxLag = lag
		}
	}
	p := platformtest.New(t, config(time.Hour))
	writer := p.Admin()
	_, reader := p.NewAdmin(platformtest.Named("reader"))
	person, customer := p.NewSubscriber()
	has := func(who *apitest.Client, slug string) bool {
		t.Helper()
		found := who.Get("/categories?qty_docs_page=100").Expect(http.StatusOK).Map()["docs"]
		return strings.Contains(fmt.Sprint(found), slug)
	}
	p.Make(writer, "/categories", platformtest.Object{"name": "Old", "slug": "old-category"})
	replicasAre(t, p, "ok", "ok")
	require.Eventually(t, func() bool { return has(reader, "old-category") }, time.Minute, 20*time.Millisecond)
	customer.Get("/videos").Expect(http.StatusOK)

	c.Pause(0)
	c.Pause(1)
	p.Make(writer, "/categories", platformtest.Object{"name": "New", "slug": "new-category"})
	require.True(t, has(writer, "new-category"), "who wrote it lists it")
	require.False(t, has(reader, "new-category"), "it was not read on a replica")

	const access = `UPDATE subscriptions.subscriptions SET expires_at = $2 WHERE customer_id = $1`
	p.Exec(access, person.ID, time.Now().Add(-time.Minute))
	customer.Get("/videos").Expect(http.StatusForbidden)
	p.Exec(access, person.ID, nil)
	customer.Get("/videos").Expect(http.StatusOK)
	p.Exec(`UPDATE accounts.users SET enable = false WHERE username = 'reader'`)
	reader.Get("/categories").Expect(http.StatusForbidden)

	hasty := platformtest.New(t, config(time.Second))
	again := hasty.As("admin")
	replicasAre(t, hasty, "lagging", "lagging")
	require.True(t, has(again, "new-category"))
	c.Resume(0)
	replicasAre(t, hasty, "ok", "lagging")
	c.Kill(1)
	replicasAre(t, hasty, "ok", "away")
	c.Freeze(0)
	for range 20 {
		require.True(t, has(again, "new-category"), "no list fails while the primary lives")
	}
	replicasAre(t, hasty, "away", "away")
	require.True(t, has(again, "new-category"))
	c.Thaw(0)
	c.Start(1)
	replicasAre(t, hasty, "ok", "ok")
}

// TestWhatIsReadOnReplicas holds the list of docs/operations.md: each route that reads is called, by root, an admin, a
// customer and nobody, with a replica behind a proxy that counts what is said to it.
func TestWhatIsReadOnReplicas(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	proxy, through, err := wire.Listen(address) // the primary itself serves as its replica
	require.NoError(t, err)
	t.Cleanup(func() { _ = proxy.Close() })
	open := func(ctx context.Context, url string, o postgres.Options) (*pgxpool.Pool, error) {
		if url == through && o.ApplicationName == "marquee watch" {
			url = address // what is asked for the watch does not count
		}
		return postgres.NewPool(ctx, url, o)
	}
	p := platformtest.NewOf(t, platformtest.Options{
		Parts: app.Parts{OpenPool: open},
		Config: []func(*app.Config){func(cfg *app.Config) {
			cfg.Database.URL, cfg.Database.ReplicaURL = address, through
		}},
	})
	f := busiestFixture(t, p)
	replicasAre(t, p, "ok")
	person, customer := p.NewSubscriber()
	callers := []*apitest.Client{p.Root(), p.Admin(), customer, p.Guest}
	ids := strings.NewReplacer("{event_id}", f.Event, "{video_id}", f.Video, "{ticket_id}", f.Ticket,
		"{id}", "66f0a1b2c3d4e5f607182a01", "{file_id}", "66f0a1b2c3d4e5f607182a01", "{customer_id}", person.ID.String())
	var list strings.Builder
	for _, r := range p.Routes() {
		if r.Method != http.MethodGet {
			continue
		}
		paths := []string{ids.Replace(r.Path)}
		switch r.Name {
		case "customer_360":
			paths = []string{r.Path + "?_id=" + person.ID.String()}
		case "search":
			paths = nil
			for _, collection := range []string{"users", "customers", "videos", "events", "tickets", "promo-codes", "plans", "requisitions"} {
				paths = append(paths, strings.Replace(r.Path, "{collection_name}", collection, 1)+"?q=film")
			}
		}
		before := proxy.Count()
		for _, path := range paths {
			for _, who := range callers {
				require.NotEqual(t, http.StatusInternalServerError, who.Get(path).Status, "%s", path)
			}
		}
		if proxy.Count() != before {
			fmt.Fprintf(&list, "- `GET %s`\n", r.Path)
		}
	}
	golden.Section(t, "../../../docs/operations.md", "what replicas answer", list.String())
}
