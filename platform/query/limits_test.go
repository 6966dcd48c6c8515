package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/query"
)

// nest wraps inner in n layers of a form with one %s.
func nest(form, inner string, n int) string {
	for range n {
		inner = fmt.Sprintf(form, inner)
	}
	return inner
}

// list repeats an item n times, with commas between.
func list(item string, n int) string {
	return strings.TrimSuffix(strings.Repeat(item+",", n), ",")
}

// Each limit of docs/contract/filters.md, Bounds, passes at its value and is refused one above it.
func TestCompile_limits(t *testing.T) {
	t.Parallel()
	patterns := func(n int) string { return `{"s":{"$in":[` + list(`{"$regex":"a"}`, n) + `]}}` }
	for name, limit := range map[string]struct {
		make func(n int) string
		max  int
		want string
	}{
		"bytes": {
			make: func(n int) string { return `{"s":"` + strings.Repeat("a", n-8) + `"}` }, max: query.MaxQueryBytes,
			want: "query: is too long",
		},
		"blanks": {
			make: func(n int) string { return strings.Repeat(" ", n) }, max: query.MaxQueryBytes,
			want: "query: is too long",
		},
		"containers": {
			make: func(n int) string { return `{"s":` + nest("[%s]", "1", n-1) + `}` }, max: query.MaxContainers,
			want: "is nested too deeply",
		},
		"number": {
			make: func(n int) string { return `{"i":0.` + strings.Repeat("1", n-2) + `}` }, max: query.MaxNumberLength,
			want: "query.i: number is out of range",
		},
		"number in a string": {
			make: func(n int) string { return `{"n":{"$numberDecimal":"0.` + strings.Repeat("1", n-2) + `"}}` },
			max:  query.MaxNumberLength, want: "query.n.$numberDecimal: number is out of range",
		},
		"$or": {
			make: func(n int) string { return nest(`{"$or":[%s]}`, `{}`, n) }, max: query.MaxNesting,
			want: "$or: is nested too deeply",
		},
		"$not": {
			make: func(n int) string { return `{"s":` + nest(`{"$not":%s}`, `{"$gt":"a"}`, n) + `}` },
			max:  query.MaxNesting, want: "$not: is nested too deeply",
		},
		"$elemMatch": {
			make: func(n int) string { return `{"doc":` + nest(`{"$elemMatch":{"a":%s}}`, `1`, n) + `}` },
			max:  query.MaxNesting, want: "$elemMatch: is nested too deeply",
		},
		"conditions": {
			make: func(n int) string { return `{"$or":[` + list(`{"i":1}`, n-1) + `]}` }, max: query.MaxConditions,
			want: "more than 200 conditions",
		},
		"operators": {
			make: func(n int) string { return `{"$or":[` + list(`{"i":{"$not":{"$ne":1}}}`, n-1) + `]}` },
			max:  query.MaxConditions, want: "more than 200 conditions",
		},
		"$in": {
			make: func(n int) string { return `{"i":{"$in":[` + list("1", n) + `]}}` }, max: query.MaxMembers,
			want: "query.i.$in: more than 1000 values",
		},
		"$all": {
			make: func(n int) string { return `{"tags":{"$all":[` + list(`"a"`, n) + `]}}` }, max: query.MaxMembers,
			want: "query.tags.$all: more than 1000 values",
		},
		"array literal": {
			make: func(n int) string { return `{"tags":[` + list(`"a"`, n) + `]}` }, max: query.MaxMembers,
			want: "query.tags: more than 1000 values",
		},
		"path": {
			make: func(n int) string { return `{"` + strings.Repeat("a", n) + `":1}` }, max: query.MaxPathBytes,
			want: "is too long",
		},
		"segments": {
			make: func(n int) string { return `{"a` + strings.Repeat(".a", n-1) + `":1}` }, max: query.MaxPathSegments,
			want: "is nested too deeply",
		},
		"patterns": {make: patterns, max: query.MaxPatterns, want: "more than 10 regular expressions"},
	} {
		_, err := query.Compile(things, limit.make(limit.max), 1)
		require.NoError(t, err, name)
		_, err = query.Compile(things, limit.make(limit.max+1), 1)
		require.ErrorContains(t, err, limit.want, name)
	}
}

func TestCompileSort_limits(t *testing.T) {
	t.Parallel()
	sort := func(keys int) string {
		var parts []string
		for i := range keys {
			parts = append(parts, fmt.Sprintf(`"k%d":1`, i))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	_, err := query.CompileSort(things, sort(query.MaxSortKeys), 1)
	require.NoError(t, err)
	_, err = query.CompileSort(things, sort(query.MaxSortKeys+1), 1)
	require.EqualError(t, err, "sort: more than 16 keys")

	blanks := func(n int) string { return `{"i":1}` + strings.Repeat(" ", n-7) }
	_, err = query.CompileSort(things, blanks(query.MaxSortBytes), 1)
	require.NoError(t, err)
	_, err = query.CompileSort(things, blanks(query.MaxSortBytes+1), 1)
	require.EqualError(t, err, "sort: is too long")
}

// A depth far beyond the limits costs nothing and crashes nothing.
func TestCompile_deepNesting(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat(`{"$or":[`, 7000), `{"a":` + strings.Repeat(`[`, 60000), strings.Repeat(`{"a":`, 10000),
	} {
		_, err := query.Compile(things, text, 1)
		require.ErrorContains(t, err, "is nested too deeply")
	}
}
