package payments

import (
	"context"
	"errors"
	"net/http"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/reconcile"
	"marquee/modules/payments/webhook"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/resource"
)

// handlers answers the module's routes.
type handlers struct{ s *Service }

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	h, webhooks, unapplied := handlers{s}, webhook.NewHandlers(s.webhooks, s.log), s.unapplied.Handlers()
	api.Mount(http.MethodPost, "/webhooks/gwa", "webhook_gwa", httpapi.Gateway, webhooks.Receive(api, gateway.GWA))
	api.Mount(http.MethodPost, "/webhooks/gwb", "webhook_gwb", httpapi.Gateway, webhooks.Receive(api, gateway.GWB))
	lists := resource.Routes{Pool: s.deps.Pool, Reads: s.deps.Reads, Clock: s.deps.Clock, Log: s.deps.Log}
	httpapi.Route(api, http.MethodGet, "/webhook-logs", "webhook_log_list", httpapi.Admin,
		lists.List(webhook.Logs.View), webhook.Logs.ListDoc()...)
	httpapi.Route(api, http.MethodGet, "/webhook-logs/stats", "webhook_log_stats", httpapi.Admin, webhooks.Stats,
		httpapi.Summary("How many webhooks arrived, and their results"))
	httpapi.Route(api, http.MethodPost, "/webhook-logs/{id}/replay", "webhook_log_replay", httpapi.Admin,
		webhooks.Replay,
		httpapi.Summary("Apply a stored event again"),
		httpapi.Bodyless("is not taken in the body: dry_run stands in the address"))
	httpapi.Route(api, http.MethodGet, "/admin/finance/refunds", "refund_list", httpapi.Admin,
		lists.OnPrimary().List(ledger.Refunds.View), ledger.Refunds.ListDoc()...)
	httpapi.Route(api, http.MethodGet, "/admin/finance/payments", "payment_list", httpapi.Admin,
		lists.OnPrimary().List(ledger.Payments.View), ledger.Payments.ListDoc()...)
	httpapi.Route(api, http.MethodGet, "/admin/finance/disputes", "dispute_list", httpapi.Admin,
		lists.OnPrimary().List(ledger.Disputes.View), ledger.Disputes.ListDoc()...)
	httpapi.Route(api, http.MethodGet, "/admin/finance/reconciliations", "reconciliation_list", httpapi.Admin,
		lists.OnPrimary().List(reconcile.Runs.View), reconcile.Runs.ListDoc()...)
	httpapi.Route(api, http.MethodGet, "/admin/finance/reconciliation-findings", "reconciliation_finding_list",
		httpapi.Admin, lists.OnPrimary().List(reconcile.Findings.View), reconcile.Findings.ListDoc()...)
	const unappliedPath = "/admin/finance/unapplied-payments"
	httpapi.Route(api, http.MethodGet, unappliedPath, "unapplied_payment_list", httpapi.Admin,
		lists.OnPrimary().List(ledger.UnappliedPayments.View), ledger.UnappliedPayments.ListDoc()...)
	again, one := httpapi.Idempotent(unapplied.Replay, nil),
		httpapi.ResponseSchema(ledger.UnappliedPayments.EnvelopeSchema())
	httpapi.Route(api, http.MethodPost, unappliedPath+"/{id}/refund", "unapplied_payment_refund", httpapi.Admin,
		unapplied.Refund, again, one,
		httpapi.Summary("Give an unapplied payment back"))
	httpapi.Route(api, http.MethodPost, unappliedPath+"/{id}/extend", "unapplied_payment_extend", httpapi.Admin,
		unapplied.Extend, again, one,
		httpapi.Summary("Extend a live subscription of the customer with an unapplied payment"))
	httpapi.Route(api, http.MethodPost, unappliedPath+"/{id}/keep", "unapplied_payment_keep", httpapi.Admin,
		unapplied.Keep, again, one,
		httpapi.Summary("Keep an unapplied payment, and say why"))
	httpapi.Route(api, http.MethodGet, "/gwb/config", "gwb_config", httpapi.Public, h.gwbConfig,
		httpapi.Summary("The key with which a client makes card tokens at gateway B"))
}

// gwbConfigBody is the answer of GET /gwb/config.
type gwbConfigBody struct {
	PublishableKey string `json:"publishable_key" doc:"Public key of gateway B for its client library"`
}

func (h handlers) gwbConfig(context.Context, *struct{}) (*httpapi.Output[gwbConfigBody], error) {
	if h.s.deps.GWBPublishableKey == "" {
		return nil, (&fault.Error{Kind: fault.KindInternal}).WithCause(errors.New("GWB_PUBLISHABLE_KEY is not set"))
	}
	return &httpapi.Output[gwbConfigBody]{Body: gwbConfigBody{PublishableKey: h.s.deps.GWBPublishableKey}}, nil
}
