package pgtest

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/localpg"
)

// place is a meeting place apart from the one that the tests themselves use.
func place(t *testing.T) meeting {
	t.Helper()
	m, err := openMeeting(DataDir(t))
	require.NoError(t, err)
	return m
}

func arrive(t *testing.T, m meeting) (leave func()) {
	t.Helper()
	share, err := flock(m.file("users.lock"), syscall.LOCK_SH)
	require.NoError(t, err)
	return func() { _ = share.Close() }
}

func TestTheServerStopsWhenItsLastUserHasLeft(t *testing.T) {
	t.Parallel()
	m := place(t)
	one, other := arrive(t, m), arrive(t, m)
	ended := make(chan error, 1)
	go func() { ended <- keep(t.Context(), m, 300*time.Millisecond) }()
	require.Eventually(t, func() bool { _, ok := m.running(t.Context()); return ok }, time.Minute,
		20*time.Millisecond)

	one()
	select {
	case err := <-ended:
		require.FailNow(t, "the server stopped under its user", "%v", err)
	case <-time.After(700 * time.Millisecond): // more than the idle time
	}
	other()
	require.NoError(t, <-ended)
	_, ok := m.running(t.Context())
	require.False(t, ok)
	require.NoDirExists(t, m.file("server"))
	require.NoFileExists(t, m.file("url"))
}

func TestAKilledKeeperTakesItsServerAlongAndTheNextStartIsClean(t *testing.T) {
	t.Parallel()
	m := place(t)
	_, err := m.startServerProcess(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { killServerProcess(t, m) })
	server := pidIn(t, m.file("server/postgres/postmaster.pid"))
	killServerProcess(t, m)
	require.Eventually(t, func() bool { return gone(server) }, time.Minute, 10*time.Millisecond)
	_, ok := m.running(t.Context())
	require.False(t, ok)

	_, err = m.startServerProcess(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, server, pidIn(t, m.file("server/postgres/postmaster.pid")))
	_, ok = m.running(t.Context())
	require.True(t, ok)
}

// killServerProcess is kill -9 of the process that owns the server.
func killServerProcess(t *testing.T, m meeting) {
	t.Helper()
	pid := pidIn(t, m.file("server/lock"))
	require.NotEqual(t, os.Getpid(), pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	require.Eventually(t, func() bool { return gone(pid) }, time.Minute, 10*time.Millisecond)
}

func pidIn(t *testing.T, path string) int {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	line, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(line)
	require.NoError(t, err)
	return pid
}

func gone(pid int) bool {
	_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return errors.Is(err, fs.ErrNotExist)
}

func TestWhoComesAtOnceMeetsAtOneServer(t *testing.T) {
	t.Parallel()
	m := place(t)
	t.Cleanup(func() { killServerProcess(t, m) })
	addresses := make(chan string)
	for range 4 {
		go func() {
			address, user, err := m.join(t.Context())
			if err != nil {
				address = err.Error()
			} else {
				defer user.Close()
			}
			addresses <- address
		}()
	}
	first := <-addresses
	require.Contains(t, first, "postgres://")
	for range 3 {
		require.Equal(t, first, <-addresses)
	}
}

// The guard is start.lock: whoever starts a host without it finds the data taken.
func TestAKeeperThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	m := place(t)
	// Another owner of the data that stays is the one thing a host cannot get around.
	s, err := localpg.Start(t.Context(), localpg.Options{DataDir: m.file("server"), Ephemeral: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Stop(t.Context()) })
	_, err = m.startServerProcess(t.Context())
	require.ErrorContains(t, err, "already running")
}

func TestAMeetingPlaceOfSomebodyElseIsRefused(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "marquee-pgtest")
	require.NoError(t, os.Symlink(t.TempDir(), link))
	_, err := openMeeting(link)
	require.ErrorContains(t, err, "not a directory of ours")
}

func TestOnlyALivingEngineIsTakenForOne(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "docker.sock")
	require.False(t, ping(t.Context(), "unix://"+socket), "no socket")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	engine := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/_ping" {
			w.WriteHeader(http.StatusNotFound)
		}
	})}
	go func() { _ = engine.Serve(listener) }()
	t.Cleanup(func() { _ = engine.Close() })
	require.True(t, ping(t.Context(), "unix://"+socket))
	require.False(t, ping(t.Context(), "ssh://somewhere"))
}
