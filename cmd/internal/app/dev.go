//go:build !nosandbox

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"marquee/migrations/schema"
	"marquee/platform/clock"
	"marquee/platform/mail"
	"marquee/platform/telemetry"
	"marquee/testutil/film"
	"marquee/testutil/localpg"
	"marquee/testutil/sandbox"
)

// devGrace is how long `marquee dev` waits for requests and jobs under way;
// with the rest it stops within 5 s.
const devGrace = 1500 * time.Millisecond

// machine is everything that `marquee dev` runs.
type machine struct {
	cfg      Config
	log      *slog.Logger
	dir      string
	secrets  devSecrets
	listener net.Listener // of the API
	mailbox  net.Listener // of the mailbox page
	films    net.Listener // of the sample film
	catcher  *mail.Catcher
	gateways *sandbox.Sandbox
	app      *App
	clock    *devClock
	closers  []func() // in the order of opening
}

// Dev runs the whole platform on this machine until ctx ends: private Postgres,
// sandbox gateways, mailbox, API and workers. Every address it opens is
// loopback.
func Dev(ctx context.Context, o DevOptions) error {
	m := &machine{}
	defer m.close()
	if err := m.open(ctx, o); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { m.app.endBy.Store(time.Now().Add(devGrace + time.Second/2)) })()
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return m.app.serveAPI(running, m.listener, devGrace) })
	group.Go(func() error { return m.app.work(running, devGrace) })
	group.Go(func() error { return m.serveMailbox(running) })
	group.Go(func() error { return m.serveFilms(running, o.Films) })
	group.Go(func() error {
		if err := m.app.seedDev(running, m.secrets.Passwords, m.filmAddress); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(running, stopTimeout)
		defer cancel()
		if err := m.clock.settle(ctx); err != nil &&
			running.Err() == nil { // what that set going logs its lines before the greeting
			m.log.Warn("what the sample data set going is still under way", slog.Any("error", err))
		}
		return m.greet(o)
	})
	return group.Wait()
}

func (m *machine) open(ctx context.Context, o DevOptions) (err error) {
	if m.cfg, err = ReadConfig(); err != nil {
		return err
	}
	newLog := telemetry.NewLogFor
	if o.JSON {
		newLog = telemetry.NewLog
	}
	if m.log, err = newLog(o.Err, m.cfg.Platform.LogLevel); err != nil {
		return err
	}
	if m.listener, err = listenLoopback(o.Addr); err != nil {
		return err
	}
	m.onClose(func() { _ = m.listener.Close() })
	if m.mailbox, err = listenLoopback("127.0.0.1:0"); err != nil {
		return err
	}
	m.onClose(func() { _ = m.mailbox.Close() })
	if m.films, err = listenLoopback("127.0.0.1:0"); err != nil {
		return err
	}
	m.onClose(func() { _ = m.films.Close() })
	if err := m.openDatabase(ctx, o); err != nil {
		return err
	}
	if m.secrets, err = loadDevSecrets(m.dir); err != nil {
		return err
	}
	m.secrets.fill(&m.cfg)
	m.cfg.HTTP.PublicURL = "http://" + m.listener.Addr().String()
	m.cfg.Throttle.Off = m.cfg.Throttle.Off || o.NoThrottle
	m.cfg.Accounts.LogUnsentCodes = true
	// Nobody else asks the sandboxes, and a moved clock passes many nights.
	m.cfg.Payments.ReconcilePause = time.Millisecond
	if err := m.openMail(); err != nil {
		return err
	}
	moved, file, err := newMovedClock(m.dir)
	if err != nil {
		return err
	}
	if err := m.openGateways(moved); err != nil { //nolint:contextcheck // they live until close
		return err
	}
	if m.app, err = NewOf(ctx, m.cfg, m.log, true, Parts{Clock: moved, Service: "marquee-dev"}); err != nil {
		return err
	}
	m.onClose(m.app.Close)
	m.clock = &devClock{app: m.app, gateways: m.gateways, clock: moved, file: file}
	m.app.controls = m.clock.handler()
	return m.clock.catchUp()
}

