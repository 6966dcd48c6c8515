package account

import "slices"

// Statuses of a payment intent.
const (
	intentRequiresMethod       = "requires_payment_method"
	intentRequiresConfirmation = "requires_confirmation"
	IntentRequiresAction       = "requires_action"
	intentSucceeded            = "succeeded"
	intentCanceled             = "canceled"
)

// PaymentIntent is one payment, from its order to its charge.
type PaymentIntent struct {
	ID               string            `json:"id"`
	Created          int64             `json:"created"`
	Amount           int64             `json:"amount"`
	Received         int64             `json:"received"`
	Currency         string            `json:"currency"`
	Customer         string            `json:"customer"`
	Status           string            `json:"status"`
	Secret           string            `json:"secret"`
	Types            []string          `json:"types"`
	Method           string            `json:"method"`
	Description      string            `json:"description"`
	Metadata         map[string]string `json:"metadata"`
	ReceiptEmail     string            `json:"receipt_email"`
	SetupFutureUsage string            `json:"setup_future_usage"`
	Invoice          string            `json:"invoice"`
	LatestCharge     string            `json:"latest_charge"`
	LastError        Object            `json:"last_error"`
	CanceledAt       int64             `json:"canceled_at"`
	CancelReason     string            `json:"cancel_reason"`
	PIXSeconds       int64             `json:"pix_seconds"`    // expires_after_seconds
	PIXCode          string            `json:"pix_code"`       // set while a code is shown
	PIXExpiresAt     int64             `json:"pix_expires_at"` // set while a code is shown
}

// session says whether the customer is there to authenticate.
type session int

const (
	onSession session = iota
	offSession
	neverAuthenticate // error_on_requires_action
)

func sessionOf(off bool) session {
	if off {
		return offSession
	}
	return onSession
}

func newIntent(now, amount int64, currency, customer string) *PaymentIntent {
	p := &PaymentIntent{
		ID: NewID("pi"), Created: now, Amount: amount, Currency: currency, Customer: customer,
		Status:   intentRequiresMethod,
		Metadata: map[string]string{},
	}
	p.Secret = p.ID + "_secret_" + random(25)
	return p
}

func (p *PaymentIntent) cancelable() bool {
	return p.Status != intentSucceeded && p.Status != intentCanceled
}

func (l *Ledger) renderIntent(p *PaymentIntent, shape Shape) Object {
	o := Object{
		"id": p.ID, "object": "payment_intent", "amount": p.Amount, "amount_capturable": 0,
		"amount_details":  Object{"tip": Object{}},
		"amount_received": p.Received, "application": nil, "application_fee_amount": nil,
		"automatic_payment_methods": nil,
		"canceled_at":               timeOrNull(p.CanceledAt), "cancellation_reason": orNull(p.CancelReason),
		"capture_method": "automatic_async",
		"client_secret":  p.Secret, "confirmation_method": "automatic", "created": p.Created, "currency": p.Currency,
		"customer": orNull(p.Customer), "description": orNull(p.Description), "last_payment_error": nil,
		"latest_charge": orNull(p.LatestCharge), "livemode": false, "metadata": metadataOf(p.Metadata),
		"next_action":  l.nextAction(p),
		"on_behalf_of": nil, "payment_method": orNull(p.Method), "payment_method_configuration_details": nil,
		"payment_method_options": p.options(), "payment_method_types": p.Types, "processing": nil,
		"receipt_email": orNull(p.ReceiptEmail),
		"review":        nil, "setup_future_usage": orNull(p.SetupFutureUsage), "shipping": nil,
		"statement_descriptor":        nil,
		"statement_descriptor_suffix": nil, "status": p.Status, "transfer_data": nil, "transfer_group": nil,
	}
	if p.LastError != nil {
		o["last_payment_error"] = p.LastError
	}
	if shape == PreBasil {
		o["invoice"] = orNull(p.Invoice)
		return o
	}
	o["customer_account"], o["excluded_payment_method_types"] = nil, nil
	return o
}

func (p *PaymentIntent) options() Object {
	o := Object{}
	if slices.Contains(p.Types, "card") {
		o["card"] = Object{
			"installments": nil, "mandate_options": nil, "network": nil, "request_three_d_secure": "automatic",
		}
	}
	if slices.Contains(p.Types, "pix") {
		o["pix"] = Object{
			"amount_includes_iof": "never", "expires_after_seconds": p.PIXSeconds, "setup_future_usage": "none",
		}
	}
	return o
}

func (l *Ledger) nextAction(p *PaymentIntent) any {
	switch {
	case p.Status != IntentRequiresAction:
		return nil
	case p.PIXCode != "":
		return l.pixAction(p)
	}
	return Object{
		"type": "use_stripe_sdk",
		"use_stripe_sdk": Object{
			"type": "three_d_secure_redirect", "stripe_js": l.BaseURL + "/_sandbox", "source": "src_" + p.ID,
		},
	}
}

