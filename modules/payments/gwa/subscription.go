package gwa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

type subscription struct {
	Object            string      `json:"object"`
	ID                string      `json:"id"`
	Customer          ref         `json:"customer"`
	Value             money.Reais `json:"value"`
	Status            string      `json:"status"`
	Deleted           bool        `json:"deleted"`
	DateCreated       date        `json:"dateCreated"`
	NextDueDate       date        `json:"nextDueDate"`
	ExternalReference *string     `json:"externalReference"`
}

// nativeDeleted is the status of what is deleted: the gateway keeps its last one.
const nativeDeleted = "DELETED"

func (s *subscription) neutral(zone *time.Location) gateway.RemoteSubscription {
	r := gateway.RemoteSubscription{
		GatewayID: s.ID, CustomerGatewayID: string(s.Customer), Status: recurrenceStatuses[s.Status],
		NativeStatus: s.Status,
		Outcome:      gateway.OutcomeUnknown, PaymentStatus: "PENDING", NextBilling: s.NextDueDate.in(zone),
	}
	if s.Deleted {
		r.Status, r.NativeStatus = gateway.RemoteCanceled, nativeDeleted
	}
	r.Inactive = s.Status == "INACTIVE" && !s.Deleted
	if at := s.DateCreated.in(zone); at != nil {
		r.CreatedAt = *at
	}
	return r
}

func (s *subscription) identity() reply.Identity {
	return reply.Identity{Object: s.Object, ID: s.ID, Reference: nullable.Value(s.ExternalReference)}
}

// recurrenceStatuses maps the gateway's three statuses to gateway B's words:
// EXPIRED and INACTIVE charge no more.
var recurrenceStatuses = map[string]gateway.RemoteStatus{
	"ACTIVE":   gateway.RemoteActive,
	"INACTIVE": gateway.RemoteCanceled,
	"EXPIRED":  gateway.RemoteCanceled,
}

// check wants a status that is known: another might be anything.
func (s *subscription) check(id string, local objectid.ID) error {
	if recurrenceStatuses[s.Status] == "" && !s.Deleted {
		return reply.Odd("it has no status")
	}
	return s.identity().Check(reply.Identity{Object: kindSubscription, ID: id, Reference: local.String()})
}

// subscription reads one, with the look that a 404 needs.
func (g *client) subscription(ctx context.Context, id string, local objectid.ID) (*subscription, error) {
	s, err := get(ctx, g, "/subscriptions/"+url.PathEscape(id), nil,
		func(s *subscription) error { return s.check(id, local) })
	return s, missing[subscription](ctx, g, err, "/subscriptions", id, local)
}

type subscriptionBody struct {
	Customer          string      `json:"customer"`
	BillingType       string      `json:"billingType"`
	Value             money.Reais `json:"value"`
	NextDueDate       string      `json:"nextDueDate"`
	Cycle             string      `json:"cycle"`
	Description       string      `json:"description,omitempty"`
	ExternalReference string      `json:"externalReference"`
	cardBody
}

// cardBody is a card in the clear. It exists for the time of one call and is
// never printed.
type cardBody struct {
	CreditCard *creditCard `json:"creditCard,omitempty"`
	Holder     *cardHolder `json:"creditCardHolderInfo,omitempty"`
	Token      string      `json:"creditCardToken,omitempty"` // stands for both
	RemoteIP   string      `json:"remoteIp,omitempty"`
}

type creditCard struct {
	HolderName  string `json:"holderName"`
	Number      string `json:"number"`
	ExpiryMonth string `json:"expiryMonth"`
	ExpiryYear  string `json:"expiryYear"`
	CCV         string `json:"ccv"`
}

type cardHolder struct {
	Name          string `json:"name"`
	Email         string `json:"email"`
	TaxID         string `json:"cpfCnpj"`
	PostalCode    string `json:"postalCode"`
	AddressNumber string `json:"addressNumber"`
	Phone         string `json:"phone"`
}

