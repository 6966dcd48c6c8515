package httpapi

import (
	"maps"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/money"
	"marquee/platform/openapi"
)

// Info states the type of the envelope's info, where it is more than null. A pointer is one that
// may be null.
func Info[T any]() Option { return func(o *operation) { o.info = reflect.TypeFor[T]() } }

// LinksSchema is the schema of an envelope's links.
func LinksSchema() *huma.Schema { return &huma.Schema{Type: huma.TypeArray, Items: refTo("Link")} }

// PaginationSchema is the schema of an envelope's pagination.
func PaginationSchema() *huma.Schema { return refTo("Pagination") }

// NoInfo is the schema of an info that is always null.
func NoInfo() *huma.Schema {
	return described(&huma.Schema{
		Type: huma.TypeObject, Nullable: true, AdditionalProperties: false, Description: "Always null here",
	})
}

// registerEnvelope makes the parts of envelopes known, also of those that no type stands for, and
// reais as the decimal numbers that they are shown as.
func registerEnvelope(schemas huma.Registry) {
	schemas.RegisterTypeAlias(typeFor[money.Reais](), typeFor[float64]())
	for _, t := range []reflect.Type{typeFor[Link](), typeFor[Pagination]()} {
		schemas.Schema(t, true, "")
	}
}

// typeInfo gives the answer of the operation, if it is an envelope, the type of its info. The
// schema of a type is for all that answer with it: it is copied.
func typeInfo(document *huma.OpenAPI, op operation) {
	registered, schemas := operationAt(document.Paths[op.Path], op.Method), document.Components.Schemas
	if registered == nil {
		return
	}
	for _, status := range []int{200, 201} {
		response := registered.Responses[strconv.Itoa(status)]
		if response == nil || response.Content["application/json"] == nil {
			continue
		}
		media := response.Content["application/json"]
		if choices := media.Schema.OneOf; len(choices) > 0 {
			for i := range choices {
				choices[i] = withInfo(schemas, choices[i], op.info)
			}
			continue
		}
		media.Schema = withInfo(schemas, media.Schema, op.info)
	}
}

func withInfo(schemas huma.Registry, s *huma.Schema, info reflect.Type) *huma.Schema {
	envelope := s
	if s.Ref != "" {
		envelope = schemas.SchemaFromRef(s.Ref)
	}
	if envelope.Properties["info"] == nil || envelope.Properties["pagination"] == nil {
		return s
	}
	typed := *envelope
	typed.Properties = maps.Clone(envelope.Properties)
	if info == nil {
		typed.Properties["info"] = NoInfo()
		if s.Ref != "" { // what the name of the type stands for
			typed.Extensions = map[string]any{openapi.NameKey: s.Ref[len(schemasPlace):]}
		}
	} else {
		typed.Properties["info"] = infoSchema(schemas, info)
		typed.Extensions = nil // the operation's own
	}
	typed.PrecomputeMessages()
	return &typed
}

func infoSchema(schemas huma.Registry, t reflect.Type) *huma.Schema {
	if t.Kind() != reflect.Pointer {
		return schemas.Schema(t, true, "")
	}
	s := *schemas.Schema(t.Elem(), false, "")
	s.Nullable = true
	return &s
}
