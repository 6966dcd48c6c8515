package gwb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments"
	"marquee/platform/secret"
)

// kindSubscription stands in the metadata of card subscriptions.
const kindSubscription = "subscription"

// Expansions that the answers about one subscription need; four levels are the
// gateway's limit.
var expansions = []string{"latest_invoice.confirmation_secret", "latest_invoice.payments"}

// Subscribe attaches the card and starts the subscription, which charges it at
// once (section 6). After a refused first payment the subscription is cancelled
// at the gateway, since its invoice could be paid for another 23 hours; the
// error is then *payments.Declined with Remote.
func (g *Gateway) Subscribe(ctx context.Context, t payments.SubscriptionTerms) (payments.RemoteSubscription, error) {
	card, err := g.attachCard(ctx, t.Payer.GatewayID, t.Instrument.PaymentMethodID, t.SubscriptionID.String())
	if err != nil {
		return payments.RemoteSubscription{}, err
	}
	raw, err := write(ctx, g, func(ctx context.Context) ([]byte, error) {
		sub, err := g.api.V1Subscriptions.Create(ctx, subscriptionParams(t, card.ID))
		if err != nil {
			return nil, err
		}
		return sub.LastResponse.RawJSON, nil
	})
	if err != nil {
		return payments.RemoteSubscription{}, err
	}
	sub, err := g.judge(ctx, raw)
	if err != nil {
		return payments.RemoteSubscription{}, err
	}
	if sub.Outcome == payments.RequiresPaymentMethod {
		return g.endDeclined(ctx, sub)
	}
	return sub.RemoteSubscription, nil
}

func subscriptionParams(t payments.SubscriptionTerms, card string) *stripe.SubscriptionCreateParams {
	p := &stripe.SubscriptionCreateParams{
		Customer:             stripe.String(t.Payer.GatewayID),
		Items:                []*stripe.SubscriptionCreateItemParams{{Price: stripe.String(t.PriceID)}},
		DefaultPaymentMethod: stripe.String(card),
		PaymentBehavior:      stripe.String("allow_incomplete"),
		PaymentSettings: &stripe.SubscriptionCreatePaymentSettingsParams{
			PaymentMethodTypes:       stripe.StringSlice([]string{"card"}),
			SaveDefaultPaymentMethod: stripe.String("on_subscription"),
		},
		Metadata: map[string]string{
			metaSubscription: t.SubscriptionID.String(), metaCustomer: t.Payer.CustomerID.String(), metaKind: kindSubscription,
		},
	}
	if t.TrialDays > 0 {
		p.TrialPeriodDays = stripe.Int64(int64(t.TrialDays))
	}
	for _, e := range expansions {
		p.AddExpand(e)
	}
	p.SetIdempotencyKey("sub-" + t.SubscriptionID.String())
	return p
}

// judgedSubscription is a subscription with why its payment was refused.
type judgedSubscription struct {
	payments.RemoteSubscription
	declined payments.Declined
}

// judge reads an answer and, while the first payment is open, the payment
// intent, whose status decides (section 6.3). An answer repeated by its
// idempotency key may be old: when the intent has moved on, it is read anew.
func (g *Gateway) judge(ctx context.Context, raw []byte) (judgedSubscription, error) {
	o, err := decoded(raw)
	if err != nil {
		return judgedSubscription{}, err
	}
	if o.Status != string(payments.RemoteIncomplete) {
		return settled(o), nil
	}
	intent, err := g.intentOf(ctx, o)
	if err != nil {
		return judgedSubscription{RemoteSubscription: open(o, payments.OutcomeUnknown, "unknown")}, nil //nolint:nilerr // the subscription is there; its payment is told later
	}
	if intent.Status == stripe.PaymentIntentStatusSucceeded || intent.Status == stripe.PaymentIntentStatusCanceled {
		if raw, err = g.retrieve(ctx, o.ID); err != nil {
			return judgedSubscription{RemoteSubscription: open(o, payments.OutcomeUnknown, "unknown")}, nil //nolint:nilerr // as above
		}
		if o, err = decoded(raw); err != nil {
			return judgedSubscription{}, err
		}
		if o.Status != string(payments.RemoteIncomplete) {
			return settled(o), nil
		}
	}
	return judgedByIntent(o, intent), nil
}

func decoded(raw []byte) (*subscriptionObject, error) {
	var o subscriptionObject
	if err := json.Unmarshal(raw, &o); err != nil || o.ID == "" {
		return nil, fmt.Errorf("%w: the answer is no subscription", payments.ErrOutcomeUnknown)
	}
	return &o, nil
}

// settled is a subscription whose status says all.
func settled(o *subscriptionObject) judgedSubscription {
	r := o.neutral()
	switch r.Status {
	case payments.RemoteActive, payments.RemoteTrialing:
		r.Outcome = payments.Succeeded
	case payments.RemotePastDue, payments.RemoteUnpaid, payments.RemoteCanceled, payments.RemoteIncompleteExpired:
		r.Outcome = payments.RequiresPaymentMethod
	default:
		r.Outcome = payments.OutcomeUnknown
	}
	r.PaymentStatus = string(r.Outcome)
	return judgedSubscription{RemoteSubscription: r}
}

