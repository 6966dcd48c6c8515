package httpapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/fault"
)

// withoutNulls refuses null as a member of an admin's body that does not document it:
// decoded it would be the same as a member that is left out, which at most of these
// routes means more than any value does, such as all that is left of a payment.
// Handlers that read their body themselves decide themselves.
func (a *API) withoutNulls(op operation) func(huma.Context, func(huma.Context)) {
	if op.auth != Admin || op.Method == http.MethodGet {
		return func(hc huma.Context, next func(huma.Context)) { next(hc) }
	}
	return func(hc huma.Context, next func(huma.Context)) {
		registered := hc.Operation()
		if registered.RequestBody == nil || registered.SkipValidateBody {
			next(hc)
			return
		}
		r, _ := unwrap(hc)
		var members map[string]json.RawMessage
		if json.Unmarshal(bodyOfRequest(r), &members) != nil {
			next(hc) // refused there
			return
		}
		schema := a.resolved(registered.RequestBody.Content["application/json"].Schema)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if string(members[name]) == "null" && !nullable(schema, name) {
				a.write(hc, fault.InvalidAt("may be left out, but not be null", "body", name))
				return
			}
		}
		next(hc)
	}
}

func (a *API) resolved(s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return a.huma.OpenAPI().Components.Schemas.SchemaFromRef(s.Ref)
	}
	return s
}

// nullable reports whether the schema takes null; of unknown members it has its own word.
func nullable(s *huma.Schema, name string) bool {
	return s == nil || s.Properties[name] == nil || s.Properties[name].Nullable
}
