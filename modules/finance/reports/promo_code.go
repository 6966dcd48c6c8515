package reports

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// PromoCodeDetail is the answer of GET /admin/events-dashboard/promo-codes/{id} (docs/contract/figures.md, Events
// dashboard).
type PromoCodeDetail struct {
	ID     objectid.ID       `json:"_id"`
	ByDay  []promoDay        `json:"by_day" maxItems:"1000" doc:"Days with redemptions, oldest first"`
	Family []promoCodeFamily `json:"family" maxItems:"500" doc:"The code, and all that hold it or that it holds, through all levels"`
}

type promoDay struct {
	Day         string `json:"day" format:"date" doc:"Of REPORT_TZ"`
	Redemptions int64  `json:"redemptions"`
	Paid        int64  `json:"paid" doc:"Of them, those whose subscription was paid"`
	Tickets     int64  `json:"tickets" doc:"Tickets that they made"`
}

type promoCodeFamily struct {
	ID               objectid.ID   `json:"_id"`
	Code             string        `json:"code"`
	Title            string        `json:"title"`
	CodeType         string        `json:"code_type" enum:"promo,ticket"`
	IsActive         bool          `json:"is_active"`
	Redemptions      int64         `json:"redemptions"`
	TicketsGenerated int64         `json:"tickets_generated"`
	ChildrenCodeIDs  []objectid.ID `json:"children_code_ids" nullable:"false" doc:"Codes that are redeemed along with it"`
}

type promoCodeInput struct {
	ID string `path:"id" doc:"The promo code's _id"`
}

// GetPromoCode answers GET /admin/events-dashboard/promo-codes/{id}: 422 for a malformed id, 404 for an unknown one.
func (h Handlers) GetPromoCode(ctx context.Context, in *promoCodeInput) (*document, error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "id")
	}
	return h.document(httpapi.InFull(ctx), "Promo code",
		func(ctx context.Context, tx pgx.Tx) ([]byte, error) { return h.db.PromoCodeDetailGet(ctx, tx, id) })
}
