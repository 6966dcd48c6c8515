package settle

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/money"
	"marquee/platform/nullable"
)

// isOrderedTx reports whether a payment that a webhook of gateway A tells is one that was
// ordered here, of the amount that was asked for. The charges of a card's recurrence and
// the first code of an automatic PIX have ids of the gateway's own: their amount has to
// be right.
func (s *Settler) isOrderedTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, p Payment) (bool, error) {
	if p.Amount <= 0 || p.Beside {
		return false, nil
	}
	switch {
	case p.Charge != nil:
		return nullable.Value(p.Charge.GatewayPaymentID) == p.ID && p.Amount == expectedAmount(sub, p), nil
	case sub.PaysOnce():
		return nullable.Value(sub.PixPaymentID) == p.ID && p.Amount == expectedAmount(sub, p), nil
	case sub.PixAutomatic && !p.First:
		d, found, err := s.deps.Reads.DebitOfTx(ctx, tx, sub, p.Payment.ID)
		return found && int64(p.Amount) == d.AmountCents, err
	}
	return s.isExpectedAmountTx(ctx, tx, sub, p)
}

// isExpectedAmountTx reports whether the amount of a payment is what was asked for here: by its
// code, by its debit, or by the recurrence, whose price a plan move may be changing.
func (s *Settler) isExpectedAmountTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	p Payment,
) (bool, error) {
	switch {
	case p.Charge != nil || sub.PaysOnce():
		return p.Amount == expectedAmount(sub, p), nil
	case sub.PixAutomatic && p.First:
		return p.Amount == sub.PixAmount(), nil
	case sub.PixAutomatic:
		d, found, err := s.deps.Reads.DebitOfTx(ctx, tx, sub, p.Payment.ID)
		if err != nil || found {
			return int64(p.Amount) == d.AmountCents, err
		}
		return int64(p.Amount) == sub.PriceCents*int64(sub.PeriodMonths), nil // its order is not answered yet
	case p.First && sub.FirstAmountCents != nil:
		return int64(p.Amount) == *sub.FirstAmountCents, nil
	case int64(p.Amount) == sub.PriceCents, int64(p.Amount) == sub.PriceCents*int64(sub.PeriodMonths):
		return true, nil
	}
	return s.deps.Reads.WasPriceTx(ctx, tx, sub, p.Amount)
}

// expectedAmount is what the code that was paid asks for, or one like it would.
func expectedAmount(sub lifecycle.Subscription, p Payment) money.Cents {
	switch {
	case p.Charge != nil:
		return money.Cents(p.Charge.AmountCents)
	case nullable.Value(sub.PixPaymentID) == p.ID || sub.LastPaymentAt == nil:
		return sub.PixAmount()
	}
	return money.Cents(sub.PriceCents * int64(sub.PeriodMonths))
}

// keepOtherAmountTx lists money at gateway A, and PIX at gateway B, of another amount than
// was asked for: it pays no period, and people decide. What a webhook of gateway A tells
// was held against it before. Gateway B's invoices say themselves what they are of.
func (s *Settler) keepOtherAmountTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	p Payment,
) (bool, error) {
	changes := sub.Traits().AmountsMayChange
	if changes && p.Source == state.ByWebhook || !changes && !sub.PaysOnce() {
		return false, nil
	}
	expected, err := s.isExpectedAmountTx(ctx, tx, sub, p)
	if err != nil || expected {
		return false, err
	}
	price := expectedAmount(sub, p)
	if !sub.PaysOnce() && p.Charge == nil && !p.First {
		price = money.Cents(sub.PriceCents)
	}
	note := fmt.Sprintf("R$ %s was paid where R$ %s was due.", p.Amount, price)
	return s.listTx(ctx, tx, sub, p, payments.Unapplied{Kind: payments.UnappliedForeign, Note: note})
}
