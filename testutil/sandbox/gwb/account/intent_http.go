package account

import "slices"

// minimumCents is the smallest charge in brl.
const minimumCents = 50

const confirmParams = ` payment_method payment_method_data.type payment_method_data.pix payment_method_data.billing_details.name
 payment_method_data.billing_details.email payment_method_data.billing_details.phone
 payment_method_data.billing_details.tax_id payment_method_data.billing_details.address.*
 payment_method_options.pix.expires_after_seconds payment_method_options.pix.expires_at
 payment_method_options.pix.setup_future_usage payment_method_options.card.* payment_method_types off_session
 error_on_requires_action return_url receipt_email setup_future_usage client_secret use_stripe_sdk `

const intentParams = ` description metadata metadata.* statement_descriptor statement_descriptor_suffix `

var intentRoutes = []route{
	{
		"POST /v1/payment_intents",
		"amount currency customer confirm capture_method confirmation_method automatic_payment_methods.enabled automatic_payment_methods.allow_redirects" + intentParams + confirmParams, createIntent,
	},
	{"GET /v1/payment_intents", "customer" + pageParams, listIntents},
	{"GET /v1/payment_intents/{id}", "client_secret", func(q *Request) (Object, error) {
		p, err := q.intent()
		if err != nil {
			return nil, err
		}
		return q.ledger.renderIntent(p, Dahlia), nil
	}},
	{"POST /v1/payment_intents/{id}", "receipt_email setup_future_usage" + intentParams, updateIntent},
	{"POST /v1/payment_intents/{id}/confirm", confirmParams, confirmIntent},
	{"POST /v1/payment_intents/{id}/cancel", "cancellation_reason", cancelIntentNow},
}

func (q *Request) intent() (*PaymentIntent, error) {
	if p := q.ledger.Intents.Get(q.id); p != nil {
		return p, nil
	}
	return nil, missing("payment_intent", q.id, "intent")
}

func createIntent(q *Request) (Object, error) {
	amount, currency := q.integer("amount", 0), q.need("currency")
	q.need("amount")
	confirm := q.boolean("confirm", false)
	p := newIntent(q.ledger.Now(), amount, currency, q.str("customer"))
	p.Description, p.Metadata, p.ReceiptEmail = q.str("description"), q.metadata(nil), q.str("receipt_email")
	p.Types = q.params.list("payment_method_types")
	if len(p.Types) == 0 {
		p.Types = []string{"card"}
	}
	q.readConfirmation(p)
	if q.err == nil && amount < minimumCents {
		q.fail(invalid("amount", "amount_too_small", "Amount must be at least R$0.50 brl"))
	}
	for _, t := range p.Types {
		if t != "card" && t != "pix" {
			q.fail(invalid("payment_method_types", "payment_intent_invalid_parameter",
				"The payment method type \"%s\" is invalid.", t))
		}
	}
	if q.err == nil && slices.Contains(p.Types, "pix") && currency != "brl" {
		q.fail(invalid("currency", "payment_intent_invalid_currency",
			"The currency provided (%s) is invalid for pix. Supported currencies: brl.", currency))
	}
	if q.err != nil {
		return nil, q.err
	}
	if p.Customer != "" {
		if _, err := q.customer(p.Customer, "customer"); err != nil {
			return nil, err
		}
	}
	m, err := q.methodOf(p)
	if err != nil {
		return nil, err
	}
	if confirm && m == nil {
		return nil, invalid("", "parameter_missing",
			"You cannot confirm this PaymentIntent because it's missing a payment method.")
	}
	if m != nil {
		p.Method, p.Status = m.ID, intentRequiresConfirmation
	}
	q.ledger.Intents.Put(p.ID, p)
	q.EmitAbout("payment_intent.created", p.ID)
	if confirm {
		if e := q.confirm(p, m); e != nil {
			return nil, e
		}
	}
	return q.ledger.renderIntent(p, Dahlia), nil
}

// readConfirmation reads what may come with creation or with confirmation.
func (q *Request) readConfirmation(p *PaymentIntent) {
	p.SetupFutureUsage = q.oneOf("setup_future_usage", p.SetupFutureUsage, "off_session", "on_session")
	const pix = "payment_method_options.pix."
	if q.params.has(pix + "expires_after_seconds") {
		p.PIXSeconds = q.integer(pix+"expires_after_seconds", 0)
	} else if at := q.integer(pix+"expires_at", 0); at != 0 {
		p.PIXSeconds = at - q.ledger.Now()
	} else if p.PIXSeconds == 0 {
		p.PIXSeconds = pixDefaultSeconds
	}
	if p.PIXSeconds < pixMinSeconds || p.PIXSeconds > pixMaxSeconds {
		q.fail(invalid("payment_method_options[pix][expires_after_seconds]", "",
			"A PIX code can expire after %d to %d seconds.", pixMinSeconds, pixMaxSeconds))
	}
}

