package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

type envelope struct {
	Docs       []json.RawMessage `json:"docs"`
	Pagination struct {
		QtyTotalDocs int `json:"qty_total_docs"`
	} `json:"pagination"`
}

// readGoal is that of W1 to W3.
var readGoal = goal{rate: map[int]float64{8: 0.8}, cpu: 1.25}

// benchVideos is W1 to W3: lists and single videos, as a subscriber asks for them, over
// catalogues of growing size. Each answer has to be, byte for byte, the one that was there
// before, and that one equal on both sides.
func benchVideos(ctx context.Context, b *bench) error {
	for _, text := range strings.Split(b.videos, ",") {
		size, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("-videos: %w", err)
		}
		for _, p := range b.platforms() {
			if err := p.fill(ctx, size); err != nil {
				return err
			}
		}
		b.report.heading("GET /videos as a subscriber, %d videos, %v a turn", size, b.length)
		for _, l := range readLoads {
			if err := b.measureReads(ctx, l, l.goal()); err != nil {
				return err
			}
		}
	}
	return nil
}

// reads is a load that asks for lists or single videos.
type reads struct {
	name, what string
	clients    []int
	docs       int // in each answer
	addresses  int // how many there are; 0: a new one each time, whose answer is not known before
	path       func(n int, ids []string) string
}

var readLoads = []reads{
	{"W1", "page of 10 and total", []int{1, 8, 32}, 10, 1, always(videos("", "", 0))},
	{
		"W2a", "tag, date, sort",
		[]int{8},
		10, 1,
		always(videos(`{"tags":"tag7","release_date":{"$gte":"1960-01-01"}}`, `{"release_date":-1}`, 0)),
	},
	{"W2b", "page of 100", []int{8}, 100, 1, always(videos("", "", 100))},
	{
		"W2c", "regex on title",
		[]int{8},
		10, 1,
		always(videos(`{"title":{"$regex":"film 000[1-2]","$options":"i"}}`, "", 0)),
	},
	{"W2d", "a new filter each time", []int{8}, 10, 0, func(n int, _ []string) string {
		from := time.Date(1950, 1, 1, 0, 0, n, 0, time.UTC).Format(time.RFC3339)
		return videos(fmt.Sprintf(`{"tags":"tag%d","release_date":{"$gte":"%s"}}`, n%50, from), `{"release_date":-1}`, 0)
	}},
	{"W3", "by _id", []int{8}, 1, sampled, func(n int, ids []string) string { return "/api/v1/videos?_id=" + ids[n] }},
}

// sampled is how many videos W3 asks for.
const sampled = 500

func always(path string) func(int, []string) string {
	return func(int, []string) string { return path }
}

// videos is the address of a list; 0 is the usual size.
func videos(query, sort string, size int) string {
	v := url.Values{}
	if size > 0 {
		v.Set("qty_docs_page", strconv.Itoa(size))
	}
	if query != "" {
		v.Set("query", query)
	}
	if sort != "" {
		v.Set("sort", sort)
	}
	return strings.TrimSuffix("/api/v1/videos?"+v.Encode(), "?")
}

// expected is what a platform answers, read before anything is measured.
type expected struct {
	token     string
	ids       []string
	responses [][]byte // by address
}

// measureReads asks for each address first: those are the answers that have to come.
func (b *bench) measureReads(ctx context.Context, l reads, g goal) error {
	all := map[*platform]expected{}
	for _, p := range b.platforms() {
		k, err := b.expect(ctx, p, l)
		if err != nil {
			return err
		}
		all[p] = k
	}
	var turn atomic.Int64 // over both sides, so that no filter comes twice
	return b.run(ctx, load{
		name: l.name, what: l.what, clients: l.clients, goal: g, at: func(s side) caller {
			k, last := all[s.platform], 0
			next := func(n int) request {
				if last = n % max(l.addresses, 1); l.addresses == 0 {
					n = int(turn.Add(1))
				} else {
					n = last
				}
				return request{Method: http.MethodGet, Path: l.path(n, k.ids), Token: k.token}
			}
			return repeated(s, next, func(_, code int, body []byte) error {
				is := l.addresses == 0 && bytes.HasPrefix(body, []byte(`{"docs":[{"_id"`))
				if code != http.StatusOK || !is && !bytes.Equal(k.responses[last], body) {
					return fmt.Errorf("%d, %d bytes: %.200s", code, len(body), body)
				}
				return nil
			})
		},
	})
}

