package catalog_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/catalog"
)

func TestSeed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.service.Seed(t.Context()))
	all := b.find("", `{"release_date":1}`)
	require.Equal(t, 44, all.Page.Total)
	require.Equal(t, "A Trip to the Moon", all.Docs[0]["title"])
	for _, v := range all.Docs {
		require.NotEmpty(t, v["description"], v["slug"])
		require.NotEmpty(t, v["author"], v["slug"])
		require.NotEmpty(t, v["category_name"], v["slug"])
		require.NotEmpty(t, v["tags_name"], v["slug"])
		require.Positive(t, v["duration"], v["slug"])
		u, err := url.Parse(v["video_id"].(string))
		require.NoError(t, err)
		require.Contains(t, []string{"archive.org", "studio.blender.org"}, u.Host)
	}
	season := b.find(`{"season_name":"Caminandes"}`, `{"episode_number":1}`)
	require.Equal(t, []any{1.0, 2.0, 3.0}, season.values("episode_number"))
	require.NotZero(t, b.find(`{"tags_name":"Silent","category_name":"Comedy"}`, "").Page.Total)

	id := all.Docs[0]["_id"].(string)
	b.must(http.MethodPut, "/videos", `[{"_id":"`+id+`","title":"Le voyage dans la Lune"}]`)
	b.must(http.MethodDelete, "/videos?_id="+all.Docs[1]["_id"].(string), "")
	errs := make(chan error, 4)
	for range 4 {
		go func() { errs <- b.service.Seed(t.Context()) }()
	}
	for range 4 {
		require.NoError(t, <-errs)
	}
	again := b.find("", `{"release_date":1}`)
	require.Equal(t, 44, again.Page.Total)
	require.Equal(t, "Le voyage dans la Lune", again.Docs[0]["title"], "what is there stays as it is")
}

// TestSampleFilmsPlayOnThisMachine: at each start on whatever port, but for those whose address somebody has changed.
func TestSampleFilmsPlayOnThisMachine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.service.Seed(t.Context()))
	point := func(host, file string) {
		t.Helper()
		require.NoError(t, catalog.PointSample(t.Context(), b.db, func(slug string) *url.URL {
			return &url.URL{Scheme: "http", Host: host, Path: "/films/" + slug + "/" + file}
		}))
	}
	address := func(slug string) any {
		t.Helper()
		return b.find(`{"slug":"`+slug+`"}`, "").Docs[0]["video_id"]
	}
	before := b.find(`{"slug":"sintel"}`, "").Docs[0]
	point("127.0.0.1:1000", "index.m3u8")
	require.Equal(t, "http://127.0.0.1:1000/films/sintel/index.m3u8", address("sintel"))
	b.must(http.MethodPut, "/videos", `[{"_id":"`+b.find(`{"slug":"elephants-dream"}`, "").Docs[0]["_id"].(string)+
		`","video_id":"http://127.0.0.1:1000/films/elephants-dream-of-mine/index.m3u8"}]`)
	point("127.0.0.1:20000", "film.mp4")
	require.Equal(t, "http://127.0.0.1:20000/films/sintel/film.mp4", address("sintel"))
	require.Equal(t, "http://127.0.0.1:1000/films/elephants-dream-of-mine/index.m3u8", address("elephants-dream"))
	require.Equal(t, 43, b.find(`{"video_id":{"$regex":"^http://127\\.0\\.0\\.1:20000/films/"}}`, "").Page.Total)
	after := b.find(`{"slug":"sintel"}`, "").Docs[0]
	after["video_id"] = before["video_id"]
	require.Equal(t, before, after, "nothing else of it has changed")
}
