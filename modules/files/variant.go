package files

import (
	"container/list"
	"sync"

	"marquee/platform/image"
	"marquee/platform/objectid"
)

// variantCacheBytes bounds the scaled avatars that a process keeps.
const variantCacheBytes = 64 << 20

// variant names one scaled form of an avatar.
type variant struct {
	id      objectid.ID
	options image.Options
}

// variantCache keeps scaled avatars in memory, the least recently used leaving
// first. It lives in the process and not in Postgres because anybody can ask for
// any of some 300,000 forms of one avatar: only what is bounded may be kept. An
// entry is served only while its file is still there.
type variantCache struct {
	mu    sync.Mutex
	max   int
	bytes int
	order *list.List // of *variantEntry, the latest used first
	byKey map[variant]*list.Element
}

type variantEntry struct {
	key     variant
	picture image.Picture
}

func newVariantCache(maxBytes int) *variantCache {
	return &variantCache{max: maxBytes, order: list.New(), byKey: map[variant]*list.Element{}}
}

func (c *variantCache) get(key variant) (image.Picture, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return image.Picture{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*variantEntry).picture, true
}

func (c *variantCache) put(key variant, p image.Picture) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.byKey[key]; there || len(p.Data) > c.max {
		return
	}
	c.byKey[key] = c.order.PushFront(&variantEntry{key: key, picture: p})
	c.bytes += len(p.Data)
	for c.bytes > c.max {
		oldest := c.order.Remove(c.order.Back()).(*variantEntry)
		delete(c.byKey, oldest.key)
		c.bytes -= len(oldest.picture.Data)
	}
}
