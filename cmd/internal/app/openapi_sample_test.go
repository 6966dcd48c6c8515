package app_test

import (
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/httpapi"
)

// operation is the route's place in the OpenAPI document; nil when it has none.
func operation(a *platformtest.Platform, r httpapi.RouteInfo) *huma.Operation {
	item := a.API().OpenAPI().Paths[r.Path]
	if item == nil {
		return nil
	}
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodDelete: item.Delete,
	}[r.Method]
}

// jsonBody is the schema of the route's JSON body; nil when it takes none.
func jsonBody(a *platformtest.Platform, r httpapi.RouteInfo) *huma.Schema {
	op := operation(a, r)
	if op == nil || op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
		return nil
	}
	return op.RequestBody.Content["application/json"].Schema
}

// sampleBody is a plausible body of the route that names the id wherever an id may
// stand; nil when the route takes none.
func sampleBody(a *platformtest.Platform, r httpapi.RouteInfo, id string) any {
	schema := jsonBody(a, r)
	if schema == nil {
		return nil
	}
	return sample(a.API().OpenAPI().Components.Schemas, schema, "", id)
}

// samples are values that fit the forms which schemas describe by a pattern.
var samples = map[string]any{
	"email": "sample@example.com", "phone": "+5511987654321", "tax_id": "11144477735", "code": "SAMPLE",
	"username": "sample_user", "password": "a long enough sample", "new_password": "another long sample",
	"current_password": "a long enough sample", "language": "pt", "color": "#aabbcc", "plan_id": "plus",
	"slug": "sample", "client_version": "1.0.0", "version": "1.0.0", "min_version": "1.0.0",
}

// nextMonth is an instant to come.
var nextMonth = time.Now().UTC().AddDate(0, 1, 0).Format(time.RFC3339)

// mailedCode is the pattern of the codes that are mailed; events and promotions
// have a code too.
const mailedCode = "^[0-9]{6}$"

// sample makes a value of the schema with all its properties.
func sample(registry huma.Registry, s *huma.Schema, name, id string) any {
	if s == nil {
		return id
	}
	if s.Ref != "" {
		s = registry.SchemaFromRef(s.Ref)
	}
	if v, known := samples[name]; known && s.Type != huma.TypeObject && s.Pattern != mailedCode {
		return v
	}
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	for _, one := range [][]*huma.Schema{s.OneOf, s.AnyOf} {
		if len(one) > 0 {
			return sample(registry, one[0], name, id)
		}
	}
	switch s.Type {
	case huma.TypeObject:
		all := map[string]any{}
		for property, schema := range s.Properties {
			all[property] = sample(registry, schema, property, id)
		}
		return all
	case huma.TypeArray:
		return []any{sample(registry, s.Items, strings.TrimSuffix(name, "s"), id)}
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case huma.TypeBoolean:
		return true
	}
	return text(s, name, id)
}

func text(s *huma.Schema, name, id string) string {
	switch {
	case s.Pattern == mailedCode:
		return "123456"
	case name == "id" || strings.HasSuffix(name, "_id") || strings.Contains(s.Pattern, "24"):
		return id
	case s.Format == "date-time" || strings.Contains(name, "date"):
		return nextMonth
	case s.MinLength != nil && *s.MinLength > 6:
		return strings.Repeat("s", *s.MinLength)
	}
	return "sample"
}
