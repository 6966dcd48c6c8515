package gateway

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"marquee/platform/objectid"
)

// Adapter is a gateway with its side of the webhooks. The packages gwa and gwb
// make them.
type Adapter interface {
	Gateway
	// Authenticates judges a call by its headers, before a byte of its body is read: false
	// where no body can make it genuine. The signature is what the log may show of the
	// proof: empty where the proof is a secret.
	Authenticates(h http.Header, now time.Time) (signature string, ok bool)
	// Authenticate checks that the raw body comes from the gateway.
	Authenticate(h http.Header, body []byte, now time.Time) (signature string, proof Proof)
	// ReadEvent puts an authenticated body in neutral words. An event type without
	// consequence has the kind Ignored. It fails when the body is no event;
	// ID and Type are filled as far as they can be read.
	ReadEvent(body []byte) (Event, error)
	// Confirm reads what an event is about and gives the event as the gateway shows it
	// now: the ids, amounts and dates are the gateway's, the rest is the event's.
	// ErrMissing when the gateway does not show what the event tells; an event that
	// is signed is confirmed as it is.
	Confirm(ctx context.Context, e Event) (Event, error)
	// OnReply has f told, within the call, of each right answer, and with right false
	// of each that closes the whole account.
	OnReply(f func(ctx context.Context, right bool))
	// Probe asks something that changes nothing and costs one call; nil when the
	// answer is right.
	Probe(ctx context.Context) error
}

// Proof is what a webhook call proves.
type Proof int

// Proofs of a call.
const (
	Forged Proof = iota // that it comes from the gateway is not proved
	Skewed              // the gateway made it, at a time too far from ours
	Genuine
)

// Set are the gateways that are configured.
type Set map[Name]Adapter

// Find is the gateway of that name; ErrUnavailable when it is not configured.
func (s Set) Find(name Name) (Adapter, error) {
	g, ok := s[name]
	if !ok {
		return nil, fmt.Errorf("%w: %q is not configured", ErrUnavailable, name)
	}
	return g, nil
}

// Probe asks the gateway of the name something that costs nothing.
func (s Set) Probe(ctx context.Context, name Name) error {
	gateway, err := s.Find(name)
	if err != nil {
		return err
	}
	return gateway.Probe(ctx)
}

// ReadSettled reads by its id a payment that an event has told; local as in ReadPayment.
// ErrMissing: the gateway does not know it, or it is not paid.
func (s Set) ReadSettled(ctx context.Context, name Name, paymentID string, local objectid.ID) (Payment, error) {
	gateway, err := s.Find(name)
	if err != nil {
		return Payment{}, err
	}
	p, err := gateway.ReadPayment(ctx, paymentID, local)
	if err == nil && p.Status != PaymentStatusSettled {
		err = fmt.Errorf("%w: it is %s", ErrMissing, p.NativeStatus)
	}
	return p, err
}

type backgroundKey struct{}

// Background marks the calls to gateways made with the context as work that nobody
// waits for: checks, sweeps, reconciliation, the one that a login makes. When a
// gateway takes no more calls for the whole account they stop, and what a customer
// waits for (to subscribe, buy, cancel, get money back) goes on. Unmarked calls are
// such.
func Background(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// IsBackground tells which a call is.
func IsBackground(ctx context.Context) bool {
	marked, _ := ctx.Value(backgroundKey{}).(bool)
	return marked
}
