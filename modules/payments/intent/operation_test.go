package intent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/platform/objectid"
)

// buying is a user with an operation of two calls, of which the second may be made again.
type buying struct {
	*toy
	calls map[string]func() (string, error) // by the step; nil: the answer is its name
	found map[string]string
	again int
}

func buy(t *testing.T, change ...func(*intent.Deps)) (*buying, *intent.Operation[objectid.ID, string]) {
	t.Helper()
	b := &buying{toy: setup(t, change...), calls: map[string]func() (string, error){}, found: map[string]string{}}
	step := func(name string) intent.Step[objectid.ID, string] {
		return intent.Step[objectid.ID, string]{
			Call: func(context.Context, gateway.Gateway, objectid.ID, string) (string, error) {
				if b.calls[name] == nil {
					return name, nil
				}
				return b.calls[name]()
			},
			Find: func(context.Context, gateway.Gateway, objectid.ID, string) (string, bool, error) {
				return b.found[name], b.found[name] != "", nil
			},
			Judge: func(_ objectid.ID, a string) intent.Outcome[string] {
				if a == "waiting" {
					return intent.Pending[string]{Result: a}
				}
				return intent.Succeeded[string]{Result: a}
			},
		}
	}
	second := step("second")
	second.Again = func(context.Context, gateway.Gateway, objectid.ID) (intent.Outcome[string], error) {
		b.again++
		return nil, nil
	}
	op := &intent.Operation[objectid.ID, string]{
		Kind: intent.Order, Intents: b.svc,
		Opening: func(id objectid.ID) intent.Opening {
			return intent.Opening{Ref: ref(id), Gateway: "gwa", CallTime: callTime}
		},
		Row: func(_ context.Context, i intent.Intent) (objectid.ID, bool, error) {
			return i.Subject, b.state(i.Subject) != "open" && b.state(i.Subject) != "half", nil
		},
		Steps: []intent.Step[objectid.ID, string]{step("first"), second},
		SettleTx: func(ctx context.Context, tx pgx.Tx, id *objectid.ID, outcome intent.Outcome[string],
			_ intent.By,
		) error {
			state := "nothing"
			switch outcome := outcome.(type) {
			case intent.Succeeded[string]:
				state = outcome.Result
			case intent.Pending[string]:
				state = "half"
			case intent.Declined[string]:
				state = "declined"
			}
			_, err := tx.Exec(ctx, "UPDATE public.toys SET state = $2 WHERE id = $1", *id, state)
			return err
		},
	}
	b.svc.Connect(intent.Hooks{Checkers: map[intent.Kind]intent.Checker{intent.Order: op.Checker()}})
	return b, op
}

// bought begins an order and runs it.
func (b *buying) bought(op *intent.Operation[objectid.ID, string]) (objectid.ID, intent.Outcome[string]) {
	b.t.Helper()
	id := objectid.New()
	require.NoError(b.t, op.Begin(b.t.Context(), &id, func(tx pgx.Tx) error {
		_, err := tx.Exec(b.t.Context(), "INSERT INTO public.toys VALUES ($1, 'open')", id)
		return err
	}))
	_, open := b.open(id)
	require.True(b.t, open, "committed before the call")
	id, outcome, err := op.Run(b.t.Context(), id)
	require.NoError(b.t, err)
	return id, outcome
}

func (b *buying) ended(id objectid.ID) (state string) {
	b.t.Helper()
	require.NoError(b.t,
		b.db.QueryRow(b.t.Context(), "SELECT state FROM payments.intents WHERE subject_id = $1", id).Scan(&state))
	return state
}

// TestWhatPeopleWereToldOfIsEndedByItsCheck: its end is theirs to hear of, for which the answer of a call that took a day
// does not wait.
func TestWhatPeopleWereToldOfIsEndedByItsCheck(t *testing.T) {
	t.Parallel()
	b, op := buy(t)
	var known []objectid.ID
	b.svc.Connect(intent.Hooks{
		Known: func(_ context.Context, _ pgx.Tx, _ gateway.Name, subject objectid.ID) error {
			known = append(known, subject)
			return nil
		},
	})
	b.calls["second"] = func() (string, error) {
		_, err := b.db.Exec(t.Context(), "UPDATE payments.intents SET told_at = now()")
		return "second", err
	}
	id, _ := b.bought(op)
	require.Equal(t, "second", b.state(id))
	require.Equal(t, "open", b.ended(id))
	require.Empty(t, known)
	b.turn("gwa", time.Hour)
	require.Equal(t, "done", b.ended(id))
	require.Equal(t, []objectid.ID{id}, known)
}

