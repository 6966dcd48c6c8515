package accounts

import (
	"context"

	"marquee/platform/collection"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// AuditOf is what the trail says about one record, as the collection GET whose
// parameters stand in the request's address, and how many entries it holds
// under them. The newest comes first unless the client sorts. Errors: 422 for bad
// parameters, 404 for an _id that is no entry about the record.
func (s *Service) AuditOf(ctx context.Context, resource string, recordID objectid.ID) (answer *collection.Answer, total int, err error) {
	view := s.collections.auditLog.View
	params, err := view.ParseParams(httpapi.RequestURL(ctx))
	if err != nil {
		return nil, 0, err
	}
	params.Only = []collection.Only{{Field: "resource", Value: resource}, {Field: "record_id", Value: recordID.String()}}
	list, err := view.Prepare(params)
	if err != nil {
		return nil, 0, err
	}
	if err := list.Run(ctx, s.pool); err != nil { // not a replica: who has just made a change wants to see it
		return nil, 0, err
	}
	return list.Envelope(ctx), list.Page().Total, nil
}

// AuditDoc documents a route that answers with AuditOf.
func (s *Service) AuditDoc() []httpapi.Option { return s.collections.auditLog.ListDoc() }
