package resource_test

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
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

// Pages that are asked for again and again stay while somebody leafs through many others, once each: more between two
// requests for a page than there is room for, so that by last use alone it would be gone each time.
func TestPageCacheKeepsWhatIsAskedForOften(t *testing.T) {
	t.Parallel()
	const limit, often, between, rounds = 1 << 20, 100, 8, 40
	c := resource.NewPageCache(limit)
	page := responseOf(t, 1, strings.Repeat("x", 1000))
	require.Greater(t, often*(between+1)*page.Size("once 100000"), limit*3/2)
	ask := func(key string) (found bool) {
		if _, found = c.Get(key); !found {
			c.Put(key, page)
		}
		return found
	}
	hits := 0
	for round := range rounds {
		for i := range often {
			if ask("often "+strconv.Itoa(i)) && round >= rounds/2 {
				hits++
			}
			for n := range between {
				ask("once " + strconv.Itoa((round*often+i)*between+n))
			}
		}
		require.LessOrEqual(t, c.Weight(), limit)
	}
	t.Logf("%d of %d", hits, often*rounds/2)
	require.Greater(t, hits, often*rounds/2*9/10)
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
				if c.Put("current_page="+strconv.Itoa(i), responseOf(t, 1, string(docs))); i > 3*limit/(size+3000) {
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

// Pages that many put at once are not left beyond the bound.
func TestPageCacheHoldsItsBoundForMany(t *testing.T) {
	t.Parallel()
	const limit, keys = 1 << 20, 2_000
	c := resource.NewPageCache(limit)
	var pages []*resource.CachedResponse
	for version := range int64(8) {
		pages = append(pages, responseOf(t, version, strings.Repeat("x", 2_000)))
	}
	var all sync.WaitGroup
	for _, page := range pages {
		all.Go(func() {
			for i := range keys {
				c.Put(strconv.Itoa(i), page)
				c.Get(strconv.Itoa(i))
			}
		})
	}
	all.Wait()
	c.Put("last", pages[0])
	require.LessOrEqual(t, c.Weight(), limit)
	require.LessOrEqual(t, c.Count()*2_000, limit)
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
