package catalog_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/catalog/catalogtest"
	"marquee/platform/httpapi"
	"marquee/platform/resource"
	"marquee/testutil/apitest"
)

// searcher is setup with the search route, as the composition root adds it.
func searcher(t *testing.T) (*bundle, func(who, params string) response) {
	b := setup(t)
	routes := resource.Routes{Pool: b.db, Clock: b.clock}
	httpapi.Route(b.api, http.MethodGet, "/search/{collection_name}", "search", httpapi.SignedIn,
		routes.Search(b.service.VideoSearch()), resource.SearchDoc()...)
	checked := apitest.New(t, b.api)
	return b, func(who, params string) response {
		return read(checked.As(who).Get("/search/" + params))
	}
}

func q(words string) string { return "videos?q=" + url.QueryEscape(words) }

func TestSearchFindsVideos(t *testing.T) {
	t.Parallel()
	b, search := searcher(t)
	season := catalogtest.Season(t, b.db, "Primeira temporada")
	for _, v := range []catalogtest.Fields{
		{"title": "Ação no Rio", "author": "Ana Souza", "description": "O mar e o sol"},
		{"title": "Canções da Bahia", "tags": []string{"música", "ao vivo"}},
		{"title": "Programas infantis", "description": "Uma canção por dia, sem ação."},
		{"title": "Cidadão Kane", "author": "O. Welles", "season_id": season},
		{"title": "X-Men 2", "category_id": []any{catalogtest.Category(t, b.db, "Heróis")}},
	} {
		catalogtest.Video(t, b.db, v)
	}
	for words, want := range map[string][]any{
		"ação":              {"Ação no Rio", "Programas infantis"}, // a title counts more than a description
		"ACAO":              {"Ação no Rio", "Programas infantis"},
		"ações":             {"Ação no Rio", "Programas infantis"},
		"ac\u0327a\u0303o":  {"Ação no Rio", "Programas infantis"}, // decomposed accents
		"cancao":            {"Canções da Bahia", "Programas infantis"},
		"programa":          {"Programas infantis"},
		"progr":             {"Programas infantis"},
		"infantis programa": {"Programas infantis"},
		"infan programa":    {}, // only the last word is a prefix
		"rio ana":           {"Ação no Rio"},
		"rio ana kane":      {},
		"souz":              {"Ação no Rio"},
		"o mar":             {"Ação no Rio"},
		"musica viv":        {"Canções da Bahia"},
		"cidadoes":          {"Cidadão Kane"},
		"welles primeir":    {"Cidadão Kane"},
		"herois":            {"X-Men 2"},
		"x men":             {"X-Men 2"},
		"x-me":              {"X-Men 2"},
		"...":               {},
		"— “”":              {},
		"' | ! & :* \\ (":   {},
		"mar' & !'x":        {},
		"%":                 {},
	} {
		a := search("subscriber", q(words))
		require.Equal(t, http.StatusOK, a.status, "%q: %s", words, a.raw)
		require.Equal(t, want, a.values("title"), words)
		require.Equal(t, len(want), a.Page.Total, words)
	}
}

func TestSearchOnTopOfTheCollectionsParameters(t *testing.T) {
	t.Parallel()
	b, search := searcher(t)
	for _, title := range []string{"Rio um", "Rio dois", "Rio três", "Mar"} {
		catalogtest.Video(t, b.db, catalogtest.Fields{"title": title, "enable": title != "Rio dois"})
	}
	a := search("admin", q("rio")+"&sort="+url.QueryEscape(`{"title":1}`)+"&qty_docs_page=2")
	require.Equal(t, []any{"Rio dois", "Rio três"}, a.values("title"))
	require.Equal(t, 3, a.Page.Total)
	require.Contains(t, a.raw, `"rel":"next"`)
	require.Contains(t, a.raw, `q=rio`)
	a = search("admin", q("rio")+"&query="+url.QueryEscape(`{"$or":[{"enable":false},{"title":"Mar"}]}`))
	require.Equal(t, []any{"Rio dois"}, a.values("title"))
	id := a.Docs[0]["_id"].(string)
	require.Equal(t, []any{"Rio dois"}, search("admin", "videos?_id="+id).values("title"))
	require.Empty(t, search("admin", q("rio")+"&docs_range=(200,210)").Docs)
	for params, field := range map[string]string{
		"videos":                             "q",
		"videos?q=":                          "q",
		"videos?q=%20":                       "q",
		"videos?q=a&q=b":                     "q",
		"videos?q=%FF":                       "q",
		q(strings.Repeat("é", 201)):          "q",
		q("rio") + "&query=x":                "query",
		q("rio") + "&sort=%7B%22title%22:2}": "sort",
		q("rio") + "&qty_docs_page=0":        "qty_docs_page",
	} {
		a := search("admin", params)
		require.Equal(t, http.StatusUnprocessableEntity, a.status, params)
		require.Equal(t, field, a.Error.Field, params)
	}
	require.Equal(t, http.StatusOK, search("admin", q(strings.Repeat("é", 200))).status)
}

func TestSearchBreaksTiesByTheDefaultSort(t *testing.T) {
	t.Parallel()
	b, search := searcher(t)
	catalogtest.Videos(t, b.db, 130) // equally good matches, newest edit first
	deep := search("admin", q("title")+"&current_page=12")
	require.Equal(t, []any{"Title 9", "Title 8", "Title 7"}, deep.values("title")[:3])
	require.Equal(t, []any{"Title 129", "Title 128"}, search("admin", q("title")).values("title")[:2])
}

func TestWhoSearches(t *testing.T) {
	t.Parallel()
	b, search := searcher(t)
	catalogtest.Video(t, b.db, catalogtest.Fields{"title": "Rio"})
	for _, tc := range []struct {
		who, params string
		status      int
		detail      any
		code        string
	}{
		{"nonsense", q("rio"), 403, "Access Denied: Could not validate token.", ""},
		{"deleted", q("rio"), 403, "Access Denied: Could not validate token.", ""},
		{"stranger", q("rio"), 403, "No active subscription.", "FORBIDDEN"},
		{"stranger", "videos", 403, "No active subscription.", "FORBIDDEN"},
		{"admin", "Videos?q=rio", 404, "Collection not found.", "NOT_FOUND"},
		{"stranger", "nothing?q=rio", 404, "Collection not found.", "NOT_FOUND"},
		{"subscriber", q("rio"), 200, nil, ""},
		{"admin", q("rio"), 200, nil, ""},
	} {
		a := search(tc.who, tc.params)
		require.Equal(t, tc.status, a.status, "%s %s: %s", tc.who, tc.params, a.raw)
		require.Equal(t, tc.detail, a.Detail)
		if tc.code != "" {
			require.Equal(t, tc.code, a.Error.Code)
		}
	}
	require.Equal(t, http.StatusUnauthorized, b.call("", http.MethodGet, "/search/"+q("rio"), "").status)
}
