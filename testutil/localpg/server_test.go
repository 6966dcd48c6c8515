package localpg_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/testutil/localpg"
)

// ownerEnv turns the test binary into a process that owns a server on the data directory
// it names, until it is killed or its standard input ends.
const ownerEnv = "LOCALPG_TEST_OWNER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerEnv); dir != "" {
		os.Exit(selfAccount(dir))
	}
	code := m.Run()
	if preparedDir != "" {
		_ = os.RemoveAll(preparedDir)
	}
	os.Exit(code)
}

func selfAccount(dir string) int {
	s, err := localpg.Start(context.Background(), localpg.Options{DataDir: dir})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	if err := s.Stop(context.Background()); err != nil {
		return 1
	}
	return 0
}

// reachableDir is a directory that the account of the server can get to also when the
// tests run as root; t.TempDir is closed to others.
func reachableDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "localpg")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

var preparedDir string

// prepared is data with a cluster in it, at rest: most tests are not about making one.
var prepared = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "localpg")
	if err != nil {
		return "", err
	}
	preparedDir = dir
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	s, err := localpg.Start(context.Background(), localpg.Options{DataDir: dir})
	if err != nil {
		return "", err
	}
	return dir, s.Stop(context.Background())
})

// dataDir is a copy of the prepared data, with a port of its own to be.
func dataDir(t *testing.T) string {
	t.Helper()
	from, err := prepared()
	require.NoError(t, err)
	dir := reachableDir(t)
	out, err := exec.Command("cp", "-a", from+"/.", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, os.Remove(filepath.Join(dir, "port")))
	return dir
}

func start(t *testing.T, o localpg.Options) *localpg.Server {
	t.Helper()
	began := time.Now()
	s, err := localpg.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	t.Logf("started in %s", time.Since(began).Round(time.Millisecond))
	return s
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func postmasterPID(t *testing.T, dir string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "postgres", "postmaster.pid"))
	require.NoError(t, err)
	line, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(line)
	require.NoError(t, err)
	return pid
}

// gone is true for an ended process, also while the one who inherited it has yet to
// collect its exit status: such a process has no executable any more.
func gone(pid int) bool {
	_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return errors.Is(err, fs.ErrNotExist)
}

func TestDataAndPortSurviveARestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(reachableDir(t), "made", "on", "the", "way")

	first := start(t, localpg.Options{DataDir: dir})
	url, err := first.EnsureDatabase(t.Context(), "marquee")
	require.NoError(t, err)
	conn := connect(t, url)
	_, err = conn.Exec(t.Context(), "CREATE TABLE film (title text); INSERT INTO film VALUES ('Limite')")
	require.NoError(t, err)
	began := time.Now()
	require.NoError(t, first.Stop(t.Context()))
	require.Less(t, time.Since(began), time.Minute, "with a session open")
	require.NoError(t, first.Stop(t.Context()), "a second Stop does nothing")

	second := start(t, localpg.Options{DataDir: dir})
	require.Equal(t, first.Port(), second.Port())
	again, err := second.EnsureDatabase(t.Context(), "marquee")
	require.NoError(t, err)
	require.Equal(t, url, again)
	var title, fsync, encoding, address string
	err = connect(t, again).QueryRow(t.Context(),
		`SELECT title, current_setting('fsync'), current_setting('server_encoding'),
		current_setting('listen_addresses') FROM film`).Scan(&title, &fsync, &encoding, &address)
	require.NoError(t, err)
	require.Equal(t, []string{"Limite", "on", "UTF8", "127.0.0.1"}, []string{title, fsync, encoding, address})
}

func TestAStopAfterTheContextsEndStillShutsDownCleanly(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, localpg.Options{DataDir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.Stop(ctx))
	start(t, localpg.Options{DataDir: dir})
	log, err := os.ReadFile(filepath.Join(dir, "postgres.log"))
	require.NoError(t, err)
	require.NotContains(t, string(log), "not properly shut down")
}

