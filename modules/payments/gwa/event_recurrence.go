package gwa

import (
	"encoding/json"
	"time"

	"marquee/modules/payments/gateway"
)

func (g *Gateway) subscriptionOf(env *envelope, e *gateway.Event) error {
	var s subscription
	if err := json.Unmarshal(env.Subscription, &s); err != nil || s.ID == "" {
		return errNoObject
	}
	n := s.neutral(g.cfg.Zone)
	e.Subscription = &n
	e.SubscriptionID, e.Reference, e.CustomerID = s.ID, reference(s.ExternalReference), string(s.Customer)
	return nil
}

// readMoved reads a new next due date, in either date form.
func (g *Gateway) readMoved(env *envelope, e *gateway.Event) error {
	if err := g.subscriptionOf(env, e); err != nil {
		return err
	}
	e.Kind = gateway.RecurrenceWasMoved
	return nil
}

// readEnded reads the end of a recurrence, which may be the echo of our own
// deleting.
func (g *Gateway) readEnded(env *envelope, e *gateway.Event) error {
	if err := g.subscriptionOf(env, e); err != nil {
		return err
	}
	e.Subscription.Status, e.Subscription.Inactive = gateway.RemoteCanceled, env.Event == "SUBSCRIPTION_INACTIVATED"
	e.Kind = gateway.RecurrenceWasEnded
	return nil
}

func (g *Gateway) readActivated(env *envelope, e *gateway.Event) error {
	return g.readAuthorization(env, e, gateway.AuthorizationWasActivated, gateway.AuthorizationActive)
}

func (g *Gateway) readCancelled(env *envelope, e *gateway.Event) error {
	return g.readAuthorization(env, e, gateway.AuthorizationWasCancelled, gateway.AuthorizationCancelled)
}

func (g *Gateway) readRefused(env *envelope, e *gateway.Event) error {
	return g.readAuthorization(env, e, gateway.AuthorizationWasRefused, gateway.AuthorizationRefused)
}

func (g *Gateway) readExpired(env *envelope, e *gateway.Event) error {
	return g.readAuthorization(env, e, gateway.AuthorizationHasExpired, gateway.AuthorizationExpired)
}

// readAuthorization reads the object under either key, or its bare id.
func (g *Gateway) readAuthorization(env *envelope, e *gateway.Event, kind gateway.EventKind, status gateway.AuthorizationStatus) error {
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
	e.Kind, e.Authorization = kind, &n
	e.AuthorizationID, e.Reference, e.ConciliationID, e.CustomerID = n.ID, n.SubscriptionID, n.ConciliationID, n.CustomerID
	e.SubscriptionID = string(a.SubscriptionID)
	return nil
}
