package app_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
)

// amounts are words in the names of fields that hold money.
var amounts = []string{"amount", "value", "price", "discount", "total"}

// TestNumbersAreBounded: every amount that a route takes has an upper bound in its
// schema, a million reais but for what is given back or disputed, and a number that is
// beyond its bound, or no int64, or not whole where only whole ones are, is 422.
func TestNumbersAreBounded(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	nobody, root := a.Guest, a.Root()
	adminID, _ := a.NewAdmin(platformtest.Named("admin"))
	b := newVictim(t, a)
	callers := map[httpapi.Auth]*apitest.Client{
		httpapi.Public: nobody, httpapi.Customer: b.client, httpapi.SignedIn: b.client,
	}
	sent := map[string]int{}
	for _, r := range a.Routes() {
		schema := jsonBody(a, r)
		if schema == nil || r.Method == http.MethodGet || r.Auth == httpapi.Gateway {
			continue
		}
		caller, known := callers[r.Auth]
		if !known {
			caller = root
		}
		path := placeholder.ReplaceAllString(r.Path, target(r, b, adminID.ID, adminID.ID))
		for _, n := range numbersIn(a.API().OpenAPI().Components.Schemas, schema, nil) {
			what := fmt.Sprintf("%s %s: %s", r.Method, r.Path, strings.Join(n.path, "."))
			name := n.path[len(n.path)-1]
			isAmount := slices.ContainsFunc(amounts, func(word string) bool { return strings.Contains(name, word) })
			var refused []string
			if n.schema.Type == huma.TypeInteger {
				refused = []string{"1.00000000000000000001", "1e-999999999"}
			}
			if n.schema.Maximum == nil {
				require.False(t, isAmount, what)
			} else {
				most := *n.schema.Maximum
				if isAmount {
					require.LessOrEqual(t, most, 100_000_000.0, what)
				}
				refused = append(refused, strconv.FormatFloat(most+1, 'f', -1, 64), strconv.Itoa(math.MaxInt64),
					"9223372036854775808", "1e300")
			}
			for _, beyond := range refused {
				body := sampleBody(a, r, target(r, b, adminID.ID, adminID.ID))
				putInstants(body)
				put(body, n.path, json.RawMessage(beyond))
				raw, err := json.Marshal(body)
				require.NoError(t, err)
				res := caller.Send(r.Method, path, "application/json", raw)
				require.Equal(t, http.StatusUnprocessableEntity, res.Status, "%s of %s: %s", what, beyond,
					res.Body)
				require.Contains(t, string(res.Body), name, "%s of %s", what, beyond)
				require.NotContains(t, string(res.Body), "e+", "%s of %s: a number is written in digits", what,
					beyond)
			}
			if isAmount {
				sent[name]++
			}
		}
	}
	for _, field := range []string{"amount", "value", "ticket_value", "discount_first_month"} {
		require.NotZero(t, sent[field], field)
	}
}

type number struct {
	path   []string
	schema *huma.Schema
}

// numbersIn are the numbers that a body may hold, at any depth.
func numbersIn(registry huma.Registry, s *huma.Schema, path []string) (all []number) {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		s = registry.SchemaFromRef(s.Ref)
	}
	if s.ReadOnly {
		return nil
	}
	for _, each := range [][]*huma.Schema{s.OneOf, s.AnyOf} {
		if len(each) > 0 {
			return numbersIn(registry, each[0], path)
		}
	}
	switch s.Type {
	case huma.TypeObject:
		for name, property := range s.Properties {
			all = append(all, numbersIn(registry, property, append(slices.Clone(path), name))...)
		}
	case huma.TypeArray:
		return numbersIn(registry, s.Items, path)
	case huma.TypeInteger, huma.TypeNumber:
		if len(path) > 0 {
			return []number{{path, s}}
		}
	}
	return all
}

// putInstants writes instants where a sample has a text that is none: of several values
// that a type does not take, the first is told.
func putInstants(body any) {
	switch body := body.(type) {
	case []any:
		for _, item := range body {
			putInstants(item)
		}
	case map[string]any:
		for name, value := range body {
			if strings.HasSuffix(name, "_at") && value == "sample" {
				body[name] = "2099-01-02T03:04:05Z"
			}
			putInstants(value)
		}
	}
}

// put writes a value into a body, in the first object of each list.
func put(body any, path []string, value any) {
	switch body := body.(type) {
	case []any:
		put(body[0], path, value)
	case map[string]any:
		if len(path) == 1 {
			if list, isList := body[path[0]].([]any); isList {
				list[0] = value
				return
			}
			body[path[0]] = value
			return
		}
		put(body[path[0]], path[1:], value)
	}
}
