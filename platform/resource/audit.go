package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/platform/audit"
	"marquee/platform/objectid"
)

// documents are records as the resource shows them.
type documents map[objectid.ID]json.RawMessage

// AuditTx runs a change of records that is no POST, PUT or DELETE of the
// contract, and gives what became of them to the audit trail. The records have
// to be locked already.
func (r *Resource) AuditTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID, change func() error) error {
	before, err := r.watchedTx(ctx, tx, ids)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	return r.recordTx(ctx, tx, ids, before, nil)
}

// AuditNewTx tells the audit trail of records that were made without a POST of the
// contract.
func (r *Resource) AuditNewTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
	return r.recordTx(ctx, tx, ids, nil, nil)
}

// watchedTx reads what the records are before a change; nothing when nobody wants
// to know.
func (r *Resource) watchedTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) (documents, error) {
	if !audit.On(ctx) {
		return nil, nil
	}
	return r.documentsTx(ctx, tx, ids)
}

func (r *Resource) documentsTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) (documents, error) {
	joined, _, err := r.DocsTx(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	if err := json.Unmarshal(slices.Concat([]byte{'['}, joined, []byte{']'}), &all); err != nil {
		return nil, fmt.Errorf("split documents: %w", err)
	}
	byID := make(documents, len(all))
	for _, doc := range all {
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

// recordTx gives the trail one change for each record. Of secrets that the
// request has set, it says that they were set.
func (r *Resource) recordTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID, before documents,
	written []*Record,
) error {
	if !audit.On(ctx) {
		return nil
	}
	after, err := r.watchedTx(ctx, tx, ids)
	if err != nil {
		return err
	}
	for _, rec := range written {
		if after[rec.ID], err = r.withSecrets(after[rec.ID], rec); err != nil {
			return err
		}
	}
	changes := make([]audit.Change, len(ids))
	for i, id := range ids {
		changes[i] = audit.Change{Resource: r.def.AuditedAs, RecordID: id}
		if doc, there := before[id]; there {
			changes[i].Before = doc
		}
		if doc, there := after[id]; there {
			changes[i].After = doc
		}
	}
	return audit.RecordTx(ctx, tx, changes...)
}

// hidden stands where a secret was set.
const hidden = "[hidden]"

func (r *Resource) withSecrets(doc json.RawMessage, rec *Record) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	for _, f := range r.all {
		if _, set := rec.values[f.Column]; !f.Secret || !set || doc == nil {
			continue
		}
		if object == nil {
			if err := json.Unmarshal(doc, &object); err != nil {
				return nil, fmt.Errorf("read document: %w", err)
			}
		}
		object[f.Name] = json.RawMessage(`"` + hidden + `"`)
	}
	if object == nil {
		return doc, nil
	}
	return json.Marshal(object)
}

// lockTx locks the rows that are there, in the order of their ids.
func (r *Resource) lockTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID, strength string) ([]objectid.ID, error) {
	rows, err := tx.Query(ctx,
		"SELECT t.id FROM "+r.def.Table+" t WHERE "+r.where("t.id = ANY($1::text[])")+" ORDER BY t.id "+strength,
		textsOf(ids))
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", r.def.Name, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[objectid.ID])
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", r.def.Name, err)
	}
	return found, nil
}

func textsOf(ids []objectid.ID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = string(id)
	}
	return texts
}
