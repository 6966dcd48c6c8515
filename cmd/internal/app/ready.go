package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"marquee/platform/jobs"
	"marquee/platform/postgres"
	"marquee/platform/probe"
	"marquee/platform/telemetry"
)

// lateJob is how long a job may be ready without being worked before GET /readyz calls the jobs late.
const lateJob = 5 * time.Minute

// Statuses of checks of GET /readyz beside those of package probe.
const (
	jobsLate       = probe.Status("late")
	gatewayFailing = probe.Status("failing")
	gatewaySuspect = probe.Status("suspect")
)

// jobsCheck is what GET /readyz tells of the jobs.
type jobsCheck struct {
	probe.Check
	OldestReadySeconds float64 `json:"oldest_ready_seconds"` // 0 where none waits
}

// gatewayCheck is what GET /readyz tells of a gateway.
type gatewayCheck struct {
	probe.Check
	Breaker       string     `json:"breaker"` // open while no answer can be used: nothing but a probe is asked
	FailingSince  *time.Time `json:"failing_since,omitempty"`
	SuspectSince  *time.Time `json:"suspect_since,omitempty"`
	LastWebhookAt *time.Time `json:"last_webhook_at"` // null: none for long
}

// newProbe makes what answers GET /livez and GET /readyz.
func (a *App) newProbe() *probe.Probe {
	return probe.New(probe.Config{
		Version: Version(), Log: a.log, Database: a.pingDatabase,
		Details: map[string]func(context.Context) (any, error){
			"replicas": a.checkReplicas, "jobs": a.checkJobs, "gateways": a.checkGateways,
		},
	})
}

var errReadOnly = errors.New("the database takes no writes: it is a replica")

// pingDatabase asks the database over a connection of those that requests and jobs have, with a parameter as they do,
// so that what stands between is asked too. Their bounds hold: it takes one of those that are kept for storing events.
func (a *App) pingDatabase(ctx context.Context) error {
	var follows bool
	err := a.db.writes.QueryRow(postgres.As(ctx, postgres.Brief, "readyz"),
		"SELECT pg_is_in_recovery() AND $1::bool", true).Scan(&follows)
	if err == nil && follows {
		err = errReadOnly
	}
	return err
}

func (a *App) checkJobs(ctx context.Context) (any, error) {
	age, err := jobs.OldestReady(ctx, a.db.health)
	c := jobsCheck{probe.Check{Status: probe.OK}, age.Seconds()}
	if age > lateJob {
		c.Status = jobsLate
	}
	return c, err
}

func (a *App) checkGateways(ctx context.Context) (any, error) {
	states, err := a.modules.payments.Intents().Health().States(ctx, a.db.health)
	if err != nil {
		return nil, err
	}
	called, err := a.modules.payments.LastCalls(ctx, a.db.health)
	if err != nil {
		return nil, err
	}
	checks := make(map[string]gatewayCheck, len(states))
	for _, state := range states {
		c := gatewayCheckOf(state.FailingSince, state.SuspectSince)
		if at, known := called[state.Gateway]; known {
			c.LastWebhookAt = &at
		}
		checks[string(state.Gateway)] = c
	}
	return checks, nil
}

func gatewayCheckOf(failing, suspect *time.Time) gatewayCheck {
	c := gatewayCheck{
		Check: probe.Check{Status: probe.OK}, Breaker: "closed",
		FailingSince: failing, SuspectSince: suspect,
	}
	if suspect != nil {
		c.Status = gatewaySuspect
	}
	if failing != nil {
		c.Status, c.Breaker = gatewayFailing, "open"
	}
	return c
}

// drain returns a context that ends so long after ctx; GET /readyz says from ctx's end on that the process ends, and
// streams of events end at once: their clients come back elsewhere.
func (a *App) drain(ctx context.Context, delay time.Duration) (context.Context, context.CancelFunc) {
	drained, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		a.probe.Drain()
		a.streams.Drain()
		a.log.InfoContext(ctx, "draining", slog.Duration("delay", delay))
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-drained.Done():
		}
		a.endBy.Store(time.Now().Add(stopTime + refusedTime))
		end()
	})
	return drained, func() { stop(); end() }
}

// serveInside answers operators until ctx ends: metrics, profiles, and whether the process lives and is ready.
func (a *App) serveInside(ctx context.Context, addr string) error {
	if addr == "off" {
		return nil
	}
	return telemetry.ServeInside(ctx, addr, a.probe.Beside(telemetry.Inside(a.metrics)))
}

// readyPoll is the pause between two questions whether a process is ready, readyTimeout how long one may take.
const (
	readyPoll    = 200 * time.Millisecond
	readyTimeout = 3 * time.Second
)

// AwaitReady asks the process of this machine that listens where the configuration says (`serve` or `work`) whether it
// is ready, again and again until it is or wait is over, and prints its last answer. The error says that it is not.
func AwaitReady(ctx context.Context, cfg Config, process string, wait time.Duration, out io.Writer) error {
	addr := cfg.HTTP.Addr
	if process == "work" {
		addr = cfg.HTTP.WorkMetricsAddr
	}
	if addr == "off" {
		return errors.New("WORK_METRICS_ADDR is off: nobody can ask")
	}
	url := "http://" + reached(addr) + "/readyz"
	ends := time.Now().Add(wait)
	for {
		body, err := getReady(ctx, url)
		if err == nil || !time.Now().Before(ends) {
			_, printing := out.Write(body)
			return errors.Join(err, printing)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(readyPoll):
		}
	}
}

func getReady(ctx context.Context, url string) (body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("not ready: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("not ready: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if body, err = io.ReadAll(io.LimitReader(res.Body, 1<<20)); err != nil {
		return nil, fmt.Errorf("not ready: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return body, fmt.Errorf("not ready: %s", res.Status)
	}
	return body, nil
}

// reached is the address under which this machine reaches what listens on addr.
func reached(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr // which Validate refuses
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
