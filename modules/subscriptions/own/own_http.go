package own

import (
	"context"

	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/httpapi"
)

// own is a subscription as its customer sees it: with the end of the right to withdraw.
func (h Handlers) own(ctx context.Context, sub lifecycle.Row) (lifecycle.SubscriptionDoc, error) {
	doc := lifecycle.Shown(sub)
	until, err := h.service.withdrawals.WithdrawalUntil(ctx, sub)
	doc.WithdrawalUntil = httpapi.TimePtr(until)
	return doc, err
}
