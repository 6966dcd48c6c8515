package finance

import (
	"net/http"

	"marquee/platform/httpapi"
)

// handlers answers the routes; each reads the database once.
type handlers struct{ *Service }

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	h := handlers{s}
	admin, title := httpapi.Admin, httpapi.Summary

	httpapi.Route(api, http.MethodGet, "/admin/finance/overview", "finance_overview", admin, h.getOverview, title("Subscription business at a glance"))
	httpapi.Route(api, http.MethodGet, "/admin/finance/revenue", "finance_revenue", admin, h.getRevenue, title("Revenue by month or day"))
	httpapi.Route(api, http.MethodGet, "/admin/finance/overdue", "finance_overdue", admin, h.getOverdue, shaped[overdueList](api), title("Overdue subscriptions"))
	httpapi.Route(api, http.MethodGet, "/admin/finance/churn", "finance_churn", admin, h.getChurn, title("Churn by month"))
	httpapi.Route(api, http.MethodGet, "/admin/finance/definitions", "finance_definitions", admin, h.getDefinitions, title("What each figure means"))

	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/overview", "events_dashboard_overview", admin, h.getEventsOverview, shaped[eventsOverview](api), title("Events at a glance"))
	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/events", "events_dashboard_list", admin, h.listEvents, shaped[eventList](api), title("Events with their sales"))
	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/events/{event_id}", "events_dashboard_get", admin, h.getEvent, shaped[eventDetail](api), title("One event with its orders, tickets and codes"))
	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/promo-codes", "events_dashboard_promo_codes", admin, h.getPromoPerformance, shaped[promoPerformance](api), title("What promo codes brought"))
	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/orders", "events_dashboard_orders", admin, h.getOrderTotals, shaped[orderTotals](api), title("Ticket orders at a glance"))

	httpapi.Route(api, http.MethodGet, "/admin/subscriptions/dashboard", "subscription_dashboard", admin, h.getSubscriptionDashboard, shaped[subscriptionDashboard](api), title("Subscriptions at a glance"))
	httpapi.Route(api, http.MethodGet, "/admin/subscriptions/insights", "subscription_insights", admin, h.getSubscriptionInsights, shaped[subscriptionInsights](api), title("How subscriptions hold"))

	httpapi.Route(api, http.MethodGet, "/admin/customers/360", "customer_360", admin, h.getCustomer360, shaped[customer360](api), title("Everything about one customer"))
	httpapi.Route(api, http.MethodGet, "/admin/customers/tenure", "customer_tenure", admin, h.getTenure, shaped[tenure](api), title("How long customers stay"))

	e, file := exportHandlers{s: s, api: api}, exportAnswers(api)
	httpapi.Route(api, http.MethodGet, "/admin/finance/export", "finance_export", admin, e.finance, append(file, title("Figures, subscriptions, overdue, cancellations and refunds as a file"))...)
	httpapi.Route(api, http.MethodGet, "/admin/events-dashboard/events/export", "events_dashboard_export", admin, e.events, append(file, title("Events and tickets as a file"))...)
	httpapi.Route(api, http.MethodGet, "/admin/customers/export", "customer_export", admin, e.customers, append(file, title("Customers as a file"))...)
	httpapi.Route(api, http.MethodGet, exportsPath+"/{id}", "export_get", admin, e.get, httpapi.TokenInQuery(), title("How far the file of an export is, and where it can be fetched"))
	httpapi.Route(api, http.MethodDelete, exportsPath+"/{id}", "export_delete", admin, e.delete, title("Cancels an export, or removes its file"))
	e.mountDownload()
}
