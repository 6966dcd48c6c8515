package intent_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/testutil/secrettest"
)

// failing reports whether the gateway is marked.
func (b *toy) failing(gateway string) bool {
	b.t.Helper()
	return b.count("SELECT count(*) FROM payments.gateway_state WHERE gateway = $1 AND failing_since IS NOT NULL",
		gateway) == 1
}

// probes has questions without an intent answered, or not, and counts them.
func (b *toy) probes() (count *int, healthy *bool) {
	count, healthy = new(int), new(bool)
	b.gateways[gateway.GWA] = probed{probe: func() error {
		*count++
		if *healthy {
			return nil
		}
		return errors.New("status 500")
	}}
	return count, healthy
}

// probed is a gateway that is asked nothing else.
type probed struct {
	gateway.Adapter
	probe func() error
}

func (p probed) Probe(context.Context) error { return p.probe() }

// TestAnyRightAnswerEndsTheMark, and brings the checks forward: also in a process that
// has just started, and in one that has not seen the failure.
func TestAnyRightAnswerEndsTheMark(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := intent.New(intent.Deps{Pool: b.db, Clock: b.clock, Log: secrettest.Logger(t)})
	id := b.lost("gwa", "failing")
	for range 4 {
		b.turn("gwa", 5*time.Minute)
	}
	b.svc.Health().Heard(t.Context(), "gwb", true)
	require.True(t, b.failing("gwa"), "another gateway's answer")
	b.has(id, "made")
	for _, svc := range []*intent.Service{b.svc, other} {
		_, err := b.db.Exec(t.Context(), "UPDATE payments.intents SET next_look_at = $1, forwards = 0",
			b.clock.Now().Add(time.Hour))
		require.NoError(t, err)
		svc.Health().Heard(t.Context(), "gwa", true) // a login, a sweep, a request
		require.False(t, b.failing("gwa"))
		i, open := b.open(id)
		require.True(t, open)
		require.Equal(t, b.clock.Now(), i.NextCheck)
		b.clock.Advance(time.Minute)
		svc.Health().Heard(t.Context(), "gwa", false) // the account is closed
		require.True(t, b.failing("gwa"))
	}
	b.svc.Health().Heard(t.Context(), "gwa", true)
	b.turn("gwa", 0)
	require.Equal(t, "made", b.state(id))
	require.False(t, b.failing("gwa"))
}

// TestAFailingGatewayIsProbedWithNothingOpen: else its mark would stay for ever.
func TestAFailingGatewayIsProbedWithNothingOpen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	probes, healthy := b.probes()
	b.turn("gwa", time.Minute)
	require.Zero(t, *probes, "it does not fail")
	b.svc.Health().Heard(t.Context(), "gwa", false)
	for range 24 {
		b.turn("gwa", 5*time.Second)
	}
	require.Equal(t, 4, *probes, "each half minute")
	require.True(t, b.failing("gwa"))
	b.clock.Advance(30 * time.Hour)
	for range 24 {
		b.turn("gwa", 5*time.Second)
	}
	require.Equal(t, 4+4, *probes, "however long it fails")
	*healthy = true
	b.turn("gwa", 30*time.Second)
	require.False(t, b.failing("gwa"))
	b.turn("gwa", time.Hour)
	require.Equal(t, 9, *probes)

	b.svc.Health().Heard(t.Context(), "gwa", false)
	b.clock.Advance(-24 * time.Hour)
	b.turn("gwa", 0)
	require.False(t, b.failing("gwa"), "a clock that was set back does not keep it from being asked")
}

// TestWhatIsOddByItselfDoesNotStandForTheGateway: after some twenty minutes the
// gateway is asked without it, and each time that it is brought forward it waits twice
// as long.
func TestWhatIsOddByItselfDoesNotStandForTheGateway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	probes, healthy := b.probes()
	odd := b.lost("gwa", "failing")
	for range 60 {
		b.turn("gwa", 30*time.Second)
	}
	require.Equal(t, 40, b.seen(odd))
	require.Equal(t, 20, *probes)
	*healthy = true
	b.turn("gwa", 30*time.Second) // it is brought forward, and fails again
	before := b.seen(odd)
	for range 12 * 60 {
		b.turn("gwa", time.Minute)
	}
	require.LessOrEqual(t, b.seen(odd)-before, 12+6, "hourly, and a few times more while its wait doubles")
}

func TestMetricsTellHowLongNobodyAsked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.svc.Health().Heard(t.Context(), "gwa", false)
	b.clock.Advance(20 * time.Minute)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(b.svc.Health())
	families, err := registry.Gather()
	require.NoError(t, err)
	unasked := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "marquee_gateway_unasked_seconds" {
				unasked[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	require.Equal(t, map[string]float64{"gwa": 1200, "gwb": 0}, unasked)
}
