package app_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

// bodies are no body of any route.
var bodies = map[string]string{
	"cut off": `{"`, "nothing": ``, "null": `null`, "a text": `"x"`, "a number": `1`,
	"deep": strings.Repeat("[", 5_000), "trailing": `{} {}`, "invalid UTF-8": "{\"name\":\"\xff\xfe\"}",
	"a lone surrogate": `{"name":"\ud800"}`,
}

// values are what a field of another type, or a careless client, may bring.
var values = map[string]json.RawMessage{
	"an object": json.RawMessage(`{"$gt":""}`), "beyond float": json.RawMessage(`1e400`),
	"beyond int64": json.RawMessage(`-9223372036854775809`),
	"long and NUL": json.RawMessage(`"\u0000` + strings.Repeat("x", 5_000) + `"`), "null": json.RawMessage(`null`),
	"lists": json.RawMessage(`[[],[]]`),
}

// parameters are put into every path and query parameter.
var parameters = []string{
	"", "-1", "x'\"--", "99999999999999999999", "\x00", "66f0a1b2c3d4e5f607182a01", strings.Repeat("a", 3_000),
	"{\"$where\":1}", "../../etc", "\xff\xfe",
}

// inner are words that no answer shows.
var inner = []string{"SQLSTATE", "pgx", "goroutine", "panic", "violates", "syntax error at", "marquee/"}

// requireContract fails unless a refusal is as docs/errors.md says.
func requireContract(t *testing.T, what string, a *apitest.Response) {
	t.Helper()
	if a.Status < 400 {
		return
	}
	require.NotEqual(t, http.StatusInternalServerError, a.Status, "%s: %s", what, a.Body)
	var body struct {
		Detail any
		Error  *struct {
			Code, Message, Field string
			Timestamp            time.Time
		}
	}
	require.NoError(t, json.Unmarshal(a.Body, &body), "%s: %d %s", what, a.Status, a.Body)
	require.NotEmpty(t, body.Detail, "%s: %s", what, a.Body)
	for _, word := range inner {
		require.NotContains(t, string(a.Body), word, what)
	}
	if body.Error != nil {
		require.NotEmpty(t, body.Error.Code, what)
		require.NotEmpty(t, body.Error.Message, what)
		require.WithinDuration(t, time.Now(), body.Error.Timestamp, time.Hour, what)
	}
	code := ""
	if body.Error != nil {
		code = body.Error.Code
	}
	require.True(t, documentedErrors()[strconv.Itoa(a.Status)+" "+code], "%s: docs/errors.md lists no %d %s", what,
		a.Status, code)
	if list, ok := body.Detail.([]any); ok {
		require.Equal(t, http.StatusUnprocessableEntity, a.Status, what)
		require.NotNil(t, body.Error, what)
		require.Equal(t, "VALIDATION_ERROR", body.Error.Code, what)
		for i, item := range list {
			issue := item.(map[string]any)
			require.NotEmpty(t, issue["loc"], "%s: %s", what, a.Body)
			require.NotEmpty(t, issue["type"], "%s: %s", what, a.Body)
			field := fieldAt(issue["loc"].([]any))
			require.Regexp(t, "^("+regexp.QuoteMeta(field)+
				"|The [a-z ]+[0-9a-z ]*) (has|have|may|is|names|belongs|holds|leads|cannot|spans) |^(query|sort)\\b",
				issue["msg"], "%s: %s", what, a.Body)
			if field == "" && issue["loc"].([]any)[0] == "body" {
				field = "body"
			}
			if i == 0 {
				require.Equal(t, issue["msg"], body.Error.Message, "%s: %s", what, a.Body)
				require.Equal(t, field, body.Error.Field, "%s: %s", what, a.Body)
			}
		}
	}
}

// fieldAt is error.field of a place: what stands behind the part of the request and the index
// of a body that is an array, with the indexes of arrays in it. Of a filter or sort it is the
// parameter.
func fieldAt(loc []any) (field string) {
	if len(loc) > 1 && loc[0] == "query" {
		loc = loc[:2]
	}
	for i, step := range loc[1:] {
		switch step := step.(type) {
		case float64:
			if i > 0 {
				field += "[" + strconv.Itoa(int(step)) + "]"
			}
		case string:
			field = strings.TrimPrefix(field+"."+step, ".")
		}
	}
	return field
}

