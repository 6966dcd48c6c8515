package account

import "time"

// Subscription makes charges by itself (docs/gateway-facts.md, A4).
type Subscription struct {
	ID                string `json:"id"`
	Order             int64  `json:"order"`
	Customer          string `json:"customer"`
	Created           Day    `json:"created"`
	Value             Cents  `json:"value"`
	NextDue           Day    `json:"nextDue"`
	Anchor            int    `json:"anchor"`
	Cycle             string `json:"cycle"`
	Description       string `json:"description,omitempty"`
	BillingType       string `json:"billingType"`
	Status            string `json:"status"`
	ExternalReference string `json:"externalReference,omitempty"`
	EndDate           Day    `json:"endDate,omitempty"`
	MaxPayments       int    `json:"maxPayments,omitempty"`
	Charges           int    `json:"charges"`
	CardToken         string `json:"cardToken,omitempty"`
	Authorization     string `json:"authorization,omitempty"`
	Deleted           bool   `json:"deleted,omitempty"`
	// FailNext makes the next charge that falls due be refused; only controls set it.
	FailNext bool `json:"failNext,omitempty"`
}

// SubscriptionInput is the body of its creation.
type SubscriptionInput struct {
	Customer              string `json:"customer"`
	BillingType           string `json:"billingType"`
	Value                 *Cents `json:"value"`
	NextDueDate           string `json:"nextDueDate"`
	Cycle                 string `json:"cycle"`
	Description           string `json:"description"`
	EndDate               string `json:"endDate"`
	MaxPayments           int    `json:"maxPayments"`
	ExternalReference     text   `json:"externalReference"`
	Status                string `json:"status"`
	UpdatePendingPayments bool   `json:"updatePendingPayments"`
	CardFields
}

// Create checks everything, the card too, makes the first charge at once and answers with nextDueDate one
// cycle on. The card is charged on the due date, not here.
func (l Subscriptions) Create(in SubscriptionInput, now time.Time) (*Subscription, *APIError) {
	if _, err := l.liveCustomer(in.Customer); err != nil {
		return nil, err
	}
	sub, err := in.subscription(l.Settings, now)
	if err != nil {
		return nil, err
	}
	if in.BillingType == billingCard {
		card, err := l.card(in.CardFields, in.Customer, now)
		if err != nil {
			return nil, err
		}
		sub.CardToken = card.Token
	}
	l.addSubscription(sub, now)
	return sub, nil
}

// addSubscription numbers and keeps a subscription and makes its first charge.
func (l Subscriptions) addSubscription(sub *Subscription, now time.Time) {
	sub.ID, sub.Order, sub.Created = objectID("sub_"), l.order(), DayOf(now)
	sub.Status, sub.Anchor = StatusActive, sub.NextDue.dayOfMonth()
	l.Subscriptions.Put(sub.ID, sub)
	first := l.charge(sub, now)
	l.emitPayment(now, "PAYMENT_CREATED", first)
	l.emitSubscription(now, "SUBSCRIPTION_CREATED", sub)
	l.startCollection(first, now)
}

func (in SubscriptionInput) subscription(settings Settings, now time.Time) (*Subscription, *APIError) {
	payment := PaymentInput{
		BillingType: in.BillingType, Value: in.Value, DueDate: in.NextDueDate, Description: in.Description,
	}
	value, due, err := payment.check(settings, now)
	if err != nil {
		return nil, err
	}
	if !knownCycle(in.Cycle) {
		return nil, BadRequest("invalid_cycle", "O campo cycle deve ser informado.")
	}
	sub := &Subscription{
		Customer: in.Customer, Value: value, NextDue: due, Cycle: in.Cycle, Description: in.Description,
		BillingType: in.BillingType, ExternalReference: string(in.ExternalReference), MaxPayments: in.MaxPayments,
	}
	if in.EndDate != "" {
		end, err := parseDay(in.EndDate)
		if err != nil || end < due {
			return nil, BadRequest("invalid_endDate", "A data de término da assinatura é inválida.")
		}
		sub.EndDate = end
	}
	return sub, nil
}

// charge makes the charge that is due next and moves nextDueDate one cycle on.
func (l Subscriptions) charge(sub *Subscription, now time.Time) *Payment {
	p := Payments(l).addPayment(&Payment{
		Customer: sub.Customer, Subscription: sub.ID, Value: sub.Value, Description: sub.Description,
		BillingType: sub.BillingType, Due: sub.NextDue, ExternalReference: sub.ExternalReference,
		CardToken: sub.CardToken, Authorization: sub.Authorization,
	}, now)
	p.CardShown = p.CardToken != "" && p.Due <= DayOf(now)
	sub.Charges++
	sub.NextDue = sub.NextDue.next(sub.Cycle, sub.Anchor)
	l.planCharge(sub)
	return p
}

// startCollection enters when money is asked for: a card in the morning of the due date, or soon when that is today;
// automatic PIX by an instruction.
func (l Subscriptions) startCollection(p *Payment, now time.Time) {
	switch {
	case p.Authorization != "":
		Debits(l).createInstruction(p, now)
	case p.CardToken != "":
		at := p.Due.at(7, 0)
		if soon := now.Add(l.chargeDelay); p.Due <= DayOf(now) || at.Before(soon) {
			at = soon
		}
		l.stage.Clock.At(at, jobCharge, p.ID)
	}
}

