package localpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options say which server to start. The zero value is the kept data of `marquee dev`.
type Options struct {
	// DataDir holds all that the server keeps. Default: DefaultDataDir.
	DataDir string
	// Ephemeral is for tests: every start begins with an empty cluster, nothing is synced to
	// disk, and Stop removes the cluster. Data does not survive anything.
	Ephemeral bool
	// Progress gets a line for whatever takes long (fetching, making the cluster).
	// Default: none.
	Progress io.Writer
	// Settings are Postgres parameters on top of the package's own.
	Settings map[string]string
}

// Server is a running private Postgres. It listens on 127.0.0.1 only.
type Server struct {
	dir       *dataDir
	port      int
	password  string
	ephemeral bool
	process   *process // nil when adopted
}

// Start runs a server on the data and returns when it accepts connections. The server ends
// with Stop, or with this process. Cancelling ctx gives up the start, not the server.
//
// It returns a *RunningError when another process owns the data. Other errors are sentences
// for the person at the terminal, with the ways out.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	dir, err := openDataDir(o.DataDir)
	if err != nil {
		return nil, err
	}
	s, err := start(ctx, dir, o)
	if err != nil {
		dir.release()
		return nil, err
	}
	return s, nil
}

func start(ctx context.Context, dir *dataDir, o Options) (*Server, error) {
	pm, running, err := awaitLeftover(ctx, dir.cluster())
	if err != nil {
		return nil, err
	}
	if running && !o.Ephemeral {
		return adopt(dir, pm)
	}
	if o.Ephemeral {
		if running {
			terminate(ctx, pm.pid, func() bool { return !pm.alive(dir.cluster()) })
		}
		if err := os.RemoveAll(dir.cluster()); err != nil {
			return nil, fmt.Errorf("remove the last run's cluster: %w", err)
		}
	}
	bin, err := findOrFetch(ctx, dir.account, dir.major(), o.Progress)
	if err != nil {
		return nil, err
	}
	if dir.major() == 0 {
		fmt.Fprintf(o.Progress, "Making a private Postgres %d in %s\n", bin.Major, dir.path)
		if err := dir.createCluster(ctx, bin, o.Ephemeral); err != nil {
			return nil, err
		}
	}
	return launch(ctx, dir, bin, o)
}

// awaitLeftover looks for a server that nobody owns. One whose owner was killed is on its
// way out and gets the time for it; one that stays ready is somebody's, and returned.
func awaitLeftover(ctx context.Context, cluster string) (postmaster, bool, error) {
	const (
		settled = 2 * time.Second  // a signal sent at the owner's death has arrived by then
		limit   = 30 * time.Second // a shutdown with much to write
	)
	began := time.Now()
	for {
		pm, alive := liveServer(cluster)
		if !alive {
			return postmaster{}, false, nil
		}
		waited := time.Since(began)
		if pm.status == "ready" && waited > settled {
			return pm, true, nil
		}
		if waited > limit {
			return postmaster{}, false,
				fmt.Errorf("a Postgres (process %d) on the data in %s has been %q for %s: see its log, or stop it with kill -INT %d",
					pm.pid, cluster, pm.status, limit, pm.pid)
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return postmaster{}, false, err
		}
	}
}

func adopt(dir *dataDir, pm postmaster) (*Server, error) {
	password, err := dir.password()
	if err != nil {
		return nil, err
	}
	return &Server{dir: dir, port: pm.port, password: password}, nil
}

