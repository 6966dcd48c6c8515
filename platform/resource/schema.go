package resource

import (
	"maps"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/httpapi"
	"marquee/platform/openapi"
	"marquee/platform/query"
)

// ListDoc documents GET: parameters and envelope.
func (v *View) ListDoc() []httpapi.Option {
	return append(v.ParamsDoc(),
		httpapi.Summary("List "+v.resource.def.Name), httpapi.ResponseSchema(v.EnvelopeSchema()))
}

// ParamsDoc documents the parameters of a GET whose handler makes more of the page than the view's documents.
func (v *View) ParamsDoc() []httpapi.Option {
	d := v.resource.def
	return []httpapi.Option{
		httpapi.Parameters(listParams(d.PageSize, d.DefaultSort)...), httpapi.Metadata(viewKey, v),
	}
}

func listParams(pageSize int, order string) []*huma.Param {
	return []*huma.Param{
		textParam(paramID, "24 hexadecimal digits: that record alone; wins over the others"),
		textParam(paramQuery, "JSON filter in the manner of MongoDB's find, such as {\"enable\":true}"),
		textParam(paramSort, "JSON sort, such as {\"title\":1}; default "+order),
		numberParam(paramPageSize, "Documents a page", pageSize, 1, query.MaxPageSize),
		numberParam(paramCurrentPage, "Zero-based page", 0, 0, query.MaxPage),
		textParam(paramRange, "(start, end), zero-based, end exclusive; replaces the page unless (0, 0)"),
	}
}

// CreateDoc documents POST.
func (r *Resource) CreateDoc() []httpapi.Option {
	return r.writeDoc("Create "+r.def.Name, r.bodySchema(true))
}

// UpdateDoc documents PUT.
func (r *Resource) UpdateDoc() []httpapi.Option {
	return r.UpdateDocWith(nil)
}

// UpdateDocWith documents a PUT whose records take more than the resource's fields.
func (r *Resource) UpdateDocWith(more map[string]*huma.Schema) []httpapi.Option {
	body := r.bodySchema(false)
	maps.Copy(body.Items.Properties, more)
	return r.writeDoc("Change the fields sent of "+r.def.Name, body)
}

// DeleteDoc documents DELETE.
func (r *Resource) DeleteDoc() []httpapi.Option {
	ids := &huma.Schema{
		Type: huma.TypeObject, Required: []string{idField},
		Properties: map[string]*huma.Schema{idField: {Type: huma.TypeString, Pattern: oidPattern}},
	}
	return append(r.writeDoc("Delete "+r.def.Name, arrayOf(named("RecordID", ids))),
		httpapi.Parameters(textParam(paramID, "Record to delete; else send a body")))
}

func (r *Resource) writeDoc(summary string, body *huma.Schema) []httpapi.Option {
	return []httpapi.Option{
		httpapi.Summary(summary), httpapi.BodySchema(body), httpapi.ResponseSchema(r.EnvelopeSchema()),
	}
}

const oidPattern = "^[0-9a-fA-F]{24}$"

// EnvelopeSchema is the answer's schema.
func (v *View) EnvelopeSchema() *huma.Schema {
	return named(v.name()+"Envelope", envelopeSchema(v.DocumentSchema()))
}

func envelopeSchema(document *huma.Schema) *huma.Schema {
	return object(map[string]*huma.Schema{
		"docs":       {Type: huma.TypeArray, Items: document},
		"links":      httpapi.LinksSchema(),
		"msg":        {Type: huma.TypeString},
		"pagination": httpapi.PaginationSchema(),
		"info":       httpapi.NoInfo(),
	}, "docs", "links", "msg", "pagination", "info")
}

