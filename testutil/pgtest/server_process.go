package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"marquee/testutil/localpg"
)

// The private server is shared by all test processes of a user, since `go test` runs one
// process a package. The process that comes first starts a host: this same test binary
// in a session of its own, which owns the server and does nothing else. In the directory
// they meet in:
//
//	users.lock   shared by every test process until it ends; the host, which wants it
//	             alone, gets it when nobody is left
//	start.lock   held while somebody finds or starts the server, or the host stops it
//	url          the server's address, there while it runs
//	server/      the server's data
//
// All locks are the kernel's and end with their process: a killed test process is simply no
// user any more, and a killed host takes its server along (see localpg).

// serverEnv makes a test binary the host of the directory that it names.
const serverEnv = "MARQUEE_PGTEST_HOST"

// idleLimit bridges the time in which `go test ./...` builds the next package.
const idleLimit = time.Minute

func init() {
	dir := os.Getenv(serverEnv)
	if dir == "" {
		return
	}
	if err := keep(context.Background(), meeting(dir), idleLimit); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// meeting is the directory that test processes and host meet in.
type meeting string

func (m meeting) file(name string) string { return filepath.Join(string(m), name) }

// usersLock keeps our share of users.lock open for as long as the process lives.
var usersLock *os.File //nolint:unused // the open file is the lock

// privateURL finds the running private server, or starts one.
func privateURL(ctx context.Context) (string, error) {
	bin, err := localpg.FindOrFetch(ctx, os.Stderr)
	if err != nil {
		return "", err
	}
	m, err := meetingPlace(bin.Major)
	if err != nil {
		return "", err
	}
	var address string
	address, usersLock, err = m.join(ctx)
	return address, err
}

// join makes the caller a user, until they close the lock, of the server that runs or is
// started for them. Of those that come at once one starts it and the others wait.
func (m meeting) join(ctx context.Context) (address string, user *os.File, err error) {
	starting, err := flock(m.file("start.lock"), syscall.LOCK_EX)
	if err != nil {
		return "", nil, err
	}
	defer starting.Close()
	if user, err = flock(m.file("users.lock"), syscall.LOCK_SH); err != nil {
		return "", nil, err
	}
	address, ok := m.running(ctx)
	if !ok {
		address, err = m.startServerProcess(ctx)
	}
	return address, user, err
}

// meetingPlace is in memory where there is room for some hundred databases of 10 MB.
func meetingPlace(major int) (meeting, error) {
	parent := os.TempDir()
	const shm, enough = "/dev/shm", 1 << 30
	var stat syscall.Statfs_t
	if err := syscall.Statfs(shm, &stat); err == nil && stat.Bavail*uint64(stat.Bsize) >= enough &&
		syscall.Access(shm, 2) == nil {
		parent = shm
	}
	return openMeeting(filepath.Join(parent, fmt.Sprintf("marquee-pgtest-%d-%d", os.Getuid(), major)))
}

// openMeeting makes the directory. Its name can be guessed and its parent is everybody's,
// so it must be seen to be our own.
func openMeeting(dir string) (meeting, error) {
	// Entering is open to the account that Postgres runs as when we are root; reading is not.
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || int(info.Sys().(*syscall.Stat_t).Uid) != os.Getuid() {
		return "", fmt.Errorf("%s is not a directory of ours: remove it, or set TEST_DATABASE_URL", dir)
	}
	return meeting(dir), os.Chmod(dir, 0o711)
}

// running is the address of the server, if it answers.
func (m meeting) running(ctx context.Context) (string, bool) {
	raw, err := os.ReadFile(m.file("url"))
	if err != nil {
		return "", false
	}
	address := string(raw)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		const tooManyConnections = "53300"
		return address, refused.Code == tooManyConnections
	}
	if err != nil {
		return "", false
	}
	return address, conn.Close(ctx) == nil
}

