package promos

import "marquee/platform/lookup"

const foundByText = "t.search @@ platform.search_query($1)"

// Finders are what staff find promo codes by.
func (s *Service) Finders() []lookup.Finder {
	return []lookup.Finder{{
		Kind: "promo_code", Route: "promo_code_list", From: "promos.promo_codes t", Title: "t.code", Note: "t.title",
		By: []lookup.By{
			{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
			{Name: "code", Rank: lookup.Exact, Values: lookup.Tokens, Where: "t.code = upper($1)"},
			{
				Name: "title", Rank: lookup.Whole, Values: lookup.Phrase,
				Where: foundByText + " AND lower(t.title) = lower($1)",
			},
			{Name: "title", Rank: lookup.Within, Values: lookup.Phrase, Where: foundByText},
		},
	}}
}
