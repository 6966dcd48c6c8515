package unapplied

import (
	"context"
	"strings"

	"marquee/modules/payments/ledger"
	"marquee/modules/payments/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/resource"
)

type unappliedRefundInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body *struct {
		Reason string `json:"reason" required:"false" maxLength:"500" doc:"Sent to the gateway and stored in the history"`
	}
}

// Refund answers POST /admin/finance/unapplied-payments/{id}/refund.
func (h Handlers) Refund(ctx context.Context, in *unappliedRefundInput) (*resource.Response, error) {
	reason := automaticReason
	if in.Body != nil && strings.TrimSpace(in.Body.Reason) != "" {
		reason = strings.TrimSpace(in.Body.Reason)
	}
	return h.s.unappliedDecision(ctx, in.ID, func(id objectid.ID) error { return h.s.refund(ctx, id, reason) })
}

type unappliedExtendInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body *struct {
		SubscriptionID string `json:"subscription_id" required:"false" doc:"Default: the customer's live subscription"`
	}
}

// Extend answers POST /admin/finance/unapplied-payments/{id}/extend.
func (h Handlers) Extend(ctx context.Context, in *unappliedExtendInput) (*resource.Response, error) {
	var subscription objectid.ID
	if in.Body != nil && in.Body.SubscriptionID != "" {
		id, err := objectid.Parse(in.Body.SubscriptionID)
		if err != nil {
			return nil, fault.InvalidAt("has to be an id of 24 hexadecimal digits", "body", "subscription_id")
		}
		subscription = id
	}
	return h.s.unappliedDecision(ctx, in.ID, func(id objectid.ID) error { return h.s.extend(ctx, id, subscription) })
}

type unappliedKeepInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body struct {
		Reason string `json:"reason" minLength:"5" maxLength:"500"`
	}
}

// Keep answers POST /admin/finance/unapplied-payments/{id}/keep.
func (h Handlers) Keep(ctx context.Context, in *unappliedKeepInput) (*resource.Response, error) {
	reason := strings.TrimSpace(in.Body.Reason)
	if len([]rune(reason)) < 5 {
		return nil, fault.InvalidAt("has to have at least 5 characters", "body", "reason")
	}
	return h.s.unappliedDecision(ctx, in.ID, func(id objectid.ID) error { return h.s.keep(ctx, id, reason) })
}

// unappliedDecision decides and answers with the case as it is then.
func (s *List) unappliedDecision(ctx context.Context, text string,
	decide func(objectid.ID) error,
) (*resource.Response, error) {
	id, err := objectid.Parse(text)
	if err != nil {
		return nil, fault.InvalidAt("has to be an id of 24 hexadecimal digits", "path", "id")
	}
	if err := decide(id); err != nil {
		return nil, err
	}
	return ledger.UnappliedPayments.One(ctx, s.deps.Pool, id)
}

// Replay tells what became of a decision whose request was cut off; one that
// is open again came to nothing.
func (h Handlers) Replay(ctx context.Context, id objectid.ID) (*resource.Response, error) {
	u, err := h.s.findUnapplied(ctx, id)
	if err != nil {
		return nil, err
	}
	if u.State == state.UnappliedOpen {
		return nil, httpapi.ErrWithoutEffect
	}
	return ledger.UnappliedPayments.One(ctx, h.s.deps.Pool, id)
}
