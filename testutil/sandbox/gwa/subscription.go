package gwa

import "time"

// Subscription makes charges by itself (docs/gateway-facts.md, A4).
type Subscription struct {
	ID                string `json:"id"`
	Order             int64  `json:"order"`
	Customer          string `json:"customer"`
	Created           day    `json:"created"`
	Value             Cents  `json:"value"`
	NextDue           day    `json:"nextDue"`
	Anchor            int    `json:"anchor"`
	Cycle             string `json:"cycle"`
	Description       string `json:"description,omitempty"`
	BillingType       string `json:"billingType"`
	Status            string `json:"status"`
	ExternalReference string `json:"externalReference,omitempty"`
	EndDate           day    `json:"endDate,omitempty"`
	MaxPayments       int    `json:"maxPayments,omitempty"`
	Charges           int    `json:"charges"`
	CardToken         string `json:"cardToken,omitempty"`
	Authorization     string `json:"authorization,omitempty"`
	Deleted           bool   `json:"deleted,omitempty"`
	// FailNext makes the next charge that falls due be refused; only controls set it.
	FailNext bool `json:"failNext,omitempty"`
}

type subscriptionInput struct {
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
	cardFields
}

// createSubscription checks everything, the card too, makes the first charge at once and answers with nextDueDate one
// cycle on. The card is charged on the due date, not here.
func (g *Gateway) createSubscription(in subscriptionInput, now time.Time) (*Subscription, *apiError) {
	if _, err := g.liveCustomer(in.Customer); err != nil {
		return nil, err
	}
	sub, err := in.subscription(g.Settings, now)
	if err != nil {
		return nil, err
	}
	if in.BillingType == billingCard {
		card, err := g.card(in.cardFields, in.Customer, now)
		if err != nil {
			return nil, err
		}
		sub.CardToken = card.Token
	}
	g.addSubscription(sub, now)
	return sub, nil
}

// addSubscription numbers and keeps a subscription and makes its first charge.
func (g *Gateway) addSubscription(sub *Subscription, now time.Time) {
	sub.ID, sub.Order, sub.Created = objectID("sub_"), g.order(), dayOf(now)
	sub.Status, sub.Anchor = statusActive, sub.NextDue.dayOfMonth()
	g.Subscriptions.Put(sub.ID, sub)
	first := g.charge(sub, now)
	g.emitPayment(now, "PAYMENT_CREATED", first)
	g.emitSubscription(now, "SUBSCRIPTION_CREATED", sub)
	g.startCollection(first, now)
}

func (in subscriptionInput) subscription(settings Settings, now time.Time) (*Subscription, *apiError) {
	payment := paymentInput{
		BillingType: in.BillingType, Value: in.Value, DueDate: in.NextDueDate, Description: in.Description,
	}
	value, due, err := payment.check(settings, now)
	if err != nil {
		return nil, err
	}
	if !knownCycle(in.Cycle) {
		return nil, badRequest("invalid_cycle", "O campo cycle deve ser informado.")
	}
	sub := &Subscription{
		Customer: in.Customer, Value: value, NextDue: due, Cycle: in.Cycle, Description: in.Description,
		BillingType: in.BillingType, ExternalReference: string(in.ExternalReference), MaxPayments: in.MaxPayments,
	}
	if in.EndDate != "" {
		end, err := parseDay(in.EndDate)
		if err != nil || end < due {
			return nil, badRequest("invalid_endDate", "A data de término da assinatura é inválida.")
		}
		sub.EndDate = end
	}
	return sub, nil
}

// charge makes the charge that is due next and moves nextDueDate one cycle on.
func (g *Gateway) charge(sub *Subscription, now time.Time) *Payment {
	p := g.addPayment(&Payment{
		Customer: sub.Customer, Subscription: sub.ID, Value: sub.Value, Description: sub.Description,
		BillingType: sub.BillingType, Due: sub.NextDue, ExternalReference: sub.ExternalReference,
		CardToken: sub.CardToken, Authorization: sub.Authorization,
	}, now)
	p.CardShown = p.CardToken != "" && p.Due <= dayOf(now)
	sub.Charges++
	sub.NextDue = sub.NextDue.next(sub.Cycle, sub.Anchor)
	g.planCharge(sub)
	return p
}

// startCollection enters when money is asked for: a card in the morning of the due date, or soon when that is today;
// automatic PIX by an instruction.
func (g *Gateway) startCollection(p *Payment, now time.Time) {
	switch {
	case p.Authorization != "":
		g.createInstruction(p, now)
	case p.CardToken != "":
		at := p.Due.at(7, 0)
		if soon := now.Add(g.chargeDelay); p.Due <= dayOf(now) || at.Before(soon) {
			at = soon
		}
		g.stage.Clock.At(at, jobCharge, p.ID)
	}
}

