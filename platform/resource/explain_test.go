package resource_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
	"marquee/platform/resource"
)

func TestAListIsExplainedAndNotRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	routes := resource.Routes{Pool: b.db, Clock: b.clock}
	httpapi.Route(b.api, http.MethodPost, "/explain", "explain", httpapi.Admin, routes.Explain(b.api))
	httpapi.Route(b.api, http.MethodGet, "/my/books", "my_book_list", httpapi.Customer, routes.List(books.View),
		books.ListDoc()...)
	got := b.must(http.MethodPost, "/explain", `{"path":"/books","parameters":{
		"query":"{\"pages\":{\"$gte\":7},\"title\":{\"$regex\":\"^o\"}}","sort":"{\"title\":1}","qty_docs_page":"3"}}`)
	var a struct {
		SQL        string
		Arguments  []any
		Plan       []struct{ Plan map[string]any }
		Cost       float64
		PlanningMS float64 `json:"planning_ms"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.raw), &a))
	require.Contains(t, a.SQL, "FROM shelf.books t WHERE")
	require.Contains(t, a.SQL, "LIMIT 3 OFFSET 0")
	require.Contains(t, a.SQL, "$1")
	require.NotContains(t, a.SQL, "lock", "a secret field")
	require.NotEmpty(t, a.Arguments)
	require.Len(t, a.Plan, 1)
	require.NotContains(t, got.raw, "Actual Rows", "EXPLAIN without ANALYZE")
	require.Positive(t, a.Cost)
	require.Positive(t, a.PlanningMS)

	byID := b.must(http.MethodPost, "/explain", `{"path":"/api/v1/books","parameters":{"_id":"`+strings.Repeat("b", 24)+`"}}`)
	require.Contains(t, byID.raw, "t.id = $1")

	for body, says := range map[string]string{
		`{"path":"/books","parameters":{"query":"{\"pages\":{\"$near\":1}}"}}`: "$near",
		`{"path":"/books","parameters":{"qty_docs_page":"5000"}}`:              "qty_docs_page",
		`{"path":"/my/books"}`: "is not the path of a list that staff read",
		`{"path":"/nowhere"}`:  "is not the path of a list that staff read",
		`{"path":"/explain"}`:  "is not the path of a list that staff read",
		`{"parameters":{}}`:    "path",
		`{"path":"/shop","parameters":{"sort":"{\"title\":2}"}}`: "sort",
	} {
		refused := b.call(http.MethodPost, "/explain", body)
		require.Equal(t, http.StatusUnprocessableEntity, refused.status, body)
		require.Contains(t, refused.raw, says, body)
	}
}
