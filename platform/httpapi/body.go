package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/fault"
)

var (
	errBodyTooLarge  = &fault.Error{Kind: fault.KindTooLarge, Message: "The body is too large."}
	errBodyTooSlow   = &fault.Error{Kind: fault.KindTimedOut, Message: "The body took too long to arrive."}
	errBodyCut       = &fault.Error{Kind: fault.KindBadRequest, Message: "The body ended before it was complete."}
	errBodyMalformed = "is not valid JSON"
)

// wholeBody is a request's body that has arrived and is checked.
type wholeBody struct {
	bytes.Reader
	data []byte
}

// Close implements io.Closer.
func (b *wholeBody) Close() error { return nil }

// bodyOfRequest is what withBody has read; nil of an operation that takes none.
func bodyOfRequest(r *http.Request) []byte {
	if whole, ok := r.Body.(*wholeBody); ok {
		return whole.data
	}
	return nil
}

// withBody reads an operation's body once, within its bounds, and refuses what no
// JSON route takes: so that a handler, the Idempotency-Key and the schema all see
// the same members.
func (a *API) withBody(op operation) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		r, _ := unwrap(hc)
		if hc.Operation().RequestBody == nil {
			if err := op.refuseMembers(r); err != nil {
				a.write(hc, err)
				return
			}
			next(hc)
			return
		}
		var data []byte
		var err error
		if r.Body != nil && r.Body != http.NoBody {
			data, err = readBody(r.Body, r.ContentLength, op.MaxBodyBytes)
		}
		if err == nil && len(data) == 0 && leftOut(hc.Operation()) {
			data = []byte("{}")
		}
		if err == nil && op.media == "" && len(data) > 0 {
			err = checkBody(data)
		}
		if err != nil {
			a.write(hc, err)
			return
		}
		whole := &wholeBody{data: data}
		whole.Reset(data)
		r.Body = whole
		next(hc)
	}
}

// refuseMembers refuses the body of a Bodyless operation unless it is empty, {} or null.
func (op *operation) refuseMembers(r *http.Request) error {
	if op.bodyless == "" || r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	data, err := readBody(r.Body, r.ContentLength, op.MaxBodyBytes)
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return err
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return fault.InvalidAt("has to be empty", "body")
	}
	if len(members) == 0 {
		return nil
	}
	first := []rune(strings.ToValidUTF8(slices.Min(slices.Collect(maps.Keys(members))), "\uFFFD"))
	return fault.Invalid(fault.IssueAt("extra_forbidden", op.bodyless, "body", string(first[:min(len(first), 64)])))
}

// readBody reads fewer than limit bytes; announced is the length that the head tells, or -1.
func readBody(body io.Reader, announced, limit int64) ([]byte, error) {
	if announced >= limit {
		return nil, errBodyTooLarge
	}
	data := bytes.NewBuffer(make([]byte, 0, max(announced, 0)+bytes.MinRead))
	_, err := data.ReadFrom(io.LimitReader(body, limit))
	switch {
	case err == nil && int64(data.Len()) < limit:
		return data.Bytes(), nil
	case err == nil:
		return nil, errBodyTooLarge
	}
	return nil, BodyFault(err)
}

// BodyFault is the answer to a body that could not be read: 413, 408, or 400 for one that
// was cut off or whose chunks are malformed, the client's doing either way.
func BodyFault(err error) *fault.Error {
	var tooLarge *http.MaxBytesError
	var network net.Error
	switch {
	case errors.As(err, &tooLarge):
		return errBodyTooLarge
	case errors.As(err, &network) && network.Timeout():
		return errBodyTooSlow
	}
	return errBodyCut
}

// lackBody lets a request to the operation come without a body where no member of it is
// required, and documents it so.
func (a *API) lackBody(op operation) {
	registered := operationAt(a.huma.OpenAPI().Paths[op.Path], op.Method)
	if registered == nil || registered.RequestBody == nil || registered.SkipValidateBody {
		return
	}
	body := registered.RequestBody.Content["application/json"]
	if body == nil {
		return
	}
	if s := a.resolved(body.Schema); s != nil && s.Type == huma.TypeObject && len(s.Required) == 0 {
		registered.RequestBody.Required = false
	}
}

func operationAt(item *huma.PathItem, method string) *huma.Operation {
	if item == nil {
		return nil
	}
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch,
		http.MethodDelete: item.Delete,
	}[method]
}

// leftOut reports whether no body at all stands for {}: where none is required, both are
// checked, kept and answered alike.
func leftOut(op *huma.Operation) bool {
	return !op.RequestBody.Required && !op.SkipValidateBody && op.RequestBody.Content["application/json"] != nil
}

// noBlanks counts strings of spaces as empty ones wherever those are refused.
func (a *API) noBlanks(op operation) {
	registered, seen := operationAt(a.huma.OpenAPI().Paths[op.Path], op.Method), map[*huma.Schema]bool{}
	if registered == nil {
		return
	}
	for _, p := range registered.Parameters {
		refuseBlanks(a.huma.OpenAPI().Components.Schemas, p.Schema, seen)
	}
	if registered.RequestBody != nil && !registered.SkipValidateBody {
		if body := registered.RequestBody.Content["application/json"]; body != nil {
			refuseBlanks(a.huma.OpenAPI().Components.Schemas, body.Schema, seen)
		}
	}
}
