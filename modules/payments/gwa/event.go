package gwa

import (
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

// Admits compares the token, in constant time. It is a secret, so there is no
// signature to show.
func (g *events) Admits(h http.Header, _ time.Time) (signature string, ok bool) {
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

// Authenticate is Admits: the token proves every body.
func (g *events) Authenticate(h http.Header, _ []byte, now time.Time) (signature string, proof gateway.Proof) {
	if _, ok := g.Admits(h, now); !ok {
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
	// The specification and the gateway name the authorization differently; each
	// may be the object or its bare id.
	Authorization             json.RawMessage `json:"authorization"`
	PixAutomaticAuthorization json.RawMessage `json:"pixAutomaticAuthorization"`
}

// readers say what each event type means; the others are without consequence.
var readers = map[string]func(g *events, env *envelope, e *gateway.Event) error{
	"PAYMENT_CONFIRMED": (*events).readSettled,
	"PAYMENT_RECEIVED":  (*events).readSettled,

	"PAYMENT_OVERDUE":                     (*events).readFailed,
	"PAYMENT_CREDIT_CARD_CAPTURE_REFUSED": (*events).readFailed,
	"PAYMENT_REPROVED_BY_RISK_ANALYSIS":   (*events).readFailed,
	"PAYMENT_DELETED":                     (*events).readDeleted,

	"PAYMENT_REFUNDED":           (*events).readRefunded,
	"PAYMENT_PARTIALLY_REFUNDED": (*events).readRefunded,
	"PAYMENT_REFUND_IN_PROGRESS": (*events).readRefundInProgress,
	"PAYMENT_REFUND_DENIED":      (*events).readRefundDenied,

	"PAYMENT_CHARGEBACK_REQUESTED":         (*events).readDisputed,
	"PAYMENT_CHARGEBACK_DISPUTE":           (*events).readDisputed,
	"PAYMENT_AWAITING_CHARGEBACK_REVERSAL": (*events).readDisputeWon,

	"SUBSCRIPTION_UPDATED":     (*events).readMoved,
	"SUBSCRIPTION_DELETED":     (*events).readEnded,
	"SUBSCRIPTION_INACTIVATED": (*events).readEnded,

	"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_ACTIVATED":       (*events).readActivated,
	"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_CANCELLED":       (*events).readCancelled,
	"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_REFUSED":         (*events).readRefused,
	"PIX_AUTOMATIC_RECURRING_AUTHORIZATION_EXPIRED":         (*events).readExpired,
	"PIX_AUTOMATIC_RECURRING_PAYMENT_INSTRUCTION_REFUSED":   (*events).readDebitRefused,
	"PIX_AUTOMATIC_RECURRING_PAYMENT_INSTRUCTION_CANCELLED": (*events).readDebitCancelled,
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
	reader, known := readers[env.Event]
	if !known {
		return e, nil
	}
	if err := reader(g, &env, &e); err != nil {
		return gateway.Event{Gateway: gateway.GWA, ID: env.ID, Type: env.Event}, fmt.Errorf("object of %s: %w", env.Event, err)
	}
	return e, nil
}

// errNoObject quotes nothing of the body, which may hold anything.
var errNoObject = errors.New("cannot be read")

// settledAt is the event's own instant when it is of the day on which the
// payment says that it was made, since that day has no time; else the day.
func (g *client) settledAt(p *payment, eventAt time.Time) *time.Time {
	paid := firstDate(g.cfg.Zone, p.ConfirmedDate, p.ClientPaymentDate, p.PaymentDate)
	if eventAt.IsZero() {
		return paid
	}
	if paid == nil || day(*paid, g.cfg.Zone) == day(eventAt, g.cfg.Zone) {
		return &eventAt
	}
	return paid
}

// asOfNow is a payment that was read. Money that came today came now: its day has no
// time, and a period that is paid would begin with the day.
func (g *client) asOfNow(p *payment) gateway.Payment {
	n := p.neutral(g.cfg.Zone)
	if n.Status == gateway.PaymentSettled {
		n.SettledAt = g.settledAt(p, g.cfg.Clock.Now())
	}
	return n
}

func idOf(raw json.RawMessage) ref {
	var id ref
	if len(raw) > 0 {
		_ = id.UnmarshalJSON(raw)
	}
	return id
}

func firstID(ids ...ref) string {
	for _, id := range ids {
		if id != "" {
			return string(id)
		}
	}
	return ""
}
