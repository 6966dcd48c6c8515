package catalog

import "marquee/platform/lookup"

const foundByText = "t.search @@ platform.search_query($1)"

// Finders are what staff find videos and what groups them by.
func (s *Service) Finders() []lookup.Finder {
	return []lookup.Finder{
		{
			Kind: "video", Route: "video_list", From: "catalog.videos t", Title: "t.title", Note: "t.slug",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{Name: "slug", Rank: lookup.Exact, Values: lookup.Tokens, Where: "t.slug = $1"},
				{Name: "title", Rank: lookup.Whole, Values: lookup.Beginnings, Where: "t.title = $1"},
				{
					Name: "title", Rank: lookup.Whole, Values: lookup.Phrase,
					Where: foundByText + " AND lower(t.title) = lower($1)",
				},
				{Name: "title", Rank: lookup.Within, Values: lookup.Phrase, Where: foundByText},
			},
		},
		groupFinder("category", "category_list", "catalog.categories t"),
		groupFinder("tag", "tag_list", "catalog.tags t"),
		groupFinder("season", "season_list", "catalog.seasons t"),
	}
}

// groupFinder is of categories, tags and seasons, which are few.
func groupFinder(kind, route, from string) lookup.Finder {
	return lookup.Finder{
		Kind: kind, Route: route, From: from, Title: "t.name", Note: "t.slug",
		By: []lookup.By{
			{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
			{Name: "slug", Rank: lookup.Exact, Values: lookup.Tokens, Where: "t.slug = $1"},
			{
				Name: "name", Rank: lookup.Within, Values: lookup.Words,
				Where: "platform.search_words(t.name) LIKE '%' || platform.search_words($1) || '%'",
			},
		},
	}
}
