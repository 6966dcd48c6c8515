package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
	"marquee/testutil/leaktest"
)

type spelled struct {
	Quantity int            `json:"quantity" minimum:"1"`
	Lines    []spelledLine  `json:"lines,omitempty"`
	Info     map[string]any `json:"info,omitempty"`
}

type spelledLine struct {
	Price int `json:"price" minimum:"0"`
}

type spelledInput struct{ Body spelled }

// TestAMemberHasOneSpelling: the schema and the reader of a body must not see two
// different members.
func TestAMemberHasOneSpelling(t *testing.T) {
	t.Parallel()
	api := httpapi.New(httpapi.Config{Version: "test", PublicURL: "https://api.example.com", Log: leaktest.Logger(t)})
	httpapi.Route(api, http.MethodPost, "/spelled", "spelled", httpapi.Public, func(_ context.Context, in *spelledInput) (*httpapi.Output[spelled], error) {
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
		answer := client.Send(http.MethodPost, "/spelled", "application/json", []byte(body))
		require.Equal(t, http.StatusUnprocessableEntity, answer.Status, "%s: %s", body, answer.Body)
		require.Contains(t, string(answer.Body), `"`+field+`"`, body)
	}
	for _, body := range []string{`{"quantity":1}`, `{"quantity":1,"info":{"a":1,"A":2}}`, `{"quantity":1,"lines":[{"price":1},{"price":1}]}`, many + `"last":1}}`} {
		require.Equal(t, http.StatusOK, client.Send(http.MethodPost, "/spelled", "application/json", []byte(body)).Status, body)
	}
}
