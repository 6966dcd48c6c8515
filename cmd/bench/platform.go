package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"marquee/cmd/bench/bare"

	"marquee/testutil/localpg"
)

// Secrets of a platform that nobody else reaches.
const (
	tokenKey = "bench:the-key-of-a-benchmark-is-no-secret"
	fileKey  = "the-key-of-a-benchmark-is-no-secret"
)

// platform is a database made by `marquee dev`, on a Postgres as it comes (fsync on), with
// `marquee serve` and the sandbox gateways as processes of their own. Jobs wait, unless work
// is called: they are not what a request costs.
type platform struct {
	binary      string
	maker       string // the program that makes the sample data
	sandbox     string // the program that has the sandbox gateways
	dir         string
	keepDir     bool // the directory stays
	ready       bool // it has started; of one that has not the logs stay
	postgres    *localpg.Server
	postmaster  int // its process id
	processes   []*exec.Cmd
	server      side
	Users       map[string]user `json:"users"` // those of `marquee dev`
	databaseURL string
	videos      int // in its catalogue
	gateways    struct {
		Sandbox  struct{ GWA, GWB string }
		Keys     struct{ GWA, GWB string }
		Webhooks struct {
			GWAToken  string `json:"gwa_token"`
			GWBSecret string `json:"gwb_secret"`
		}
	}
}

type user struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// start makes a platform of a binary in a directory of its own, beside the gateways of a binary that may be another:
// releases before `marquee sandbox` have none of their own.
func start(ctx context.Context, binary, maker, sandbox string) (*platform, error) {
	dir, err := os.MkdirTemp("", "marquee-bench-")
	if err == nil {
		err = os.Chmod(dir, 0o755) //nolint:gosec // the Postgres account has to reach its folder in it
	}
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	return startIn(ctx, binary, maker, sandbox, dir, false)
}

// startIn makes it on a data directory that may be there already.
func startIn(ctx context.Context, binary, maker, sandbox, dir string, keepDir bool) (*platform, error) {
	p := &platform{binary: binary, maker: maker, sandbox: sandbox, dir: dir, keepDir: keepDir}
	if err := p.open(ctx); err != nil {
		p.stop()
		return nil, fmt.Errorf("start %s: %w; the logs are in %s", binary, err, dir)
	}
	return p, nil
}

func (p *platform) open(ctx context.Context) error {
	if err := p.seed(ctx); err != nil {
		return err
	}
	if err := p.openPostgres(ctx); err != nil {
		return err
	}
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	line, err := p.run(ctx, "sandbox.log", nil, p.sandbox, "sandbox", "--json",
		"--gwa-addr", "127.0.0.1:0", "--gwb-addr", "127.0.0.1:0",
		"--gwa-webhook", "http://"+addr+"/webhooks/gwa", "--gwb-webhook", "http://"+addr+"/webhooks/gwb",
		"--data-dir", filepath.Join(p.dir, "sandbox")) // where dev left what the gateways know of the sample customers
	if err == nil {
		err = json.Unmarshal(line, &p.gateways)
	}
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	p.server, err = p.serve(ctx, addr, p.databaseURL)
	p.ready = err == nil
	return err
}

// seed has `marquee dev` make the database with its sample data, and ends it.
func (p *platform) seed(ctx context.Context) error {
	line, err := p.run(ctx, "dev.log", []string{"TOKEN_KEYS=" + tokenKey, "FILE_KEY=" + fileKey},
		p.maker, "dev", "--json", "--no-throttle", "--addr", "127.0.0.1:0", "--data-dir", p.dir)
	if err == nil {
		err = json.Unmarshal(line, p)
	}
	if err != nil {
		return fmt.Errorf("marquee dev did not become ready: %w", err)
	}
	p.end()
	return nil
}