// planCharge enters the night in which the next charge is made. The gateway makes charges in a nightly run, so also a
// charge that is due within the span already is not made before the next one.
func (g *Gateway) planCharge(sub *Subscription) {
	at := sub.NextDue.add(-g.Settings.ChargeDaysAhead).at(2, 0)
	if tonight := dayOf(g.stage.Clock.Now()).add(1).at(2, 0); at.Before(tonight) {
		at = tonight
	}
	g.stage.Clock.Cancel(jobNextCharge, sub.ID)
	g.stage.Clock.At(at, jobNextCharge, sub.ID)
}

// nextCharge is the nightly run for one subscription.
func (g *Gateway) nextCharge(id string, now time.Time) {
	sub, ok := g.Subscriptions.Find(id)
	if !ok || sub.Deleted || sub.Status != statusActive {
		return
	}
	if sub.EndDate != "" && sub.NextDue > sub.EndDate || sub.MaxPayments > 0 && sub.Charges >= sub.MaxPayments {
		sub.Status = statusExpired
		g.emitSubscription(now, "SUBSCRIPTION_UPDATED", sub)
		return
	}
	g.makeNextCharge(sub, now)
}

func (g *Gateway) makeNextCharge(sub *Subscription, now time.Time) *Payment {
	p := g.charge(sub, now)
	g.emitPayment(now, "PAYMENT_CREATED", p)
	if g.Settings.UpdateEventOnCharge {
		g.emitSubscription(now, "SUBSCRIPTION_UPDATED", sub)
	}
	g.startCollection(p, now)
	return p
}

// chargeCard is the collection of a charge on its due date; the result is told by webhook alone.
func (g *Gateway) chargeCard(id string, now time.Time) {
	p, ok := g.Payments.Find(id)
	if !ok || !p.open() || p.BillingType != billingCard || p.Due > dayOf(now) {
		return
	}
	card := g.Cards.Get(p.CardToken)
	if sub, ok := g.Subscriptions.Find(p.Subscription); ok && sub.FailNext {
		sub.FailNext, p.FailNext = false, true
	}
	if p.FailNext || card == nil || card.Declines {
		p.FailNext, p.CardShown = false, false
		g.emitPayment(now, "PAYMENT_CREDIT_CARD_CAPTURE_REFUSED", p)
		return
	}
	p.CardShown = true
	g.markConfirmed(p, now)
	g.emitPayment(now, "PAYMENT_CONFIRMED", p)
}

func (s *state) liveSubscription(id string) (*Subscription, *apiError) {
	sub, ok := s.Subscriptions.Find(id)
	if !ok || sub.Deleted {
		return nil, notFound()
	}
	return sub, nil
}

// deleteSubscription removes the subscription and its open charges; each tells its own event.
func (g *Gateway) deleteSubscription(id string, now time.Time) *apiError {
	sub, err := g.liveSubscription(id)
	if err != nil {
		return err
	}
	sub.Deleted, sub.Status = true, statusInactive
	g.stage.Clock.Cancel(jobNextCharge, sub.ID)
	g.emitSubscription(now, "SUBSCRIPTION_DELETED", sub)
	for _, p := range g.openCharges(sub.ID) {
		g.removePayment(p, now)
	}
	return nil
}

// openCharges lists the unpaid charges of a subscription, newest first.
func (s *state) openCharges(subscription string) []*Payment {
	return s.Payments.Newest(func(p *Payment) bool { return p.Subscription == subscription && p.open() })
}

// changeCard puts another card under the subscription without charging it, pending charges included.
func (g *Gateway) changeCard(id string, in cardFields, now time.Time) (*Subscription, *apiError) {
	sub, err := g.liveSubscription(id)
	if err != nil {
		return nil, err
	}
	card, err := g.card(in, sub.Customer, now)
	if err != nil {
		return nil, err
	}
	sub.CardToken, sub.BillingType = card.Token, billingCard
	for _, p := range g.openCharges(sub.ID) {
		p.CardToken, p.BillingType = card.Token, billingCard
	}
	g.emitSubscription(now, "SUBSCRIPTION_UPDATED", sub)
	return sub, nil
}

type subscriptionView struct {
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

// subscriptionView prints a subscription as the API answers it.
func (s *state) subscriptionView(sub *Subscription) subscriptionView {
	v := sub.view(isoText)
	if card, ok := s.Cards.Find(sub.CardToken); ok && sub.BillingType == billingCard {
		v.CreditCard = card.view()
	}
	return v
}

// eventView prints a subscription as its events do: with slashed dates, a discount and no card (docs/gateway-facts.md,
// A10).
func (sub *Subscription) eventView(iso bool) subscriptionView {
	format := day.slashed
	if iso {
		format = isoText
	}
	v := sub.view(format)
	v.Discount = &noDiscount
	return v
}

func (sub *Subscription) view(format func(day) string) subscriptionView {
	v := subscriptionView{
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
