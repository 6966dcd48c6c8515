package checkout

import (
	"context"

	"marquee/platform/money"
)

// discount lowers the first month of a wish; a code never makes it dearer. The
// first payment is the first month by card, and by PIX the whole period with the
// other months at their price (specification, Promo codes). Without a code that of
// the signup counts, for the first subscription alone (open-shapes, section 3).
func (s *Checkout) discount(ctx context.Context, w *wish, code string) error {
	if code == "" {
		if w.customer.PromoCodeUsed == "" {
			return nil
		}
		if begun, err := s.db.HasBegun(ctx, s.pool, w.customer.ID); err != nil || begun {
			return err
		}
	}
	d, ok, err := s.promos.FirstMonth(ctx, w.customer.ID, code)
	if err != nil || !ok {
		return err
	}
	first := min(d.FirstMonth, money.Cents(w.plan.AmountCents)) + money.Cents(int64(w.months-1)*w.plan.AmountCents)
	w.promoCode, w.first, w.trial = d.Code, &first, 0
	return nil
}
