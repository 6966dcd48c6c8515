package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"marquee/platform/httpapi"
)

const (
	assets    = "/assets/" // of files whose names change with their content
	brotliEnd = ".br"

	forever    = "public, max-age=31536000, immutable"
	revalidate = "no-cache"
)

// types are the media types of what front ends are made of; the machine's own table differs from
// one to the next.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".txt": "text/plain; charset=utf-8", ".xml": "application/xml", ".json": "application/json",
	".webmanifest": "application/manifest+json", ".svg": "image/svg+xml", ".wasm": "application/wasm",
	".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp", ".ico": "image/x-icon", ".woff2": "font/woff2",
}

// dense are the types that are compressed already.
var dense = map[string]bool{".png": true, ".jpg": true, ".webp": true, ".woff2": true}

// file is one that is served as it stands.
type file struct {
	body      []byte
	brotli    []byte        // nil: there is none
	zipped    func() []byte // made when it is first asked for; nil for what would not get smaller
	mediaType string
	tag       string // of the content, without the quotes
	cache     string
}

func readFile(dir fs.FS, name string) (*file, error) {
	body, err := fs.ReadFile(dir, name)
	if err != nil {
		return nil, err
	}
	brotli, err := fs.ReadFile(dir, name+brotliEnd)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f := newFile(name, body)
	f.brotli = brotli
	if strings.HasPrefix("/"+name, assets) {
		f.cache = forever
	}
	return f, nil
}

func newFile(name string, body []byte) *file {
	ext := path.Ext(name)
	sum := sha256.Sum256(body)
	f := &file{
		body: body, mediaType: types[ext], tag: base64.RawURLEncoding.EncodeToString(sum[:12]), cache: revalidate,
	}
	if f.mediaType == "" {
		f.mediaType = "application/octet-stream"
	}
	if !dense[ext] {
		f.zipped = sync.OnceValue(func() []byte { return zip(body) })
	}
	return f
}

func zip(body []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, _ = w.Write(body) // into memory
		_ = w.Close()
	}
	return out.Bytes()
}

// write answers with the file in the best coding that the client takes, or 304.
func (f *file) write(w http.ResponseWriter, r *http.Request, policy string, status int) {
	body, tag, head := f.body, f.tag, w.Header()
	switch {
	case f.brotli != nil && httpapi.AcceptsCoding(r.Header, "br"):
		body, tag = f.brotli, f.tag+"-br"
		head.Set("Content-Encoding", "br")
	case f.zipped != nil && httpapi.AcceptsCoding(r.Header, "gzip"):
		body, tag = f.zipped(), f.tag+"-gzip"
		head.Set("Content-Encoding", "gzip")
	}
	head.Add("Vary", "Accept-Encoding")
	head.Set("Cache-Control", f.cache)
	head.Set("Content-Security-Policy", policy)
	head.Set("Etag", `"`+tag+`"`)
	if status == http.StatusOK && httpapi.IfNoneMatch(r.Header, `"`+tag+`"`) {
		head.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	head.Set("Content-Type", f.mediaType)
	head.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone; there is nobody to tell
}
