package resource

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

// CheckBulk is 422 with all that is wrong with fields that the PUT of the list at a path is to write to many records:
// those that it would refuse or ignore, what the fields alone are for, and single, which belong to one record each. At
// leads to the fields in the request. A path that is no list is the program's error.
func CheckBulk(api *httpapi.API, path string, fields map[string]json.RawMessage, single []string, at ...any) error {
	v := viewOf(api, path)
	if v == nil {
		return fmt.Errorf("no list is at %s", path)
	}
	var issues []fault.Issue
	add := func(kind, says, name string, within ...any) {
		loc := append(slices.Clone(at), shortened(name))
		issues = append(issues, fault.IssueAt(kind, says, append(loc, within...)...))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f := v.resource.named[name]
		switch {
		case f == nil:
			add("extra_forbidden", unknownField, name)
		case !f.bulky(single):
			add("forbidden", "may not be set in bulk", name)
		default:
			if _, problem, within := f.value(fields[name]); problem != "" {
				add("value_error", problem, name, within...)
			}
		}
	}
	if len(issues) == 0 {
		return nil
	}
	return fault.Invalid(issues[:min(len(issues), maxIssues)]...)
}

// TakesInBulk reports whether CheckBulk takes a field of the name.
func TakesInBulk(api *httpapi.API, path, name string, single []string) bool {
	v := viewOf(api, path)
	return v != nil && v.resource.named[name] != nil && v.resource.named[name].bulky(single)
}

func (f *Field) bulky(single []string) bool {
	return f.Write == Client && !f.Secret && !slices.Contains(single, f.Name)
}
