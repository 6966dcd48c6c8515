package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// document is the binary's own OpenAPI.
type document struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Name, In string
			Required bool
		}
		RequestBody *struct {
			Content map[string]struct{ Schema *schema }
		} `json:"requestBody"`
		Responses map[string]struct{ Content map[string]any }
	}
	Components struct{ Schemas map[string]*schema }
}

type schema struct {
	Ref        string `json:"$ref"`
	Type       any
	Properties map[string]*schema
	Required   []string
	Items      *schema
	Enum       []any
	OneOf      []*schema `json:"oneOf"`
	AnyOf      []*schema `json:"anyOf"`
	Minimum    *float64
	MinLength  *int `json:"minLength"`
	Pattern    string
	Format     string
}

// nobodys is an id that nothing has.
const nobodys = "66f0a1b2c3d4e5f607182a01"

// matrix asks every route as everybody, with what is right and what isn't.
type matrix struct {
	*recorder

	callers map[string]*person // by what they are, such as root; nobody is none of them
	ids     map[string]string  // what paths name, by the path's beginning or the parameter's name
}

func (m matrix) play() {
	a := m.get(nil, "/openapi.json")
	raw, _ := json.Marshal(a.Body)
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		m.err = fmt.Errorf("openapi.json: %w", err)
		return
	}
	routes, err := m.routes()
	if err != nil {
		m.err = err
		return
	}
	sort.SliceStable(routes, func(i, j int) bool { return destroys(routes[i]) < destroys(routes[j]) })
	for i, r := range routes {
		if m.err != nil {
			return
		}
		if i%10 == 0 || destroys(r) > 0 { // mails to who is deleted are not sent any more
			m.settle() // compares the clocks, too
		}
		switch {
		case strings.HasPrefix(r.path, "/webhooks/"):
		case doc.streams(r):
			m.do(nil, r.method, fill(strings.TrimPrefix(r.path, "/api/v1"), nil), nil)
		default:
			m.everybody(doc, r)
		}
	}
}

// streams reports whether a route answers for as long as something may change. Nobody alone asks it: the tests of its
// events stand in cmd/internal/app.
func (d document) streams(r route) bool {
	_, is := d.Paths[r.path][strings.ToLower(r.method)].Responses["200"].Content["text/event-stream"]
	return is
}

// destroys tells routes after which a caller is no more, which come last.
func destroys(r route) int {
	switch r.method + " " + strings.TrimPrefix(r.path, "/api/v1") {
	case "DELETE /customers/me":
		return 2
	case "POST /auth/change-password", "POST /customers/me/change-email":
		return 1
	}
	return 0
}

func (m matrix) everybody(doc document, r route) {
	path := strings.TrimPrefix(r.path, "/api/v1")
	known, unknown, malformed := fill(path, m.ids), fill(path, nil), pathPart.ReplaceAllString(path, "no-id")
	operation := doc.Paths[r.path][strings.ToLower(r.method)]
	var body any
	multi := false
	if operation.RequestBody != nil {
		for kind, content := range operation.RequestBody.Content {
			multi = multi || strings.HasPrefix(kind, "multipart/")
			if kind == "application/json" {
				body = doc.sample(content.Schema, "", m.ids, 0)
			}
		}
	}
	text := func(v any) any {
		if v == nil {
			return nil
		}
		raw, _ := json.Marshal(v)
		return string(raw)
	}
	more := func(more *request) {
		if multi {
			upload("note.txt", []byte("a note"))(more)
		}
	}
	// Those who may not come first: what they leave behind is nothing.
	for _, name := range []string{"nobody", "customer", "subscriber", "clerk", "root"} {
		where := unknown
		if name != "root" || r.method == "GET" {
			where = known
		}
		m.do(m.callers[name], r.method, where, text(body), more)
	}
	right := []*person{m.callers["root"], m.callers["subscriber"]}
	for _, who := range right {
		if r.method == "GET" {
			m.do(who, "HEAD", known, nil)
		}
		if where := malformed; where != path {
			m.do(who, r.method, where, text(body), more)
			m.do(who, r.method, unknown, text(body), more)
		}
		if body != nil {
			m.spoil(who, r.method, unknown, body)
		}
	}
	for _, p := range operation.Parameters {
		if p.In == "query" {
			m.misask(right, r.method, known, p.Name)
		}
	}
	if r.method == "GET" {
		m.do(m.callers["root"], "GET", known, nil, requesting("unheard_of", "1"))
	}
	m.do(m.callers["root"], map[bool]string{true: "PATCH", false: "OPTIONS"}[r.method == "GET"], known, nil)
}

