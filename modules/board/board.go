package board

import (
	"log/slog"

	"marquee/modules/accounts"
	"marquee/modules/board/internal/boarddb"
	"marquee/modules/files"
	"marquee/platform/clock"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/replica"
	"marquee/platform/resource"
	"marquee/platform/stream"
)

// Deps are what New needs.
type Deps struct {
	Pool     postgres.Pool
	Reads    *replica.Set // for lists, with resource.StatementTimeout; nil means Pool
	Clock    clock.Clock
	Log      *slog.Logger
	Accounts *accounts.Service // keeps the audit trail
	Files    *files.Service    // stores attachments
	Streams  *stream.Streams   // tells of changes
}

// Service is the board.
type Service struct {
	deps    Deps
	db      *boarddb.Queries
	crud    resource.Routes
	columns *resource.Resource
	cards   *resource.Resource
	feed    *stream.Feed
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{
		deps: d, db: boarddb.New(),
		crud: resource.Routes{Pool: d.Pool, Reads: d.Reads, Clock: d.Clock, Log: d.Log},
	}
	s.columns, s.cards = s.newColumns(), s.newCards()
	s.feed = d.Streams.Feed("board", s.readState)
	return s
}

func idsOf(records []*resource.Record) []objectid.ID {
	ids := make([]objectid.ID, len(records))
	for i, rec := range records {
		ids[i] = rec.ID
	}
	return ids
}
