package account

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Limits of metadata: keys, bytes of a key, bytes of a value.
const (
	metadataKeys  = 50
	metadataKey   = 40
	metadataValue = 500
)

// params are the decoded parameters by dotted path: items[0][price] is "items.0.price", expand[]=a is "expand.0".
type params map[string]string

var formName = regexp.MustCompile(`^([^\[\]]+)((?:\[[^\[\]]*\])*)$`)

// parseParams reads bracket names. An empty index counts up for each repetition of the same name.
func parseParams(values url.Values) (params, *APIError) {
	p := params{}
	for name, all := range values {
		parts := formName.FindStringSubmatch(name)
		if parts == nil {
			return nil, invalid(name, "parameter_unknown", "Received unknown parameter: %s", name)
		}
		path := parts[1]
		if parts[2] != "" {
			path += "." + strings.ReplaceAll(parts[2][1:len(parts[2])-1], "][", ".")
		}
		if !strings.Contains(parts[2], "[]") {
			p[path] = all[len(all)-1]
			continue
		}
		path = strings.TrimSuffix(path, ".")
		head, tail, nested := strings.Cut(path, "..")
		for i, v := range all {
			if nested {
				p[head+"."+strconv.Itoa(i)+"."+tail] = v
			} else {
				p[path+"."+strconv.Itoa(i)] = v
			}
		}
	}
	return p, nil
}

var index = regexp.MustCompile(`\.\d+(\.|$)`)

// check refuses parameters that the route doesn't know. known holds dotted paths without indices; "a.*" is anything
// below a.
func (p params) check(known map[string]bool) *APIError {
	for _, path := range slices.Sorted(maps.Keys(p)) {
		top, _, _ := strings.Cut(path, ".")
		plain := strings.TrimSuffix(index.ReplaceAllString(path, "$1"), ".")
		if known[plain] || known[top+".*"] || known[path] {
			continue
		}
		if i := strings.LastIndex(plain, "."); i > 0 && known[plain[:i]+".*"] {
			continue
		}
		return invalid(bracketed(path), "parameter_unknown", "Received unknown parameter: %s", bracketed(path))
	}
	return nil
}

func bracketed(path string) string {
	parts := strings.Split(path, ".")
	for i := 1; i < len(parts); i++ {
		parts[i] = "[" + parts[i] + "]"
	}
	return strings.Join(parts, "")
}

// list collects path.0, path.1 …
func (p params) list(path string) []string {
	var out []string
	for i := 0; ; i++ {
		v, present := p[path+"."+strconv.Itoa(i)]
		if !present {
			return out
		}
		out = append(out, v)
	}
}

// has reports whether the path or anything below it was given.
func (p params) has(path string) bool {
	if _, present := p[path]; present {
		return true
	}
	for k := range p {
		if strings.HasPrefix(k, path+".") {
			return true
		}
	}
	return false
}

// Readers of one parameter keep the first fault in q.err, so that a handler checks once after reading.

func (q *Request) str(path string) string { return q.params[path] }

func (q *Request) need(path string) string {
	v := q.params[path]
	if v == "" {
		q.fail(invalid(bracketed(path), "parameter_missing", "Missing required param: %s.", bracketed(path)))
	}
	return v
}

func (q *Request) integer(path string, otherwise int64) int64 {
	v, present := q.params[path]
	if !present || v == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		q.fail(invalid(bracketed(path), "parameter_invalid_integer", "Invalid integer: %s", v))
	}
	return n
}

func (q *Request) boolean(path string, otherwise bool) bool {
	switch v, present := q.params[path]; {
	case !present:
		return otherwise
	case v == "true":
		return true
	case v == "false":
		return false
	default:
		q.fail(invalid(bracketed(path), "", "Invalid boolean: %s", v))
		return false
	}
}

func (q *Request) oneOf(path, otherwise string, allowed ...string) string {
	v := q.params[path]
	if v == "" {
		return otherwise
	}
	if !slices.Contains(allowed, v) {
		q.fail(invalid(bracketed(path), "", "Invalid %s: must be one of %s", bracketed(path),
			strings.Join(allowed, ", ")))
	}
	return v
}

// metadata merges the given keys into old: an empty value removes a key, metadata="" removes all.
func (q *Request) metadata(old map[string]string) map[string]string {
	m := maps.Clone(old)
	if v, present := q.params["metadata"]; m == nil || present && v == "" {
		m = map[string]string{}
	}
	for path, v := range q.params {
		key, under := strings.CutPrefix(path, "metadata.")
		switch {
		case !under:
		case v == "":
			delete(m, key)
		case len(key) > metadataKey || len(v) > metadataValue:
			q.fail(invalid(bracketed(path), "", "Metadata keys have up to %d and values up to %d characters.",
				metadataKey, metadataValue))
		default:
			m[key] = v
		}
	}
	if len(m) > metadataKeys {
		q.fail(invalid("metadata", "", "You can have up to %d metadata keys.", metadataKeys))
	}
	return m
}

func (q *Request) fail(e *APIError) {
	if q.err == nil {
		q.err = e
	}
}
