package httpapi

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

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
