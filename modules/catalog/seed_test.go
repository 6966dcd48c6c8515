package catalog_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
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
