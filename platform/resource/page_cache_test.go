package resource_test

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/resource"
)

// responseOf is a response whose documents are the text.
func responseOf(t testing.TB, version int64, docs string) *resource.CachedResponse {
	t.Helper()
	list, err := books.View.Prepare(resource.Params{Size: 10})
	require.NoError(t, err)
	list.Fill(resource.Page{Docs: []byte(docs), Total: 1, Version: version})
	return list.CachedResponse(t.Context())
}

func TestPageCacheKeepsTheNewestVersion(t *testing.T) {
	t.Parallel()
	c := resource.NewPageCache(1 << 20)
	_, ok := c.Get("a")
	require.False(t, ok)
	newest := responseOf(t, 3, `"new"`)
	c.Put("a", responseOf(t, 1, `"old"`))
	c.Put("a", newest)
	c.Put("a", responseOf(t, 2, `"late"`))
	kept, ok := c.Get("a")
	require.True(t, ok)
	require.Same(t, newest, kept)
	same := responseOf(t, 3, `"again"`)
	c.Put("a", same)
	kept, _ = c.Get("a")
	require.Same(t, same, kept)
	kept, ok = c.Get("")
	require.False(t, ok, "%v", kept)
	c.Put("", same)
	kept, ok = c.Get("")
	require.True(t, ok)
	require.Same(t, same, kept, "a list without parameters")
}

func TestOnePageDoesNotDriveOutMany(t *testing.T) {
	t.Parallel()
	c := resource.NewPageCache(64 << 10)
	c.Put("large", responseOf(t, 1, strings.Repeat("x", 5<<10)))
	_, ok := c.Get("large")
	require.False(t, ok)
	require.Zero(t, c.Weight())
}

// Pages that are asked for often stay while somebody leafs through many others, once each.
func TestPageCacheKeepsWhatIsAskedForOften(t *testing.T) {
	t.Parallel()
	const limit, often = 1 << 20, 100
	c := resource.NewPageCache(limit)
	page := responseOf(t, 1, strings.Repeat("x", 1000))
	for range 10 {
		for i := range often {
			if _, ok := c.Get("often " + strconv.Itoa(i)); !ok {
				c.Put("often "+strconv.Itoa(i), page)
			}
		}
		require.LessOrEqual(t, c.Weight(), limit)
	}
	for i := range 5000 { // ten times what there is room for
		c.Put("once "+strconv.Itoa(i), page)
		require.True(t, i%100 != 0 || c.Weight() <= limit)
	}
	left := 0
	for i := range often {
		if _, ok := c.Get("often " + strconv.Itoa(i)); ok {
			left++
		}
	}
	require.Greater(t, left, often*9/10)
}

// What the process holds for the cache is at most a tenth more than its bound, whatever the
// size of its pages.
func TestPageCacheHoldsItsBound(t *testing.T) { //nolint:paralleltest // it measures the heap
	const limit = 8 << 20
	for _, size := range []int{100, 3_000, 40_000, 400_000} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			random, before := rand.New(rand.NewPCG(1, 2)), heap() //nolint:gosec // no secret
			c := resource.NewPageCache(limit)
			for i := range 3 * limit / size {
				docs := make([]byte, size/2+random.IntN(size))
				for at := range docs {
					docs[at] = "0123456789abcdef"[random.IntN(16)]
				}
				if c.Put("current_page="+strconv.Itoa(i), responseOf(t, 1, string(docs))); i > 8*limit/(size+3000) {
					break
				}
			}
			require.LessOrEqual(t, c.Weight(), limit)
			held := heap() - before
			require.Greater(t, held, limit*8/10)
			require.LessOrEqual(t, held, limit*11/10)
			runtime.KeepAlive(c)
		})
	}
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers and pools let go of
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc) //nolint:gosec // far below
}

// BenchmarkCachedResponse renders a page of ten videos' size, in both codings.
func BenchmarkCachedResponse(b *testing.B) {
	const video = `{"_id":"f00000000000000000000001","title":"Film","tags":["drama","family"],"enable":true},`
	docs := strings.Repeat(video, 60)
	b.ReportAllocs()
	for b.Loop() {
		responseOf(b, 1, docs)
	}
}
