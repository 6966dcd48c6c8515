package resource_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/resource"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	key := func(v *resource.View, p resource.Params) string {
		list, err := v.Prepare(p)
		require.NoError(t, err)
		return list.Key()
	}
	seen := map[string]int{}
	for i, k := range []string{
		key(books.View, resource.Params{Size: 10}),
		key(staffOnly, resource.Params{Size: 10}),
		key(books.View, resource.Params{Size: 11}),
		key(books.View, resource.Params{Size: 10, Page: 1}),
		key(books.View, resource.Params{Size: 10, Sort: `{"title":1}`}),
		key(books.View, resource.Params{Size: 10, Sort: `{"title":-1}`}),
		key(books.View, resource.Params{Size: 10, Query: `{"title":"a"}`}),
		key(books.View, resource.Params{Size: 10, Query: `{"title":"b"}`}),
		key(books.View, resource.Params{Size: 10, Query: `{"isbn":"a"}`}),
		key(books.View, resource.Params{Size: 10, Query: `{"title":{"$in":["a","b"]}}`}),
		key(books.View, resource.Params{Size: 10, Query: `{"title":{"$in":["a b"]}}`}),
		key(books.View, resource.Params{Size: 10, Query: `{"title":{"$in":["a\",\"b"]}}`}),
		key(books.View, resource.Params{Size: 10, Query: `{"published":"2024-01-01"}`}),
		key(books.View, resource.Params{Size: 10, Query: `{"published":"2024-01-01T00:00:00.001Z"}`}),
	} {
		require.NotEmpty(t, k)
		other, twice := seen[k]
		require.False(t, twice, "%d and %d", i, other)
		seen[k] = i
	}
	same := key(books.View, resource.Params{Size: 10, Query: `{"published":{"$gt":"2024-01-01"}}`})
	require.Equal(t, same, key(books.View, resource.Params{
		Size: 10, Query: ` { "published" : {"$gt":"2024-01-01T00:00Z"} } `,
	}))
	require.Equal(t, key(books.View, resource.Params{Size: 10}), key(books.View, resource.Params{
		Size: 10, Query: " null ",
	}))
	require.Empty(t, key(books.View, resource.Params{ID: admin}))
}
