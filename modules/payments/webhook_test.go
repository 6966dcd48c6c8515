package payments_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/platform/postgres"
)

func TestEverySampleIsAccepted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply.unknown.Store(true)
	files, err := filepath.Glob("testdata/webhooks/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 50)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		a := b.deliver(name[:3], sample(t, name))
		require.Equal(t, http.StatusOK, a.status, "%s: %s", name, a.raw)
		require.True(t, a.body.Received, name)
		require.NotEmpty(t, *a.body.EventID, name)
		require.True(t, strings.HasPrefix(name[4:], *a.body.EventType), name)
		require.Equal(t, gateway.ResultIgnored, a.body.Result.Status, name)
	}
	require.Equal(t, len(files),
		b.count("SELECT count(*) FROM payments.webhook_logs WHERE signature_valid AND processed"))
}

func TestAnswerHasTheSpecifiedForm(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.deliver("gwb", sample(t, "gwb.invoice.paid.first.dahlia"))
	require.JSONEq(t, `{"received":true,"event_id":"evt_1SVaC06LkdIwHu7ixEv000006","event_type":"invoice.paid",
		"result":{"status":"processed","subscription_id":"`+b.apply.local.String()+`","new_status":"active"}}`, a.raw)
	b.apply.unknown.Store(true)
	a = b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription"))
	require.JSONEq(t,
		`{"received":true,"event_id":"evt_15e444ff9b9ab9ec29294aa1abe68025&41870213","event_type":"PAYMENT_CONFIRMED",
		"result":{"status":"ignored","subscription_id":null,"new_status":null,"reason":"it names an id of ours that is not known here"}}`, a.raw)
}

// TestAnEventIsNoNewerThanItsComing: one of the future would make all true ones after it
// older than what is known.
func TestAnEventIsNoNewerThanItsComing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	created := regexp.MustCompile(`(?m)^  "created": \d+`)
	body := sample(t, "gwb.invoice.paid.first.dahlia")
	ahead := created.ReplaceAll(body, []byte(fmt.Sprintf(`  "created": %d`, b.clock.Now().AddDate(0, 0, 40).Unix())))
	require.NotEqual(t, body, ahead)
	require.Equal(t, http.StatusOK, b.deliver("gwb", ahead).status)
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.processed_events WHERE event_at <= $1", b.clock.Now()))
}

// fiveAtOnce delivers one event five times at the same time.
func fiveAtOnce(b *bundle) []response {
	body := sample(b.t, "gwb.invoice.paid.renewal.dahlia")
	responses := make([]response, 5)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range responses {
		all.Go(func() {
			<-start
			responses[i] = b.deliver("gwb", body)
		})
	}
	close(start)
	all.Wait()
	return responses
}

func TestFiveDeliveriesAtOnceHaveOneEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	responses := fiveAtOnce(b)
	for _, a := range responses {
		require.Equal(t, http.StatusOK, a.status, a.raw)
		require.Equal(t, responses[0].raw, a.raw)
	}
	require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
	require.Equal(t, 5, b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed"))
	require.Equal(t, 1, b.count("SELECT count(DISTINCT result) FROM payments.webhook_logs"))
}

// TestFiveDeliveriesAtOnceWithoutTheConstraint shows that it is the constraint
// which keeps the effect to one.
func TestFiveDeliveriesAtOnceWithoutTheConstraint(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.pool.Exec(t.Context(),
		"ALTER TABLE payments.processed_events DROP CONSTRAINT processed_events_one_row_per_gateway_event")
	require.NoError(t, err)
	fiveAtOnce(b)
	require.Equal(t, 5, b.count("SELECT count(*) FROM public.effects"))
}