func TestThePasswordIsNeededAndPrivate(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, localpg.Options{DataDir: dir})

	_, err := pgx.Connect(t.Context(),
		fmt.Sprintf("postgres://postgres:wrong@127.0.0.1:%d/postgres?sslmode=disable", s.Port()))
	require.ErrorContains(t, err, "password authentication failed")
	info, err := os.Stat(filepath.Join(dir, "password"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	require.NoFileExists(t, filepath.Join(dir, "password.initdb"))
}

func TestASecondStartIsRefusedAndHarmless(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, localpg.Options{DataDir: dir})

	_, err := localpg.Start(t.Context(), localpg.Options{DataDir: dir})
	var running *localpg.RunningError
	require.ErrorAs(t, err, &running)
	require.Equal(t, localpg.RunningError{DataDir: dir, PID: os.Getpid(), Port: s.Port()}, *running)
	require.ErrorContains(t, err, fmt.Sprintf("(process %d)", os.Getpid()))
	connect(t, s.URL("postgres"))
}

func TestAKilledOwnerLeavesNoServerAndACleanStart(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	owner := startOwner(t, dir)
	server := postmasterPID(t, dir)

	_, err := localpg.Start(t.Context(), localpg.Options{DataDir: dir})
	var running *localpg.RunningError
	require.ErrorAs(t, err, &running)
	require.Equal(t, owner.Process.Pid, running.PID)

	require.NoError(t, owner.Process.Kill())
	_ = owner.Wait()
	// The next start does not wait for the old server to be gone: that is Start's business.
	s := start(t, localpg.Options{DataDir: dir})
	require.False(t, s.Adopted())
	require.True(t, gone(server))
	log, err := os.ReadFile(filepath.Join(dir, "postgres.log"))
	require.NoError(t, err)
	require.NotContains(t, string(log), "not properly shut down")
}

func startOwner(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerEnv+"="+dir)
	_, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	return cmd
}

func TestAKilledServerStartsAgain(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := start(t, localpg.Options{DataDir: dir})
	require.NoError(t, syscall.Kill(postmasterPID(t, dir), syscall.SIGKILL))
	<-s.Done()
	require.NoError(t, s.Stop(t.Context()))
	require.FileExists(t, filepath.Join(dir, "postgres", "postmaster.pid"), "a killed server leaves it behind")

	connect(t, start(t, localpg.Options{DataDir: dir}).URL("postgres"))
}

func TestATraceWhoseProcessIDIsNowAnotherProgramsIsNoServer(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	trace := fmt.Sprintf("%d\n%s\n1\n5432\n\n127.0.0.1\n\nready   \n", os.Getpid(), filepath.Join(dir, "postgres"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "postgres", "postmaster.pid"), []byte(trace), 0o600))

	s := start(t, localpg.Options{DataDir: dir})
	require.False(t, s.Adopted())
	connect(t, s.URL("postgres"))
}

func TestAServerWithoutOwnerIsAdoptedAndLeftRunning(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	cluster := filepath.Join(dir, "postgres")
	require.NoError(t, start(t, localpg.Options{DataDir: dir}).Stop(t.Context()))
	byHand := startByHand(t, cluster)

	s := start(t, localpg.Options{DataDir: dir})
	require.True(t, s.Adopted())
	require.Nil(t, s.Done())
	connect(t, s.URL("postgres"))
	require.NoError(t, s.Stop(t.Context()))
	require.False(t, gone(byHand), "who started it stops it")
}

// startByHand starts a server on the cluster the way a person would, without our lock.
func startByHand(t *testing.T, cluster string) int {
	t.Helper()
	bin, err := localpg.Find(t.Context())
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(cluster), "port"))
	require.NoError(t, err)
	cmd := exec.Command(filepath.Join(bin.Dir, "postgres"), "-D", cluster, "-c", "unix_socket_directories=", "-p",
		strings.TrimSpace(string(raw)))
	cmd.Dir = "/"
	info, err := os.Stat(cluster)
	require.NoError(t, err)
	if owner := info.Sys().(*syscall.Stat_t); int(owner.Uid) != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGINT); _ = cmd.Wait() })
	require.Eventually(t, func() bool {
		raw, _ := os.ReadFile(filepath.Join(cluster, "postmaster.pid"))
		return strings.Contains(string(raw), "ready")
	}, time.Minute, 10*time.Millisecond)
	return cmd.Process.Pid
}

