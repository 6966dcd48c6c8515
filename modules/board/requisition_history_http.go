package board

import (
	"context"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/resource"
)

type historyInput struct {
	ID string `path:"id" doc:"The requisition's _id"`
}

// cardHistory answers GET /admin/requisitions/{id}/history with what the audit
// trail says about the card, the newest change first. That of a deleted card
// stays; 404 when there has never been one of that id.
func (h handlers) cardHistory(ctx context.Context, in *historyInput) (*resource.Response, error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, errNoCard()
	}
	answer, total, err := h.s.deps.Accounts.AuditOf(httpapi.InFull(ctx), cardsName,
		id) // in full: whether it is empty tells whether there was the card
	if err != nil || total > 0 {
		return answer, err
	}
	if _, err := h.s.card(ctx, in.ID); err != nil {
		return nil, err
	}
	return answer, nil
}
