package resource

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"marquee/platform/httpapi"
)

// CachedResponse is a list's envelope as it is sent, plain and with gzip, each with its entity tag. What is sent never
// changes: many requests may share it.
type CachedResponse struct {
	Version int64 // of what the resource shows, as in Page

	collection string
	unknown    int // fields in filter and sort that the resource does not show
	plain      encoded
	zipped     func() encoded // made when the first client takes it: many a page is asked for once
}

// encoded is a body with the values of its headers.
type encoded struct {
	body   []byte
	tag    []string
	length []string
}

// CachedResponse renders the list to be sent more than once. The request is in ctx: its links are in the body.
func (l *List) CachedResponse(ctx context.Context) *CachedResponse {
	plain := encode(bytes.Clone(l.Envelope(ctx).Body))
	return &CachedResponse{
		Version: l.page.Version, collection: l.view.resource.def.Name, unknown: l.unknown, plain: plain,
		zipped: sync.OnceValue(func() encoded { return encode(zip(plain.body)) }),
	}
}

// CountUnknown counts in UnknownFields for a request that no list was prepared for.
func (r *CachedResponse) CountUnknown() { countUnknown(r.collection, r.unknown) }

// encode hashes the body for its tag: another server that finds the same sends the same tag.
func encode(body []byte) encoded {
	sum := sha256.Sum256(body)
	return encoded{
		body: body, tag: []string{`"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`},
		length: []string{strconv.Itoa(len(body))},
	}
}

// zippers are reused, since each takes most of a megabyte.
var zippers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func zip(body []byte) []byte {
	var out bytes.Buffer
	z, _ := zippers.Get().(*gzip.Writer) // nothing else is put in
	z.Reset(&out)
	_, _ = z.Write(body) // a buffer takes all
	_ = z.Close()
	zippers.Put(z)
	return bytes.Clone(out.Bytes())
}

// size is about how many bytes a response takes under its key: gzip, should a client take it, leaves a sixth of a list.
func (r *CachedResponse) size(key string) int {
	return len(key) + cap(r.plain.body)*7/6 + overhead
}

// CachedOutput is the output of a handler that sends a CachedResponse.
type CachedOutput struct {
	ContentType string `header:"Content-Type"`
	Body        func(huma.Context)
}

// Output sends the response in a coding that the client accepts, or 304 when the client has it already. The caller's
// access to the list is checked before.
func (r *CachedResponse) Output() *CachedOutput {
	return &CachedOutput{ContentType: "application/json", Body: r.writeTo}
}

// Values of headers that all responses share.
var (
	revalidated = []string{"private, no-cache"}
	zippedOnly  = []string{"gzip"}
)

func (r *CachedResponse) writeTo(hc huma.Context) {
	request, w := humachi.Unwrap(hc)
	head, sent := w.Header(), r.plain
	zipped := httpapi.AcceptsCoding(request.Header, "gzip")
	if zipped {
		sent = r.zipped()
	}
	head["Etag"], head["Cache-Control"] = sent.tag, revalidated
	head.Add("Vary", "Authorization, Accept-Encoding")
	if httpapi.IfNoneMatch(request.Header, sent.tag[0]) {
		head.Del("Content-Type")
		hc.SetStatus(http.StatusNotModified)
		return
	}
	if zipped {
		head["Content-Encoding"] = zippedOnly
	}
	head["Content-Length"] = sent.length
	hc.SetStatus(http.StatusOK)
	_, _ = w.Write(sent.body) // the client may be gone; there is nobody to tell
}
