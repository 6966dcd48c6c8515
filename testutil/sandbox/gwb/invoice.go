package gwb

import (
	"fmt"
	"strconv"
)

// Statuses of an invoice.
const (
	invoiceOpen = "open"
	invoicePaid = "paid"
	invoiceVoid = "void"
)

type invoice struct {
	ID            string            `json:"id"`
	Created       int64             `json:"created"`
	Customer      string            `json:"customer"`
	CustomerName  string            `json:"customer_name"`
	CustomerEmail string            `json:"customer_email"`
	CustomerPhone string            `json:"customer_phone"`
	Subscription  string            `json:"subscription"`
	Metadata      map[string]string `json:"metadata"` // the subscription's, when the invoice was made
	MethodTypes   []string          `json:"method_types"`
	Status        string            `json:"status"`
	BillingReason string            `json:"billing_reason"`
	Number        string            `json:"number"`
	Currency      string            `json:"currency"`
	AmountDue     int64             `json:"amount_due"`
	AmountPaid    int64             `json:"amount_paid"`
	Discount      string            `json:"discount,omitempty"`
	AmountOff     int64             `json:"amount_off,omitempty"` // what the discount took
	AttemptCount  int64             `json:"attempt_count"`
	NextAttempt   int64             `json:"next_attempt"`
	PeriodStart   int64             `json:"period_start"`
	PeriodEnd     int64             `json:"period_end"`
	Lines         []invoiceLine     `json:"lines"`
	PaymentID     string            `json:"payment_id"` // of its invoice payment
	Intent        string            `json:"intent"`
	PaidAt        int64             `json:"paid_at"`
	VoidedAt      int64             `json:"voided_at"`
}

type invoiceLine struct {
	ID       string `json:"id"`
	Item     string `json:"item"`
	Price    string `json:"price"`
	Quantity int64  `json:"quantity"`
	Amount   int64  `json:"amount"`
	Off      int64  `json:"off,omitempty"` // what the discount took
	Text     string `json:"text"`
	Start    int64  `json:"start"`
	End      int64  `json:"end"`
}

// newInvoice bills the current period of a subscription and makes it the latest one.
func (o *op) newInvoice(s *subscription, reason string) *invoice {
	g, c := o.g, o.g.data.Customers.Get(s.Customer)
	c.Invoices++
	inv := &invoice{
		ID: newID("in"), Created: g.now(), Customer: c.ID, CustomerName: c.Name, CustomerEmail: c.Email,
		CustomerPhone: c.Phone,
		Subscription:  s.ID, Metadata: s.Metadata, MethodTypes: s.MethodTypes, Status: invoiceOpen,
		BillingReason: reason,
		Number:        fmt.Sprintf("%s-%04d", c.InvoicePrefix, c.Invoices), Currency: s.Currency,
		PeriodStart: s.PeriodStart, PeriodEnd: s.PeriodStart, PaymentID: newID("inpay"),
	}
	for _, item := range s.Items {
		p := g.data.Prices.Get(item.Price)
		line := invoiceLine{
			ID: newID("il"), Item: item.ID, Price: p.ID, Quantity: item.Quantity, Start: s.PeriodStart,
			End:  s.PeriodEnd,
			Text: lineText(s, p, g.data.Products.Get(p.Product).Name),
		}
		if s.Status != subTrialing {
			line.Amount = p.Amount * item.Quantity
		}
		inv.AmountDue += line.Amount
		inv.Lines = append(inv.Lines, line)
	}
	g.discountInvoice(s, inv)
	g.data.Invoices.Put(inv.ID, inv)
	s.LatestInvoice = inv.ID
	return inv
}

// announce tells of a new invoice, which is finalised as soon as it is made.
func (o *op) announce(inv *invoice) {
	o.emitAbout("invoice.created", inv.ID)
	o.emitAbout("invoice.finalized", inv.ID)
}

func (g *Gateway) openInvoices(subscriptionID string) []*invoice {
	return g.data.Invoices.Newest(func(i *invoice) bool {
		return i.Subscription == subscriptionID &&
			i.Status == invoiceOpen
	})
}

