package catalog

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/modules/catalog/plays"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/resource"
	"marquee/platform/secret"
	"marquee/platform/stream"
)

// Deps are what New needs.
type Deps struct {
	Pool postgres.Pool
	// Reads serves the videos, with resource.StatementTimeout; nil means Pool. It checks the caller too, so it is of
	// the primary: a replica that lags lets in whom the primary does not.
	Reads postgres.Pool
	// Lists serves all other lists; nil means Reads.
	Lists *replica.Set
	// Jobs queues imports, Streams tells how far they are; nil where there are none.
	Jobs    *jobs.Client
	Streams *stream.Streams
	Clock   clock.Clock
	// Accounts proves a customer's PIN for what is rated above their age limit.
	Accounts Accounts
	Log      *slog.Logger
	// PageCacheBytes is how many bytes of video pages the process keeps; default 64 MiB.
	PageCacheBytes int
	// StreamURLKey signs stream URLs; whoever serves the videos checks with it.
	StreamURLKey []byte
	// StreamURLTTL is how long a stream URL is good; default 4 hours.
	StreamURLTTL time.Duration
}

const defaultPageCacheBytes = 64 << 20

// Accounts is what the catalogue asks the module accounts, beside its published functions.
type Accounts interface {
	// ProveParentalPin is 403 PIN_REQUIRED for a wrong PIN, 429 after five in a row.
	ProveParentalPin(ctx context.Context, user objectid.ID, pin secret.Text) error
}

// Service is the catalogue.
type Service struct {
	deps    Deps
	db      *catalogdb.Queries
	crud    resource.Routes
	pages   *resource.PageCache
	served  *prometheus.CounterVec
	fetches singleflight.Group // pages being fetched
	viewers *viewers
	Plays   *plays.Plays // where users play
	api     *httpapi.API // from Routes on
	imports *stream.Feed
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
	if d.Lists == nil {
		d.Lists = replica.Only(d.Reads)
	}
	s := &Service{
		deps: d, db: catalogdb.New(), crud: resource.Routes{Pool: d.Pool, Reads: d.Lists, Clock: d.Clock, Log: d.Log},
		pages: resource.NewPageCache(d.PageCacheBytes), served: newPageCounter(),
		Plays: plays.New(plays.Deps{Pool: d.Pool, Clock: d.Clock}),
	}
	s.viewers = newViewers(s.readViewers)
	if d.Streams != nil {
		s.imports = d.Streams.Feed("imports", s.importStates)
	}
	return s
}

// Where a shown page of videos came from.
const (
	fromCache    = "memory"
	fromDatabase = "database"
)

func newPageCounter() *prometheus.CounterVec {
	served := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "marquee_video_pages_total", Help: "Pages of videos shown, by where they came from.",
	}, []string{"source"})
	for _, source := range []string{fromCache, fromDatabase} {
		served.WithLabelValues(source)
	}
	return served
}

// Metrics are to be registered once a process.
func (s *Service) Metrics() []prometheus.Collector {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	return []prometheus.Collector{
		s.served,
		gauge("marquee_page_cache_pages", "Pages of videos in memory.", func() float64 {
			pages, _, _ := s.pages.Size()
			return float64(pages)
		}),
		gauge("marquee_page_cache_bytes", "Memory that the pages of videos take.", func() float64 {
			_, bytes, _ := s.pages.Size()
			return float64(bytes)
		}),
		gauge("marquee_page_cache_limit_bytes", "Memory that the pages of videos may take.", func() float64 {
			_, _, limit := s.pages.Size()
			return float64(limit)
		}),
	}
}
