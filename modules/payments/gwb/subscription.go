package gwb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

// kindSubscription stands in the metadata of card subscriptions.
const kindSubscription = "subscription"

// Expansions that the answers about one subscription need; four levels are the
// gateway's limit.
var expansions = []string{"latest_invoice.confirmation_secret", "latest_invoice.payments"}

// Subscribe attaches the card and starts the subscription, which charges it at
// once (docs/gateway-facts.md, B6). After a refused first payment the subscription is cancelled
// at the gateway, since its invoice could be paid for another 23 hours; the
// error is then *gateway.Declined with Remote.
func (g *recurrences) Subscribe(ctx context.Context, t gateway.SubscriptionTerms) (gateway.RemoteSubscription, error) {
	card, err := g.attachCard(ctx, t.Payer.GatewayID, t.Instrument.PaymentMethodID, t.SubscriptionID.String())
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	coupon, err := g.ensureCoupon(ctx, t)
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	id, err := write(ctx, g.client, func(ctx context.Context) (string, error) {
		sub, err := g.api.V1Subscriptions.Create(ctx, subscriptionParams(t, card.ID, coupon))
		if err != nil {
			return "", err
		}
		return sub.ID, carries(sub.Metadata, metaSubscription, t.SubscriptionID)
	})
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	// An answer repeated by its idempotency key may be old, too.
	sub, err := reply.Made(func() (judgedSubscription, error) { return g.readSubscription(ctx, id, t.SubscriptionID) })
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	if sub.Outcome == gateway.RequiresPaymentMethod {
		return g.endDeclined(ctx, sub, t.SubscriptionID)
	}
	return sub.RemoteSubscription, nil
}

// readSubscription reads it, and its first payment while that is open.
func (g *recurrences) readSubscription(ctx context.Context, id string, local objectid.ID) (judgedSubscription, error) {
	o, err := g.retrieve(ctx, id, local)
	if err != nil {
		return judgedSubscription{}, err
	}
	return g.judge(ctx, o, local)
}

func subscriptionParams(t gateway.SubscriptionTerms, card, coupon string) *stripe.SubscriptionCreateParams {
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
			metaSubscription: t.SubscriptionID.String(), metaCustomer: t.Payer.CustomerID.String(),
			metaKind: kindSubscription,
		},
	}
	switch {
	case t.StartsAt != nil:
		p.TrialEnd = stripe.Int64(t.StartsAt.Unix())
	case t.TrialDays > 0:
		p.TrialPeriodDays = stripe.Int64(int64(t.TrialDays))
	}
	if coupon != "" {
		p.Discounts = []*stripe.SubscriptionCreateDiscountParams{{Coupon: stripe.String(coupon)}}
	}
	for _, e := range expansions {
		p.AddExpand(e)
	}
	p.SetIdempotencyKey("sub-" + t.SubscriptionID.String())
	return p
}

// judgedSubscription is a subscription with why its payment was refused.
type judgedSubscription struct {
	gateway.RemoteSubscription
	declined gateway.Declined
}

// judge reads, while the first payment is open, the payment intent, whose status
// decides (docs/gateway-facts.md, B6). When the intent has moved on, the subscription is read
// anew.
func (g *recurrences) judge(ctx context.Context, o *subscriptionObject, local objectid.ID) (judgedSubscription, error) {
	if o.Status != string(gateway.RemoteIncomplete) {
		return settled(o), nil
	}
	intent, err := g.intentOf(ctx, o)
	if err != nil {
		return judgedSubscription{RemoteSubscription: open(o, gateway.OutcomeUnknown, "unknown")}, nil //nolint:nilerr // the subscription is there; its payment is told later
	}
	if intent.Status == stripe.PaymentIntentStatusSucceeded || intent.Status == stripe.PaymentIntentStatusCanceled {
		now, err := g.retrieve(ctx, o.ID, local)
		if err != nil {
			return judgedSubscription{RemoteSubscription: open(o, gateway.OutcomeUnknown, "unknown")}, nil //nolint:nilerr // as above
		}
		if o = now; o.Status != string(gateway.RemoteIncomplete) {
			return settled(o), nil
		}
	}
	return judgedByIntent(o, intent), nil
}

// decoded reads a subscription that carries our id and has a status that is known:
// another might be anything.
func decoded(raw []byte, local objectid.ID) (*subscriptionObject, error) {
	var o subscriptionObject
	if json.Unmarshal(raw, &o) != nil {
		return nil, reply.Odd("it is no subscription")
	}
	if !slices.Contains(statuses, gateway.RemoteStatus(o.Status)) {
		return nil, reply.Odd("it has no status")
	}
	return &o, carries(o.Metadata, metaSubscription, local)
}

// statuses are all that a subscription may have.
var statuses = []gateway.RemoteStatus{
	gateway.RemoteActive, gateway.RemoteTrialing, gateway.RemotePastDue, gateway.RemoteUnpaid, gateway.RemotePaused,
	gateway.RemoteCanceled, gateway.RemoteIncomplete, gateway.RemoteIncompleteExpired,
}

// settled is a subscription whose status says all.
func settled(o *subscriptionObject) judgedSubscription {
	r := o.neutral()
	switch r.Status {
	case gateway.RemoteActive, gateway.RemoteTrialing:
		r.Outcome = gateway.Succeeded
	case gateway.RemotePastDue, gateway.RemoteUnpaid, gateway.RemoteCanceled, gateway.RemoteIncompleteExpired:
		r.Outcome = gateway.RequiresPaymentMethod
	default:
		r.Outcome = gateway.OutcomeUnknown
	}
	r.PaymentStatus = string(r.Outcome)
	return judgedSubscription{RemoteSubscription: r}
}

