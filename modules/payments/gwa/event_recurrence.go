package gwa

import (
	"encoding/json"
	"time"

	"marquee/modules/payments/gateway"
)

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

func (g *events) readActivated(env *envelope, e *gateway.Event) error {
	return g.readAuthorization(env, e, gateway.AuthorizationActive)
}

func (g *events) readCancelled(env *envelope, e *gateway.Event) error {
	return g.readAuthorization(env, e, gateway.AuthorizationCancelled)
}

func (g *events) readRefused(env *envelope, e *gateway.Event) error {
	return g.readAuthorization(env, e, gateway.AuthorizationRefused)
}

func (g *events) readExpired(env *envelope, e *gateway.Event) error {
	return g.readAuthorization(env, e, gateway.AuthorizationExpired)
}

// readAuthorization reads the object under either key, or its bare id.
func (g *events) readAuthorization(env *envelope, e *gateway.Event, status gateway.AuthorizationStatus) error {
	raw := env.Authorization
	if idOf(raw) == "" {
		raw = env.PixAutomaticAuthorization
	}
	var a authorization
	if json.Unmarshal(raw, &a) != nil || a.ID == "" {
		a = authorization{ID: string(idOf(raw))}
	}
	if a.ID == "" {
		return errNoObject
	}
	n := a.neutral(g.cfg.Zone, time.Time{})
	n.Status, n.Payload, n.EncodedImage = status, "", ""
	e.Payload = gateway.AuthorizationChange{Authorization: n}
	e.AuthorizationID, e.Reference, e.ConciliationID, e.CustomerID = n.ID, n.SubscriptionID, n.ConciliationID, n.CustomerID
	e.SubscriptionID = string(a.SubscriptionID)
	return nil
}
