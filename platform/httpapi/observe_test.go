package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/tracing"
	"marquee/testutil/collector"
	"marquee/testutil/secrettest"
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

// BenchmarkRequest is what a request costs around its handler: the chain, the caller, huma; and with a span.
func BenchmarkRequest(b *testing.B) {
	to := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer to.Close()
	tracer := tracing.New(tracing.Config{URL: to.URL, Ratio: 1, Service: "test", Log: slog.New(slog.DiscardHandler)})
	defer tracer.Close(context.Background())
	for name, tracer := range map[string]*tracing.Tracer{"untraced": nil, "traced": tracer} {
		b.Run(name, func(b *testing.B) {
			api := httpapi.New(httpapi.Config{
				Auth: everybody, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Tracer: tracer,
			})
			httpapi.Route(api, http.MethodGet, "/films", "film_list", httpapi.Subscriber, respondEmpty)
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, httpapi.Prefix+"/films", nil)
				r.Header.Set("Authorization", "Bearer customer")
				api.Handler().ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
}

// TestEachRequestHasASpan: by its template and status, also one that a handler breaks off. The trace of a proxy that is
// trusted goes on; that of anybody else does not.
func TestEachRequestHasASpan(t *testing.T) {
	t.Parallel()
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	to := collector.Start(t)
	tracer := tracing.New(tracing.Config{URL: to.URL, Ratio: 1, Service: "test", Log: secrettest.Logger(t)})
	t.Cleanup(func() { tracer.Close(context.Background()) })
	var log bytes.Buffer
	api := httpapi.New(httpapi.Config{
		Auth: everybody, Log: tracer.Log(slog.New(slog.NewJSONHandler(&log, nil))), Tracer: tracer,
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	})
	httpapi.Route(api, http.MethodGet, "/films/{id}", "film_get", httpapi.Public,
		func(_ context.Context, in *struct {
			ID string `path:"id"`
		},
		) (*httpapi.Output[empty], error) {
			switch in.ID {
			case "gone":
				return nil, fault.NotFound("Film")
			case "broken":
				panic(http.ErrAbortHandler)
			case "wrong":
				return nil, errors.New("the database of ana@example.com")
			}
			return httpapi.OK(empty{})
		})
	for n, c := range []struct{ method, path, peer, name, status string }{
		{"GET", "/api/v1/films/7", "10.1.2.3:80", "GET /api/v1/films/{id}", "200"},
		{"GET", "/api/v1/films/7?token=secret", "192.0.2.1:80", "GET /api/v1/films/{id}", "200"},
		{"GET", "/api/v1/films/gone", "not an address", "GET /api/v1/films/{id}", "404"},
		{"GET", "/api/v1/films/wrong", "192.0.2.1:80", "GET /api/v1/films/{id}", "500"},
		{"GET", "/api/v1/films/broken", "192.0.2.1:80", "GET /api/v1/films/{id}", "200"}, // as far as the handler came
		{"HEAD", "/api/v1/films/7", "192.0.2.1:80", "HEAD /api/v1/films/{id}", "200"},
		{"GET", "/api/v1/nowhere/ana@example.com", "192.0.2.1:80", "GET unknown", "404"},
		{"ana@example.com", "/api/v1/films/7", "192.0.2.1:80", "other unknown", "405"},
	} {
		r := httptest.NewRequest(http.MethodGet, c.path, nil)
		r.Method, r.RemoteAddr = c.method, c.peer
		r.Header.Set("Traceparent", "00-"+trace+"-"+span+"-01")
		log.Reset()
		func() {
			defer func() { _ = recover() }()
			api.Handler().ServeHTTP(httptest.NewRecorder(), r)
		}()
		require.NoError(t, tracer.Flush(t.Context()))
		all := to.Spans()
		require.Len(t, all, n+1)
		last := all[n]
		require.Equal(t, c.name, last.Name, c.path)
		require.Equal(t, c.status, last.Attributes["http.response.status_code"], c.path)
		require.Equal(t, c.status == "500", last.Failed, c.path)
		require.Contains(t, log.String(), `"trace_id":"`+last.Trace+`"`)
		if strings.HasPrefix(c.peer, "10.") {
			require.Equal(t, []string{trace, span}, []string{last.Trace, last.Parent})
			continue
		}
		require.NotEqual(t, trace, last.Trace)
		require.Empty(t, last.Parent)
		require.Equal(t, []string{trace}, last.Links)
	}
	for _, word := range []string{"ana@example.com", "secret", "gone", "10.1.2.3"} {
		require.NotContains(t, to.Text(), word)
	}
}
