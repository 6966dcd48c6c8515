package intent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/intent"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/operators"
	"marquee/platform/postgres"
	"marquee/testutil/leaktest"
	"marquee/testutil/pgtest"
)

const callTime = 75 * time.Second

// toy is a user with one table: a row is open, made or nothing.
type toy struct {
	t     *testing.T
	db    *pgxpool.Pool
	clock *clock.Fake
	svc   *intent.Service

	mu      sync.Mutex
	answers map[objectid.ID]string // what the gateway has of a row: made, waiting, nothing, failing, panic
	looks   []objectid.ID          // in the order in which they were made
	again   bool                   // what is proved to be missing is ordered again
	calls   int
}

func setup(t *testing.T, change ...func(*intent.Deps)) *toy {
	t.Helper()
	b := &toy{t: t, db: pgtest.DB(t), clock: clock.NewFake(time.Now()), answers: map[objectid.ID]string{}}
	log := leaktest.Logger(t)
	client, err := jobs.New(b.db, jobs.Options{Log: log})
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), "CREATE TABLE public.toys (id text PRIMARY KEY, state text NOT NULL)")
	require.NoError(t, err)
	d := intent.Deps{Pool: b.db, Clock: b.clock, Log: log, Operators: operators.New(client, nil, []string{"ops@example.com"})}
	for _, c := range change {
		c(&d)
	}
	b.svc = intent.New(d)
	b.svc.Register(intent.Order, intent.User{Look: b.look})
	b.svc.Register(intent.SubscriptionGone, intent.User{Look: b.lookGone, WasFound: true})
	return b
}

func (b *toy) tx(f func(tx pgx.Tx) error) error { return postgres.InTx(b.t.Context(), b.db, f) }

func ref(id objectid.ID) intent.Ref { return intent.Ref{Kind: intent.Order, Subject: id} }

// order commits a row and its intent; what the gateway makes of the call is set apart.
func (b *toy) order(gateway, has string) objectid.ID {
	b.t.Helper()
	id := objectid.New()
	b.has(id, has)
	require.NoError(b.t, b.tx(func(tx pgx.Tx) error {
		if _, err := tx.Exec(b.t.Context(), "INSERT INTO public.toys VALUES ($1, 'open')", id); err != nil {
			return err
		}
		return b.svc.OpenTx(b.t.Context(), tx, intent.Opening{Ref: ref(id), Gateway: gateway, CallTime: callTime})
	}))
	return id
}

// lost is an order whose call ended not known.
func (b *toy) lost(gateway, has string) objectid.ID {
	b.t.Helper()
	id := b.order(gateway, has)
	require.NoError(b.t, b.svc.NotKnown(b.t.Context(), ref(id), errors.New("status 500")))
	return id
}

func (b *toy) has(id objectid.ID, what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers[id] = what
}

func (b *toy) all(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.answers {
		b.answers[id] = what
	}
}

func (b *toy) ask(id objectid.ID) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looks = append(b.looks, id)
	return b.answers[id]
}

func (b *toy) settle(ctx context.Context, id objectid.ID, state string, how intent.State) error {
	return b.tx(func(tx pgx.Tx) error {
		n, err := tx.Exec(ctx, "UPDATE public.toys SET state = $2 WHERE id = $1 AND state = 'open'", id, state)
		if err != nil {
			return err
		}
		if n.RowsAffected() == 0 {
			return errors.New("settled twice")
		}
		return b.svc.EndTx(ctx, tx, ref(id), how, "look")
	})
}

