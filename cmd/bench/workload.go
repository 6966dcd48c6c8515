package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// workload is one kind of request, with what tells a right answer.
type workload struct {
	name  string
	what  string
	goal  string // of the design, for one small machine without other load
	path  func(n int) string
	right func(page envelope) bool
}

// workloads are W1 to W3 over a catalogue of that size; ids are of videos in it.
func workloads(total int, ids []string) []workload {
	list := func(query, sort string, size int) string {
		v := url.Values{"qty_docs_page": {strconv.Itoa(size)}}
		if query != "" {
			v.Set("query", query)
		}
		if sort != "" {
			v.Set("sort", sort)
		}
		return "/api/v1/videos?" + v.Encode()
	}
	always := func(path string) func(int) string { return func(int) string { return path } }
	full := func(size int) func(envelope) bool {
		return func(p envelope) bool { return len(p.Docs) == size && p.Pagination.QtyTotalDocs >= size }
	}
	return []workload{
		{
			"W1", "page of 10 and total", "<= 180 us CPU a request, flat in size", always("/api/v1/videos"),
			func(p envelope) bool { return len(p.Docs) == 10 && p.Pagination.QtyTotalDocs == total },
		},
		{
			"W2a", "tag, date, sort", "repeated >= 0.8 of W1",
			always(list(`{"tags":"tag7","release_date":{"$gte":"1960-01-01"}}`, `{"release_date":-1}`, 10)), full(10),
		},
		{
			"W2b", "page of 100", "repeated >= 0.8 of W1", always(list("", "", 100)),
			func(p envelope) bool { return len(p.Docs) == 100 && p.Pagination.QtyTotalDocs == total },
		},
		{
			"W2c", "regex on title", "repeated >= 0.8 of W1",
			always(list(`{"title":{"$regex":"film 000[1-2]","$options":"i"}}`, "", 10)), full(10),
		},
		{
			"W2d", "a new filter each time", "<= 20 ms at 100,000",
			func(n int) string {
				return list(fmt.Sprintf(`{"tags":"tag%d","duration":{"$gte":%d}}`, n%50, 60+n%60),
					`{"release_date":-1}`, 10)
			},
			func(p envelope) bool { return len(p.Docs) > 0 },
		},
		{
			"W3", "by _id", ">= 0.95 of plain SQL",
			func(n int) string { return "/api/v1/videos?_id=" + ids[n%len(ids)] },
			func(p envelope) bool { return len(p.Docs) == 1 },
		},
	}
}

// someIDs returns ids of videos for W3.
func (p *platform) someIDs(ctx context.Context, token string) ([]string, error) {
	var page envelope
	if err := p.call(ctx, http.MethodGet, "/api/v1/videos?qty_docs_page=500", token, "", nil, &page); err != nil {
		return nil, err
	}
	var ids []string
	for _, raw := range page.Docs {
		var doc struct {
			ID string `json:"_id"`
		}
		if err := json.Unmarshal(raw, &doc); err != nil {
			return nil, fmt.Errorf("read ids: %w", err)
		}
		ids = append(ids, doc.ID)
	}
	return ids, nil
}
