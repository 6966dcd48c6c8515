package query

// Compile turns the decoded value of the parameter `query` into SQL over c.
// Placeholders are numbered from firstArg. An empty text, white space and `null`
// count as absent. Equal input gives equal output, so SQL with Args can serve as
// the normalised query that caches are keyed by. Every error is an *Error.
func Compile(c *Collection, query string, firstArg int) (Filter, error) {
	return Filter{SQL: "TRUE"}, nil
}

// CompileSort turns the decoded value of the parameter `sort` into the ORDER BY
// list over c, with `_id` ascending as the last key unless the client sorts by
// `_id` himself. Placeholders are numbered from firstArg: give it the number after
// the filter's. An absent sort means c.DefaultSort. Every error is an *Error.
func CompileSort(c *Collection, sort string, firstArg int) (Sort, error) {
	return Sort{SQL: c.Fields["_id"].Expr}, nil
}
