package resource_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"marquee/platform/query"
	"marquee/platform/resource"
)

// sendTo sends an answer to a request with these headers.
func sendTo(a *resource.CachedResponse, headers http.Header) *httptest.ResponseRecorder {
	req, rec := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
	req.Header = headers
	rec.Header().Set("Content-Type", "application/json") // which huma takes from the output
	rec.Header().Set("Vary", "Origin")
	a.Output().Body(humachi.NewContext(&huma.Operation{}, req, rec))
	return rec
}

func TestAnswersAreSentAsTheClientTakesThem(t *testing.T) {
	t.Parallel()
	a := responseOf(t, 1, `{"title":"a"}`)
	plain := sendTo(a, http.Header{})
	require.Equal(t, http.StatusOK, plain.Code)
	require.Contains(t, plain.Body.String(), `{"docs":[{"title":"a"}],"links":`)
	require.Equal(t, strconv.Itoa(plain.Body.Len()), plain.Header().Get("Content-Length"))
	require.Equal(t, "private, no-cache", plain.Header().Get("Cache-Control"))
	require.Equal(t, []string{"Origin", "Authorization, Accept-Encoding"}, plain.Header().Values("Vary"))
	require.Empty(t, plain.Header().Get("Content-Encoding"))

	zipped := sendTo(a, http.Header{"Accept-Encoding": {"gzip"}})
	require.Equal(t, "gzip", zipped.Header().Get("Content-Encoding"))
	require.Equal(t, strconv.Itoa(zipped.Body.Len()), zipped.Header().Get("Content-Length"))
	reader, err := gzip.NewReader(bytes.NewReader(zipped.Body.Bytes()))
	require.NoError(t, err)
	body, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, plain.Body.String(), string(body))
	require.NotEqual(t, plain.Header().Get("ETag"), zipped.Header().Get("ETag"))
}

func TestAnEntityTagIsOfTheBytes(t *testing.T) {
	t.Parallel()
	tag := func(a *resource.CachedResponse) string { return sendTo(a, http.Header{}).Header().Get("ETag") }
	a := responseOf(t, 1, `{"title":"a"}`)
	require.Equal(t, tag(a), tag(responseOf(t, 2, `{"title":"a"}`)), "another version, or server, of the same")
	require.NotEqual(t, tag(a), tag(responseOf(t, 1, `{"title":"b"}`)))
	for known, status := range map[string]int{
		tag(a): http.StatusNotModified, "*": http.StatusNotModified, `"x"`: http.StatusOK,
	} {
		rec := sendTo(a, http.Header{"If-None-Match": {known}})
		require.Equal(t, status, rec.Code, known)
		require.Equal(t, tag(a), rec.Header().Get("ETag"))
		require.Equal(t, status == http.StatusNotModified, rec.Body.Len() == 0)
		require.Equal(t, status == http.StatusNotModified, rec.Header().Get("Content-Type") == "")
	}
}

// A filter of a client that names what is not shown is counted each time, also when no list is prepared for it.
func TestUnknownFieldsOfCachedResponsesAreCounted(t *testing.T) {
	t.Parallel()
	shelves := resource.New(resource.Definition{
		Name: "shelves", Singular: "Shelf", Table: "shelf.shelves", DefaultSort: `{"name":1}`,
		Fields: []resource.Field{{Name: "name", Kind: query.String, Nullable: true}},
	})
	counted := func() float64 {
		var m dto.Metric
		require.NoError(t, resource.UnknownFields.WithLabelValues("shelves").Write(&m))
		return m.GetCounter().GetValue()
	}
	list, err := shelves.View.Prepare(resource.Params{Size: 10, Query: `{"nowhere":1}`, Sort: `{"neither":1}`})
	require.NoError(t, err)
	require.InDelta(t, 2, counted(), 0)
	response := list.CachedResponse(t.Context())
	response.CountUnknown()
	require.InDelta(t, 4, counted(), 0)
}
