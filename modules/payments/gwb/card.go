package gwb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

func isInvoice(id string) bool { return strings.HasPrefix(id, "in_") }

// ChangeCard attaches the card and makes it the default of the subscription and
// of the customer (docs/gateway-facts.md, B6). No charge is made.
func (g *recurrences) ChangeCard(ctx context.Context, c gateway.CardChange) (gateway.CardOnFile, error) {
	pm, err := g.attachCard(ctx, c.Payer.GatewayID, c.Instrument.PaymentMethodID, c.ChangeID.String())
	if err != nil {
		return gateway.CardOnFile{}, err
	}
	_, err = write(ctx, g.client, func(ctx context.Context) (*stripe.Subscription, error) {
		p := &stripe.SubscriptionUpdateParams{DefaultPaymentMethod: stripe.String(pm.ID)}
		p.SetIdempotencyKey("card-sub-" + c.ChangeID.String())
		sub, err := g.api.V1Subscriptions.Update(ctx, c.SubscriptionGatewayID, p)
		if err == nil && (sub.DefaultPaymentMethod == nil || sub.DefaultPaymentMethod.ID != pm.ID) {
			err = reply.Odd("it does not tell the new card")
		}
		return sub, err
	})
	if err != nil {
		return gateway.CardOnFile{}, err
	}
	_, err = write(ctx, g.client, func(ctx context.Context) (*stripe.Customer, error) {
		p := &stripe.CustomerUpdateParams{
			InvoiceSettings: &stripe.CustomerUpdateInvoiceSettingsParams{DefaultPaymentMethod: stripe.String(pm.ID)},
		}
		p.SetIdempotencyKey("card-cus-" + c.ChangeID.String())
		return g.api.V1Customers.Update(ctx, c.Payer.GatewayID, p)
	})
	return onFile(pm), err
}

func onFile(pm *stripe.PaymentMethod) gateway.CardOnFile {
	if pm.Card == nil {
		return gateway.CardOnFile{}
	}
	return gateway.CardOnFile{Brand: string(pm.Card.Brand), Last4: pm.Card.Last4}
}

// attachCard gives the card to the customer; the id that it has there may be
// another than the one given.
func (g *client) attachCard(
	ctx context.Context, customer, method, idempotencyKey string,
) (*stripe.PaymentMethod, error) {
	pm, err := write(ctx, g, func(ctx context.Context) (*stripe.PaymentMethod, error) {
		p := &stripe.PaymentMethodAttachParams{Customer: stripe.String(customer)}
		p.SetIdempotencyKey("attach-" + idempotencyKey)
		pm, err := g.api.V1PaymentMethods.Attach(ctx, method, p)
		if err == nil && (pm.Customer == nil || pm.Customer.ID != customer) {
			err = reply.Odd("the card in it is not the customer's")
		}
		return pm, err
	})
	if errors.Is(err, gateway.ErrMissing) {
		return nil, noMethod()
	}
	if err != nil || pm.ID == method {
		return pm, err
	}
	// One of the gateway's shared test cards, or the answer lies.
	return reply.Made(func() (*stripe.PaymentMethod, error) {
		return read(ctx, g, func(ctx context.Context) (*stripe.PaymentMethod, error) {
			return g.api.V1PaymentMethods.Retrieve(ctx, pm.ID, nil)
		})
	})
}

func noMethod() error {
	return &gateway.Rejected{Code: string(stripe.ErrorCodeResourceMissing), Message: "no such payment method"}
}

// PayOpenInvoice pays the oldest open invoice: a new card alone does not retry it.
func (g *payments) PayOpenInvoice(ctx context.Context, p gateway.InvoicePayment) (gateway.Payment, bool, error) {
	open, err := read(ctx, g.client, func(ctx context.Context) (string, error) {
		params := &stripe.InvoiceListParams{
			Subscription: stripe.String(p.SubscriptionGatewayID), Status: stripe.String("open"),
		}
		params.Limit = stripe.Int64(100)
		id := ""
		for inv, err := range g.api.V1Invoices.List(ctx, params).All(ctx) {
			if err != nil {
				return "", err
			}
			id = inv.ID // newest first
		}
		return id, nil
	})
	if err != nil || open == "" {
		return gateway.Payment{}, false, err
	}
	raw, err := write(ctx, g.client, func(ctx context.Context) ([]byte, error) {
		params := &stripe.InvoicePayParams{}
		params.AddExpand("payments")
		params.SetIdempotencyKey("pay-" + open + "-" + p.AttemptID.String())
		inv, err := g.api.V1Invoices.Pay(ctx, open, params)
		if err != nil {
			return nil, err
		}
		if inv.Status != stripe.InvoiceStatusPaid {
			return nil, reply.Odd("it does not say that the invoice is paid")
		}
		return inv.LastResponse.RawJSON, nil
	})
	if isCode(err, "invoice_already_paid") {
		paid, readErr := g.ReadPayment(ctx, open, p.SubscriptionID)
		return paid, readErr == nil, readErr
	}
	if err != nil {
		return gateway.Payment{}, true, err
	}
	paid, err := invoicePayment(raw)
	return paid, err == nil, err
}