// open is a subscription whose first payment has not succeeded.
func open(o *subscriptionObject, outcome payments.Outcome, status string) payments.RemoteSubscription {
	r := o.neutral()
	r.Outcome, r.PaymentStatus = outcome, status
	return r
}

func judgedByIntent(o *subscriptionObject, intent *stripe.PaymentIntent) judgedSubscription {
	switch intent.Status {
	case stripe.PaymentIntentStatusRequiresAction, stripe.PaymentIntentStatusRequiresConfirmation:
		r := open(o, payments.RequiresAction, string(payments.RequiresAction))
		r.ClientSecret = secret.NewText(o.LatestInvoice.clientSecret())
		if r.ClientSecret.Empty() {
			r.ClientSecret = secret.NewText(intent.ClientSecret)
		}
		return judgedSubscription{RemoteSubscription: r}
	case stripe.PaymentIntentStatusRequiresPaymentMethod:
		j := judgedSubscription{RemoteSubscription: open(o, payments.RequiresPaymentMethod, string(payments.RequiresPaymentMethod))}
		j.LatestPayment.Status = payments.PaymentFailed
		if e := intent.LastPaymentError; e != nil {
			j.declined.Code, j.declined.Message = declineCode(e), e.Msg
		}
		return j
	}
	return judgedSubscription{RemoteSubscription: open(o, payments.OutcomeUnknown, "unknown")}
}

// intentOf reads the payment intent of the first invoice.
func (g *Gateway) intentOf(ctx context.Context, o *subscriptionObject) (*stripe.PaymentIntent, error) {
	id := o.LatestInvoice.intent()
	if id == "" {
		return nil, payments.ErrGatewayMissing
	}
	return read(ctx, g, func(ctx context.Context) (*stripe.PaymentIntent, error) {
		return g.api.V1PaymentIntents.Retrieve(ctx, id, nil)
	})
}

// endDeclined cancels what a refused payment left. Should it have been paid
// meanwhile, it is active after all.
func (g *Gateway) endDeclined(ctx context.Context, sub judgedSubscription) (payments.RemoteSubscription, error) {
	if sub.declined.Code == "" {
		sub.declined = payments.Declined{Code: "card_declined", Message: "Your card was declined."}
	}
	declined := &sub.declined
	remote := sub.RemoteSubscription
	declined.Remote = &remote
	if sub.Status != payments.RemoteIncomplete {
		return payments.RemoteSubscription{}, declined
	}
	if err := g.CancelSubscription(ctx, sub.GatewayID); err != nil {
		return payments.RemoteSubscription{}, declined // its status tells that it still has to be ended
	}
	now, err := g.ReadSubscription(ctx, sub.GatewayID)
	if err == nil && (now.Status == payments.RemoteActive || now.Status == payments.RemoteTrialing) {
		return now, nil
	}
	remote.Status = payments.RemoteCanceled
	return payments.RemoteSubscription{}, declined
}

// FindSubscription looks through the payer's subscriptions, ended ones too, for
// the one that carries the local id.
func (g *Gateway) FindSubscription(ctx context.Context, t payments.SubscriptionTerms) (payments.RemoteSubscription, bool, error) {
	if t.Payer.GatewayID == "" {
		return payments.RemoteSubscription{}, false, nil
	}
	id, err := read(ctx, g, func(ctx context.Context) (string, error) {
		p := &stripe.SubscriptionListParams{Customer: stripe.String(t.Payer.GatewayID), Status: stripe.String("all")}
		p.Limit = stripe.Int64(100)
		for sub, err := range g.api.V1Subscriptions.List(ctx, p).All(ctx) {
			if err != nil {
				return "", err
			}
			if sub.Metadata[metaSubscription] == t.SubscriptionID.String() {
				return sub.ID, nil
			}
		}
		return "", nil
	})
	if err != nil || id == "" {
		return payments.RemoteSubscription{}, false, err
	}
	sub, err := g.ReadSubscription(ctx, id)
	return sub, err == nil, err
}

// ReadSubscription reads it live, with the client secret while the payer has to
// authenticate.
func (g *Gateway) ReadSubscription(ctx context.Context, gatewayID string) (payments.RemoteSubscription, error) {
	raw, err := g.retrieve(ctx, gatewayID)
	if err != nil {
		return payments.RemoteSubscription{}, err
	}
	sub, err := g.judge(ctx, raw)
	return sub.RemoteSubscription, err
}

func (g *Gateway) retrieve(ctx context.Context, id string) ([]byte, error) {
	return read(ctx, g, func(ctx context.Context) ([]byte, error) {
		p := &stripe.SubscriptionRetrieveParams{}
		for _, e := range expansions {
			p.AddExpand(e)
		}
		sub, err := g.api.V1Subscriptions.Retrieve(ctx, id, p)
		if err != nil {
			return nil, err
		}
		return sub.LastResponse.RawJSON, nil
	})
}

// CancelSubscription ends it now, without a refund.
func (g *Gateway) CancelSubscription(ctx context.Context, gatewayID string) error {
	_, err := write(ctx, g, func(ctx context.Context) (*stripe.Subscription, error) {
		return g.api.V1Subscriptions.Cancel(ctx, gatewayID, &stripe.SubscriptionCancelParams{
			InvoiceNow: stripe.Bool(false), Prorate: stripe.Bool(false),
		})
	})
	if errors.Is(err, payments.ErrGatewayMissing) {
		return nil
	}
	return err
}
