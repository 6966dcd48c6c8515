package resource

// ReadNew checks a body of POST without writing it.
func ReadNew(r *Resource, body RawJSON) ([]*Record, error) { return r.readNew(body) }

// Weight is how many bytes the cache believes it holds, once it has let go of what is too much.
func (c *PageCache) Weight() int {
	c.responses.CleanUp()
	return int(c.responses.WeightedSize()) //nolint:gosec // a few megabytes
}
