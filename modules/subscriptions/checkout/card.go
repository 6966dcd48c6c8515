package checkout

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// CardGWBInfo is what gateway B says of a card besides the subscription.
type CardGWBInfo struct {
	Message       string  `json:"message"`
	ClientSecret  *string `json:"client_secret" nullable:"true" doc:"Only while the card's owner has to authenticate"`
	PaymentStatus string  `json:"payment_status,omitempty" enum:"succeeded,requires_action,requires_payment_method,unknown"`
	PaymentFailed bool    `json:"payment_failed,omitempty"`
}

type subscribeGWBInput struct {
	Body struct {
		PlanID          string                    `json:"plan_id" minLength:"1" maxLength:"50"`
		PaymentMethodID gateway.PaymentMethodBody `json:"payment_method_id" required:"false"`
	}
}

// SubscribeGWB is POST /gwb/subscribe.
func (h Handlers) SubscribeGWB(ctx context.Context, in *subscribeGWBInput) (*lifecycle.Envelope, error) {
	token, err := in.Body.PaymentMethodID.Read()
	if err != nil {
		return nil, err
	}
	out, err := h.service.SubscribeCard(ctx, gateway.GWB, CardOrder{
		CustomerID: httpapi.CallerOf(ctx).ID, PlanID: in.Body.PlanID,
		Instrument: gateway.Instrument{PaymentMethodID: token, RemoteIP: httpapi.ClientIP(ctx)},
	})
	return cardGWBEnvelope(ctx, out, err)
}

func cardGWBEnvelope(ctx context.Context, out CardOutcome, err error) (*lifecycle.Envelope, error) {
	message := out.Message
	if message == "" {
		message = outcomeMessages[out.PaymentStatus]
	}
	return lifecycle.EnvelopeOf(ctx, out.Sub, CardGWBInfo{
		Message: message, ClientSecret: nullable.Ptr(out.clientSecret),
		PaymentStatus: out.PaymentStatus, PaymentFailed: out.declined,
	}, err)
}

var outcomeMessages = map[string]string{
	string(gateway.Succeeded):             "The payment was approved.",
	string(gateway.RequiresAction):        "The bank asks for authentication: complete it with the client secret.",
	string(gateway.RequiresPaymentMethod): "The card was declined. Try another one.",
	string(gateway.OutcomeUnknown):        "The payment is being confirmed.",
}

type subscribeGWAInput struct {
	Body struct {
		PlanID     string                 `json:"plan_id" minLength:"1" maxLength:"50"`
		PromoCode  string                 `json:"promo_code" required:"false" maxLength:"50"`
		CreditCard gateway.CardBody       `json:"credit_card" required:"false"`
		Holder     gateway.CardHolderBody `json:"credit_card_holder_info" required:"false"`
	}
}

// CardGWAInfo is what gateway A says of a card besides the subscription.
type CardGWAInfo struct {
	Message        string  `json:"message"`
	SubscriptionID *string `json:"gwa_subscription_id" nullable:"true"`
	PaymentStatus  string  `json:"payment_status" doc:"The gateway's own word, such as PENDING; unknown when it did not answer in time"`
}

// SubscribeGWA is POST /gwa/subscribe.
func (h Handlers) SubscribeGWA(ctx context.Context, in *subscribeGWAInput) (*lifecycle.Envelope, error) {
	card, err := in.Body.CreditCard.Read()
	if err != nil {
		return nil, err
	}
	holder, err := in.Body.Holder.Read()
	if err != nil {
		return nil, err
	}
	out, err := h.service.SubscribeCard(ctx, gateway.GWA, CardOrder{
		CustomerID: httpapi.CallerOf(ctx).ID, PlanID: in.Body.PlanID, promoCode: strings.TrimSpace(in.Body.PromoCode),
		Instrument: gateway.Instrument{Card: card, Holder: holder, RemoteIP: httpapi.ClientIP(ctx)},
	})
	return cardGWAEnvelope(ctx, out, err)
}

func cardGWAEnvelope(ctx context.Context, out CardOutcome, err error) (*lifecycle.Envelope, error) {
	return lifecycle.EnvelopeOf(ctx, out.Sub, CardGWAInfo{
		Message: lifecycle.StatusMessages[out.Sub.Status], SubscriptionID: out.Sub.GwaSubscriptionID,
		PaymentStatus: out.PaymentStatus,
	}, err)
}

// CardOrder is what a customer orders by card, at either gateway.
type CardOrder struct {
	CustomerID objectid.ID
	PlanID     string
	promoCode  string
	Instrument gateway.Instrument
	Renews     *lifecycle.Subscription // the subscription that a renewal replaces
}

// CardOutcome is what the subscribe routes answer.
type CardOutcome struct {
	Sub           lifecycle.Subscription
	PaymentStatus string
	declined      bool
	clientSecret  string
	Message       string // the gateway's sentence for the card's owner
}

// SubscribeCard starts a card subscription as the gateway takes cards.
func (s *Checkout) SubscribeCard(ctx context.Context, gw gateway.Name, o CardOrder) (CardOutcome, error) {
	if gw.Traits().TakesTokens {
		return s.subscribeByToken(ctx, gw, o)
	}
	return s.subscribeByCard(ctx, gw, o)
}

