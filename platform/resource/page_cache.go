package resource

import (
	"container/list"
	"sync"
)

// PageCache keeps pages of lists, the least recently used going first once they
// take more than its bytes. A page is worth showing while its Version is the
// resource's present one, which the reader asks for in each request; so no
// process shows anything staler than that question (docs/decisions/page-cache.md). It is safe for concurrent use.
type PageCache struct {
	limit int

	mu    sync.Mutex
	bytes int
	used  *list.List // of *kept, most recently used first
	pages map[string]*list.Element
}

type cachedPage struct {
	key  string
	page Page
}

// overhead is about what an entry takes beside its key and documents.
const overhead = 256

func (k *cachedPage) size() int { return len(k.key) + len(k.page.Docs) + overhead }

// NewPageCache makes an empty memory of at most limit bytes.
func NewPageCache(limit int) *PageCache {
	return &PageCache{limit: limit, used: list.New(), pages: map[string]*list.Element{}}
}

// Get returns the page kept under a list's key. The caller compares its Version.
// Its bytes are shared: they must not be changed.
func (m *PageCache) Get(key string) (Page, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.pages[key]
	if !ok {
		return Page{}, false
	}
	m.used.MoveToFront(e)
	return entry(e).page, true
}

// Put keeps a page, unless a newer one is there, the key is empty, or the page
// alone would take more than a sixteenth of the memory.
func (m *PageCache) Put(key string, p Page) {
	k := &cachedPage{key: key, page: p}
	if key == "" || k.size() > m.limit/16 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.pages[key]; ok {
		if entry(e).page.Version > p.Version {
			return
		}
		m.remove(e)
	}
	m.pages[key] = m.used.PushFront(k)
	m.bytes += k.size()
	for m.bytes > m.limit {
		m.remove(m.used.Back())
	}
}

func (m *PageCache) remove(e *list.Element) {
	k := entry(e)
	m.used.Remove(e)
	delete(m.pages, k.key)
	m.bytes -= k.size()
}

func entry(e *list.Element) *cachedPage {
	k, _ := e.Value.(*cachedPage) // nothing else is put in
	return k
}
