package finance

import (
	"net/http"

	"marquee/modules/finance/exports"
	"marquee/modules/finance/reports"
	"marquee/platform/httpapi"
	"marquee/platform/resource"
)

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	h := s.Handlers()
	admin, title := httpapi.Admin, httpapi.Summary

	httpapi.Route(api, http.MethodGet, "/admin/finance/overview", "finance_overview", admin, h.GetOverview,
		title("Subscription business at a glance"))
	httpapi.Route(api, http.MethodGet, "/admin/finance/revenue", "finance_revenue", admin, h.GetRevenue,
		title("Revenue by month or day"))
	httpapi.Route(api, http.MethodGet, "/admin/finance/overdue", "finance_overdue", admin, h.GetOverdue,
		reports.SchemaOf[reports.OverdueList](api), title("Overdue subscriptions"))
	httpapi.Route(api, http.MethodGet, "/admin/finance/overdue-subscriptions", "overdue_subscription_list", admin,
		h.ListOverdue, h.OverdueDoc()...)
	httpapi.Route(api, http.MethodGet, "/admin/finance/churn", "finance_churn", admin, h.GetChurn,
		title("Churn by month"))
	httpapi.Route(api, http.MethodGet, "/admin/finance/movements", "finance_movements", admin, h.GetMovements,
		title("How MRR moved by month"))
	httpapi.Route(api, http.MethodGet, "/admin/finance/movements/rows", "finance_movement_rows", admin,
		h.GetMovementRows, reports.SchemaOf[reports.MovementRows](api), title("What moved MRR, row by row"))
	httpapi.Route(api, http.MethodGet, "/admin/finance/definitions", "finance_definitions", admin, h.GetDefinitions,
		title("What each figure means"))

	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/overview", "events_dashboard_overview", admin,
		h.GetEventsOverview, reports.SchemaOf[reports.EventsOverview](api), title("Events at a glance"))
	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/events", "events_dashboard_list", admin, h.ListEvents,
		reports.SchemaOf[reports.EventList](api), title("Events with their sales"))
	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/events/{event_id}", "events_dashboard_get", admin,
		h.GetEvent, reports.SchemaOf[reports.EventDetail](api), title("One event with its orders, tickets and codes"))
	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/promo-codes", "events_dashboard_promo_codes", admin,
		h.GetPromoPerformance, reports.SchemaOf[reports.PromoPerformance](api), title("What promo codes brought"))
	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/promo-codes/{id}", "events_dashboard_promo_code", admin,
		h.GetPromoCode, reports.SchemaOf[reports.PromoCodeDetail](api), title("One promo code over time, and its family"))
	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/orders", "events_dashboard_orders", admin,
		h.GetOrderTotals, reports.SchemaOf[reports.OrderTotals](api), title("Ticket orders at a glance"))
	lists := resource.Routes{Pool: s.deps.Pool, Reads: s.deps.Reads, Clock: s.deps.Clock, Log: s.deps.Log}
	httpapi.Route(api, http.MethodGet, "/admin/ticket-orders", "ticket_order_list", admin,
		lists.OnPrimary().List(reports.TicketOrders.View), reports.TicketOrders.ListDoc()...)
	httpapi.Route(api, http.MethodGet, "/admin/ticket-orders/{id}", "admin_ticket_order_get", admin, h.GetTicketOrder,
		reports.SchemaOf[reports.TicketOrder](api), title("One ticket order with its tickets, its money and its history"))
	httpapi.Route(api, http.MethodGet, "/events/{id}/box-office", "box_office_get", admin, h.GetBoxOffice,
		reports.SchemaOf[reports.BoxOffice](api), title("What the counter of an event took, by day, method and seller"))

	httpapi.Route(api, http.MethodGet, "/admin/subscriptions/dashboard", "subscription_dashboard", admin,
		h.GetSubscriptionDashboard, reports.SchemaOf[reports.SubscriptionDashboard](api),
		title("Subscriptions at a glance"))
	httpapi.Route(api, http.MethodGet, "/admin/subscriptions/insights", "subscription_insights", admin,
		h.GetSubscriptionInsights, reports.SchemaOf[reports.SubscriptionInsights](api), title("How subscriptions hold"))

	httpapi.Route(api, http.MethodGet, "/admin/customers/360", "customer_360", admin, h.GetCustomer360,
		reports.SchemaOf[reports.Customer360](api), title("Everything about one customer"))
	httpapi.Route(api, http.MethodGet, "/admin/customers/{id}/timeline", "customer_timeline", admin,
		h.GetCustomerTimeline,
		reports.SchemaOf[reports.CustomerTimeline](api), title("What happened to one customer"))
	httpapi.Route(api, http.MethodGet, "/admin/customers/tenure", "customer_tenure", admin, h.GetTenure,
		reports.SchemaOf[reports.Tenure](api), title("How long customers stay"))

	e, file := exports.NewHandlers(s.exports, api), exports.Responses(api)
	httpapi.Route(api, http.MethodGet, "/admin/finance/export", "finance_export", admin, e.Finance,
		append(file, title("Figures, subscriptions, overdue, cancellations and refunds as a file"))...)
	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/events/export", "events_dashboard_export", admin,
		e.Events, append(file, title("Events and tickets as a file"))...)
	httpapi.Route(api, http.MethodGet, "/admin/customers/export", "customer_export", admin, e.Customers,
		append(file, title("Customers as a file"))...)
	httpapi.Route(api, http.MethodGet, exports.Path+"/{id}", "export_get", admin, e.Get, httpapi.TokenInQuery(),
		title("How far the file of an export is, and where it can be fetched"))
	httpapi.Route(api, http.MethodGet, exports.Path+"/{id}/events", exports.EventsHandler, admin, e.Progress,
		append(exports.ProgressDoc(api), title("How far an export is, as it goes on"))...)
	httpapi.Route(api, http.MethodDelete, exports.Path+"/{id}", "export_delete", admin, e.Delete,
		title("Cancels an export, or removes its file"))
	e.MountDownload()
}
