package app

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/resource"
)

// remembersBeyond is for how much longer than a replica may lag a caller's write is remembered.
const remembersBeyond = 5 * time.Second

// betweenURLs is the comma between two connection strings; one within a string, as between two hosts, is none.
var betweenURLs = regexp.MustCompile(`\s*,\s*(postgres(?:ql)?://)`)

// replicas are the connection strings of DATABASE_REPLICA_URL.
func (d Database) replicas() (urls []string) {
	for text := range strings.SplitSeq(betweenURLs.ReplaceAllString(d.ReplicaURL, "\n$1"), "\n") {
		if text = strings.Trim(text, " \t,"); text != "" {
			urls = append(urls, text)
		}
	}
	return urls
}

// writesRemembered is for how long a caller who writes lists nothing older than that; 0 without replicas.
func (d Database) writesRemembered() time.Duration {
	if len(d.replicas()) == 0 {
		return 0
	}
	return d.ReplicaMaxLag + remembersBeyond
}

type poolOpener func(ctx context.Context, url string, o postgres.Options) (*pgxpool.Pool, error)

// openReads opens what lists, searches, reports and exports are read from: the primary, with a bound on each statement,
// and the replicas, of which none has to be there.
func (a *App) openReads(ctx context.Context, open poolOpener) (err error) {
	lists := postgres.Options{
		MaxConns: a.cfg.Database.MaxConns, ApplicationName: "marquee lists",
		StatementTimeout: resource.StatementTimeout, Gate: a.cfg.listGate(), Lazy: true,
	}
	if a.lists, err = open(ctx, a.cfg.Database.URL, lists); err != nil {
		return err
	}
	cfg := replica.Config{Primary: a.lists, MaxLag: a.cfg.Database.ReplicaMaxLag, Log: a.log}
	watch := postgres.Options{MaxConns: 1, ApplicationName: "marquee watch", Lazy: true}
	urls := a.cfg.Database.replicas()
	if len(urls) > 0 {
		if cfg.Watch, err = open(ctx, a.cfg.Database.URL, watch); err != nil {
			return err
		}
	}
	for i, url := range urls {
		pools := replica.Pools{}
		if pools.Reads, err = open(ctx, url, lists); err == nil {
			pools.Watch, err = open(ctx, url, watch)
		}
		if err != nil {
			return fmt.Errorf("replica %d: %w", i+1, err)
		}
		at := pools.Reads.Config().ConnConfig
		pools.Address = net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port)))
		cfg.Replicas = append(cfg.Replicas, pools)
	}
	a.reads = replica.New(cfg) //nolint:contextcheck // it watches until Close
	if len(urls) > 0 {
		a.metrics.MustRegister(a.reads)
	}
	return nil
}

// replicaCheck is what GET /readyz tells of a replica.
type replicaCheck struct {
	Name       string        `json:"name"` // its number in the configuration
	Status     replica.State `json:"status"`
	LagSeconds *float64      `json:"lag_seconds"` // null of one that does not answer
}

func (a *App) checkReplicas(context.Context) (any, error) {
	checks := []replicaCheck{}
	for _, st := range a.reads.Standings() {
		c := replicaCheck{Name: st.Name, Status: st.State}
		if st.State != replica.Away {
			c.LagSeconds = new(st.Lag.Seconds())
		}
		checks = append(checks, c)
	}
	return checks, nil
}
