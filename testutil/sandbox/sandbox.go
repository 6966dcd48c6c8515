package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"marquee/testutil/sandbox/gwa"
	"marquee/testutil/sandbox/gwb"
	"marquee/testutil/sandbox/stage"
)

// closeLimit is how long Close waits for calls that are being answered.
const closeLimit = 2 * time.Second

// Keys that calls carry and proofs of webhooks, of `marquee sandbox` and of tests. They are public and open nothing but a sandbox.
const (
	GWAKey    = gwa.DefaultAPIKey
	GWAToken  = "sandbox-webhook-token-of-gateway-a-0001"
	GWBKey    = "sk_test_sandbox"
	GWBSecret = "whsec_sandboxwebhooksecretofgatewayb01"
)

// gwaBasePath is where the API of gateway A begins.
const gwaBasePath = "/v3"

// Options of both gateways. The zero value works: free ports, memory only, no webhooks until SetWebhooks.
type Options struct {
	// GWAAddr and GWBAddr are loopback addresses with port; default "127.0.0.1:0", a free port.
	GWAAddr, GWBAddr string
	// GWAWebhookURL and GWBWebhookURL are where events go. Empty: they wait until SetWebhooks.
	GWAWebhookURL, GWBWebhookURL string
	// GWAWebhookToken is sent with every event of gateway A; GWBWebhookSecret signs those of gateway B.
	GWAWebhookToken, GWBWebhookSecret string
	// GWAAPIKey and GWBSecretKey are what calls must carry. Empty: gwa.DefaultAPIKey; any key at gateway B.
	GWAAPIKey, GWBSecretKey string
	// StateDir keeps both gateways' objects, clocks and waiting webhooks over restarts, in gwa.json and gwb.json; it
	// is made where it is not there. Empty: memory only.
	StateDir string
	// RetryLadder are the waits between attempts of a webhook, at both gateways. nil: each gateway's real ones.
	RetryLadder []time.Duration
	// ReceiverNow is the clock of who gets the webhooks, where it is not the machine's.
	ReceiverNow func() time.Time
	// Frozen is where both clocks stand until they are advanced (stage.Options). Zero: real time.
	Frozen time.Time
	// Logger; nil: silent.
	Logger *slog.Logger
}

// Sandbox is both gateways, listening.
type Sandbox struct {
	GWA *gwa.Gateway
	GWB *gwb.Gateway

	gwaURL, gwbURL string
	servers        []*http.Server
	calls          context.Context // of every call; its end ends those that hang on purpose
	endCalls       context.CancelFunc
}

// Start listens and serves until Close. Addresses that are not loopback are refused, because the controls ask for no
// password.
func Start(o Options) (*Sandbox, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	listenA, err := listenLoopback(o.GWAAddr)
	if err != nil {
		return nil, err
	}
	listenB, err := listenLoopback(o.GWBAddr)
	if err != nil {
		return nil, errors.Join(err, listenA.Close())
	}
	s := &Sandbox{
		gwaURL: "http://" + listenA.Addr().String() + gwaBasePath, gwbURL: "http://" + listenB.Addr().String(),
	}
	s.calls, s.endCalls = context.WithCancel(context.Background())
	if err := s.open(o); err != nil {
		return nil, errors.Join(err, listenA.Close(), listenB.Close())
	}
	s.serve(listenA, s.GWA, o.Logger)
	s.serve(listenB, s.GWB, o.Logger)
	return s, nil
}

func (s *Sandbox) open(o Options) (err error) {
	if o.StateDir != "" {
		if err := os.MkdirAll(o.StateDir, 0o700); err != nil {
			return fmt.Errorf("sandbox state: %w", err)
		}
	}
	s.GWA, err = gwa.New(gwa.Options{
		APIKey: o.GWAAPIKey, WebhookURL: o.GWAWebhookURL, WebhookToken: o.GWAWebhookToken,
		StateFile: stateFile(o.StateDir, "gwa"), Logger: o.Logger, Frozen: o.Frozen,
	})
	if err != nil {
		return err
	}
	if o.RetryLadder != nil {
		s.GWA.Stage().Webhooks.SetLadder(o.RetryLadder)
	}
	s.GWB, err = gwb.New(gwb.Options{
		BaseURL: s.gwbURL, SecretKey: o.GWBSecretKey, WebhookURL: o.GWBWebhookURL, WebhookSecret: o.GWBWebhookSecret,
		RetryLadder: o.RetryLadder, StateFile: stateFile(o.StateDir, "gwb"), Logger: o.Logger,
		ReceiverNow: o.ReceiverNow, Frozen: o.Frozen,
	})
	if err != nil {
		return errors.Join(err, s.GWA.Close())
	}
	return nil
}

func stateFile(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name+".json")
}

// GWAURL is the base URL of gateway A as its adapter uses it: "http://127.0.0.1:port/v3".
func (s *Sandbox) GWAURL() string { return s.gwaURL }

// GWBURL is the base URL of gateway B as its adapter uses it: "http://127.0.0.1:port".
func (s *Sandbox) GWBURL() string { return s.gwbURL }

// Webhooks is where both gateways send events, and how they prove that it is them.
type Webhooks struct {
	GWAURL, GWAToken  string
	GWBURL, GWBSecret string
}

// SetWebhooks directs both gateways' events, also the waiting ones, to new addresses. An empty token or secret leaves
// the present one.
func (s *Sandbox) SetWebhooks(w Webhooks) {
	s.GWA.SetWebhook(w.GWAURL, w.GWAToken)
	s.GWB.SetWebhook(w.GWBURL, w.GWBSecret)
}

// Advance moves both clocks forward.
func (s *Sandbox) Advance(by time.Duration) error {
	_, errA := s.GWA.Stage().Clock.Advance(by)
	_, errB := s.GWB.Stage().Clock.Advance(by)
	return errors.Join(errA, errB)
}

// Stages are what the gateways stand on: their clocks, queues and journals.
func (s *Sandbox) Stages() []*stage.Stage { return []*stage.Stage{s.GWA.Stage(), s.GWB.Stage()} }

// Settle waits until neither gateway has an event to send (stage.Webhooks.Settle).
func (s *Sandbox) Settle(ctx context.Context) error {
	for _, st := range s.Stages() {
		if err := st.Webhooks.Settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close ends hanging calls, lets others finish within 2 s, stops both gateways and saves their state.
func (s *Sandbox) Close() error {
	s.endCalls()
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	var errs []error
	for _, server := range s.servers {
		if err := server.Shutdown(ctx); err != nil {
			errs = append(errs, server.Close())
		}
	}
	errs = append(errs, s.GWA.Close(), s.GWB.Close())
	return errors.Join(errs...)
}

func (s *Sandbox) serve(l net.Listener, h http.Handler, log *slog.Logger) {
	server := &http.Server{
		Handler: onlyLoopbackHost(h), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return s.calls },
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	s.servers = append(s.servers, server)
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("sandbox gateway stopped", "error", err)
		}
	}()
}

func listenLoopback(addr string) (net.Listener, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("sandbox address %q: %w", addr, err)
	}
	if !loopback(host) {
		return nil, fmt.Errorf("sandbox address %q is not a loopback address: the sandbox is for this machine only",
			addr)
	}
	return net.Listen("tcp", addr)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// onlyLoopbackHost refuses requests under another name, so that no web page can reach the controls by rebinding its
// name to this machine.
func onlyLoopbackHost(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !loopback(host) {
			http.Error(w, "the sandbox answers to loopback names only", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}