// prepareIntent gives an invoice the payment intent that collects it, once.
func (o *op) prepareIntent(inv *invoice, m *paymentMethod) *paymentIntent {
	if p := o.g.data.Intents.Get(inv.Intent); p != nil {
		return p
	}
	p := newIntent(o.g.now(), inv.AmountDue, inv.Currency, inv.Customer)
	p.Invoice, p.Types, p.SetupFutureUsage = inv.ID, []string{"card"}, "off_session"
	p.Description = "Subscription update"
	if inv.BillingReason == "subscription_create" {
		p.Description = "Subscription creation"
	}
	if m != nil {
		p.Method, p.Status = m.ID, intentRequiresConfirmation
	}
	inv.Intent = p.ID
	o.g.data.Intents.Put(p.ID, p)
	o.emitAbout("payment_intent.created", p.ID)
	return p
}

// payInvoice tries to collect an open invoice. Its events and the subscription's follow from how the intent ends.
func (o *op) payInvoice(inv *invoice, m *paymentMethod, session session) *apiError {
	p := o.prepareIntent(inv, m)
	if m == nil {
		inv.AttemptCount++
		o.invoiceFailed(inv)
		return invalid("", "resource_missing", "There is no payment method to pay this invoice with.")
	}
	return o.charge(p, m, session)
}

// settle marks an invoice paid, tells it, and moves its subscription on.
func (o *op) settle(inv *invoice) {
	g := o.g
	inv.Status, inv.AmountPaid, inv.PaidAt, inv.NextAttempt = invoicePaid, inv.AmountDue, g.now(), 0
	g.stage.Clock.Cancel(jobInvoiceRetry, inv.ID)
	s := g.data.Subscriptions.Get(inv.Subscription)
	o.emitAbout("invoice.paid", inv.ID)
	o.emitAbout("invoice.payment_succeeded", inv.ID)
	switch {
	case s == nil:
	case s.Status == subIncomplete:
		o.start(s)
	case (s.Status == subPastDue || s.Status == subUnpaid) && len(g.openInvoices(s.ID)) == 0:
		o.update(s, func() { s.Status = subActive })
	}
}

// invoiceFailed tells of a failed attempt. A first invoice waits for the customer; a renewal is retried.
func (o *op) invoiceFailed(inv *invoice) {
	s := o.g.data.Subscriptions.Get(inv.Subscription)
	renewal := inv.BillingReason == "subscription_cycle"
	if renewal {
		o.planRetry(inv)
	}
	o.emitAbout("invoice.payment_failed", inv.ID)
	if renewal && s != nil {
		o.afterFailedRenewal(s, inv)
	}
}

// void closes an invoice for good and its intent with it.
func (o *op) void(inv *invoice) {
	inv.Status, inv.VoidedAt, inv.NextAttempt = invoiceVoid, o.g.now(), 0
	o.emitAbout("invoice.voided", inv.ID)
	if p := o.g.data.Intents.Get(inv.Intent); p != nil && p.cancelable() {
		o.cancelIntent(p, "void_invoice")
	}
}

func (g *Gateway) confirmationSecret(inv *invoice) any {
	p := g.data.Intents.Get(inv.Intent)
	if p == nil {
		return nil
	}
	return object{"client_secret": p.Secret, "type": "payment_intent"}
}

func (g *Gateway) paymentsOf(inv *invoice) object {
	rows := []any{}
	if inv.Intent != "" {
		rows = append(rows, g.renderInvoicePayment(inv))
	}
	return object{"object": "list", "data": rows, "has_more": false, "url": "/v1/invoice_payments?invoice=" + inv.ID}
}

func (g *Gateway) renderInvoicePayment(inv *invoice) object {
	var paid any
	status, canceledAt := invoiceOpen, any(nil)
	switch inv.Status {
	case invoicePaid:
		status, paid = invoicePaid, inv.AmountPaid
	case invoiceVoid:
		status, canceledAt = "canceled", inv.VoidedAt
	}
	return object{
		"id": inv.PaymentID, "object": "invoice_payment", "amount_paid": paid, "amount_requested": inv.AmountDue,
		"created":  inv.Created,
		"currency": inv.Currency, "invoice": inv.ID, "is_default": true, "livemode": false,
		"payment":            object{"payment_intent": inv.Intent, "type": "payment_intent"},
		"status":             status,
		"status_transitions": object{"canceled_at": canceledAt, "paid_at": timeOrNull(inv.PaidAt)},
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
