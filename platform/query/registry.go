package query

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Validate reports what would make a registry unsafe or wrong: a hidden name, an
// expression with a placeholder, an array that may be NULL, a missing `_id`, a default
// sort that does not compile. It is for the test that walks every registry.
func (c *Collection) Validate() error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(c.Fields)) {
		if fault := c.Fields[name].fault(name); fault != "" {
			faults = append(faults, fmt.Errorf("field %q: %s", name, fault))
		}
	}
	if id, ok := c.Fields["_id"]; !ok || id.Kind != OID || id.Array || id.mayBeNull() {
		faults = append(faults, errors.New("_id has to be an id that is never null"))
	}
	if _, err := CompileSort(c, "", 1); err != nil {
		faults = append(faults, fmt.Errorf("default sort: %w", err))
	}
	return errors.Join(faults...)
}

// hiddenName matches the names that no registry may show (docs/contract/filters.md, The one rule).
var hiddenName = regexp.MustCompile(`^password|_hash$|_code_|_attempts$|_token$`)

// publicNames match hiddenName and are in the contract's table all the same.
var publicNames = []string{"password_reset_required", "promo_code_used", "promo_code_id", "children_code_ids"}

func (f Field) fault(name string) string {
	_, castable := casts[f.Kind]
	_, pathErr := parsePath(name, root(ParamQuery))
	hidden := slices.ContainsFunc(strings.Split(name, "."), func(segment string) bool {
		return hiddenName.MatchString(segment) && !slices.Contains(publicNames, segment)
	})
	switch {
	case hidden:
		return "the name is one that must stay hidden"
	case pathErr != nil:
		return "the name is no path"
	case f.Kind != JSON && !castable:
		return "unknown kind"
	case f.Expr == "" || strings.ContainsAny(f.Expr, "$;"):
		return "the expression is empty, or holds a placeholder or a semicolon"
	case f.Array && (f.Kind == JSON || f.Nullable || f.Presence == WhenSet):
		return "an array holds scalars and is never null"
	case len(f.OIDPaths) > 0 && f.Kind != JSON:
		return "only jsonb has paths below it"
	}
	return ""
}

// parsePath splits a dotted path into its segments and checks them (docs/contract/filters.md, Paths).
func parsePath(key string, at *place) ([]string, error) {
	if len(key) > MaxPathBytes {
		return nil, at.errorf("is too long")
	}
	segments := strings.Split(key, ".")
	if len(segments) > MaxPathSegments {
		return nil, at.errorf("is nested too deeply")
	}
	for _, s := range segments {
		if s == "" || s[0] == '$' {
			return nil, at.errorf("is not a field path")
		}
	}
	return segments, nil
}

// isPosition reports whether a segment counts the elements of a list: 0, 1, 2 …
func isPosition(segment string) bool {
	return allDigits(segment) && (len(segment) == 1 || segment[0] != '0')
}
