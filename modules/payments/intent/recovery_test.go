package intent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/platform/objectid"
)

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
		require.NoError(t, b.svc.CheckDue(t.Context(), "gwb"))
		if b.seen(bad) > n {
			n++
			gaps, last = append(gaps, b.clock.Now().Sub(last)), b.clock.Now()
			if n > 3 {
				i, _ := b.open(bad)
				b.clock.Advance(i.NextCheck.Sub(b.clock.Now()) - time.Second)
			}
		}
	}
	require.Equal(t, []time.Duration{
		5 * time.Second, 15 * time.Second, 45 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute,
		time.Hour, time.Hour,
	}, gaps)
	b.turn("gwb", 7*24*time.Hour)
	i, _ := b.open(bad)
	require.Equal(t, b.clock.Now().Add(24*time.Hour), i.NextCheck)
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
	for _, outage := range []time.Duration{
		7 * time.Second, 40 * time.Second, 4 * time.Minute, 17 * time.Minute, 95 * time.Minute, 11 * time.Hour,
	} {
		end := b.clock.Now().Add(outage)
		var ids []objectid.ID
		for range 20 {
			ids = append(ids, b.lost("gwa", "failing"))
			b.clock.Advance(outage / 100)
			require.NoError(t, b.svc.CheckDue(t.Context(), "gwa"))
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
		b.remote = map[objectid.ID]string{}
		b.mu.Unlock()
	}
	require.LessOrEqual(t, late*100, total*5)
}

// outage has the gateway fail for a while. The calls are made in its first part, half
// of them were not carried out.
func (b *toy) outage(at gateway.Name, calls int, first, whole time.Duration) (made, missing []objectid.ID) {
	b.t.Helper()
	end := b.clock.Now().Add(whole)
	for n := range calls {
		id := b.lost(at, "failing")
		if n%2 == 0 {
			made = append(made, id)
		} else {
			missing = append(missing, id)
		}
		b.turn(at, first/time.Duration(calls))
	}
	for b.clock.Now().Before(end) {
		b.turn(at, 15*time.Second)
	}
	for _, id := range made {
		b.has(id, "made")
	}
	for _, id := range missing {
		b.has(id, "nothing")
	}
	return made, missing
}

// settled counts those of the rows that are.
func (b *toy) settled(rows ...[]objectid.ID) (n int) {
	b.t.Helper()
	for _, ids := range rows {
		for _, id := range ids {
			if b.state(id) != "open" {
				n++
			}
		}
	}
	return n
}

// aMinuteOfReplies lets seconds pass until the first right answer, and then a minute.
func (b *toy) aMinuteOfReplies(at gateway.Name) {
	b.t.Helper()
	for b.failing(string(at)) {
		b.turn(at, time.Second)
	}
	for range 60 {
		b.turn(at, time.Second)
	}
}

// TestAMinuteAfterAnOutage of a quarter of an hour nearly all of what was called in it
// is settled, also that nothing was made, within the checks' share of the quota.
func TestAMinuteAfterAnOutage(t *testing.T) {
	t.Parallel()
	for _, at := range []gateway.Name{"gwa", "gwb"} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			made, missing := b.outage(at, 100, 5*time.Minute, 15*time.Minute)
			b.aMinuteOfReplies(at)
			require.GreaterOrEqual(t, b.settled(made, missing), 95)
			require.LessOrEqual(t, len(b.checked), 25_000/5/2, "two calls each")
		})
	}
}

// TestWhatWasCalledLateInAnOutage is found within the minute as well. That nothing was
// made of it is proved when the gateway's search can lag no longer: seven
// RECOVERY_DELAY after the end of the call's time.
func TestWhatWasCalledLateInAnOutage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made, missing := b.outage("gwa", 100, 15*time.Minute, 15*time.Minute)
	b.aMinuteOfReplies("gwa")
	require.Equal(t, len(made), b.settled(made))
	for range 9 * 6 {
		b.turn("gwa", 10*time.Second)
	}
	require.Equal(t, len(missing), b.settled(missing))
	require.Equal(t, 0,
		b.count(`SELECT count(*) FROM payments.intents WHERE state = 'missing' AND ended_at < call_ends_at + interval '7 minutes'`))
	require.Equal(t, 0,
		b.count(`SELECT count(*) FROM payments.intents WHERE state = 'missing' AND missed_at < call_ends_at + interval '3 minutes'`))
}

