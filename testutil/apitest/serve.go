package apitest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5/middleware"

	"marquee/platform/httpapi"
	"marquee/testutil/cleanup"
	"marquee/testutil/secrettest"
)

// Serve serves the API on loopback until the test ends and returns its address, without a
// slash at the end. Whoever calls it, the answers are checked.
func Serve(t testing.TB, api *httpapi.API) string {
	t.Helper()
	server := httptest.NewServer(Handler(t, api))
	cleanup.Add(t, server.Close)
	return server.URL
}

// Handler is the API as it is, with the answers checked; in a benchmark the bare API.
func Handler(t testing.TB, api *httpapi.API) http.Handler {
	if _, ok := t.(*testing.B); ok {
		return api.Handler()
	}
	return secrettest.Observe(t, checked(t, api.OpenAPI(), api.Handler()))
}

// checked fails the test when an answer is not as the document says.
func checked(t testing.TB, doc *huma.OpenAPI, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, path := r.Method, r.URL.Path
		out := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		res := &jsonBody{header: out.Header()}
		out.Tee(res)
		next.ServeHTTP(out, r)
		if res.Len() > 0 {
			check(t, doc, method, path, out.Status(), res.plain(t))
		}
	})
}

// jsonBody keeps a body that is JSON and drops any other, such as a file.
type jsonBody struct {
	bytes.Buffer
	header http.Header
}

func (b *jsonBody) Write(p []byte) (int, error) {
	if strings.HasPrefix(b.header.Get("Content-Type"), "application/json") {
		_, _ = b.Buffer.Write(p)
	}
	return len(p), nil
}

// plain is the body without its content coding.
func (b *jsonBody) plain(t testing.TB) []byte {
	t.Helper()
	if b.header.Get("Content-Encoding") != "gzip" {
		return b.Bytes()
	}
	zipped, err := gzip.NewReader(&b.Buffer)
	if err != nil {
		t.Errorf("an answer is not the gzip that it says it is: %v", err)
		return nil
	}
	body, err := io.ReadAll(zipped)
	if err != nil {
		t.Errorf("an answer is not the gzip that it says it is: %v", err)
	}
	return body
}

// check validates a JSON answer against the operation's schema for its status.
func check(t testing.TB, doc *huma.OpenAPI, method, path string, status int, body []byte) {
	op := operationOf(doc, method, path)
	if op == nil {
		return
	}
	response := op.Responses[strconv.Itoa(status)]
	if response == nil {
		response = op.Responses["default"]
	}
	if response == nil || response.Content["application/json"] == nil ||
		response.Content["application/json"].Schema == nil {
		return
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Errorf("%s %s answers malformed JSON: %s", method, path, body)
		return
	}
	found := &huma.ValidateResult{}
	huma.Validate(doc.Components.Schemas, response.Content["application/json"].Schema, huma.NewPathBuffer([]byte{}, 0),
		huma.ModeReadFromServer, v, found)
	if len(found.Errors) > 0 {
		t.Errorf("%s %s: the answer %d is not as the OpenAPI document says: %v: %s", method, path, status, found.Errors,
			body)
	}
}

// operationOf finds the operation whose path fits best: a literal segment before a parameter.
func operationOf(doc *huma.OpenAPI, method, path string) *huma.Operation {
	var best *huma.PathItem
	literal := -1
	for template, item := range doc.Paths {
		if n, ok := matches(template, path); ok && n > literal {
			best, literal = item, n
		}
	}
	if best == nil {
		return nil
	}
	switch method {
	case http.MethodGet:
		return best.Get
	case http.MethodPost:
		return best.Post
	case http.MethodPut:
		return best.Put
	case http.MethodDelete:
		return best.Delete
	}
	return nil
}

// matches counts the literal segments of a template that fits the path. It is asked for each
// template of the document at each answer, so it splits nothing.
func matches(template, path string) (literal int, ok bool) {
	for {
		want, templates, wanted := strings.Cut(template, "/")
		got, paths, more := strings.Cut(path, "/")
		switch {
		case strings.HasPrefix(want, "{"):
		case want == got:
			literal++
		default:
			return 0, false
		}
		if !wanted || !more {
			return literal, wanted == more
		}
		template, path = templates, paths
	}
}