// goal is readGoal for what is asked for again.
func (l reads) goal() goal {
	if l.addresses == 0 {
		return goal{}
	}
	return readGoal
}

// expect asks for each address.
func (b *bench) expect(ctx context.Context, p *platform, l reads) (k expected, err error) {
	if k.token, err = p.server.login(ctx, "customer"); err != nil {
		return k, err
	}
	if k.ids, err = p.someIDs(ctx, k.token); err != nil {
		return k, err
	}
	for n := range max(l.addresses, 1) {
		r := request{Method: http.MethodGet, Path: l.path(n, k.ids), Token: k.token}
		res, err := b.firstResponse(ctx, p, r)
		if err == nil {
			err = l.check(res, p.videos)
		}
		if err != nil {
			return k, fmt.Errorf("%s: %w: %.300s", r.Path, err, res)
		}
		k.responses = append(k.responses, res)
	}
	return k, nil
}

// firstResponse is the answer of a platform; the bare server's beside it has to be the same.
func (b *bench) firstResponse(ctx context.Context, p *platform, r request) ([]byte, error) {
	if b.isLimit() {
		return b.compareResponses(ctx, r, r, false)
	}
	_, body, err := p.server.do(ctx, r)
	return body, err
}

// check holds a first answer to what is known of the catalogue.
func (l reads) check(res []byte, size int) error {
	var page envelope
	if err := json.Unmarshal(res, &page); err != nil {
		return err
	}
	switch {
	case len(page.Docs) != l.docs:
		return fmt.Errorf("%d documents", len(page.Docs))
	case l.name == "W1" && page.Pagination.QtyTotalDocs != size:
		return errors.New("the total is wrong")
	}
	return nil
}

// someIDs returns ids of videos for W3.
func (p *platform) someIDs(ctx context.Context, token string) ([]string, error) {
	var page envelope
	if err := p.server.call(ctx,
		request{Method: http.MethodGet, Path: videos("", "", sampled), Token: token}, &page); err != nil {
		return nil, err
	}
	return idsOf(page.Docs)
}

// idsOf are the ids of documents.
func idsOf(docs []json.RawMessage) (ids []string, err error) {
	for _, raw := range docs {
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

// fill adds videos through the API until there are as many as wanted.
func (p *platform) fill(ctx context.Context, want int) error {
	p.videos = want
	admin, err := p.server.login(ctx, "admin")
	if err != nil {
		return err
	}
	var list envelope
	first := request{Method: http.MethodGet, Path: videos("", "", 0), Token: admin}
	if err := p.server.call(ctx, first, &list); err != nil {
		return err
	}
	for n := list.Pagination.QtyTotalDocs; n < want; {
		var batch []map[string]any
		for ; n < want && len(batch) < 1000; n++ {
			batch = append(batch, map[string]any{
				"title": fmt.Sprintf("Film %06d", n), "slug": fmt.Sprintf("film-%06d", n),
				"video_id":     fmt.Sprintf("https://videos.example.com/%06d", n),
				"duration":     60 + n%120,
				"release_date": time.Date(1950+n%70, time.Month(1+n%12), 1+n%28, 0, 0, 0, 0, time.UTC),
				"description":  "A film of the benchmark's catalogue.", "author": fmt.Sprintf("Director %d", n%500),
				"tags": []string{fmt.Sprintf("tag%d", n%50)},
			})
		}
		body, err := json.Marshal(batch)
		if err != nil {
			return fmt.Errorf("fill: %w", err)
		}
		err = p.server.call(ctx, request{
			Method: http.MethodPost, Path: "/api/v1/videos", Token: admin, ContentType: "application/json",
			Body: string(body),
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}
