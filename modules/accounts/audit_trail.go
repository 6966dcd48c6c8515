package accounts

import (
	"marquee/platform/collection"
	"marquee/platform/objectid"
	"marquee/platform/query"
)

// newAuditLog is the collection GET /audit-log; the newest entry comes first, by
// its id where two changes fall into one millisecond.
func newAuditLog() *collection.Resource {
	return collection.New(collection.Definition{
		Name: "audit-log", Singular: "Audit entry", Table: "accounts.audit_log", DefaultSort: `{"register_date":-1,"_id":-1}`,
		CreatedByColumn: "actor_id", CreatedColumn: "at", UpdatedColumn: "at",
		Fields: []collection.Field{
			{Name: "actor_id", Expr: "t.actor_id", Kind: query.OID, Nullable: true, Doc: "User who did it; null for the service itself"},
			{Name: "actor_name", Kind: query.String, Write: collection.Kept, Doc: "Their username at that time; platform for the service itself"},
			{Name: "action", Kind: query.String, Write: collection.Kept, Doc: "Handler name, as in GET /routes; of the service itself, what it did"},
			{Name: "path", Kind: query.String, Write: collection.Kept, Doc: "Path of the request"},
			{Name: "resource", Kind: query.String, Write: collection.Kept, Doc: "Collection, such as users"},
			{Name: "record_id", Kind: query.OID, Nullable: true, Write: collection.Kept},
			{Name: "before", Kind: query.JSON, Nullable: true, Write: collection.Kept, Doc: "Null for a new record; of a change, the fields that differ"},
			{Name: "after", Kind: query.JSON, Nullable: true, Write: collection.Kept, Doc: "Null for a deleted record"},
			{Name: "request_id", Kind: query.String, Write: collection.Kept, Doc: "X-Request-Id of the request"},
			{Name: "erased_at", Kind: query.Date, Nullable: true, Write: collection.Kept, Doc: "When the values were taken out, with the person they spoke of"},
			{Name: "created_at", Expr: "t.at", Kind: query.Date},
		},
	})
}

func idsOfRecords(records []*collection.Record) []objectid.ID {
	ids := make([]objectid.ID, len(records))
	for i, rec := range records {
		ids[i] = rec.ID
	}
	return ids
}

func textsOf(ids []objectid.ID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}
