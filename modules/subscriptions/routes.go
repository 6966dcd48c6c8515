package subscriptions

import (
	"net/http"

	"marquee/modules/subscriptions/plans"
	"marquee/platform/httpapi"
	"marquee/platform/resource"
)

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	checkout, selfService := s.checkout.Handlers(), s.selfService.Handlers()
	charges, withdrawals := s.charges.Handlers(), s.withdrawals.Handlers()
	list := resource.Routes{Pool: s.deps.Pool, Clock: s.deps.Clock, Log: s.deps.Log}
	created := httpapi.Status(http.StatusCreated)

	httpapi.Route(api, http.MethodGet, "/plans", "plan_list", httpapi.Public, list.List(plans.PublicPlans),
		plans.PublicPlans.ListDoc()...)
	s.plans.PlanRoutes(api)

	httpapi.Route(api, http.MethodGet, "/customers/me/subscription", "my_subscription_get", httpapi.Customer,
		selfService.GetCustomerSubscription)
	httpapi.Route(api, http.MethodDelete, "/customers/me/subscription", "my_subscription_cancel", httpapi.Customer,
		selfService.CancelCustomerSubscription)
	httpapi.Route(api, http.MethodPut, "/customers/me/subscription/renew", "my_subscription_renew", httpapi.Customer,
		selfService.Renew, httpapi.Idempotent(selfService.ReplayRenewal, nil))
	httpapi.Route(api, http.MethodPost, "/customers/me/subscription/withdraw", "my_subscription_withdraw",
		httpapi.Customer, withdrawals.Withdraw, httpapi.Idempotent(withdrawals.ReplayWithdrawal, nil))
	httpapi.Route(api, http.MethodPost, "/customers/me/subscription/renew/pix", "my_subscription_renew_pix",
		httpapi.Customer, charges.RenewPix, created, httpapi.Idempotent(charges.ReplayRenewPix, nil))
	httpapi.Route(api, http.MethodGet, "/customers/me/pix-qr", "my_pix_qr_get", httpapi.Customer, selfService.PixQR)
	httpapi.Route(api, http.MethodPost, "/customers/me/subscribe", "my_subscribe", httpapi.Customer, checkout.Subscribe)

	httpapi.Route(api, http.MethodPost, "/gwa/subscribe", "gwa_subscribe", httpapi.Customer, checkout.SubscribeGWA,
		created, httpapi.Idempotent(checkout.ReplayCardGWA, nil))
	httpapi.Route(api, http.MethodPost, "/gwa/subscribe/pix", "gwa_subscribe_pix", httpapi.Customer,
		checkout.SubscribePixGWA, created, httpapi.Idempotent(checkout.ReplayPixGWA, nil))
	httpapi.Route(api, http.MethodPost, "/gwa/subscribe/pix-automatico", "gwa_subscribe_pix_automatic",
		httpapi.Customer, checkout.SubscribePixAutomatic, created, httpapi.Idempotent(checkout.ReplayPixGWA, nil))
	httpapi.Route(api, http.MethodGet, "/gwa/subscription", "gwa_subscription_get", httpapi.Customer,
		selfService.ReadGWA)
	httpapi.Route(api, http.MethodPut, "/gwa/subscription/credit-card", "gwa_subscription_card", httpapi.Customer,
		selfService.ChangeCardGWA)
	httpapi.Route(api, http.MethodDelete, "/gwa/subscription", "gwa_subscription_cancel", httpapi.Customer,
		selfService.CancelGWA)

	httpapi.Route(api, http.MethodPost, "/gwb/subscribe", "gwb_subscribe", httpapi.Customer, checkout.SubscribeGWB,
		created, httpapi.Idempotent(checkout.ReplayCardGWB, nil))
	httpapi.Route(api, http.MethodPost, "/gwb/subscribe/pix", "gwb_subscribe_pix", httpapi.Customer,
		checkout.SubscribePixGWB, created, httpapi.Idempotent(checkout.ReplayPixGWB, nil))
	httpapi.Route(api, http.MethodPut, "/gwb/subscription/payment-method", "gwb_subscription_card", httpapi.Customer,
		selfService.ChangeCardGWB)
	httpapi.Route(api, http.MethodDelete, "/gwb/subscription", "gwb_subscription_cancel", httpapi.Customer,
		selfService.CancelGWB)
	httpapi.Route(api, http.MethodGet, "/gwb/subscription", "gwb_subscription_get", httpapi.Customer,
		selfService.ReadGWB)

	s.admin.AdminRoutes(api)
}
