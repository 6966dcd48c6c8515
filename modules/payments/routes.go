package payments

import (
	"net/http"

	"marquee/platform/httpapi"
)

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	api.Mount(http.MethodPost, "/webhooks/gwa", "webhook_gwa", httpapi.Gateway, s.webhook(api, GWA))
	api.Mount(http.MethodPost, "/webhooks/gwb", "webhook_gwb", httpapi.Gateway, s.webhook(api, GWB))
	httpapi.Route(api, http.MethodGet, "/gwb/config", "gwb_config", httpapi.Public, s.gwbConfig,
		httpapi.Summary("The key with which a client makes card tokens at gateway B"))
}
