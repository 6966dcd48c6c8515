package httpapi

import (
	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/fault"
)

// Validator checks a part of a body by a type's schema, as whole bodies are, where a handler
// reads the body itself.
type Validator struct {
	registry huma.Registry
	schema   *huma.Schema
}

// ValidatorOf makes the validator of a type.
func ValidatorOf[T any]() Validator {
	v := Validator{registry: huma.NewMapRegistry("#/", huma.DefaultSchemaNamer)}
	v.schema = huma.SchemaFromType(v.registry, typeFor[T]())
	refuseBlanks(v.registry, v.schema, map[*huma.Schema]bool{})
	return v
}

// CheckBody is 422 with all that is wrong with a value, as it was read from JSON, as the body of a route; at leads to
// it in the request. A route without a body takes any.
func CheckBody(a *API, route RouteInfo, value any, at ...any) error {
	op := operationAt(a.huma.OpenAPI().Paths[route.Path], route.Method)
	if op == nil || op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
		return nil
	}
	schema := op.RequestBody.Content["application/json"].Schema
	return Validator{registry: a.huma.OpenAPI().Components.Schemas, schema: schema}.Check(value, at...)
}

// Check is 422 with all that is wrong with a value that was read from JSON, which stands at
// the place.
func (v Validator) Check(value any, at ...any) error {
	var found huma.ValidateResult
	huma.Validate(v.registry, v.schema, huma.NewPathBuffer([]byte{}, 0), huma.ModeWriteToServer, value, &found)
	var issues []fault.Issue
	for _, err := range found.Errors[:min(len(found.Errors), maxIssues)] {
		issues = append(issues, issueOf(err, at))
	}
	if len(issues) == 0 {
		return nil
	}
	return fault.Invalid(issues...)
}
