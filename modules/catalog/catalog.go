package catalog

import (
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/platform/clock"
	"marquee/platform/resource"
)

// Deps are what New needs.
type Deps struct {
	Pool *pgxpool.Pool
	// Reads serves the lists, with resource.StatementTimeout; nil means Pool. It
	// checks the caller too: a replica that lags lets in whom the primary does not.
	Reads *pgxpool.Pool
	Clock clock.Clock
	Log   *slog.Logger
	// PageCacheBytes is how many bytes of video pages the process keeps; default 64 MiB.
	PageCacheBytes int
	// StreamURLKey signs stream URLs; whoever serves the videos checks with it.
	StreamURLKey []byte
	// StreamURLTTL is how long a stream URL is good; default 4 hours.
	StreamURLTTL time.Duration
}

const defaultPageCacheBytes = 64 << 20

// Service is the catalogue.
type Service struct {
	deps    Deps
	db      *catalogdb.Queries
	crud    resource.Routes
	pages   *resource.PageCache
	served  *prometheus.CounterVec
	fetches singleflight.Group // pages being fetched
	viewers *viewers
}

// New makes the service.
func New(d Deps) *Service {
	if d.PageCacheBytes == 0 {
		d.PageCacheBytes = defaultPageCacheBytes
	}
	if d.StreamURLTTL == 0 {
		d.StreamURLTTL = defaultStreamURLTTL
	}
	if d.Reads == nil {
		d.Reads = d.Pool
	}
	s := &Service{
		deps: d, db: catalogdb.New(), crud: resource.Routes{Pool: d.Pool, Reads: d.Reads, Clock: d.Clock, Log: d.Log},
		pages: resource.NewPageCache(d.PageCacheBytes), served: newPageCounter(),
	}
	s.viewers = newViewers(s.readViewers)
	return s
}

// Where a shown page of videos came from.
const (
	fromCache    = "memory"
	fromDatabase = "database"
)

func newPageCounter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "marquee_video_pages_total", Help: "Pages of videos shown, by where they came from.",
	}, []string{"source"})
}

// Metrics are to be registered once a process.
func (s *Service) Metrics() []prometheus.Collector { return []prometheus.Collector{s.served} }