func invoicePayment(raw []byte) (gateway.Payment, error) {
	var o invoiceObject
	if json.Unmarshal(raw, &o) != nil || o.Status == "" {
		return gateway.Payment{}, fmt.Errorf("%w: %w", gateway.ErrOutcomeUnknown, reply.Odd("it is no invoice"))
	}
	p := *o.payment()
	p.CustomerGatewayID, p.SubscriptionGatewayID, p.LocalCustomerID = o.Customer.ID, o.subscription(),
		o.named(metaCustomer)
	return p, nil
}

// ChangePrice puts another price under the subscription's item, without charging
// for the rest of the present period.
func (g *recurrences) ChangePrice(ctx context.Context, c gateway.PriceChange) error {
	o, err := g.retrieve(ctx, c.SubscriptionGatewayID, c.SubscriptionID)
	if err != nil {
		return err
	}
	if gateway.RemoteStatus(o.Status).Ended() { // it stays readable, and takes no change
		return fmt.Errorf("%w: it is %s", gateway.ErrMissing, o.Status)
	}
	if len(o.Items.Data) != 1 {
		return &gateway.Rejected{Code: "items", Message: "the subscription has not one item"}
	}
	item := o.Items.Data[0]
	if item.Price.ID == c.PriceID {
		return nil
	}
	_, err = g.update(ctx, c.SubscriptionGatewayID, c.SubscriptionID, &stripe.SubscriptionUpdateParams{
		Items: []*stripe.SubscriptionUpdateItemParams{
			{ID: stripe.String(item.ID), Price: stripe.String(c.PriceID)},
		},
		ProrationBehavior: stripe.String("none"),
	}, func(now *subscriptionObject) bool { return now.neutral().PriceID == c.PriceID })
	return err
}

// update changes a subscription, and wants the answer to tell what was set. Setting it twice is
// harmless, and a key of ours would repeat a stored 500. It charges nobody: what is answered as a decline refuses it.
func (g *recurrences) update(ctx context.Context, id string, local objectid.ID, p *stripe.SubscriptionUpdateParams,
	is func(*subscriptionObject) bool,
) (*subscriptionObject, error) {
	now, err := write(ctx, g.client, func(ctx context.Context) (*subscriptionObject, error) {
		sub, err := g.api.V1Subscriptions.Update(ctx, id, p)
		if err != nil {
			return nil, err
		}
		now, err := decoded(sub.LastResponse.RawJSON, local)
		if err == nil && !is(now) {
			err = reply.Odd("it does not tell what was set")
		}
		return now, err
	})
	if declined, ok := errors.AsType[*gateway.Declined](err); ok {
		return nil, &gateway.Rejected{Code: declined.Code, Message: declined.Message}
	}
	return now, err
}

// SetCancelAtPeriodEnd has the subscription end with its period, or go on.
func (g *recurrences) SetCancelAtPeriodEnd(ctx context.Context, gatewayID string, local objectid.ID,
	cancel bool,
) (gateway.RemoteSubscription, error) {
	p := &stripe.SubscriptionUpdateParams{CancelAtPeriodEnd: stripe.Bool(cancel)}
	for _, e := range expansions {
		p.AddExpand(e)
	}
	o, err := g.update(ctx, gatewayID, local, p,
		func(now *subscriptionObject) bool { return now.CancelAtPeriodEnd == cancel })
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	sub, err := g.judge(ctx, o, local)
	return sub.RemoteSubscription, err
}

// ChargeCard takes one payment. A card that asks for authentication is an error
// rather than an intent that waits: no step follows (docs/gateway-facts.md, B7).
func (g *payments) ChargeCard(ctx context.Context, t gateway.CardTerms) (gateway.CardCharge, error) {
	intent, err := g.makeIntent(ctx, cardParams(t), t.Reference)
	if errors.Is(err, gateway.ErrMissing) {
		return gateway.CardCharge{}, noMethod()
	}
	if err != nil {
		return gateway.CardCharge{}, err
	}
	return cardCharge(intent), nil
}

// makeIntent makes an intent and reads it by the id that the answer tells.
func (g *client) makeIntent(ctx context.Context, p *stripe.PaymentIntentCreateParams,
	local objectid.ID,
) (*stripe.PaymentIntent, error) {
	id, err := write(ctx, g, func(ctx context.Context) (string, error) {
		intent, err := g.api.V1PaymentIntents.Create(ctx, p)
		if err != nil {
			return "", err
		}
		return intent.ID, isOurs(intent, local)
	})
	if err != nil {
		return nil, err
	}
	return reply.Made(func() (*stripe.PaymentIntent, error) { return g.createdIntent(ctx, id, local) })
}

