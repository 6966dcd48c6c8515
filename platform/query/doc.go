// Package query compiles the `query` and `sort` parameters of the collection
// routes to SQL that is safe to run.
//
// A filter means what MongoDB's find would return over the documents exactly as
// the API shows them (docs/contract/filters.md, The one rule). The compiler
// owns that meaning, its limits and its error sentences. It does not own HTTP,
// paging, the base predicate of a collection or the running of the statement:
// the caller writes
//
//	SELECT … FROM … WHERE (base) AND <Filter.SQL> ORDER BY <Sort.SQL> LIMIT …
//
// # The way of a filter
//
//	text ─► json.go   ordered tree; size, depth, duplicate keys
//	     ─► parse.go  conditions; operators, operands, all other limits
//	     ─► bind.go   paths looked up in the Collection (resolve.go), operands typed
//	                  (kind.go), what needs no data folded to TRUE or FALSE (condition.go)
//	     ─► write.go  fixed SQL shapes, parameters numbered last
//
// The SQL text is made of string constants of this package, of Field.Expr and of
// $n, never of a byte that the client sent: field names select a registry entry,
// values and jsonb paths are bound, patterns are translated and bound.
//
// What a path leads to is a target: a scalar, an array (target.go), a value in jsonb
// (jsonb*.go, with jsonpath.go), or nothing. Each target owns its SQL shapes. Patterns
// are translated by internal/are. A sort goes the same way in one file, sort.go.
//
// # Two-valued logic
//
// A condition may yield NULL, which means that the row does not match. AND and OR
// are written as they are; every negation is written (x) IS NOT TRUE. That alone
// keeps rows with nulls in $ne, $nin, $nor, $not and $exists:false.
//
// # Words
//
// A path names a value in the document ("payload.data.id"). An operand is a value
// that the client gave. A type bracket is the set of values that compare with each
// other; across brackets nothing is equal and nothing is greater. To fold is to
// decide a condition without data. A shape is one of the SQL forms of the contract.
package query
