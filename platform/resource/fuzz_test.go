package resource_test

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/fault"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// Whatever the address holds, the parameters are in their bounds or 422.
func FuzzParams(f *testing.F) {
	for _, seed := range []string{
		"", "qty_docs_page=10&current_page=2", "docs_range=(0,10)", "docs_range=( 5 , 6 )", "docs_range=(0,0)",
		"_id=65a000000000000000000001", "qty_docs_page=%2B5", "current_page=-0", "query=%7B%7D&sort=%7B%7D",
		"query=%FF", "a=1;b=2", "docs_range=((1,2))", "current_page=00000000001000000",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := books.ParseParams(&url.URL{RawQuery: raw})
		if err != nil {
			require.True(t, fault.Is(err, fault.KindInvalid), "%v", err)
			return
		}
		require.True(t, p.Size >= 1 && p.Size <= query.MaxPageSize, "%+v", p)
		require.True(t, p.Page >= 0 && p.Page <= query.MaxPage, "%+v", p)
		require.GreaterOrEqual(t, p.Offset(), 0)
	})
}

// Whatever a body holds, it becomes checked values or an error that a client may
// see.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`[]`, `{}`, `null`, `[null]`, `[{"isbn":"1-1","title":"x"}]`,
		`[{"isbn":"1-1","title":"x","pages":9e1,"price":1e1,"weight":-0.0,"published":"2024-02-29"}]`,
		`[{"isbn":"1-1","title":"x","topics":["a",1]}]`, `[{"isbn":"1-1","title":"x","extra":{"a":[]},"note":null}]`,
		`[{"isbn":"1-1","title":"\ud800"}]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if !json.Valid([]byte(body)) {
			return // httpapi refuses it
		}
		values, err := resource.ReadNew(books, resource.RawJSON(body))
		if err != nil {
			require.True(t, fault.Is(err, fault.KindInvalid) || fault.Is(err, fault.KindTooLarge), "%v", err)
			return
		}
		require.NotEmpty(t, values)
		for _, r := range values {
			at, _ := r.Value("published")
			if at, ok := at.(time.Time); ok {
				require.True(t, at.Year() >= 1 && at.Year() <= 9999)
			}
			pages, _ := r.Value("pages")
			require.IsType(t, int64(0), pages)
		}
	})
}
