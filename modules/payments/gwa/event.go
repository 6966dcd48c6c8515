package gwa

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"marquee/modules/payments"
	"marquee/platform/secret"
)

// Headers that carry the token: the gateway's own and the neutral one.
var tokenHeaders = []string{"Asaas-Access-Token", "Gwa-Access-Token"}

// Authenticate compares the token, in constant time. It is a secret, so there is
// no signature to show.
func (g *Gateway) Authenticate(h http.Header, _ []byte, _ time.Time) (signature string, ok bool) {
	for _, name := range tokenHeaders {
		given := sha256.Sum256([]byte(h.Get(name)))
		for _, token := range g.cfg.WebhookTokens {
			want := sha256.Sum256([]byte(token))
			if token != "" && secret.Equal(given[:], want[:]) {
				ok = true
			}
		}
	}
	return "", ok
}

type envelope struct {
	ID          string          `json:"id"`
	Event       string          `json:"event"`
	DateCreated date            `json:"dateCreated"`
	Payment     json.RawMessage `json:"payment"`
	// The specification and the gateway name the authorization differently.
	Authorization             ref `json:"authorization"`
	PixAutomaticAuthorization ref `json:"pixAutomaticAuthorization"`
}

// readers say what each event type means; the others are without consequence.
var readers = map[string]func(g *Gateway, env *envelope, e *payments.Event) error{
	"PAYMENT_CONFIRMED": (*Gateway).readSettled,
	"PAYMENT_RECEIVED":  (*Gateway).readSettled,
}

// ReadEvent reads an event. Ids are kept whole: the part before the & is the
// same for all events of a type.
func (g *Gateway) ReadEvent(body []byte) (payments.Event, error) {
	var env envelope
	if err := json.Unmarshal(body, &env); err != nil {
		return payments.Event{ID: env.ID, Type: env.Event}, errors.New("the body is no event object")
	}
	e := payments.Event{Gateway: payments.GWA, ID: env.ID, Type: env.Event}
	if at := env.DateCreated.in(g.cfg.Zone); at != nil {
		e.CreatedAt = *at
	}
	reader, known := readers[env.Event]
	if !known {
		return e, nil
	}
	if err := reader(g, &env, &e); err != nil {
		return payments.Event{Gateway: payments.GWA, ID: env.ID, Type: env.Event}, fmt.Errorf("object of %s: %w", env.Event, err)
	}
	return e, nil
}

// readSettled reads a payment that counts. A reference counts only without a
// subscription (specification, Gateway A events): charges of a subscription
// carry the reference of the row that made it.
func (g *Gateway) readSettled(env *envelope, e *payments.Event) error {
	var p payment
	if err := json.Unmarshal(env.Payment, &p); err != nil || p.ID == "" {
		return errors.New("cannot be read") // nothing of the body is quoted
	}
	n := p.neutral(g.cfg.Zone)
	n.Status = payments.PaymentSettled
	n.SettledAt = g.settledAt(&p, e.CreatedAt)
	e.Kind, e.Payment = payments.PaymentWasSettled, &n
	e.SubscriptionID, e.CustomerID, e.ConciliationID = string(p.Subscription), string(p.Customer), p.PixQRCodeID
	e.AuthorizationID = firstID(p.PixAutomaticAuthorizationID, p.PixAutomaticAuthorization, env.Authorization, env.PixAutomaticAuthorization)
	if p.Subscription == "" {
		e.Reference = reference(p.ExternalReference)
	}
	return nil
}

// settledAt is the event's own instant when it is of the day on which the
// payment says that it was made, since that day has no time; else the day.
func (g *Gateway) settledAt(p *payment, eventAt time.Time) *time.Time {
	paid := firstDate(g.cfg.Zone, p.ConfirmedDate, p.ClientPaymentDate, p.PaymentDate)
	if eventAt.IsZero() {
		return paid
	}
	if paid == nil || day(*paid, g.cfg.Zone) == day(eventAt, g.cfg.Zone) {
		return &eventAt
	}
	return paid
}

func firstID(ids ...ref) string {
	for _, id := range ids {
		if id != "" {
			return string(id)
		}
	}
	return ""
}
