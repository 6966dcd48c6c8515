package events

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/collection"
	"marquee/platform/objectid"
)

// ReviveTx undoes what ExpireEnded did to events that are over no longer: their
// dates were wrong, or they were put off. It belongs into the transaction that
// moves them, whose caller has locked them. Tickets that gave their place back
// return as far as there are places.
func (s *Store) ReviveTx(ctx context.Context, tx pgx.Tx, by collection.Actor, ended []objectid.ID) error {
	for _, id := range ended {
		e, err := s.db.EventGet(ctx, tx, id)
		if err != nil {
			return fmt.Errorf("read event %s: %w", id, err)
		}
		if !e.EndsAt.After(by.Now) {
			continue
		}
		_, err = s.db.TicketReviveOfEvent(ctx, tx, ticketsdb.TicketReviveOfEventParams{EventID: id, ActorID: &by.ID, Now: by.Now})
		if err != nil {
			return fmt.Errorf("revive tickets of event %s: %w", id, err)
		}
	}
	return nil
}
