package events

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// ExpireEnded lets tickets of events that are over expire (open-shapes, Tickets
// to expired). Reserved places of orders go through their orders, which may have
// to be cancelled at a gateway. An event that is moved brings its tickets back.
func (s *Store) ExpireEnded(ctx context.Context) error {
	ended, err := s.db.EventListEnded(ctx, s.pool, s.clock.Now())
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
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		e, err := s.db.EventLock(ctx, tx, id)
		if err != nil {
			return fmt.Errorf("lock event %s: %w", id, err)
		}
		now := s.clock.Now()
		if e.EndsAt.After(now) {
			return nil // moved meanwhile
		}
		_, err = s.db.TicketExpireOfEvent(ctx, tx, ticketsdb.TicketExpireOfEventParams{EventID: id, Now: now})
		if err != nil {
			return fmt.Errorf("expire tickets of event %s: %w", id, err)
		}
		return nil
	})
}
