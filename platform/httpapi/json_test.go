package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
	"marquee/testutil/secrettest"
)

type spelled struct {
	Quantity int            `json:"quantity" minimum:"1"`
	Lines    []spelledLine  `json:"lines,omitempty"`
	Info     map[string]any `json:"info,omitempty"`
	At       *httpapi.Time  `json:"at,omitempty"`
	Note     string         `json:"note,omitempty"`
}

type spelledLine struct {
	Price int `json:"price" minimum:"0"`
}

type spelledInput struct{ Body spelled }

// TestAMemberHasOneSpelling: the schema and the reader of a body must not see two
// different members.
func TestAMemberHasOneSpelling(t *testing.T) {
	t.Parallel()
	api := httpapi.New(httpapi.Config{Version: "test", PublicURL: "https://api.example.com", Log: secrettest.Logger(t)})
	httpapi.Route(api, http.MethodPost, "/spelled", "spelled", httpapi.Public,
		func(_ context.Context, in *spelledInput) (*httpapi.Output[spelled], error) {
			return httpapi.OK(in.Body)
		})
	client := apitest.New(t, api)
	many := `{"quantity":1,"info":{`
	for i := range 60 {
		many += `"k` + strings.Repeat("x", i) + `":1,`
	}
	for body, field := range map[string]string{
		`{"quantity":1,"QUANTITY":-3}`:                      "QUANTITY",
		`{"QUANTITY":-3}`:                                   "quantity",
		`{"quantity":1,"quantity":-3}`:                      "quantity",
		`{"quantity":1,"quantity":1}`:                       "quantity",
		`{"quantity":1,"lines":[{"price":1},{"Price":-1}]}`: "price",
		`{"quantity":1,"lines":[{"price":1,"price":-1}]}`:   "price",
		`{"quantity":1,"info":{"a":{"b":1,"b":2}}}`:         "b",
		many + `"k":1,"k":2}}`:                              "k",
		many + `"kx":2}}`:                                   "kx",
	} {
		res := client.Send(http.MethodPost, "/spelled", "application/json", []byte(body))
		require.Equal(t, http.StatusUnprocessableEntity, res.Status, "%s: %s", body, res.Body)
		require.Contains(t, string(res.Body), `"`+field+`"`, body)
	}
	for body, field := range map[string]string{
		`{"quantity":1e400}`: "quantity",
		`{"quantity":1e30}`:  "quantity",
		`{"quantity":1,"lines":[{"price":1},{"price":1e2}]}`:       "lines[1].price",
		`{"quantity":1,"at":"9999-12-31T23:59:59-14:00"}`:          "at",
		`{"quantity":1,"info":{"a":{"b":"\ud800"}}}`:               "info.a.b",
		`{"quantity":1,"info":{"a":"\ud800\ud800\udc00"}}`:         "info.a",
		`{"quantity":1,"info":{"a":"\udc00"}}`:                     "info.a",
		`{"quantity":1,"info":{"a":["x","\u00e9` + "\xff" + `"]}}`: "info.a[1]",
		`{"quantity":1,"info":{"a":"x\u0000"}}`:                    "info.a",
		`{"quantity":1,"note":"\ud83d\u0041"}`:                     "note",
	} {
		res := client.Send(http.MethodPost, "/spelled", "application/json", []byte(body))
		require.Equal(t, http.StatusUnprocessableEntity, res.Status, "%s: %s", body, res.Body)
		require.Equal(t, field, res.Map()["error"].(map[string]any)["field"], "%s: %s", body, res.Body)
	}
	nameless := client.Send(http.MethodPost, "/spelled", "application/json", []byte(`{"quantity":1,"\ud800":1}`))
	require.Equal(t, http.StatusUnprocessableEntity, nameless.Status, "%s", nameless.Body)
	for text, read := range map[string]string{
		`"\ud83d\ude00"`: "\U0001F600", "\"\uFFFD\"": "\uFFFD", `"\ufffd"`: "\uFFFD", `"\\ud800"`: `\ud800`,
	} {
		require.Equal(t, read,
			client.Send(http.MethodPost, "/spelled", "application/json", []byte(`{"quantity":1,"note":`+text+`}`)).
				Expect(http.StatusOK).Map()["note"], text)
	}
	// Exactly as much as the bound passes.
	padded := func(size int) string { return `{"quantity":1` + strings.Repeat(" ", size-14) + `}` }
	client.Send(http.MethodPost, "/spelled", "application/json", []byte(padded(1<<20))).Expect(http.StatusOK)
	client.Send(http.MethodPost, "/spelled", "application/json", []byte(padded(1<<20+1))).
		Expect(http.StatusRequestEntityTooLarge)
	for _, body := range []string{
		`{"quantity":1}`, `{"quantity":1,"info":{"a":1,"A":2}}`, `{"quantity":1,"lines":[{"price":1},{"price":1}]}`,
		many + `"last":1}}`,
	} {
		require.Equal(t, http.StatusOK,
			client.Send(http.MethodPost, "/spelled", "application/json", []byte(body)).Status, body)
	}
}
