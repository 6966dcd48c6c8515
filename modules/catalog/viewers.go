package catalog

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

const (
	// maxViewers bounds the requests that one statement checks.
	maxViewers = 64
	// slowCheck is how long a statement holds up those behind it: then they get one of their
	// own, on another connection.
	slowCheck = 100 * time.Millisecond
)

// viewers checks the callers of many requests in one statement: while one is under way, those
// that come meanwhile wait for the next. A lone request waits for nobody. No request is checked
// by a statement that began before it came.
type viewers struct {
	read func(ctx context.Context, batch []*viewer) error // fills each row; an error is of all of them
	slow time.Duration

	mu      sync.Mutex
	waiting []*viewer
	serving bool // a goroutine takes what waits once its statement is done
}

// viewer is one request, and what was read of its caller.
type viewer struct {
	ctx     context.Context
	claims  httpapi.Claims
	row     catalogdb.ViewerReadRow
	err     error
	checked chan struct{} // closed when row and err are there
}

// check reads the caller and whether they may watch; it returns the catalogue's version, by
// which a response in the page cache is known to be the present one. The error is the
// caller's: 403 for a bad token, 403 without an active subscription.
func (v *viewers) check(ctx context.Context, claims httpapi.Claims) (version int64, err error) {
	one := &viewer{ctx: ctx, claims: claims, checked: make(chan struct{})}
	v.mu.Lock()
	v.waiting = append(v.waiting, one)
	begin := !v.serving
	v.serving = true
	v.mu.Unlock()
	if begin {
		go v.serve() //nolint:contextcheck // it serves others too: each batch detaches from its first
	}
	select {
	case <-one.checked:
	case <-ctx.Done(): // the others are checked all the same
		return 0, fmt.Errorf("read who lists videos: %w", ctx.Err())
	}
	if one.err != nil {
		return 0, fmt.Errorf("read who lists videos: %w", one.err)
	}
	return one.row.Number, mayWatch(one.row.UserType, one.row.HasAccess)
}

// serve checks what waits until nothing does. When a statement is slow, another goroutine goes
// on in its place.
func (v *viewers) serve() {
	for {
		batch := v.take()
		if len(batch) == 0 {
			return
		}
		relief := time.AfterFunc(v.slow, v.serve)
		err := v.readSafely(batch)
		for _, one := range batch {
			one.err = err
			close(one.checked)
		}
		if !relief.Stop() {
			return
		}
	}
}

// take returns those to be checked by the next statement, without those whose clients have
// gone; none when nobody waits, and then the next request begins anew.
func (v *viewers) take() []*viewer {
	v.mu.Lock()
	defer v.mu.Unlock()
	var batch []*viewer
	for len(batch) < maxViewers && len(v.waiting) > 0 {
		if one := v.waiting[0]; one.ctx.Err() == nil {
			batch = append(batch, one)
		}
		v.waiting[0], v.waiting = nil, v.waiting[1:]
	}
	v.serving = len(batch) > 0
	return batch
}

// readSafely is read within the time of a list, whichever of the clients goes away meanwhile,
// and by a share of the connections of its own, whichever route they came by. A panic is an
// error of all: nobody else would recover it.
func (v *viewers) readSafely(batch []*viewer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while reading viewers: %v\n%s", p, debug.Stack())
		}
	}()
	ctx := postgres.Sharing(postgres.Detach(batch[0].ctx), "catalog_viewers")
	ctx, cancel := context.WithTimeout(ctx, resource.Deadline)
	defer cancel()
	return v.read(ctx, batch)
}

// readViewers is the read of viewers.
func (s *Service) readViewers(ctx context.Context, batch []*viewer) error {
	now := s.deps.Clock.Now()
	if len(batch) == 1 {
		one := batch[0]
		row, err := s.db.ViewerRead(ctx, s.deps.Reads, catalogdb.ViewerReadParams{
			UserID: one.claims.UserID, Now: now, IssuedAt: one.claims.IssuedAt, TokenID: one.claims.TokenID,
		})
		one.row = row
		return err
	}
	many := catalogdb.ViewerReadManyParams{Now: now}
	for place, one := range batch {
		many.Places = append(many.Places, int32(place)) //nolint:gosec // at most maxViewers
		many.UserIds = append(many.UserIds, one.claims.UserID.String())
		many.IssuedAt = append(many.IssuedAt, one.claims.IssuedAt)
		many.TokenIds = append(many.TokenIds, one.claims.TokenID)
	}
	rows, err := s.db.ViewerReadMany(ctx, s.deps.Reads, many)
	if err != nil {
		return err
	}
	if len(rows) != len(batch) {
		return fmt.Errorf("read %d viewers of %d", len(rows), len(batch))
	}
	for _, row := range rows {
		batch[row.Place].row = catalogdb.ViewerReadRow{
			UserType: row.UserType, HasAccess: row.HasAccess, Number: row.Number,
		}
	}
	return nil
}
