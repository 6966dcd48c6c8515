package httpapi

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const schemasPlace = "#/components/schemas/"

// The names of what errors are made of in the OpenAPI document.
const (
	errorSchema = "Error"
	issueSchema = "ErrorIssue"
	codeSchema  = "ErrorCode"
)

// Schema describes the body for OpenAPI, by its name: detail is a sentence or a list.
func (e *ErrorBody) Schema(r huma.Registry) *huma.Schema {
	schemas := r.Map()
	if schemas[errorSchema] == nil {
		schemas[errorSchema], schemas[issueSchema], schemas[codeSchema] = errorBody(), errorIssue(), errorCode()
	}
	return refTo(errorSchema)
}

func errorBody() *huma.Schema {
	return described(&huma.Schema{
		Type: huma.TypeObject, Required: []string{"detail"},
		Properties: map[string]*huma.Schema{
			"detail": {
				Description: "A sentence for people; or, of a request that is not valid, all that is wrong with it",
				OneOf: []*huma.Schema{
					{Type: huma.TypeString},
					{Type: huma.TypeArray, Items: refTo(issueSchema)},
				},
			},
			"error": refTo(codeSchema),
		},
	})
}

func errorIssue() *huma.Schema {
	return described(&huma.Schema{
		Type: huma.TypeObject, Required: []string{"loc", "msg", "type"},
		Properties: map[string]*huma.Schema{
			"loc": {
				Type: huma.TypeArray, Description: "The way to the value, such as body, 0, title",
				Items: &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeInteger}}},
			},
			"msg":  {Type: huma.TypeString, Description: "A sentence that names the value"},
			"type": {Type: huma.TypeString},
		},
	})
}

func errorCode() *huma.Schema {
	return described(&huma.Schema{
		Type: huma.TypeObject, Required: []string{"code", "message", "timestamp"},
		Properties: map[string]*huma.Schema{
			"code":      {Type: huma.TypeString, Description: "For programs; docs/errors.md lists them"},
			"message":   {Type: huma.TypeString, Description: "A sentence for people"},
			"timestamp": {Type: huma.TypeString, Format: "date-time"},
			"field":     {Type: huma.TypeString, Description: "The first field that is to blame; absent where none is"},
		},
	})
}

func refTo(name string) *huma.Schema { return &huma.Schema{Ref: schemasPlace + name} }

// described makes a schema that is written by hand fit to validate with.
func described(s *huma.Schema) *huma.Schema {
	s.PrecomputeMessages()
	return s
}

var modulePath = regexp.MustCompile(`/modules/([a-z]+)`)

// schemaName names a type in the OpenAPI document. Types of modules carry their
// module's name, since two modules may well have a body of the same name.
func schemaName(t reflect.Type, hint string) string {
	name := strings.ReplaceAll(huma.DefaultSchemaNamer(t, hint), "Struct {}", "Nothing") // such as EnvelopeNothing
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	// The package of a generic's argument stands in the generic's own name.
	owner := modulePath.FindStringSubmatch(t.PkgPath() + " " + t.Name())
	if owner == nil {
		return name
	}
	return strings.ToUpper(owner[1][:1]) + owner[1][1:] + name
}
