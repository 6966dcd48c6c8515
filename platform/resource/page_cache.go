package resource

import (
	"strings"

	"github.com/maypok86/otter/v2"
)

// PageCache caches responses of lists under the query that a client wrote, within its bytes; those that are requested
// seldom go first. A response is good while its Version is the resource's present one, which is read for each request:
// so no process sends anything staler than that read (docs/decisions/page-cache.md). It is safe for concurrent use.
type PageCache struct {
	responses *otter.Cache[string, *CachedResponse]
	maxBytes  int // of one response
	limit     int
}

// overhead is about what a response takes beside its key and bodies.
const overhead = 512

// NewPageCache makes an empty cache of at most limit bytes.
func NewPageCache(limit int) *PageCache {
	return &PageCache{
		maxBytes: limit / 16, limit: limit,
		responses: otter.Must(&otter.Options[string, *CachedResponse]{
			MaximumWeight: uint64(max(limit, 1)),
			Executor:      func(evict func()) { evict() }, // before Put returns: what is too much does not gather
			Weigher: func(key string, r *CachedResponse) uint32 {
				return uint32(r.size(key)) //nolint:gosec // at most maxBytes
			},
		}),
	}
}

// Size is how many responses there are, and of how many bytes, of at most so many. The first two are about right.
func (c *PageCache) Size() (responses int, bytes uint64, limit int) {
	return c.responses.EstimatedSize(), c.responses.WeightedSize(), c.limit
}

// Get returns the response under a key. The caller compares its Version.
func (c *PageCache) Get(key string) (*CachedResponse, bool) { return c.responses.GetIfPresent(key) }

// Put caches a response, unless a newer one is there, or it alone would take more than a sixteenth of the cache.
func (c *PageCache) Put(key string, r *CachedResponse) {
	if r.size(key) > c.maxBytes {
		return
	}
	key = strings.Clone(key) // it may be part of a request's head, which would stay with it
	c.responses.Compute(key, func(old *CachedResponse, found bool) (*CachedResponse, otter.ComputeOp) {
		if found && old.Version > r.Version {
			return nil, otter.CancelOp
		}
		return r, otter.WriteOp
	})
}
