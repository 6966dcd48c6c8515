package payments_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/testutil/pgtest"
)

// group applies together, but for events with "alone" in their ids. One that the applier fails of fails all.
type group struct {
	*applier
	panics  bool
	largest atomic.Int64
}

func (g *group) MayShare(e gateway.Event) bool { return e.Gateway == gateway.GWB }

func (g *group) ApplyEventsTx(ctx context.Context, tx pgx.Tx,
	events []gateway.Event,
) (map[string]gateway.Result, error) {
	results := map[string]gateway.Result{}
	for _, e := range events {
		if strings.Contains(e.ID, "alone") {
			continue
		}
		result, err := g.ApplyEventTx(ctx, tx, e)
		if err != nil && g.panics {
			panic("cannot go on")
		}
		if err != nil {
			return nil, err
		}
		results[e.ID] = result
	}
	g.largest.Store(max(g.largest.Load(), int64(len(results))))
	return results, nil
}

// together has the bundle apply events of gateway B together.
func together(b *bundle) *group {
	g := &group{applier: b.apply}
	b.svc.Connect(payments.Hooks{Together: g})
	return g
}

// renewal is the sample with an event id of its own.
func renewal(t *testing.T, id string) []byte {
	t.Helper()
	body := sample(t, "gwb.invoice.paid.renewal.dahlia")
	const sampled = "evt_1SVaC07LkdIwHu7ixEv000007"
	require.Contains(t, string(body), sampled)
	return bytes.ReplaceAll(body, []byte(sampled), []byte(id))
}

// deliverAll delivers events at once, each twice, and requires that each has one effect and two logs.
func (b *bundle) deliverAll(t *testing.T, ids []string) {
	t.Helper()
	var all sync.WaitGroup
	for range 2 {
		for _, id := range ids {
			body := renewal(t, id)
			all.Go(func() {
				res := b.deliver("gwb", body)
				want := gateway.ResultApplied
				if strings.Contains(id, "bad") {
					want = gateway.ResultQueued
				}
				if res.status != http.StatusOK || res.body.Result.Status != want || *res.body.EventID != id {
					t.Errorf("%s: %d %s", id, res.status, res.raw)
				}
			})
		}
	}
	all.Wait()
	for _, id := range ids {
		applied := 1
		if strings.Contains(id, "bad") {
			applied = 0
		}
		require.Equal(t, applied, b.count("SELECT count(*) FROM public.effects WHERE event_id = $1", id), id)
		require.Equal(t, applied, b.count("SELECT count(*) FROM payments.processed_events WHERE event_id = $1 AND state = 'done'", id), id)
		require.Equal(t, 2, b.count("SELECT count(*) FROM payments.webhook_logs WHERE event_id = $1 AND processed = $2", id, applied == 1), id)
	}
}

func TestDeliveriesAtOnceShareCommits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := together(b)
	for round := 0; g.largest.Load() < 2; round++ {
		require.Less(t, round, 50, "they never met")
		var ids []string
		for i := range 24 {
			ids = append(ids, fmt.Sprintf("evt_%d_%d", round, i))
		}
		b.deliverAll(t, append(ids, fmt.Sprintf("evt_alone_%d", round)))
	}
	require.Equal(t, 1, b.count(`SELECT count(*) FROM (SELECT DISTINCT state, result, cardinality(subjects) > 0, gateway
		FROM payments.processed_events) e`), "together and alone, events are kept alike")
	require.Equal(t, 1, b.count(`SELECT count(*) FROM (SELECT DISTINCT gateway, event_type, signature_valid, processed, result,
		processed_at IS NOT NULL, signature LIKE 't=%' FROM payments.webhook_logs) l`), "and deliveries")
}

// One that cannot be applied is queued, also where the group dies of it; those that share its transaction are applied.
func TestABadEventSpoilsNoneOfItsNeighbours(t *testing.T) {
	t.Parallel()
	for _, panics := range []bool{false, true} {
		t.Run(fmt.Sprint("panics: ", panics), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			together(b).panics = panics
			for round := range 3 {
				var ids []string
				for i := range 12 {
					ids = append(ids, fmt.Sprintf("evt_%d_%d", round, i))
				}
				b.deliverAll(t, append(ids, fmt.Sprintf("evt_bad_%d", round), fmt.Sprintf("evt_alone_%d", round)))
			}
			require.Contains(t, b.logs.String(), "a transaction of events failed")
		})
	}
}

// A shared delivery whose commit is not answered is told once more what became of its event, and is logged once.
func TestASharedDeliveryWhoseCommitIsNotAnsweredIsNoFailure(t *testing.T) {
	t.Parallel()
	pool, armed := pgtest.LosingCommits(t, pgtest.DB(t))
	b := setupOn(t, pool)
	together(b)
	require.Equal(t, http.StatusOK, b.deliver("gwb", renewal(t, "evt_before")).status)
	armed.Store(true)
	res := b.deliver("gwb", renewal(t, "evt_1"))
	require.False(t, armed.Load(), "nothing was committed")
	require.Equal(t, http.StatusOK, res.status, res.raw)
	require.Equal(t, gateway.ResultApplied, res.body.Result.Status)
	require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects WHERE event_id = 'evt_1'"))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.webhook_logs WHERE event_id = 'evt_1' AND processed"))
}
