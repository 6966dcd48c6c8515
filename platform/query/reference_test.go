package query_test

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file is a small evaluator of MongoDB's find over documents in memory, written
// from the rules and not from the compiler: no SQL, no folding, no kinds. It decides by
// the value that a document holds. Filters are plain decoded JSON.

type (
	document map[string]any
	objectID string
	absence  struct{}
)

// candidates are the values that a path offers. With expand, an array at the end
// offers its elements too.
func candidates(v any, path []string, expand bool) []any {
	if len(path) == 0 {
		list, isList := v.([]any)
		if isList && expand {
			return append([]any{v}, list...)
		}
		return []any{v}
	}
	switch v := v.(type) {
	case document:
		child, ok := v[path[0]]
		if !ok {
			return []any{absence{}}
		}
		return candidates(child, path[1:], expand)
	case []any:
		var all []any
		for _, element := range v {
			if _, isDocument := element.(document); isDocument {
				all = append(all, candidates(element, path, expand)...)
			}
		}
		return all
	}
	return []any{absence{}}
}

// lookup is candidates with the departure for numbers (docs/contract/filters.md, Differences from MongoDB): up to the
// last number a path is literal. In an array of scalars nothing is past the end; in
// jsonb it is missing.
func lookup(v any, path []string, expand bool) []any {
	last := -1
	for i, segment := range path {
		if _, err := strconv.Atoi(segment); err == nil {
			last = i
		}
	}
	for i := 0; i <= last; i++ {
		switch inner := v.(type) {
		case document:
			child, ok := inner[path[i]]
			if !ok {
				return []any{absence{}}
			}
			v = child
		case []any:
			n, err := strconv.Atoi(path[i])
			if err != nil || n >= len(inner) {
				if path[0] != "doc" { // the one field in jsonb
					return nil
				}
				return []any{absence{}}
			}
			v = inner[n]
		default:
			return []any{absence{}}
		}
	}
	return candidates(v, path[last+1:], expand)
}

func matches(d any, filter map[string]any) bool {
	for key, operand := range filter {
		if !matchesKey(d, key, operand) {
			return false
		}
	}
	return true
}

func matchesKey(d any, key string, operand any) bool {
	member := func(f any) bool { return matches(d, f.(map[string]any)) }
	switch key {
	case "$and":
		return !slices.ContainsFunc(operand.([]any), func(f any) bool { return !member(f) })
	case "$or":
		return slices.ContainsFunc(operand.([]any), member)
	case "$nor":
		return !slices.ContainsFunc(operand.([]any), member)
	}
	path := strings.Split(key, ".")
	return matchesValue(func(expand bool) []any { return lookup(d, path, expand) }, operand)
}

// matchesValue applies an implicit equality or an operator object to what find offers.
func matchesValue(find func(expand bool) []any, operand any) bool {
	operators, ok := operand.(map[string]any)
	if !ok || !isOperatorObject(operators) {
		return slices.ContainsFunc(find(true), func(v any) bool { return equals(v, operand) })
	}
	for op, x := range operators {
		if op != "$options" && !matchesOperator(find, op, x, operators) {
			return false
		}
	}
	return true
}

func isOperatorObject(m map[string]any) bool {
	for key := range m {
		return strings.HasPrefix(key, "$") && key != "$oid" && key != "$date"
	}
	return false
}

func matchesOperator(find func(bool) []any, op string, x any, whole map[string]any) bool {
	anyOf := func(test func(v any) bool) bool { return slices.ContainsFunc(find(true), test) }
	equal := func(x any) bool { return anyOf(func(v any) bool { return equals(v, x) }) }
	switch op {
	case "$eq":
		return equal(x)
	case "$ne":
		return !equal(x)
	case "$in":
		return slices.ContainsFunc(x.([]any), func(x any) bool { return matchesValue(find, x) })
	case "$nin":
		return !slices.ContainsFunc(x.([]any), func(x any) bool { return matchesValue(find, x) })
	case "$all":
		return len(x.([]any)) > 0 &&
			!slices.ContainsFunc(x.([]any), func(x any) bool { return !matchesValue(find, x) })
	case "$gt", "$gte", "$lt", "$lte":
		return anyOf(func(v any) bool { return inRange(v, op, x) })
	case "$exists":
		return x.(bool) == slices.ContainsFunc(find(false), func(v any) bool { return v != absence{} })
	case "$not":
		return !matchesValue(find, x)
	case "$regex":
		flags, _ := whole["$options"].(string)
		re := compiled("(?" + flags + ":" + x.(string) + ")")
		return anyOf(func(v any) bool { s, ok := v.(string); return ok && re.MatchString(s) })
	case "$mod":
		d, r := x.([]any)[0].(float64), x.([]any)[1].(float64)
		return anyOf(func(v any) bool { n, ok := v.(float64); return ok && math.Mod(math.Trunc(n), d) == r })
	case "$type":
		return anyOf(func(v any) bool { return typeOf(v) == x || typeOf(v) != "" && x == "number" && isNumber(v) })
	case "$size":
		return slices.ContainsFunc(find(false), func(v any) bool {
			list, ok := v.([]any)
			return ok && float64(len(list)) == x
		})
	case "$elemMatch":
		return slices.ContainsFunc(find(false), func(v any) bool {
			list, _ := v.([]any)
			return slices.ContainsFunc(list, func(e any) bool { return matchesElement(e, x.(map[string]any)) })
		})
	}
	panic(op)
}