// foresee is the decline code that charging this method with the customer there would give; a challenge counts as one.
func (l *Ledger) foresee(m *paymentMethod) string {
	switch {
	case m == nil:
		return "generic_decline"
	case m.Outcome.Attach != "":
		return m.Outcome.Attach
	case m.Outcome.Charge != "":
		return m.Outcome.Charge
	case m.challenged():
		return "authentication_required"
	}
	return ""
}

func (m *paymentMethod) challenged() bool {
	return m.Outcome.Challenge == challengeAlways || m.Outcome.Challenge == challengeSetup && !m.SetUp
}

// charge tries to take the intent's money from a card and tells what came of it. The error is the decline as a call
// answers it; a demand for authentication is none, the intent then waits.
func (o *Op) charge(p *PaymentIntent, m *paymentMethod, session session) *APIError {
	p.Method, p.LastError = m.ID, nil
	if inv := o.ledger.Invoices.Get(p.Invoice); inv != nil {
		inv.AttemptCount++
	}
	decline := o.ledger.foresee(m)
	switch {
	case decline == "":
		o.Succeed(p, m)
		return nil
	case decline == "authentication_required" && session == onSession:
		o.challenge(p)
		return nil
	}
	return o.declined(p, m, declineOf(decline))
}

func (o *Op) challenge(p *PaymentIntent) {
	p.Status = IntentRequiresAction
	o.EmitAbout("payment_intent.requires_action", p.ID)
	if inv := o.ledger.Invoices.Get(p.Invoice); inv != nil {
		o.EmitAbout("invoice.payment_action_required", inv.ID)
		o.invoiceFailed(inv)
	}
}

// Succeed takes the money: intent, charge, then the invoice that waits for it.
func (o *Op) Succeed(p *PaymentIntent, m *paymentMethod) {
	c := o.newCharge(p, m)
	p.Status, p.Received, p.LastError, p.LatestCharge = intentSucceeded, p.Amount, nil, c.ID
	p.PIXCode, p.PIXExpiresAt = "", 0
	if p.SetupFutureUsage != "" {
		m.SetUp = true
		if m.Customer == "" {
			m.Customer = p.Customer
		}
	}
	o.EmitAbout("payment_intent.succeeded", p.ID)
	o.EmitAbout("charge.succeeded", c.ID)
	if inv := o.ledger.Invoices.Get(p.Invoice); inv != nil && inv.Status == InvoiceOpen {
		o.keepMethod(inv, m)
		o.settle(inv)
	}
	if m.Outcome.Dispute {
		o.ledger.stage.Clock.At(o.ledger.stage.Clock.Now().Add(soon), jobDispute, c.ID)
	}
}

// keepMethod is save_default_payment_method=on_subscription.
func (o *Op) keepMethod(inv *invoice, m *paymentMethod) {
	if s := o.ledger.Subscriptions.Get(inv.Subscription); s != nil && s.SaveDefault == "on_subscription" &&
		s.DefaultMethod == "" {
		s.DefaultMethod = m.ID
	}
}

// declined records a failed charge and gives the intent back for another method.
func (o *Op) declined(p *PaymentIntent, m *paymentMethod, e *APIError) *APIError {
	c := o.newCharge(p, m)
	c.Status, c.FailureCode, c.Decline, c.FailureMessage = chargeFailed, e.Code, e.Decline, e.Message
	e.Charge = c.ID
	o.EmitAbout("charge.failed", c.ID)
	o.FailIntent(p, Object{
		"charge": c.ID, "code": e.Code, "decline_code": e.Decline, "doc_url": DocURL(e.Code), "message": e.Message,
		"type": e.Type,
	}, c.ID)
	e.Intent = o.ledger.renderIntent(p, Dahlia)
	return e
}

// FailIntent puts an intent back to requires_payment_method with the reason, and fails its invoice.
func (o *Op) FailIntent(p *PaymentIntent, lastError Object, chargeID string) {
	p.Status, p.Method, p.LastError, p.LatestCharge = intentRequiresMethod, "", lastError, chargeID
	o.EmitAbout("payment_intent.payment_failed", p.ID)
	if inv := o.ledger.Invoices.Get(p.Invoice); inv != nil && inv.Status == InvoiceOpen {
		o.invoiceFailed(inv)
	}
}

func (o *Op) cancelIntent(p *PaymentIntent, reason string) {
	p.Status, p.CanceledAt, p.CancelReason = intentCanceled, o.ledger.Now(), reason
	p.PIXCode, p.PIXExpiresAt = "", 0
	o.ledger.stage.Clock.Cancel(jobPIXPay, p.ID)
	o.ledger.stage.Clock.Cancel(jobPIXExpire, p.ID)
	o.EmitAbout("payment_intent.canceled", p.ID)
}
