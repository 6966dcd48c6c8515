package subscriptions

import (
	"net/http"

	"marquee/platform/collection"
	"marquee/platform/httpapi"
)

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	h := handlers{service: s}
	list := collection.Routes{Pool: s.pool, Clock: s.clock, Log: s.log}
	created := httpapi.Status(http.StatusCreated)

	httpapi.Route(api, http.MethodGet, "/plans", "plan_list", httpapi.Public, list.List(publicPlans), publicPlans.ListDoc()...)
	s.planRoutes(api)

	httpapi.Route(api, http.MethodGet, "/customers/me/subscription", "my_subscription_get", httpapi.Customer, h.mine)
	httpapi.Route(api, http.MethodDelete, "/customers/me/subscription", "my_subscription_cancel", httpapi.Customer, h.cancelMine)
	httpapi.Route(api, http.MethodPut, "/customers/me/subscription/renew", "my_subscription_renew", httpapi.Customer, h.renew, httpapi.Idempotent(h.recallRenewal, nil))
	httpapi.Route(api, http.MethodPost, "/customers/me/subscription/withdraw", "my_subscription_withdraw", httpapi.Customer, h.withdraw, httpapi.Idempotent(h.recallWithdrawal, nil))
	httpapi.Route(api, http.MethodPost, "/customers/me/subscription/renew/pix", "my_subscription_renew_pix", httpapi.Customer, h.renewPix, created, httpapi.Idempotent(h.recallRenewPix, nil))
	httpapi.Route(api, http.MethodGet, "/customers/me/pix-qr", "my_pix_qr_get", httpapi.Customer, h.pixQR)
	httpapi.Route(api, http.MethodPost, "/customers/me/subscribe", "my_subscribe", httpapi.Customer, h.subscribe)

	httpapi.Route(api, http.MethodPost, "/gwa/subscribe", "gwa_subscribe", httpapi.Customer, h.subscribeGWA, created, httpapi.Idempotent(h.recallCardGWA, nil))
	httpapi.Route(api, http.MethodPost, "/gwa/subscribe/pix", "gwa_subscribe_pix", httpapi.Customer, h.subscribePixGWA, created, httpapi.Idempotent(h.recallPixGWA, nil))
	httpapi.Route(api, http.MethodPost, "/gwa/subscribe/pix-automatico", "gwa_subscribe_pix_automatic", httpapi.Customer, h.subscribePixAutomatic, created, httpapi.Idempotent(h.recallPixGWA, nil))
	httpapi.Route(api, http.MethodGet, "/gwa/subscription", "gwa_subscription_get", httpapi.Customer, h.readGWA)
	httpapi.Route(api, http.MethodPut, "/gwa/subscription/credit-card", "gwa_subscription_card", httpapi.Customer, h.changeCardGWA)
	httpapi.Route(api, http.MethodDelete, "/gwa/subscription", "gwa_subscription_cancel", httpapi.Customer, h.cancelGWA)

	httpapi.Route(api, http.MethodPost, "/gwb/subscribe", "gwb_subscribe", httpapi.Customer, h.subscribeGWB, created, httpapi.Idempotent(h.recallCardGWB, nil))
	httpapi.Route(api, http.MethodPost, "/gwb/subscribe/pix", "gwb_subscribe_pix", httpapi.Customer, h.subscribePixGWB, created, httpapi.Idempotent(h.recallPixGWB, nil))
	httpapi.Route(api, http.MethodPut, "/gwb/subscription/payment-method", "gwb_subscription_card", httpapi.Customer, h.changeCardGWB)
	httpapi.Route(api, http.MethodDelete, "/gwb/subscription", "gwb_subscription_cancel", httpapi.Customer, h.cancelGWB)
	httpapi.Route(api, http.MethodGet, "/gwb/subscription", "gwb_subscription_get", httpapi.Customer, h.readGWB)

	s.adminRoutes(api)
}
