package stage_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/stage"
)

func TestEventsComeInOrderAfterTheAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *stage.Options) { o.Webhooks.Sequential = true })
	for _, name := range []string{"a", "b", "c"} {
		status, _, err := b.call(name)
		require.NoError(t, err)
		require.Equal(t, 200, status)
	}
	require.Equal(t, []string{"a", "b", "c"}, b.arrived())
}

// TestEventWaitsForTheAnswer lets the receiver look whether the caller has been answered; EarlyNext is the
// counter-proof.
func TestEventWaitsForTheAnswer(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{false, true} {
		b := setup(t, nil)
		if early {
			b.control("POST", "/_sandbox/webhooks/early", `{"count":1}`)
		}
		responded := make(chan struct{})
		sawResponse := make(chan bool, 1)
		patience := time.Minute
		if early {
			patience = 300 * time.Millisecond
		}
		b.receiver.responses(func(string) int {
			select {
			case <-responded:
				sawResponse <- true
			case <-time.After(patience):
				sawResponse <- false
			}
			return 200
		})
		_, _, err := b.call("a")
		require.NoError(t, err)
		close(responded)
		require.Equal(t, !early, <-sawResponse)
	}
}

// TestAQueueInOrderWaitsForAnOpenCall has something happen while the call that came before it is not answered yet.
func TestAQueueInOrderWaitsForAnOpenCall(t *testing.T) {
	t.Parallel()
	for _, sequential := range []bool{true, false} {
		b := setup(t, func(o *stage.Options) { o.Webhooks.Sequential = sequential })
		b.during = func() {
			b.emit("later")
			came := func() bool { return len(b.receiver.all()) > 0 }
			if sequential {
				require.Never(t, came, 50*time.Millisecond, 5*time.Millisecond)
			} else {
				require.Eventually(t, came, time.Minute, time.Millisecond)
			}
		}
		_, _, err := b.call("a")
		require.NoError(t, err)
		want := []string{"later", "a"}
		if sequential {
			want = []string{"a", "later"}
		}
		require.Equal(t, want, b.arrived())
	}
}

func TestSuccessRuleHeadersAndLadder(t *testing.T) {
	t.Parallel()
	header := make(chan string, 10)
	b := setup(t, func(o *stage.Options) {
		o.Webhooks.Success = func(status int) bool { return status == 200 }
		o.Webhooks.Headers = func(body []byte,
			_ time.Time,
		) http.Header {
			return http.Header{"X-Proof": {"of " + string(body)}}
		}
	})
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header <- r.Header.Get("X-Proof")
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(hook.Close)
	b.s.Webhooks.SetURL(hook.URL)
	b.emit("a")
	require.Empty(t, b.arrived())
	d := b.s.Webhooks.Deliveries()[0]
	require.Equal(t, stage.Failed, d.State)
	require.Equal(t, 201, d.LastStatus())
	require.Len(t, d.Attempts, 3, "one attempt and the two of the ladder")
	require.Equal(t, `of "a"`, <-header)
}

func TestSequentialBlocksAndPausesNonSequentialDoesNot(t *testing.T) {
	t.Parallel()
	refuseA := func(body string) int {
		if strings.Contains(body, "a") {
			return 500
		}
		return 200
	}
	b := setup(t, func(o *stage.Options) {
		o.Webhooks.Sequential, o.Webhooks.PauseAfter = true, 15
		o.Webhooks.Ladder = make([]time.Duration, 20)
	})
	b.receiver.responses(refuseA)
	b.emit("a", "b")
	require.Len(t, b.arrived(), 15, "only a, until the queue pauses")
	require.True(t, b.s.Webhooks.Status().Paused)
	b.receiver.responses(nil)
	b.control("POST", "/_sandbox/webhooks/remove-backoff", "")
	require.Equal(t, []string{"a", "b"}, b.arrived()[15:])
	require.False(t, b.s.Webhooks.Status().Paused)

	b = setup(t, func(o *stage.Options) { o.Webhooks.Ladder = []time.Duration{time.Hour} })
	b.receiver.responses(refuseA)
	b.emit("a", "b")
	require.Eventually(t, func() bool { return len(b.receiver.all()) == 2 }, time.Minute, time.Millisecond)
	require.Equal(t, []string{`"a"`, `"b"`}, b.receiver.all())
	b.receiver.responses(nil)
	b.control("POST", "/_sandbox/clock/advance", `{"by":"1h"}`)
	require.Equal(t, []string{"a", "b", "a"}, b.arrived(), "the clock brings the retry forward")
	b.control("PUT", "/_sandbox/webhooks/mode", `{"sequential":true}`)
	require.True(t, b.s.Webhooks.Status().Sequential)
}

