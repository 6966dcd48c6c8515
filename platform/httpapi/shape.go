package httpapi

import (
	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/fault"
)

// Shape checks a part of a body by a type's schema, as whole bodies are, where a handler
// reads the body itself.
type Shape struct {
	registry huma.Registry
	schema   *huma.Schema
}

// ShapeOf makes the shape of a type.
func ShapeOf[T any]() Shape {
	s := Shape{registry: huma.NewMapRegistry("#/", huma.DefaultSchemaNamer)}
	s.schema = huma.SchemaFromType(s.registry, typeFor[T]())
	refuseBlanks(s.registry, s.schema, map[*huma.Schema]bool{})
	return s
}

// Check is 422 with all that is wrong with a value that was read from JSON, which stands at
// the place.
func (s Shape) Check(value any, at ...any) error {
	var found huma.ValidateResult
	huma.Validate(s.registry, s.schema, huma.NewPathBuffer([]byte{}, 0), huma.ModeWriteToServer, value, &found)
	var issues []fault.Issue
	for _, err := range found.Errors[:min(len(found.Errors), maxIssues)] {
		issues = append(issues, issueOf(err, at))
	}
	if len(issues) == 0 {
		return nil
	}
	return fault.Invalid(issues...)
}
