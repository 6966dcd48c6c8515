package intent_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/platform/clock"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// TestAnotherProcessWithAWrongClockCallsNothingMeanwhile: a process whose machine is ten minutes ahead takes no lease for
// over while the call is under way, and so makes no second one. Its clock is corrected by the database's.
func TestAnotherProcessWithAWrongClockCallsNothingMeanwhile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now, err := postgres.Now(t.Context(), b.db)
	require.NoError(t, err)
	b.clock.Advance(now.Sub(b.clock.Now())) // our machine's is right
	ahead := clock.NewFake(now.Add(10 * time.Minute))
	corrected := &clock.Corrected{Machine: ahead.Now}
	_, err = corrected.Correct(func() (time.Time, error) { return postgres.Now(t.Context(), b.db) })
	require.NoError(t, err)
	other := setupOn(b, corrected)
	calls := 0
	operation := func(svc *intent.Service, call func()) *intent.Operation[objectid.ID, string] {
		return &intent.Operation[objectid.ID, string]{
			Kind: intent.Order, Intents: svc,
			Opening: func(id objectid.ID) intent.Opening {
				return intent.Opening{Ref: ref(id), Gateway: "gwa", CallTime: callTime}
			},
			Row: func(_ context.Context, i intent.Intent) (objectid.ID, bool, error) { return i.Subject, false, nil },
			Steps: []intent.Step[objectid.ID, string]{{
				Call: func(context.Context, gateway.Gateway, objectid.ID, string) (string, error) {
					calls++
					call()
					return "made", nil
				},
				Find: func(context.Context, gateway.Gateway, objectid.ID, string) (string, bool, error) {
					return "", false, nil
				},
				Again: func(context.Context, gateway.Gateway, objectid.ID) (intent.Outcome[string], error) {
					return nil, nil
				},
			}},
			SettleTx: func(context.Context, pgx.Tx, *objectid.ID, intent.Outcome[string], intent.By) error { return nil },
		}
	}
	theirs := operation(other, func() {})
	other.Connect(intent.Hooks{Checkers: map[intent.Kind]intent.Checker{intent.Order: theirs.Checker()}})
	ours := operation(b.svc, func() { // a minute in which the gateway thinks, and the other's turns of checks
		for range 12 {
			ahead.Advance(5 * time.Second)
			require.NoError(t, other.CheckDue(t.Context(), "gwa"))
		}
	})
	b.svc.Connect(intent.Hooks{Checkers: map[intent.Kind]intent.Checker{intent.Order: ours.Checker()}})
	id := objectid.New()
	require.NoError(t, ours.Begin(t.Context(), &id, func(pgx.Tx) error { return nil }))
	_, _, err = ours.Run(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, 1, calls, "called again while the first call was under way")
}

// TestAProcessThatStoodStillCallsNothing: between its commit and its call the lease ran out, and the checks have taken
// the order over.
func TestAProcessThatStoodStillCallsNothing(t *testing.T) {
	t.Parallel()
	for stood, calls := range map[time.Duration]int{89 * time.Second: 1, 90 * time.Second: 0, time.Hour: 0} {
		b, op := buy(t)
		made := 0
		b.calls["first"] = func() (string, error) { made++; return "first", nil }
		begun := b.clock.Now()
		op.Opening = func(id objectid.ID) intent.Opening {
			return intent.Opening{Ref: ref(id), Gateway: "gwa", CallTime: callTime, Begun: begun}
		}
		id := objectid.New()
		require.NoError(t, op.Begin(t.Context(), &id, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "INSERT INTO public.toys VALUES ($1, 'open')", id)
			return err
		}))
		b.clock.Advance(stood)
		_, outcome, err := op.Run(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, calls, made, stood)
		if calls == 0 {
			require.IsType(t, intent.NotKnown[string]{}, outcome)
			for range 30 {
				b.turn("gwa", time.Minute)
			}
			require.Equal(t, "nothing", b.state(id))
			require.Equal(t, "missing", b.ended(id))
			require.Zero(t, made)
		}
	}
}

// setupOn is another process on the toy's database.
func setupOn(b *toy, c clock.Clock) *intent.Service {
	return intent.New(intent.Deps{Pool: b.db, Clock: c, Log: b.log, Gateways: b.gateways})
}
