package catalog_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/catalog/catalogtest"
	"marquee/testutil/film"
)

// insideStreamURL asks the documented check about an address below a signed directory.
func insideStreamURL(t *testing.T, address string, now time.Time) (path string, allowed bool) {
	t.Helper()
	return film.Inside(httptest.NewRequest(http.MethodGet, address, nil), streamKey, now)
}

// directoryStream is the signed address of an HLS playlist without its name, and its source.
func directoryStream(t *testing.T, source string) (prefix string, doc streamDoc) {
	t.Helper()
	b := setup(t)
	doc = b.stream(t, "subscriber", catalogtest.Video(t, b.db, catalogtest.Fields{"video_id": source}))
	prefix, found := strings.CutSuffix(doc.URL, "index.m3u8")
	require.True(t, found, doc.URL)
	return prefix, doc
}

func TestStreamURLOfAnHLSDirectoryIsInheritedByItsFiles(t *testing.T) {
	t.Parallel()
	prefix, doc := directoryStream(t, "https://CDN.example:8443/films/a%20b/index.m3u8#t=10")
	require.Equal(t, start.Add(4*time.Hour), doc.ExpiresAt)
	begins := fmt.Sprintf("https://cdn.example:8443/_s/%d/", doc.ExpiresAt.Unix())
	require.Regexp(t, "^[0-9a-f]{64}/films/a%20b/index.m3u8$", strings.TrimPrefix(doc.URL, begins))
	for _, name := range []string{
		"index.m3u8", "720p/index.m3u8", "720p/init.mp4", "720p/1.m4s?_HLS_msn=3", "captions/pt/a%20b.vtt", "a&signature=b",
	} {
		path, allowed := insideStreamURL(t, prefix+name, start)
		require.True(t, allowed, name)
		name, _, _ = strings.Cut(name, "?")
		require.Equal(t, "/films/a%20b/"+name, path)
	}
	_, allowed := insideStreamURL(t, doc.URL, doc.ExpiresAt.Add(-time.Second))
	require.True(t, allowed)
	_, allowed = insideStreamURL(t, doc.URL, doc.ExpiresAt)
	require.False(t, allowed)
}

