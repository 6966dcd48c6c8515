package query

import "strings"

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
