package gwa

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/platform/secret"
)

// Headers that carry the token: the gateway's own and the neutral one.
var tokenHeaders = []string{"Asaas-Access-Token", "Gwa-Access-Token"}

// Authenticates compares the token, in constant time. It is a secret, so there is no
// signature to show.
func (g *events) Authenticates(h http.Header, _ time.Time) (signature string, ok bool) {
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

// Authenticate is Authenticates: the token proves every body.
func (g *events) Authenticate(h http.Header, _ []byte, now time.Time) (signature string, proof gateway.Proof) {
	if _, ok := g.Authenticates(h, now); !ok {
		return "", gateway.Forged
	}
	return "", gateway.Genuine
}

type envelope struct {
	ID           string          `json:"id"`
	Event        string          `json:"event"`
	DateCreated  date            `json:"dateCreated"`
	Payment      json.RawMessage `json:"payment"`
	Subscription json.RawMessage `json:"subscription"`
	Instruction  json.RawMessage `json:"paymentInstruction"`
	// The gateway has named the authorization in two ways (docs/gateway-facts.md, A10); each
	// may be the object or its bare id.
	Authorization             json.RawMessage `json:"authorization"`
	PixAutomaticAuthorization json.RawMessage `json:"pixAutomaticAuthorization"`
}

type (
	reader       = func(g *events, env *envelope, e *gateway.Event) error
	confirmation = func(g *events, ctx context.Context, e gateway.Event) (gateway.Event, error)
)

// meanings are what the events about one kind of object say. They stand beside the object,
// with their readers and looks.
type meanings struct {
	read          map[string]reader                  // by the event's type; the others are without consequence
	confirmations map[gateway.EventKind]confirmation // what the gateway shows of it; the others are believed
}

var allMeanings = []meanings{
	paymentEvents, refundEvents, disputeEvents, recurrenceEvents, authorizationEvents, debitEvents,
}

// ReadEvent reads an event. Ids are kept whole: the part before the & is the
// same for all events of a type.
func (g *events) ReadEvent(body []byte) (gateway.Event, error) {
	var env envelope
	if err := json.Unmarshal(body, &env); err != nil {
		return gateway.Event{ID: env.ID, Type: env.Event}, errors.New("the body is no event object")
	}
	e := gateway.Event{Gateway: gateway.GWA, ID: env.ID, Type: env.Event}
	if at := env.DateCreated.in(g.cfg.Zone); at != nil {
		e.CreatedAt = *at
	}
	for _, m := range allMeanings {
		if read := m.read[env.Event]; read != nil {
			if err := read(g, &env, &e); err != nil {
				return gateway.Event{Gateway: gateway.GWA, ID: env.ID, Type: env.Event},
					fmt.Errorf("object of %s: %w", env.Event, err)
			}
		}
	}
	return e, nil
}

// Confirm reads the object of an event: webhooks carry a token that proves nothing of
// their body.
func (g *events) Confirm(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	for _, m := range allMeanings {
		confirm := m.confirmations[e.Kind()]
		if confirm == nil {
			continue
		}
		live, err := confirm(g, ctx, e)
		if errors.Is(err, errNotThere) {
			err = fmt.Errorf("%w: %w", gateway.ErrMissing, err)
		}
		return live, err
	}
	return e, nil
}

// errNoObject quotes nothing of the body, which may hold anything.
var errNoObject = errors.New("cannot be read")

func unconfirmed(status string) error {
	return fmt.Errorf("%w: it is %s", gateway.ErrMissing, status)
}

var paymentEvents = meanings{
	read: map[string]reader{
		"PAYMENT_CONFIRMED":                   ofPayment((*events).readSettled),
		"PAYMENT_RECEIVED":                    ofPayment((*events).readSettled),
		"PAYMENT_OVERDUE":                     ofPayment((*events).readFailed),
		"PAYMENT_CREDIT_CARD_CAPTURE_REFUSED": ofPayment((*events).readFailed),
		"PAYMENT_REPROVED_BY_RISK_ANALYSIS":   ofPayment((*events).readFailed),
		"PAYMENT_DELETED":                     ofPayment((*events).readDeleted),
	},
	confirmations: map[gateway.EventKind]confirmation{
		gateway.PaymentSettled: (*events).confirmSettled,
		gateway.PaymentFailed:  (*events).confirmFailed,
	},
}

// ofPayment reads the payment object, and how its row is found, for a reader of what the
// event says of it.
func ofPayment(read func(g *events, p *payment, e *gateway.Event)) reader {
	return func(g *events, env *envelope, e *gateway.Event) error {
		var p payment
		if err := json.Unmarshal(env.Payment, &p); err != nil || p.ID == "" {
			return errNoObject
		}
		*e = g.about(&p, env, *e)
		read(g, &p, e)
		return nil
	}
}

// about says whom a payment concerns: charges of a subscription, too, carry the reference of
// the row that made it.
func (*client) about(p *payment, env *envelope, e gateway.Event) gateway.Event {
	e.SubscriptionID, e.CustomerID, e.ConciliationID = string(p.Subscription), string(p.Customer), p.PixQRCodeID
	e.AuthorizationID = firstID(p.PixAutomaticAuthorizationID, p.PixAutomaticAuthorization, idOf(env.Authorization),
		idOf(env.PixAutomaticAuthorization))
	e.Reference = reference(p.ExternalReference)
	return e
}

// live is the event about the payment as it was read. The payment need not name its
// authorization.
func (g *events) live(p *payment, e gateway.Event) gateway.Event {
	authorizationID := e.AuthorizationID
	e = g.about(p, &envelope{}, e)
	if e.AuthorizationID == "" {
		e.AuthorizationID = authorizationID
	}
	return e
}

// readSettled reads a payment that counts.
func (g *client) readSettled(p *payment, e *gateway.Event) {
	n := p.neutral(g.cfg.Zone)
	n.Status, n.SettledAt = gateway.PaymentStatusSettled, g.settledAt(p, e.CreatedAt)
	e.Payload = gateway.SettledPayment{Payment: n}
}

func (g *events) confirmSettled(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	p, err := g.payment(ctx, e.PaymentID(), "")
	if err != nil {
		return e, err
	}
	if p.neutral(g.cfg.Zone).Status != gateway.PaymentStatusSettled && p.report(g.cfg.Zone, e.CreatedAt).Total == 0 &&
		p.dispute(e.CreatedAt) == nil {
		return e, unconfirmed(p.Status)
	}
	e = g.live(p, e)
	g.readSettled(p, &e)
	return e, nil
}

// readFailed reads a charge that nobody paid in time or that the card refused.
// Both are told of one charge, as its first attempt: the gateway numbers none.
func (g *events) readFailed(p *payment, e *gateway.Event) {
	n := p.neutral(g.cfg.Zone)
	if n.Method == gateway.MethodCard {
		n.Status = gateway.PaymentStatusFailed // a PIX that is overdue can still be paid
	}
	e.Payload = gateway.FailedPayment{Payment: n, Attempt: 1}
}

// confirmFailed: a charge of a card failed that is overdue, or was refused on the day that
// it was due.
func (g *events) confirmFailed(ctx context.Context, e gateway.Event) (gateway.Event, error) {
	reported, _ := e.Payload.(gateway.FailedPayment)
	p, err := g.payment(ctx, reported.Payment.ID, "")
	if err != nil {
		return e, err
	}
	n := p.neutral(g.cfg.Zone)
	due := n.DueDate != nil && !n.DueDate.After(g.cfg.Clock.Now())
	if n.Status == gateway.PaymentStatusSettled || p.Status == "REFUNDED" ||
		e.Type == "PAYMENT_OVERDUE" && p.Status != "OVERDUE" || !due {
		return e, unconfirmed(p.Status)
	}
	e = g.live(p, e)
	if n.Method == gateway.MethodCard {
		n.Status = gateway.PaymentStatusFailed
	}
	reported.Payment = n
	e.Payload = reported
	return e, nil
}

func (g *events) readDeleted(p *payment, e *gateway.Event) {
	n := p.neutral(g.cfg.Zone)
	n.Status = gateway.PaymentStatusGone
	e.Payload = gateway.DeletedPayment{Payment: n}
}