func TestStreamURLOfAnHLSDirectoryOpensNothingElse(t *testing.T) {
	t.Parallel()
	prefix, doc := directoryStream(t, "https://cdn.example/films/a/index.m3u8")
	expires := strconv.FormatInt(doc.ExpiresAt.Unix(), 10)
	above, _ := strings.CutSuffix(prefix, "a/")
	signature := strings.Split(prefix, "/")[5]
	for what, address := range map[string]string{
		"another directory":         above + "b/index.m3u8",
		"one whose name begins so":  above + "ab/index.m3u8",
		"the directory above":       above + "index.m3u8",
		"the root":                  strings.TrimSuffix(above, "films/") + "index.m3u8",
		"below another":             above + "b/a/index.m3u8",
		"longer":                    strings.Replace(doc.URL, expires, strconv.FormatInt(doc.ExpiresAt.Unix()+1, 10), 1),
		"longer with zeros":         strings.Replace(doc.URL, expires, "0"+expires, 1),
		"another host":              strings.Replace(doc.URL, "cdn.example", "cdn2.example", 1),
		"another port":              strings.Replace(doc.URL, "cdn.example", "cdn.example:8443", 1),
		"no signature":              strings.Replace(doc.URL, signature+"/", "", 1),
		"empty signature":           strings.Replace(doc.URL, signature, "", 1),
		"short signature":           strings.Replace(doc.URL, signature, signature[:62], 1),
		"another signature":         strings.Replace(doc.URL, signature, strings.Repeat("0", 64), 1),
		"capital signature":         strings.Replace(doc.URL, signature, strings.ToUpper(signature), 1),
		"unsigned":                  "https://cdn.example/films/a/index.m3u8",
		"signed for a file":         "https://cdn.example/films/a/index.m3u8?expires=" + expires + "&signature=" + signature,
		"no file":                   prefix,
		"climbs":                    prefix + "../b/index.m3u8",
		"climbs and returns":        prefix + "../a/index.m3u8",
		"a dot":                     prefix + "./index.m3u8",
		"climbs, encoded":           prefix + "%2e%2e/b/index.m3u8",
		"climbs, half encoded":      prefix + ".%2E/b/index.m3u8",
		"climbs, encoded twice":     prefix + "%252e%252e/b/index.m3u8",
		"climbs, separator encoded": prefix + "..%2fb%2findex.m3u8",
		"separator encoded":         prefix + "720p%2Findex.m3u8",
		"separator of Windows":      prefix + `..\b\index.m3u8`,
		"the same, encoded":         prefix + "..%5cb%5cindex.m3u8",
		"directory encoded":         above + "%61/index.m3u8",
		"double slash":              prefix + "/index.m3u8",
		"double slash before":       strings.Replace(doc.URL, "/films/", "//films/", 1),
		"ends its text":             prefix + "index.m3u8%00.mp4",
		"hidden":                    prefix + ".htpasswd",
		"too deep":                  prefix + strings.Repeat("a/", 15) + "index.m3u8",
		"twice":                     strings.Replace(doc.URL, "/films/", "/_s/"+expires+"/"+signature+"/films/", 1),
	} {
		require.NotEqual(t, doc.URL, address, what)
		_, allowed := insideStreamURL(t, address, start)
		require.False(t, allowed, what)
		require.False(t, checkStreamURL(t, address, start), what)
	}
	_, allowed := film.Inside(httptest.NewRequest(http.MethodGet, doc.URL, nil), []byte("another key"), start)
	require.False(t, allowed)
	// What is signed of a directory is nothing that the check of files takes.
	text := fmt.Sprintf("https://cdn.example/_s/%s/films/a/&signature=%s", expires, signature)
	require.False(t, checkStreamURL(t, text, start))
}

// TestStreamURLOfAPlaylistThatHasNoDirectoryOfItsOwn: it is signed as a file.
func TestStreamURLOfAPlaylistThatHasNoDirectoryOfItsOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for what, source := range map[string]string{
		"the whole host":        "https://cdn.example/a.m3u8",
		"a query of its own":    "https://cdn.example/films/a/index.m3u8?quality=hd",
		"no playlist":           "https://cdn.example/films/a/film.mp4",
		"a directory":           "https://cdn.example/films/a.m3u8/",
		"read in two ways":      "https://cdn.example/films%2Fa/index.m3u8",
		"an escape in it":       "https://cdn.example/films/a%252fb/index.m3u8",
		"climbs":                "https://cdn.example/films/../a/index.m3u8",
		"double slash":          "https://cdn.example/films//a/index.m3u8",
		"hidden":                "https://cdn.example/.films/a/index.m3u8",
		"deeper than is looked": "https://cdn.example/1/2/3/4/5/6/7/8/9/index.m3u8",
	} {
		doc := b.stream(t, "subscriber", catalogtest.Video(t, b.db, catalogtest.Fields{"video_id": source}))
		require.NotContains(t, doc.URL, "/_s/", what)
		require.True(t, checkStreamURL(t, doc.URL, start), what)
	}
	for _, source := range []string{
		"https://cdn.example/films/a/INDEX.M3U8", "https://cdn.example/films/é/index.m3u8?", "http://cdn.example/1/2/3/4/5/6/7/8/a.m3u8",
		"https://cdn.example/films/a/index.m3u8?expires=1&signature=x",
	} {
		doc := b.stream(t, "subscriber", catalogtest.Video(t, b.db, catalogtest.Fields{"video_id": source}))
		_, allowed := insideStreamURL(t, doc.URL, start)
		require.True(t, allowed, doc.URL)
		require.NotContains(t, doc.URL, "?")
	}
}
