package exports

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/export"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

// linkTo makes an address under which the reader, and whoever they give it to,
// can fetch the file until it expires.
func (s *Exports) linkTo(e financedb.Export, reader objectid.ID) (link string, expires time.Time) {
	expires = s.deps.Clock.Now().Add(s.deps.Config.LinkTTL).Truncate(time.Second)
	if e.ExpiresAt.Before(expires) {
		expires = e.ExpiresAt.Truncate(time.Second)
	}
	at := strconv.FormatInt(expires.Unix(), 10)
	q := url.Values{
		"user": {reader.String()}, "expires": {at}, "signature": {s.signature(e.ID.String(), reader.String(), at)},
	}
	return s.deps.Config.PublicURL + httpapi.Prefix + Path + "/" + e.ID.String() + "/file?" + q.Encode(), expires
}

func (s *Exports) signature(id, reader, expires string) string {
	return base64.RawURLEncoding.EncodeToString(secret.MAC(s.deps.Config.LinkKey, id, reader, expires))
}

// errBadLink is the answer to a link that was never given or has expired.
func errBadLink() error { return fault.Forbidden("This link is not valid or has expired.") }

// downloader is who fetches the file: by a signed link, by a Bearer header, or by
// the access token in the query parameter token. They still have to be an admin.
func (h Handlers) downloader(r *http.Request, id string) (httpapi.Caller, error) {
	caller, err := h.identified(r, id)
	if err != nil {
		return httpapi.Caller{}, err
	}
	return caller, httpapi.Allowed(caller, httpapi.Admin, "")
}

func (h Handlers) identified(r *http.Request, id string) (httpapi.Caller, error) {
	q := r.URL.Query()
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case strings.EqualFold(scheme, "Bearer"):
	case q.Get("token") != "":
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+q.Get("token"))
	case q.Has("signature"):
		return h.byLink(r.Context(), id, q)
	}
	return h.api.Authenticate(r)
}

// byLink returns the user whom a link was given to. It is good as long as their
// tokens of its time are.
func (h Handlers) byLink(ctx context.Context, id string, q url.Values) (httpapi.Caller, error) {
	want := h.s.signature(id, q.Get("user"), q.Get("expires"))
	seconds, err := strconv.ParseInt(q.Get("expires"), 10, 64)
	if err != nil || !secret.Equal([]byte(want), []byte(q.Get("signature"))) {
		return httpapi.Caller{}, errBadLink()
	}
	expires := time.Unix(seconds, 0)
	if !h.s.deps.Clock.Now().Before(expires) {
		return httpapi.Caller{}, errBadLink()
	}
	return h.s.deps.Callers.Caller(ctx, httpapi.Claims{
		UserID: objectid.ID(q.Get("user")), IssuedAt: expires.Add(-h.s.deps.Config.LinkTTL),
	})
}

// download is GET /admin/exports/{id}/file.
func (h Handlers) download(w http.ResponseWriter, r *http.Request) {
	id := chi.URLParam(r, "id")
	caller, err := h.downloader(r, id)
	if err != nil {
		h.api.WriteError(r.Context(), w, err)
		return
	}
	e, err := h.s.find(r.Context(), id, caller)
	if err == nil && e.Status != done {
		err = fault.Conflict("The file is not ready: its export is %s.", e.Status)
	}
	if err != nil {
		h.api.WriteError(r.Context(), w, err)
		return
	}
	h.s.serve(w, r, e)
}

// serve answers with a stored file, whole or in ranges.
func (s *Exports) serve(w http.ResponseWriter, r *http.Request, e financedb.Export) {
	setFileHeaders(w.Header(), export.Format(e.Format), e.Filename)
	w.Header().Set("Cache-Control", "private, no-store")
	w.Header().Set("ETag", `"`+e.ID.String()+`"`)
	httpapi.ServeContent(w, r, *e.FinishedAt, s.open(httpapi.Sending(r.Context()), e))
}

// MountDownload registers the download: a plain handler, which answers ranges.
func (h Handlers) MountDownload() {
	const path, name = httpapi.Prefix + Path + "/{id}/file", "export_download"
	h.api.Mount(http.MethodGet, path, name, httpapi.Admin, h.download, httpapi.Stream())
	text := func(name, in, doc string) *huma.Param {
		return &huma.Param{
			Name: name, In: in, Required: in == "path", Description: doc, Schema: &huma.Schema{Type: huma.TypeString},
		}
	}
	doc := h.api.OpenAPI()
	failed := huma.SchemaFromType(doc.Components.Schemas, reflect.TypeFor[httpapi.ErrorBody]())
	binary := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	doc.AddOperation(&huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: name, Summary: "The file of a finished export",
		Tags:       []string{"admin exports"},
		Extensions: map[string]any{"x-auth": string(httpapi.Admin)},
		Security:   []map[string][]string{{"bearer": {}}, {}},
		Parameters: []*huma.Param{
			text("id", "path", "The export's _id"), text("token", "query", "Access token, instead of the header"),
			text("user", "query", "Of a signed link"), text("expires", "query", "Of a signed link"),
			text("signature", "query", "Of a signed link"),
		},
		Responses: map[string]*huma.Response{
			"200": {Description: "OK", Content: map[string]*huma.MediaType{"application/octet-stream": binary}},
			"206": {
				Description: "A range", Content: map[string]*huma.MediaType{"application/octet-stream": binary},
			},
			"default": {
				Description: "Error", Content: map[string]*huma.MediaType{"application/json": {Schema: failed}},
			},
		},
	})
}
