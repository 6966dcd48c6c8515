package query_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/query"
)

var updateGolden = flag.Bool("query.update", false, "rewrite testdata/golden.txt")

// goldenFilters are compiled over things, goldenSorts as well: one of each shape.
var goldenFilters = []string{
	``, `null`, `{}`, `{"i":1,"s":"a"}`, `{"i":{"$gt":1,"$lte":9}}`, `{"s":null}`, `{"i":null}`, `{"w":null}`,
	`{"w":{"$exists":true}}`, `{"s":{"$exists":false}}`, `{"s":{"$ne":null}}`, `{"s":{"$ne":"a"}}`,
	`{"s":{"$in":["a",null,{"$regex":"^b"}]}}`, `{"s":{"$nin":["a",1]}}`, `{"s":{"$in":[]}}`, `{"s":{"$nin":[]}}`,
	`{"s":{"$gt":"a"}}`, `{"s":{"$gte":null}}`, `{"s":{"$regex":"a.c","$options":"i"}}`,
	`{"s":{"$not":{"$regex":"a"}}}`, `{"i":1.5}`, `{"i":{"$gte":1.5}}`, `{"i":{"$lt":-1.5}}`, `{"i":{"$lt":1e30}}`,
	`{"n":{"$lt":1e30}}`, `{"price":{"$lt":1e30}}`, `{"price":12.5}`, `{"price":{"$gt":12.345}}`,
	`{"price":{"$in":[1,0.001,2.5]}}`, `{"price":{"$mod":[5,0]}}`, `{"n":0.10}`, `{"n":{"$in":[1,2.50]}}`,
	`{"n":{"$gt":1e-20000}}`, `{"n":{"$mod":[4,1]}}`, `{"i":{"$mod":[4,1]}}`, `{"b":{"$gt":false}}`,
	`{"d":"2024-01-10"}`, `{"d":{"$in":["2024-01-10T09:30:00-03:00",1]}}`, `{"_id":"65A000000000000000000001"}`,
	`{"_id":"x"}`, `{"_id":{"$ne":"x"}}`, `{"tags":"a"}`, `{"tags":["a","b"]}`, `{"tags":[]}`,
	`{"tags":{"$in":["a",["b"]]}}`, `{"tags":{"$all":["a","b",{"$regex":"^c"}]}}`, `{"tags":{"$all":[]}}`,
	`{"tags":{"$size":2}}`, `{"tags":{"$gt":"a"}}`, `{"tags":{"$elemMatch":{"$gt":"a","$ne":"c"}}}`,
	`{"tags":{"$type":"string"}}`, `{"tags.1":"a"}`, `{"tags.1":{"$exists":true}}`, `{"tags.x":null}`,
	`{"nums":{"$mod":[2,0]}}`, `{"$or":[{"i":1},{"$and":[{"i":2},{"b":true}]}]}`, `{"$nor":[{"i":1},{"s":"a"}]}`,
	`{"$or":[{},{"i":1}]}`, `{"$nor":[{"$nor":[{"i":1}]}]}`, `{"nope":1}`, `{"nope":null}`, `{"s.x":null}`,
	`{"doc.a.b":"x"}`, `{"doc.a":{"$in":[1,"x",true,null]}}`, `{"doc.a.b":null}`, `{"doc":null}`,
	`{"doc.a":{"$gt":1}}`, `{"doc.a":{"$exists":true}}`, `{"doc.a.b":{"$size":2}}`, `{"doc":{"$size":2}}`,
	`{"doc.a":[1,"x"]}`, `{"doc":{"a":{"b":1.50}}}`, `{"doc.a":{"$regex":"^x"}}`, `{"doc.a":{"$mod":[2,0]}}`,
	`{"doc.a":{"$type":["int","array"]}}`, `{"doc.a":{"$elemMatch":{"b":1,"0":null}}}`,
	`{"doc.a":{"$elemMatch":{"$gt":1}}}`, `{"doc":{"$elemMatch":{"b":{"$elemMatch":{"$gt":1}}}}}`,
	`{"doc.a.0.b":1}`, `{"doc.-1.0":1}`, "{\"doc.é\\\"\\\\😀\":\"' OR 1\"}",
}

var goldenSorts = []string{
	``, `{}`, `{"i":1}`, `{"i":-1}`, `{"s":1,"n":-1}`, `{"tags":1}`, `{"nums":-1}`, `{"tags.1":1}`, `{"tags.x":1}`,
	`{"doc":-1}`, `{"doc.a.0":1,"_id":-1,"i":1}`, `{"nope":1}`, `{"s.x":1}`, `{"i":{"$numberInt":"1"}}`,
	`{"price":-1.0}`,
}

func TestCompile_golden(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	for _, text := range goldenFilters {
		f, err := query.Compile(things, text, 3)
		require.NoError(t, err, text)
		fmt.Fprintf(&got, "query %s\n  %s\n%s", text, f.SQL, argLines(f.Args))
	}
	for _, text := range goldenSorts {
		s, err := query.CompileSort(things, text, 3)
		require.NoError(t, err, text)
		fmt.Fprintf(&got, "sort %s\n  %s\n%s", text, s.SQL, argLines(s.Args))
	}
	const file = "testdata/golden.txt"
	if *updateGolden {
		require.NoError(t, os.WriteFile(file, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())
}

func argLines(args []any) string {
	var b strings.Builder
	for _, a := range args {
		switch a := a.(type) {
		case time.Time:
			fmt.Fprintf(&b, "    time %s\n", a.Format(time.RFC3339Nano))
		default:
			fmt.Fprintf(&b, "    %T %q\n", a, fmt.Sprint(a))
		}
	}
	return b.String()
}