func cardParams(t gateway.CardTerms) *stripe.PaymentIntentCreateParams {
	p := &stripe.PaymentIntentCreateParams{
		Amount: stripe.Int64(int64(t.Amount)), Currency: stripe.String(currency),
		Customer:    stripe.String(t.Payer.GatewayID),
		Description: nullable.Ptr(t.Description), PaymentMethod: stripe.String(t.Instrument.PaymentMethodID),
		PaymentMethodTypes: stripe.StringSlice([]string{"card"}), Confirm: stripe.Bool(true),
		ErrorOnRequiresAction: stripe.Bool(true),
		Metadata: map[string]string{
			pixReference(t.Kind): t.Reference.String(), metaCustomer: t.Payer.CustomerID.String(), metaKind: t.Kind,
		},
	}
	p.AddExpand("latest_charge")
	p.SetIdempotencyKey("pay-" + t.Reference.String())
	return p
}

func cardCharge(intent *stripe.PaymentIntent) gateway.CardCharge {
	c := gateway.CardCharge{Payment: intentPayment(intent, gateway.MethodCard)}
	charge := intent.LatestCharge
	if charge != nil && charge.PaymentMethodDetails != nil && charge.PaymentMethodDetails.Card != nil {
		c.Card = gateway.CardOnFile{
			Brand: string(charge.PaymentMethodDetails.Card.Brand), Last4: charge.PaymentMethodDetails.Card.Last4,
		}
	}
	return c
}

// intentPayment reads a payment intent; what it waits for cannot happen without
// the payer, so that a card intent that did not succeed at once is gone.
func intentPayment(intent *stripe.PaymentIntent, method gateway.Method) gateway.Payment {
	p := gateway.Payment{
		ID: intent.ID, PaymentIntentID: intent.ID, NativeStatus: string(intent.Status), Method: method,
		Amount: money.Cents(intent.Amount), Status: intentStatus(intent.Status),
	}
	if p.Status == gateway.PaymentStatusSettled && intent.LatestCharge != nil {
		p.SettledAt = instant(intent.LatestCharge.Created)
	}
	return p
}

// FindCardCharge looks through the payer's intents for the one that carries the
// reference.
func (g *payments) FindCardCharge(ctx context.Context, t gateway.CardTerms) (gateway.CardCharge, bool, error) {
	intent, err := g.findIntent(ctx, t.Payer.GatewayID, t.Kind, t.Reference)
	if err != nil || intent == nil {
		return gateway.CardCharge{}, false, err
	}
	return cardCharge(intent), true, nil
}

// ReadPayment reads an invoice or a payment intent.
func (g *client) ReadPayment(ctx context.Context, paymentID string, local objectid.ID) (gateway.Payment, error) {
	if !isInvoice(paymentID) {
		intent, err := g.intent(ctx, paymentID, local)
		if err != nil {
			return gateway.Payment{}, err
		}
		p := intentPayment(intent, methodOf(intent))
		if intent.Customer != nil {
			p.CustomerGatewayID = intent.Customer.ID
		}
		p.LocalCustomerID = metadata(intent.Metadata).id(metaCustomer)
		return p, nil
	}
	raw, err := read(ctx, g, func(ctx context.Context) ([]byte, error) {
		p := &stripe.InvoiceRetrieveParams{}
		p.AddExpand("payments")
		inv, err := g.api.V1Invoices.Retrieve(ctx, paymentID, p)
		if err != nil {
			return nil, err
		}
		return inv.LastResponse.RawJSON, invoiceOf(inv.LastResponse.RawJSON, local)
	})
	if err != nil {
		return gateway.Payment{}, err
	}
	return invoicePayment(raw)
}

func methodOf(intent *stripe.PaymentIntent) gateway.Method {
	for _, t := range intent.PaymentMethodTypes {
		if t == "pix" {
			return gateway.MethodPix
		}
	}
	return gateway.MethodCard
}

// intent reads an intent; one that an invoice has made does not carry our id.
func (g *client) intent(ctx context.Context, id string, local objectid.ID) (*stripe.PaymentIntent, error) {
	return g.readIntent(ctx, id, func(intent *stripe.PaymentIntent) error { return notAnothers(intent, local) })
}

// createdIntent reads an intent that we have made.
func (g *client) createdIntent(ctx context.Context, id string, local objectid.ID) (*stripe.PaymentIntent, error) {
	return g.readIntent(ctx, id, func(intent *stripe.PaymentIntent) error { return isOurs(intent, local) })
}

func (g *client) readIntent(ctx context.Context, id string,
	check func(*stripe.PaymentIntent) error,
) (*stripe.PaymentIntent, error) {
	return read(ctx, g, func(ctx context.Context) (*stripe.PaymentIntent, error) {
		p := &stripe.PaymentIntentRetrieveParams{}
		p.AddExpand("latest_charge")
		intent, err := g.api.V1PaymentIntents.Retrieve(ctx, id, p)
		if err != nil {
			return nil, err
		}
		return intent, check(intent)
	})
}
