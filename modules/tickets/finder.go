package tickets

import (
	"marquee/platform/lookup"
)

// Finders are what staff find events, tickets and orders by.
func (s *Service) Finders() []lookup.Finder {
	return []lookup.Finder{
		{
			Kind: "ticket", Route: "ticket_list",
			From:  "tickets.tickets t LEFT JOIN tickets.orders o ON o.id = t.order_id",
			Title: "t.title", Note: "t.status", Customer: ofAccount("o", "t"), Order: "t.order_id",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{Name: "code", Rank: lookup.Exact, Values: s.ticketOf, Where: "t.id = $1"},
			},
		},
		{
			Kind: "ticket_order", Route: "admin_ticket_order_get",
			From:  "tickets.orders t JOIN tickets.events e ON e.id = t.event_id",
			Title: "e.title", Note: "concat_ws(' · ', t.quantity, round(t.total_cents / 100.0, 2), t.state)",
			Customer: ofAccount("t", "t"), Order: "t.id",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{
					Name: "gateway_payment_id", Rank: lookup.Whole, Values: lookup.GatewayIDs,
					Where: "t.gateway IN ('gwa', 'gwb') AND t.gateway_payment_id = $1",
				},
			},
		},
		{
			Kind: "event", Route: "event_list", From: "tickets.events t", Title: "t.title",
			Note: "to_char(t.event_date, 'YYYY-MM-DD')",
			By: []lookup.By{
				{Name: "_id", Rank: lookup.Exact, Values: lookup.IDs, Where: "t.id = $1"},
				{Name: "code", Rank: lookup.Exact, Values: lookup.Beginnings, Where: "t.code = upper($1)"},
				{
					Name: "title", Rank: lookup.Whole, Values: lookup.Phrase,
					Where: foundByText + " AND lower(t.title) = lower($1)",
				},
				{Name: "title", Rank: lookup.Within, Values: lookup.Phrase, Where: foundByText},
			},
		},
	}
}

// ofAccount is the customer of a row, who at the box office needs no account.
func ofAccount(order, row string) string {
	return "CASE WHEN " + order + ".sold_by_id IS NULL THEN " + row + ".customer_id END"
}

const foundByText = "t.search @@ platform.search_query($1)"

// ticketOf takes the ticket of a code that is genuine. That of a picture may end in blanks, which what was typed has
// lost.
func (s *Service) ticketOf(t lookup.Term) []string {
	for _, lost := range []string{"", " ", "  "} {
		if id, ok := s.door.TicketOf(t.Text + lost); ok {
			return []string{id.String()}
		}
	}
	return nil
}