func (b *toy) look(ctx context.Context, l *intent.Look) (intent.Answer, error) {
	switch b.ask(l.Subject) {
	case "made":
		return intent.Settled, b.settle(ctx, l.Subject, "made", intent.Done)
	case "waiting":
		return intent.Waiting, nil
	case "nothing":
		if !l.Proved {
			return intent.NotThere, nil
		}
		if !b.again {
			return intent.Settled, b.settle(ctx, l.Subject, "nothing", intent.Missing)
		}
		if err := l.CallAgain(ctx, callTime); err != nil {
			return 0, err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls++
		return 0, errors.New("the call again ended not known, too")
	case "panic":
		panic("the toy is broken")
	}
	return 0, errors.New("the gateway answers with HTML")
}

func (b *toy) lookGone(ctx context.Context, l *intent.Look) (intent.Answer, error) {
	switch b.ask(l.Subject) {
	case "nothing":
		if !l.Proved {
			return intent.NotThere, nil
		}
		_, err := b.db.Exec(ctx, "INSERT INTO public.toys VALUES ($1, 'gone')", l.Subject)
		return intent.Settled, err
	case "made":
		return intent.FoundAgain, nil
	}
	return 0, errors.New("the gateway answers with HTML")
}

// turn makes a turn of looks after a time.
func (b *toy) turn(gateway string, after time.Duration) {
	b.t.Helper()
	b.clock.Advance(after)
	require.NoError(b.t, b.svc.LookDue(b.t.Context(), gateway))
}

func (b *toy) state(id objectid.ID) string {
	b.t.Helper()
	var state string
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), "SELECT coalesce((SELECT state FROM public.toys WHERE id = $1), '')", id).Scan(&state))
	return state
}

func (b *toy) count(query string, args ...any) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), query, args...).Scan(&n))
	return n
}

func (b *toy) open(id objectid.ID) (intent.Intent, bool) {
	b.t.Helper()
	i, ok, err := b.svc.OpenOf(b.t.Context(), b.db, id)
	require.NoError(b.t, err)
	return i, ok
}

// seen is how often a row was looked at.
func (b *toy) seen(id objectid.ID) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, other := range b.looks {
		if other == id {
			n++
		}
	}
	return n
}

func TestALostAnswerIsFoundByTheFirstLook(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.lost("gwb", "made")
	i, ok := b.open(id)
	require.True(t, ok)
	require.Equal(t, b.clock.Now().Add(5*time.Second), i.NextLook)
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
		b.turn("gwb", 15*time.Second)
		require.Equal(t, has, b.state(committed))

		looked := b.lost("gwb", has) // died in a look: its lease runs out
		b.clock.Advance(5 * time.Second)
		_, err := b.db.Exec(t.Context(), "UPDATE payments.intents SET leased_until = $1 WHERE subject_id = $2", b.clock.Now().Add(105*time.Second), looked)
		require.NoError(t, err)
		b.turn("gwb", 104*time.Second)
		require.Equal(t, 0, b.seen(looked), "another process may be looking")
		b.turn("gwb", time.Second)
		b.turn("gwb", 15*time.Second)
		require.Equal(t, has, b.state(looked))
	}
}

// TestAnEmptyLookCountsOnlyAfterTheCall: the gateway may still be working on it.
func TestAnEmptyLookCountsOnlyAfterTheCall(t *testing.T) {
	t.Parallel()
	for gateway, pauses := range map[string][]time.Duration{"gwa": {0, time.Minute, 2 * time.Minute, 4 * time.Minute}, "gwb": {0, 15 * time.Second}} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.lost(gateway, "nothing")
			begun := b.clock.Now()
			for b.clock.Now().Before(begun.Add(callTime + 14*time.Second)) {
				b.turn(gateway, time.Second)
			}
			require.Greater(t, b.seen(id), 1)
			require.Equal(t, 0, b.count("SELECT misses FROM payments.intents WHERE subject_id = $1", id))
			b.clock.Advance(time.Second)
			for n, pause := range pauses {
				require.Equal(t, "open", b.state(id))
				b.turn(gateway, pause-time.Millisecond)
				require.Equal(t, n, b.count("SELECT misses FROM payments.intents WHERE subject_id = $1", id))
				b.turn(gateway, time.Millisecond)
			}
			require.Equal(t, "nothing", b.state(id))
			require.Equal(t, 1, b.count("SELECT count(*) FROM payments.intents WHERE state = 'missing'"))
		})
	}
}

// TestLooksOfRoutesProveNothingFaster: a customer who asks again and again.
func TestLooksOfRoutesProveNothingFaster(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.lost("gwa", "nothing")
	b.clock.Advance(callTime + 15*time.Second)
	for range 20 {
		require.NoError(t, b.svc.LookNow(t.Context(), id))
		b.clock.Advance(2 * time.Second)
	}
	require.Less(t, b.seen(id), 15, "a look is worth a call every five seconds")
	require.Equal(t, "open", b.state(id))
	require.Equal(t, 1, b.count("SELECT misses FROM payments.intents WHERE subject_id = $1", id))
	b.has(id, "made")
	b.clock.Advance(5 * time.Second)
	require.NoError(t, b.svc.LookNow(t.Context(), id))
	require.Equal(t, "made", b.state(id))
	require.NoError(t, b.svc.LookNow(t.Context(), id), "what is not open is left alone")
}

