// Package apitest calls an API over real HTTP in tests and checks every JSON
// answer against the OpenAPI document, so that the document is always true. The secrets that
// go through it are noted for secrettest.
package apitest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
)

// Client calls one API as one user.
type Client struct {
	t     testing.TB
	base  string
	token string
	extra http.Header
}

// New serves the API on loopback until the test ends.
func New(t testing.TB, api *httpapi.API) *Client {
	t.Helper()
	return &Client{t: t, base: Serve(t, api)}
}

// As returns a client that sends the access token.
func (c *Client) As(token string) *Client {
	other := *c
	other.token = token
	return &other
}

// With returns a client that sends a further header, such as Idempotency-Key.
func (c *Client) With(name, value string) *Client {
	other := *c
	other.extra = c.extra.Clone()
	if other.extra == nil {
		other.extra = http.Header{}
	}
	other.extra.Add(name, value)
	return &other
}

// URL is the server's address, without a slash at the end.
func (c *Client) URL() string { return c.base }

// Response is what came back.
type Response struct {
	t      testing.TB
	Status int
	Header http.Header
	Body   []byte
}

// Get calls GET path, which begins with /api/v1 or is prefixed by it.
func (c *Client) Get(path string) *Response { c.t.Helper(); return c.Do(http.MethodGet, path, nil) }

// Post sends body as JSON.
func (c *Client) Post(path string, body any) *Response {
	c.t.Helper()
	return c.Do(http.MethodPost, path, body)
}

// Put sends body as JSON.
func (c *Client) Put(path string, body any) *Response {
	c.t.Helper()
	return c.Do(http.MethodPut, path, body)
}

// Delete sends body, if any, as JSON.
func (c *Client) Delete(path string, body any) *Response {
	c.t.Helper()
	return c.Do(http.MethodDelete, path, body)
}

// PostForm sends a form.
func (c *Client) PostForm(path string, form url.Values) *Response {
	c.t.Helper()
	return c.Do(http.MethodPost, path, form)
}

// Do sends a body as Encode has it.
func (c *Client) Do(method, path string, body any) *Response {
	c.t.Helper()
	contentType, raw, err := Encode(body)
	require.NoError(c.t, err)
	return c.Send(method, path, contentType, raw)
}

// Encode is a body as it is sent: a string or []byte as it is, url.Values as a form, anything else as JSON;
// nil is none, without a content type.
func Encode(body any) (contentType string, raw []byte, err error) {
	switch b := body.(type) {
	case nil:
		return "", nil, nil
	case string:
		return "application/json", []byte(b), nil
	case []byte:
		return "application/json", b, nil
	case url.Values:
		return "application/x-www-form-urlencoded", []byte(b.Encode()), nil
	}
	raw, err = json.Marshal(body)
	return "application/json", raw, err
}

// Send sends raw bytes with a content type ("" for none).
func (c *Client) Send(method, path, contentType string, body []byte) *Response {
	c.t.Helper()
	if !strings.HasPrefix(path, httpapi.Prefix) && !strings.HasPrefix(path, "/webhooks") {
		path = httpapi.Prefix + path
	}
	req, err := http.NewRequest(method, c.base+path, bytes.NewReader(body))
	require.NoError(c.t, err)
	for name, values := range c.extra {
		req.Header[name] = values
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	return &Response{t: c.t, Status: res.StatusCode, Header: res.Header, Body: raw}
}

// Fetch gets a path as a browser does, with pairs of header names and values.
func (c *Client) Fetch(path string, header ...string) (*http.Response, []byte) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.base+httpapi.Prefix+path, http.NoBody)
	require.NoError(c.t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	return res, body
}

// Expect fails the test unless the status is as wanted, and returns the answer.
func (a *Response) Expect(status int) *Response {
	a.t.Helper()
	require.Equal(a.t, status, a.Status, "%s", a.Body)
	return a
}

// JSON decodes the body into v.
func (a *Response) JSON(v any) {
	a.t.Helper()
	require.NoError(a.t, json.Unmarshal(a.Body, v), "%s", a.Body)
}

// Map decodes an object.
func (a *Response) Map() map[string]any {
	a.t.Helper()
	var m map[string]any
	a.JSON(&m)
	return m
}

// Code returns error.code, "" when the error has none.
func (a *Response) Code() string { a.t.Helper(); return a.coded("code") }

// Field returns error.field.
func (a *Response) Field() string { a.t.Helper(); return a.coded("field") }

// Detail returns the detail sentence, or the messages of the detail list.
func (a *Response) Detail() string {
	a.t.Helper()
	switch d := a.Map()["detail"].(type) {
	case string:
		return d
	case []any:
		var all []string
		for _, issue := range d {
			m, _ := issue.(map[string]any)
			s, _ := m["msg"].(string)
			all = append(all, s)
		}
		return strings.Join(all, "; ")
	}
	return ""
}

func (a *Response) coded(key string) string {
	a.t.Helper()
	m, _ := a.Map()["error"].(map[string]any)
	s, _ := m[key].(string)
	return s
}
