package board

import "marquee/platform/lookup"

// Finders are what staff find cards and columns of the board by.
func (s *Service) Finders() []lookup.Finder {
	return []lookup.Finder{
		{
			Kind: "requisition", Route: getHandler,
			From:  "board.requisitions t JOIN board.requisition_status c ON c.id = t.status_id",
			Title: "t.name", Note: "c.name",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{
					Name: "name", Rank: lookup.Within, Values: lookup.Phrase,
					Where: "t.search @@ platform.search_query($1)", OrderBy: "t.register_update_date DESC, t.id",
				},
			},
		},
		{
			Kind: "requisition_status", Route: "requisition_status_get", From: "board.requisition_status t",
			Title: "t.name",
			By:    []lookup.By{{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"}},
		},
	}
}