func TestPausesOfASilentGateway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	bad := b.lost("gwb", "failing")
	var gaps []time.Duration
	last := b.clock.Now()
	for n := 0; len(gaps) < 8; {
		b.clock.Advance(time.Second)
		// One that answers keeps the gateway from being probed; the bad one alone is odd.
		_, err := b.db.Exec(t.Context(), "UPDATE payments.gateway_state SET failing_since = NULL")
		require.NoError(t, err)
		require.NoError(t, b.svc.LookDue(t.Context(), "gwb"))
		if b.seen(bad) > n {
			n++
			gaps, last = append(gaps, b.clock.Now().Sub(last)), b.clock.Now()
			if n > 3 {
				i, _ := b.open(bad)
				b.clock.Advance(i.NextLook.Sub(b.clock.Now()) - time.Second)
			}
		}
	}
	require.Equal(t, []time.Duration{
		5 * time.Second, 15 * time.Second, 45 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, time.Hour,
	}, gaps)
	b.turn("gwb", 7*24*time.Hour)
	i, _ := b.open(bad)
	require.Equal(t, b.clock.Now().Add(24*time.Hour), i.NextLook)
	b.has(bad, "panic")
	b.turn("gwb", 24*time.Hour)
	require.Equal(t, "open", b.state(bad), "a panic is not known")
}

// TestRecoveryEndsSoonAfterTheGateways: outages of seconds to hours, and what was
// made in them is settled within a minute of their end in 95 of 100 cases.
func TestRecoveryEndsSoonAfterTheGateways(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var late, total int
	for _, outage := range []time.Duration{7 * time.Second, 40 * time.Second, 4 * time.Minute, 17 * time.Minute, 95 * time.Minute, 11 * time.Hour} {
		end := b.clock.Now().Add(outage)
		var ids []objectid.ID
		for range 20 {
			ids = append(ids, b.lost("gwa", "failing"))
			b.clock.Advance(outage / 100)
			require.NoError(t, b.svc.LookDue(t.Context(), "gwa"))
		}
		for b.clock.Now().Before(end) {
			b.turn("gwa", min(5*time.Second, end.Sub(b.clock.Now())+time.Second))
			if left := end.Sub(b.clock.Now()); left > 3*time.Minute {
				b.clock.Advance(left / 2)
			}
		}
		b.all("made")
		back := b.clock.Now()
		for range 200 {
			b.turn("gwa", 5*time.Second)
			for _, id := range ids {
				if b.state(id) == "open" && b.clock.Now().Sub(back) >= time.Minute {
					late++
				}
			}
			if b.count("SELECT count(*) FROM public.toys WHERE state = 'open'") == 0 {
				break
			}
		}
		total += len(ids)
		require.Zero(t, b.count("SELECT count(*) FROM public.toys WHERE state = 'open'"))
		b.mu.Lock()
		b.answers = map[objectid.ID]string{}
		b.mu.Unlock()
	}
	require.LessOrEqual(t, late*100, total*5)
}

func TestLooksShareAFifthOfTheQuotaOldestFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *intent.Deps) { d.Quotas = map[string]intent.Quota{"gwa": {Calls: 100, Window: 12 * time.Hour}} })
	var ids []objectid.ID
	for range 15 {
		ids = append(ids, b.lost("gwa", "waiting"))
		b.clock.Advance(time.Millisecond)
	}
	other := b.lost("gwb", "made")
	b.turn("gwa", time.Minute)
	require.Len(t, b.looks, 10, "a fifth of 100 calls, two a look")
	require.ElementsMatch(t, ids[:8], b.looks[:8], "the oldest first")
	require.ElementsMatch(t, ids[8:10], b.looks[8:])
	b.turn("gwa", time.Hour)
	require.NoError(t, b.svc.LookNow(t.Context(), ids[14]))
	require.Len(t, b.looks, 10)
	b.turn("gwb", 0)
	require.Equal(t, "made", b.state(other), "gateway B's looks are its own")
	b.turn("gwa", 11*time.Hour)
	require.Len(t, b.looks, 21, "the next window")
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
	i, _ := b.open(id)
	require.True(t, i.RefusalCounts(), "the first call is proved to have made nothing")
	b.turn("gwa", 5*time.Second)
	b.turn("gwa", 80*time.Second)
	require.Equal(t, 1, b.calls, "the new call has its own time and its own proof")
	b.has(id, "made")
	b.turn("gwa", time.Hour)
	require.Equal(t, "made", b.state(id))
}

