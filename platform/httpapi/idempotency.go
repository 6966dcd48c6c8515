package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/idempotency"
	"marquee/platform/objectid"
)

const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotent-Replayed"
)

// ErrWithoutEffect is what a replay returns when the row that it was asked for has
// moved no money and never will: the request is run again.
var ErrWithoutEffect = errors.New("the first attempt had no effect")

// Idempotent lets clients repeat the operation with the header Idempotency-Key
// (docs/repeatable-requests.md): the same key and body get the first answer, another body (or another row named in the
// path) is 409 IDEMPOTENCY_KEY_REUSED, a repetition while the first is under way 409 IDEMPOTENCY_KEY_IN_PROGRESS with
// Retry-After. Keys belong to the route and the caller; guest names the caller of a public route
// from the body. Answers that came before anything was done (401, 403, 413, 415,
// 422, 429) and errors of ours (5xx) are not kept.
//
// replay answers for a request that was cut off after its service had bound the
// key to a row: with the outcome of the row, or with ErrWithoutEffect, or with
// idempotency.InProgress.
func Idempotent[O any](replay func(ctx context.Context, subject objectid.ID) (*O, error),
	guest func(body []byte) string,
) Option {
	return func(o *operation) {
		o.idempotent, o.guest = true, guest
		if replay != nil {
			o.replay, o.replayed = untyped(replay), reflect.TypeFor[O]()
		}
		o.Operation.Parameters = append(o.Operation.Parameters, &huma.Param{
			Name: keyHeader, In: "header",
			Schema: &huma.Schema{
				Type: huma.TypeString, MinLength: new(1), MaxLength: new(idempotency.MaxKey), Pattern: "^[!-~]+$",
			},
			Description: "Makes the request safe to repeat for 24 hours: the same key with the same body gets the first answer again (with the header " + replayedHeader +
				": true), with another body 409 " + idempotency.CodeReused + ", and while the first is under way 409 " +
				idempotency.CodeInProgress +
				" with Retry-After. Take a new random key, such as a UUID, for each new request.",
		})
	}
}

// replayed answers a repetition of a request that was cut off; ok is false when it
// has to run.
func replayed(ctx context.Context,
	replay func(context.Context, objectid.ID) (any, error),
) (out any, ok bool, err error) {
	attempt := idempotency.AttemptOf(ctx)
	if replay == nil || attempt.Subject() == "" {
		return nil, false, nil
	}
	out, err = replay(ctx, attempt.Subject())
	if errors.Is(err, ErrWithoutEffect) {
		return nil, false, nil
	}
	if err != nil {
		attempt.KeepOpen()
	}
	return out, true, err
}

// once is the middleware of Idempotent, behind the one that admits the caller.
func (a *API) once(op operation) func(huma.Context, func(huma.Context)) {
	if !op.idempotent || a.cfg.Idempotency == nil {
		return func(hc huma.Context, next func(huma.Context)) { next(hc) }
	}
	return func(hc huma.Context, next func(huma.Context)) {
		r, w := unwrap(hc)
		given := r.Header.Values(keyHeader)
		if len(given) == 0 {
			next(hc)
			return
		}
		key := given[0]
		if len(given) > 1 {
			key = "" // two keys are none
		}
		if err := idempotency.CheckKey(key); err != nil {
			a.write(hc, err)
			return
		}
		body := bodyOfRequest(r)
		request := idempotency.Request{
			Route: op.OperationID, Caller: callerText(hc.Context(), op, body), Key: key, Body: body,
		}
		if strings.Contains(op.Path, "{") {
			request.Path = r.URL.Path
		}
		attempt, stored, err := a.cfg.Idempotency.Begin(hc.Context(), request)
		switch {
		case err != nil:
			a.write(hc, err)
		case stored != nil:
			w.Header().Set(replayedHeader, "true")
			writeResponse(w, *stored)
		default:
			a.attempt(hc, attempt, next)
		}
	}
}

func callerText(ctx context.Context, op operation, body []byte) string {
	if id := CallerOf(ctx).ID; id != "" {
		return "user " + id.String()
	}
	if op.guest == nil {
		return "address " + ClientIP(ctx)
	}
	return "guest " + op.guest(body)
}

// attempt runs the operation, stores its answer before the client has it, and
// releases the key when there is none to store.
func (a *API) attempt(hc huma.Context, attempt *idempotency.Attempt, next func(huma.Context)) {
	stored := false
	ctx := context.WithoutCancel(hc.Context())
	defer func() {
		if stored {
			return
		}
		if err := attempt.Release(ctx); err != nil {
			a.cfg.Log.ErrorContext(ctx, "idempotency key not released", slog.String("request_id", RequestID(ctx)),
				slog.Any("error", err))
		}
	}()
	rec := &recorder{status: http.StatusOK}
	rec.humaContext = huma.WithContext(hc, idempotency.WithAttempt(hc.Context(), attempt))
	next(rec)
	response := idempotency.Response{Status: rec.status, Body: rec.body.Bytes()}
	if attempt.Final() && final(response.Status) {
		// An answer that is not kept has reached the client all the same; its
		// repetition finds the row that the key is bound to.
		if err := attempt.Finish(ctx, response); err != nil {
			a.cfg.Log.ErrorContext(ctx, "answer not kept", slog.String("request_id", RequestID(ctx)),
				slog.Any("error", err))
		} else {
			stored = true
		}
	}
	_, w := unwrap(hc)
	writeResponse(w, response)
}

// final reports whether an answer is one to the request itself.
func final(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusTooManyRequests, statusHungUp:
		return false
	}
	return status < http.StatusInternalServerError
}

func writeResponse(w http.ResponseWriter, a idempotency.Response) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // the client may be gone; there is nobody to tell
}

type humaContext huma.Context

// recorder holds an answer back. Headers pass through: none of them but the
// content type belongs to the answer.
type recorder struct {
	humaContext
	status int
	body   bytes.Buffer
}

// Unwrap is what humachi finds the request by.
func (r *recorder) Unwrap() huma.Context { return r.humaContext }

// SetStatus is huma's.
func (r *recorder) SetStatus(code int) { r.status = code }

// Status is huma's.
func (r *recorder) Status() int { return r.status }

// BodyWriter is huma's.
func (r *recorder) BodyWriter() io.Writer { return &r.body }
