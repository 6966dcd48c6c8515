package gwb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

const pageSize = 100

// ListPayments lists the charges behind the subscription's invoices and those
// that carry its local id. When a recurrence has neither, the customer's charges
// are the last resort, but for those that name something else: a charge names its
// invoice no longer (docs/gateway-facts.md, B8). What never was at the gateway has no payments.
func (g *lister) ListPayments(ctx context.Context, q gateway.PaymentsQuery) ([]gateway.RemotePayment, error) {
	invoices, err := g.invoicesByIntent(ctx, q.SubscriptionGatewayID)
	if err != nil {
		return nil, err
	}
	charges, err := g.customerCharges(ctx, q.CustomerGatewayID)
	if err != nil {
		return nil, err
	}
	ours, others := []gateway.RemotePayment{}, []gateway.RemotePayment{}
	for _, c := range charges {
		intent := intentIDOf(c)
		invoice, billed := invoices[intent]
		purpose, local := metadata(c.Metadata).purpose()
		switch {
		case billed || purpose == gateway.ForSubscription && local == q.SubscriptionID:
			ours = append(ours, listed(c, invoice))
			delete(invoices, intent)
		case purpose == "":
			others = append(others, listed(c, ""))
		}
	}
	for intent, invoice := range invoices { // older than the customer's latest charges
		found, err := g.chargesOf(ctx, intent)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			ours = append(ours, listed(c, invoice))
		}
	}
	if len(ours) == 0 && len(invoices) == 0 && q.SubscriptionGatewayID != "" {
		ours = others
	}
	slices.SortStableFunc(ours, func(a, b gateway.RemotePayment) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return ours[:min(len(ours), pageSize)], nil
}

// invoicesByIntent maps the payment intents of a subscription's invoices to them.
func (g *lister) invoicesByIntent(ctx context.Context, subscription string) (map[string]string, error) {
	found := map[string]string{}
	if subscription == "" {
		return found, nil
	}
	all, err := g.invoicePage(ctx, &stripe.InvoiceListParams{Subscription: stripe.String(subscription)}, "")
	if errors.Is(err, gateway.ErrMissing) {
		return found, nil
	}
	for _, i := range all.Data {
		if intent := i.intent(); intent != "" {
			found[intent] = i.ID
		}
	}
	return found, err
}

type invoiceList struct {
	Data    []invoiceObject `json:"data"`
	HasMore bool            `json:"has_more"`
}

func (g *client) invoicePage(ctx context.Context, p *stripe.InvoiceListParams, after string) (invoiceList, error) {
	p.Limit, p.Single = stripe.Int64(pageSize), true
	p.AddExpand("data.payments")
	if after != "" {
		p.StartingAfter = stripe.String(after)
	}
	return read(ctx, g, func(ctx context.Context) (invoiceList, error) {
		var out invoiceList
		got := g.api.V1Invoices.List(ctx, p)
		if err := got.Err(); err != nil {
			return out, err
		}
		return out, json.Unmarshal(got.LastResponse().RawJSON, &out)
	})
}

func (g *lister) customerCharges(ctx context.Context, customer string) ([]*stripe.Charge, error) {
	if customer == "" {
		return nil, nil
	}
	return g.chargePage(ctx, &stripe.ChargeListParams{Customer: stripe.String(customer)})
}

func (g *lister) chargesOf(ctx context.Context, intent string) ([]*stripe.Charge, error) {
	return g.chargePage(ctx, &stripe.ChargeListParams{PaymentIntent: stripe.String(intent)})
}

func (g *client) chargePage(ctx context.Context, p *stripe.ChargeListParams) ([]*stripe.Charge, error) {
	p.Limit, p.Single = stripe.Int64(pageSize), true
	return read(ctx, g, func(ctx context.Context) ([]*stripe.Charge, error) {
		got := g.api.V1Charges.List(ctx, p)
		return got.Data(), got.Err()
	})
}

func intentIDOf(c *stripe.Charge) string {
	if c.PaymentIntent == nil {
		return ""
	}
	return c.PaymentIntent.ID
}

var chargeStates = map[stripe.ChargeStatus]gateway.PaymentStatus{
	stripe.ChargeStatusSucceeded: gateway.PaymentStatusSettled,
	stripe.ChargeStatusFailed:    gateway.PaymentStatusFailed,
	stripe.ChargeStatusPending:   gateway.PaymentStatusPending,
}

func listed(c *stripe.Charge, invoice string) gateway.RemotePayment {
	r := gateway.RemotePayment{
		ID: c.ID, PaymentIntentID: intentIDOf(c), Status: string(c.Status), Amount: money.Cents(c.Amount),
		AmountRefunded: money.Cents(c.AmountRefunded), Refunded: c.Refunded, Disputed: c.Disputed,
		Currency:    string(c.Currency),
		Description: c.Description,
	}
	if at := instant(c.Created); at != nil {
		r.CreatedAt = *at
	}
	r.Payment = gateway.Payment{
		ID: cmp.Or(invoice, r.PaymentIntentID, c.ID), InvoiceID: invoice, PaymentIntentID: r.PaymentIntentID,
		Status:       chargeStates[c.Status],
		NativeStatus: r.Status, Method: gateway.MethodCard, Amount: r.Amount,
	}
	if c.PaymentMethodDetails != nil && c.PaymentMethodDetails.Type == "pix" {
		r.Payment.Method = gateway.MethodPix
	}
	if r.Payment.Status == gateway.PaymentStatusSettled {
		r.Payment.SettledAt = &r.CreatedAt
	}
	return r
}

// InvoiceOf asks which invoice a payment intent paid.
func (g *lister) InvoiceOf(ctx context.Context, paymentIntentID string) (string, error) {
	return read(ctx, g.client, func(ctx context.Context) (string, error) {
		p := &stripe.InvoicePaymentListParams{Payment: &stripe.InvoicePaymentListPaymentParams{
			Type: stripe.String("payment_intent"), PaymentIntent: stripe.String(paymentIntentID),
		}}
		p.Limit, p.Single = stripe.Int64(1), true
		got := g.api.V1InvoicePayments.List(ctx, p)
		for _, paid := range got.Data() {
			if paid.Invoice != nil {
				return paid.Invoice.ID, nil
			}
		}
		return "", got.Err()
	})
}

// findIntent looks through the payer's intents for the one of a local row; nil
// when there is none.
func (g *client) findIntent(ctx context.Context, customer, kind string,
	local objectid.ID,
) (*stripe.PaymentIntent, error) {
	if customer == "" {
		return nil, nil //nolint:nilnil // nil is the answer: none
	}
	id, err := read(ctx, g, func(ctx context.Context) (string, error) {
		p := &stripe.PaymentIntentListParams{Customer: stripe.String(customer)}
		p.Limit = stripe.Int64(pageSize)
		for intent, err := range g.api.V1PaymentIntents.List(ctx, p).All(ctx) {
			if err != nil {
				return "", err
			}
			if intent.Metadata[pixReference(kind)] == local.String() && intent.Metadata[metaKind] == kind {
				return intent.ID, nil
			}
		}
		return "", nil
	})
	if err != nil || id == "" {
		return nil, err
	}
	intent, err := g.createdIntent(ctx, id, local)
	return intent, reply.Unproven(err)
}
