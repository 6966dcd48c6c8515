package intent_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/platform/objectid"
)

func TestWhatWasFoundOnceNeedsTwoMissesAnHourApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	gone, back := b.missing("gwa", "nothing"), b.missing("gwa", "made")
	b.turn("gwa", time.Hour-time.Millisecond)
	require.Empty(t, b.checked)
	b.turn("gwa", time.Millisecond)
	require.Equal(t, "gone", b.state(gone))
	require.Empty(t, b.state(back))
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.intents WHERE subject_id = $1 AND state = 'void'", back))
}

// missing is a row of something that was found and is now seen missing once.
func (b *toy) missing(at gateway.Name, has string) objectid.ID {
	b.t.Helper()
	id := objectid.New()
	b.has(id, has)
	require.NoError(b.t, b.tx(func(tx pgx.Tx) error {
		return b.svc.OpenTx(b.t.Context(), tx,
			intent.Opening{Ref: intent.Ref{Kind: intent.SubscriptionGone, Subject: id}, Gateway: at})
	}))
	require.NoError(b.t, b.svc.Health().Saw(b.t.Context(), at, true))
	return id
}

func (b *toy) suspect() []string {
	b.t.Helper()
	found, err := b.svc.Health().Suspect(b.t.Context(), b.db)
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
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM jobs.river_job WHERE kind = 'operators_mail' AND args->>'to' = 'ops@example.com'"))
	b.missing("gwb", "nothing")
	require.Equal(t, 1, b.count("SELECT count(*) FROM jobs.river_job WHERE kind = 'operators_mail'"), "one mail")
	for range 5 {
		b.turn("gwb", 2*time.Hour)
	}
	require.Zero(t, b.count("SELECT count(*) FROM public.toys"), "nothing ends")
	require.NotEmpty(t, b.checked)

	b.has(ids[0], "made") // the key is right again
	b.turn("gwb", time.Hour)
	require.Empty(t, b.suspect(), "lifted by a check that finds again what was missing")
	b.turn("gwb", time.Minute)
	require.Zero(t, b.count("SELECT count(*) FROM public.toys"), "what is still missing needs two checks anew")
	b.turn("gwb", time.Hour)
	require.Equal(t, 6, b.count("SELECT count(*) FROM public.toys"))
}

func TestTheBrakeIsLiftedByAnOperatorAndByTheShare(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 6 {
		b.missing("gwa", "nothing")
	}
	require.NoError(t, b.svc.Health().Trust(t.Context(), "gwa", "by hand"))
	require.Empty(t, b.suspect())
	b.turn("gwa", time.Minute)
	b.turn("gwa", time.Hour)
	require.Equal(t, 6, b.count("SELECT count(*) FROM public.toys"))
	for range 6 {
		b.missing("gwb", "nothing")
	}
	for n := range 594 {
		require.Equal(t, []string{"gwb"}, b.suspect(), n)
		require.NoError(t, b.svc.Health().Saw(t.Context(), "gwb", false))
	}
	require.Empty(t, b.suspect(), "6 of 600 are no more than a hundredth")
}
