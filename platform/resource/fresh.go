package resource

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// checkFresh refuses the first record whose object says by its register_update_date that it was read
// before somebody changed it. The rows are locked: nobody changes them until the commit.
func (r *Resource) checkFresh(ctx context.Context, tx pgx.Tx, records []*Record) error {
	var dated []objectid.ID
	for _, rec := range records {
		if rec.readAt != nil {
			dated = append(dated, rec.ID)
		}
	}
	if len(dated) == 0 {
		return nil
	}
	changed, err := r.changedTx(ctx, tx, dated)
	if err != nil {
		return err
	}
	for _, rec := range records {
		if rec.readAt != nil && !instant(*rec.readAt).Equal(instant(changed[rec.ID])) {
			return r.staleTx(ctx, tx, rec, changed[rec.ID])
		}
	}
	return nil
}

// changedTx is when each record was last changed.
func (r *Resource) changedTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) (map[objectid.ID]time.Time, error) {
	rows, err := tx.Query(ctx,
		"SELECT t.id, t."+r.def.UpdatedColumn+" FROM "+r.def.Table+" t WHERE t.id = ANY($1::text[])", textsOf(ids))
	if err != nil {
		return nil, fmt.Errorf("read when %s were changed: %w", r.def.Name, err)
	}
	changed := make(map[objectid.ID]time.Time, len(ids))
	var id objectid.ID
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &at}, func() error {
		changed[id] = at
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read when %s were changed: %w", r.def.Name, err)
	}
	return changed, nil
}

// staleTx is the 409 for a record that was changed since it was read: when, and by whom where the audit trail says
// it to the caller. Nobody is named for what customers, events and jobs change.
func (r *Resource) staleTx(ctx context.Context, tx pgx.Tx, rec *Record, changed time.Time) error {
	return stale(ctx, tx, r.def.AuditedAs, rec.ID, changed, rec.which())
}

// Stale is that 409 for a record that is in no collection: auditedAs is the resource that the audit trail names,
// changed when it was changed last.
func Stale(ctx context.Context, tx pgx.Tx, auditedAs string, id objectid.ID, changed time.Time) error {
	return stale(ctx, tx, auditedAs, id, changed, "")
}

func stale(ctx context.Context, tx pgx.Tx, auditedAs string, id objectid.ID, changed time.Time, which string) error {
	name, err := audit.ChangedByTx(ctx, tx, auditedAs, id, changed)
	if err != nil {
		return err
	}
	by := ""
	if name != "" {
		by = " by " + name
	}
	return fault.Conflict("The record was changed%s at %s, after it was read%s.", by, httpapi.Time(changed), which).
		WithField(updateDate)
}
