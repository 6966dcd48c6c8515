package checkout

import (
	"context"
	"strings"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

const (
	// pixRecurring is the setting under which a PIX is an automatic one.
	pixRecurring = "recurring"
)

// pixOrder is what a customer orders by PIX.
type pixOrder struct {
	customerID objectid.ID
	planID     string
	promoCode  string
	automatic  bool // a must; else the setting decides at gateway A
}

// pixOutcome is what the PIX routes answer.
type pixOutcome struct {
	sub          lifecycle.Row
	clientSecret secret.Text    // of gateway B
	clarifying   *intent.Intent // while it is not known what the gateway made: there is no code yet
}

// subscribePix makes one PIX payment for the configured months or, at gateway A,
// the authorization of an automatic PIX.
func (s *Checkout) subscribePix(ctx context.Context, name gateway.Name, o pixOrder) (pixOutcome, error) {
	months, err := s.deps.Settings.PixBillingMonths(ctx)
	if err != nil {
		return pixOutcome{}, err
	}
	if name.Traits().DebitsPix && !o.automatic {
		mode, err := s.deps.Settings.PixSubscriptionMode(ctx)
		if err != nil {
			return pixOutcome{}, err
		}
		o.automatic = mode == pixRecurring
	}
	w, err := s.prepare(ctx, o.customerID, name, o.planID)
	if err != nil {
		return pixOutcome{}, err
	}
	w.method, w.months, w.automatic = gateway.MethodPix, months, o.automatic
	if err := s.discount(ctx, &w, o.promoCode); err != nil {
		return pixOutcome{}, err
	}
	if err := checkPixAmount(w); err != nil {
		return pixOutcome{}, err
	}
	if err := s.ensureGatewayCustomer(ctx, &w); err != nil {
		return pixOutcome{}, err
	}
	c, outcome, err := s.start(ctx, w, gateway.Instrument{})
	switch outcome := outcome.(type) {
	case intent.Refused[settle.Made]:
		return pixOutcome{}, s.refused(ctx, c.Sub, outcome.Cause, err)
	case settle.Declined:
		return pixOutcome{}, s.refused(ctx, c.Sub, outcome.Cause, err)
	case intent.NotKnown[settle.Made]:
		return s.clarifying(ctx, c.Sub)
	case settle.Succeeded:
		if code, ok := outcome.Answer.(settle.Code); ok {
			return pixOutcome{sub: c.Sub, clientSecret: code.ClientSecret}, err
		}
	}
	return pixOutcome{sub: c.Sub}, err
}

// checkPixAmount refuses what the gateway would, before anything is written. The
// first code of an automatic PIX has no minimum but its debits have.
func checkPixAmount(w request) error {
	full := money.Cents(w.plan.AmountCents * int64(w.months))
	first := full
	if w.first != nil {
		first = *w.first
	}
	least := lifecycle.LeastPix(w.gateway.Name())
	if w.automatic {
		if full < least {
			first = full
		} else {
			first, least = min(first, full), 1
		}
	}
	if first >= least {
		return nil
	}
	return fault.BadRequest("The subscription costs less than R$ %s, the smallest amount that can be paid by PIX. Subscribe by card.", least).WithField("plan_id")
}

// clarifying is what the PIX routes answer while it is not known whether there is a code.
func (s *Checkout) clarifying(ctx context.Context, sub lifecycle.Row) (pixOutcome, error) {
	ctx = context.WithoutCancel(ctx)
	i, open, err := s.deps.Intents.OpenOf(ctx, s.deps.Pool, sub.ID)
	if err != nil || open {
		return pixOutcome{sub: sub, clarifying: &i}, err
	}
	sub, err = s.db.GetSubscription(ctx, s.deps.Pool, sub.ID) // somebody has looked meanwhile
	return pixOutcome{sub: sub}, err
}

type subscribePixInput struct {
	Body struct {
		PlanID    string `json:"plan_id" minLength:"1" maxLength:"50"`
		PromoCode string `json:"promo_code" required:"false" maxLength:"50"`
	}
}

type pixInfo struct {
	Message   string            `json:"message"`
	Amount    money.Reais       `json:"amount" doc:"Reais"`
	Months    int32             `json:"months"`
	PaymentID *string           `json:"payment_id" nullable:"true"`
	Pix       calls.PixCodeInfo `json:"pix"`
	// AuthorizationID is set only for automatic PIX.
	AuthorizationID *string `json:"gwa_pix_auth_id,omitempty"`
	calls.PixNotKnown
}

// message tells what the payer does next.
func (o pixOutcome) message() string {
	if o.clarifying != nil {
		return calls.Clarified(o.sub, *o.clarifying)
	}
	return PayPix
}

// SubscribePixGWA is POST /gwa/subscribe/pix.
func (h Handlers) SubscribePixGWA(ctx context.Context, in *subscribePixInput) (*lifecycle.Envelope, error) {
	return h.orderPixGWA(ctx, in, false)
}

// SubscribePixAutomatic is POST /gwa/subscribe/pix-automatico.
func (h Handlers) SubscribePixAutomatic(ctx context.Context, in *subscribePixInput) (*lifecycle.Envelope, error) {
	return h.orderPixGWA(ctx, in, true)
}

func (h Handlers) orderPixGWA(ctx context.Context, in *subscribePixInput, automatic bool) (*lifecycle.Envelope, error) {
	out, err := h.service.subscribePix(ctx, gateway.GWA, pixOrder{
		customerID: httpapi.CallerOf(ctx).ID, planID: in.Body.PlanID, promoCode: strings.TrimSpace(in.Body.PromoCode),
		automatic: automatic,
	})
	if err != nil {
		return nil, err
	}
	return pixGWAEnvelope(ctx, out), nil
}

func pixGWAEnvelope(ctx context.Context, out pixOutcome) *lifecycle.Envelope {
	sub := out.sub
	return httpapi.One(ctx, lifecycle.NewDoc(sub), pixInfo{
		Message: out.message(), Amount: lifecycle.PixAmount(sub).Reais(), Months: sub.PeriodMonths,
		PaymentID: sub.PixPaymentID,
		Pix:       codeOf(sub), AuthorizationID: sub.GwaPixAuthID, PixNotKnown: calls.NotKnownOf(out.clarifying),
	})
}

// PayPix is what a pending PIX says.
const PayPix = "Pay the PIX to start your subscription."

func codeOf(sub lifecycle.Row) calls.PixCodeInfo {
	return calls.PixCodeInfo{
		Payload: sub.PixPayload, EncodedImage: sub.PixImage, ExpirationDate: httpapi.TimePtr(sub.PixExpiresAt),
	}
}

type subscribePixGWBInput struct {
	Body struct {
		PlanID string `json:"plan_id" minLength:"1" maxLength:"50"`
	}
}

type pixGWBInfo struct {
	Message         string            `json:"message"`
	Amount          int64             `json:"amount" doc:"Cents"`
	Months          int32             `json:"months"`
	PaymentIntentID *string           `json:"payment_intent_id" nullable:"true"`
	ClientSecret    *string           `json:"client_secret" nullable:"true"`
	Pix             calls.PixCodeInfo `json:"pix"`
	calls.PixNotKnown
}

// SubscribePixGWB is POST /gwb/subscribe/pix.
func (h Handlers) SubscribePixGWB(ctx context.Context, in *subscribePixGWBInput) (*lifecycle.Envelope, error) {
	out, err := h.service.subscribePix(ctx, gateway.GWB,
		pixOrder{customerID: httpapi.CallerOf(ctx).ID, planID: in.Body.PlanID})
	if err != nil {
		return nil, err
	}
	return pixGWBEnvelope(ctx, out), nil
}

func pixGWBEnvelope(ctx context.Context, out pixOutcome) *lifecycle.Envelope {
	sub := out.sub
	return httpapi.One(ctx, lifecycle.NewDoc(sub), pixGWBInfo{
		Message: out.message(), Amount: int64(lifecycle.PixAmount(sub)), Months: sub.PeriodMonths,
		PaymentIntentID: sub.PixPaymentID,
		ClientSecret:    nullable.Ptr(out.clientSecret.Reveal()), Pix: codeOf(sub),
		PixNotKnown: calls.NotKnownOf(out.clarifying),
	})
}