// TestEachOutcomeOfACall says how the row and its intent stand after it.
func TestEachOutcomeOfACall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call          func() (string, error)
		row, intentIs string
	}{
		"there":         {nil, "second", "done"},
		"decided later": {func() (string, error) { return "waiting", nil }, "half", "open"},
		"declined": {
			func() (string, error) { return "", &gateway.Declined{Code: "51"} }, "declined", "declined",
		},
		"refused": {
			func() (string, error) { return "", &gateway.Rejected{Code: "bad"} }, "nothing", "refused",
		},
		"not listening":     {func() (string, error) { return "", gateway.ErrUnavailable }, "nothing", "refused"},
		"may have acted":    {func() (string, error) { return "", gateway.ErrOutcomeUnknown }, "open", "open"},
		"nobody foresaw it": {func() (string, error) { return "", errors.New("status 500") }, "open", "open"},
		"panics":            {func() (string, error) { panic("broken") }, "open", "open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, op := buy(t)
			b.calls["second"] = c.call
			id, _ := b.bought(op)
			require.Equal(t, c.row, b.state(id))
			require.Equal(t, c.intentIs, b.ended(id))
		})
	}
}

// TestAFailureBehindWhatCountsIsNotKnown: what the step before has made is not given up,
// and a gateway that refuses answers.
func TestAFailureBehindWhatCountsIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{
		"declined": &gateway.Declined{Code: "51"}, "refused": &gateway.Rejected{Code: "bad"},
		"not listening": gateway.ErrUnavailable,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, op := buy(t, func(d *intent.Deps) {
				d.Refused = func(err error) bool { return !errors.Is(err, gateway.ErrUnavailable) }
			})
			op.Steps[1].Behind = true
			b.calls["second"], b.found["first"] = func() (string, error) { return "", cause }, "first"
			id, outcome := b.bought(op)
			require.Equal(t, intent.NotKnown[string]{Result: "first", Cause: cause}, outcome)
			for range 30 {
				b.turn("gwa", time.Minute)
			}
			require.Positive(t, b.again)
			require.Equal(t, "half", b.state(id))
			require.Equal(t, "open", b.ended(id))
			require.False(t, b.failing("gwa"))
			b.calls["second"] = nil
			for range 30 {
				b.turn("gwa", 10*time.Minute)
			}
			require.Equal(t, "second", b.state(id))
		})
	}
}

// TestACheckGoesThroughTheSteps: it finds where the order stands, and makes again only what
// may be, when it is proved to have made nothing.
func TestACheckGoesThroughTheSteps(t *testing.T) {
	t.Parallel()
	b, op := buy(t)
	lost := func() (string, error) { return "", errors.New("status 500") }
	b.calls["second"] = lost
	id, _ := b.bought(op)
	b.found["first"] = "first"
	b.turn("gwa", time.Minute+40*time.Second)
	require.Equal(t, "half", b.state(id), "what the first has made counts")
	require.Zero(t, b.again)
	b.calls["second"] = nil
	for range 30 {
		b.turn("gwa", time.Minute)
	}
	require.Equal(t, 1, b.again)
	require.Equal(t, "second", b.state(id))
	require.Equal(t, "done", b.ended(id))

	b.found, b.calls["first"] = map[string]string{}, lost
	id, outcome := b.bought(op)
	require.IsType(t, intent.NotKnown[string]{}, outcome)
	for range 30 {
		b.turn("gwa", time.Minute)
	}
	require.Equal(t, "nothing", b.state(id), "the first is called once")
	require.Equal(t, "missing", b.ended(id))
	require.Equal(t, 1, b.again)
}

