package settings

import (
	"net/http"

	"marquee/platform/httpapi"
)

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	h := handlers{s}
	httpapi.Route(api, http.MethodGet, "/config/payment-gateway", "config_payment_gateway_get", httpapi.Public,
		h.getGateway)
	httpapi.Route(api, http.MethodPut, "/admin/config/payment-gateway", "config_payment_gateway_put", httpapi.Admin,
		h.putGateway)
	httpapi.Route(api, http.MethodGet, "/config/pix-billing-mode", "config_pix_billing_mode_get", httpapi.Public,
		h.getPixBilling)
	httpapi.Route(api, http.MethodPut, "/admin/config/pix-billing-mode", "config_pix_billing_mode_put", httpapi.Admin,
		h.putPixBilling)
	httpapi.Route(api, http.MethodGet, "/config/pix-subscription-mode", "config_pix_subscription_mode_get",
		httpapi.Public, h.getPixSubscription)
	httpapi.Route(api, http.MethodPut, "/admin/config/pix-subscription-mode", "config_pix_subscription_mode_put",
		httpapi.Admin, h.putPixSubscription)
	httpapi.Route(api, http.MethodGet, "/config/client-version", "config_client_version_get", httpapi.Public,
		h.getVersion)
	httpapi.Route(api, http.MethodPut, "/config/client-version", "config_client_version_put", httpapi.Root,
		h.putVersion)
	httpapi.Route(api, http.MethodGet, "/config/branding", "config_branding_get", httpapi.Public, h.getBranding,
		httpapi.NotModified())
	httpapi.Route(api, http.MethodGet, "/config/branding.css", "config_branding_style", httpapi.Public, h.getStyle,
		httpapi.NotModified(), fileResponse("text/css"), httpapi.Summary("The accents as a style sheet"))
	httpapi.Route(api, http.MethodGet, logoPath, "config_branding_logo", httpapi.Public, h.getLogo,
		httpapi.NotModified(), fileResponse("image/png"), httpapi.Summary("The logo"))
	httpapi.Route(api, http.MethodPut, "/admin/config/branding", "config_branding_put", httpapi.Admin, h.putBranding,
		httpapi.Permission())
}
