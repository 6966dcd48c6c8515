package promos

import (
	"context"
	"fmt"

	"marquee/platform/objectid"
)

// promoStats is the answer of GET /admin/promo-codes/stats (docs/contract/promo-codes.md, Admins).
type promoStats struct {
	Total            int            `json:"total"`
	Active           int            `json:"active" doc:"Switched on and not past their window"`
	Expired          int            `json:"expired" doc:"Past their window"`
	ByType           promoTypes     `json:"by_type"`
	Redemptions      int            `json:"redemptions"`
	TicketsGenerated int            `json:"tickets_generated"`
	TopCodes         []topPromoCode `json:"top_codes" doc:"At most 10, most redeemed first"`
}

type promoTypes struct {
	Promo  int `json:"promo"`
	Ticket int `json:"ticket"`
}

type topPromoCode struct {
	ID               objectid.ID `json:"_id"`
	Code             string      `json:"code"`
	CodeType         string      `json:"code_type"`
	Title            string      `json:"title"`
	IsActive         bool        `json:"is_active"`
	Redemptions      int         `json:"redemptions"`
	TicketsGenerated int         `json:"tickets_generated"`
}

func (s *Service) stats(ctx context.Context) (promoStats, error) {
	now := s.deps.Clock.Now()
	counts, err := s.db.CodeStatsGet(ctx, s.deps.Pool, &now)
	if err != nil {
		return promoStats{}, fmt.Errorf("count promo codes: %w", err)
	}
	totals, err := s.db.RedemptionTotalsGet(ctx, s.deps.Pool)
	if err != nil {
		return promoStats{}, fmt.Errorf("count redemptions: %w", err)
	}
	top, err := s.db.RedemptionListTop(ctx, s.deps.Pool)
	if err != nil {
		return promoStats{}, fmt.Errorf("read top promo codes: %w", err)
	}
	out := promoStats{
		Total: int(counts.Total), Active: int(counts.Active), Expired: int(counts.Expired),
		ByType:      promoTypes{Promo: int(counts.Promo), Ticket: int(counts.Ticket)},
		Redemptions: int(totals.Redemptions), TicketsGenerated: int(totals.Tickets),
		TopCodes: make([]topPromoCode, len(top)),
	}
	for i, row := range top {
		out.TopCodes[i] = topPromoCode{
			ID: row.ID, Code: row.Code, CodeType: row.CodeType, Title: row.Title, IsActive: row.IsActive,
			Redemptions: int(row.Redemptions), TicketsGenerated: int(row.Tickets),
		}
	}
	return out, nil
}
