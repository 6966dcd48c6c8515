package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"marquee/platform/postgres"
	"marquee/platform/replica"
)

// remembersBeyond is for how much longer than a replica may lag a caller's write is remembered: what is known of a
// replica may be 2.25 s old (package replica), and that a request writes is noted again each 4 s (package httpapi), at
// most a second late, so that 2.75 s are left for statements that take long.
const remembersBeyond = 10 * time.Second

// mostLag is how far a replica may be behind at most: who has written is forgotten after an hour.
const mostLag = 30 * time.Minute

// findsPooler is how long a replica may take to say what stands before it.
const findsPooler = 2 * time.Second

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

// openReplicas opens the replicas from which lists, searches, reports and exports are read; none has to be there.
func (d *database) openReplicas(ctx context.Context, cfg Config, pooler postgres.Pooler, log *slog.Logger) (err error) {
	set := replica.Config{Primary: d.lists, MaxLag: cfg.Database.ReplicaMaxLag, Log: log}
	urls := cfg.Database.replicas()
	if len(urls) > 0 {
		if set.Watch, err = d.openWatch(ctx, cfg.Database.URL, pooler); err != nil {
			return err
		}
	}
	for i, url := range urls {
		pools, err := d.openReplica(ctx, cfg, url, "replica "+strconv.Itoa(i+1), log)
		if err != nil {
			return fmt.Errorf("replica %d: %w", i+1, err)
		}
		set.Replicas = append(set.Replicas, pools)
	}
	d.reads = replica.New(set) //nolint:contextcheck // it watches until Close
	return nil
}

func (d *database) openReplica(ctx context.Context, cfg Config, url, name string, log *slog.Logger,
) (p replica.Pools, err error) {
	pooler := cfg.Database.replicaPooler(ctx, url, name, log)
	reads, limited, err := d.pool(ctx, name, url, d.listOptions(cfg, name, pooler))
	if err != nil {
		return p, err
	}
	at := reads.Config().ConnConfig
	p = replica.Pools{
		Address: net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port))), Reads: limited, Reset: reads.Reset,
	}
	p.Watch, err = d.openWatch(ctx, url, pooler)
	return p, err
}

// openWatch opens the connection by which a server is asked how it is.
func (d *database) openWatch(ctx context.Context, url string, pooler postgres.Pooler) (postgres.Pool, error) {
	_, limited, err := d.unobserved(ctx, url, postgres.Options{
		MaxConns: 1, ApplicationName: "marquee watch", Pooler: pooler, Lazy: true,
	})
	return limited, err
}

// replicaPooler is what stands before a replica. With one that does not answer now, and may well later, is spoken as
// any of them understands.
func (d Database) replicaPooler(ctx context.Context, url, name string, log *slog.Logger) postgres.Pooler {
	ctx, cancel := context.WithTimeout(ctx, findsPooler)
	defer cancel()
	pooler, err := d.pooler(ctx, url, log)
	if err != nil {
		log.WarnContext(ctx, "what stands before a replica is not known: it is read without prepared statements",
			slog.String("replica", name), slog.Any("error", err))
		return postgres.Unprepared
	}
	return pooler
}

// replicaCheck is what GET /readyz tells of a replica.
type replicaCheck struct {
	Name       string        `json:"name"` // its number in the configuration
	Status     replica.State `json:"status"`
	LagSeconds *float64      `json:"lag_seconds"` // null of one that does not answer
}

func (a *App) checkReplicas(context.Context) (any, error) {
	checks := []replicaCheck{}
	for _, st := range a.db.reads.Standings() {
		c := replicaCheck{Name: st.Name, Status: st.State}
		if st.State != replica.Away {
			c.LagSeconds = new(st.Lag.Seconds())
		}
		checks = append(checks, c)
	}
	return checks, nil
}
