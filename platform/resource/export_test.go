package resource

// ReadNew checks a body of POST without writing it.
func ReadNew(r *Resource, body RawJSON) ([]*Record, error) { return r.readNew(body) }

// Weight is how many bytes the cache believes it holds.
func (c *PageCache) Weight() int {
	return int(c.responses.WeightedSize()) //nolint:gosec // a few megabytes
}

// Count is how many responses the cache holds.
func (c *PageCache) Count() int { return c.responses.EstimatedSize() }

// Size is what the response weighs in a PageCache.
func (r *CachedResponse) Size(key string) int { return r.size(key) }
