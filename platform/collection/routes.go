package collection

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Routes makes the handlers of the four methods for httpapi.Route.
type Routes struct {
	Pool  *pgxpool.Pool // writes, and reads when Reads is nil
	Reads *pgxpool.Pool // lists: StatementTimeout, at times a replica
	Clock clock.Clock
	Log   *slog.Logger
}

// GetInput has no fields: the parameters are read from the address, where a
// repeated or malformed one can be told.
type GetInput struct{}

// BodyInput is a body that the descriptor checks.
type BodyInput struct{ Body *RawJSON }

func (in *BodyInput) raw() RawJSON {
	if in.Body == nil {
		return nil
	}
	return *in.Body
}

type handler[I any] = func(context.Context, *I) (*Answer, error)

// List answers GET.
func (s Routes) List(v *View) handler[GetInput] {
	db := s.Reads
	if db == nil {
		db = s.Pool
	}
	return func(ctx context.Context, _ *GetInput) (*Answer, error) {
		params, err := v.ParseParams(httpapi.RequestURL(ctx))
		if err != nil {
			return nil, err
		}
		list, err := v.Prepare(params)
		if err != nil {
			return nil, err
		}
		if err := list.Run(ctx, db); err != nil {
			return nil, err
		}
		return list.Envelope(ctx), nil
	}
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

func (s Routes) write(r *Resource, change func(context.Context, pgx.Tx, Actor, RawJSON) ([]objectid.ID, error)) handler[BodyInput] {
	return func(ctx context.Context, in *BodyInput) (*Answer, error) {
		by := Actor{ID: httpapi.CallerOf(ctx).ID, Now: s.Clock.Now()}
		var docs []byte
		var n int
		err := postgres.InTx(ctx, s.Pool, func(tx pgx.Tx) error {
			ids, err := change(ctx, tx, by, in.raw())
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
func (s Routes) Delete(r *Resource) handler[BodyInput] {
	return func(ctx context.Context, in *BodyInput) (*Answer, error) {
		ids, err := r.doomed(ctx, in.raw())
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

func (r *Resource) doomed(ctx context.Context, body RawJSON) ([]objectid.ID, error) {
	params, err := r.ParseParams(httpapi.RequestURL(ctx))
	if err != nil {
		return nil, err
	}
	if params.ID != "" {
		return []objectid.ID{params.ID}, nil
	}
	if len(body) == 0 {
		return nil, fault.InvalidAt("is required, or an array of {_id} objects as body", "query", paramID)
	}
	return readIDs(body)
}