// TestARepetitionThatIsNotMadeLooksForTheFirst: a search that lagged shows now what the gateway does not make twice.
func TestARepetitionThatIsNotMadeLooksForTheFirst(t *testing.T) {
	t.Parallel()
	for _, no := range []error{&gateway.Declined{Code: "card_declined"}, &gateway.Rejected{Message: "made already"}} {
		b, op := buy(t)
		b.calls["second"] = func() (string, error) { return "", errors.New("status 500") }
		id, _ := b.bought(op)
		b.found["first"] = "first"
		b.calls["second"] = func() (string, error) {
			b.found["second"] = "second"
			return "", no
		}
		for range 30 {
			b.turn("gwa", time.Minute)
		}
		require.Equal(t, "second", b.state(id))
		require.Equal(t, "done", b.ended(id))
	}
}

// TestWhoWaitsHasAnOrderCarriedOutNow: while it is open the checks alone repeat it. Whoever tries it first, after the
// commit of its intent, leaves it to them.
func TestWhoWaitsHasAnOrderCarriedOutNow(t *testing.T) {
	t.Parallel()
	for _, fails := range []error{nil, gateway.ErrUnavailable, intent.ErrUnderWay, errors.New("the database is away")} {
		b := setup(t)
		tries, word := 0, fails
		_, id := b.requested(func(context.Context, intent.Ref) error { tries++; return word })
		o := intent.Opening{Ref: intent.Ref{Kind: intent.Pause, Subject: id}, Gateway: "gwb"}
		require.NoError(t, b.svc.Request(t.Context(), o))
		require.Equal(t, 1, tries)
		_, open := b.open(id)
		require.Equal(t, fails != nil, open)
		if fails == nil {
			continue
		}
		require.NoError(t, b.svc.Request(t.Context(), o))
		require.NoError(t, b.svc.NotKnown(t.Context(), o.Ref, fails), "no call of its own")
		require.Equal(t, 1, tries, "the checks alone repeat it")
		word = nil
		b.turn("gwb", 2*time.Minute)
		require.Equal(t, 2, tries)
		_, open = b.open(id)
		require.False(t, open)
		o.CallTime = b.svc.CallTime()
		require.NoError(t, b.tx(func(tx pgx.Tx) error { return b.svc.OpenTx(t.Context(), tx, o) }))
		b.turn("gwb", time.Second)
		require.Equal(t, 2, tries, "its first call is under way")
		require.NoError(t, b.svc.NotKnown(t.Context(), o.Ref, fails))
		i, open := b.open(id)
		require.True(t, open)
		require.WithinDuration(t, b.clock.Now().Add(5*time.Second), i.NextCheck, time.Second)
	}
}

// requested is an order of Repeat: its opening with it, and what it asks for as last carried out.
func (b *toy) requested(do func(context.Context, intent.Ref) error) (request func(tx pgx.Tx) error, id objectid.ID) {
	b.svc.Connect(intent.Hooks{Checkers: map[intent.Kind]intent.Checker{intent.Pause: intent.Repeat(do)}})
	id = objectid.New()
	return func(tx pgx.Tx) error {
		o := intent.Opening{Ref: intent.Ref{Kind: intent.Pause, Subject: id}, Gateway: "gwb"}
		return b.svc.RequestTx(b.t.Context(), tx, o)
	}, id
}

// TestWhatIsRequestedIsCarriedOutByTheChecks alone: from the commit of its row on, again when it fails, and no more once
// it is done.
func TestWhatIsRequestedIsCarriedOutByTheChecks(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]error{"fails": gateway.ErrUnavailable, "waits": intent.ErrUnderWay} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			tries, word := 0, fails
			request, id := b.requested(func(context.Context, intent.Ref) error { tries++; return word })
			rolledBack := errors.New("the row was not written")
			require.ErrorIs(t, b.tx(func(tx pgx.Tx) error { return errors.Join(request(tx), rolledBack) }), rolledBack)
			b.turn("gwb", 0)
			require.Zero(t, tries)
			require.NoError(t, b.tx(request))
			b.turn("gwb", 0)
			require.Equal(t, 1, tries)
			left := b.count("SELECT extract(epoch FROM next_look_at - looked_at)::int FROM payments.intents")
			require.Equal(t, map[string]int{"fails": 5, "waits": 60}[name], left, "seconds")
			word = nil
			b.turn("gwb", time.Minute)
			require.Equal(t, 2, tries)
			_, open := b.open(id)
			require.False(t, open)
			b.turn("gwb", time.Hour)
			require.Equal(t, 2, tries)
		})
	}
}

