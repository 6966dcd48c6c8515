package account

// SetupIntent sets a card up for later payments.
type SetupIntent struct {
	ID          string            `json:"id"`
	Created     int64             `json:"created"`
	Customer    string            `json:"customer"`
	Method      string            `json:"method"`
	Types       []string          `json:"types"`
	Usage       string            `json:"usage"`
	Status      string            `json:"status"` // as of payment intents
	Secret      string            `json:"secret"`
	Description string            `json:"description"`
	Metadata    map[string]string `json:"metadata"`
	Decline     string            `json:"decline"` // of the last try
}

const setupParams = " payment_method off_session return_url use_stripe_sdk "

var setupIntentRoutes = []route{
	{
		"POST /v1/setup_intents",
		"customer payment_method_types usage confirm description metadata metadata.* automatic_payment_methods.enabled automatic_payment_methods.allow_redirects" + setupParams, createSetup,
	},
	{"GET /v1/setup_intents", "customer payment_method" + pageParams, listSetups},
	{"GET /v1/setup_intents/{id}", "client_secret", func(q *Request) (Object, error) {
		s, err := q.setup()
		if err != nil {
			return nil, err
		}
		return s.render(), nil
	}},
	{"POST /v1/setup_intents/{id}/confirm", "client_secret" + setupParams, confirmSetup},
	{"POST /v1/setup_intents/{id}/cancel", "cancellation_reason", cancelSetup},
}

func (s *SetupIntent) render() Object {
	var action, lastError any
	if s.Status == IntentRequiresAction {
		action = Object{"type": "use_stripe_sdk", "use_stripe_sdk": Object{"type": "three_d_secure_redirect"}}
	}
	if s.Decline != "" {
		e := declineOf(s.Decline)
		lastError = Object{
			"code": e.Code, "decline_code": e.Decline, "doc_url": DocURL(e.Code), "message": e.Message, "type": e.Type,
		}
	}
	return Object{
		"id": s.ID, "object": "setup_intent", "application": nil, "automatic_payment_methods": nil,
		"cancellation_reason": nil,
		"client_secret":       s.Secret, "created": s.Created, "customer": orNull(s.Customer),
		"description":     orNull(s.Description),
		"flow_directions": nil, "last_setup_error": lastError, "latest_attempt": nil, "livemode": false, "mandate": nil,
		"metadata": metadataOf(s.Metadata), "next_action": action, "on_behalf_of": nil,
		"payment_method":         orNull(s.Method),
		"payment_method_options": Object{}, "payment_method_types": s.Types, "single_use_mandate": nil,
		"status": s.Status, "usage": s.Usage,
	}
}

func (q *Request) setup() (*SetupIntent, error) {
	if s := q.ledger.SetupIntents.Get(q.id); s != nil {
		return s, nil
	}
	return nil, missing("setupintent", q.id, "intent")
}

func createSetup(q *Request) (Object, error) {
	s := &SetupIntent{
		ID: NewID("seti"), Created: q.ledger.Now(), Customer: q.str("customer"),
		Types: q.params.list("payment_method_types"),
		Usage: q.oneOf("usage", "off_session", "off_session", "on_session"), Status: intentRequiresMethod,
		Description: q.str("description"),
		Metadata:    q.metadata(nil),
	}
	s.Secret = s.ID + "_secret_" + random(25)
	if len(s.Types) == 0 {
		s.Types = []string{"card"}
	}
	confirm := q.boolean("confirm", false)
	if q.err != nil {
		return nil, q.err
	}
	if s.Customer != "" {
		if _, err := q.customer(s.Customer, "customer"); err != nil {
			return nil, err
		}
	}
	if err := q.setMethod(s); err != nil {
		return nil, err
	}
	if confirm && s.Method == "" {
		return nil, invalid("", "parameter_missing",
			"You cannot confirm this SetupIntent because it's missing a payment method.")
	}
	q.ledger.SetupIntents.Put(s.ID, s)
	q.EmitAbout("setup_intent.created", s.ID)
	if confirm {
		if err := q.trySetup(s); err != nil {
			return nil, err
		}
	}
	return s.render(), nil
}

func (q *Request) setMethod(s *SetupIntent) error {
	id := q.str("payment_method")
	if id == "" {
		return nil
	}
	m, err := q.method(id)
	if err != nil {
		return err
	}
	if m.Customer != "" && m.Customer != s.Customer {
		return invalid("payment_method", "", "The provided PaymentMethod belongs to another customer.")
	}
	s.Method, s.Status = m.ID, intentRequiresConfirmation
	return nil
}

func confirmSetup(q *Request) (Object, error) {
	s, err := q.setup()
	if err != nil {
		return nil, err
	}
	if s.Status != intentRequiresMethod && s.Status != intentRequiresConfirmation {
		return nil, unexpectedState("setup_intent_unexpected_state",
			"You cannot confirm this SetupIntent because it has a status of %s.", s.Status)
	}
	if err := q.setMethod(s); err != nil {
		return nil, err
	}
	if s.Method == "" {
		return nil, unexpectedState("setup_intent_unexpected_state",
			"You cannot confirm this SetupIntent because it's missing a payment method.")
	}
	if err := q.trySetup(s); err != nil {
		return nil, err
	}
	return s.render(), nil
}

// trySetup asks the issuer: declined, a challenge, or done.
func (o *Op) trySetup(s *SetupIntent) error {
	m := o.ledger.PaymentMethods.Get(s.Method)
	switch {
	case m.Outcome.Attach != "":
		return o.FailSetup(s, m.Outcome.Attach)
	case m.Outcome.Challenge != "":
		s.Status = IntentRequiresAction
		o.EmitAbout("setup_intent.requires_action", s.ID)
	default:
		o.SucceedSetup(s)
	}
	return nil
}

// SucceedSetup ends it well: its card is attached.
func (o *Op) SucceedSetup(s *SetupIntent) {
	m := o.ledger.PaymentMethods.Get(s.Method)
	s.Status, s.Decline, m.SetUp = intentSucceeded, "", true
	if m.Customer == "" && s.Customer != "" {
		m.Customer = s.Customer
		o.EmitAbout("payment_method.attached", m.ID)
	}
	o.EmitAbout("setup_intent.succeeded", s.ID)
}

// FailSetup ends it with the error that is returned.
func (o *Op) FailSetup(s *SetupIntent, decline string) error {
	s.Status, s.Method, s.Decline = intentRequiresMethod, "", decline
	o.EmitAbout("setup_intent.setup_failed", s.ID)
	return declineOf(decline)
}

func cancelSetup(q *Request) (Object, error) {
	s, err := q.setup()
	if err != nil {
		return nil, err
	}
	if s.Status == intentSucceeded || s.Status == intentCanceled {
		return nil, unexpectedState("setup_intent_unexpected_state",
			"You cannot cancel this SetupIntent because it has a status of %s.", s.Status)
	}
	s.Status = intentCanceled
	q.EmitAbout("setup_intent.canceled", s.ID)
	return s.render(), nil
}

func listSetups(q *Request) (Object, error) {
	customer, method := q.str("customer"), q.str("payment_method")
	all := q.ledger.SetupIntents.Newest(func(s *SetupIntent) bool {
		return (customer == "" || s.Customer == customer) && (method == "" || s.Method == method)
	})
	return page(q, "/v1/setup_intents", all, func(s *SetupIntent) string { return s.ID },
		func(s *SetupIntent) int64 { return s.Created }, (*SetupIntent).render)
}
