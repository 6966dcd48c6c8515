package resource

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Response is the output of a handler whose body Postgres has made.
type Response struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// Envelope renders the page with its links and totals. The request is in ctx.
func (l *List) Envelope(ctx context.Context) *Response {
	p, found := l.params, l.page
	if p.ID != "" {
		return single(ctx, found.Docs, 1, "ok")
	}
	pages := (found.Total + p.Size - 1) / p.Size
	buf := make([]byte, 0, len(found.Docs)+1024)
	buf = append(append(append(buf, `{"docs":[`...), found.Docs...), `],"links":[`...)
	buf = p.appendLinks(buf, httpapi.RequestURL(ctx), found.Total)
	return finish(buf, "ok", p.Page, p.Size, pages, found.Total)
}

// single renders documents that are no page of a list: a record by its id, or
// what a write has written.
func single(ctx context.Context, docs []byte, n int, msg string) *Response {
	buf := make([]byte, 0, len(docs)+512)
	buf = append(append(append(buf, `{"docs":[`...), docs...), `],"links":[`...)
	buf = appendLink(buf, "self", httpapi.SelfURL(ctx))
	pages := 1
	if n == 0 {
		pages = 0
	}
	return finish(buf, msg, 0, n, pages, n)
}

// One answers with the view's document of that id; 404 when there is none.
func (v *View) One(ctx context.Context, db postgres.DB, id objectid.ID) (*Response, error) {
	docs, n, err := v.DocsTx(ctx, db, []objectid.ID{id})
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fault.NotFound(v.resource.def.Singular)
	}
	return single(ctx, docs, n, "ok"), nil
}

func finish(buf []byte, msg string, page, size, pages, total int) *Response {
	buf = appendString(append(buf, `],"msg":`...), msg)
	buf = strconv.AppendInt(append(buf, `,"pagination":{"current_page":`...), int64(page), 10)
	buf = strconv.AppendInt(append(buf, `,"qty_docs_page":`...), int64(size), 10)
	buf = strconv.AppendInt(append(buf, `,"qty_of_pages":`...), int64(pages), 10)
	buf = strconv.AppendInt(append(buf, `,"qty_total_docs":`...), int64(total), 10)
	return &Response{ContentType: "application/json", Body: append(buf, "},\"info\":null}\n"...)}
}

// appendLinks writes self, first, prev, next and last; prev and next only where
// they exist. Each keeps the caller's other parameters.
func (p Params) appendLinks(buf []byte, u *url.URL, total int) []byte {
	buf = appendLink(buf, "self", u.String())
	to := func(rel string, from, until int) {
		name, value := paramCurrentPage, strconv.Itoa(from/p.Size)
		if p.Range {
			name, value = paramRange, "("+strconv.Itoa(from)+","+strconv.Itoa(until)+")"
		}
		buf = appendLink(append(buf, ','), rel, withParam(u, name, value))
	}
	here, last := p.Offset(), max(total-1, 0)/p.Size*p.Size
	to("first", 0, p.Size)
	if here > 0 {
		// From beyond the end, prev leads back to the last page that has documents.
		before := min(here, last+p.Size)
		to("prev", max(before-p.Size, 0), before)
	}
	if here+p.Size < total {
		to("next", here+p.Size, here+2*p.Size)
	}
	to("last", last, last+p.Size)
	return buf
}

// withParam returns the address with one parameter set and the others, in their
// order and spelling, as they were.
func withParam(u *url.URL, name, value string) string {
	pairs := make([]string, 0, 8)
	for _, pair := range strings.Split(u.RawQuery, "&") {
		key, _, _ := strings.Cut(pair, "=")
		if unescaped, err := url.QueryUnescape(key); pair != "" && (err != nil || unescaped != name) {
			pairs = append(pairs, pair)
		}
	}
	to := *u
	to.RawQuery = strings.Join(append(pairs, name+"="+url.QueryEscape(value)), "&")
	return to.String()
}

func appendLink(buf []byte, rel, href string) []byte {
	buf = append(append(append(buf, `{"link_type":"GET","rel":"`...), rel...), `","href":`...)
	return append(appendString(buf, href), '}')
}

// appendString writes a JSON string. Addresses seldom need an escape, so the
// plain case does not go through encoding/json.
func appendString(buf []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			var quoted bytes.Buffer
			enc := json.NewEncoder(&quoted)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(s); err != nil {
				return append(buf, `""`...)
			}
			return append(buf, bytes.TrimSuffix(quoted.Bytes(), []byte{'\n'})...)
		}
	}
	return append(append(append(buf, '"'), s...), '"')
}