var (
	rowOfErrors = regexp.MustCompile("(?m)^\\| (\\d{3}) \\| (?:`([A-Z_]+)`|–) \\|")
	// documentedErrors are the rows of docs/errors.md, such as "409 CONFLICT".
	documentedErrors = sync.OnceValue(func() map[string]bool {
		page, err := os.ReadFile("../../../docs/errors.md")
		if err != nil {
			panic(err)
		}
		all := map[string]bool{}
		for _, row := range rowOfErrors.FindAllStringSubmatch(string(page), -1) {
			all[row[1]+" "+row[2]] = true
		}
		return all
	})
)

// TestBadInput walks every route with what no client should send: bodies of no
// form, each field with values of other types, each parameter with nonsense. The
// answer is a refusal in the contract's format or an ordinary one, never a 500.
func TestBadInput(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	nobody, root := a.Guest, a.Root()
	adminID, admin := a.NewAdmin(platformtest.Named("admin"))
	b := newVictim(t, a)
	callers := map[httpapi.Auth]*apitest.Client{
		httpapi.Public: nobody, httpapi.Customer: b.client, httpapi.SignedIn: b.client, httpapi.Admin: admin,
		httpapi.Root: root,
	}
	customer, refused := objectid.ID(b.ids["user"]), 0
	for _, r := range a.Routes() {
		caller, known := callers[r.Auth]
		if !known || r.Permission != "" {
			caller = root
		}
		send := func(what, path, contentType, body string) *apitest.Response {
			res := caller.Send(r.Method, path, contentType, []byte(body))
			requireContract(t, r.Method+" "+r.Path+" with "+what, res)
			if res.Status >= 400 {
				refused++
			}
			return res
		}
		for what, path := range badPaths(a, r, target(r, b, adminID.ID, customer)) {
			send(what, path, "", "")
		}
		schema := jsonBody(a, r)
		if schema == nil || r.Method == http.MethodGet {
			continue
		}
		path := placeholder.ReplaceAllString(r.Path, target(r, b, adminID.ID, customer))
		for what, body := range bodies {
			if body == "" && !operation(a, r).RequestBody.Required {
				continue
			}
			require.GreaterOrEqual(t, send(what, path, "application/json", body).Status, 400, "%s %s with %s", r.Method,
				r.Path, what)
		}
		body := sampleBody(a, r, target(r, b, adminID.ID, customer))
		for what, raw := range badBodies(t, body) {
			send(what, path, "application/json", raw)
		}
		raw, err := json.Marshal(body)
		require.NoError(t, err)
		require.Equal(t, http.StatusUnsupportedMediaType,
			send("no content type", path, "text/plain", string(raw)).Status, r.Path)
		require.Equal(t, http.StatusRequestEntityTooLarge,
			send("too much", path, "application/json", `{"name":"`+strings.Repeat("x", 2<<20)+`"}`).Status, r.Path)
		for field, raws := range unreadable(t, body) {
			for _, raw := range raws {
				res := send(raw, path, "application/json", raw)
				require.Equal(t, http.StatusUnprocessableEntity, res.Status, "%s %s with %q: %s", r.Method, r.Path,
					raw, res.Body)
				require.Regexp(t, "^"+regexp.QuoteMeta(field)+`(\[\d\](\.within)?)?$`, res.Field(),
					"%s %s with %q: %s", r.Method, r.Path, raw, res.Body)
			}
		}
		for field, bodies := range spellings(t, body) {
			for _, raw := range bodies {
				res := send(raw, path, "application/json", raw)
				require.Equal(t, http.StatusUnprocessableEntity, res.Status, "%s %s with %s: %s", r.Method, r.Path,
					raw, res.Body)
				require.Regexp(t, "(?i)"+regexp.QuoteMeta(field), string(res.Body), "%s %s with %s", r.Method,
					r.Path, raw)
			}
		}
		if r.Method == http.MethodDelete {
			continue // takes whole records back and reads their ids
		}
		unknown := send("an unknown field", path, "application/json", withUnknown(t, body))
		require.Equal(t, http.StatusUnprocessableEntity, unknown.Status, "%s %s: %s", r.Method, r.Path, unknown.Body)
		require.Contains(t, string(unknown.Body), "no_such_field", "%s %s", r.Method, r.Path)
	}
	require.Greater(t, refused, 2000)
	for _, caller := range []*apitest.Client{root, admin, b.client} {
		caller.Get("/current-user").Expect(http.StatusOK) // nobody lost their rights on the way
	}
}