// name is that of a document in OpenAPI, such as Video; what leaves fields out has one of its own.
func (v *View) name() string {
	var name strings.Builder
	if len(v.fields) < len(v.resource.View.fields) {
		name.WriteString("Public")
	}
	if v.resource.def.Schema != "" {
		return name.String() + v.resource.def.Schema
	}
	for word := range strings.FieldsSeq(strings.ReplaceAll(v.resource.def.Singular, "-", " ")) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

// named gives a schema its name in the published document.
func named(name string, s *huma.Schema) *huma.Schema {
	s.Extensions = map[string]any{openapi.NameKey: name}
	return s
}

// DocumentSchema is the schema of one document as this view shows it.
func (v *View) DocumentSchema() *huma.Schema {
	s := named(v.name(), object(map[string]*huma.Schema{}))
	for _, f := range v.fields {
		s.Properties[f.Name] = f.schema(false)
		if !f.WhenSet {
			s.Required = append(s.Required, f.Name)
		}
	}
	return s
}

// bodySchema is the array that POST (create) or PUT takes. Fields that the
// service keeps are accepted and ignored, but for a PUT's register_update_date, which
// has to be the record's; so are Privileged ones of a PUT, unchanged.
func (r *Resource) bodySchema(create bool) *huma.Schema {
	s := object(map[string]*huma.Schema{})
	for _, f := range r.all {
		if create && f.Write == Privileged {
			continue
		}
		s.Properties[f.Name] = f.schema(true)
		if create && f.writable() && f.Rule.Required {
			s.Required = append(s.Required, f.Name)
		}
	}
	if !create {
		s.Properties[idField].ReadOnly = false
		s.Properties[updateDate].ReadOnly = false
		s.Properties[updateDate].Description = "As the record was read: 409 where it was changed since, with who and when"
		s.Required = []string{idField}
		return arrayOf(named(r.name()+"Update", s))
	}
	return arrayOf(named(r.name()+"Create", s))
}

// schema is the field's value. body says that it is sent, not shown.
func (f *Field) schema(body bool) *huma.Schema {
	rule := f.Rule
	if !body {
		rule.Pattern = "" // what is shown may have been written before the rule, or by the platform itself
	}
	s := rule.schema(f.Kind)
	if f.Array {
		limit := f.Rule.MaxItems
		s = &huma.Schema{Type: huma.TypeArray, Items: s, MaxItems: &limit}
	}
	s.Description = f.Doc
	s.Nullable = f.mayBeNull() && (body || !f.WhenSet) && s.Type != ""
	s.ReadOnly = !f.writable()
	s.WriteOnly = f.Secret
	if body && !f.Rule.Required && f.Rule.Default != nil {
		s.Default = f.Rule.Default
	}
	return s
}

func (r Rule) schema(kind query.Kind) *huma.Schema {
	switch kind {
	case query.OID:
		return &huma.Schema{Type: huma.TypeString, Pattern: oidPattern}
	case query.Int:
		return &huma.Schema{Type: huma.TypeInteger, Minimum: scaled(r.Min, 1), Maximum: scaled(r.Max, 1)}
	case query.Number:
		return &huma.Schema{Type: huma.TypeNumber, Minimum: scaled(r.Min, 1), Maximum: scaled(r.Max, 1)}
	case query.Cents:
		return &huma.Schema{Type: huma.TypeNumber, Minimum: scaled(r.Min, 100), Maximum: scaled(r.Max, 100)}
	case query.Bool:
		return &huma.Schema{Type: huma.TypeBoolean}
	case query.Date:
		return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
	case query.JSON:
		return &huma.Schema{}
	}
	s := &huma.Schema{Type: huma.TypeString, Pattern: r.Pattern, Format: r.Format}
	if r.MinLength > 0 {
		s.MinLength = &r.MinLength
	}
	if r.MaxLength > 0 {
		s.MaxLength = &r.MaxLength
	}
	for _, value := range r.Enum {
		s.Enum = append(s.Enum, value)
	}
	return s
}

func scaled(n *int64, by float64) *float64 {
	if n == nil {
		return nil
	}
	x := float64(*n) / by
	return &x
}

func object(properties map[string]*huma.Schema, required ...string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Properties: properties, Required: required, AdditionalProperties: false}
}

func arrayOf(items *huma.Schema) *huma.Schema {
	least, most := 1, maxObjects
	return &huma.Schema{Type: huma.TypeArray, Items: items, MinItems: &least, MaxItems: &most}
}

func textParam(name, doc string) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
}

func numberParam(name, doc string, def, low, high int) *huma.Param {
	least, most := float64(low), float64(high)
	return &huma.Param{
		Name: name, In: "query", Description: doc,
		Schema: &huma.Schema{Type: huma.TypeInteger, Default: def, Minimum: &least, Maximum: &most},
	}
}
