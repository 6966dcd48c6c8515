package views

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/audit"
	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// auditedAs is the resource that the audit trail names.
const auditedAs = "views"

const (
	mostOwned  = 200 // of one owner
	mostListed = 500
)

// Deps are what New needs.
type Deps struct {
	Pool  postgres.Pool
	Clock clock.Clock
}

// Views stores them.
type Views struct {
	deps Deps
	db   *accountsdb.Queries
}

// New makes the room.
func New(d Deps) *Views { return &Views{deps: d, db: accountsdb.New()} }

// list reads what the caller sees, of the list at a path or, without one, of all. An error is the database's.
func (s *Views) list(ctx context.Context, caller httpapi.Caller, path string) ([]accountsdb.ViewListRow, error) {
	profiles := make([]string, len(caller.Profiles))
	for i, id := range caller.Profiles {
		profiles[i] = id.String()
	}
	all, err := s.db.ViewList(ctx, s.deps.Pool, accountsdb.ViewListParams{
		Path: path, CallerID: caller.ID, IsRoot: caller.Root, Profiles: profiles, Most: mostListed,
	})
	if err != nil {
		return nil, fmt.Errorf("list views: %w", err)
	}
	return all, nil
}

// insert stores a new view of the caller's; 409 when they have too many, 422 for an unknown profile.
func (s *Views) insert(ctx context.Context, p accountsdb.ViewInsertParams) (accountsdb.ViewGetRow, error) {
	var row accountsdb.ViewGetRow
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		n, err := s.db.ViewCount(ctx, tx, p.OwnerID)
		if err != nil {
			return fmt.Errorf("count views: %w", err)
		}
		if n >= mostOwned {
			return fault.Conflict("You have %s: delete one first.", fault.Count(mostOwned, "view"))
		}
		if err := s.db.ViewInsert(ctx, tx, p); err != nil {
			return knownProfile(err)
		}
		if row, err = s.db.ViewGet(ctx, tx, p.ID); err != nil {
			return fmt.Errorf("read view: %w", err)
		}
		return audit.RecordTx(ctx, tx, audit.Change{Resource: auditedAs, RecordID: p.ID, After: audited(row)})
	})
	return row, err
}

// find reads a view that the caller may change; 404 for any other.
func (s *Views) find(ctx context.Context, id objectid.ID, caller httpapi.Caller) (accountsdb.ViewGetRow, error) {
	row, err := s.db.ViewGet(ctx, s.deps.Pool, id)
	if postgres.IsNoRows(err) || err == nil && row.OwnerID != caller.ID && !caller.Root {
		return row, fault.NotFound("View")
	}
	if err != nil {
		return row, fmt.Errorf("read view: %w", err)
	}
	return row, nil
}

// update writes a view of the caller's, or of anybody's for root. Errors: 404 also for a view of somebody else's; 409
// when it was changed since it was read.
func (s *Views) update(ctx context.Context, p accountsdb.ViewUpdateParams) (accountsdb.ViewGetRow, error) {
	var row accountsdb.ViewGetRow
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		before, err := s.db.ViewGet(ctx, tx, p.ID)
		if err == nil {
			err = s.changeTx(ctx, tx, p)
		}
		if err == nil {
			row, err = s.db.ViewGet(ctx, tx, p.ID)
		}
		if postgres.IsNoRows(err) {
			return fault.NotFound("View")
		}
		if err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Change{
			Resource: auditedAs, RecordID: p.ID, Before: audited(before), After: audited(row),
		})
	})
	return row, err
}

// changeTx writes a view as it stood when it was read.
func (s *Views) changeTx(ctx context.Context, tx pgx.Tx, p accountsdb.ViewUpdateParams) error {
	n, err := s.db.ViewUpdate(ctx, tx, p)
	if err != nil {
		return knownProfile(err)
	}
	if n > 0 {
		return nil
	}
	now, err := s.db.ViewGet(ctx, tx, p.ID)
	if err != nil {
		return err
	}
	return resource.Stale(ctx, tx, auditedAs, p.ID, now.RegisterUpdateDate)
}

// audited is what the audit trail says of a view.
func audited(row accountsdb.ViewGetRow) map[string]any {
	return map[string]any{
		"name": row.Name, "path": row.Path, "query": row.Query, "sort": row.Sort, "columns": row.Columns,
		"audience": row.Audience, "profile_id": row.ProfileID,
	}
}

// remove deletes a view of the caller's, or of anybody's for root; 404 otherwise.
func (s *Views) remove(ctx context.Context, id objectid.ID, caller httpapi.Caller) error {
	before, err := s.find(ctx, id, caller)
	if err != nil {
		return err
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		n, err := s.db.ViewDelete(ctx, tx, accountsdb.ViewDeleteParams{
			ID: id, CallerID: caller.ID, IsRoot: caller.Root,
		})
		if err != nil {
			return fmt.Errorf("delete view: %w", err)
		}
		if n == 0 {
			return fault.NotFound("View")
		}
		return audit.RecordTx(ctx, tx, audit.Change{Resource: auditedAs, RecordID: id, Before: audited(before)})
	})
}

func knownProfile(err error) error {
	if postgres.Constraint(err) == "views_profile_exists" {
		return fault.InvalidAt("names an unknown profile", "body", "profile_id")
	}
	return fmt.Errorf("write view: %w", err)
}