// planCharge enters the night in which the next charge is made. The gateway makes charges in a nightly run, so also a
// charge that is due within the span already is not made before the next one.
func (l Subscriptions) planCharge(sub *Subscription) {
	at := sub.NextDue.add(-l.Settings.ChargeDaysAhead).at(2, 0)
	if tonight := DayOf(l.stage.Clock.Now()).add(1).at(2, 0); at.Before(tonight) {
		at = tonight
	}
	l.stage.Clock.Cancel(jobNextCharge, sub.ID)
	l.stage.Clock.At(at, jobNextCharge, sub.ID)
}

// nextCharge is the nightly run for one subscription.
func (l Subscriptions) nextCharge(id string, now time.Time) {
	sub, ok := l.Subscriptions.Find(id)
	if !ok || sub.Deleted || sub.Status != StatusActive {
		return
	}
	if sub.EndDate != "" && sub.NextDue > sub.EndDate || sub.MaxPayments > 0 && sub.Charges >= sub.MaxPayments {
		sub.Status = StatusExpired
		l.emitSubscription(now, "SUBSCRIPTION_UPDATED", sub)
		return
	}
	l.makeNextCharge(sub, now)
}

func (l Subscriptions) makeNextCharge(sub *Subscription, now time.Time) *Payment {
	p := l.charge(sub, now)
	l.emitPayment(now, "PAYMENT_CREATED", p)
	if l.Settings.UpdateEventOnCharge {
		l.emitSubscription(now, "SUBSCRIPTION_UPDATED", sub)
	}
	l.startCollection(p, now)
	return p
}

// LiveSubscription finds a subscription that was not removed.
func (s *state) LiveSubscription(id string) (*Subscription, *APIError) {
	sub, ok := s.Subscriptions.Find(id)
	if !ok || sub.Deleted {
		return nil, NotFound()
	}
	return sub, nil
}

// Delete removes the subscription and its open charges; each tells its own event.
func (l Subscriptions) Delete(id string, now time.Time) *APIError {
	sub, err := l.LiveSubscription(id)
	if err != nil {
		return err
	}
	sub.Deleted, sub.Status = true, StatusInactive
	l.stage.Clock.Cancel(jobNextCharge, sub.ID)
	l.emitSubscription(now, "SUBSCRIPTION_DELETED", sub)
	for _, p := range l.openCharges(sub.ID) {
		Payments(l).removePayment(p, now)
	}
	return nil
}

// openCharges lists the unpaid charges of a subscription, newest first.
func (s *state) openCharges(subscription string) []*Payment {
	return s.Payments.Newest(func(p *Payment) bool { return p.Subscription == subscription && p.open() })
}

// ChangeCard puts another card under the subscription without charging it, pending charges included.
func (l Subscriptions) ChangeCard(id string, in CardFields, now time.Time) (*Subscription, *APIError) {
	sub, err := l.LiveSubscription(id)
	if err != nil {
		return nil, err
	}
	card, err := l.card(in, sub.Customer, now)
	if err != nil {
		return nil, err
	}
	sub.CardToken, sub.BillingType = card.Token, billingCard
	for _, p := range l.openCharges(sub.ID) {
		p.CardToken, p.BillingType = card.Token, billingCard
	}
	l.emitSubscription(now, "SUBSCRIPTION_UPDATED", sub)
	return sub, nil
}

// SubscriptionView is a subscription as it is printed.
type SubscriptionView struct {
	Object            string        `json:"object"`
	ID                string        `json:"id"`
	DateCreated       string        `json:"dateCreated"`
	Customer          string        `json:"customer"`
	PaymentLink       null          `json:"paymentLink"`
	Value             Cents         `json:"value"`
	NextDueDate       string        `json:"nextDueDate"`
	Cycle             string        `json:"cycle"`
	Description       *string       `json:"description"`
	BillingType       string        `json:"billingType"`
	Deleted           bool          `json:"deleted"`
	Status            string        `json:"status"`
	ExternalReference *string       `json:"externalReference"`
	CheckoutSession   null          `json:"checkoutSession"`
	PostalService     bool          `json:"sendPaymentByPostalService"`
	EndDate           string        `json:"endDate,omitempty"`
	MaxPayments       int           `json:"maxPayments,omitempty"`
	Discount          *discountView `json:"discount,omitempty"`
	Fine              termsView     `json:"fine"`
	Interest          termsView     `json:"interest"`
	Split             null          `json:"split"`
	CreditCard        *cardView     `json:"creditCard,omitempty"`
}

// SubscriptionView prints a subscription as the API answers it.
func (s *state) SubscriptionView(sub *Subscription) SubscriptionView {
	v := sub.view(ISOText)
	if card, ok := s.Cards.Find(sub.CardToken); ok && sub.BillingType == billingCard {
		v.CreditCard = card.view()
	}
	return v
}

// eventView prints a subscription as its events do: with slashed dates, a discount and no card (docs/gateway-facts.md,
// A10).
func (sub *Subscription) eventView(iso bool) SubscriptionView {
	format := Day.slashed
	if iso {
		format = ISOText
	}
	v := sub.view(format)
	v.Discount = &noDiscount
	return v
}

func (sub *Subscription) view(format func(Day) string) SubscriptionView {
	v := SubscriptionView{
		Object: "subscription", ID: sub.ID, DateCreated: format(sub.Created), Customer: sub.Customer, Value: sub.Value,
		NextDueDate: format(sub.NextDue), Cycle: sub.Cycle, Description: orNull(sub.Description),
		BillingType: sub.BillingType, Deleted: sub.Deleted, Status: sub.Status,
		ExternalReference: orNull(sub.ExternalReference), MaxPayments: sub.MaxPayments, Fine: noFine,
		Interest: noInterest,
	}
	if sub.EndDate != "" {
		v.EndDate = format(sub.EndDate)
	}
	return v
}
