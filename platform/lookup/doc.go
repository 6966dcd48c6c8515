// Package lookup finds records of every kind by what somebody has of them: an id of ours or of a gateway, half an
// e-mail, a tax id, a name, a code, the id of a request.
//
// A module publishes a Finder for each kind of its records: SQL of its own over its own tables, and the route that
// lists them. The composition root puts all of them together in one route. What was typed is read once (Term); the
// ways that it is of use for, of the kinds that the caller may list, become one statement, in which each way is a
// SELECT of its own with a LIMIT, served by an index:
//
//	var codes = lookup.Finder{
//		Kind: "promo_code", Route: "promo_code_list", From: "promos.promo_codes t",
//		Title: "t.code", Note: "t.title",
//		By: []lookup.By{
//			{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
//			{Name: "code", Rank: lookup.Exact, Values: lookup.Tokens, Where: "t.code = upper($1)"},
//			{Name: "title", Rank: lookup.Within, Values: lookup.Text, Where: "t.search @@ platform.search_query($1)"},
//		},
//	}
//
// Nothing is counted and nothing is sorted that an index does not give in order, so that a word which a million
// records hold costs no more than one that few do.
package lookup
