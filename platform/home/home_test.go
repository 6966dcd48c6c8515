package home_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/clock"
	"marquee/platform/home"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
	"marquee/testutil/secrettest"
)

// admins are those of a test, by token: each holds the handler names listed.
type admins map[string][]string

func (a admins) Verify(token string) (httpapi.Claims, error) {
	return httpapi.Claims{TokenID: token}, nil
}

func (a admins) Caller(_ context.Context, c httpapi.Claims) (httpapi.Caller, error) {
	return httpapi.Caller{Type: httpapi.TypeAdmin, Handlers: a[c.TokenID], Root: c.TokenID == "root"}, nil
}

var now = time.Date(2026, time.March, 3, 12, 0, 0, 0, time.UTC)

// counted is a source of figures, each of a list of its own, that says how often it was read.
func counted(read *int, figures ...home.Figure) home.Source {
	return home.Source{Figures: figures, Read: func(context.Context) (map[string]home.Reading, error) {
		*read++
		all := map[string]home.Reading{}
		for i, f := range figures {
			all[f.Name] = home.Reading{Value: int64(i) + 1}
		}
		return all, nil
	}}
}

// lists registers a list, and for whoever holds its name.
func lists(api *httpapi.API, names ...string) {
	for _, name := range names {
		httpapi.Route(api, http.MethodGet, "/"+name, name, httpapi.Admin,
			func(context.Context, *struct{}) (*httpapi.Output[struct{}], error) { return httpapi.OK(struct{}{}) },
			httpapi.Permission())
	}
}

func TestAFigureIsForThoseWhoMaySeeItsListAndItsReport(t *testing.T) {
	t.Parallel()
	api := httpapi.New(httpapi.Config{Log: secrettest.Logger(t), Auth: admins{
		"a": {"apples"}, "b": {"books"}, "ab": {"apples", "books"}, "none": nil,
	}})
	lists(api, "apples", "books")
	var fruits, papers int
	page := home.New(api, clock.NewFake(now),
		counted(&fruits, home.Figure{Name: "ripe", Unit: home.Count, Route: "apples"},
			home.Figure{
				Name: "sold", Unit: home.Cents, Route: "apples", Report: "books",
				Parameters: func(now time.Time) map[string]string {
					return home.Filter(map[string]any{"at": home.Since(now)})
				},
			}),
		counted(&papers, home.Figure{Name: "read", Unit: home.Count, Route: "books"}))
	httpapi.Route(api, http.MethodGet, "/home", "home", httpapi.Admin, page.Get, page.Doc(api)...)
	for token, want := range map[string][]string{
		"root": {"ripe", "sold", "read"}, "ab": {"ripe", "sold", "read"}, "a": {"ripe"}, "b": {"read"}, "none": {},
	} {
		fruits, papers = 0, 0
		client := apitest.New(t, api).As(token)
		var body struct {
			At      string
			Figures []struct {
				Name, Unit string
				Value      int
				List       struct {
					Route, Path string
					Parameters  map[string]string
				}
			}
		}
		client.Get("/home").Expect(http.StatusOK).JSON(&body)
		names := []string{}
		for _, f := range body.Figures {
			names = append(names, f.Name)
			if f.Name == "sold" {
				require.Equal(t, 2, f.Value)
				require.Equal(t, "cents", f.Unit)
				require.Equal(t, "apples", f.List.Route)
				require.Equal(t, httpapi.Prefix+"/apples", f.List.Path)
				require.JSONEq(t, `{"at":{"$gte":"2026-03-03T12:00:00.000Z"}}`, f.List.Parameters["query"])
			}
		}
		require.Equal(t, want, names, token)
		require.Equal(t, "2026-03-03T12:00:00.000Z", body.At)
		reads := map[string][2]int{"root": {1, 1}, "ab": {1, 1}, "a": {1, 0}, "b": {0, 1}, "none": {0, 0}}
		was := [2]int{fruits, papers}
		require.Equal(t, reads[token], was, "%s: sources that show nothing are not read", token)
	}
}

func TestSourcesThatFailAndThatAreWrong(t *testing.T) {
	t.Parallel()
	api := httpapi.New(httpapi.Config{Log: secrettest.Logger(t), Auth: admins{}})
	lists(api, "apples")
	var read int
	ripe := home.Figure{Name: "ripe", Unit: home.Count, Route: "apples"}
	require.Panics(t, func() { home.New(api, clock.NewFake(now), counted(&read, ripe), counted(&read, ripe)) })
	require.Panics(t, func() { home.New(api, clock.NewFake(now), counted(&read, home.Figure{Name: "x", Route: "none"})) })
	require.Panics(t, func() { home.Filter(map[string]any{"x": func() {}}) })
	page := home.New(api, clock.NewFake(now), home.Source{
		Figures: []home.Figure{ripe},
		Read:    func(context.Context) (map[string]home.Reading, error) { return nil, errors.New("rotten") },
	})
	httpapi.Route(api, http.MethodGet, "/home", "home", httpapi.Admin, page.Get, page.Doc(api)...)
	res := apitest.New(t, api).As("root").Get("/home").Expect(http.StatusInternalServerError)
	require.NotContains(t, string(res.Body), "rotten")
}
