package openapi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

const schemasPlace = "#/components/schemas/"

// named returns a schema with a reference in the place of each object in it that has a name, and
// of itself if it is an object, or a choice, and is to have one by default.
func (d *document) named(schema any, name string) any {
	s, ok := schema.(object)
	if !ok {
		return schema
	}
	for _, inner := range []string{"items", "additionalProperties", "not"} {
		if s[inner] != nil {
			s[inner] = d.named(s[inner], "")
		}
	}
	for _, inner := range []string{"oneOf", "anyOf", "allOf"} {
		for i, one := range list(s[inner]) {
			list(s[inner])[i] = d.named(one, "")
		}
	}
	if properties, ok := s["properties"].(object); ok {
		for key, property := range properties {
			properties[key] = d.named(property, "")
		}
	}
	own, _ := s[NameKey].(string)
	delete(s, NameKey)
	switch {
	case own != "":
		return d.component(own, s)
	case name != "" && (s["properties"] != nil || s["oneOf"] != nil):
		return d.component(name, s)
	}
	return s
}

// component keeps a schema under its name and returns the reference to it. What a type stood for
// under the name gives way: it lacks what the operations that share it have in common.
func (d *document) component(name string, s object) any {
	found, taken := d.inlined[name]
	switch {
	case taken && !reflect.DeepEqual(found, s):
		d.errs = append(d.errs, fmt.Errorf("two schemas have the name %s", name))
	case !taken:
		d.inlined[name], d.schemas[name] = s, s
	}
	return object{"$ref": schemasPlace + name}
}

// dropUnused leaves the components out that nothing refers to.
func (d *document) dropUnused() {
	used := map[string]bool{}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				visit(one)
			}
		case object:
			if ref, ok := v["$ref"].(string); ok {
				if name, isSchema := strings.CutPrefix(ref, schemasPlace); isSchema && !used[name] {
					used[name] = true
					visit(d.schemas[name])
				}
			}
			for _, one := range v {
				visit(one)
			}
		}
	}
	visit(d.root["paths"])
	visit(member(member(d.root, "components"), "responses"))
	for name := range d.schemas {
		if !used[name] {
			delete(d.schemas, name)
		}
	}
}

// spell gives what only this API knows the form of an extension, and the default of a member that may be left out:
// generators take one with a default for one that is always there, which is so of no body that is sent.
func spell(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			spell(one)
		}
	case object:
		if means, ok := v["patternDescription"].(string); ok {
			delete(v, "patternDescription")
			v["x-pattern-description"] = means
		}
		properties, _ := v["properties"].(object)
		for name, property := range properties {
			property, ok := property.(object)
			if !ok || property["default"] == nil || slices.Contains(list(v["required"]), any(name)) {
				continue
			}
			property["x-default"] = property["default"]
			delete(property, "default")
		}
		for _, one := range v {
			spell(one)
		}
	}
}

// camel is an operation's id as the beginning of a schema's name: VideoList of video_list.
func camel(id string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(id, "_") {
		if word != "" {
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return name.String()
}