// TestTwoProcessesLookOnce at what is due.
func TestTwoProcessesLookOnce(t *testing.T) {
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
			if err := b.svc.LookDue(t.Context(), "gwb"); err != nil {
				t.Error(err) // among others: settled twice
			}
			for _, id := range ids {
				if err := b.svc.LookNow(t.Context(), id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, b.count("SELECT count(*) FROM public.toys WHERE state = 'open'"))
	require.Len(t, b.looks, 40)
}

// TestALookThatLostItsLeaseChangesNothing: a webhook was faster, or another look has
// taken over.
func TestALookThatLostItsLeaseChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ended, taken := b.lost("gwb", "ended"), b.lost("gwb", "taken")
	other := b.clock.Now().Add(time.Hour)
	b.svc.Register(intent.Order, intent.User{Look: func(ctx context.Context, l *intent.Look) (intent.Answer, error) {
		switch l.Subject {
		case ended:
			return intent.Waiting, b.tx(func(tx pgx.Tx) error { return b.svc.EndTx(ctx, tx, ref(ended), intent.Declined, "webhook") })
		default:
			_, err := b.db.Exec(ctx, "UPDATE payments.intents SET leased_until = $1 WHERE subject_id = $2", other, taken)
			if err == nil {
				err = l.CallAgain(ctx, callTime)
				require.Error(t, err, "no call by who has it no longer")
			}
			return intent.NotThere, nil
		}
	}})
	b.turn("gwb", time.Minute)
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.intents WHERE subject_id = $1 AND state = 'declined' AND next_look_at IS NULL", ended))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.intents WHERE subject_id = $1 AND leased_until = $2 AND calls = 1", taken, other))
}

func TestOneOpenAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := objectid.New(), objectid.New()
	opening := func(id objectid.ID) intent.Opening {
		return intent.Opening{Ref: intent.Ref{Kind: intent.Refund, Subject: id}, Gateway: "gwa", Excludes: "refund:pay_1", CallTime: callTime}
	}
	begin := func(o ...intent.Opening) error {
		return b.tx(func(tx pgx.Tx) error { return b.svc.OpenTx(t.Context(), tx, o...) })
	}
	require.NoError(t, begin(opening(first)))
	var open *intent.ErrOpen
	require.ErrorAs(t, begin(opening(second)), &open)
	require.Equal(t, first, open.Intent.Subject)
	require.ErrorAs(t, begin(intent.Opening{Ref: intent.Ref{Kind: intent.Order, Subject: second}, Gateway: "gwb"}, opening(second)), &open)
	require.Equal(t, first, open.Intent.Subject)
	require.ErrorAs(t, begin(opening(first)), &open)
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.intents"))
	require.NoError(t, b.tx(func(tx pgx.Tx) error {
		return b.svc.EndTx(t.Context(), tx, intent.Ref{Kind: intent.Refund, Subject: first}, intent.Done, "answer")
	}))
	require.NoError(t, begin(opening(second)))
	elsewhere := opening(objectid.New())
	elsewhere.Gateway = "gwb"
	require.NoError(t, begin(elsewhere))
}

func TestWhatWasFoundOnceNeedsTwoMissesAnHourApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	gone, back := b.missing("gwa", "nothing"), b.missing("gwa", "made")
	b.turn("gwa", time.Hour-time.Millisecond)
	require.Empty(t, b.looks)
	b.turn("gwa", time.Millisecond)
	require.Equal(t, "gone", b.state(gone))
	require.Empty(t, b.state(back))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.intents WHERE subject_id = $1 AND state = 'void'", back))
}