// badPaths are the route's addresses with each parameter spoilt, one at a time.
// A route that changes something is not called with a good path and no body.
func badPaths(a *platformtest.Platform, r httpapi.RouteInfo, id string) map[string]string {
	paths := map[string]string{}
	for _, spot := range placeholder.FindAllString(r.Path, -1) {
		for _, value := range parameters[1:] {
			path := strings.Replace(r.Path, spot, url.PathEscape(value), 1)
			paths[spot+" "+value] = placeholder.ReplaceAllString(path, id)
		}
	}
	op := operation(a, r)
	if op == nil || r.Method != http.MethodGet {
		return paths
	}
	for _, p := range op.Parameters {
		if p.In != "query" || p.Name == "token" || p.Name == "archive_token" {
			continue
		}
		for _, value := range parameters {
			paths[p.Name+"="+value] = placeholder.ReplaceAllString(r.Path, id) + "?" +
				url.Values{p.Name: {value}}.Encode()
		}
	}
	return paths
}

// badBodies are the body with each of its fields spoilt, one at a time.
func badBodies(t *testing.T, body any) map[string]string {
	t.Helper()
	all := map[string]string{}
	object, wrap := objectIn(body)
	for _, field := range slices.Sorted(maps.Keys(object)) {
		for what, value := range values {
			spoilt := maps.Clone(object)
			spoilt[field] = value
			raw, err := json.Marshal(wrap(spoilt))
			if err != nil { // no JSON number for the encoder; the server has to read it all the same
				continue
			}
			all[field+" "+what] = string(raw)
		}
	}
	return all
}

// unreadable are the body with each of its fields set to what no reader takes as it was
// sent; by the field.
func unreadable(t *testing.T, body any) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	object, wrap := objectIn(body)
	for field := range object {
		for _, value := range []string{
			`1e400`, `"\ud800"`, `["\udc00x"]`, `[{"within":1},{"within":"\ud800"}]`, "\"\xff\"",
		} {
			spoilt := maps.Clone(object)
			spoilt[field] = "SPOILT"
			raw, err := json.Marshal(wrap(spoilt))
			require.NoError(t, err)
			all[field] = append(all[field], strings.Replace(string(raw), `"SPOILT"`, value, 1))
		}
	}
	return all
}

// spellings are the body with each field, at any depth, in upper case, twice, and in
// both spellings; by the field.
func spellings(t *testing.T, body any) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	switch body := body.(type) {
	case []any:
		if len(body) > 0 {
			for field, bodies := range spellings(t, body[0]) {
				for _, raw := range bodies {
					all[field] = append(all[field], "["+raw+"]")
				}
			}
		}
	case map[string]any:
		for name, value := range body {
			others := ""
			for other, value := range body {
				if other != name {
					others += "," + member(t, other, value)
				}
			}
			lower, upper := member(t, name, value), member(t, strings.ToUpper(name), value)
			for _, spelled := range []string{lower + "," + lower, lower + "," + upper, upper + "," + lower, upper} {
				all[name] = append(all[name], "{"+spelled+others+"}")
			}
			for field, bodies := range spellings(t, value) {
				for _, raw := range bodies {
					all[field] = append(all[field], "{"+member(t, name, json.RawMessage(raw))+others+"}")
				}
			}
		}
	}
	return all
}

func member(t *testing.T, name string, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	return strconv.Quote(name) + ":" + string(raw)
}

func withUnknown(t *testing.T, body any) string {
	t.Helper()
	object, wrap := objectIn(body)
	object = maps.Clone(object)
	object["no_such_field"] = 1
	raw, err := json.Marshal(wrap(object))
	require.NoError(t, err)
	return string(raw)
}

// objectIn is the body's object, or the first of its list, and how to put another in its place.
func objectIn(body any) (map[string]any, func(map[string]any) any) {
	switch body := body.(type) {
	case map[string]any:
		return body, func(m map[string]any) any { return m }
	case []any:
		if object, ok := body[0].(map[string]any); ok {
			return object, func(m map[string]any) any { return []any{m} }
		}
	}
	return map[string]any{}, func(m map[string]any) any { return m }
}
