package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// document is what the tests read of an OpenAPI document.
type document struct {
	Paths      map[string]map[string]operationDoc
	Tags       []struct{ Name, Description string }
	Components struct{ Schemas map[string]*schemaDoc }
}

type operationDoc struct {
	ID          string `json:"operationId"`
	Auth        string `json:"x-auth"`
	Summary     string
	Description string
	Tags        []string
	Security    []any
	Parameters  []struct {
		Name, In string
		Required bool
		Schema   *schemaDoc
	}
	RequestBody *struct {
		Required bool
		Content  map[string]mediaDoc
	}
	Responses map[string]response
}

type response struct {
	Ref     string `json:"$ref"`
	Content map[string]mediaDoc
}

type mediaDoc struct {
	Schema   *schemaDoc
	Example  json.RawMessage
	Examples map[string]struct{ Summary, Value string }
}

type schemaDoc struct {
	Ref        string `json:"$ref"`
	Type       any
	Format     string
	Enum       []any
	Properties map[string]*schemaDoc
	Required   []string
	Items      *schemaDoc
	OneOf      []*schemaDoc
}

type describedAt struct {
	method, path string
	operation    operationDoc
}

// operations are all, in the order of their ids.
func (d document) operations() []describedAt {
	var all []describedAt
	for path, item := range d.Paths {
		for method, op := range item {
			all = append(all, describedAt{strings.ToUpper(method), path, op})
		}
	}
	slices.SortFunc(all, func(x, y describedAt) int { return strings.Compare(x.operation.ID, y.operation.ID) })
	return all
}

// contract is a line for each operation, parameter and member of a body: "?" behind a name that may be missing,
// "| null" behind a type that may be null.
func (d document) contract() string {
	var out strings.Builder
	for _, at := range d.operations() {
		op := at.operation
		fmt.Fprintf(&out, "%s %s %s %s\n", op.ID, at.method, at.path, op.Auth)
		for _, p := range op.Parameters {
			fmt.Fprintf(&out, "  %s %s%s %s\n", p.In, p.Name, optional(p.Required), d.typeOf(p.Schema))
		}
		if op.RequestBody != nil {
			for _, mediaType := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
				fmt.Fprintf(&out, "  takes%s %s\n", optional(op.RequestBody.Required), mediaType)
				d.members(&out, "    ", op.RequestBody.Content[mediaType].Schema, nil)
			}
		}
		for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
			if strings.HasPrefix(status, "2") || strings.HasPrefix(status, "3") {
				for _, mediaType := range slices.Sorted(maps.Keys(op.Responses[status].Content)) {
					fmt.Fprintf(&out, "  %s %s\n", status, mediaType)
					d.members(&out, "    ", op.Responses[status].Content[mediaType].Schema, nil)
				}
			}
		}
	}
	return out.String()
}

func optional(required bool) string {
	if required {
		return ""
	}
	return "?"
}

// members writes a schema's members, each below what it is a member of.
func (d document) members(out *strings.Builder, indent string, s *schemaDoc, within []string) {
	if s.Ref != "" {
		if slices.Contains(within, s.Ref) {
			return
		}
		within = append(within, s.Ref)
		s = d.resolved(s)
	}
	for i, choice := range s.OneOf {
		fmt.Fprintf(out, "%schoice %d %s\n", indent, i, d.typeOf(choice))
		d.members(out, indent+"  ", choice, within)
	}
	if s.Items != nil {
		d.members(out, indent, s.Items, within)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		fmt.Fprintf(out, "%s%s%s %s\n", indent, name, optional(slices.Contains(s.Required, name)),
			d.typeOf(s.Properties[name]))
		d.members(out, indent+"  ", s.Properties[name], within)
	}
}

func (d document) resolved(s *schemaDoc) *schemaDoc {
	if s.Ref == "" {
		return s
	}
	return d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
}

func (d document) typeOf(s *schemaDoc) string {
	s = d.resolved(s)
	var text string
	switch t := s.Type.(type) {
	case string:
		text = t
	case []any:
		for i, one := range t {
			if i > 0 {
				text += " | "
			}
			text += fmt.Sprint(one)
		}
	case nil:
		text = "any"
		if len(s.OneOf) > 0 {
			text = "choice"
		}
	}
	if s.Items != nil {
		text += " of " + d.typeOf(s.Items)
	}
	if len(s.Enum) > 0 {
		text += fmt.Sprintf(" %v", s.Enum)
	}
	return strings.TrimSpace(text + " " + s.Format)
}
