package pgbouncer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/testutil/cleanup"
)

// serverConns are the sessions of Postgres that the clients of a database share.
const serverConns = 10

// Start is Run until the test ends; it returns the database's address there.
func (p Program) Start(t testing.TB, databaseURL string, settings ...string) (address string) {
	t.Helper()
	r, err := p.Run(databaseURL, settings...)
	if err != nil {
		t.Fatalf("pgbouncer: %v", err)
	}
	cleanup.Add(t, r.Stop)
	return r.URL
}

// Process is one that runs.
type Process struct {
	URL     string // of the database, through it
	address string
	process *os.Process
	ended   chan struct{}
	dir     string
}

// ID is its process id.
func (r *Process) ID() int { return r.process.Pid }

// Run runs it in transaction mode before the server of a database. Settings, each a line such as
// "default_pool_size = 2", are added to the usual ones. Stop it.
func (p Program) Run(databaseURL string, settings ...string) (*Process, error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return nil, errors.New("this is no Postgres connection URL") // the cause may hold the password
	}
	r, err := p.run(databaseURL, settings)
	if err != nil {
		return nil, err
	}
	u.Host, u.User = r.address, url.User("anybody")
	r.URL = u.String()
	return r, nil
}

func (p Program) run(databaseURL string, settings []string) (*Process, error) {
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "marquee-pgbouncer-")
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		r := &Process{dir: dir, ended: make(chan struct{})}
		if err = r.start(p, databaseURL, settings, as); err == nil {
			return r, nil
		}
		if try == 4 || !strings.Contains(err.Error(), "Address already in use") { // somebody else took the port
			_ = os.RemoveAll(dir)
			return nil, err
		}
	}
}

func (r *Process) start(p Program, databaseURL string, settings []string, as *syscall.Credential) error {
	var err error
	if r.address, err = freeAddress(); err != nil {
		return err
	}
	text, err := p.configuration(databaseURL, r.address, settings)
	if err != nil {
		return err
	}
	config, logs := filepath.Join(r.dir, "pgbouncer.ini"), filepath.Join(r.dir, "log")
	err = os.WriteFile(config, []byte(text), 0o600)
	if err == nil {
		err = os.Chmod(r.dir, 0o711) //nolint:gosec // the other account enters it
	}
	if err == nil && as != nil {
		err = os.Chown(config, int(as.Uid), int(as.Gid))
	}
	if err != nil {
		return err
	}
	output, err := os.Create(logs)
	if err != nil {
		return err
	}
	defer output.Close()
	cmd := exec.Command(p.Path, config)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // with whose end the kernel would end the process
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(r.ended)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", p.Path, err)
	}
	r.process = cmd.Process
	return r.awaitReady(logs)
}

// awaitReady returns once it takes connections.
func (r *Process) awaitReady(logs string) error {
	for {
		conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", r.address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-r.ended:
			said, _ := os.ReadFile(logs)
			return fmt.Errorf("it ended: %s", said)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Stop ends it, and leaves nothing.
func (r *Process) Stop() {
	_ = r.process.Kill()
	<-r.ended
	_ = os.RemoveAll(r.dir)
}

// configuration has any client be the server's user, on any of its databases.
func (p Program) configuration(databaseURL, address string, settings []string) (string, error) {
	server, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return "", errors.New("this is no Postgres connection URL")
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
	lines := []string{
		"[databases]",
		fmt.Sprintf("* = host=%s port=%d user=%s password=%s", quote(server.Host), server.Port, quote(server.User),
			quote(server.Password)),
		"[pgbouncer]", "listen_addr = " + host, "listen_port = " + port, "unix_socket_dir =",
		"auth_type = any", "pool_mode = transaction", "max_client_conn = 1000",
		"default_pool_size = " + strconv.Itoa(serverConns),
	}
	if p.Prepares() {
		lines = append(lines, "max_prepared_statements = 200")
	}
	return strings.Join(append(lines, settings...), "\n") + "\n", nil
}

// freeAddress is one of this machine on which nobody listens.
func freeAddress() (string, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// unprivileged is whom it runs as where this process is root's; nil: as this process.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nobody else
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}
