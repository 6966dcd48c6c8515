package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/platform/money"
	"marquee/platform/nullable"
)

// Purchase is what an order's one call is made from: the order, and what its request alone
// has in hand.
type Purchase struct {
	Order      Order
	Payer      gateway.Payer
	Title      string // of the event
	Instrument gateway.Instrument
}

func (p Purchase) isPix() bool {
	return nullable.Value(p.Order.PaymentMethod) == gateway.MethodPix
}

// Charge is the charge of an order, by card or by a PIX code. The gate commits it, up to 64
// at once (checkout.reserve). Card data are gone after the request: nothing is called again.
func (s *Store) Charge() *intent.Operation[Purchase, Made] {
	c := charger{s}
	return &intent.Operation[Purchase, Made]{
		Kind: intent.Order, Intents: s.intents, Settling: "purchase.before_commit",
		Opening: func(p Purchase) intent.Opening { return s.OpeningOf(p.Order) },
		Row:     c.purchaseOf,
		Steps: []intent.Step[Purchase, Made]{
			{FaultPoint: "purchase.after_call", Call: c.call, Find: c.find, Judge: judge},
		},
		SettleTx: func(ctx context.Context, tx pgx.Tx, p *Purchase, outcome Outcome, by intent.By) error {
			return s.lockAndSettleTx(ctx, tx, &p.Order, outcome, by)
		},
	}
}

// OpeningOf is the intent of an order whose gateway is about to be called.
func (s *Store) OpeningOf(o Order) intent.Opening {
	return intent.Opening{
		Ref: IntentOf(o.ID), Customer: o.CustomerID, Gateway: nullable.Value(o.Gateway), CallTime: s.intents.CallTime(),
		Begun: o.CreatedAt,
	}
}

// charger is the one step of an order: the call, and how what it may have made is found.
type charger struct{ *Store }

// purchaseOf reads an order whose call was not known; over when the release before, which
// knows no intents, has settled it.
func (c charger) purchaseOf(ctx context.Context, i intent.Intent) (p Purchase, over bool, err error) {
	if p.Order, err = c.db.OrderGet(ctx, c.deps.Pool, i.Subject); err != nil {
		return p, false, err
	}
	p.Payer = gateway.Payer{CustomerID: p.Order.CustomerID, GatewayID: nullable.Value(p.Order.GatewayCustomerID)}
	return p, !p.Order.IntentOpen, nil
}

func (c charger) call(ctx context.Context, gw gateway.Gateway, p Purchase, _ Made) (Made, error) {
	if p.isPix() {
		charge, err := gw.CreatePix(ctx, c.pixTerms(p.Order, p.Payer, p.Title))
		return Made{Pix: &charge}, err
	}
	charge, err := gw.ChargeCard(ctx, p.Order.CardTerms(p.Payer, p.Title, p.Instrument))
	return Made{Payment: &charge.Payment}, err
}

// pixTerms are the terms of an order that is paid by PIX.
func (c charger) pixTerms(o Order, payer gateway.Payer, description string) gateway.PixTerms {
	terms := gateway.PixTerms{
		Reference: o.ID, Kind: gateway.KindTicketOrder, Payer: payer, Amount: money.Cents(o.TotalCents),
		Description: description,
		DueDate:     o.CreatedAt.In(c.deps.Config.Zone), ExpiresIn: c.deps.Config.PixTTL,
	}
	if o.HoldUntil != nil {
		terms.ExpiresIn = o.HoldUntil.Sub(o.CreatedAt)
	}
	return terms
}

// judge: a card may be charged later, a code is made.
func judge(_ Purchase, made Made) Outcome {
	if made.Payment != nil && made.Payment.Status == gateway.PaymentStatusPending {
		return intent.Pending[Made]{Result: made}
	}
	return Succeeded{Result: made}
}

// find looks at the gateway for what the order's call may have made.
func (c charger) find(ctx context.Context, gw gateway.Gateway, p Purchase, _ Made) (made Made, found bool, err error) {
	background, o := gateway.Background(ctx), p.Order
	switch {
	case p.isPix():
		charge, found, err := gw.FindPix(background, c.pixTerms(o, p.Payer, ""))
		if err == nil && found && charge.Payment.Status == gateway.PaymentStatusPending {
			return c.offerable(ctx, gw, o, charge)
		}
		return Made{Pix: &charge}, found, err
	case o.GatewayPaymentID != nil:
		paid, err := gw.ReadPayment(background, *o.GatewayPaymentID, o.ID)
		return Made{Payment: &paid}, true, err
	}
	charge, found, err := gw.FindCardCharge(background, o.CardTerms(p.Payer, "", gateway.Instrument{}))
	return Made{Payment: &charge.Payment}, found, err
}

// offerable judges a code that a check has found, of which the buyer, who was answered
// without one, is written. One that cannot be shown any more, since the places are held
// no longer, is made unpayable first.
func (c charger) offerable(ctx context.Context, gw gateway.Gateway, o Order,
	charge gateway.PixCharge,
) (made Made, found bool, err error) {
	e, err := c.db.EventGet(ctx, c.deps.Pool, o.EventID)
	if err != nil {
		return made, false, fmt.Errorf("read event: %w", err)
	}
	after, now := o, c.deps.Clock.Now()
	after.SetPix(&charge)
	if after.Payable(now) && !charge.Expired && e.EndsAt.After(now) && e.CancelledAt == nil {
		return Made{Pix: &charge}, true, nil
	}
	paid, err := gateway.WithdrawPix(ctx, gw, charge.Payment.ID, o.ID)
	switch {
	case err != nil:
		return made, false, err
	case paid != nil:
		return Made{Pix: paid}, true, nil
	}
	return Made{Pix: &charge, Expired: true}, true, nil
}
