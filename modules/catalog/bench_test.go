package catalog_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"marquee/modules/catalog"
	"marquee/modules/catalog/catalogtest"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// BenchmarkVideoList asks for pages of a catalogue of 10,000 videos through the
// whole handler, without a network in between (W1 and W2 of the design page
// performance).
func BenchmarkVideoList(b *testing.B) {
	db, err := postgres.NewPool(b.Context(), pgtest.URL(b), postgres.Options{MaxConns: 8})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(db.Close)
	catalogtest.Videos(b, db, 10_000)
	log, who := slog.New(slog.DiscardHandler), people{}
	api := httpapi.New(httpapi.Config{Version: "bench", Auth: who, Log: log})
	catalog.New(catalog.Deps{Pool: db, Clock: clock.System{}, Log: log, Callers: who, Access: who}).Routes(api)
	for name, params := range map[string]string{
		"page":     "",
		"deep":     "?current_page=900",
		"filtered": "?query=" + url.QueryEscape(`{"tags":"tag7","enable":true,"release_date":{"$gte":"2000-01-01"}}`) + "&sort=" + url.QueryEscape(`{"release_date":-1}`),
		"by id":    "?_id=f00000000000000000000001",
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
