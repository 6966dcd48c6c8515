package reports

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// PromoPerformance is the answer of GET /admin/events-dashboard/promo-codes.
type PromoPerformance struct {
	TotalPromoCodes        int64                `json:"total_promo_codes"`
	ActivePromoCodes       int64                `json:"active_promo_codes" doc:"Switched on and not past their window"`
	TotalTicketsFromPromos int64                `json:"total_tickets_from_promos" doc:"Not counting expired-unpaid"`
	ByType                 map[string]promoType `json:"by_type" doc:"promo and ticket"`
	TopCodes               []topPromoCode       `json:"top_codes" maxItems:"10" doc:"Most tickets first"`
}

type promoType struct {
	Total            int64 `json:"total"`
	Active           int64 `json:"active"`
	TicketsGenerated int64 `json:"tickets_generated"`
}

type topPromoCode struct {
	Code             string `json:"code"`
	CodeType         string `json:"code_type" enum:"promo,ticket"`
	Title            string `json:"title"`
	TicketsGenerated int64  `json:"tickets_generated"`
	IsActive         bool   `json:"is_active"`
}

// GetPromoPerformance answers GET /admin/events-dashboard/promo-codes.
func (h Handlers) GetPromoPerformance(ctx context.Context, _ *struct{}) (*document, error) {
	return h.document(ctx, "Promo codes", func(tx pgx.Tx) ([]byte, error) { return h.db.PromoPerformance(ctx, tx) })
}
