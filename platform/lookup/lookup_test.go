package lookup_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/lookup"
	"marquee/platform/objectid"
	"marquee/platform/replica"
	"marquee/testutil/apitest"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

func TestWhatATextMayBe(t *testing.T) {
	t.Parallel()
	id := "66f0a1b2c3d4e5f607182a01"
	for _, tc := range []struct {
		text string
		want lookup.Term
	}{
		{id, lookup.Term{ID: objectid.ID(id), Token: id}},
		{strings.ToUpper(id), lookup.Term{ID: objectid.ID(id), Token: strings.ToUpper(id)}},
		{"529.982.247-25", lookup.Term{TaxID: "52998224725", Token: "529.982.247-25", Words: []string{"529.982.247-25"}}},
		{"12.abc.345/01de-35", lookup.Term{
			TaxID: "12ABC34501DE35", Token: "12.abc.345/01de-35", Words: []string{"12.abc.345/01de-35"},
		}},
		{"João da Silva", lookup.Term{Words: []string{"João", "da", "Silva"}}},
		{"- silva , ...", lookup.Term{Words: []string{"silva"}}},
		{"jo", lookup.Term{Token: "jo"}},
		{"a.b.c", lookup.Term{Token: "a.b.c"}},
		{"Ze\u0301a", lookup.Term{Token: "Ze\u0301a", Words: []string{"Ze\u0301a"}}}, // an accent that stands for itself
		{"sub_1SVaBc", lookup.Term{Token: "sub_1SVaBc"}},
		{"evt_15e4&41870213", lookup.Term{Token: "evt_15e4&41870213"}},
		{"7d1f0c62-4b7e-4f0b-9a4c-5b6c7d8e9f01", lookup.Term{Token: "7d1f0c62-4b7e-4f0b-9a4c-5b6c7d8e9f01"}},
		{"a b c d e f g h i jkl", lookup.Term{Words: []string{"a", "b", "c", "d", "e", "f", "g", "h"}}},
	} {
		tc.want.Text = tc.text
		require.Equal(t, tc.want, lookup.Read(tc.text), tc.text)
	}
	require.Empty(t, lookup.Beginnings(lookup.Read("...")))
	require.Equal(t, []string{"sub_1SVaBc"}, lookup.GatewayIDs(lookup.Read("sub_1SVaBc")))
	require.Empty(t, lookup.GatewayIDs(lookup.Read("sub_ of somebody")))
}

// of makes a finder of so many records that hold every word, of which the first is named by it.
func of(kind string, n int, rank lookup.Rank) lookup.Finder {
	return lookup.Finder{
		Kind: kind, Route: kind + "_list", Title: "t.title", Customer: "t.customer",
		From: fmt.Sprintf("(SELECT lpad(n::text, 24, '0') id, '%s ' || n title, NULL customer FROM generate_series(1, %d) n) t", kind, n),
		By: []lookup.By{
			{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
			{Name: "title", Rank: rank, Values: lookup.Beginnings, Where: "t.id > '' AND $1 <> ''", OrderBy: "t.id DESC"},
			{Name: "again", Rank: lookup.Within, Values: lookup.Beginnings, Where: "$1 <> ''"},
		},
	}
}

func TestTheBestComeFirstAndNoKindAloneOfMany(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	client := func(finders ...lookup.Finder) *apitest.Client {
		api := httpapi.New(httpapi.Config{Auth: anAdmin{}, Log: secrettest.Logger(t)})
		for _, f := range finders {
			httpapi.Route(api, http.MethodGet, "/"+f.Kind, f.Route, httpapi.Admin,
				func(context.Context, *struct{}) (*httpapi.Output[string], error) { return httpapi.OK("") })
		}
		l := lookup.New(api, replica.Only(db), finders...)
		httpapi.Route(api, http.MethodGet, "/admin/search", "admin_search", httpapi.Admin, l.Find, l.Doc(api)...)
		return apitest.New(t, api).As("token")
	}
	search := func(c *apitest.Client, typed string) (all []string) {
		var body lookup.Hits
		c.Get("/admin/search?q=" + url.QueryEscape(typed)).Expect(http.StatusOK).JSON(&body)
		for _, h := range body.Hits {
			all = append(all, h.Title+" by "+h.FoundBy)
		}
		return all
	}
	mixed := client(of("house", 30, lookup.Within), of("car", 3, lookup.Within), of("dog", 1, lookup.Beginning))
	hits := search(mixed, "any")
	require.Len(t, hits, 20)
	require.Equal(t, []string{"dog 1 by title", "house 30 by title", "house 29 by title"}, hits[:3])
	require.Equal(t, "car 3 by title", hits[17], "house has what is left")
	require.Equal(t, []string{"house 7 by _id"}, search(mixed, "000000000000000000000007"))
	require.Len(t, search(client(of("house", 5, lookup.Within)), "any"), 5, "each once")
	require.Empty(t, search(mixed, "..."))

	require.Equal(t, "q", mixed.Get("/admin/search").Expect(http.StatusUnprocessableEntity).Field())
	for _, typed := range []string{"", "%20", "%C2%A0", "%FF", strings.Repeat("a", 201)} {
		mixed.Get("/admin/search?q=" + typed).Expect(http.StatusUnprocessableEntity)
	}
	require.Panics(t, func() { client(of("house", 1, lookup.Whole), of("house", 1, lookup.Whole)) })
	require.Panics(t, func() { lookup.New(httpapi.New(httpapi.Config{}), replica.Only(db), of("house", 1, lookup.Whole)) })
}

// anAdmin knows one token.
type anAdmin struct{}

func (anAdmin) Verify(token string) (httpapi.Claims, error) {
	if token != "token" {
		return httpapi.Claims{}, fault.Forbidden("Another token.")
	}
	return httpapi.Claims{}, nil
}

func (anAdmin) Caller(context.Context, httpapi.Claims) (httpapi.Caller, error) {
	return httpapi.Caller{Type: httpapi.TypeAdmin}, nil
}
