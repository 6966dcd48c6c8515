package resource

// ReadNew checks a body of POST without writing it.
func ReadNew(r *Resource, body RawJSON) ([]*Record, error) { return r.readNew(body) }
