package resource

import (
	"slices"
	"strings"

	"marquee/platform/query"
)

// View is what one kind of caller sees of a resource.
type View struct {
	resource *Resource
	base     string // conditions of the server, constant SQL over t
	fields   []Field
	registry *query.Collection
	document string // SQL expression that yields the JSON text of one row
	sort     query.Sort
}

// Restrict narrows the resource: base is a constant SQL condition over the row t
// ("" for none), omit names fields that are neither shown nor filterable nor
// sortable, as if no document had them.
func (r *Resource) Restrict(base string, omit ...string) *View { return r.newView(base, omit...) }

func (r *Resource) newView(base string, omit ...string) *View {
	v := &View{
		resource: r, base: allOf(r.def.Base, base),
		registry: &query.Collection{Fields: map[string]query.Field{}, DefaultSort: r.def.DefaultSort},
	}
	for _, name := range omit {
		if r.named[name] == nil || name == idField {
			panic("collection " + r.def.Name + ": no field " + name + " to leave out")
		}
	}
	for _, f := range r.all {
		if f.Secret || slices.Contains(omit, f.Name) {
			continue
		}
		v.fields = append(v.fields, f)
		v.registry.Fields[f.Name] = f.registered()
	}
	v.document = documentSQL(v.fields)
	var err error
	if v.sort, err = query.CompileSort(v.registry, "", 1); err != nil {
		panic("collection " + r.def.Name + ": default sort: " + err.Error())
	}
	return v
}

// Document is the SQL expression over the view's FROM clause that yields the
// JSON text of one row.
func (v *View) Document() string { return v.document }

// where is the view's base condition and a further one, each on its own, so that
// no OR in one reaches into the other.
func (v *View) where(condition string) string { return allOf(v.base, condition) }

func allOf(conditions ...string) string {
	var given []string
	for _, c := range conditions {
		if c != "" {
			given = append(given, "("+c+")")
		}
	}
	return strings.Join(given, " AND ")
}

// documentSQL builds the JSON object by concatenation: keys stay in the
// descriptor's order, money and instants get the API's form, and WhenSet fields
// vanish while null, since concat reads NULL as nothing. It is nested because a
// Postgres function takes at most 100 arguments.
func documentSQL(fields []Field) string {
	const group = 30
	var parts []string
	for start := 0; start < len(fields); start += group {
		chunk := fields[start:min(start+group, len(fields))]
		var args []string
		for i, f := range chunk {
			args = append(args, fieldSQL(f, start+i == 0)...)
		}
		parts = append(parts, "concat("+strings.Join(args, ", ")+")")
	}
	return "concat(" + strings.Join(append(parts, "'}'"), ", ") + ")"
}

func fieldSQL(f Field, first bool) []string {
	opening := ","
	if first {
		opening = "{"
	}
	key := "'" + opening + `"` + f.Name + `":'`
	value := valueSQL(f)
	switch {
	case f.WhenSet:
		return []string{key + " || " + value}
	case f.Nullable:
		return []string{key, "coalesce(" + value + ", 'null')"}
	}
	return []string{key, value}
}

// valueSQL is the JSON text of one value, NULL when it is null.
func valueSQL(f Field) string {
	if f.Array {
		return "to_json(" + f.Expr + ")::text"
	}
	switch f.Kind {
	case query.String:
		return "to_json(" + f.Expr + ")::text"
	case query.OID:
		return `'"' || ` + f.Expr + ` || '"'`
	case query.Date:
		return `'"' || platform.json_time(` + f.Expr + `) || '"'`
	case query.Cents:
		return "round(" + f.Expr + " / 100.0, 2)::text"
	default:
		return f.Expr + "::text"
	}
}
