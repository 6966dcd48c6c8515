package settle

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/money"
)

// chargedAhead is how long before they fall due gateway A makes a recurrence's charges: so
// long after a plan move one may be of the price before.
const chargedAhead = 40 * 24 * time.Hour

// isOrderedTx reports whether a payment that a webhook of gateway A tells is one that was
// ordered here, of the amount that was asked for. The charges of a card's recurrence and
// the first code of an automatic PIX have ids of the gateway's own: their amount has to
// be right.
func (s *Settler) isOrderedTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment) (bool, error) {
	if p.Amount <= 0 || p.Beside {
		return false, nil
	}
	switch {
	case p.Charge != nil:
		return lifecycle.Text(p.Charge.GatewayPaymentID) == p.ID && p.Amount == askedFor(sub, p), nil
	case lifecycle.PaysOnce(sub):
		return lifecycle.Text(sub.PixPaymentID) == p.ID && p.Amount == askedFor(sub, p), nil
	case sub.PixAutomatic && !p.First:
		d, found, err := s.reads.DebitOfTx(ctx, tx, sub, p.Payment.ID)
		return found && int64(p.Amount) == d.AmountCents, err
	}
	return s.isAskedTx(ctx, tx, sub, p)
}

// isAskedTx reports whether the amount of a payment is what was asked for here: by its
// code, by its debit, or by the recurrence, whose price a plan move may be changing.
func (s *Settler) isAskedTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment) (bool, error) {
	switch {
	case p.Charge != nil || lifecycle.PaysOnce(sub):
		return p.Amount == askedFor(sub, p), nil
	case sub.PixAutomatic && p.First:
		return p.Amount == lifecycle.PixAmount(sub), nil
	case sub.PixAutomatic:
		d, found, err := s.reads.DebitOfTx(ctx, tx, sub, p.Payment.ID)
		if err != nil || found {
			return int64(p.Amount) == d.AmountCents, err
		}
		return int64(p.Amount) == sub.PriceCents*int64(sub.PeriodMonths), nil // its order is not answered yet
	case p.First && sub.FirstAmountCents != nil:
		return int64(p.Amount) == *sub.FirstAmountCents, nil
	case int64(p.Amount) == sub.PriceCents, int64(p.Amount) == sub.PriceCents*int64(sub.PeriodMonths):
		return true, nil
	}
	moved, err := s.db.IsMovedPrice(ctx, tx, subscriptionsdb.IsMovedPriceParams{
		SubscriptionID: sub.ID, AmountCents: int64(p.Amount), Since: new(s.clock.Now().Add(-chargedAhead)),
	})
	if err != nil {
		return false, fmt.Errorf("read plan moves: %w", err)
	}
	return moved, nil
}

// askedFor is what the code that was paid asks for, or one like it would.
func askedFor(sub lifecycle.Row, p Payment) money.Cents {
	switch {
	case p.Charge != nil:
		return money.Cents(p.Charge.AmountCents)
	case lifecycle.Text(sub.PixPaymentID) == p.ID || sub.LastPaymentAt == nil:
		return lifecycle.PixAmount(sub)
	}
	return money.Cents(sub.PriceCents * int64(sub.PeriodMonths))
}

// keepOtherAmountTx lists money at gateway A, and PIX at gateway B, of another amount than
// was asked for: it pays no period, and people decide. What a webhook of gateway A tells
// was held against it before. Gateway B's invoices say themselves what they are of.
func (s *Settler) keepOtherAmountTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment) (bool, error) {
	changes := lifecycle.TraitsOf(sub).AmountsMayChange
	if changes && p.Source == state.ByWebhook || !changes && !lifecycle.PaysOnce(sub) {
		return false, nil
	}
	asked, err := s.isAskedTx(ctx, tx, sub, p)
	if err != nil || asked {
		return false, err
	}
	price := askedFor(sub, p)
	if !lifecycle.PaysOnce(sub) && p.Charge == nil && !p.First {
		price = money.Cents(sub.PriceCents)
	}
	note := fmt.Sprintf("R$ %s were paid where R$ %s are asked for.", p.Amount, price)
	_, err = s.payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedForeign, Gateway: sub.Gateway, PaymentID: p.ID, Amount: &p.Amount, CustomerID: sub.CustomerID,
		SubscriptionID: sub.ID, PaidAt: p.SettledAt, Note: note,
	})
	return true, err
}
