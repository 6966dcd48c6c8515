package accounts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/platform/collection"
	"marquee/platform/objectid"
	"marquee/platform/query"
)

// newAuditLog is the collection GET /audit-log; the newest entry comes first.
func newAuditLog() *collection.Resource {
	return collection.New(collection.Definition{
		Name: "audit-log", Singular: "Audit entry", Table: "accounts.audit_log", DefaultSort: `{"register_date":-1,"_id":-1}`,
		CreatedByColumn: "actor_id", CreatedColumn: "at", UpdatedColumn: "at",
		Fields: []collection.Field{
			{Name: "actor_id", Expr: "t.actor_id", Kind: query.OID, Nullable: true, Doc: "User who did it; null for the service itself"},
			{Name: "actor_name", Kind: query.String, Write: collection.Kept, Doc: "His username at that time"},
			{Name: "action", Kind: query.String, Write: collection.Kept, Doc: "Handler name, as in GET /routes"},
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

// trail carries, within one request, what records were before it, from the hook
// that sees them locked to the one that sees them written.
type trail struct {
	action    string
	before    map[objectid.ID]json.RawMessage
	passwords map[objectid.ID]bool // whose password is set
}

type trailKey struct{}

// audited makes the hooks of a collection write what the handler changes into
// the audit trail, under the handler's name.
func audited[I any](action string, handle func(context.Context, *I) (*collection.Answer, error)) func(context.Context, *I) (*collection.Answer, error) {
	return func(ctx context.Context, in *I) (*collection.Answer, error) {
		return handle(context.WithValue(ctx, trailKey{}, &trail{action: action, before: map[objectid.ID]json.RawMessage{}}), in)
	}
}

// noteBeforeTx remembers what the records are before the change, as the view
// shows them.
func noteBeforeTx(ctx context.Context, tx pgx.Tx, view *collection.View, ids []objectid.ID) error {
	t, ok := ctx.Value(trailKey{}).(*trail)
	if !ok {
		return nil
	}
	docs, err := documentsTx(ctx, tx, view, ids)
	if err != nil {
		return err
	}
	t.before = docs
	return nil
}

// notePassword makes the entry of a record say that its password was set.
func notePassword(ctx context.Context, id objectid.ID) {
	t, ok := ctx.Value(trailKey{}).(*trail)
	if !ok {
		return
	}
	if t.passwords == nil {
		t.passwords = map[objectid.ID]bool{}
	}
	t.passwords[id] = true
}

// auditWriteTx writes an entry for each record of a POST, PUT or DELETE, with
// what the view shows of it.
func (s *Service) auditWriteTx(ctx context.Context, tx pgx.Tx, resource string, view *collection.View, ids []objectid.ID) error {
	t, ok := ctx.Value(trailKey{}).(*trail)
	if !ok {
		return nil
	}
	after, err := documentsTx(ctx, tx, view, ids)
	if err != nil {
		return err
	}
	entries := make([]AuditEntry, len(ids))
	for i, id := range ids {
		entries[i] = AuditEntry{Action: t.action, Resource: resource, RecordID: id, Before: t.before[id], After: after[id]}
		if t.passwords[id] {
			if entries[i].After, err = withPassword(after[id]); err != nil {
				return err
			}
		}
	}
	return s.AuditTx(ctx, tx, entries...)
}

// withPassword adds the member password, masked, to a document.
func withPassword(doc json.RawMessage) (map[string]json.RawMessage, error) {
	object, err := members(doc)
	if object != nil {
		object["password"] = json.RawMessage(`"` + mask + `"`)
	}
	return object, err
}

func documentsTx(ctx context.Context, tx pgx.Tx, view *collection.View, ids []objectid.ID) (map[objectid.ID]json.RawMessage, error) {
	joined, _, err := view.DocsTx(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	var docs []json.RawMessage
	if err := json.Unmarshal(slices.Concat([]byte{'['}, joined, []byte{']'}), &docs); err != nil {
		return nil, fmt.Errorf("split documents: %w", err)
	}
	byID := make(map[objectid.ID]json.RawMessage, len(docs))
	for _, doc := range docs {
		var named struct {
			ID objectid.ID `json:"_id"`
		}
		if err := json.Unmarshal(doc, &named); err != nil {
			return nil, fmt.Errorf("read document: %w", err)
		}
		byID[named.ID] = doc
	}
	return byID, nil
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
