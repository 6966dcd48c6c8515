package subscriptions

import (
	"net/http"

	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/plans"
	"marquee/platform/httpapi"
	"marquee/platform/resource"
)

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	subscribe, selfService := s.checkout.Handlers(), s.selfService.Handlers()
	charges, withdrawals := s.charges.Handlers(), s.withdrawals.Handlers()
	list := resource.Routes{Pool: s.deps.Pool, Clock: s.deps.Clock, Log: s.deps.Log}
	created, message := httpapi.Status(http.StatusCreated), httpapi.Info[lifecycle.MessageInfo]()
	pixGWA, cardGWB := httpapi.Info[checkout.PixGWAInfo](), httpapi.Info[checkout.CardGWBInfo]()

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
	httpapi.Route(api, http.MethodPost, "/customers/me/subscribe", "my_subscribe", httpapi.Customer,
		subscribe.Subscribe)

	httpapi.Route(api, http.MethodPost, "/gwa/subscribe", "gwa_subscribe", httpapi.Customer, subscribe.SubscribeGWA,
		created, httpapi.Info[checkout.CardGWAInfo](), httpapi.Idempotent(subscribe.ReplayCardGWA, nil))
	httpapi.Route(api, http.MethodPost, "/gwa/subscribe/pix", "gwa_subscribe_pix", httpapi.Customer,
		subscribe.SubscribePixGWA, created, pixGWA, httpapi.Idempotent(subscribe.ReplayPixGWA, nil))
	httpapi.Route(api, http.MethodPost, "/gwa/subscribe/pix-automatico", "gwa_subscribe_pix_automatic",
		httpapi.Customer, subscribe.SubscribePixAutomatic, created, pixGWA,
		httpapi.Idempotent(subscribe.ReplayPixGWA, nil))
	httpapi.Route(api, http.MethodGet, "/gwa/subscription", "gwa_subscription_get", httpapi.Customer,
		selfService.ReadGWA, message)
	httpapi.Route(api, http.MethodPut, "/gwa/subscription/credit-card", "gwa_subscription_card", httpapi.Customer,
		selfService.ChangeCardGWA, message)
	httpapi.Route(api, http.MethodDelete, "/gwa/subscription", "gwa_subscription_cancel", httpapi.Customer,
		selfService.CancelGWA, message)

	httpapi.Route(api, http.MethodPost, "/gwb/subscribe", "gwb_subscribe", httpapi.Customer, subscribe.SubscribeGWB,
		created, cardGWB, httpapi.Idempotent(subscribe.ReplayCardGWB, nil))
	httpapi.Route(api, http.MethodPost, "/gwb/subscribe/pix", "gwb_subscribe_pix", httpapi.Customer,
		subscribe.SubscribePixGWB, created, httpapi.Info[checkout.PixGWBInfo](),
		httpapi.Idempotent(subscribe.ReplayPixGWB, nil))
	httpapi.Route(api, http.MethodPut, "/gwb/subscription/payment-method", "gwb_subscription_card", httpapi.Customer,
		selfService.ChangeCardGWB, message)
	httpapi.Route(api, http.MethodDelete, "/gwb/subscription", "gwb_subscription_cancel", httpapi.Customer,
		selfService.CancelGWB, message)
	httpapi.Route(api, http.MethodGet, "/gwb/subscription", "gwb_subscription_get", httpapi.Customer,
		selfService.ReadGWB, cardGWB)

	s.admin.AdminRoutes(api)
}
