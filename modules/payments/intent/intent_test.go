package intent_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/platform/objectid"
)

func TestALostAnswerIsFoundByTheFirstCheck(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.lost("gwb", "made")
	i, ok := b.open(id)
	require.True(t, ok)
	require.Equal(t, b.clock.Now().Add(5*time.Second), i.NextCheck)
	require.Equal(t, b.clock.Now(), i.Since())
	b.turn("gwb", 4*time.Second)
	require.Equal(t, "open", b.state(id))
	b.turn("gwb", time.Second)
	require.Equal(t, "made", b.state(id))
	_, ok = b.open(id)
	require.False(t, ok)
	b.turn("gwb", time.Hour)
	require.Equal(t, 1, b.seen(id))
	rows, err := b.db.Query(t.Context(), "SELECT by || ' ' || outcome FROM payments.intent_steps ORDER BY id")
	require.NoError(t, err)
	steps, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"open called", "answer not_known", "look done"}, steps)
}

// TestWhoDiesIsLookedFor: at each point at which the process may end.
func TestWhoDiesIsLookedFor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, has := range []string{"made", "nothing"} {
		committed := b.order("gwb", has) // died after the commit, before or in the call
		b.turn("gwb", callTime+14*time.Second)
		require.Equal(t, 0, b.seen(committed), "the call may still be under way")
		b.turn("gwb", time.Second)
		require.Equal(t, 1, b.seen(committed))
		b.turn("gwb", time.Minute)
		require.Equal(t, has, b.state(committed))

		leased := b.lost("gwb", has) // died in a check: its lease runs out
		b.clock.Advance(5 * time.Second)
		_, err := b.db.Exec(t.Context(), "UPDATE payments.intents SET leased_until = $1 WHERE subject_id = $2",
			b.clock.Now().Add(105*time.Second), leased)
		require.NoError(t, err)
		b.turn("gwb", 104*time.Second)
		require.Equal(t, 0, b.seen(leased), "another process may be looking")
		b.turn("gwb", time.Second)
		b.turn("gwb", time.Minute)
		require.Equal(t, has, b.state(leased))
	}
}

// TestAnEmptyCheckCountsOnlyAfterTheCall: the gateway may still be working on it.
func TestAnEmptyCheckCountsOnlyAfterTheCall(t *testing.T) {
	t.Parallel()
	for at, pauses := range map[gateway.Name][]time.Duration{
		"gwa": {0, time.Minute, 2 * time.Minute, 4 * time.Minute}, "gwb": {0, time.Minute},
	} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.lost(at, "nothing")
			begun := b.clock.Now()
			for b.clock.Now().Before(begun.Add(callTime + 14*time.Second)) {
				b.turn(at, time.Second)
			}
			require.Greater(t, b.seen(id), 1)
			require.Equal(t, 0, b.count("SELECT misses FROM payments.intents WHERE subject_id = $1", id))
			b.clock.Advance(time.Second)
			for n, pause := range pauses {
				require.Equal(t, "open", b.state(id))
				b.turn(at, pause-time.Millisecond)
				require.Equal(t, n, b.count("SELECT misses FROM payments.intents WHERE subject_id = $1", id))
				b.turn(at, time.Millisecond)
			}
			require.Equal(t, "nothing", b.state(id))
			require.Equal(t, 1, b.count("SELECT count(*) FROM payments.intents WHERE state = 'missing'"))
		})
	}
}

// TestChecksOfRoutesProveNothingFaster: a customer who asks again and again.
func TestChecksOfRoutesProveNothingFaster(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.lost("gwa", "nothing")
	b.clock.Advance(callTime + 15*time.Second)
	for range 20 {
		require.NoError(t, b.svc.CheckNow(t.Context(), id))
		b.clock.Advance(2 * time.Second)
	}
	require.Less(t, b.seen(id), 15, "a check is worth a call every five seconds")
	require.Equal(t, "open", b.state(id))
	require.Equal(t, 1, b.count("SELECT misses FROM payments.intents WHERE subject_id = $1", id))
	b.has(id, "made")
	b.clock.Advance(5 * time.Second)
	require.NoError(t, b.svc.CheckNow(t.Context(), id))
	require.Equal(t, "made", b.state(id))
	require.NoError(t, b.svc.CheckNow(t.Context(), id), "what is not open is left alone")
}

// TestACallAgainOnlyAfterProof, once for each proof, and not twice at a time.
func TestACallAgainOnlyAfterProof(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.again = true
	id := b.lost("gwa", "nothing")
	b.turn("gwa", callTime+15*time.Second)
	for _, pause := range []time.Duration{time.Minute, 2 * time.Minute} {
		b.turn("gwa", pause)
		require.Zero(t, b.calls)
	}
	b.turn("gwa", 4*time.Minute)
	require.Equal(t, 1, b.calls, "four misses")
	require.Equal(t, 1, b.count("SELECT calls FROM payments.intents WHERE subject_id = $1", id),
		"the first call is proved to have made nothing")
	b.turn("gwa", 5*time.Second)
	b.turn("gwa", 80*time.Second)
	require.Equal(t, 1, b.calls, "the new call has its own time and its own proof")
	b.has(id, "made")
	b.turn("gwa", time.Hour)
	require.Equal(t, "made", b.state(id))
}

