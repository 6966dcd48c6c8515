// Package pgregex translates the regular expressions that clients write (PCRE, as
// MongoDB takes them) to Postgres' advanced regular expressions.
//
// The two dialects look alike and differ in ways that return wrong rows without an
// error, so a pattern is never passed through. It is read by Go's regexp/syntax,
// whose grammar has no back-references and no look-around, its cost is bounded, and
// its tree is written anew in a small vocabulary whose meaning does not depend on the
// database's locale (docs/contract/filters.md, Patterns). Match with
//
//	column COLLATE "C" ~ $n::text
//
// The package knows nothing of filters. Files: lex.go and escape.go rewrite what Go
// reads differently, cost.go bounds, write.go prints.
package pgregex
