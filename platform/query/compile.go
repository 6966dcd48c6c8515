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
