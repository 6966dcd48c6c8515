package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Actor is who writes and when.
type Actor struct {
	ID  objectid.ID // "" for the service itself
	Now time.Time
}

// CreateTx checks the objects of body and inserts them, all or none, and returns
// their ids in order. Errors: 422 with index and field, 413, the violations of
// the definition, and what its hooks return.
func (r *Resource) CreateTx(ctx context.Context, tx pgx.Tx, by Actor, body RawJSON) ([]objectid.ID, error) {
	records, err := r.readNew(body)
	if err != nil {
		return nil, err
	}
	if hook := r.def.Hooks.BeforeCreate; hook != nil {
		if err := hook(ctx, tx, records); err != nil {
			return nil, err
		}
	}
	batch := &pgx.Batch{}
	for _, rec := range records {
		r.queueInsert(batch, rec, by)
	}
	if err := r.execEach(ctx, tx, batch, records); err != nil {
		return nil, err
	}
	return r.written(ctx, tx, records, nil)
}

func (r *Resource) queueInsert(b *pgx.Batch, rec *Record, by Actor) {
	now := instant(by.Now)
	columns := []string{"id", r.def.CreatedByColumn, r.def.CreatedColumn, r.def.UpdatedColumn}
	args := []any{string(rec.ID), nullID(by.ID), now, now}
	for _, column := range r.columns(rec.values) {
		columns = append(columns, column)
		args = append(args, rec.values[column])
	}
	places := make([]string, len(columns))
	for i := range columns {
		places[i] = "$" + strconv.Itoa(i+1)
	}
	b.Queue("INSERT INTO "+r.def.Table+" ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(places, ", ")+")",
		args...)
}

// UpdateTx changes the fields that body's objects carry, in all of them or none,
// and returns their ids in order. Errors as for CreateTx, 404 for an unknown id, and
// 409 for a register_update_date that is not the record's.
func (r *Resource) UpdateTx(ctx context.Context, tx pgx.Tx, by Actor, body RawJSON) ([]objectid.ID, error) {
	records, err := r.readChanges(body)
	if err != nil {
		return nil, err
	}
	if err := r.checkPresent(ctx, tx, records); err != nil {
		return nil, err
	}
	before, err := r.watchedTx(ctx, tx, idsOf(records))
	if err != nil {
		return nil, err
	}
	if hook := r.def.Hooks.BeforeUpdate; hook != nil {
		if err := hook(ctx, tx, records); err != nil {
			return nil, err
		}
	}
	batch := &pgx.Batch{}
	for _, rec := range records {
		r.queueUpdate(batch, rec, by)
	}
	if err := r.execEach(ctx, tx, batch, records); err != nil {
		return nil, err
	}
	return r.written(ctx, tx, records, before)
}

func (r *Resource) queueUpdate(b *pgx.Batch, rec *Record, by Actor) {
	args := []any{string(rec.ID), instant(by.Now)}
	sets := []string{r.def.UpdatedColumn + " = $2"}
	for _, column := range r.columns(rec.values) {
		args = append(args, rec.values[column])
		sets = append(sets, column+" = $"+strconv.Itoa(len(args)))
	}
	b.Queue("UPDATE "+r.def.Table+" t SET "+strings.Join(sets, ", ")+" WHERE "+r.where("t.id = $1"), args...)
}

// checkPresent locks the rows of a PUT in the order of their ids, so that two of
// them cannot deadlock, and refuses unknown ids, records that others changed since they
// were read, and changed Once and Privileged fields.
func (r *Resource) checkPresent(ctx context.Context, tx pgx.Tx, records []*Record) error {
	found, err := r.lockTx(ctx, tx, idsOf(records), "FOR NO KEY UPDATE")
	if err != nil {
		return err
	}
	present := make(map[objectid.ID]bool, len(found))
	for _, id := range found {
		present[id] = true
	}
	for _, rec := range records {
		if !present[rec.ID] {
			return rec.NotFound(r.def.Singular)
		}
	}
	if err := r.checkFresh(ctx, tx, records); err != nil {
		return err
	}
	if err := r.checkOnce(ctx, tx, records); err != nil {
		return err
	}
	return r.checkRepeated(ctx, tx, records)
}

// checkRepeated refuses Privileged fields with another value than the record shows: clients
// send back what they read.
func (r *Resource) checkRepeated(ctx context.Context, tx pgx.Tx, records []*Record) error {
	if !slices.ContainsFunc(records, func(rec *Record) bool { return len(rec.repeated) > 0 }) {
		return nil
	}
	docs, err := r.documentsTx(ctx, tx, idsOf(records))
	if err != nil {
		return err
	}
	var found findings
	for _, rec := range records {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(docs[rec.ID], &fields); err != nil {
			return fmt.Errorf("read document: %w", err)
		}
		for _, f := range r.all {
			if sent, repeats := rec.repeated[f.Name]; repeats && !SameJSON(sent, fields[f.Name]) {
				found.add(rec.Index, f.Name, "forbidden", notToBeSet)
			}
		}
	}
	return found.err()
}

// SameJSON reports whether two values are the same, however they are spelled. None is null.
func SameJSON(a, b json.RawMessage) bool {
	var left, right any
	if len(a) > 0 && json.Unmarshal(a, &left) != nil || len(b) > 0 && json.Unmarshal(b, &right) != nil {
		return false
	}
	return reflect.DeepEqual(left, right)
}