// spoil sends a body that was right in the ways in which bodies are wrong.
func (m matrix) spoil(who *person, method, path string, body any) {
	m.do(who, method, path, "{")
	m.do(who, method, path, "null")
	m.do(who, method, path, "[]")
	m.do(who, method, path, "{}")
	raw, _ := json.Marshal(body)
	m.do(who, method, path, string(raw), header("Content-Type", "text/plain"))
	first := func(body any) object {
		var copied any
		_ = json.Unmarshal(raw, &copied)
		if list, ok := copied.([]any); ok && len(list) > 0 {
			copied = list[0]
		}
		o, _ := copied.(object)
		return o
	}
	again := func(o object) any {
		if _, ok := body.([]any); ok {
			return []any{o}
		}
		return o
	}
	o := first(body)
	if o == nil {
		return
	}
	o["unheard_of"] = 1
	m.do(who, method, path, again(o))
	for _, k := range sortedKeys(first(body)) {
		o := first(body)
		if _, number := o[k].(float64); number {
			o[k] = "a text"
		} else {
			o[k] = 12.5
		}
		m.do(who, method, path, again(o))
	}
}

// misask gives a parameter of a query values that it takes and some that it does not.
func (m matrix) misask(who []*person, method, path, name string) {
	values := map[string][]string{
		"query": {
			"{", `{"_id":"` + nobodys + `"}`, `{"unheard_of":1}`, `{"$where":"1"}`,
			`{"register_date":{"$gte":"2031-03-01T00:00:00Z"}}`,
		},
		"sort":          {"x", `{"_id":-1}`, `{"register_date":1}`, `{"unheard_of":1}`},
		"qty_docs_page": {"0", "2", "-1", "x", "100000"},
		"current_page":  {"1", "-1", "x"},
		"docs_range":    {"0,1", "x"},
		"_id":           {nobodys, "x"},
		"format":        {"json", "xlsx", "csv", "x"},
		"months":        {"0", "3", "x", "1000"},
		"limit":         {"1", "0", "x"},
		"page":          {"1", "0", "x"},
		"start":         {"2031-03-01", "x"},
		"end":           {"2031-03-31", "2031-02-30"},
		"token":         {"x"},
	}[name]
	if values == nil {
		values = []string{"", "x"}
	}
	for _, v := range values {
		m.do(who[0], method, path, nil, requesting(name, v))
	}
	m.do(who[1], method, path, nil, requesting(name, values[0]))
}

// fill puts ids into a path, of what there is or of nothing.
func fill(path string, ids map[string]string) string {
	return pathPart.ReplaceAllStringFunc(path, func(part string) string {
		name := strings.Trim(part, "{}")
		if name == "collection_name" {
			return "videos"
		}
		for _, place := range []string{path + "#" + name, name} {
			if id := ids[place]; id != "" {
				return id
			}
		}
		for _, prefix := range sortedKeys(ids) {
			if ids != nil && strings.HasPrefix(prefix, "/") && strings.HasPrefix(path, prefix) && ids[prefix] != "" {
				return ids[prefix]
			}
		}
		if name == "plan_id" {
			return "no-plan"
		}
		return nobodys
	})
}

// sample is a body that fits its schema.
func (d document) sample(s *schema, name string, ids map[string]string, depth int) any {
	if s == nil || depth > 5 {
		return nil
	}
	if s.Ref != "" {
		parts := strings.Split(s.Ref, "/")
		return d.sample(d.Components.Schemas[parts[len(parts)-1]], name, ids, depth+1)
	}
	for _, one := range append(s.OneOf, s.AnyOf...) {
		return d.sample(one, name, ids, depth+1)
	}
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	kind, _ := s.Type.(string)
	if kinds, ok := s.Type.([]any); ok && len(kinds) > 0 {
		kind, _ = kinds[0].(string)
	}
	switch kind {
	case "array":
		return []any{d.sample(s.Items, strings.TrimSuffix(name, "s"), ids, depth+1)}
	case "object", "":
		if len(s.Properties) == 0 {
			return object{}
		}
		o := object{}
		for _, k := range s.Required {
			if k != "$schema" {
				o[k] = d.sample(s.Properties[k], k, ids, depth+1)
			}
		}
		return o
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case "boolean":
		return true
	}
	return sampleText(s, name)
}

func sampleText(s *schema, name string) string {
	switch {
	case s.Pattern == "^[0-9]{6}$":
		return "000000"
	case name == "plan_id":
		return "no-plan"
	case name == "_id" || strings.HasSuffix(name, "_id") && strings.Contains(s.Pattern, "24"),
		strings.Contains(s.Pattern, "{24}"):
		return nobodys
	case s.Format == "date-time" || strings.Contains(name, "date") || strings.HasSuffix(name, "_at"):
		return "2031-06-02T03:04:05Z"
	case strings.Contains(name, "email"):
		return "sample@example.com"
	case strings.Contains(name, "slug"):
		return "sample"
	case name == "phone":
		return "+5511987654321"
	case name == "tax_id" || name == "cpfCnpj":
		return "52998224725"
	case s.MinLength != nil && *s.MinLength > 6:
		return strings.Repeat("s", *s.MinLength)
	}
	return "sample"
}
