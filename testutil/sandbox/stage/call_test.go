package stage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/stage"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  string
		effect bool
		hangs  bool // until the caller hangs up
		check  func(t *testing.T, status int, body string, err error)
	}{
		"status": {
			fault:  `{"kind":"status","status":429,"header":{"RateLimit-Reset":"7"},"body":"{\"slow\":true}"}`,
			effect: false,
			check: func(t *testing.T, status int, body string, err error) {
				require.NoError(t, err)
				require.Equal(t, 429, status)
				require.JSONEq(t, `{"slow":true}`, body)
			},
		},
		"status after": {
			fault:  `{"kind":"status_after"}`,
			effect: true,
			check: func(t *testing.T, status int, _ string, err error) {
				require.NoError(t, err)
				require.Equal(t, 500, status)
			},
		},
		"bad gateway": {
			fault:  `{"kind":"bad_gateway"}`,
			effect: false,
			check: func(t *testing.T, status int, body string, err error) {
				require.NoError(t, err)
				require.Equal(t, 502, status)
				require.True(t, strings.HasPrefix(body, "<html>"))
			},
		},
		"timeout before": {fault: `{"kind":"timeout_before"}`, effect: false, hangs: true, check: isUnanswered},
		"timeout after":  {fault: `{"kind":"timeout_after"}`, effect: true, hangs: true, check: isUnanswered},
		"reset before":   {fault: `{"kind":"reset_before"}`, effect: false, check: isReset},
		"reset after":    {fault: `{"kind":"reset_after"}`, effect: true, check: isReset},
		"delay": {
			fault:  `{"kind":"delay","delay":"20ms"}`,
			effect: true,
			check: func(t *testing.T, status int, _ string, err error) {
				require.NoError(t, err)
				require.Equal(t, 200, status)
			},
		},
		"other path": {
			fault:  `{"kind":"status","path":"/other"}`,
			effect: true,
			check: func(t *testing.T, status int, _ string, err error) {
				require.NoError(t, err)
				require.Equal(t, 200, status)
			},
		},
		"other method": {
			fault:  `{"kind":"status","method":"GET"}`,
			effect: true,
			check: func(t *testing.T, status int, _ string, err error) {
				require.NoError(t, err)
				require.Equal(t, 200, status)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil)
			b.control("POST", "/_sandbox/faults", c.fault)
			call := b.call
			if c.hangs {
				call = b.hungUp
			}
			status, body, err := call("a")
			c.check(t, status, body, err)
			if c.effect {
				require.Equal(t, []string{"a"}, b.had())
				require.Equal(t, []string{"a"}, b.arrived(), "an effect tells its event, whatever the caller learns")
			} else {
				require.Empty(t, b.had())
				require.Empty(t, b.arrived())
			}
		})
	}
}

func isUnanswered(t *testing.T, _ int, _ string, err error) {
	t.Helper()
	require.ErrorIs(t, err, context.Canceled)
}

func isReset(t *testing.T, _ int, _ string, err error) {
	t.Helper()
	require.True(t, errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF), "%v", err)
}

func TestFaultsAreUsedUpAndListed(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.control("POST", "/_sandbox/faults", `{"kind":"status","status":503,"times":2}`)
	for _, want := range []int{503, 503, 200} {
		status, _, err := b.call("a")
		require.NoError(t, err)
		require.Equal(t, want, status)
	}
	b.control("POST", "/_sandbox/faults", `{"kind":"status"}`)
	require.Len(t, decode[[]stage.Fault](t, b.control("GET", "/_sandbox/faults", "")), 1)
	b.control("DELETE", "/_sandbox/faults", "")
	require.Empty(t, b.s.Faults.Planned())
	for _, bad := range []string{
		`{"kind":"earthquake"}`, `{"kind":"delay"}`, `{"kind":"status","status":99}`, `{"kind":"status","tmies":1}`,
		`{`,
	} {
		status, _, err := b.send("POST", "/_sandbox/faults", bad)
		require.NoError(t, err)
		require.Equal(t, 400, status, bad)
	}
}

func TestJournalTellsCallsEventsAndControls(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.control("POST", "/_sandbox/faults", `{"kind":"status","status":418}`)
	req, err := http.NewRequest(http.MethodPost, b.url+"/do/x?secret=1", nil)
	require.NoError(t, err)
	req.Header.Set("Idempotency-Key", "key-1")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	_, _, err = b.call("y")
	require.NoError(t, err)
	b.arrived()
	calls := decode[[]stage.Entry](t, b.control("GET", "/_sandbox/journal?kind=call", ""))
	require.Len(t, calls, 2)
	require.Equal(t, "/do/x", calls[0].Path, "without the query")
	require.Equal(t, 418, calls[0].Status)
	require.Equal(t, "key-1", calls[0].IdempotencyKey)
	require.Equal(t, "status", calls[0].Fault)
	kinds := map[string]int{}
	for _, e := range b.s.Journal.Entries("") {
		kinds[e.Kind]++
	}
	require.Equal(t, map[string]int{"call": 2, "event": 1, "delivery": 1, "control": 1}, kinds)
	b.control("DELETE", "/_sandbox/journal", "")
	require.Len(t, b.s.Journal.Entries(""), 1, "only the clearing itself")
}

func TestJournalIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for range 10_000 {
		b.s.Journal.Record(stage.Entry{Kind: "call"})
	}
	entries := b.s.Journal.Entries("")
	require.Less(t, len(entries), 5000)
	require.EqualValues(t, 10_000, entries[len(entries)-1].Seq)
}

func TestControlsAreListedForMachinesAndPeople(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	index := decode[struct {
		Controls []stage.ControlInfo `json:"controls"`
	}](t, b.control("GET", "/_sandbox", ""))
	require.Len(t, index.Controls, len(b.s.Controls()))
	for _, c := range index.Controls {
		require.NotEmpty(t, c.About)
		require.True(t, strings.HasPrefix(c.Path, "/_sandbox/"))
	}
	req, err := http.NewRequest(http.MethodGet, b.url+"/_sandbox/", nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "text/html,*/*")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Contains(t, resp.Header.Get("Content-Type"), "text/html")
	require.Contains(t, string(page), "/_sandbox/clock/advance")
	status, _, err := b.send("POST", "/_sandbox/unheard-of", "")
	require.NoError(t, err)
	require.Equal(t, 404, status)
}

func TestStateIsOnDiskBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/deep/state.json"
	b := setup(t, func(o *stage.Options) { o.StateFile, o.Webhooks.URL = file, "" })
	_, _, err := b.call("a")
	require.NoError(t, err)
	raw, err := os.ReadFile(file) // as after kill -9: nobody closed anything
	require.NoError(t, err)
	require.Contains(t, string(raw), "evt_a")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
}

func TestStateIsOnDiskBeforeAnEventIsSent(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/state.json"
	b := setup(t, func(o *stage.Options) { o.StateFile = file })
	seen := make(chan string, 1)
	b.receiver.responses(func(string) int {
		raw, _ := os.ReadFile(file)
		seen <- string(raw)
		return 200
	})
	b.emit("a")
	require.Contains(t, <-seen, "evt_a")
}

func TestRestartKeepsClockJobsAndWaitingEvents(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/state.json"
	b := setup(t, func(o *stage.Options) { o.StateFile, o.Webhooks.URL = file, "" })
	b.emit("a", "b")
	b.s.Clock.At(b.s.Clock.Now().Add(3*time.Hour), "effect", "planned")
	_, err := b.s.Clock.Advance(2 * time.Hour)
	require.NoError(t, err)
	require.NoError(t, b.s.Close())

	again := setup(t, func(o *stage.Options) { o.StateFile = file })
	require.Equal(t, []string{"a", "b"}, again.arrived())
	require.WithinDuration(t, time.Now().Add(2*time.Hour), again.s.Clock.Now(), time.Minute)
	_, err = again.s.Clock.Advance(2 * time.Hour)
	require.NoError(t, err)
	require.Equal(t, []string{"planned"}, again.had())
}

// TestOddAnswers: each is what it says, with the effect or without, and no call is
// met but the one that was planned for.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	for odd, want := range map[stage.OddResponse]string{
		stage.OddEmpty: "", stage.OddObject: "{}", stage.OddNull: "null", stage.OddList: "[]",
		stage.OddForeign:   `{"data":[{"id":"row_20b"}],"id":"obj_20bf"}`,
		stage.OddTruncated: wholeObject[:len(wholeObject)/2],
	} {
		b := setup(t, nil)
		for _, status := range []int{200, 404, 500} {
			b.control("POST", "/_sandbox/faults",
				fmt.Sprintf(`{"kind":"odd_after","answer":%q,"status":%d}`, odd, status))
			got, body, err := b.call("object")
			require.NoError(t, err)
			require.Equal(t, status, got)
			require.Equal(t, want, body, odd)
		}
		_, body, err := b.call("object")
		require.NoError(t, err)
		require.Equal(t, wholeObject, body)
	}
	b := setup(t, nil)
	for _, bad := range []string{
		`{"kind":"odd"}`, `{"kind":"odd","answer":"foreign"}`, `{"kind":"odd_after","answer":"odder"}`,
		`{"kind":"odd","answer":"html","status":99}`,
	} {
		status, _, err := b.send("POST", "/_sandbox/faults", bad)
		require.NoError(t, err)
		require.Equal(t, 400, status, bad)
	}
	b.control("POST", "/_sandbox/faults", `{"kind":"odd","answer":"huge"}`)
	status, body, err := b.call("object")
	require.NoError(t, err)
	require.Equal(t, 200, status)
	require.Greater(t, len(body), 10<<20)
	require.Empty(t, b.had())
}
