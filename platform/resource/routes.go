package resource

import (
	"context"
	"errors"
	"log/slog"
	"strconv"

	"github.com/jackc/pgx/v5"

	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/replica"
)

// Routes makes the handlers of the four methods for httpapi.Route.
type Routes struct {
	Pool  postgres.Pool // writes, and reads when Reads is nil
	Reads *replica.Set  // lists: StatementTimeout, at times a replica; nil means Pool
	Clock clock.Clock
	Log   *slog.Logger
}

// GetInput has no fields: the parameters are read from the address, where a
// repeated or malformed one can be told.
type GetInput struct{}

// BodyInput is a body that the descriptor checks.
type BodyInput struct{ Body RawJSON }

// DeleteInput is the body of a DELETE that names no record in its address.
type DeleteInput struct{ Body *RawJSON }

type handler[I any] = func(context.Context, *I) (*Response, error)

// List answers GET.
func (s Routes) List(v *View) handler[GetInput] {
	return func(ctx context.Context, _ *GetInput) (*Response, error) {
		params, err := v.ParseParams(httpapi.RequestURL(ctx))
		if err != nil {
			return nil, err
		}
		return s.list(ctx, v, params)
	}
}

func (s Routes) list(ctx context.Context, v *View, p Params) (*Response, error) {
	list, err := v.Prepare(p)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, db postgres.Pool) error { return list.Run(ctx, db) }
	if err := s.reads().Read(ctx, run); err != nil {
		return nil, Report(ctx, s.Log, err)
	}
	return list.Envelope(ctx), nil
}

func (s Routes) reads() *replica.Set {
	if s.Reads == nil {
		return replica.Only(s.Pool)
	}
	return s.Reads
}

// OnPrimary are the same for what may not lag: money and rights.
func (s Routes) OnPrimary() Routes {
	s.Reads = replica.Only(s.reads().Primary())
	return s
}

// Report returns the error of a list as it is, having logged at the level of an
// error when Postgres refused what the query compiler let through: that is a
// fault of ours behind an answer that blames the client.
func Report(ctx context.Context, log *slog.Logger, err error) error {
	var f *fault.Error
	if log != nil && errors.As(err, &f) && f.Kind == fault.KindInvalid && f.Unwrap() != nil {
		log.ErrorContext(ctx, "the database refused a compiled filter", slog.Any("error", f.Unwrap()))
	}
	return err
}

// Create answers POST with the documents made.
func (s Routes) Create(r *Resource) handler[BodyInput] {
	return s.write(r, func(ctx context.Context, tx pgx.Tx, by Actor, body RawJSON) ([]objectid.ID, error) {
		return r.CreateTx(ctx, tx, by, body)
	})
}

// Update answers PUT with the documents as they are now.
func (s Routes) Update(r *Resource) handler[BodyInput] {
	return s.write(r, func(ctx context.Context, tx pgx.Tx, by Actor, body RawJSON) ([]objectid.ID, error) {
		return r.UpdateTx(ctx, tx, by, body)
	})
}

func (s Routes) write(r *Resource,
	change func(context.Context, pgx.Tx, Actor, RawJSON) ([]objectid.ID, error),
) handler[BodyInput] {
	return func(ctx context.Context, in *BodyInput) (*Response, error) {
		by := Actor{ID: httpapi.CallerOf(ctx).ID, Now: s.Clock.Now()}
		var docs []byte
		var n int
		err := postgres.InTx(ctx, s.Pool, func(tx pgx.Tx) error {
			ids, err := change(ctx, tx, by, in.Body)
			if err != nil {
				return err
			}
			docs, n, err = r.DocsTx(ctx, tx, ids)
			return err
		})
		if err != nil {
			return nil, err
		}
		return single(ctx, docs, n, "ok"), nil
	}
}

// Delete answers DELETE, by the parameter _id or by a body of {_id} objects, with
// how many documents are gone.
func (s Routes) Delete(r *Resource) handler[DeleteInput] {
	return func(ctx context.Context, in *DeleteInput) (*Response, error) {
		ids, err := r.doomed(ctx, in.Body)
		if err != nil {
			return nil, err
		}
		err = postgres.InTx(ctx, s.Pool, func(tx pgx.Tx) error {
			ids, err = r.DeleteTx(ctx, tx, ids)
			return err
		})
		if err != nil {
			return nil, err
		}
		msg := strconv.Itoa(len(ids)) + " documents were deleted."
		if len(ids) == 1 {
			msg = "1 document was deleted."
		}
		return single(ctx, nil, 0, msg), nil
	}
}

func (r *Resource) doomed(ctx context.Context, body *RawJSON) ([]objectid.ID, error) {
	params, err := r.ParseParams(httpapi.RequestURL(ctx))
	if err != nil {
		return nil, err
	}
	if params.ID != "" {
		return []objectid.ID{params.ID}, nil
	}
	if body == nil {
		return nil, fault.InvalidAt("is required, or an array of {_id} objects as body", "query", paramID)
	}
	return r.readIDs(*body)
}
