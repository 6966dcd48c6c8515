package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// EventEnds tells when events end by the end rule; an event that does not exist
// is left out.
func (s *Store) EventEnds(ctx context.Context, db postgres.DB, ids ...objectid.ID) (map[objectid.ID]time.Time, error) {
	rows, err := db.Query(ctx, "SELECT id, ends_at FROM tickets.events WHERE id = ANY($1::text[])",
		objectid.Strings(ids))
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

// ExpireEnded lets tickets of events that are over expire (docs/contract/states.md, Tickets). Reserved places of orders
// go through their orders, which may have to be cancelled at a gateway. An event that is moved brings its tickets back.
func (s *Store) ExpireEnded(ctx context.Context) error {
	ended, err := s.db.EventListEnded(ctx, s.deps.Pool, s.deps.Clock.Now())
	if err != nil {
		return fmt.Errorf("list ended events: %w", err)
	}
	var failed error
	for _, id := range ended {
		failed = errors.Join(failed, s.expireEvent(ctx, id))
	}
	return failed
}

func (s *Store) expireEvent(ctx context.Context, id objectid.ID) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		e, err := s.db.EventLock(ctx, tx, id)
		if err != nil {
			return fmt.Errorf("lock event %s: %w", id, err)
		}
		now := s.deps.Clock.Now()
		if e.EndsAt.After(now) {
			return nil // moved meanwhile
		}
		from, to := state.Tickets.Of(state.TicketEventEnded)
		_, err = s.db.TicketExpireOfEvent(ctx, tx, ticketsdb.TicketExpireOfEventParams{
			EventID: id, Reason: state.Tickets.ReasonOf(state.TicketEventEnded), Now: now,
			FromStates: from, ToStates: to,
		})
		if err != nil {
			return fmt.Errorf("expire tickets of event %s: %w", id, err)
		}
		return nil
	})
}
