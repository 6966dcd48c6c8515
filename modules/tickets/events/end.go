package events

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// EventEnds tells when events end by the end rule; an event that does not exist
// is left out.
func (s *Store) EventEnds(ctx context.Context, db postgres.DB, ids ...objectid.ID) (map[objectid.ID]time.Time, error) {
	rows, err := db.Query(ctx, "SELECT id, ends_at FROM tickets.events WHERE id = ANY($1::text[])", objectid.Strings(ids))
	if err != nil {
		return nil, fmt.Errorf("read ends of events: %w", err)
	}
	ends := make(map[objectid.ID]time.Time, len(ids))
	var id objectid.ID
	var end time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &end}, func() error {
		ends[id] = end.UTC()
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read ends of events: %w", err)
	}
	return ends, nil
}
