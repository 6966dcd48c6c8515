package payments

import (
	"net/http"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/webhook"
	"marquee/platform/collection"
	"marquee/platform/httpapi"
)

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	api.Mount(http.MethodPost, "/webhooks/gwa", "webhook_gwa", httpapi.Gateway, s.webhooks.Handler(api, gateway.GWA))
	api.Mount(http.MethodPost, "/webhooks/gwb", "webhook_gwb", httpapi.Gateway, s.webhooks.Handler(api, gateway.GWB))
	lists := collection.Routes{Pool: s.deps.Pool, Reads: s.deps.Reads, Clock: s.deps.Clock, Log: s.deps.Log}
	httpapi.Route(api, http.MethodGet, "/webhook-logs", "webhook_log_list", httpapi.Admin, lists.List(webhook.Logs.View), webhook.Logs.ListDoc()...)
	httpapi.Route(api, http.MethodGet, "/webhook-logs/stats", "webhook_log_stats", httpapi.Admin, s.log.Stats,
		httpapi.Summary("How many webhooks came and what became of them"))
	httpapi.Route(api, http.MethodPost, "/webhook-logs/{id}/replay", "webhook_log_replay", httpapi.Admin, s.webhooks.ReplayLog,
		httpapi.Summary("Apply a stored event again"))
	s.unappliedRoutes(api, lists)
	httpapi.Route(api, http.MethodGet, "/gwb/config", "gwb_config", httpapi.Public, s.gwbConfig,
		httpapi.Summary("The key with which a client makes card tokens at gateway B"))
}
