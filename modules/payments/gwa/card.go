package gwa

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"marquee/modules/payments"
	"marquee/platform/money"
	"marquee/platform/secret"
)

type cardPaymentBody struct {
	paymentBody
	cardBody
}

// cardAnswer is what the gateway tells of a card.
type cardAnswer struct {
	Last4 string `json:"creditCardNumber"`
	Brand string `json:"creditCardBrand"`
	Token string `json:"creditCardToken"`
}

type chargedPayment struct {
	payment
	CreditCard cardAnswer `json:"creditCard"`
}

func (c *cardAnswer) onFile() payments.CardOnFile {
	return payments.CardOnFile{Brand: c.Brand, Last4: c.Last4}
}

// ChargeCard takes one payment; the gateway decides within the call, unless it
// analyses the risk (section 5).
func (g *Gateway) ChargeCard(ctx context.Context, t payments.CardTerms) (payments.CardCharge, error) {
	var made chargedPayment
	err := g.post(ctx, "/payments", cardPaymentBody{
		paymentBody: paymentBody{
			Customer: t.Payer.GatewayID, BillingType: "CREDIT_CARD", Value: t.Amount.Reais(), DueDate: day(g.cfg.Clock.Now(), g.cfg.Zone),
			Description: t.Description, ExternalReference: t.Reference.String(),
		},
		cardBody: cardOf(t.Instrument),
	}, &made, g.cfg.CardTimeout)
	if err != nil {
		return payments.CardCharge{}, refused(err)
	}
	if !echoes(made.ExternalReference, made.Value, t.Reference, t.Amount) {
		return payments.CardCharge{}, g.undoCharge(ctx, &made)
	}
	return payments.CardCharge{Payment: g.asOfNow(&made.payment), Card: made.CreditCard.onFile(), CardToken: secret.NewText(made.CreditCard.Token)}, nil
}

// undoCharge gives back a charge that was made other than asked for.
func (g *Gateway) undoCharge(ctx context.Context, made *chargedPayment) error {
	return g.undo(ctx, "payment", made.ID, func(ctx context.Context, id string) error {
		var p payment
		return g.post(ctx, "/payments/"+url.PathEscape(id)+"/refund", struct{}{}, &p, g.cfg.CardTimeout)
	})
}

// FindCardCharge looks for a card payment that carries the reference and belongs
// to no subscription. A refused card leaves nothing behind.
func (g *Gateway) FindCardCharge(ctx context.Context, t payments.CardTerms) (payments.CardCharge, bool, error) {
	var found *chargedPayment
	query := url.Values{"externalReference": {t.Reference.String()}, "billingType": {"CREDIT_CARD"}, "limit": {"100"}}
	err := each(ctx, g, "/payments", query, func(p *chargedPayment) bool {
		if !p.Deleted && p.Subscription == "" && reference(p.ExternalReference) == t.Reference {
			found = p
		}
		return found == nil
	})
	if err != nil || found == nil {
		return payments.CardCharge{}, false, err
	}
	return payments.CardCharge{
		Payment: g.asOfNow(&found.payment), Card: found.CreditCard.onFile(), CardToken: secret.NewText(found.CreditCard.Token),
	}, true, nil
}

// ReadPayment reads one payment.
func (g *Gateway) ReadPayment(ctx context.Context, paymentID string) (payments.Payment, error) {
	p, err := g.payment(ctx, paymentID)
	if err != nil {
		return payments.Payment{}, err
	}
	return g.asOfNow(p), nil
}

// ChangeCard replaces the card of a subscription and of its open charges; none
// is charged for it.
func (g *Gateway) ChangeCard(ctx context.Context, c payments.CardChange) (payments.CardOnFile, error) {
	var changed struct {
		CreditCard cardAnswer `json:"creditCard"`
	}
	err := g.call(ctx, request{
		method: http.MethodPut, path: "/subscriptions/" + url.PathEscape(c.SubscriptionGatewayID) + "/creditCard",
		body: cardOf(c.Instrument), timeout: g.cfg.CardTimeout,
	}, &changed)
	if err != nil {
		return payments.CardOnFile{}, refused(translated(err, true))
	}
	return changed.CreditCard.onFile(), nil
}

// ChangePrice changes the value of the recurrence and of the charges that it has
// made ahead (section 4).
func (g *Gateway) ChangePrice(ctx context.Context, c payments.PriceChange) error {
	var changed subscription
	err := g.repeat(ctx, request{
		method: http.MethodPut, path: "/subscriptions/" + url.PathEscape(c.SubscriptionGatewayID), timeout: g.cfg.Timeout,
		body: struct {
			Value                 money.Reais `json:"value"`
			Description           string      `json:"description,omitempty"`
			UpdatePendingPayments bool        `json:"updatePendingPayments"`
		}{c.Amount.Reais(), c.Description, true},
	}, &changed)
	if err == nil && changed.Value.Cents() != c.Amount {
		return fmt.Errorf("%w: the answer does not tell the new value", payments.ErrOutcomeUnknown)
	}
	return err
}

// PayOpenInvoice does nothing: the gateway tries an open charge with the new card
// by itself.
func (*Gateway) PayOpenInvoice(context.Context, payments.InvoicePayment) (payments.Payment, bool, error) {
	return payments.Payment{}, false, nil
}

// SetCancelAtPeriodEnd is not offered: the recurrence is deleted at once.
func (*Gateway) SetCancelAtPeriodEnd(context.Context, string, bool) (payments.RemoteSubscription, error) {
	return payments.RemoteSubscription{}, payments.ErrUnsupported
}

// InvoiceOf is not offered: the gateway has no invoices.
func (*Gateway) InvoiceOf(context.Context, string) (string, error) {
	return "", payments.ErrUnsupported
}
