package finance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"
)

// texts are values that parameters without a form of their own in OpenAPI may not
// have, by name.
var texts = map[string][]string{
	"start": {
		"yesterday", "2026", "2026-13", "2026-02-30", "2026-1-1", "0000-01-01", "1899-12-31", "2026-01-01T00:00:00Z",
		"9999-12-31", "\x00",
	},
	"end": {
		"tomorrow", "2026", "2026-00", "2026-06-31", "1.1.2026", "0000-01-01", "0001-01-01", "1899-12-31",
		"2026-01-01T00:00:00Z", "\x00",
	},
	"query": {
		"{", "[1]", `"x"`, `{"email":{"$where":"1"}}`, `{"register_date":{"$gt":"yesterday"}}`, strings.Repeat("[", 200),
	},
	"sort":       {"email", `{"email":2}`, `{`},
	"docs_range": {"5", "(1,2", "(8,5)"},
	"_id":        {"12", "0123456789abcdef0123456z", strings.Repeat("a", 3000)},
	"email":      {"nobody", "Ana <ana@example.com>", "a@", "\x00@example.com"},
	"tax_id":     {"123", "5299822472x", "529982247250", "\x00"},
	"event_id":   {"12", "0123456789abcdef0123456z"},
	"id":         {"12", "0123456789abcdef0123456z"},
}

// unsuitable are values that a parameter may not have.
func unsuitable(t *testing.T, p *huma.Param) []string {
	t.Helper()
	switch s := p.Schema; {
	case len(s.Enum) > 0:
		return []string{"nonsense", strings.ToUpper(fmt.Sprint(s.Enum[0])), fmt.Sprint(s.Enum[0], ",", s.Enum[0])}
	case s.Type == huma.TypeBoolean:
		return []string{"maybe", "2", "yes"}
	case s.Type == huma.TypeInteger:
		require.NotNil(t, s.Minimum, p.Name)
		require.NotNil(t, s.Maximum, p.Name)
		return []string{
			strconv.FormatInt(int64(*s.Minimum)-1, 10), strconv.FormatInt(int64(*s.Maximum)+1, 10), "1.5", "x", "0x10",
			"99999999999999999999",
		}
	}
	require.Contains(t, texts, p.Name, "say what this parameter may not be")
	return texts[p.Name]
}

// TestEveryParameterIsNamedWhenItIsBad walks each parameter of each route of the
// module as OpenAPI has it: what it may not be is answered 422, naming it.
func TestEveryParameterIsNamedWhenItIsBad(t *testing.T) {
	t.Parallel()
	b := setup(t)
	seen := 0
	for _, r := range b.api.Routes() {
		item := b.api.OpenAPI().Paths[r.Path]
		if item == nil || r.Method != http.MethodGet {
			continue
		}
		for _, p := range item.Get.Parameters {
			if p.Name == "token" || p.In != "query" && p.In != "path" || strings.HasSuffix(r.Path, "/file") {
				continue
			}
			seen++
			for _, value := range unsuitable(t, p) {
				path, query := strings.TrimPrefix(r.Path, "/api/v1"), ""
				if p.In == "path" {
					path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(value), 1)
				} else {
					path, query = strings.NewReplacer("{event_id}", unknown, "{id}", unknown).Replace(path),
						"?"+url.Values{p.Name: {value}}.Encode()
				}
				res := b.admin.Get(path + query)
				require.Equal(t, http.StatusUnprocessableEntity, res.Status, "%s%s: %s", path, query, res.Body)
				require.Equal(t, "VALIDATION_ERROR", res.Code(), path+query)
				require.Equal(t, p.Name, res.Field(), "%s%s: %s", path, query, res.Body)
				issues, _ := res.Map()["detail"].([]any)
				require.NotEmpty(t, issues, path+query)
				require.Contains(t, issues[0].(doc)["loc"], p.Name, path+query)
			}
		}
	}
	require.GreaterOrEqual(t, seen, 30)
}
