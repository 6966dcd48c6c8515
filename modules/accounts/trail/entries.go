package trail

import (
	"context"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// AuditOf is what the trail says about one record, as the collection GET whose
// parameters stand in the request's address, and how many entries it holds
// under them. The newest comes first unless the client sorts. Errors: 422 for bad
// parameters, 404 for an _id that is no entry about the record.
func (s *Trail) AuditOf(ctx context.Context, table string,
	recordID objectid.ID,
) (response *resource.Response, total int, err error) {
	view := s.log.View
	params, err := view.ParseParams(httpapi.RequestURL(ctx))
	if err != nil {
		return nil, 0, err
	}
	params.Only = []resource.Only{{Field: "resource", Value: table}, {Field: "record_id", Value: recordID.String()}}
	list, err := view.Prepare(params)
	if err != nil {
		return nil, 0, err
	}
	if err := list.Run(ctx, s.deps.Pool); err != nil { // not a replica: who has just made a change wants to see it
		return nil, 0, err
	}
	return list.Envelope(ctx), list.Page().Total, nil
}

// AuditDoc documents a route that answers with AuditOf.
func (s *Trail) AuditDoc() []httpapi.Option { return s.log.ListDoc() }

// newAuditLog is the collection GET /audit-log; the newest entry comes first, by
// its id where two changes fall into one millisecond.
func newAuditLog() *resource.Resource {
	return resource.New(resource.Definition{
		Name: "audit-log", Singular: "Audit entry", Table: "accounts.audit_log",
		DefaultSort:     `{"register_date":-1,"_id":-1}`,
		CreatedByColumn: "actor_id", CreatedColumn: "at", UpdatedColumn: "at",
		Fields: []resource.Field{
			{
				Name: "actor_id", Expr: "t.actor_id", Kind: query.OID, Nullable: true,
				Doc: "User who did it; null for the service itself",
			},
			{
				Name: "actor_name", Kind: query.String, Write: resource.ReadOnly,
				Doc: "Their username at that time; platform for the service itself",
			},
			{
				Name: "action", Kind: query.String, Write: resource.ReadOnly,
				Doc: "Handler name, as in GET /routes; of the service itself, what it did",
			},
			{Name: "path", Kind: query.String, Write: resource.ReadOnly, Doc: "Path of the request"},
			{Name: "resource", Kind: query.String, Write: resource.ReadOnly, Doc: "Collection, such as users"},
			{Name: "record_id", Kind: query.OID, Nullable: true, Write: resource.ReadOnly},
			{
				Name: "before", Kind: query.JSON, Nullable: true, Write: resource.ReadOnly,
				Doc: "Null for a new record; of a change, the fields that differ",
			},
			{Name: "after", Kind: query.JSON, Nullable: true, Write: resource.ReadOnly, Doc: "Null for a deleted record"},
			{Name: "request_id", Kind: query.String, Write: resource.ReadOnly, Doc: "X-Request-Id of the request"},
			{
				Name: "erased_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly,
				Doc: "When the values were removed, with the data of the person they were about",
			},
			{Name: "created_at", Expr: "t.at", Kind: query.Date},
		},
	})
}
