package catalog

import (
	"context"
	"fmt"
	"time"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/platform/batch"
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
// that come meanwhile wait for the next (package batch).
type viewers struct {
	read  func(ctx context.Context, batch []*viewer) error // fills each row; an error is of all of them
	batch *batch.Batcher[*viewer]
}

// viewer is one request, and what was read of its caller.
type viewer struct {
	claims httpapi.Claims
	row    catalogdb.ViewerReadRow
}

func newViewers(read func(ctx context.Context, batch []*viewer) error) *viewers {
	v := &viewers{read: read}
	v.batch = batch.New(maxViewers, slowCheck, v.readBatch)
	return v
}

// check reads the caller and whether they may watch; it returns the catalogue's version, by
// which a response in the page cache is known to be the present one. The error is the
// caller's: 403 for a bad token, 403 without an active subscription.
func (v *viewers) check(ctx context.Context, claims httpapi.Claims) (version int64, err error) {
	one := &viewer{claims: claims}
	if err := v.batch.Join(ctx, one); err != nil {
		return 0, fmt.Errorf("read who lists videos: %w", err)
	}
	return one.row.Number, mayWatch(one.row.UserType, one.row.HasAccess)
}

// readBatch is read within the time of a list, whichever of the clients goes away meanwhile,
// and by a share of the connections of its own, whichever route they came by.
func (v *viewers) readBatch(ctx context.Context, batch []*viewer) error {
	ctx, cancel := context.WithTimeout(postgres.Sharing(postgres.Detach(ctx), "catalog_viewers"), resource.Deadline)
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
			SessionID: one.claims.SessionID.String(),
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
		many.SessionIds = append(many.SessionIds, one.claims.SessionID.String())
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
