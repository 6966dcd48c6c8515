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
func (p settling) isOrderedTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) (bool, error) {
	if p.Amount <= 0 || p.Role.beside() {
		return false, nil
	}
	switch {
	case p.Charge != nil:
		return nullable.Value(p.Charge.GatewayPaymentID) == p.ID && p.Amount == p.expectedAmount(sub), nil
	case sub.PaysOnce():
		return nullable.Value(sub.PixPaymentID) == p.ID && p.Amount == p.expectedAmount(sub), nil
	case sub.PixAutomatic && !p.Role.opens():
		d, found, err := p.deps.Reads.DebitOfTx(ctx, tx, sub, p.ID)
		return found && int64(p.Amount) == d.AmountCents, err
	}
	return p.isExpectedAmountTx(ctx, tx, sub)
}

// isExpectedAmountTx reports whether the amount of a payment is what was asked for here: by its
// code, by its debit, or by the recurrence, whose price a plan move may be changing.
func (p settling) isExpectedAmountTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) (bool, error) {
	switch {
	case p.Charge != nil || sub.PaysOnce():
		return p.Amount == p.expectedAmount(sub), nil
	case sub.PixAutomatic && p.Role.opens():
		return p.Amount == sub.PixAmount(), nil
	case sub.PixAutomatic:
		d, found, err := p.deps.Reads.DebitOfTx(ctx, tx, sub, p.ID)
		if err != nil || found {
			return int64(p.Amount) == d.AmountCents, err
		}
		return int64(p.Amount) == sub.PriceCents*int64(sub.PeriodMonths), nil // its order is not answered yet
	case p.Role.opens() && sub.FirstAmountCents != nil:
		return int64(p.Amount) == *sub.FirstAmountCents, nil
	case int64(p.Amount) == sub.PriceCents, int64(p.Amount) == sub.PriceCents*int64(sub.PeriodMonths):
		return true, nil
	}
	return p.deps.Reads.WasPriceTx(ctx, tx, sub, p.Amount)
}

// expectedAmount is what the code that was paid asks for, or one like it would.
func (p Payment) expectedAmount(sub lifecycle.Subscription) money.Cents {
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
func (p settling) keepOtherAmountTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription) (bool, error) {
	changes := sub.Traits().AmountsMayChange
	if changes && p.Source == state.ByWebhook || !changes && !sub.PaysOnce() {
		return false, nil
	}
	expected, err := p.isExpectedAmountTx(ctx, tx, sub)
	if err != nil || expected {
		return false, err
	}
	price := p.expectedAmount(sub)
	if !sub.PaysOnce() && p.Charge == nil && !p.Role.opens() {
		price = money.Cents(sub.PriceCents)
	}
	note := fmt.Sprintf("R$ %s was paid where R$ %s was due.", p.Amount, price)
	return p.listTx(ctx, tx, sub, payments.Unapplied{Kind: payments.UnappliedForeign, Note: note})
}