// TestWhatIsRequestedAgainDuringACheckIsNotLost: the check has asked for what the row wanted before. However it ends, the
// next one is due at once.
func TestWhatIsRequestedAgainDuringACheckIsNotLost(t *testing.T) {
	t.Parallel()
	for name, word := range map[string]error{
		"done": nil, "failed": gateway.ErrUnavailable, "waits": intent.ErrUnderWay, "done now": nil,
	} {
		t.Run(name, func(t *testing.T) {
			_, again, _ := strings.Cut(name, " ")
			t.Parallel()
			b := setup(t)
			tries := 0
			var request func(pgx.Tx) error
			var id objectid.ID
			request, id = b.requested(func(context.Context, intent.Ref) error {
				tries++
				if tries > 1 {
					return nil
				}
				if again == "now" {
					o := intent.Opening{Ref: intent.Ref{Kind: intent.Pause, Subject: id}, Gateway: "gwb"}
					require.NoError(t, b.svc.Request(t.Context(), o))
				} else {
					require.NoError(t, b.tx(request))
				}
				require.NoError(t, b.svc.CheckOne(t.Context(), intent.Pause, id), "the check under way has it")
				require.Equal(t, 1, tries)
				return word
			})
			require.NoError(t, b.tx(request))
			b.turn("gwb", 0)
			b.turn("gwb", 0)
			require.Equal(t, 2, tries)
			_, open := b.open(id)
			require.False(t, open)
		})
	}
}

// TestEachStepIsProvedByItsOwnMisses: that the first call was not found for a while proves nothing about the second,
// which was made and which the gateway's search does not show yet. Its first empty answer is no proof.
func TestEachStepIsProvedByItsOwnMisses(t *testing.T) {
	t.Parallel()
	b, op := buy(t)
	lost := errors.New("the answer was lost")
	made := 0
	b.calls["second"] = func() (string, error) { made++; return "", lost }
	id := objectid.New()
	require.NoError(t, op.Begin(t.Context(), &id, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO public.toys VALUES ($1, 'open')", id)
		return err
	}))
	_, outcome, err := op.Run(t.Context(), id)
	require.NoError(t, err)
	require.IsType(t, intent.NotKnown[string]{}, outcome)
	require.Equal(t, 1, made)
	// The search lags for all of it: three empty answers about the first step.
	misses := func() int { return b.count("SELECT misses FROM payments.intents WHERE subject_id = $1", id) }
	for misses() < 3 {
		b.turn("gwa", 5*time.Second)
	}
	require.Equal(t, 1, made)
	b.found["first"] = "first" // now it shows the first; the second, asked for the first time, not yet
	for range 400 {
		b.turn("gwa", 5*time.Second)
		if b.seenSteps() > 3 {
			break
		}
	}
	require.Equal(t, 1, made, "the second call is made again after one empty answer about it")
	require.Equal(t, 1, misses())
	for range 11 { // its own misses are 5, 15 and 35 s apart: the call was made long ago
		require.Equal(t, 1, made)
		b.turn("gwa", 5*time.Second)
	}
	require.Equal(t, 2, made, "and four of its own prove that it made nothing")
	require.Equal(t, 1, b.count("SELECT step FROM payments.intents WHERE subject_id = $1", id))
}

// seenSteps counts the checks so far.
func (b *buying) seenSteps() int {
	return b.count("SELECT count(*) FROM payments.intent_steps WHERE by = 'look' AND outcome = 'not_there' OR outcome = 'called' AND by = 'look'")
}

// TestACheckThatStoodStillDoesNotEndWhatAnotherHas: it has done what the row wanted before; another has the intent by
// then, for what the row wants now, and fails.
func TestACheckThatStoodStillDoesNotEndWhatAnotherHas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tries := 0
	var meanwhile func()
	request, id := b.requested(func(context.Context, intent.Ref) error {
		if tries++; tries == 1 {
			meanwhile()
			return nil
		}
		return errors.New("status 500")
	})
	meanwhile = func() {
		require.NoError(t, b.tx(request))
		b.clock.Advance(2 * time.Minute) // the lease is over
		require.NoError(t, b.svc.CheckDue(t.Context(), "gwb"))
		require.Equal(t, 2, tries)
	}
	require.NoError(t, b.tx(request))
	require.NoError(t, b.svc.CheckDue(t.Context(), "gwb"))
	_, open := b.open(id)
	require.True(t, open)
}