func (m *machine) openDatabase(ctx context.Context, o DevOptions) error {
	pg, err := localpg.Start(ctx, localpg.Options{DataDir: o.DataDir, Progress: o.Err})
	if err != nil {
		return err
	}
	m.onClose(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer cancel()
		if err := pg.Stop(ctx); err != nil {
			m.log.Error("stop the private Postgres", slog.Any("error", err))
		}
	})
	m.dir = pg.DataDir()
	m.cfg.Database.Pooler, m.cfg.Database.DirectURL = "", ""
	if m.cfg.Database.URL, err = pg.EnsureDatabase(ctx, "marquee"); err != nil {
		return err
	}
	_, err = schema.Up(ctx, m.cfg.Database.URL)
	if replaced := (*schema.ReplacedError)(nil); errors.As(err, &replaced) {
		return fmt.Errorf("%w: rm -r %s, or leave it there and name another by --data-dir", err, m.dir)
	}
	return err
}

func (m *machine) openMail() (err error) {
	if m.catcher, err = mail.NewCatcher("127.0.0.1:0", m.log); err != nil {
		return err
	}
	m.onClose(func() { _ = m.catcher.Close() })
	m.cfg.Mail.SMTPURL = m.catcher.URL()
	return nil
}

func (m *machine) openGateways(moved *clock.Moved) (err error) {
	var frozen time.Time
	if moved.Stands() {
		frozen = time.Now()
	}
	m.gateways, err = sandbox.Start(sandbox.Options{
		GWAWebhookURL: m.cfg.HTTP.PublicURL + "/webhooks/gwa", GWAWebhookToken: m.cfg.GatewayA.WebhookTokens[0],
		GWAAPIKey:     m.cfg.GatewayA.APIKey,
		GWBWebhookURL: m.cfg.HTTP.PublicURL + "/webhooks/gwb", GWBWebhookSecret: m.cfg.GatewayB.WebhookSecrets[0],
		GWBSecretKey: m.cfg.GatewayB.SecretKey,
		StateDir:     filepath.Join(m.dir, "sandbox"), Logger: m.log, ReceiverNow: moved.Now, Frozen: frozen,
	})
	if err != nil {
		return err
	}
	m.onClose(func() { _ = m.gateways.Close() })
	m.cfg.GatewayA.URL, m.cfg.GatewayB.URL = m.gateways.GWAURL(), m.gateways.GWBURL()
	return nil
}

func (m *machine) onClose(f func()) { m.closers = append(m.closers, f) }

// close lets go of everything, last opened first.
func (m *machine) close() {
	for i := len(m.closers) - 1; i >= 0; i-- {
		m.closers[i]()
	}
}

func (m *machine) mailboxURL() string { return "http://" + m.mailbox.Addr().String() + "/mailbox" }

func (m *machine) serveMailbox(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.Handle("GET /mailbox", m.catcher)
	mux.Handle("GET /mailbox.json", m.catcher)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(m.mailbox); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("mailbox: %w", err)
	}
	return nil
}

// directFilm is the video of the sample catalogue that is one file; the others are HLS directories.
const directFilm = "a-trip-to-the-moon"

func (m *machine) filmsURL() string { return "http://" + m.films.Addr().String() }

// filmAddress is where the film of a slug lies: as a CDN's, another origin than the API's.
func (m *machine) filmAddress(slug string) *url.URL {
	at := &url.URL{Scheme: "http", Host: m.films.Addr().String(), Path: film.HLSPath(slug)}
	if slug == directFilm {
		at.Path = film.DirectPath(slug)
	}
	return at
}

// serveFilms serves the sample film, and those of a directory, by the platform's clock, to whom a stream URL admits.
func (m *machine) serveFilms(ctx context.Context, dir string) error {
	server := &http.Server{
		Handler:           film.Server{Key: m.cfg.streamURLKey(), Now: m.clock.clock.Now, Dir: dir},
		ReadHeaderTimeout: 5 * time.Second,
	}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(m.films); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("films: %w", err)
	}
	return nil
}