// open is a subscription whose first payment has not succeeded.
func open(o *subscriptionObject, outcome gateway.Outcome, status string) gateway.RemoteSubscription {
	r := o.neutral()
	r.Outcome, r.PaymentStatus = outcome, status
	return r
}

func judgedByIntent(o *subscriptionObject, intent *stripe.PaymentIntent) judgedSubscription {
	switch intent.Status {
	case stripe.PaymentIntentStatusRequiresAction, stripe.PaymentIntentStatusRequiresConfirmation:
		r := open(o, gateway.RequiresAction, string(gateway.RequiresAction))
		r.ClientSecret = secret.NewText(o.LatestInvoice.clientSecret())
		if r.ClientSecret.Empty() {
			r.ClientSecret = secret.NewText(intent.ClientSecret)
		}
		return judgedSubscription{RemoteSubscription: r}
	case stripe.PaymentIntentStatusRequiresPaymentMethod:
		j := judgedSubscription{
			RemoteSubscription: open(o, gateway.RequiresPaymentMethod, string(gateway.RequiresPaymentMethod)),
		}
		j.LatestPayment.Status = gateway.PaymentStatusFailed
		if e := intent.LastPaymentError; e != nil {
			j.declined.Code, j.declined.Message = declineCode(e), e.Msg
		}
		return j
	}
	return judgedSubscription{RemoteSubscription: open(o, gateway.OutcomeUnknown, "unknown")}
}

// intentOf reads the payment intent of the first invoice.
func (g *recurrences) intentOf(ctx context.Context, o *subscriptionObject) (*stripe.PaymentIntent, error) {
	id := o.LatestInvoice.intent()
	if id == "" {
		return nil, gateway.ErrMissing
	}
	return g.intent(ctx, id, "")
}

// endDeclined cancels what a refused payment left. Should it have been paid
// meanwhile, it is active after all.
func (g *recurrences) endDeclined(ctx context.Context, sub judgedSubscription,
	local objectid.ID,
) (gateway.RemoteSubscription, error) {
	if sub.declined.Code == "" {
		sub.declined = gateway.Declined{Code: "card_declined", Message: "Your card was declined."}
	}
	declined := &sub.declined
	remote := sub.RemoteSubscription
	declined.Remote = &remote
	if sub.Status != gateway.RemoteIncomplete {
		return gateway.RemoteSubscription{}, declined
	}
	if err := g.CancelSubscription(ctx, sub.GatewayID, local); err != nil {
		return gateway.RemoteSubscription{}, declined // its status tells that it still has to be ended
	}
	now, err := g.ReadSubscription(ctx, sub.GatewayID, local)
	if err == nil && (now.Status == gateway.RemoteActive || now.Status == gateway.RemoteTrialing) {
		return now, nil
	}
	remote.Status = gateway.RemoteCanceled
	return gateway.RemoteSubscription{}, declined
}

// FindSubscription looks through the payer's subscriptions, ended ones too, for
// the one that carries the local id.
func (g *recurrences) FindSubscription(ctx context.Context,
	t gateway.SubscriptionTerms,
) (gateway.RemoteSubscription, bool, error) {
	if t.Payer.GatewayID == "" {
		return gateway.RemoteSubscription{}, false, nil
	}
	id, err := read(ctx, g.client, func(ctx context.Context) (string, error) {
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
		return gateway.RemoteSubscription{}, false, err
	}
	sub, err := g.ReadSubscription(ctx, id, t.SubscriptionID)
	return sub, err == nil, reply.Unproven(err)
}

// ReadSubscription reads it live, with the client secret while the payer has to
// authenticate.
func (g *recurrences) ReadSubscription(ctx context.Context, gatewayID string,
	local objectid.ID,
) (gateway.RemoteSubscription, error) {
	sub, err := g.readSubscription(ctx, gatewayID, local)
	return sub.RemoteSubscription, err
}

func (g *client) retrieve(ctx context.Context, id string, local objectid.ID) (*subscriptionObject, error) {
	return read(ctx, g, func(ctx context.Context) (*subscriptionObject, error) {
		p := &stripe.SubscriptionRetrieveParams{}
		for _, e := range expansions {
			p.AddExpand(e)
		}
		sub, err := g.api.V1Subscriptions.Retrieve(ctx, id, p)
		if err != nil {
			return nil, err
		}
		return decoded(sub.LastResponse.RawJSON, local)
	})
}

// CancelSubscription ends it now, without a refund. What is ended already answers
// as if it were missing, so that the answer alone is not believed.
func (g *recurrences) CancelSubscription(ctx context.Context, gatewayID string, local objectid.ID) error {
	_, err := write(ctx, g.client, func(ctx context.Context) (*stripe.Subscription, error) {
		sub, err := g.api.V1Subscriptions.Cancel(ctx, gatewayID, &stripe.SubscriptionCancelParams{
			InvoiceNow: stripe.Bool(false), Prorate: stripe.Bool(false),
		})
		if err == nil && !gateway.RemoteStatus(sub.Status).Ended() {
			err = reply.Odd("it does not say that it has ended")
		}
		return sub, err
	})
	if !errors.Is(err, gateway.ErrMissing) {
		return err
	}
	o, readErr := g.retrieve(ctx, gatewayID, local)
	if readErr == nil && !gateway.RemoteStatus(o.Status).Ended() {
		return fmt.Errorf("%w: cancelling says missing, but it runs", gateway.ErrOutcomeUnknown)
	}
	return reply.Gone(readErr)
}
