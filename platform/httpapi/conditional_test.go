package httpapi_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
)

func TestIfNoneMatch(t *testing.T) {
	t.Parallel()
	const tag = `"a1b2"`
	for value, want := range map[string]bool{
		tag: true, "W/" + tag: true, "*": true, ` "x" ,	W/"a1b2"`: true, `"x", *`: true,
		"": false, `"x"`: false, "a1b2": false, `"a1b2`: false, `"A1B2"`: false, "w/" + tag: false, `"*"`: false,
	} {
		require.Equal(t, want, httpapi.IfNoneMatch(http.Header{"If-None-Match": {value}}, tag), "%s", value)
	}
	require.True(t, httpapi.IfNoneMatch(http.Header{"If-None-Match": {`"x"`, tag}}, tag), "over two lines")
	require.False(t, httpapi.IfNoneMatch(http.Header{}, tag))
}

func TestAcceptsCoding(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"gzip": true, "GZIP": true, "br, gzip;q=0.2": true, "gzip ; q=1.0": true, "gzip;Q=0.5": true, "*": true,
		"identity;q=0, *;q=0.1": true, "deflate,gzip, br": true,
		"": false, "identity": false, "br": false, "gzip;q=0": false, "gzip;q=0.000": false, "*;q=0": false,
		"gzip;q=0, *": false, "*, gzip;q=0": false, "gzip;q=x": false, "gzip;level=9": false, "gzipped": false,
	} {
		require.Equal(t, want, httpapi.AcceptsCoding(http.Header{"Accept-Encoding": {value}}, "gzip"), "%s", value)
	}
	require.True(t, httpapi.AcceptsCoding(http.Header{"Accept-Encoding": {"br", "gzip"}}, "gzip"), "over two lines")
	require.False(t, httpapi.AcceptsCoding(http.Header{}, "gzip"))
}

// TestNotModifiedLeavesTheErrors: an operation that states 304 goes on stating its success and its errors.
func TestNotModifiedLeavesTheErrors(t *testing.T) {
	t.Parallel()
	api := httpapi.New(httpapi.Config{Log: slog.New(slog.DiscardHandler)})
	httpapi.Route(api, http.MethodGet, "/things", "thing_list", httpapi.Public,
		func(context.Context, *struct{}) (*httpapi.Output[struct{}], error) { return httpapi.OK(struct{}{}) },
		httpapi.NotModified())
	answer := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/openapi.json", nil)
	api.Handler().ServeHTTP(answer, request)
	var document struct {
		Paths map[string]map[string]struct{ Responses map[string]any }
	}
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &document))
	responses := document.Paths["/api/v1/things"]["get"].Responses
	require.ElementsMatch(t, []string{"200", "304", "4XX", "default"}, slices.Collect(maps.Keys(responses)))
}