// subscribeByToken starts a card subscription at gateway B and charges it at once.
// A declined card is no error: the subscription comes back cancelled
// (docs/contract/subscriptions.md, Subscribing).
func (s *Checkout) subscribeByToken(ctx context.Context, gw gateway.Name, o CardOrder) (CardOutcome, error) {
	w, err := s.prepareCard(ctx, o, gw)
	if err != nil {
		return CardOutcome{}, err
	}
	if w.plan, err = s.deps.Plans.SyncPlan(ctx, w.gateway, w.plan); err != nil {
		return CardOutcome{}, err
	}
	c, outcome, err := s.start(ctx, w, o.Instrument)
	switch outcome := outcome.(type) {
	case intent.Refused[settle.Made]:
		err = s.refused(ctx, c.sub, outcome.Cause, err)
		if gateway.IsRejected(outcome.Cause) && fault.Is(err, fault.KindBadRequest) {
			err = fault.BadRequest("The payment gateway did not accept this payment method.").
				WithField("payment_method_id").WithCause(outcome.Cause)
		}
		return CardOutcome{}, err
	case settle.Declined:
		return CardOutcome{
			Sub: c.sub, PaymentStatus: string(gateway.RequiresPaymentMethod), declined: true,
			Message: declinedMessage(outcome.Cause),
		}, err
	case intent.NotKnown[settle.Made]:
		return CardOutcome{Sub: c.sub, PaymentStatus: string(gateway.OutcomeUnknown)}, err
	case settle.Pending:
		return cardMade(c.sub, outcome.Result), err
	case settle.Succeeded:
		return cardMade(c.sub, outcome.Result), err
	case intent.Missing[settle.Made], settle.Void:
	}
	return CardOutcome{}, err
}

// cardMade is the answer about a recurrence that is there.
func cardMade(sub lifecycle.Subscription, made settle.Made) CardOutcome {
	remote := made.(settle.Recurrence) //nolint:forcetypeassert // of a card without a discount
	return CardOutcome{Sub: sub, PaymentStatus: string(remote.Outcome), clientSecret: remote.ClientSecret.Reveal()}
}

func declinedMessage(cause error) string {
	var declined *gateway.Declined
	if errors.As(cause, &declined) {
		return declined.Message
	}
	return ""
}

// subscribeByCard starts a card subscription at gateway A. The gateway checks the
// card within the call and charges it after, so the answer is pending; a refused
// card is 400 with the gateway's sentence. A first month that a promo code lowers is
// charged separately, and the recurrence is made after it: when that fails the checks
// make it, and nobody is told of the failure.
func (s *Checkout) subscribeByCard(ctx context.Context, gw gateway.Name, o CardOrder) (CardOutcome, error) {
	w, err := s.prepareCard(ctx, o, gw)
	if err != nil {
		return CardOutcome{}, err
	}
	c, outcome, err := s.start(ctx, w, o.Instrument)
	out := CardOutcome{Sub: c.sub, PaymentStatus: string(gateway.OutcomeUnknown)}
	switch outcome := outcome.(type) {
	case intent.Refused[settle.Made]:
		return CardOutcome{}, s.refused(ctx, c.sub, outcome.Cause, err)
	case settle.Declined:
		if err == nil {
			err = fault.BadRequest("%s", declinedMessage(outcome.Cause)).WithField("credit_card")
		}
		return CardOutcome{}, err
	case intent.NotKnown[settle.Made]:
		out.PaymentStatus = statusGWA(outcome.Result, out.PaymentStatus)
	case settle.Pending:
		out.PaymentStatus = statusGWA(outcome.Result, out.PaymentStatus)
	case settle.Succeeded:
		out.PaymentStatus = statusGWA(outcome.Result, out.PaymentStatus)
	case intent.Missing[settle.Made], settle.Void:
	}
	return out, err
}

// statusGWA is gateway A's own word for the first charge; unknown without one.
func statusGWA(made settle.Made, unknown string) string {
	switch made := made.(type) {
	case settle.Recurrence:
		return made.PaymentStatus
	case settle.FirstMonth:
		return made.Charge.Payment.NativeStatus
	case settle.Code, settle.Authorization, settle.Invoice:
	}
	return unknown
}

func (s *Checkout) prepareCard(ctx context.Context, o CardOrder, name gateway.Name) (request, error) {
	w, err := s.prepare(ctx, o.CustomerID, name, o.PlanID)
	if err != nil {
		return w, err
	}
	w.method, w.renews = gateway.MethodCard, o.Renews
	if w.plan.TrialEnabled && w.customer.TrialUsedAt == nil && w.renews == nil {
		w.trial = int(w.plan.TrialDays)
	}
	if w.renews == nil { // gateway B's card route takes no code: that of the signup counts
		if err := s.discount(ctx, &w, o.promoCode); err != nil {
			return w, err
		}
	}
	if err := checkCardAmount(w, name); err != nil {
		return w, err
	}
	return w, s.ensureGatewayCustomer(ctx, &w)
}

// checkCardAmount refuses a first month that the gateway would not charge as it is.
func checkCardAmount(w request, name gateway.Name) error {
	least := name.Traits().LeastCharge
	if w.first == nil || *w.first == 0 || *w.first >= least {
		return nil
	}
	return fault.BadRequest("The first month costs less than R$ %s with your promo code, the smallest amount that can be paid here by card.", least).WithField("plan_id")
}

// refused words why the gateway certainly made nothing of a subscription, which has ended
// unless that failed.
func (s *Checkout) refused(ctx context.Context, sub lifecycle.Subscription, cause, failed error) error {
	s.deps.Log.WarnContext(ctx, "gateway refused a subscription", slog.String("subscription_id", sub.ID.String()),
		slog.String("gateway", string(sub.Gateway)), slog.Any("error", cause))
	if failed != nil {
		return errors.Join(gateway.FaultOf(cause), failed)
	}
	return gateway.FaultOf(cause)
}