// launch starts the server on the port of last time, or on another when that is taken.
func launch(ctx context.Context, dir *dataDir, bin Binaries, o Options) (*Server, error) {
	password, err := dir.password()
	if err != nil {
		return nil, err
	}
	var failure error
	for range 20 {
		port, err := freePort(dir.number("port"))
		if err != nil {
			return nil, err
		}
		p, err := runPostgres(ctx, dir, bin, port, o)
		if err == nil {
			s := &Server{dir: dir, port: port, password: password, ephemeral: o.Ephemeral, process: p}
			return s, os.WriteFile(dir.file("port"), []byte(strconv.Itoa(port)+"\n"), 0o600)
		}
		failure = err
		if !errors.Is(err, errTryAgain) {
			return nil, err
		}
		if err := pause(ctx, 250*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return nil, failure
}

// freePort is preferred when nobody listens there, else any free one.
func freePort(preferred int) (int, error) {
	for _, port := range []int{preferred, 0} {
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		defer l.Close()
		return l.Addr().(*net.TCPAddr).Port, nil
	}
	return 0, errors.New("no free port on 127.0.0.1 for the private Postgres")
}

// URL is the connection URL of a database on the server, as its superuser. It carries
// the password: for connecting, not for logs.
func (s *Server) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword("postgres", s.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Port is the server's port on 127.0.0.1.
func (s *Server) Port() int { return s.port }

// DataDir is the absolute path of the directory that holds the server's data.
func (s *Server) DataDir() string { return s.dir.path }

// Adopted says that the server was running before Start; Stop will leave it running.
func (s *Server) Adopted() bool { return s.process == nil }

// Done is closed when the server's process has ended, be it by itself. It is nil, and so
// never ready, for an adopted server.
func (s *Server) Done() <-chan struct{} {
	if s.process == nil {
		return nil
	}
	return s.process.done
}

// EnsureDatabase makes the database where it does not exist yet and returns its URL.
func (s *Server) EnsureDatabase(ctx context.Context, name string) (string, error) {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return "", fmt.Errorf("connect to the private Postgres: %w", err)
	}
	defer conn.Close(ctx)
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).
		Scan(&exists); err != nil {
		return "", err
	}
	if !exists {
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil {
			return "", fmt.Errorf("create database %s: %w", name, err)
		}
	}
	return s.URL(name), nil
}

// Stop ends the server's sessions, shuts it down within 5 seconds and gives up the
// ownership of the data. When ctx ends meanwhile the shutdown is an immediate one, and the
// next start replays the log; a ctx that has ended before, which is often the reason to stop,
// is no hurry. An adopted server goes on. Stop may be called again, and does nothing then.
func (s *Server) Stop(ctx context.Context) error {
	defer s.dir.release()
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	if s.process == nil {
		return nil
	}
	select {
	case <-s.process.done:
	default:
		terminate(ctx, s.process.pid, s.process.ended)
	}
	if s.ephemeral {
		return os.RemoveAll(s.dir.cluster())
	}
	return nil
}

// terminate asks for a fast shutdown, then for an immediate one, then does not ask.
func terminate(ctx context.Context, pid int, ended func() bool) {
	steps := []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, 3500 * time.Millisecond}, {syscall.SIGQUIT, time.Second}, {syscall.SIGKILL, time.Second}}
	for _, step := range steps {
		_ = syscall.Kill(pid, step.signal)
		// An ended ctx is no reason to leave a server behind: it only hastens the next step.
		for deadline := time.Now().Add(step.wait); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if ended() {
				return
			}
			if ctx.Err() != nil && step.signal == syscall.SIGINT {
				break
			}
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// RunningError says that the data directory has an owner already: another process started
// a server on it and still runs.
type RunningError struct {
	DataDir string
	PID     int // the owner's process id, 0 when unknown
	Port    int // its Postgres' port on 127.0.0.1, 0 while it is starting
}

func (e *RunningError) Error() string {
	who := "another marquee"
	if e.PID != 0 {
		who = fmt.Sprintf("another marquee (process %d)", e.PID)
	}
	where := ""
	if e.Port != 0 {
		where = fmt.Sprintf(", its Postgres on port %d", e.Port)
	}
	return fmt.Sprintf("%s is already running on the data in %s%s: stop that one first, or choose another --data-dir",
		who, e.DataDir, where)
}