var compiledPatterns sync.Map // pattern to *regexp.Regexp: a filter meets every document

func compiled(pattern string) *regexp.Regexp {
	if re, ok := compiledPatterns.Load(pattern); ok {
		return re.(*regexp.Regexp)
	}
	re := regexp.MustCompile(pattern)
	compiledPatterns.Store(pattern, re)
	return re
}

func matchesElement(element any, x map[string]any) bool {
	if isOperatorObject(x) {
		return matchesValue(func(bool) []any { return []any{element} }, x)
	}
	switch e := element.(type) {
	case document:
		return matches(e, x)
	case []any: // a list among the elements is a document of its positions
		d := document{}
		for i, v := range e {
			d[strconv.Itoa(i)] = v
		}
		return matches(d, x)
	}
	return false
}

// operandFor reads a client's value in the bracket of the stored one.
func operandFor(stored, x any) any {
	if wrapped, ok := x.(map[string]any); ok {
		if id, ok := wrapped["$oid"].(string); ok {
			return objectID(strings.ToLower(id))
		}
	}
	text, isText := x.(string)
	switch stored.(type) {
	case objectID:
		if isText && len(text) == 24 {
			return objectID(strings.ToLower(text))
		}
	case time.Time:
		if t, err := time.Parse(time.RFC3339, text); isText && err == nil {
			return t
		}
	case []any:
		if list, ok := x.([]any); ok {
			read := make([]any, len(list))
			for i := range list {
				read[i] = list[i]
				if len(stored.([]any)) > 0 {
					read[i] = operandFor(stored.([]any)[0], list[i])
				}
			}
			return read
		}
	case document:
		if m, ok := x.(map[string]any); ok {
			return document(m)
		}
	}
	return x
}

func equals(stored, x any) bool {
	if x == nil {
		return stored == nil || stored == absence{}
	}
	switch stored.(type) {
	case string, float64, bool, objectID: // most values, and cheap
		return stored == operandFor(stored, x)
	}
	return reflect.DeepEqual(plain(stored), plain(operandFor(stored, x)))
}

// plain makes nested documents and maps of operands comparable.
func plain(v any) any {
	switch v := v.(type) {
	case document:
		return plain(map[string]any(v))
	case map[string]any:
		m := map[string]any{}
		for k, child := range v {
			m[k] = plain(child)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	}
	return v
}

func inRange(stored any, op string, x any) bool {
	if x == nil {
		return (op == "$gte" || op == "$lte") && equals(stored, nil)
	}
	c, ok := compareInBracket(stored, operandFor(stored, x))
	switch op {
	case "$gt":
		return ok && c > 0
	case "$gte":
		return ok && c >= 0
	case "$lt":
		return ok && c < 0
	}
	return ok && c <= 0
}

func compareInBracket(a, b any) (int, bool) {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return 0, false
	}
	switch a := a.(type) {
	case float64:
		return cmp.Compare(a, b.(float64)), true
	case string:
		return cmp.Compare(a, b.(string)), true
	case objectID:
		return cmp.Compare(a, b.(objectID)), true
	case time.Time:
		return a.Compare(b.(time.Time)), true
	case bool:
		return cmp.Compare(strconv.FormatBool(a), strconv.FormatBool(b.(bool))), true
	}
	return 0, false
}

func isNumber(v any) bool { _, ok := v.(float64); return ok }

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "bool"
	case objectID:
		return "objectId"
	case time.Time:
		return "date"
	case []any:
		return "array"
	case document:
		return "object"
	case float64:
		if v == math.Trunc(v) {
			return "int"
		}
		return "double"
	}
	return ""
}

var sortRanks = map[string]int{
	"": 1, "null": 1, "int": 2, "double": 2, "string": 3, "object": 4, "array": 5, "objectId": 6, "bool": 7, "date": 8,
}

// sortRank is MongoDB's order of types.
func sortRank(v any) int {
	return sortRanks[typeOf(v)]
}

// sorted compares two documents by one path. Arrays of scalars sort by their smallest
// or largest element, values in jsonb literally.
func sorted(a, b any, path []string, direction int) int {
	x, y := sortValue(a, path, direction), sortValue(b, path, direction)
	if c := cmp.Compare(sortRank(x), sortRank(y)); c != 0 {
		return c * direction
	}
	c, _ := compareInBracket(x, y)
	return c * direction
}

func sortValue(v any, path []string, direction int) any {
	top := path[0]
	for _, segment := range path {
		switch inner := v.(type) {
		case document:
			v = inner[segment]
		case []any:
			n, err := strconv.Atoi(segment)
			if err != nil || n >= len(inner) {
				return nil
			}
			v = inner[n]
		default:
			return nil
		}
	}
	list, isList := v.([]any)
	if !isList || top == "doc" {
		return v
	}
	if len(list) == 0 {
		return nil
	}
	byValue := func(a, b any) int { c, _ := compareInBracket(a, b); return c }
	if direction < 0 {
		return slices.MaxFunc(list, byValue)
	}
	return slices.MinFunc(list, byValue)
}

func decode(text string) map[string]any {
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(err)
	}
	return m
}
