package catalog_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/catalog/catalogtest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/film"
)

type streamDoc struct {
	VideoID   objectid.ID `json:"video_id"`
	URL       string      `json:"url"`
	ExpiresAt time.Time   `json:"expires_at"`
}

func streamPath(id objectid.ID) string { return "/videos/" + id.String() + "/stream-url" }

func (b *bundle) stream(t *testing.T, who string, id objectid.ID) streamDoc {
	t.Helper()
	a := apitest.New(t, b.api).As(who).Get(streamPath(id)).Expect(http.StatusOK)
	require.Equal(t, "private, no-store", a.Header.Get("Cache-Control"))
	var doc streamDoc
	a.JSON(&doc)
	return doc
}

// checkStreamURL asks the documented check about the address, as a client requests it.
func checkStreamURL(t *testing.T, address string, now time.Time) bool {
	t.Helper()
	return film.Allowed(httptest.NewRequest(http.MethodGet, address, nil), streamKey, now)
}

func TestStreamURLIsSignedAndExpires(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := catalogtest.Video(t, b.db, catalogtest.Fields{
		"video_id": "https://CDN.example/films/a%20b.m3u8?quality=hd#t=10",
	})
	doc := b.stream(t, "subscriber", objectid.ID(strings.ToUpper(id.String())))
	require.Equal(t, id, doc.VideoID)
	require.Equal(t, start.Add(4*time.Hour), doc.ExpiresAt)
	want := fmt.Sprintf("https://cdn.example/films/a%%20b.m3u8?quality=hd&expires=%d&signature=", doc.ExpiresAt.Unix())
	require.Regexp(t, "^[0-9a-f]{64}$", strings.TrimPrefix(doc.URL, want))
	require.True(t, checkStreamURL(t, doc.URL, start))
	require.True(t, checkStreamURL(t, doc.URL, doc.ExpiresAt.Add(-time.Second)))
	require.False(t, checkStreamURL(t, doc.URL, doc.ExpiresAt))
}

func TestStreamURLCannotBeChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := catalogtest.Video(t, b.db, catalogtest.Fields{"video_id": "https://cdn.example/films/a.m3u8?quality=hd"})
	doc := b.stream(t, "subscriber", id)
	expires := fmt.Sprintf("expires=%d", doc.ExpiresAt.Unix())
	for what, changed := range map[string]string{
		"path":           strings.Replace(doc.URL, "/a.m3u8", "/b.m3u8", 1),
		"host":           strings.Replace(doc.URL, "cdn.example", "cdn2.example", 1),
		"query":          strings.Replace(doc.URL, "quality=hd", "quality=4k", 1),
		"longer":         strings.Replace(doc.URL, expires, fmt.Sprintf("expires=%d", doc.ExpiresAt.Unix()+1), 1),
		"second expires": doc.URL + "&expires=9999999999",
		"no signature":   doc.URL[:strings.Index(doc.URL, "&signature=")],
		"empty":          doc.URL[:strings.Index(doc.URL, "&signature=")] + "&signature=",
		"short":          doc.URL[:len(doc.URL)-2],
	} {
		require.NotEqual(t, doc.URL, changed, what)
		require.False(t, checkStreamURL(t, changed, start), what)
	}
	require.False(t, film.Allowed(httptest.NewRequest(http.MethodGet, doc.URL, nil), []byte("another key"), start))
}

func TestStreamURLOfEveryAddressIsAdmitted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for address, begins := range map[string]string{
		"https://cdn.example":                                     "https://cdn.example/?expires=",
		"http://cdn.example:8443/a":                               "http://cdn.example:8443/a?expires=",
		"https://cdn.example/a?expires=1&signature=x&%65xpires=2": "https://cdn.example/a?expires=1795",
		"https://cdn.example/é?title=é'&flag":                     "https://cdn.example/%C3%A9?title=%C3%A9%27&flag&expires=",
		"https://cdn.example/a%2Fb?x=%26signature":                "https://cdn.example/a%2Fb?x=%26signature&expires=",
	} {
		doc := b.stream(t, "subscriber", catalogtest.Video(t, b.db, catalogtest.Fields{"video_id": address}))
		require.True(t, strings.HasPrefix(doc.URL, begins), doc.URL)
		require.Equal(t, 1, strings.Count(doc.URL, "&signature="), doc.URL)
		require.True(t, checkStreamURL(t, doc.URL, start), doc.URL)
	}
}

func TestStreamURLIsForWhoMayWatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := catalogtest.Video(t, b.db)
	api := apitest.New(t, b.api)
	api.Get(streamPath(id)).Expect(http.StatusUnauthorized)
	require.Equal(t, "Access Denied: Could not validate token.",
		api.As("nonsense").Get(streamPath(id)).Expect(http.StatusForbidden).Detail())
	require.Equal(t, "Access Denied: Could not validate token.",
		api.As("deleted").Get(streamPath(id)).Expect(http.StatusForbidden).Detail())
	require.Equal(t, "FORBIDDEN", api.As("stranger").Get(streamPath(id)).Expect(http.StatusForbidden).Code())
	require.Equal(t, "FORBIDDEN",
		api.As("stranger").Get(streamPath(objectid.New())).Expect(http.StatusForbidden).Code())
	require.Equal(t, "NOT_FOUND",
		api.As("subscriber").Get(streamPath(objectid.New())).Expect(http.StatusNotFound).Code())
	require.Equal(t, "NOT_FOUND", api.As("admin").Get(streamPath(objectid.New())).Expect(http.StatusNotFound).Code())
	require.Equal(t, "VALIDATION_ERROR",
		api.As("subscriber").Get("/videos/nonsense/stream-url").Expect(http.StatusUnprocessableEntity).Code())
}

func TestStreamURLOfADisabledOrExpiredVideoIsForAdmins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	api := apitest.New(t, b.api)
	disabled := catalogtest.Video(t, b.db, catalogtest.Fields{"enable": false})
	expired := catalogtest.Video(t, b.db, catalogtest.Fields{"expiration_date": start.Format(time.RFC3339)})
	for _, id := range []objectid.ID{disabled, expired} {
		require.Equal(t, "NOT_FOUND", api.As("subscriber").Get(streamPath(id)).Expect(http.StatusNotFound).Code())
		require.True(t, checkStreamURL(t, b.stream(t, "admin", id).URL, start))
	}
}

func TestStreamURLEndsWithItsVideo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	soon := start.Add(time.Hour)
	id := catalogtest.Video(t, b.db, catalogtest.Fields{"expiration_date": soon.Format(time.RFC3339)})
	require.Equal(t, soon, b.stream(t, "subscriber", id).ExpiresAt)
	require.Equal(t, start.Add(4*time.Hour), b.stream(t, "admin", id).ExpiresAt)
}

func TestDocumentedCheckIsTheTestedOne(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../testutil/film/check.go")
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/streaming.md")
	require.NoError(t, err)
	_, checks, found := strings.Cut(string(source), "\n)\n\n")
	require.True(t, found)
	file, directory, found := strings.Cut(checks, "\n\nvar (")
	require.True(t, found)
	for _, check := range []string{file + "\n", "var (" + directory} {
		require.Contains(t, string(page), "```go\n"+check+"```\n")
	}
}
