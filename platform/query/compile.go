package query

// Filter is a compiled `query`.
type Filter struct {
	// SQL is one boolean expression: "TRUE" when everything matches, "FALSE" when
	// nothing can, else parenthesised, so that `(base) AND ` + SQL is safe.
	SQL string
	// Args are the values of the placeholders in SQL, in order. Their Go types fit
	// every execution mode of pgx.
	Args []any
	// Unknown counts the paths that name no registered field, for a metric. The
	// answer to the client never tells.
	Unknown int
}

// Sort is a compiled `sort`.
type Sort struct {
	// SQL is the list after ORDER BY. It is never empty and ends in `_id`.
	SQL string
	// Args are the values of the placeholders in SQL: positions in arrays and paths
	// into jsonb are bound, not written.
	Args []any
	// Unknown counts the paths that name no registered field.
	Unknown int
}

// Compile turns the decoded value of the parameter `query` into SQL over c.
// Placeholders are numbered from firstArg. An empty text, white space and `null`
// count as absent. Equal input gives equal output, so SQL with Args can serve as
// the normalised query that caches are keyed by. Every error is an *Error.
func Compile(c *Collection, query string, firstArg int) (Filter, error) {
	if len(query) <= MaxQueryBytes && absent(query) {
		return Filter{SQL: "TRUE"}, nil
	}
	at := root(ParamQuery)
	tree, err := readObject(query, at, MaxQueryBytes)
	if err != nil {
		return Filter{}, err
	}
	parsed, err := parseFilter(tree, at)
	if err != nil {
		return Filter{}, err
	}
	b := &binder{collection: c}
	bound, err := b.filter(parsed, b.resolve)
	if err != nil {
		return Filter{}, err
	}
	w := newWriter(firstArg)
	bound.write(w)
	return Filter{SQL: parenthesised(bound, w.sql.String()), Args: w.args, Unknown: b.unknown}, nil
}

func parenthesised(c condition, sql string) string {
	switch c.(type) {
	case constant, group:
		return sql
	}
	return "(" + sql + ")"
}

// CompileSort turns the decoded value of the parameter `sort` into the ORDER BY
// list over c, with `_id` ascending as the last key unless the client sorts by
// `_id` itself. Placeholders are numbered from firstArg: give it the number after
// the filter's. An absent or empty sort means c.DefaultSort. Every error is an *Error.
func CompileSort(c *Collection, sort string, firstArg int) (Sort, error) {
	var keys []sortKey
	if len(sort) > MaxSortBytes || !absent(sort) {
		var err error
		if keys, err = parseSort(sort); err != nil {
			return Sort{}, err
		}
	}
	if len(keys) == 0 && c.DefaultSort != "" {
		var err error
		if keys, err = parseSort(c.DefaultSort); err != nil {
			return Sort{}, err
		}
	}
	return c.orderBy(keys, firstArg), nil
}