// login is a seeded user as the ready line shows it.
type login struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// readyLine is what --json prints once everything runs.
type readyLine struct {
	URL         string           `json:"url"`
	DatabaseURL string           `json:"database_url"`
	MailboxURL  string           `json:"mailbox_url"`
	ClockURL    string           `json:"clock_url"`
	FilmsURL    string           `json:"films_url"`
	Sandbox     readySandbox     `json:"sandbox"`
	Webhooks    readyWebhooks    `json:"webhooks"`
	Users       map[string]login `json:"users"`
}

type readySandbox struct {
	GWA string `json:"gwa"`
	GWB string `json:"gwb"`
}

type readyWebhooks struct {
	GWAToken  string `json:"gwa_token"`
	GWBSecret string `json:"gwb_secret"`
}

func (m *machine) ready() readyLine {
	line := readyLine{
		URL: m.cfg.HTTP.PublicURL, DatabaseURL: m.cfg.Database.URL, MailboxURL: m.mailboxURL(),
		ClockURL: m.cfg.HTTP.PublicURL + controlRoot + "/clock", FilmsURL: m.filmsURL(),
		Sandbox:  readySandbox{GWA: m.cfg.GatewayA.URL, GWB: m.cfg.GatewayB.URL},
		Webhooks: readyWebhooks{GWAToken: m.cfg.GatewayA.WebhookTokens[0], GWBSecret: m.cfg.GatewayB.WebhookSecrets[0]},
		Users:    map[string]login{},
	}
	for name, password := range m.secrets.Passwords {
		line.Users[name] = login{Username: name, Password: password}
	}
	return line
}

// greet says that everything runs: where, with which logins, and what to try.
func (m *machine) greet(o DevOptions) error {
	line := m.ready()
	if o.JSON {
		if err := json.NewEncoder(o.Out).Encode(line); err != nil {
			return fmt.Errorf("ready line: %w", err)
		}
		return nil
	}
	_, err := fmt.Fprintf(o.Out, `
Marquee runs.

  API        %[1]s/api/v1          docs: %[1]s/api/v1/docs
  mailbox    %[2]s          every mail lands here
  gateway A  %[3]s          controls: %[4]s/_sandbox
  gateway B  %[5]s          controls: %[5]s/_sandbox
  clock      %[12]s          moves all three: curl %[12]s/advance -d '{"by":"32d"}'
  films      %[13]s          one film under each name, by stream URLs alone
  database   %[6]s
  data       %[7]s

  root       %[8]s
  admin      %[9]s
  customer   %[10]s          has a subscription
  migrated   no password: asks for a code at /auth/forgot-password
  migrated_flagged  %[11]s   is asked to choose a new password

Try:

  TOKEN=$(curl -s %[1]s/api/v1/token -d username=customer -d password=%[10]s | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
  curl -s "%[1]s/api/v1/videos?qty_docs_page=3" -H "Authorization: Bearer $TOKEN"

For the README's way from sign-up to an open video:

  API=%[1]s/api/v1 MAILBOX=%[2]s SANDBOX_A=%[4]s

Ctrl-C stops everything; the data stays.
`,
		line.URL, line.MailboxURL, line.Sandbox.GWA, trimV3(line.Sandbox.GWA), line.Sandbox.GWB, line.DatabaseURL,
		m.dir,
		line.Users["root"].Password, line.Users["admin"].Password, line.Users["customer"].Password,
		line.Users[migratedFlaggedUser].Password, line.ClockURL, line.FilmsURL)
	return err
}

func trimV3(u string) string { return u[:len(u)-len("/v3")] }

// listenLoopback opens an address that only this machine can reach.
func listenLoopback(addr string) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		_ = listener.Close()
		return nil, fmt.Errorf("%s is not a loopback address: `marquee dev` opens nothing to other machines", addr)
	}
	return listener, nil
}
