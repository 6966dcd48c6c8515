package exports

import "marquee/platform/export"

// eventsRequest is an export of the events dashboard, named by the minute in
// REPORT_TZ.
func (s *Exports) eventsRequest(format export.Format, eventType string, activeOnly bool) request {
	r := request{Kind: eventsExport, Format: format, EventType: eventType, ActiveOnly: activeOnly}
	r.filename = filenameOf("events_dashboard_"+s.deps.Clock.Now().In(s.deps.Zone).Format("20060102_1504"), format)
	return r
}

// eventTables are the sheets of GET /admin/events-dashboard/events/export: the
// rows of the events list, and the tickets of those events.
func eventTables(r request) []table {
	const chosen = " WHERE ($1::text = '' OR x.event_type = $1) AND (NOT $2::boolean OR x.is_active)"
	args := []any{r.EventType, r.ActiveOnly}
	return []table{
		{
			name: "Events", from: "finance.events x" + chosen, order: "x.event_date DESC, x.event_id", args: args,
			columns: []column{
				{"event_id", export.Text, "x.event_id"},
				{"title", export.Text, "x.title"},
				{"event_type", export.Text, "x.event_type"},
				{"event_date", export.Timestamp, "x.event_date"},
				{"location", export.Text, "x.location"},
				{"is_active", export.Bool, "x.is_active"},
				{"capacity", export.Integer, "x.capacity"},
				{"tickets_issued", export.Integer, "x.tickets_live"},
				{"tickets_sold", export.Integer, "x.tickets_sold"},
				{"tickets_promo", export.Integer, "x.tickets_promo"},
				{"available", export.Integer, "x.tickets_available"},
				{"consumed", export.Integer, "x.tickets_consumed"},
				{"expired", export.Integer, "x.tickets_expired"},
				{"revenue", export.Money, "x.revenue_cents"},
				{"orders_count", export.Integer, "x.orders_count"},
				{"occupancy_pct", export.Percent, "x.occupancy_pct"},
				{"cancelled_at", export.Timestamp, "x.cancelled_at"},
				{"kept", export.Money, "x.kept_cents"},
			},
		},
		{
			name: "Tickets", order: "x.event_date DESC, x.id, t.created_at, t.ticket_id", args: args,
			from: "finance.tickets t JOIN tickets.events x ON x.id = t.event_id LEFT JOIN finance.customers_personal p ON p.customer_id = t.customer_id" +
				" LEFT JOIN finance.promo_codes_personal c ON c.promo_code_id = t.promo_code_id LEFT JOIN tickets.orders o ON o.id = t.order_id" + chosen,
			columns: []column{
				{"ticket_id", export.Text, "t.ticket_id"},
				{"event_id", export.Text, "t.event_id"},
				{"event_title", export.Text, "x.title"},
				{"event_date", export.Timestamp, "x.event_date"},
				{"status", export.Text, "t.status"},
				{"customer_id", export.Text, "t.customer_id"},
				{"customer_name", export.Text, "p.full_name"},
				{"customer_email", export.Text, "p.email"},
				{"ticket_order_id", export.Text, "t.order_id"},
				{"payment_status", export.Text, "o.payment_status"},
				{"unit_price", export.Money, "o.unit_price_cents"},
				{"promo_code", export.Text, "c.code"},
				{"created_at", export.Timestamp, "t.created_at"},
				{"consumed_at", export.Timestamp, "t.consumed_at"},
				{"blocked", export.Text, "t.blocked"},
				{"refunded_at", export.Timestamp, "t.refunded_at"},
			},
		},
	}
}