// TestManyRepetitionsAtOnce: repetitions must not wait for one another's logs.
func TestManyRepetitionsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 8 {
		fiveAtOnce(b)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, a := range fiveAtOnce(b) {
				if a.status != http.StatusOK || a.body.Result.Status != gateway.ResultApplied {
					b.t.Error(a.raw)
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
	require.Equal(t, 80,
		b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed AND result->>'status' = 'processed'"))
}

// TestRowHeldBySomebodyElseQueuesTheEvent: the gateway gets its answer in time.
func TestRowHeldBySomebodyElseQueuesTheEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE public.effects")
	require.NoError(t, err)
	a := b.deliver("gwb", sample(t, "gwb.invoice.paid.first.dahlia"))
	require.Equal(t, http.StatusOK, a.status, a.raw)
	require.Equal(t, gateway.ResultQueued, a.body.Result.Status)
	require.NoError(t, tx.Rollback(t.Context()))
	b.work()
	require.Eventually(t, func() bool { return b.count("SELECT count(*) FROM public.effects") == 1 }, time.Minute,
		20*time.Millisecond)
}

// TestRepetitionWhileTheEventIsAppliedAgain: its log must not keep the result
// that the retry overtakes.
func TestRepetitionWhileTheEventIsAppliedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply.failing.Store(true)
	body := sample(t, "gwb.invoice.paid.first.dahlia")
	require.Equal(t, gateway.ResultQueued, b.deliver("gwb", body).body.Result.Status)
	b.apply.failing.Store(false)
	b.work()
	n := 1
	require.Eventually(t, func() bool {
		n++
		return b.deliver("gwb", body).body.Result.Status == gateway.ResultApplied
	}, time.Minute, time.Millisecond)
	require.Equal(t, n,
		b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed AND result->>'status' = 'processed'"))
}

func TestFailureIsQueuedAndRetried(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"error", "panic"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			broken := &b.apply.failing
			if how == "panic" {
				broken = &b.apply.panicking
			}
			broken.Store(true)
			body := sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription")
			first := b.deliver("gwa", body)
			require.Equal(t, http.StatusOK, first.status)
			require.Equal(t, gateway.ResultQueued, first.body.Result.Status)
			require.Equal(t, 0, b.count("SELECT count(*) FROM public.effects"), "nothing of what failed stays")
			require.Equal(t, 1,
				b.count("SELECT count(*) FROM payments.webhook_logs WHERE NOT processed AND processed_at IS NULL AND result->>'status' = 'queued'"))
			require.Equal(t, first.raw, b.deliver("gwa", body).raw, "a repetition tells the same")
			require.Equal(t, 1, b.count("SELECT count(*) FROM jobs.river_job WHERE kind = 'payments_event_retry'"))

			broken.Store(false)
			b.work()
			require.Eventually(t, func() bool {
				return b.count("SELECT count(*) FROM payments.webhook_logs WHERE processed AND result->>'status' = 'processed'") == 2
			}, time.Minute, 20*time.Millisecond)
			require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
			require.Equal(t, gateway.ResultApplied, b.deliver("gwa", body).body.Result.Status)
			require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
		})
	}
}

func TestEarlyEventIsAppliedOnceItsSubjectIsKnown(t *testing.T) {
	t.Parallel()
	for _, subject := range []string{"sub_k3v9x1m7q2t8w4z6", "pay_a1b2c3d4e5f6g7h8"} {
		b := setup(t)
		b.apply.unknown.Store(true)
		b.work()
		body := sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription")
		require.Equal(t, gateway.ResultIgnored, b.deliver("gwa", body).body.Result.Status)
		jobsDone := func() bool {
			return b.count("SELECT count(*) FROM jobs.river_job WHERE kind = 'payments_events_replay' AND state <> 'completed'") == 0
		}
		require.Eventually(t, jobsDone, time.Minute, 20*time.Millisecond, "the check after the commit finds nothing")
		require.Equal(t, 0, b.count("SELECT count(*) FROM public.effects"))

		b.apply.unknown.Store(false)
		require.NoError(t, postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error {
			return b.svc.ReplayWaitingTx(t.Context(), tx, gateway.GWA, "", subject, "another")
		}))
		require.Eventually(t, func() bool { return b.count("SELECT count(*) FROM public.effects") == 1 },
			time.Minute, 20*time.Millisecond)
		require.Eventually(t, jobsDone, time.Minute, 20*time.Millisecond)
		require.Equal(t, gateway.ResultApplied, b.deliver("gwa", body).body.Result.Status)
		require.Equal(t, 1, b.count("SELECT count(*) FROM public.effects"))
	}
}

// TestSubjectThatBecomesKnownWhileTheEventIsTaken: the replay of the row's own
// transaction may run before the event is committed; the check after the event's
// commit finds the row then.
func TestSubjectThatBecomesKnownWhileTheEventIsTaken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply.unknown.Store(true)
	b.deliver("gwa", sample(t, "gwa.PAYMENT_CONFIRMED.card-subscription"))
	b.apply.unknown.Store(false)
	b.work()
	require.Eventually(t, func() bool { return b.count("SELECT count(*) FROM public.effects") == 1 }, time.Minute,
		20*time.Millisecond)
}