// openPostgres starts the database again, with counters of statements where Postgres has them.
func (p *platform) openPostgres(ctx context.Context) (err error) {
	counters := map[string]string{"shared_preload_libraries": "pg_stat_statements,auto_explain"}
	for _, settings := range []map[string]string{counters, nil} {
		if p.postgres, err = localpg.Start(ctx, localpg.Options{DataDir: p.dir, Settings: settings}); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if p.databaseURL, err = p.postgres.EnsureDatabase(ctx, "marquee"); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, p.databaseURL)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	// Counted where it is said; without the counters there is nothing to turn off.
	if _, err := conn.Exec(ctx, "ALTER SYSTEM SET pg_stat_statements.track = 'none'"); err == nil {
		if _, err := conn.Exec(ctx, "SELECT pg_reload_conf()"); err != nil {
			return fmt.Errorf("turn counters off: %w", err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(p.dir, "postgres", "postmaster.pid"))
	if err != nil {
		return fmt.Errorf("the process of Postgres: %w", err)
	}
	p.postmaster, err = strconv.Atoi(strings.TrimSpace(strings.SplitN(string(raw), "\n", 2)[0]))
	return err
}

// serve starts `marquee serve` on the database behind that URL, with more of its environment where it has more.
func (p *platform) serve(ctx context.Context, addr, databaseURL string, more ...string) (side, error) {
	metrics, err := freeAddr()
	if err != nil {
		return side{}, err
	}
	s := side{url: "http://" + addr, metrics: metrics, platform: p}
	env := append(p.environment(databaseURL), "ADDR="+addr, "METRICS_ADDR="+metrics, "DRAIN_DELAY=0",
		"PUBLIC_URL="+s.url)
	env = append(env, more...)
	if s.process, err = p.background(ctx, "serve.log", env, p.binary, "serve"); err != nil {
		return s, err
	}
	if err := s.awaitReady(ctx); err != nil {
		return s, err
	}
	fmt.Fprintf(os.Stderr, "%s serve, process %d: profiles at http://%s/debug/pprof/\n", p.binary, s.process, metrics)
	return s, nil
}

// work starts `marquee work` beside the server.
func (p *platform) work(ctx context.Context) error {
	_, err := p.background(ctx, "work.log", append(p.environment(p.databaseURL), "PUBLIC_URL="+p.server.url), p.binary,
		"work")
	return err
}

func (p *platform) environment(databaseURL string) []string {
	g := p.gateways
	return []string{
		"DATABASE_URL=" + databaseURL, "TOKEN_KEYS=" + tokenKey, "FILE_KEY=" + fileKey, "NO_THROTTLE=true",
		"SMTP_URL=smtp://127.0.0.1:1",
		"GWA_URL=" + g.Sandbox.GWA, "GWA_API_KEY=" + g.Keys.GWA, "GWA_WEBHOOK_TOKEN=" + g.Webhooks.GWAToken,
		"GWB_URL=" + g.Sandbox.GWB, "GWB_SECRET_KEY=" + g.Keys.GWB, "GWB_WEBHOOK_SECRET=" + g.Webhooks.GWBSecret,
		"GWB_PUBLISHABLE_KEY=pk_test_bench",
	}
}

// side is the platform's server under a name.
func (p *platform) side(name string) side {
	s := p.server
	s.name = name
	return s
}

// startBare starts the bare server beside the platform, on the same database.
func startBare(ctx context.Context, p *platform, addr string) (side, error) {
	s := side{name: "bare", url: "http://" + addr, platform: p}
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	env := append(p.environment(p.databaseURL), "ADDR="+addr, "PUBLIC_URL="+p.server.url)
	if s.process, err = p.background(ctx, "bare.log", env, self, "bare"); err != nil {
		return s, err
	}
	return s, s.awaitReady(ctx)
}

// serveBare is the command bare, which startBare starts.
func serveBare(ctx context.Context) error {
	return bare.Serve(ctx, bare.Config{
		DatabaseURL: os.Getenv("DATABASE_URL"), Addr: os.Getenv("ADDR"), PublicURL: os.Getenv("PUBLIC_URL"),
		TokenKey: os.Getenv("TOKEN_KEYS"), WebhookSecret: os.Getenv("GWB_WEBHOOK_SECRET"), Connections: 20,
	})
}

// awaitReady waits until a server answers.
func (s side) awaitReady(ctx context.Context) error {
	for until := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		code, _, err := s.do(ctx, request{Method: http.MethodGet, Path: "/api/v1/health"})
		if err == nil && code == http.StatusOK {
			return nil
		}
		if _, gone := os.Stat(fmt.Sprintf("/proc/%d/fd/0", s.process)); gone != nil || time.Now().After(until) || ctx.Err() != nil {
			return errors.Join(fmt.Errorf("%s did not become ready (%d): see its log", s.url, code), err)
		}
	}
}

// run starts a program that goes on, and returns the first line that it prints.
func (p *platform) run(ctx context.Context, log string, env []string, program string, args ...string) ([]byte, error) {
	command, err := p.command(ctx, log, env, program, args...)
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.begin(command); err != nil {
		return nil, err
	}
	return bufio.NewReader(out).ReadBytes('\n')
}

// background starts a program that goes on, and returns its process id.
func (p *platform) background(ctx context.Context, log string, env []string, program string,
	args ...string,
) (int, error) {
	command, err := p.command(ctx, log, env, program, args...)
	if err != nil {
		return 0, err
	}
	if err := p.begin(command); err != nil {
		return 0, err
	}
	return command.Process.Pid, nil
}

// command is a program whose log goes to a file of the platform's directory.
func (p *platform) command(ctx context.Context, log string, env []string, program string,
	args ...string,
) (*exec.Cmd, error) {
	file, err := os.OpenFile(filepath.Join(p.dir, log), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	command := exec.CommandContext(ctx, program, args...)
	command.Env, command.Stderr = append(os.Environ(), env...), file
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGINT) }
	command.WaitDelay = 30 * time.Second
	return command, nil
}

// begin starts a program, which has its log from then on, and ends with the platform.
func (p *platform) begin(command *exec.Cmd) error {
	defer command.Stderr.(*os.File).Close()
	if err := command.Start(); err != nil {
		return err
	}
	p.processes = append(p.processes, command)
	return nil
}

// end ends the programs, last started first.
func (p *platform) end() {
	for len(p.processes) > 0 {
		p.endLast()
	}
}

// endLast ends the program that was started last.
func (p *platform) endLast() {
	last := len(p.processes) - 1
	_ = p.processes[last].Process.Signal(syscall.SIGINT)
	_ = p.processes[last].Wait()
	p.processes = p.processes[:last]
}

func (p *platform) stop() {
	p.end()
	if p.postgres != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := p.postgres.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "stop Postgres:", err)
		}
	}
	if !p.keepDir && p.ready {
		_ = os.RemoveAll(p.dir)
	}
}

// scale makes so many subscriptions by the command that is there for it.
func (p *platform) scale(ctx context.Context, subscriptions int) error {
	began := time.Now()
	command := exec.CommandContext(ctx, p.binary, "seed", fmt.Sprintf("--scale=%d", subscriptions))
	command.Env = append(os.Environ(), "DATABASE_URL="+p.databaseURL)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return fmt.Errorf("marquee seed: %w\n%s", err, &output)
	}
	fmt.Printf("\nmarquee seed --scale=%d took %v\n", subscriptions, time.Since(began).Round(time.Second))
	return nil
}

// freeAddr is a loopback address at which nobody listens.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("no free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
