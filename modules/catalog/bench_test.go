package catalog_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"marquee/modules/catalog"
	"marquee/modules/catalog/catalogtest"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// BenchmarkVideoList asks for pages of a catalogue of 10,000 videos through the
// whole handler, without a network in between (W1 and W2 of cmd/bench; docs/decisions/page-cache.md).
func BenchmarkVideoList(b *testing.B) {
	db, err := postgres.NewPool(b.Context(), pgtest.URL(b), postgres.Options{MaxConns: 8})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(db.Close)
	catalogtest.Videos(b, db, 10_000)
	furnish(b, db)
	log, who := slog.New(slog.DiscardHandler), people{}
	api := httpapi.New(httpapi.Config{Version: "bench", Auth: who, Log: log})
	catalog.New(catalog.Deps{Pool: db, Clock: clock.System{}, Log: log}).Routes(api)
	for name, params := range map[string]string{
		"page": "",
		"deep": "?current_page=900",
		"filtered": "?query=" + url.QueryEscape(`{"tags":"tag7","enable":true,"release_date":{"$gte":"2000-01-01"}}`) +
			"&sort=" + url.QueryEscape(`{"release_date":-1}`),
		"by id": "?_id=f00000000000000000000001",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					req := httptest.NewRequest(http.MethodGet, "/api/v1/videos"+params, nil)
					req.Header.Set("Authorization", "Bearer subscriber")
					rec := httptest.NewRecorder()
					api.Handler().ServeHTTP(rec, req)
					if rec.Code != http.StatusOK {
						b.Fatal(rec.Body.String())
					}
				}
			})
		})
	}
}

// BenchmarkVideoWrite makes films through the whole handler: what a typical write takes,
// beside which BenchmarkBody of platform/httpapi weighs the reading of its body.
func BenchmarkVideoWrite(b *testing.B) {
	db, err := postgres.NewPool(b.Context(), pgtest.URL(b), postgres.Options{MaxConns: 8})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(db.Close)
	furnish(b, db)
	log, who := slog.New(slog.DiscardHandler), people{}
	api := httpapi.New(httpapi.Config{Version: "bench", Auth: who, Log: log})
	catalog.New(catalog.Deps{Pool: db, Clock: clock.System{}, Log: log}).Routes(api)
	n := 0
	for b.Loop() {
		n++
		body := fmt.Sprintf(`[{"title":"Film","slug":"film-%d","video_id":"https://cdn.example.com/film.m3u8","duration":5400,"release_date":"2024-01-10","tags":["drama","family","river"],"enable":true}]`, n)
		req := httptest.NewRequest(http.MethodPost, "/api/v1/videos", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer admin")
		rec := httptest.NewRecorder()
		api.Handler().ServeHTTP(rec, req)
		if rec.Code != http.StatusOK {
			b.Fatal(rec.Body.String())
		}
	}
}
