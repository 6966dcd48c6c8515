// Package audit is the way from a write to the audit trail. Whoever changes a
// record, in whatever module, tells RecordTx in the transaction of the change;
// the trail of the request keeps it. The trail itself is the module accounts:
// modules below it, and the collection contract, reach it through this package
// alone.
//
// httpapi gives every request that may write the trail of its Config. Outside of
// a request, as in jobs, nobody listens, but to what ByPlatform names.
package audit

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/objectid"
)

// Change is what became of one record.
type Change struct {
	Resource string      // collection as in its path: "videos"
	RecordID objectid.ID // "" where there is but one record, as of settings
	Before   any         // JSON object, as json.RawMessage or to be marshalled; nil: the record is new
	After    any         // likewise; nil: the record is gone
}

// Trail keeps changes.
type Trail interface {
	// Watches reports whether what the request of ctx changes is kept.
	Watches(ctx context.Context) bool
	// RecordTx keeps changes in their own transaction, with who made them, by
	// which route, and the request's id, all from ctx. Of a record that was before
	// and is after, the members that differ are kept; secrets are masked.
	RecordTx(ctx context.Context, tx pgx.Tx, changes ...Change) error
	// ChangedByTx is who changed a record at an instant, or first after it: the username
	// of that time; "" where no entry says.
	ChangedByTx(ctx context.Context, tx pgx.Tx, resource string, recordID objectid.ID, at time.Time) (string, error)
}

type trailKey struct{}

// With gives the trail to whatever is done under the context.
func With(ctx context.Context, t Trail) context.Context {
	return context.WithValue(ctx, trailKey{}, t)
}

// On reports whether changes made under ctx are kept, so that nobody reads what
// a record was for nothing.
func On(ctx context.Context) bool {
	t, ok := ctx.Value(trailKey{}).(Trail)
	return ok && t.Watches(ctx)
}

// RecordTx gives changes to the trail of ctx; without one, or when it does not
// watch, it does nothing.
func RecordTx(ctx context.Context, tx pgx.Tx, changes ...Change) error {
	t, ok := ctx.Value(trailKey{}).(Trail)
	if !ok || !t.Watches(ctx) {
		return nil
	}
	return t.RecordTx(ctx, tx, changes...)
}

// ChangedByTx is who changed a record at an instant, or first after it, as the trail of ctx
// says: "" where it says nothing, and to those whose changes it does not keep.
func ChangedByTx(ctx context.Context, tx pgx.Tx, resource string, recordID objectid.ID, at time.Time) (string, error) {
	t, ok := ctx.Value(trailKey{}).(Trail)
	if !ok || !t.Watches(ctx) {
		return "", nil
	}
	return t.ChangedByTx(ctx, tx, resource, recordID, at)
}

type platformActionKey struct{}

// ByPlatform is a context under which the trail keeps what the platform decides by itself,
// whoever's request it is in: action stands in place of the handler's name.
func ByPlatform(ctx context.Context, t Trail, action string) context.Context {
	return context.WithValue(With(ctx, t), platformActionKey{}, action)
}

// PlatformAction is what the platform does by itself under the context; "" when it is nothing.
func PlatformAction(ctx context.Context) string {
	action, _ := ctx.Value(platformActionKey{}).(string)
	return action
}
