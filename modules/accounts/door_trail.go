package accounts

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/platform/audit"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/resource"
)

// Watches reports whether an admin is behind the request, or the platform decides by itself.
func (s *Service) Watches(ctx context.Context) bool { return s.trail.Watches(ctx) }

// RecordTx adds changes to the audit trail, in the transaction that makes them.
func (s *Service) RecordTx(ctx context.Context, tx pgx.Tx, changes ...audit.Change) error {
	return s.trail.RecordTx(ctx, tx, changes...)
}

// AuditOf is what the trail says about one record, as the collection GET whose parameters
// stand in the request's address, and how many entries it holds under them.
func (s *Service) AuditOf(ctx context.Context, resource string,
	recordID objectid.ID) (answer *resource.Response, total int, err error) {
	return s.trail.AuditOf(ctx, resource, recordID)
}

// AuditDoc documents a route that answers with AuditOf.
func (s *Service) AuditDoc() []httpapi.Option { return s.trail.AuditDoc() }
