package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/cmd/bench/wire"
	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/testutil/apitest"
	"marquee/testutil/golden"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

// TestWhatIsReadOnReplicasLong holds the list of docs/operations.md: each route that reads is called, by root, an admin, a
// customer and nobody, with a replica behind a proxy that counts what is said to it; and what is read there is answered
// there.
func TestWhatIsReadOnReplicasLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	c := pgtest.Replicated(t, 1)
	proxy, through, err := wire.Listen(c.ReplicaURL(0))
	require.NoError(t, err)
	t.Cleanup(func() { _ = proxy.Close() })
	open := func(ctx context.Context, url string, o postgres.Options) (*pgxpool.Pool, error) {
		if url == through && o.ApplicationName == "marquee watch" {
			url = c.ReplicaURL(0) // what is asked for the watch does not count
		}
		return postgres.NewPool(ctx, url, o)
	}
	p := platformtest.NewOf(t, platformtest.Options{
		Parts: app.Parts{OpenPool: open},
		Config: []func(*app.Config){func(cfg *app.Config) {
			cfg.Database.URL, cfg.Database.ReplicaURL, cfg.Database.ReplicaMaxLag = c.URL(), through, 30*time.Minute
		}},
	})
	paths, callers := readPaths(t, p)
	caughtUp(t, p, c)
	var list strings.Builder
	for _, r := range p.Routes() {
		// Else they would be answered by the primary: a stream of events remembers, too, what its reader has to see.
		p.Exec("DELETE FROM accounts.last_writes")
		if r.Method == http.MethodGet && readOnReplica(t, p, proxy, paths(r), callers) {
			fmt.Fprintf(&list, "- `GET %s`\n", r.Path)
		}
	}
	golden.Section(t, "../../../docs/operations.md", "what replicas answer", list.String())
}

// readPaths fills a database, and returns what is asked for on a route, and by whom.
func readPaths(t *testing.T, p *platformtest.Platform) (func(httpapi.RouteInfo) []string, []*apitest.Client) {
	t.Helper()
	f := busiestFixture(t, p)
	person, customer := p.NewSubscriber()
	ids := strings.NewReplacer("{event_id}", f.Event, "{video_id}", f.Video, "{ticket_id}", f.Ticket,
		"{id}", "66f0a1b2c3d4e5f607182a01", "{file_id}", "66f0a1b2c3d4e5f607182a01", "{customer_id}", person.ID.String())
	return func(r httpapi.RouteInfo) (paths []string) {
		switch r.Name {
		case "customer_360":
			return []string{r.Path + "?_id=" + person.ID.String()}
		case "admin_search":
			return []string{r.Path + "?q=film"}
		case "search":
			for _, collection := range []string{
				"users", "customers", "videos", "events", "tickets", "promo-codes", "plans", "requisitions",
			} {
				paths = append(paths, strings.Replace(r.Path, "{collection_name}", collection, 1)+"?q=film")
			}
			return paths
		}
		return []string{ids.Replace(r.Path)}
	}, []*apitest.Client{p.Root(), p.Admin(), customer, p.Guest}
}

// caughtUp waits until the replica has all that was written.
func caughtUp(t *testing.T, p *platformtest.Platform, c *pgtest.Cluster) {
	t.Helper()
	var written string
	require.NoError(t, p.DB.QueryRow(t.Context(), "SELECT pg_current_wal_flush_lsn()::text").Scan(&written))
	there, err := pgx.Connect(t.Context(), c.ReplicaURL(0))
	require.NoError(t, err)
	defer func() { _ = there.Close(context.Background()) }()
	require.Eventually(t, func() (has bool) {
		require.NoError(t,
			there.QueryRow(t.Context(), "SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn", written).Scan(&has))
		return has
	}, time.Minute, 10*time.Millisecond)
}

// readOnReplica reports whether any of the callers is answered by the replica, which then needs no help of the
// primary's but for what is not there. It asks again where the replica was given up meanwhile, as on a slow machine.
func readOnReplica(t *testing.T, p *platformtest.Platform, proxy *wire.Proxy, paths []string, by []*apitest.Client,
) bool {
	t.Helper()
	givenUp := func() int { return strings.Count(p.Logged(), "replica given up") }
	for {
		replicasAre(t, p, "ok")
		before, lost := proxy.Count(), givenUp()
		repeated := series(t, p)["marquee_replica_reads_repeated_total{}"]
		for _, path := range paths {
			for _, who := range by {
				status := who.Get(path).Status
				require.NotEqual(t, http.StatusInternalServerError, status, "%s", path)
				if status == http.StatusNotFound {
					repeated++
				}
			}
		}
		if replicaStates(t, p) != "ok" || givenUp() != lost {
			continue
		}
		require.LessOrEqual(t, series(t, p)["marquee_replica_reads_repeated_total{}"], repeated, "%s fails on a replica",
			paths)
		return proxy.Count() != before
	}
}