// TestMissesAfterAnOutage: 5, 15 and 35 s lie between them, and no check is made later
// than it can count.
func TestMissesAfterAnOutage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.lost("gwa", "failing")
	for range 30 {
		b.turn("gwa", 30*time.Second)
	}
	b.has(id, "nothing")
	b.turn("gwa", 30*time.Second)
	first := b.clock.Now()
	var misses []time.Duration
	for n := 1; b.state(id) == "open"; {
		if b.count("SELECT misses FROM payments.intents WHERE subject_id = $1", id) == n {
			misses = append(misses, b.clock.Now().Sub(first))
			n++
		}
		b.turn("gwa", time.Second)
	}
	require.Equal(t, []time.Duration{0, 5 * time.Second, 20 * time.Second}, misses)
	require.Equal(t, 55*time.Second, b.clock.Now().Sub(first))
}

// TestTheOldestAreSettledWithinTheShare: what the fifth of the quota does not suffice
// for waits for the next window.
func TestTheOldestAreSettledWithinTheShare(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *intent.Deps) {
		d.Quotas = map[gateway.Name]gateway.Quota{"gwa": {Calls: 800, Window: 12 * time.Hour}}
	})
	var ids []objectid.ID
	for range 100 {
		ids = append(ids, b.lost("gwa", "made"))
		b.clock.Advance(time.Millisecond)
	}
	b.aMinuteOfReplies("gwa")
	require.Equal(t, 80, b.settled(ids[:80]))
	require.Zero(t, b.settled(ids[80:]), "a fifth of 800 calls are 80 looks, oldest first")
	b.turn("gwa", 12*time.Hour)
	require.Equal(t, 100, b.settled(ids))
}

func TestChecksShareAFifthOfTheQuotaOldestFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *intent.Deps) {
		d.Quotas = map[gateway.Name]gateway.Quota{"gwa": {Calls: 100, Window: 12 * time.Hour}}
	})
	var ids []objectid.ID
	for range 15 {
		ids = append(ids, b.lost("gwa", "waiting"))
		b.clock.Advance(time.Millisecond)
	}
	other := b.lost("gwb", "made")
	b.turn("gwa", time.Minute)
	require.Len(t, b.checked, 10, "a fifth of 100 calls, two a check")
	require.ElementsMatch(t, ids[:8], b.checked[:8], "the oldest first")
	require.ElementsMatch(t, ids[8:10], b.checked[8:])
	b.turn("gwa", time.Hour)
	require.NoError(t, b.svc.CheckNow(t.Context(), ids[14]))
	require.Len(t, b.checked, 10)
	b.turn("gwb", 0)
	require.Equal(t, "made", b.state(other), "gateway B's looks are its own")
	b.turn("gwa", 11*time.Hour)
	require.Len(t, b.checked, 21, "the next window")
}

func TestAfterADayPeopleHearOfIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var reported []objectid.ID
	b.svc.Connect(intent.Hooks{
		Unknown: func(_ context.Context, _ pgx.Tx, i intent.Intent) error {
			reported = append(reported,
				i.Subject)
			return nil
		},
	})
	first, second := b.lost("gwb", "failing"), b.lost("gwb", "failing")
	b.turn("gwb", 24*time.Hour-time.Second)
	require.Empty(t, reported)
	b.turn("gwb", time.Second)
	b.turn("gwb", time.Hour)
	require.ElementsMatch(t, []objectid.ID{first, second}, reported)
	var raw []byte
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT args FROM jobs.river_job WHERE kind = 'operators_mail'").
		Scan(&raw), "one mail")
	var mail struct{ Subject, Text string }
	require.NoError(t, json.Unmarshal(raw, &mail))
	require.Contains(t, mail.Subject, "2 orders")
	require.True(t, strings.Contains(mail.Text, first.String()) && strings.Contains(mail.Text, "HTML"))
	b.turn("gwb", 48*time.Hour)
	require.Len(t, reported, 2)
}