func (r *Resource) checkOnce(ctx context.Context, tx pgx.Tx, records []*Record) error {
	for _, rec := range records {
		for _, f := range r.all {
			value, sent := rec.once[f.Column]
			if !sent {
				continue
			}
			var same bool
			err := tx.QueryRow(ctx, "SELECT "+f.Column+" IS NOT DISTINCT FROM $2 FROM "+r.def.Table+" WHERE id = $1",
				string(rec.ID), value).Scan(&same)
			if err != nil {
				return fmt.Errorf("compare %s.%s: %w", r.def.Name, f.Name, err)
			}
			if !same {
				return rec.Invalid(f.Name, "cannot be changed")
			}
		}
	}
	return nil
}

// DeleteTx deletes the rows that exist and returns their ids; none at all is
// 404.
func (r *Resource) DeleteTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) ([]objectid.ID, error) {
	if hook := r.def.Hooks.BeforeDelete; hook != nil {
		if err := hook(ctx, tx, ids); err != nil {
			return nil, err
		}
	}
	before, err := r.doomedTx(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	remove := r.removeTx
	if r.def.Hooks.Delete != nil {
		remove = r.def.Hooks.Delete
	}
	gone, err := remove(ctx, tx, ids)
	if err != nil {
		return nil, r.violation(err, nil)
	}
	if len(gone) == 0 {
		return nil, fault.NotFound(r.def.Singular)
	}
	if err := r.afterWrite(ctx, tx, gone); err != nil {
		return nil, err
	}
	return gone, r.recordTx(ctx, tx, gone, before, nil)
}

// doomedTx is what the records are that are about to go, locked so that nobody
// changes them before they do.
func (r *Resource) doomedTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) (documents, error) {
	if !audit.On(ctx) {
		return nil, nil
	}
	there, err := r.lockTx(ctx, tx, ids, "FOR UPDATE")
	if err != nil {
		return nil, err
	}
	return r.watchedTx(ctx, tx, there)
}

func (r *Resource) removeTx(ctx context.Context, tx pgx.Tx, ids []objectid.ID) ([]objectid.ID, error) {
	rows, err := tx.Query(ctx, "DELETE FROM "+r.def.Table+" t WHERE "+r.where("t.id = ANY($1::text[])")+
		" RETURNING t.id", textsOf(ids))
	if err != nil {
		return nil, fmt.Errorf("delete: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[objectid.ID])
}

// DocsTx returns the JSON of the rows in the order of ids, joined by commas, and
// how many there are.
func (v *View) DocsTx(ctx context.Context, db postgres.DB, ids []objectid.ID) (docs []byte, n int, err error) {
	err = db.QueryRow(ctx,
		"SELECT coalesce(string_agg("+v.document+", ',' ORDER BY wanted.position), ''), count(*) FROM "+
			v.resource.def.From+
			" JOIN unnest($1::text[]) WITH ORDINALITY wanted(id, position) ON wanted.id = t.id WHERE "+v.where("TRUE"),
		textsOf(ids)).Scan(&docs, &n)
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", v.resource.def.Name, err)
	}
	return docs, n, nil
}

// columns lists the columns of values in the descriptor's order, so that equal
// sets give equal statements; columns that hooks added and no field has follow.
func (r *Resource) columns(values map[string]any) []string {
	out := make([]string, 0, len(values))
	for _, f := range r.all {
		if _, ok := values[f.Column]; ok && f.Column != "" {
			out = append(out, f.Column)
		}
	}
	if len(out) == len(values) {
		return out
	}
	fields := len(out)
	for column := range values {
		if !slices.Contains(out[:fields], column) {
			out = append(out, column)
		}
	}
	slices.Sort(out[fields:])
	return out
}

// written follows the rows of a POST or PUT: before is what they were.
func (r *Resource) written(ctx context.Context, tx pgx.Tx, records []*Record, before documents) ([]objectid.ID, error) {
	ids := idsOf(records)
	if err := r.afterWrite(ctx, tx, ids); err != nil {
		return nil, err
	}
	return ids, r.recordTx(ctx, tx, ids, before, records)
}

func idsOf(records []*Record) []objectid.ID {
	ids := make([]objectid.ID, len(records))
	for i, rec := range records {
		ids[i] = rec.ID
	}
	return ids
}

func (r *Resource) afterWrite(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
	if hook := r.def.Hooks.AfterWrite; hook != nil {
		return hook(ctx, tx, ids)
	}
	return nil
}

// execEach runs one statement a record and blames the record whose statement
// fails.
func (r *Resource) execEach(ctx context.Context, tx pgx.Tx, b *pgx.Batch, records []*Record) error {
	results := tx.SendBatch(ctx, b)
	for _, rec := range records {
		tag, err := results.Exec()
		if err == nil && tag.RowsAffected() == 0 {
			err = rec.NotFound(r.def.Singular)
		}
		if err != nil {
			_ = results.Close() // repeats the error
			return r.violation(err, rec)
		}
	}
	if err := results.Close(); err != nil {
		return r.violation(err, nil)
	}
	return nil
}

// violation translates a constraint by its name; rec is the object to blame, if
// one is known.
func (r *Resource) violation(err error, rec *Record) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	if v, ok := r.def.Constraints[postgres.Constraint(err)]; ok {
		if rec != nil {
			return rec.violated(v)
		}
		return v.fault()
	}
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == "22003" && rec != nil {
		return fault.InvalidAt("holds a number out of range", "body", rec.Index).WithCause(err)
	}
	return fmt.Errorf("write %s: %w", r.def.Name, err)
}

func nullID(id objectid.ID) any {
	if id == "" {
		return nil
	}
	return string(id)
}
