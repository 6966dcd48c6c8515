package app_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/postgres"
	"marquee/platform/resource"
	"marquee/testutil/pgbouncer"
	"marquee/testutil/pgtest"
	"marquee/testutil/soak"
)

// TestReplicasBehindPoolersLong: one replica behind a PgBouncer, one at its own address, and one that is not there when the
// process starts, of which nobody can tell what stands before it; all with the limits of lists.
func TestReplicasBehindPoolersLong(t *testing.T) {
	t.Parallel()
	soak.Long(t)
	c := pgtest.Replicated(t, 1)
	pgbouncer.Each(t, func(t *testing.T, program pgbouncer.Program) {
		pooled, nowhere := program.Start(t, c.ReplicaURL(0)), "postgres://127.0.0.1:1/marquee"
		opened := &openedPools{lists: map[string]postgres.Options{}}
		p := platformtest.NewOf(t, platformtest.Options{
			Parts: app.Parts{OpenPool: opened.open},
			Config: []func(*app.Config){func(cfg *app.Config) {
				cfg.Database.URL, cfg.Database.DirectURL = program.Start(t, c.URL()), c.URL()
				cfg.Database.Pooler = "transaction"
				cfg.Database.ReplicaURL = pooled + "," + c.ReplicaURL(0) + "," + nowhere
				cfg.Database.ReplicaMaxLag = 30 * time.Minute
			}},
		})
		replicasAre(t, p, "ok", "ok", "away")
		before := postgres.Unprepared
		if program.Prepares() {
			before = postgres.Prepared
		}
		for url, pooler := range map[string]postgres.Pooler{
			pooled: before, c.ReplicaURL(0): postgres.NoPooler, nowhere: postgres.Unprepared,
		} {
			o := opened.lists[url]
			require.Equal(t, pooler, o.Pooler, url)
			require.Equal(t, resource.StatementTimeout, o.StatementTimeout)
			require.Equal(t, time.Second, o.Gate.LockWait)
		}
		_, writer := p.NewAdmin(platformtest.Named("writer-" + program.String()))
		_, reader := p.NewAdmin(platformtest.Named("reader-" + program.String()))
		var slug string
		for n := range 10 {
			slug = fmt.Sprintf("behind-%d-%d", program.Minor, n)
			p.Make(writer, "/categories", platformtest.Object{"name": slug, "slug": slug})
			require.True(t, has(writer, "/categories?qty_docs_page=100", slug), "who wrote it lists it")
		}
		require.Eventually(t, func() bool {
			repeated := series(t, p)["marquee_replica_reads_repeated_total{}"]
			listed := has(reader, "/categories?qty_docs_page=100", slug)
			reader.Get("/admin/finance/overview").Expect(http.StatusOK)
			reader.Get("/admin/customers/export?format=json").Expect(http.StatusOK)
			return listed && series(t, p)["marquee_replica_reads_repeated_total{}"] == repeated
		}, time.Minute, 20*time.Millisecond, "the replicas answer behind a pooler")
	})
}

// openedPools are the pools of lists that a process has opened, by address.
type openedPools struct {
	mu    sync.Mutex
	lists map[string]postgres.Options
}

func (p *openedPools) open(ctx context.Context, url string, o postgres.Options) (*pgxpool.Pool, error) {
	if o.ApplicationName == "marquee lists" {
		p.mu.Lock()
		p.lists[url] = o
		p.mu.Unlock()
	}
	return postgres.NewPool(ctx, url, o)
}
