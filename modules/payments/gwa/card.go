package gwa

import (
	"context"
	"net/http"
	"net/url"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

type cardPaymentBody struct {
	paymentBody
	cardBody
}

// cardReply is what the gateway tells of a card.
type cardReply struct {
	Last4 string `json:"creditCardNumber"`
	Brand string `json:"creditCardBrand"`
	Token string `json:"creditCardToken"`
}

type chargedPayment struct {
	payment
	CreditCard cardReply `json:"creditCard"`
}

func (c *cardReply) onFile() gateway.CardOnFile {
	return gateway.CardOnFile{Brand: c.Brand, Last4: c.Last4}
}

// ChargeCard takes one payment; the gateway decides within the call, unless it
// analyses the risk (docs/gateway-facts.md, A5).
func (g *payments) ChargeCard(ctx context.Context, t gateway.CardTerms) (gateway.CardCharge, error) {
	created, err := post(ctx, g.client, request{path: "/payments", timeout: g.cfg.CardTimeout, body: cardPaymentBody{
		paymentBody: paymentBody{
			Customer: t.Payer.GatewayID, BillingType: "CREDIT_CARD", Value: t.Amount.Reais(),
			DueDate:     day(g.cfg.Clock.Now(), g.cfg.Zone),
			Description: t.Description, ExternalReference: t.Reference.String(),
		},
		cardBody: cardOf(t.Instrument),
	}}, func(p *chargedPayment) error { return p.check("", t.Reference) })
	if err != nil {
		return gateway.CardCharge{}, refused(err)
	}
	p, err := reply.Made(func() (*payment, error) { return g.payment(ctx, created.ID, t.Reference) })
	if err != nil {
		return gateway.CardCharge{}, err
	}
	if p.Value.Cents() != t.Amount {
		return gateway.CardCharge{}, g.undo(ctx, "payment", p.ID, t.Reference, g.undoCharge)
	}
	return created.charge(g.asOfNow(p)), nil
}

func (p *chargedPayment) charge(n gateway.Payment) gateway.CardCharge {
	return gateway.CardCharge{Payment: n, Card: p.CreditCard.onFile(), CardToken: secret.NewText(p.CreditCard.Token)}
}

// undoCharge gives a charge back in full.
func (g *payments) undoCharge(ctx context.Context, id string, local objectid.ID) error {
	_, err := post(ctx, g.client, request{path: refundPath(id), timeout: g.cfg.CardTimeout, body: struct{}{}},
		func(p *payment) error {
			if p.Status != "REFUNDED" {
				return reply.Odd("it does not say that it was refunded")
			}
			return p.check(id, local)
		})
	return err
}

// FindCardCharge looks for a card payment that carries the reference and belongs
// to no subscription. A refused card leaves nothing behind.
func (g *payments) FindCardCharge(ctx context.Context, t gateway.CardTerms) (gateway.CardCharge, bool, error) {
	query := named(t.Reference)
	query.Set("billingType", "CREDIT_CARD")
	found, err := find(ctx, g.client, "/payments", query, func(p *chargedPayment) bool {
		return !p.Deleted && p.Subscription == "" && reference(p.ExternalReference) == t.Reference
	})
	if err != nil || found == nil {
		return gateway.CardCharge{}, false, err
	}
	p, err := g.payment(ctx, found.ID, t.Reference)
	if err != nil {
		return gateway.CardCharge{}, false, reply.Unproven(err)
	}
	return found.charge(g.asOfNow(p)), true, nil
}

// ChangeCard replaces the card of a subscription and of its open charges; none
// is charged for it.
func (g *recurrences) ChangeCard(ctx context.Context, c gateway.CardChange) (gateway.CardOnFile, error) {
	type changed struct {
		subscription
		CreditCard cardReply `json:"creditCard"`
	}
	got, err := post(ctx, g.client, request{
		method: http.MethodPut, path: "/subscriptions/" + url.PathEscape(c.SubscriptionGatewayID) + "/creditCard",
		body: cardOf(c.Instrument), timeout: g.cfg.CardTimeout,
	}, func(s *changed) error { return s.check(c.SubscriptionGatewayID, c.SubscriptionID) })
	if err != nil {
		return gateway.CardOnFile{},
			refused(missing[subscription](ctx, g.client, err, "/subscriptions", c.SubscriptionGatewayID,
				c.SubscriptionID))
	}
	return got.CreditCard.onFile(), nil
}

// ChangePrice changes the value of the recurrence and of the charges that it has
// made ahead (docs/gateway-facts.md, A4).
func (g *recurrences) ChangePrice(ctx context.Context, c gateway.PriceChange) error {
	_, err := repeated(ctx, g.client, request{
		method: http.MethodPut, path: "/subscriptions/" + url.PathEscape(c.SubscriptionGatewayID),
		timeout: g.cfg.Timeout,
		body: struct {
			Value                 money.Reais `json:"value"`
			Description           string      `json:"description,omitempty"`
			UpdatePendingPayments bool        `json:"updatePendingPayments"`
		}{c.Amount.Reais(), c.Description, true},
	}, func(s *subscription) error {
		if s.Value.Cents() != c.Amount {
			return reply.Odd("it does not tell the new value")
		}
		return s.check(c.SubscriptionGatewayID, c.SubscriptionID)
	})
	return missing[subscription](ctx, g.client, err, "/subscriptions", c.SubscriptionGatewayID, c.SubscriptionID)
}

// PayOpenInvoice does nothing: the gateway tries an open charge with the new card
// by itself.
func (*payments) PayOpenInvoice(context.Context, gateway.InvoicePayment) (gateway.Payment, bool, error) {
	return gateway.Payment{}, false, nil
}

// SetCancelAtPeriodEnd is not offered: the recurrence is deleted at once.
func (*recurrences) SetCancelAtPeriodEnd(context.Context, string, objectid.ID,
	bool,
) (gateway.RemoteSubscription, error) {
	return gateway.RemoteSubscription{}, gateway.ErrUnsupported
}

// InvoiceOf is not offered: the gateway has no invoices.
func (*payments) InvoiceOf(context.Context, string) (string, error) {
	return "", gateway.ErrUnsupported
}