// missing is a row of something that was found and is now seen missing once.
func (b *toy) missing(gateway, has string) objectid.ID {
	b.t.Helper()
	id := objectid.New()
	b.has(id, has)
	require.NoError(b.t, b.tx(func(tx pgx.Tx) error {
		return b.svc.OpenTx(b.t.Context(), tx, intent.Opening{Ref: intent.Ref{Kind: intent.SubscriptionGone, Subject: id}, Gateway: gateway})
	}))
	require.NoError(b.t, b.svc.Saw(b.t.Context(), gateway, true))
	return id
}

func (b *toy) suspect() []string {
	b.t.Helper()
	found, err := b.svc.Suspect(b.t.Context())
	require.NoError(b.t, err)
	return found
}

func TestTheBrake(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var ids []objectid.ID
	for n := range 6 {
		require.Empty(t, b.suspect(), n)
		ids = append(ids, b.missing("gwb", "nothing"))
	}
	require.Equal(t, []string{"gwb"}, b.suspect())
	require.Equal(t, 1, b.count("SELECT count(*) FROM jobs.river_job WHERE kind = 'operators_mail' AND args->>'to' = 'ops@example.com'"))
	b.missing("gwb", "nothing")
	require.Equal(t, 1, b.count("SELECT count(*) FROM jobs.river_job WHERE kind = 'operators_mail'"), "one mail")
	for range 5 {
		b.turn("gwb", 2*time.Hour)
	}
	require.Zero(t, b.count("SELECT count(*) FROM public.toys"), "nothing ends")
	require.NotEmpty(t, b.looks)

	b.has(ids[0], "made") // the key is right again
	b.turn("gwb", time.Hour)
	require.Empty(t, b.suspect(), "lifted by a look that finds again what was missing")
	b.turn("gwb", time.Minute)
	require.Zero(t, b.count("SELECT count(*) FROM public.toys"), "what is still missing needs two looks anew")
	b.turn("gwb", time.Hour)
	require.Equal(t, 6, b.count("SELECT count(*) FROM public.toys"))
}

func TestTheBrakeIsLiftedByAnOperatorAndByTheShare(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 6 {
		b.missing("gwa", "nothing")
	}
	require.NoError(t, b.svc.Trust(t.Context(), "gwa", "by hand"))
	require.Empty(t, b.suspect())
	b.turn("gwa", time.Minute)
	b.turn("gwa", time.Hour)
	require.Equal(t, 6, b.count("SELECT count(*) FROM public.toys"))
	for range 6 {
		b.missing("gwb", "nothing")
	}
	for n := range 594 {
		require.Equal(t, []string{"gwb"}, b.suspect(), n)
		require.NoError(t, b.svc.Saw(t.Context(), "gwb", false))
	}
	require.Empty(t, b.suspect(), "6 of 600 are no more than a hundredth")
}

func TestAfterADayPeopleHearOfIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var told []objectid.ID
	b.svc.OnUnknown(func(_ context.Context, _ pgx.Tx, i intent.Intent) error { told = append(told, i.Subject); return nil })
	first, second := b.lost("gwb", "failing"), b.lost("gwb", "failing")
	b.turn("gwb", 24*time.Hour-time.Second)
	require.Empty(t, told)
	b.turn("gwb", time.Second)
	b.turn("gwb", time.Hour)
	require.ElementsMatch(t, []objectid.ID{first, second}, told)
	var raw []byte
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT args FROM jobs.river_job WHERE kind = 'operators_mail'").Scan(&raw), "one mail")
	var mail struct{ Subject, Text string }
	require.NoError(t, json.Unmarshal(raw, &mail))
	require.Contains(t, mail.Subject, "2 orders")
	require.True(t, strings.Contains(mail.Text, first.String()) && strings.Contains(mail.Text, "HTML"))
	b.turn("gwb", 48*time.Hour)
	require.Len(t, told, 2)
}

// TestDueIndex: the turns of every five seconds read the due intents by index.
func TestDueIndex(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.db.Exec(t.Context(), `INSERT INTO payments.intents (id, kind, subject_id, gateway, reference, state, created_at, ended_at)
		SELECT platform.new_object_id(), 'order', platform.new_object_id(), 'gwa', 'x', 'done', now(), now() FROM generate_series(1, 5000)`)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), `INSERT INTO payments.intents (id, kind, subject_id, gateway, reference, state, created_at, next_look_at)
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