func TestSwitchesOfTheQueue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, body string
		emit, want []string
	}{
		"duplicate": {"duplicate", `{"count":1}`, []string{"a", "b"}, []string{"a", "a", "b"}},
		"reorder":   {"reorder", `{"count":1}`, []string{"a", "b", "c"}, []string{"b", "a", "c"}},
		"drop":      {"drop", `{"count":2}`, []string{"a", "b", "c"}, []string{"c"}},
		"hold some": {"hold", `{"types":["invoice.*"]}`, []string{"invoice.paid", "b"}, []string{"b"}},
		"hold all":  {"hold", ``, []string{"a"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil)
			b.control("POST", "/_sandbox/webhooks/"+c.path, c.body)
			b.emit(c.emit...)
			require.Equal(t, c.want, b.arrived())
		})
	}
}

func TestReleaseSendsWhatWasHeldOrLacksAPartner(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.s.Webhooks.Hold()
	b.emit("a")
	require.Empty(t, b.arrived())
	b.control("POST", "/_sandbox/webhooks/release", "")
	require.Equal(t, []string{"a"}, b.arrived())
	b.s.Webhooks.SwapNext(1)
	b.emit("b")
	require.Equal(t, []string{"a"}, b.arrived())
	b.s.Webhooks.Release()
	require.Equal(t, []string{"a", "b"}, b.arrived())
}

func TestDelayWaitsOnTheClock(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.control("PUT", "/_sandbox/webhooks/delay", `{"by":"1h"}`)
	b.emit("a")
	b.control("PUT", "/_sandbox/webhooks/delay", `{"by":"0s"}`)
	b.emit("b")
	require.Eventually(t, func() bool { return len(b.receiver.all()) == 1 }, time.Minute, time.Millisecond)
	require.Equal(t, []string{`"b"`}, b.receiver.all())
	_, err := b.s.Clock.Advance(time.Hour)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a"}, b.arrived())
}

func TestUndeliveredEventsAreLostAfterTheirTime(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *stage.Options) { o.Webhooks.URL, o.Webhooks.KeepFor = "", 14*24*time.Hour })
	b.emit("old")
	_, err := b.s.Clock.Advance(15 * 24 * time.Hour)
	require.NoError(t, err)
	b.emit("new")
	hook := httptest.NewServer(b.receiver)
	t.Cleanup(hook.Close)
	b.s.Webhooks.SetURL(hook.URL)
	require.Equal(t, []string{"new"}, b.arrived())
	require.Equal(t, stage.Expired, b.s.Webhooks.Deliveries()[0].State)
}

func TestRedeliverKeepsTheEvent(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.emit("a")
	b.arrived()
	b.control("POST", "/_sandbox/webhooks/deliveries/1/redeliver", "")
	require.Equal(t, []string{"a", "a"}, b.arrived())
	listed := decode[[]stage.Delivery](t, b.control("GET", "/_sandbox/webhooks/deliveries", ""))
	require.Len(t, listed, 2)
	require.Equal(t, listed[0].EventID, listed[1].EventID)
	status, _, err := b.send("POST", "/_sandbox/webhooks/deliveries/99/redeliver", "")
	require.NoError(t, err)
	require.Equal(t, 404, status)
}