// startServerProcess runs this binary again as the host and waits for the server's address. The
// caller holds start.lock, so what an earlier host left is nobody's.
func (m meeting) startServerProcess(ctx context.Context) (string, error) {
	if err := os.RemoveAll(m.file("url")); err != nil {
		return "", err
	}
	// With our own streams the host would hold up `go test`, which reads them to their end.
	log, err := os.Create(m.file("host.log"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	binary, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(binary)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), serverEnv+"="+string(m))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start the private server's host: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	return m.awaitURL(ctx, ended)
}

func (m meeting) awaitURL(ctx context.Context, ended <-chan struct{}) (string, error) {
	for {
		if raw, err := os.ReadFile(m.file("url")); err == nil {
			return string(raw), nil
		}
		select {
		case <-ended:
			said, _ := os.ReadFile(m.file("host.log"))
			return "", fmt.Errorf("the private server did not start: %s", strings.TrimSpace(string(said)))
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// keep owns a server until nobody has used it for the time of idle.
func keep(ctx context.Context, m meeting, idle time.Duration) error {
	s, err := startServer(ctx, m)
	if err != nil {
		return err
	}
	if err := m.publish(s.URL("postgres")); err != nil {
		return errors.Join(err, s.Stop(ctx))
	}
	starting, err := m.awaitIdle(s.Done(), idle)
	if err != nil {
		// Without start.lock the directory may be the next host's once the server's data is
		// given up, so nothing is removed after that.
		return errors.Join(err, os.Remove(m.file("url")), s.Stop(ctx))
	}
	defer starting.Close() // held until nothing of the server is left
	return errors.Join(os.Remove(m.file("url")), s.Stop(ctx), os.RemoveAll(m.file("server")))
}

// awaitIdle returns start.lock when nobody has used the server for the time of idle.
func (m meeting) awaitIdle(died <-chan struct{}, idle time.Duration) (*os.File, error) {
	lastUsed := time.Now()
	for {
		select {
		case <-died:
			return nil, errors.New("the private server ended by itself")
		case <-time.After(idle / 60):
		}
		if m.used() {
			lastUsed = time.Now()
			continue
		}
		if time.Since(lastUsed) < idle {
			continue
		}
		if starting, alone := m.leave(); alone {
			return starting, nil
		}
	}
}

// startServer outwaits a host whose server has died and who is just leaving.
func startServer(ctx context.Context, m meeting) (*localpg.Server, error) {
	deadline := time.Now().Add(2 * time.Second)
	for {
		s, err := localpg.Start(ctx, localpg.Options{
			DataDir: m.file("server"), Ephemeral: true, Settings: settings, Progress: os.Stderr,
		})
		var running *localpg.RunningError
		if !errors.As(err, &running) || time.Now().After(deadline) {
			return s, err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// settings on top of localpg's ephemeral ones; the container gets them too.
var settings = map[string]string{
	"max_connections":           "300",
	"max_locks_per_transaction": "128",
	"timezone":                  "America/St_Johns", // see the package comment
	"log_min_messages":          "fatal",            // tests provoke errors, and their log would fill the memory
	"log_min_error_statement":   "panic",
	// A session of a test asks most of what it asks a few times: to plan it for each set of arguments, as a server
	// does five times, is a fifth of what all tests take here.
	"plan_cache_mode":      "force_generic_plan",
	"update_process_title": "off",
}

// publish writes the address in one go: whoever sees the file sees all of it.
func (m meeting) publish(address string) error {
	if err := os.WriteFile(m.file("url.new"), []byte(address), 0o600); err != nil {
		return err
	}
	return os.Rename(m.file("url.new"), m.file("url"))
}

// used says whether a test process lives.
func (m meeting) used() bool {
	f, err := flock(m.file("users.lock"), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return true
	}
	_ = f.Close()
	return false
}

// leave bars new users and says whether there are none; the caller closes the lock when
// the server is gone.
func (m meeting) leave() (starting *os.File, alone bool) {
	starting, err := flock(m.file("start.lock"), syscall.LOCK_EX)
	if err != nil {
		return nil, false
	}
	if m.used() {
		_ = starting.Close()
		return nil, false
	}
	return starting, true
}

func flock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}
