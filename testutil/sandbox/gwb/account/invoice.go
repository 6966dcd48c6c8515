package account

import (
	"fmt"
	"strconv"
)

// Statuses of an invoice.
const (
	InvoiceOpen = "open"
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
func (o *Op) newInvoice(s *subscription, reason string) *invoice {
	l, c := o.ledger, o.ledger.Customers.Get(s.Customer)
	c.Invoices++
	inv := &invoice{
		ID: NewID("in"), Created: l.Now(), Customer: c.ID, CustomerName: c.Name, CustomerEmail: c.Email,
		CustomerPhone: c.Phone,
		Subscription:  s.ID, Metadata: s.Metadata, MethodTypes: s.MethodTypes, Status: InvoiceOpen,
		BillingReason: reason,
		Number:        fmt.Sprintf("%s-%04d", c.InvoicePrefix, c.Invoices), Currency: s.Currency,
		PeriodStart: s.PeriodStart, PeriodEnd: s.PeriodStart, PaymentID: NewID("inpay"),
	}
	for _, item := range s.Items {
		p := l.Prices.Get(item.Price)
		line := invoiceLine{
			ID: NewID("il"), Item: item.ID, Price: p.ID, Quantity: item.Quantity, Start: s.PeriodStart,
			End:  s.PeriodEnd,
			Text: lineText(s, p, l.Products.Get(p.Product).Name),
		}
		if s.Status != SubTrialing {
			line.Amount = p.Amount * item.Quantity
		}
		inv.AmountDue += line.Amount
		inv.Lines = append(inv.Lines, line)
	}
	l.discountInvoice(s, inv)
	l.Invoices.Put(inv.ID, inv)
	s.LatestInvoice = inv.ID
	return inv
}

// announce tells of a new invoice, which is finalised as soon as it is made.
func (o *Op) announce(inv *invoice) {
	o.EmitAbout("invoice.created", inv.ID)
	o.EmitAbout("invoice.finalized", inv.ID)
}

func (l *Ledger) openInvoices(subscriptionID string) []*invoice {
	return l.Invoices.Newest(func(i *invoice) bool {
		return i.Subscription == subscriptionID &&
			i.Status == InvoiceOpen
	})
}

// prepareIntent gives an invoice the payment intent that collects it, once.
func (o *Op) prepareIntent(inv *invoice, m *paymentMethod) *PaymentIntent {
	if p := o.ledger.Intents.Get(inv.Intent); p != nil {
		return p
	}
	p := newIntent(o.ledger.Now(), inv.AmountDue, inv.Currency, inv.Customer)
	p.Invoice, p.Types, p.SetupFutureUsage = inv.ID, []string{"card"}, "off_session"
	p.Description = "Subscription update"
	if inv.BillingReason == "subscription_create" {
		p.Description = "Subscription creation"
	}
	if m != nil {
		p.Method, p.Status = m.ID, intentRequiresConfirmation
	}
	inv.Intent = p.ID
	o.ledger.Intents.Put(p.ID, p)
	o.EmitAbout("payment_intent.created", p.ID)
	return p
}

// payInvoice tries to collect an open invoice. Its events and the subscription's follow from how the intent ends.
func (o *Op) payInvoice(inv *invoice, m *paymentMethod, session session) *APIError {
	p := o.prepareIntent(inv, m)
	if m == nil {
		inv.AttemptCount++
		o.invoiceFailed(inv)
		return invalid("", "resource_missing", "There is no payment method to pay this invoice with.")
	}
	return o.charge(p, m, session)
}

// settle marks an invoice paid, tells it, and moves its subscription on.
func (o *Op) settle(inv *invoice) {
	l := o.ledger
	inv.Status, inv.AmountPaid, inv.PaidAt, inv.NextAttempt = invoicePaid, inv.AmountDue, l.Now(), 0
	l.stage.Clock.Cancel(JobInvoiceRetry, inv.ID)
	s := l.Subscriptions.Get(inv.Subscription)
	o.EmitAbout("invoice.paid", inv.ID)
	o.EmitAbout("invoice.payment_succeeded", inv.ID)
	switch {
	case s == nil:
	case s.Status == SubIncomplete:
		o.start(s)
	case (s.Status == subPastDue || s.Status == subUnpaid) && len(l.openInvoices(s.ID)) == 0:
		o.update(s, func() { s.Status = subActive })
	}
}

// invoiceFailed tells of a failed attempt. A first invoice waits for the customer; a renewal is retried.
func (o *Op) invoiceFailed(inv *invoice) {
	s := o.ledger.Subscriptions.Get(inv.Subscription)
	renewal := inv.BillingReason == "subscription_cycle"
	if renewal {
		o.planRetry(inv)
	}
	o.EmitAbout("invoice.payment_failed", inv.ID)
	if renewal && s != nil {
		o.afterFailedRenewal(s, inv)
	}
}

// void closes an invoice for good and its intent with it.
func (o *Op) void(inv *invoice) {
	inv.Status, inv.VoidedAt, inv.NextAttempt = invoiceVoid, o.ledger.Now(), 0
	o.EmitAbout("invoice.voided", inv.ID)
	if p := o.ledger.Intents.Get(inv.Intent); p != nil && p.cancelable() {
		o.cancelIntent(p, "void_invoice")
	}
}

func (l *Ledger) confirmationSecret(inv *invoice) any {
	p := l.Intents.Get(inv.Intent)
	if p == nil {
		return nil
	}
	return Object{"client_secret": p.Secret, "type": "payment_intent"}
}

func (l *Ledger) paymentsOf(inv *invoice) Object {
	rows := []any{}
	if inv.Intent != "" {
		rows = append(rows, l.renderInvoicePayment(inv))
	}
	return Object{"object": "list", "data": rows, "has_more": false, "url": "/v1/invoice_payments?invoice=" + inv.ID}
}

func (l *Ledger) renderInvoicePayment(inv *invoice) Object {
	var paid any
	status, canceledAt := InvoiceOpen, any(nil)
	switch inv.Status {
	case invoicePaid:
		status, paid = invoicePaid, inv.AmountPaid
	case invoiceVoid:
		status, canceledAt = "canceled", inv.VoidedAt
	}
	return Object{
		"id": inv.PaymentID, "object": "invoice_payment", "amount_paid": paid, "amount_requested": inv.AmountDue,
		"created":  inv.Created,
		"currency": inv.Currency, "invoice": inv.ID, "is_default": true, "livemode": false,
		"payment":            Object{"payment_intent": inv.Intent, "type": "payment_intent"},
		"status":             status,
		"status_transitions": Object{"canceled_at": canceledAt, "paid_at": timeOrNull(inv.PaidAt)},
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// renderInvoice shows an invoice; the old shape names subscription, intent and charge directly.
func (l *Ledger) renderInvoice(inv *invoice, shape Shape) Object {
	lines := make([]any, 0, len(inv.Lines))
	for _, line := range inv.Lines {
		lines = append(lines, l.renderLine(inv, line, shape))
	}
	o := Object{
		"id": inv.ID, "object": "invoice", "account_country": "BR", "account_name": l.MerchantName,
		"account_tax_ids": nil,
		"amount_due":      inv.AmountDue, "amount_paid": inv.AmountPaid,
		"amount_remaining": inv.AmountDue - inv.AmountPaid,
		"amount_shipping":  0, "application": nil, "attempt_count": inv.AttemptCount,
		"attempted":                  inv.AttemptCount > 0 || inv.Status == invoicePaid,
		"auto_advance":               inv.NextAttempt != 0,
		"automatic_tax":              Object{"enabled": false, "liability": nil, "status": nil},
		"automatically_finalizes_at": nil, "billing_reason": inv.BillingReason,
		"collection_method": "charge_automatically",
		"created":           inv.Created, "currency": inv.Currency, "custom_fields": nil, "customer": inv.Customer,
		"customer_address": nil,
		"customer_email":   orNull(inv.CustomerEmail), "customer_name": orNull(inv.CustomerName),
		"customer_phone":    orNull(inv.CustomerPhone),
		"customer_shipping": nil, "customer_tax_exempt": "none", "customer_tax_ids": []any{},
		"default_payment_method": nil,
		"default_source":         nil, "default_tax_rates": []any{}, "description": nil, "discounts": inv.discounts(),
		"due_date":     nil,
		"effective_at": inv.Created, "ending_balance": 0, "footer": nil, "from_invoice": nil,
		"hosted_invoice_url": l.BaseURL + "/invoices/" + inv.ID,
		"invoice_pdf":        l.BaseURL + "/invoices/" + inv.ID + ".pdf",
		"issuer":             Object{"type": "self"}, "last_finalization_error": nil, "latest_revision": nil,
		"lines":    wholeList("/v1/invoices/"+inv.ID+"/lines", lines),
		"livemode": false, "metadata": Object{}, "next_payment_attempt": timeOrNull(inv.NextAttempt),
		"number":       inv.Number,
		"on_behalf_of": nil,
		"payment_settings": Object{
			"default_mandate": nil, "payment_method_options": nil, "payment_method_types": inv.MethodTypes,
		},
		"period_end": inv.PeriodEnd, "period_start": inv.PeriodStart, "post_payment_credit_notes_amount": 0,
		"pre_payment_credit_notes_amount": 0, "receipt_number": nil, "rendering": nil, "shipping_cost": nil,
		"shipping_details": nil,
		"starting_balance": 0, "statement_descriptor": nil, "status": inv.Status,
		"status_transitions": Object{
			"finalized_at": inv.Created, "marked_uncollectible_at": nil, "paid_at": timeOrNull(inv.PaidAt),
			"voided_at": timeOrNull(inv.VoidedAt),
		},
		"subtotal": inv.AmountDue + inv.AmountOff, "subtotal_excluding_tax": inv.AmountDue + inv.AmountOff,
		"test_clock": nil, "total": inv.AmountDue,
		"total_discount_amounts": inv.discountAmounts(inv.AmountOff), "total_excluding_tax": inv.AmountDue,
		"total_pretax_credit_amounts": []any{},
		"webhooks_delivered_at":       inv.Created,
	}
	if shape == PreBasil {
		l.addOldInvoiceKeys(o, inv)
		return o
	}
	o["amount_overpaid"] = 0
	o["automatic_tax"] = Object{
		"disabled_reason": nil, "enabled": false, "liability": nil, "provider": nil, "status": nil,
	}
	o["customer_account"] = nil
	o["parent"] = Object{
		"quote_details":        nil,
		"subscription_details": Object{"metadata": metadataOf(inv.Metadata), "subscription": inv.Subscription},
		"type":                 "subscription_details",
	}
	o["total_taxes"] = []any{}
	return o
}

func (l *Ledger) addOldInvoiceKeys(o Object, inv *invoice) {
	o["charge"] = nil
	if p := l.Intents.Get(inv.Intent); p != nil && p.Status == intentSucceeded {
		o["charge"] = p.LatestCharge
	}
	o["discount"], o["quote"], o["tax"], o["transfer_data"], o["total_tax_amounts"] = nil, nil, nil, nil, []any{}
	o["paid"], o["paid_out_of_band"] = inv.Status == invoicePaid, false
	o["payment_intent"], o["subscription"] = orNull(inv.Intent), inv.Subscription
	o["subscription_details"] = Object{"metadata": metadataOf(inv.Metadata)}
}

func (l *Ledger) renderLine(inv *invoice, line invoiceLine, shape Shape) Object {
	p := l.Prices.Get(line.Price)
	o := Object{
		"id": line.ID, "object": "line_item", "amount": line.Amount, "currency": inv.Currency, "description": line.Text,
		"discount_amounts": inv.discountAmounts(line.Off), "discountable": true, "discounts": []any{},
		"invoice": inv.ID, "livemode": false,
		"metadata": metadataOf(inv.Metadata), "period": Object{"end": line.End, "start": line.Start},
		"pretax_credit_amounts": []any{},
		"quantity":              line.Quantity,
	}
	if shape == PreBasil {
		o["amount_excluding_tax"], o["unit_amount_excluding_tax"] = line.Amount, itoa(p.Amount)
		o["plan"], o["price"], o["type"] = nil, p.render(), "subscription"
		o["proration"], o["proration_details"] = false, Object{"credited_items": nil}
		o["subscription"], o["subscription_item"] = inv.Subscription, line.Item
		o["tax_amounts"], o["tax_rates"] = []any{}, []any{}
		return o
	}
	o["parent"] = Object{
		"invoice_item_details": nil,
		"subscription_item_details": Object{
			"invoice_item": nil, "proration": false, "proration_details": Object{"credited_items": nil},
			"subscription": inv.Subscription, "subscription_item": line.Item,
		},
		"type": "subscription_item_details",
	}
	o["pricing"] = Object{
		"price_details": Object{"price": p.ID, "product": p.Product}, "type": "price_details",
		"unit_amount_decimal": itoa(p.Amount),
	}
	o["subtotal"], o["taxes"] = line.Amount, []any{}
	return o
}