// TestTwoProcessesCheckOnce at what is due.
func TestTwoProcessesCheckOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var ids []objectid.ID
	for range 40 {
		ids = append(ids, b.lost("gwb", "made"))
	}
	b.clock.Advance(time.Minute)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := b.svc.CheckDue(t.Context(), "gwb"); err != nil {
				t.Error(err) // among others: settled twice
			}
			for _, id := range ids {
				if err := b.svc.CheckNow(t.Context(), id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, b.count("SELECT count(*) FROM public.toys WHERE state = 'open'"))
	require.Len(t, b.checked, 40)
}

// TestACheckThatLostItsLeaseChangesNothing: a webhook was faster, or another check has
// taken over.
func TestACheckThatLostItsLeaseChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ended, taken := b.lost("gwb", "ended"), b.lost("gwb", "taken")
	other := b.clock.Now().Add(time.Hour)
	b.svc.Connect(intent.Hooks{Checkers: map[intent.Kind]intent.Checker{intent.Order: intent.NewChecker(func(ctx context.Context,
		c *intent.Check,
	) (intent.Finding, error) {
		switch c.Subject {
		case ended:
			return intent.Waiting,
				b.tx(func(tx pgx.Tx) error {
					return b.svc.EndTx(ctx, tx, ref(ended), intent.Declined[any]{},
						"webhook")
				})
		default:
			_, err := b.db.Exec(ctx, "UPDATE payments.intents SET leased_until = $1 WHERE subject_id = $2", other,
				taken)
			if err == nil {
				err = c.CallAgain(ctx)
				require.Error(t, err, "no call by who has it no longer")
			}
			return intent.NotThere, nil
		}
	}, false)}})
	b.turn("gwb", time.Minute)
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.intents WHERE subject_id = $1 AND state = 'declined' AND next_look_at IS NULL", ended))
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.intents WHERE subject_id = $1 AND leased_until = $2 AND calls = 1",
			taken, other))
}

func TestOneOpenAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := objectid.New(), objectid.New()
	opening := func(id objectid.ID) intent.Opening {
		return intent.Opening{
			Ref: intent.Ref{Kind: intent.Refund, Subject: id}, Gateway: "gwa", Excludes: "refund:pay_1",
			CallTime: callTime,
		}
	}
	begin := func(o ...intent.Opening) error {
		return b.tx(func(tx pgx.Tx) error { return b.svc.OpenTx(t.Context(), tx, o...) })
	}
	require.NoError(t, begin(opening(first)))
	var open *intent.ErrOpen
	require.ErrorAs(t, begin(opening(second)), &open)
	require.Equal(t, first, open.Intent.Subject)
	require.ErrorAs(t, begin(intent.Opening{Ref: intent.Ref{Kind: intent.Order, Subject: second}, Gateway: "gwb"},
		opening(second)), &open)
	require.Equal(t, first, open.Intent.Subject)
	require.ErrorAs(t, begin(opening(first)), &open)
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.intents"))
	require.NoError(t, b.tx(func(tx pgx.Tx) error {
		return b.svc.EndTx(t.Context(), tx, intent.Ref{Kind: intent.Refund, Subject: first}, intent.Succeeded[any]{},
			"answer")
	}))
	require.NoError(t, begin(opening(second)))
	elsewhere := opening(objectid.New())
	elsewhere.Gateway = "gwb"
	require.NoError(t, begin(elsewhere))
	require.ErrorContains(t,
		begin(intent.Opening{Ref: intent.Ref{Kind: intent.Debit, Subject: second}, Gateway: "gwa"}), "nobody checks",
		"before any call")
}

// TestDueIndex: the turns of every five seconds read the due intents by index.
func TestDueIndex(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.db.Exec(t.Context(),
		`INSERT INTO payments.intents (id, kind, subject_id, gateway, reference, state, created_at, ended_at)
		SELECT platform.new_object_id(), 'order', platform.new_object_id(), 'gwa', 'x', 'done', now(), now() FROM generate_series(1, 5000)`)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(),
		`INSERT INTO payments.intents (id, kind, subject_id, gateway, reference, state, created_at, next_look_at)
		SELECT platform.new_object_id(), 'order', platform.new_object_id(), 'gwa', 'x', 'open', now(), now() + interval '1 hour' FROM generate_series(1, 2000)`)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), "ANALYZE payments.intents")
	require.NoError(t, err)
	rows, err := b.db.Query(t.Context(), `EXPLAIN SELECT id FROM payments.intents
		WHERE gateway = 'gwa' AND state = 'open' AND next_look_at <= now() AND (leased_until IS NULL OR leased_until <= now()) ORDER BY created_at, id LIMIT 8`)
	require.NoError(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Contains(t, strings.Join(plan, "\n"), "intents_due")
}