func cardOf(i gateway.Instrument) cardBody {
	b := cardBody{RemoteIP: i.RemoteIP, Token: i.CardToken.Reveal()}
	if b.Token != "" {
		return b
	}
	if c := i.Card; c != nil {
		b.CreditCard = &creditCard{
			HolderName: c.HolderName.Reveal(), Number: c.Number.Reveal(), CCV: c.CCV.Reveal(),
			ExpiryMonth: c.ExpiryMonth.Reveal(), ExpiryYear: c.ExpiryYear.Reveal(),
		}
	}
	if h := i.Holder; h != nil {
		b.Holder = &cardHolder{
			Name: h.Name, Email: h.Email, TaxID: h.TaxID, PostalCode: h.PostalCode, AddressNumber: h.AddressNumber,
			Phone: h.Phone,
		}
	}
	return b
}

// Subscribe makes a monthly card subscription whose first charge falls due on
// FirstDue; the gateway checks the card at once and charges it on that day
// (docs/gateway-facts.md, A4). The outcome of the charge comes by webhook.
func (g *recurrences) Subscribe(ctx context.Context, t gateway.SubscriptionTerms) (gateway.RemoteSubscription, error) {
	created, err := post(ctx, g.client,
		request{path: "/subscriptions", timeout: g.cfg.CardTimeout, body: subscriptionBody{
			Customer: t.Payer.GatewayID, BillingType: "CREDIT_CARD", Value: t.Amount.Reais(), Cycle: "MONTHLY",
			NextDueDate: g.dueDay(t.FirstDue), Description: t.PlanName, ExternalReference: t.SubscriptionID.String(),
			cardBody: cardOf(t.Instrument),
		}}, func(s *subscription) error { return s.check("", t.SubscriptionID) })
	if err != nil {
		return gateway.RemoteSubscription{}, refused(err)
	}
	sub, err := reply.Made(func() (*subscription, error) { return g.subscription(ctx, created.ID, t.SubscriptionID) })
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	if sub.Value.Cents() != t.Amount {
		return gateway.RemoteSubscription{}, g.undo(ctx, "subscription", sub.ID, t.SubscriptionID, g.CancelSubscription)
	}
	return g.withPayment(ctx, sub), nil
}

// refused tells a declined card from a wrong request: the codes are shared with
// other rules, and mean the card in the calls that carry one (docs/gateway-facts.md, A1).
func refused(err error) error {
	var r *gateway.Rejected
	if errors.As(err, &r) && (r.Code == "invalid_action" || r.Code == "invalid_creditCard") {
		return &gateway.Declined{Code: r.Code, Message: r.Message}
	}
	return err
}

// undo ends what was made of another amount than asked for. It is ours for sure: it
// was read by its id, with our reference.
func (g *client) undo(ctx context.Context, what, id string, local objectid.ID,
	end func(context.Context, string, objectid.ID) error,
) error {
	if err := end(ctx, id, local); err != nil {
		return fmt.Errorf("%w: the %s %s was made of another amount and not undone: %w", gateway.ErrOutcomeUnknown,
			what, id, reply.Unnamed(err))
	}
	return &gateway.Rejected{
		Code: "not_echoed", Message: "the " + what + " " + id + " was made of another amount, and undone",
	}
}

// withPayment adds the newest charge; without it the outcome stays unknown.
func (g *recurrences) withPayment(ctx context.Context, s *subscription) gateway.RemoteSubscription {
	r := s.neutral(g.cfg.Zone)
	charges, err := get(ctx, g.client, "/subscriptions/"+url.PathEscape(s.ID)+"/payments", nil, chargesOf(s.ID))
	if err != nil || len(charges.Data) == 0 {
		return r
	}
	newest := newestDue(charges.Data)
	n := g.asOfNow(newest)
	r.LatestPayment, r.PaymentStatus = &n, n.NativeStatus
	switch n.Status {
	case gateway.PaymentStatusSettled:
		r.Outcome = gateway.Succeeded
	case gateway.PaymentStatusFailed:
		r.Outcome = gateway.RequiresPaymentMethod
	}
	return r
}

