package events

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// Templates of web/mail about an event.
const (
	MailCancelled = "ticket-event-cancelled"
	MailMoved     = "ticket-event-moved"
)

// Place is when and where an event was.
type Place struct {
	Start    time.Time  `json:"start"`
	End      *time.Time `json:"end,omitempty"`
	Location string     `json:"location"`
}

// MailArgs writes to one who has tickets of an event, whatever their number.
type MailArgs struct {
	EventID    objectid.ID `json:"event_id"`
	CustomerID objectid.ID `json:"customer_id"`
	Template   string      `json:"template"`
	Old        *Place      `json:"old,omitempty"` // of a moved event
}

// Kind names the job.
func (MailArgs) Kind() string { return "tickets_event_mail" }

// mailHoldersTx writes to each holder of a called off event once.
func (s *Store) mailHoldersTx(ctx context.Context, tx pgx.Tx, e Event, template string, old *Place) error {
	holders, err := s.db.TicketListHolders(ctx, tx,
		ticketsdb.TicketListHoldersParams{EventID: e.ID, WithConsumed: true})
	if err != nil {
		return fmt.Errorf("list holders: %w", err)
	}
	return s.mailTheseTx(ctx, tx, e.ID, holders, template, old)
}

func (s *Store) mailTheseTx(ctx context.Context, tx pgx.Tx, id objectid.ID, holders []objectid.ID, template string,
	old *Place,
) error {
	for some := range slices.Chunk(holders, 1000) {
		all := make([]river.InsertManyParams, len(some))
		for i, holder := range some {
			all[i] = river.InsertManyParams{
				Args:       MailArgs{EventID: id, CustomerID: holder, Template: template, Old: old},
				InsertOpts: &river.InsertOpts{Queue: jobs.QueueMail},
			}
		}
		if _, err := s.deps.Jobs.InsertManyFastTx(ctx, tx, all); err != nil {
			return fmt.Errorf("queue mails: %w", err)
		}
	}
	return nil
}
