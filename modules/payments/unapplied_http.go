package payments

import (
	"context"
	"net/http"
	"strings"

	"marquee/platform/collection"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/query"
)

// unappliedPayments is the collection of money that gave nobody anything
// (open-shapes, section 5, number 3). Amounts are cents.
var unappliedPayments = collection.New(collection.Definition{
	Name: "unapplied-payments", Singular: "Unapplied payment", Table: "payments.unapplied_payments",
	From: `(SELECT u.*, NULL::platform.object_id AS document_created_by_id, u.created_at AS register_date, u.updated_at AS register_update_date
		FROM payments.unapplied_payments u) t`,
	DefaultSort: `{"register_date":-1}`,
	Fields: []collection.Field{
		{Name: "kind", Kind: query.String, Write: collection.Kept, Rule: collection.Rule{Enum: []string{"late", "duplicate", "foreign", "unrefundable", "unknown"}},
			Doc: "late: for a row that has ended; duplicate: a second payment; foreign: of a recurrence that no row owns; unrefundable: a refund failed; unknown: an answer not known, or money that nobody can place"},
		{Name: "gateway", Kind: query.String, Write: collection.Kept, Doc: "gwa or gwb", Rule: collection.Rule{Enum: []string{"gwa", "gwb"}}},
		{Name: "gateway_payment_id", Kind: query.String, Nullable: true, Write: collection.Kept, Doc: "Gateway A: pay_…; gateway B: the invoice in_…, else the payment intent pi_…"},
		{Name: "amount", Column: "amount_cents", Kind: query.Int, Nullable: true, Write: collection.Kept, Doc: "Cents; null only of kind unknown"},
		{Name: "customer_id", Kind: query.OID, Nullable: true, Write: collection.Kept},
		{Name: "subscription_id", Kind: query.OID, Nullable: true, Write: collection.Kept, Doc: "Whose the payment is; of one that extended, the subscription that it extended"},
		{Name: "order_id", Kind: query.OID, Nullable: true, Write: collection.Kept},
		{Name: "paid_at", Kind: query.Date, Nullable: true, Write: collection.Kept},
		{Name: "state", Kind: query.String, Write: collection.Kept, Rule: collection.Rule{Enum: []string{"open", "refunding", "refunded", "extended", "kept"}}},
		{Name: "note", Kind: query.String, Nullable: true, Write: collection.Kept, Doc: "What happened, or why it was kept"},
	},
})

func (s *Service) unappliedRoutes(api *httpapi.API, lists collection.Routes) {
	const path = "/admin/finance/unapplied-payments"
	httpapi.Route(api, http.MethodGet, path, "unapplied_payment_list", httpapi.Admin, lists.List(unappliedPayments.View), unappliedPayments.ListDoc()...)
	again, one := httpapi.Idempotent(s.recallUnapplied, nil), httpapi.ResponseSchema(unappliedPayments.EnvelopeSchema())
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
	return unappliedPayments.One(ctx, s.deps.Pool, id)
}

// recallUnapplied tells what became of a decision whose request was cut off; one that
// is open again came to nothing.
func (s *Service) recallUnapplied(ctx context.Context, id objectid.ID) (*collection.Answer, error) {
	u, err := s.findUnapplied(ctx, id)
	if err != nil {
		return nil, err
	}
	if UnappliedState(u.State) == UnappliedOpen {
		return nil, httpapi.ErrCameToNothing
	}
	return unappliedPayments.One(ctx, s.deps.Pool, id)
}
