package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// HEAD is answered wherever GET is: by GET's own handler, so that rights, parameters and
// missing records are answered alike, and the server sends no body. A handler whose
// status and headers are known before its work begins, such as that of a list, a report or
// a file that is made, ends there with HeadEnds.

// errHeadEnds ends a handler whose headers are all known: it is never shown as an error.
var errHeadEnds = errors.New("HEAD needs no more than this")

// HeadOnly reports whether the request is a HEAD.
func HeadOnly(ctx context.Context) bool { return requestOf(ctx).head }

// HeadEnds is an error for a handler to return where its work would begin, when the
// request is a HEAD: the answer is then the operation's ordinary one. Else it is nil.
func HeadEnds(ctx context.Context) error {
	if HeadOnly(ctx) {
		return errHeadEnds
	}
	return nil
}

// InFull is a context in which HeadEnds ends nothing: for the report of one record, which
// alone knows whether there is that record, and for a body whose entity tag is a header.
func InFull(ctx context.Context) context.Context {
	r := requestOf(ctx)
	r.head = false
	return context.WithValue(ctx, requestKey, r)
}

// headOf is the HEAD of a GET operation; no document shows it.
func headOf(op huma.Operation) huma.Operation {
	op.Method, op.Hidden = http.MethodHead, true
	op.Parameters = slices.Clone(op.Parameters) // huma adds to it
	op.Middlewares = append(slices.Clone(op.Middlewares), func(hc huma.Context, next func(huma.Context)) {
		hc.SetHeader("Content-Type", "application/json") // which an output's own header replaces
		next(hc)
	})
	return op
}
