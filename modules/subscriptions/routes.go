package subscriptions

import (
	"net/http"

	"marquee/platform/collection"
	"marquee/platform/httpapi"
)

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	checkout, own, charges, withdrawals := s.checkout.handlers(), s.own.handlers(), s.charges.handlers(), s.withdrawals.handlers()
	list := collection.Routes{Pool: s.pool, Clock: s.clock, Log: s.log}
	created := httpapi.Status(http.StatusCreated)

	httpapi.Route(api, http.MethodGet, "/plans", "plan_list", httpapi.Public, list.List(publicPlans), publicPlans.ListDoc()...)
	s.plans.planRoutes(api)

	httpapi.Route(api, http.MethodGet, "/customers/me/subscription", "my_subscription_get", httpapi.Customer, own.mine)
	httpapi.Route(api, http.MethodDelete, "/customers/me/subscription", "my_subscription_cancel", httpapi.Customer, own.cancelMine)
	httpapi.Route(api, http.MethodPut, "/customers/me/subscription/renew", "my_subscription_renew", httpapi.Customer, own.renew, httpapi.Idempotent(own.recallRenewal, nil))
	httpapi.Route(api, http.MethodPost, "/customers/me/subscription/withdraw", "my_subscription_withdraw", httpapi.Customer, withdrawals.withdraw, httpapi.Idempotent(withdrawals.recallWithdrawal, nil))
	httpapi.Route(api, http.MethodPost, "/customers/me/subscription/renew/pix", "my_subscription_renew_pix", httpapi.Customer, charges.renewPix, created, httpapi.Idempotent(charges.recallRenewPix, nil))
	httpapi.Route(api, http.MethodGet, "/customers/me/pix-qr", "my_pix_qr_get", httpapi.Customer, own.pixQR)
	httpapi.Route(api, http.MethodPost, "/customers/me/subscribe", "my_subscribe", httpapi.Customer, checkout.subscribe)

	httpapi.Route(api, http.MethodPost, "/gwa/subscribe", "gwa_subscribe", httpapi.Customer, checkout.subscribeGWA, created, httpapi.Idempotent(checkout.recallCardGWA, nil))
	httpapi.Route(api, http.MethodPost, "/gwa/subscribe/pix", "gwa_subscribe_pix", httpapi.Customer, checkout.subscribePixGWA, created, httpapi.Idempotent(checkout.recallPixGWA, nil))
	httpapi.Route(api, http.MethodPost, "/gwa/subscribe/pix-automatico", "gwa_subscribe_pix_automatic", httpapi.Customer, checkout.subscribePixAutomatic, created, httpapi.Idempotent(checkout.recallPixGWA, nil))
	httpapi.Route(api, http.MethodGet, "/gwa/subscription", "gwa_subscription_get", httpapi.Customer, own.readGWA)
	httpapi.Route(api, http.MethodPut, "/gwa/subscription/credit-card", "gwa_subscription_card", httpapi.Customer, own.changeCardGWA)
	httpapi.Route(api, http.MethodDelete, "/gwa/subscription", "gwa_subscription_cancel", httpapi.Customer, own.cancelGWA)

	httpapi.Route(api, http.MethodPost, "/gwb/subscribe", "gwb_subscribe", httpapi.Customer, checkout.subscribeGWB, created, httpapi.Idempotent(checkout.recallCardGWB, nil))
	httpapi.Route(api, http.MethodPost, "/gwb/subscribe/pix", "gwb_subscribe_pix", httpapi.Customer, checkout.subscribePixGWB, created, httpapi.Idempotent(checkout.recallPixGWB, nil))
	httpapi.Route(api, http.MethodPut, "/gwb/subscription/payment-method", "gwb_subscription_card", httpapi.Customer, own.changeCardGWB)
	httpapi.Route(api, http.MethodDelete, "/gwb/subscription", "gwb_subscription_cancel", httpapi.Customer, own.cancelGWB)
	httpapi.Route(api, http.MethodGet, "/gwb/subscription", "gwb_subscription_get", httpapi.Customer, own.readGWB)

	s.admin.adminRoutes(api)
}
