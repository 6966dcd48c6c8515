package events

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/objectid"
	"marquee/platform/resource"
)

const (
	// movedBy is by how much start or end have to differ from what holders know to be told.
	movedBy = 30 * time.Minute
	// movedGiveBack is how long holders of a moved event may give back, unless it begins before.
	movedGiveBack = 7 * 24 * time.Hour
)

// eventTimes are what a PUT may move.
type eventTimes = ticketsdb.EventListOfRow

func (s *Store) eventTimesTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) (map[objectid.ID]eventTimes, error) {
	rows, err := s.db.EventListOf(ctx, tx, objectid.Strings(ids))
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	all := make(map[objectid.ID]eventTimes, len(rows))
	for _, e := range rows {
		all[e.ID] = e
	}
	return all, nil
}

// movedTx follows a PUT of events, which its caller has locked. Holders of good tickets of one
// that begins or ends half an hour or more from what they know, or elsewhere, are written
// what it was and is, and may give back until refund_until: what the PUT says and lies ahead, else seven days,
// or the start where that is sooner and lies ahead. Moves too small to be told add up. No
// ticket dies by moving.
func (s *Store) movedTx(ctx context.Context, tx pgx.Tx, before map[objectid.ID]eventTimes, ids []objectid.ID) error {
	after, err := s.eventTimesTx(ctx, tx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.recordMoveTx(ctx, tx, before[id], after[id]); err != nil {
			return fmt.Errorf("move event %s: %w", id, err)
		}
	}
	return nil
}

func (s *Store) recordMoveTx(ctx context.Context, tx pgx.Tx, was, is eventTimes) error {
	knownStart, knownEnd := orTime(was.ToldEventDate, was.EventDate), orTime(was.ToldEndsAt, was.EndsAt)
	elsewhere := strings.Join(strings.Fields(was.Location), " ") != strings.Join(strings.Fields(is.Location), " ")
	moved := elsewhere || apart(knownStart, is.EventDate) >= movedBy || apart(knownEnd, is.EndsAt) >= movedBy
	if is.CancelledAt != nil || !moved && was.EventDate.Equal(is.EventDate) && was.EndsAt.Equal(is.EndsAt) {
		return nil
	}
	move := ticketsdb.EventRecordMoveParams{ID: is.ID, RefundUntil: is.RefundUntil}
	if !moved {
		move.ToldEventDate, move.ToldEndsAt = &knownStart, &knownEnd
		return s.db.EventRecordMove(ctx, tx, move)
	}
	holders, err := s.db.TicketListHolders(ctx, tx, ticketsdb.TicketListHoldersParams{EventID: is.ID})
	if err != nil {
		return fmt.Errorf("list holders: %w", err)
	}
	if said := is.RefundUntil; len(holders) > 0 &&
		(sameTime(was.RefundUntil, said) || said == nil || !said.After(s.deps.Clock.Now())) {
		move.RefundUntil = new(s.movedUntil(is.EventDate))
	}
	record := func() error { return s.db.EventRecordMove(ctx, tx, move) }
	if err := Events.AuditTx(ctx, tx, []objectid.ID{is.ID}, record); err != nil {
		return err
	}
	old := &Place{Start: knownStart, Location: was.Location}
	if was.EventEndDate != nil {
		old.End = &knownEnd
	}
	return s.mailTheseTx(ctx, tx, is.ID, holders, MailMoved, old)
}

// movedUntil is until when holders of a moved event may give back.
func (s *Store) movedUntil(start time.Time) time.Time {
	now := s.deps.Clock.Now()
	if until := now.Add(movedGiveBack); !start.After(now) || until.Before(start) {
		return until
	}
	return start
}

func apart(a, b time.Time) time.Duration { return a.Sub(b).Abs() }

func orTime(t *time.Time, other time.Time) time.Time {
	if t == nil {
		return other
	}
	return *t
}

func sameTime(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

// ReviveTx undoes what ExpireEnded did to events that are over no longer: their
// dates were wrong, or they were put off. It belongs into the transaction that
// moves them, whose caller has locked them. Tickets that gave their place back
// return as far as there are places.
func (s *Store) ReviveTx(ctx context.Context, tx pgx.Tx, by resource.Actor, ended []objectid.ID) error {
	for _, id := range ended {
		e, err := s.db.EventGet(ctx, tx, id)
		if err != nil {
			return fmt.Errorf("read event %s: %w", id, err)
		}
		if !e.EndsAt.After(by.Now) {
			continue
		}
		_, err = s.db.TicketReviveOfEvent(ctx, tx, ticketsdb.TicketReviveOfEventParams{
			EventID: id, Reason: state.Tickets.ReasonOf(state.TicketEventAhead), ActorID: &by.ID, Now: by.Now,
		})
		if err != nil {
			return fmt.Errorf("revive tickets of event %s: %w", id, err)
		}
	}
	return nil
}