// methodOf is the payment method that the parameters name or describe, else the intent's own, nil when there is none.
func (q *Request) methodOf(p *PaymentIntent) (*paymentMethod, error) {
	m := q.ledger.PaymentMethods.Get(p.Method)
	if id := q.str("payment_method"); id != "" {
		named, err := q.method(id)
		if err != nil {
			return nil, err
		}
		m = named
	} else if kind := q.str("payment_method_data.type"); kind != "" {
		if kind != "pix" {
			return nil, invalid("payment_method_data[type]", "", "Describe cards by their payment method's id.")
		}
		m = &paymentMethod{
			ID: NewID("pm"), Created: q.ledger.Now(), Type: kind,
			Billing: q.billing("payment_method_data.billing_details"),
		}
		q.ledger.PaymentMethods.Put(m.ID, m)
	}
	switch {
	case m == nil:
		return nil, nil
	case !slices.Contains(p.Types, m.Type):
		return nil, invalid("payment_method", "payment_intent_incompatible_payment_method",
			"The PaymentMethod provided (%s) is not allowed for this PaymentIntent.", m.Type)
	case m.Customer != "" && m.Customer != p.Customer:
		return nil, invalid("payment_method", "",
			"The provided PaymentMethod belongs to another customer. Include the customer in the request.")
	}
	return m, nil
}

// confirm starts the payment.
func (q *Request) confirm(p *PaymentIntent, m *paymentMethod) error {
	if m.Type == "pix" {
		q.showPIX(p, m)
		return nil
	}
	how := sessionOf(q.str("off_session") != "" && q.str("off_session") != "false")
	if q.boolean("error_on_requires_action", false) {
		how = neverAuthenticate
	}
	if q.err != nil {
		return q.err
	}
	if e := q.charge(p, m, how); e != nil {
		return e
	}
	return nil
}

func confirmIntent(q *Request) (Object, error) {
	p, err := q.intent()
	if err != nil {
		return nil, err
	}
	if p.Status != intentRequiresMethod && p.Status != intentRequiresConfirmation {
		return nil, q.unexpected(p, "You cannot confirm this PaymentIntent because it has a status of "+p.Status+".")
	}
	q.readConfirmation(p)
	if q.err != nil {
		return nil, q.err
	}
	m, err := q.methodOf(p)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, q.unexpected(p, "You cannot confirm this PaymentIntent because it's missing a payment method.")
	}
	if err := q.confirm(p, m); err != nil {
		return nil, err
	}
	return q.ledger.renderIntent(p, Dahlia), nil
}

func (q *Request) unexpected(p *PaymentIntent, message string) error {
	e := unexpectedState("payment_intent_unexpected_state", "%s", message)
	e.Intent = q.ledger.renderIntent(p, Dahlia)
	return e
}

func updateIntent(q *Request) (Object, error) {
	p, err := q.intent()
	if err != nil {
		return nil, err
	}
	metadata := q.metadata(p.Metadata)
	usage := q.oneOf("setup_future_usage", p.SetupFutureUsage, "off_session", "on_session")
	if q.err != nil {
		return nil, q.err
	}
	p.Metadata, p.SetupFutureUsage = metadata, usage
	for path, to := range map[string]*string{"description": &p.Description, "receipt_email": &p.ReceiptEmail} {
		if v, given := q.params[path]; given {
			*to = v
		}
	}
	return q.ledger.renderIntent(p, Dahlia), nil
}

func cancelIntentNow(q *Request) (Object, error) {
	p, err := q.intent()
	if err != nil {
		return nil, err
	}
	reason := q.oneOf("cancellation_reason", "", "duplicate", "fraudulent", "requested_by_customer", "abandoned")
	switch {
	case q.err != nil:
		return nil, q.err
	case !p.cancelable():
		return nil, q.unexpected(p, "You cannot cancel this PaymentIntent because it has a status of "+p.Status+
			". Only a PaymentIntent with one of the following statuses may be canceled: requires_payment_method, requires_capture, requires_confirmation, requires_action, processing.")
	case p.Invoice != "":
		return nil, q.unexpected(p,
			"You cannot cancel this PaymentIntent because it was created by an invoice. Void the invoice instead.")
	}
	q.cancelIntent(p, reason)
	return q.ledger.renderIntent(p, Dahlia), nil
}

func listIntents(q *Request) (Object, error) {
	customer := q.str("customer")
	all := q.ledger.Intents.Newest(func(p *PaymentIntent) bool { return customer == "" || p.Customer == customer })
	return page(q, "/v1/payment_intents", all, func(p *PaymentIntent) string { return p.ID },
		func(p *PaymentIntent) int64 { return p.Created },
		func(p *PaymentIntent) Object { return q.ledger.renderIntent(p, Dahlia) })
}