// chargesOf wants a list of the charges of one recurrence.
func chargesOf(id string) func(*list[payment]) error {
	return func(l *list[payment]) error {
		for i := range l.Data {
			if string(l.Data[i].Subscription) != id {
				return reply.Odd("a charge in it is not of the subscription")
			}
		}
		return l.check()
	}
}

// newestDue is the newest charge that has been decided, else the one due first:
// the gateway makes charges up to 40 days ahead.
func newestDue(charges []payment) *payment {
	var decided, next *payment
	for i := range charges {
		c := &charges[i]
		if _, known := statuses[c.Status]; known && (decided == nil || c.DueDate > decided.DueDate) {
			decided = c
		}
		if next == nil || c.DueDate < next.DueDate {
			next = c
		}
	}
	if decided != nil {
		return decided
	}
	return next
}

// FindSubscription looks for the subscription that carries the local id.
func (g *recurrences) FindSubscription(ctx context.Context,
	t gateway.SubscriptionTerms,
) (gateway.RemoteSubscription, bool, error) {
	found, err := find(ctx, g.client, "/subscriptions", named(t.SubscriptionID), func(s *subscription) bool {
		return !s.Deleted && reference(s.ExternalReference) == t.SubscriptionID
	})
	return reply.Found(found, err, func(s *subscription) (gateway.RemoteSubscription, error) {
		return g.ReadSubscription(ctx, s.ID, t.SubscriptionID)
	})
}

// ReadSubscription reads it and its newest charge.
func (g *recurrences) ReadSubscription(ctx context.Context, gatewayID string,
	local objectid.ID,
) (gateway.RemoteSubscription, error) {
	s, err := g.subscription(ctx, gatewayID, local)
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	return g.withPayment(ctx, s), nil
}

// CancelSubscription deletes it and its open charges.
func (g *recurrences) CancelSubscription(ctx context.Context, gatewayID string, local objectid.ID) error {
	err := g.remove(ctx, "/subscriptions", gatewayID)
	return reply.Gone(missing[subscription](ctx, g.client, err, "/subscriptions", gatewayID, local))
}

var recurrenceEvents = meanings{read: map[string]reader{
	"SUBSCRIPTION_UPDATED":     (*events).readMoved,
	"SUBSCRIPTION_DELETED":     (*events).readEnded,
	"SUBSCRIPTION_INACTIVATED": (*events).readEnded,
}}

func (g *events) subscriptionOf(env *envelope, e *gateway.Event) (gateway.RemoteSubscription, error) {
	var s subscription
	if err := json.Unmarshal(env.Subscription, &s); err != nil || s.ID == "" {
		return gateway.RemoteSubscription{}, errNoObject
	}
	e.SubscriptionID, e.Reference, e.CustomerID = s.ID, reference(s.ExternalReference), string(s.Customer)
	return s.neutral(g.cfg.Zone), nil
}

// readMoved reads a new next due date, in either date form.
func (g *events) readMoved(env *envelope, e *gateway.Event) error {
	s, err := g.subscriptionOf(env, e)
	if err != nil {
		return err
	}
	e.Payload = gateway.RecurrenceMove{Subscription: s}
	return nil
}

// readEnded reads the end of a recurrence, which may be the echo of our own
// deleting.
func (g *events) readEnded(env *envelope, e *gateway.Event) error {
	s, err := g.subscriptionOf(env, e)
	if err != nil {
		return err
	}
	s.Status, s.Inactive = gateway.RemoteCanceled, env.Event == "SUBSCRIPTION_INACTIVATED"
	e.Payload = gateway.SubscriptionEnd{Subscription: s}
	return nil
}
