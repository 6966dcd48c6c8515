package plays

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

const (
	// Silence is for how long a player may say nothing before its play is over.
	Silence = 90 * time.Second
	// mostAttempts bounds how often a place is looked for: each time that one is lost, another play has begun.
	mostAttempts = 100
)

// The states of a play, as its player hears them.
const (
	Live     = "live"
	Ended    = "ended"     // by its user, from anywhere
	TimedOut = "timed_out" // it was silent, or there never was one
)

// Deps are what New needs.
type Deps struct {
	Pool  postgres.Pool
	Clock clock.Clock
}

// Plays begins, lists and ends plays.
type Plays struct {
	deps Deps
	db   *catalogdb.Queries
}

// New makes it.
func New(d Deps) *Plays { return &Plays{deps: d, db: catalogdb.New()} }

// Request is a player that wants to play a video.
type Request struct {
	Video objectid.ID
	Play  objectid.ID // the play that goes on; "" of one that begins
	// Most is how many may play at once; nil is no limit.
	Most *int32
}

// Open goes on with the caller's play, or begins one where it is over, and returns its id. 409 TOO_MANY_STREAMS when as
// many play as may.
func (p *Plays) Open(ctx context.Context, r Request) (objectid.ID, error) {
	claims, now := httpapi.ClaimsOf(ctx), p.deps.Clock.Now()
	if r.Play != "" {
		_, err := p.db.PlayTouch(ctx, p.deps.Pool, catalogdb.PlayTouchParams{
			ID: r.Play, UserID: claims.UserID, VideoID: r.Video, Now: now, SilentSince: now.Add(-Silence),
		})
		if err == nil {
			return r.Play, nil
		}
		if !postgres.IsNoRows(err) {
			return "", fmt.Errorf("go on with a play: %w", err)
		}
	}
	open := catalogdb.PlayOpenParams{
		UserID: claims.UserID, VideoID: r.Video, SessionID: nullable.Ptr(claims.SessionID),
		Device: httpapi.Device(ctx), MaxStreams: r.Most, Now: now, SilentSince: now.Add(-Silence),
	}
	for range mostAttempts {
		open.ID = objectid.At(now)
		id, err := p.db.PlayOpen(ctx, p.deps.Pool, open)
		if err == nil {
			return id, nil
		}
		if !postgres.IsNoRows(err) {
			return "", fmt.Errorf("begin a play: %w", err)
		}
		live, err := p.live(ctx, claims.UserID, now)
		if err != nil {
			return "", err
		}
		if r.Most != nil && len(live) >= int(*r.Most) {
			return "", errTooMany(*r.Most, live)
		}
	}
	return "", fault.Unavailable()
}

// live are the plays of the user that go on, the longest played first.
func (p *Plays) live(ctx context.Context, user objectid.ID, now time.Time) ([]catalogdb.PlayListRow, error) {
	rows, err := p.db.PlayList(ctx, p.deps.Pool, catalogdb.PlayListParams{UserID: user, SilentSince: now.Add(-Silence)})
	if err != nil {
		return nil, fmt.Errorf("read plays: %w", err)
	}
	live := rows[:0]
	for _, row := range rows {
		if row.IsLive {
			live = append(live, row)
		}
	}
	return live, nil
}

// end ends a play of the user. 404 when none of that id goes on.
func (p *Plays) end(ctx context.Context, user, id objectid.ID) error {
	now := p.deps.Clock.Now()
	_, err := p.db.PlayEnd(ctx, p.deps.Pool, catalogdb.PlayEndParams{
		ID: id, UserID: user, Now: &now, SilentSince: now.Add(-Silence),
	})
	if postgres.IsNoRows(err) {
		return fault.NotFound("Play")
	}
	if err != nil {
		return fmt.Errorf("end a play: %w", err)
	}
	return nil
}

// PersonalDataName names the plays' part of the customer's data.
func (*Plays) PersonalDataName() string { return "plays" }

// PersonalData returns where the customer plays, or did last.
func (p *Plays) PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID, _ bool) (any, error) {
	rows, err := p.db.PlayList(ctx, db, catalogdb.PlayListParams{
		UserID: customerID, SilentSince: p.deps.Clock.Now().Add(-Silence),
	})
	if err != nil {
		return nil, fmt.Errorf("read plays: %w", err)
	}
	all := make([]play, len(rows))
	for i, row := range rows {
		all[i] = playOf(row, "")
	}
	return all, nil
}

// ErasePersonalDataTx forgets where a deleted customer has played.
func (p *Plays) ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	if err := p.db.PlayDeleteAll(ctx, tx, customerID); err != nil {
		return fmt.Errorf("forget plays: %w", err)
	}
	return nil
}