func TestAnEphemeralServerStartsEmptyAndLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := reachableDir(t)
	first := start(t, localpg.Options{
		DataDir: dir, Ephemeral: true, Settings: map[string]string{"max_connections": "17"},
	})
	_, err := first.EnsureDatabase(t.Context(), "marquee")
	require.NoError(t, err)
	var fsync, connections string
	err = connect(t, first.URL("marquee")).QueryRow(t.Context(),
		"SELECT current_setting('fsync'), current_setting('max_connections')").Scan(&fsync, &connections)
	require.NoError(t, err)
	require.Equal(t, "off 17", fsync+" "+connections)

	// A killed server leaves its cluster; the next one must not be built on it.
	require.NoError(t, syscall.Kill(postmasterPID(t, dir), syscall.SIGKILL))
	<-first.Done()
	copied := filepath.Join(dir, "postgres", "trace-of-the-last-run")
	require.NoError(t, os.WriteFile(copied, nil, 0o600))
	require.NoError(t, first.Stop(t.Context()))

	second := start(t, localpg.Options{DataDir: dir, Ephemeral: true})
	require.NoFileExists(t, copied)
	require.NoError(t, second.Stop(t.Context()))
	require.NoDirExists(t, filepath.Join(dir, "postgres"))
}

func TestRootIsToldWhyItsHomeIsNoPlaceForTheData(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root steps down to another account")
	}
	closed := t.TempDir() // its parent is closed to others, as /root is
	_, err := localpg.Start(t.Context(), localpg.Options{DataDir: filepath.Join(closed, "data")})
	require.ErrorContains(t, err, "cannot enter "+filepath.Dir(closed))
	require.ErrorContains(t, err, "--data-dir")
	info, err := os.Stat(filepath.Dir(closed))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), info.Mode().Perm(), "nothing that was found is opened")
}

func TestAClosedDataDirectoryOfRootIsOpenedToTheServer(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root steps down to another account")
	}
	dir := reachableDir(t)
	require.NoError(t, os.Chmod(dir, 0o700)) // what mktemp -d makes
	start(t, localpg.Options{DataDir: dir})
}

func TestItWorksAsAnAccountThatOwnsNothing(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can run a process as another user")
	}
	dir := reachableDir(t)
	const nobody = 65534
	require.NoError(t, os.Chown(dir, nobody, nobody))
	binary := copyOfThisBinary(t)
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), ownerEnv+"="+dir, "HOME=/nonexistent")
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader("stop\n")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "ready\n", string(out))

	// What nobody made, root goes on with as nobody.
	connect(t, start(t, localpg.Options{DataDir: dir}).URL("postgres"))
	info, err := os.Stat(filepath.Join(dir, "postgres", "postmaster.pid"))
	require.NoError(t, err)
	require.Equal(t, uint32(nobody), info.Sys().(*syscall.Stat_t).Uid)
}

// copyOfThisBinary is where everybody can run it; `go test` builds in a closed directory.
func copyOfThisBinary(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	path := filepath.Join(reachableDir(t), "localpg.test")
	require.NoError(t, os.WriteFile(path, content, 0o755))
	return path
}

func TestACancelledStartLeavesNoProcess(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := localpg.Start(ctx, localpg.Options{DataDir: dir})
	require.Error(t, err)
	require.NoFileExists(t, filepath.Join(dir, "postgres", "postmaster.pid"))
	connect(t, start(t, localpg.Options{DataDir: dir}).URL("postgres"))
}
