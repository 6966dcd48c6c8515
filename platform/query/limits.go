package query

// The limits of docs/contract/filters.md, Bounds. They may be raised, not lowered:
// what passed once has to pass for good.
const (
	MaxQueryBytes = 64 << 10 // of the decoded `query`
	MaxSortBytes  = 2 << 10  // of the decoded `sort`
	MaxSortKeys   = 16

	MaxContainers   = 32   // JSON objects and arrays inside one another, the outer one included
	MaxNumberLength = 64   // characters of a number
	MaxNesting      = 10   // of $and, $or, $nor, $not and $elemMatch in one another
	MaxConditions   = 200  // operators on fields, implicit equalities, $and, $or and $nor
	MaxMembers      = 1000 // of $in, $nin, $all and of an array literal

	MaxPathBytes    = 256
	MaxPathSegments = 8

	MaxPatterns = 10 // regular expressions in one filter; the limits of one are in package pgregex

	MaxPageSize = 1000      // qty_docs_page, and the span of docs_range
	MaxPage     = 1_000_000 // current_page
)
