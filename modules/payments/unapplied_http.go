package payments

import (
	"context"
	"net/http"
	"strings"

	"marquee/modules/payments/ledger"
	"marquee/platform/collection"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

func (s *Service) unappliedRoutes(api *httpapi.API, lists collection.Routes) {
	const path = "/admin/finance/unapplied-payments"
	httpapi.Route(api, http.MethodGet, path, "unapplied_payment_list", httpapi.Admin, lists.List(ledger.UnappliedPayments.View), ledger.UnappliedPayments.ListDoc()...)
	again, one := httpapi.Idempotent(s.recallUnapplied, nil), httpapi.ResponseSchema(ledger.UnappliedPayments.EnvelopeSchema())
	httpapi.Route(api, http.MethodPost, path+"/{id}/refund", "unapplied_payment_refund", httpapi.Admin, s.unappliedRefund, again, one,
		httpapi.Summary("Give an unapplied payment back"))
	httpapi.Route(api, http.MethodPost, path+"/{id}/extend", "unapplied_payment_extend", httpapi.Admin, s.unappliedExtend, again, one,
		httpapi.Summary("Let an unapplied payment lengthen a living subscription of its customer"))
	httpapi.Route(api, http.MethodPost, path+"/{id}/keep", "unapplied_payment_keep", httpapi.Admin, s.unappliedKeep, again, one,
		httpapi.Summary("Keep an unapplied payment, and say why"))
}

type unappliedRefundInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body *struct {
		Reason string `json:"reason" required:"false" maxLength:"500" doc:"Told to the gateway and kept in the history"`
	}
}

func (s *Service) unappliedRefund(ctx context.Context, in *unappliedRefundInput) (*collection.Answer, error) {
	reason := automaticReason
	if in.Body != nil && strings.TrimSpace(in.Body.Reason) != "" {
		reason = strings.TrimSpace(in.Body.Reason)
	}
	return s.unappliedDecision(ctx, in.ID, func(id objectid.ID) error { return s.refundUnapplied(ctx, id, reason) })
}

type unappliedExtendInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body *struct {
		SubscriptionID string `json:"subscription_id" required:"false" doc:"Default: the customer's subscription that lives"`
	}
}

func (s *Service) unappliedExtend(ctx context.Context, in *unappliedExtendInput) (*collection.Answer, error) {
	var subscription objectid.ID
	if in.Body != nil && in.Body.SubscriptionID != "" {
		id, err := objectid.Parse(in.Body.SubscriptionID)
		if err != nil {
			return nil, fault.InvalidAt("has to be an id of 24 hexadecimal digits", "body", "subscription_id")
		}
		subscription = id
	}
	return s.unappliedDecision(ctx, in.ID, func(id objectid.ID) error { return s.extendByUnapplied(ctx, id, subscription) })
}

type unappliedKeepInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body struct {
		Reason string `json:"reason" minLength:"5" maxLength:"500"`
	}
}

func (s *Service) unappliedKeep(ctx context.Context, in *unappliedKeepInput) (*collection.Answer, error) {
	reason := strings.TrimSpace(in.Body.Reason)
	if len([]rune(reason)) < 5 {
		return nil, fault.InvalidAt("has to have at least 5 characters", "body", "reason")
	}
	return s.unappliedDecision(ctx, in.ID, func(id objectid.ID) error { return s.keepUnapplied(ctx, id, reason) })
}

// unappliedDecision decides and answers with the case as it is then.
func (s *Service) unappliedDecision(ctx context.Context, text string, decide func(objectid.ID) error) (*collection.Answer, error) {
	id, err := objectid.Parse(text)
	if err != nil {
		return nil, fault.InvalidAt("has to be an id of 24 hexadecimal digits", "path", "id")
	}
	if err := decide(id); err != nil {
		return nil, err
	}
	return ledger.UnappliedPayments.One(ctx, s.deps.Pool, id)
}

// recallUnapplied tells what became of a decision whose request was cut off; one that
// is open again came to nothing.
func (s *Service) recallUnapplied(ctx context.Context, id objectid.ID) (*collection.Answer, error) {
	u, err := s.findUnapplied(ctx, id)
	if err != nil {
		return nil, err
	}
	if ledger.UnappliedState(u.State) == ledger.UnappliedOpen {
		return nil, httpapi.ErrCameToNothing
	}
	return ledger.UnappliedPayments.One(ctx, s.deps.Pool, id)
}
