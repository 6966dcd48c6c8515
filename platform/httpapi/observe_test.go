package httpapi_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

type empty struct{}

func respondEmpty(context.Context, *struct{}) (*httpapi.Output[empty], error) {
	return httpapi.OK(empty{})
}

// Lines are left out of frequent reads that went well, and only where the configuration says so.
func TestLinesAreThinnedOut(t *testing.T) {
	t.Parallel()
	lines := func(oneIn int, method, path, token string) int {
		var log bytes.Buffer
		api := httpapi.New(httpapi.Config{
			Auth: everybody, LogOneIn: oneIn, Log: slog.New(slog.NewJSONHandler(&log, nil)),
		})
		httpapi.Route(api, http.MethodGet, "/films", "film_list", httpapi.SignedIn, respondEmpty, httpapi.Frequent())
		httpapi.Route(api, http.MethodGet, "/gone", "film_gone", httpapi.SignedIn,
			func(context.Context, *struct{}) (*httpapi.Output[empty], error) { return nil, fault.NotFound("Film") },
			httpapi.Frequent())
		httpapi.Route(api, http.MethodPost, "/films", "film_create", httpapi.Admin, respondEmpty)
		httpapi.Route(api, http.MethodGet, "/payments", "payment_list", httpapi.SignedIn, respondEmpty)
		for range 20 {
			r := httptest.NewRequest(method, httpapi.Prefix+path, nil)
			r.Header.Set("Authorization", "Bearer "+token)
			api.Handler().ServeHTTP(httptest.NewRecorder(), r)
		}
		return strings.Count(log.String(), `"msg":"request"`)
	}
	for _, tc := range []struct {
		oneIn                     int
		method, path, token, what string
		lines                     int
	}{
		{0, "GET", "/films", "customer", "off by default", 20},
		{1, "GET", "/films", "customer", "off", 20},
		{10, "GET", "/films", "customer", "frequent", 2},
		{10, "HEAD", "/films", "customer", "frequent", 2},
		{10, "GET", "/films", "nobody", "403", 20},
		{10, "GET", "/gone", "customer", "404", 20},
		{10, "POST", "/films", "admin", "an administrator's", 20},
		{10, "GET", "/payments", "customer", "money", 20},
		{10, "GET", "/nowhere", "customer", "no route", 20},
	} {
		require.Equal(t, tc.lines, lines(tc.oneIn, tc.method, tc.path, tc.token), "%s %s: %s", tc.method, tc.path, tc.what)
	}
	api := httpapi.New(httpapi.Config{Auth: everybody, Log: slog.New(slog.DiscardHandler)})
	for _, auth := range []httpapi.Auth{httpapi.Admin, httpapi.Root, httpapi.Gateway, httpapi.Customer} {
		require.Panics(t, func() {
			httpapi.Route(api, http.MethodGet, "/a", "a", auth, respondEmpty, httpapi.Frequent())
		}, auth)
	}
	require.Panics(t, func() {
		httpapi.Route(api, http.MethodPost, "/a", "a", httpapi.SignedIn, respondEmpty, httpapi.Frequent())
	})
}

// BenchmarkRequest is what a request costs around its handler: the chain, the caller, huma.
func BenchmarkRequest(b *testing.B) {
	api := httpapi.New(httpapi.Config{
		Auth: everybody, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	httpapi.Route(api, http.MethodGet, "/films", "film_list", httpapi.Subscriber, respondEmpty)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodGet, httpapi.Prefix+"/films", nil)
		r.Header.Set("Authorization", "Bearer customer")
		api.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
}
