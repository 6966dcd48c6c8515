package checkout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

const (
	// ConstraintOneLive keeps a customer from having two live subscriptions.
	ConstraintOneLive = "subscriptions_one_live_per_customer"
	// constraintOneRenewal keeps a customer from having two renewals that wait.
	constraintOneRenewal = "subscriptions_one_renewal_per_customer"
	// pixRecurring is the setting under which a PIX is an automatic one.
	pixRecurring = "recurring"
)

type subscribePixInput struct {
	Body struct {
		PlanID    string `json:"plan_id" minLength:"1" maxLength:"50"`
		PromoCode string `json:"promo_code" required:"false" maxLength:"50"`
	}
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
	return pixGWAEnvelope(ctx, out, err)
}

// PixGWAInfo is how a PIX at gateway A is paid.
type PixGWAInfo struct {
	Message   string            `json:"message"`
	Amount    money.Reais       `json:"amount" doc:"Reais"`
	Months    int32             `json:"months"`
	PaymentID *string           `json:"payment_id" nullable:"true"`
	Pix       calls.PixCodeInfo `json:"pix"`
	// AuthorizationID is set only for automatic PIX.
	AuthorizationID *string `json:"gwa_pix_auth_id,omitempty"`
	calls.PixNotKnown
}

func pixGWAEnvelope(ctx context.Context, out pixOutcome, err error) (*lifecycle.Envelope, error) {
	sub := out.sub
	return lifecycle.EnvelopeOf(ctx, sub, PixGWAInfo{
		Message: out.message(), Amount: sub.PixAmount().Reais(), Months: sub.PeriodMonths,
		PaymentID: sub.PixPaymentID,
		Pix:       codeOf(sub), AuthorizationID: sub.GwaPixAuthID, PixNotKnown: calls.NotKnownOf(out.clarifying),
	}, err)
}

type subscribePixGWBInput struct {
	Body struct {
		PlanID string `json:"plan_id" minLength:"1" maxLength:"50"`
	}
}

// PixGWBInfo is how a PIX at gateway B is paid.
type PixGWBInfo struct {
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
	return pixGWBEnvelope(ctx, out, err)
}

func pixGWBEnvelope(ctx context.Context, out pixOutcome, err error) (*lifecycle.Envelope, error) {
	sub := out.sub
	return lifecycle.EnvelopeOf(ctx, sub, PixGWBInfo{
		Message: out.message(), Amount: int64(sub.PixAmount()), Months: sub.PeriodMonths,
		PaymentIntentID: sub.PixPaymentID,
		ClientSecret:    nullable.Ptr(out.clientSecret.Reveal()), Pix: codeOf(sub),
		PixNotKnown: calls.NotKnownOf(out.clarifying),
	}, err)
}

// pixOrder is what a customer orders by PIX.
type pixOrder struct {
	customerID objectid.ID
	planID     string
	promoCode  string
	automatic  bool // a must; else the setting decides at gateway A
}

// pixOutcome is what the PIX routes answer.
type pixOutcome struct {
	sub          lifecycle.Subscription
	clientSecret secret.Text    // of gateway B
	clarifying   *intent.Intent // while it is not known what the gateway made: there is no code yet
}

// PayPix is what a pending PIX says.
const PayPix = "Pay the PIX to start your subscription."

// message tells what the payer does next.
func (o pixOutcome) message() string {
	if o.clarifying != nil {
		return calls.Clarified(o.sub, *o.clarifying)
	}
	return PayPix
}

func codeOf(sub lifecycle.Subscription) calls.PixCodeInfo {
	return calls.PixCodeInfo{
		Payload: sub.PixPayload, EncodedImage: sub.PixImage, ExpirationDate: httpapi.TimePtr(sub.PixExpiresAt),
	}
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
		return pixOutcome{}, s.refused(ctx, c.sub, outcome.Cause, err)
	case settle.Declined:
		return pixOutcome{}, s.refused(ctx, c.sub, outcome.Cause, err)
	case intent.NotKnown[settle.Made]:
		return s.clarifying(ctx, c.sub)
	case settle.Succeeded:
		if code, ok := outcome.Result.(settle.Code); ok {
			return pixOutcome{sub: c.sub, clientSecret: code.ClientSecret}, err
		}
	case settle.Pending, intent.Missing[settle.Made], settle.Void:
	}
	return pixOutcome{sub: c.sub}, err
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

// request is what a customer wants to subscribe to, before anything is written.
type request struct {
	customer  accounts.Customer
	plan      lifecycle.Plan
	gateway   gateway.Gateway
	payer     gateway.Payer
	method    gateway.Method
	months    int
	trial     int  // free days
	automatic bool // PIX by authorized debits
	promoCode string
	first     *money.Cents            // what the first payment costs with the promo code
	live      *lifecycle.Subscription // the customer's live subscription, if any
	renews    *lifecycle.Subscription // the subscription that this one replaces
	startsAt  *time.Time              // end of its paid time, at which the first charge falls due; set with the row
}

// prepare checks everything that can be checked without the gateway.
func (s *Checkout) prepare(ctx context.Context, customerID objectid.ID, name gateway.Name,
	planID string,
) (request, error) {
	var w request
	var q postgres.Batch
	asked := postgres.Add(&q, func(db postgres.DB) (lifecycle.Plan, error) {
		return s.deps.Plans.SellablePlan(ctx, db, planID)
	})
	payer := postgres.Add(&q, func(db postgres.DB) (accounts.Customer, error) {
		return s.deps.Accounts.CustomerByID(ctx, db, customerID)
	})
	live := postgres.Add(&q, func(db postgres.DB) (*lifecycle.Subscription, error) {
		return s.live(ctx, db, customerID)
	})
	if err := q.Run(ctx, s.deps.Pool); err != nil {
		return w, fmt.Errorf("read plan and customer: %w", err)
	}
	plan, err := asked.Get(ctx)
	if err != nil {
		return w, err
	}
	customer, err := payer.Get(ctx)
	if err != nil {
		return w, err
	}
	if err := gateway.CheckTaxID(customer.TaxID, s.deps.Config.AlphanumericTaxIDs); err != nil {
		return w, err
	}
	gw, err := s.deps.Payments.Gateway(name)
	if err != nil {
		return w, gateway.FaultOf(err)
	}
	w = request{customer: customer, plan: plan, gateway: gw, months: 1}
	w.live, err = live.Get(ctx)
	return w, err
}

// discount lowers the first month of a request; a code never makes it dearer. The
// first payment is the first month by card, and by PIX the whole period with the
// other months at their price (docs/contract/promo-codes.md, At subscribing). Without a code that of the signup counts,
// for the first subscription alone.
func (s *Checkout) discount(ctx context.Context, w *request, code string) error {
	if code == "" {
		if w.customer.PromoCodeUsed == "" {
			return nil
		}
		if begun, err := s.db.SubscriptionHasBegun(ctx, s.deps.Pool, w.customer.ID); err != nil || begun {
			return err
		}
	}
	d, ok, err := s.deps.Promos.FirstMonth(ctx, w.customer.ID, code)
	if err != nil || !ok {
		return err
	}
	first := min(d.FirstMonth, money.Cents(w.plan.AmountCents)) + money.Cents(int64(w.months-1)*w.plan.AmountCents)
	w.promoCode, w.first, w.trial = d.Code, &first, 0
	return nil
}

// ensureGatewayCustomer cancels a pending subscription that may be replaced, and sees to it that
// the gateway knows the payer.
func (s *Checkout) ensureGatewayCustomer(ctx context.Context, w *request) (err error) {
	if w.renews == nil && w.live != nil {
		if err := s.cancelReplaceable(ctx, *w.live); err != nil {
			return err
		}
	}
	w.payer, err = s.deps.Payments.EnsurePayer(ctx, s.deps.Accounts, w.gateway,
		lifecycle.PayerOf(w.customer, w.gateway.Name()))
	return err
}

// live is the customer's live subscription; nil when there is none.
func (s *Checkout) live(ctx context.Context, db postgres.DB, customerID objectid.ID) (*lifecycle.Subscription, error) {
	sub, err := s.db.SubscriptionGetLive(ctx, db, customerID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // nil is the answer
	}
	return &sub, err
}

// cancelReplaceable ends a pending subscription that a new one may replace: at the
// gateway first, so that no money can move for it afterwards. Anything else that
// is live is a conflict (docs/contract/subscriptions.md, One live subscription).
func (s *Checkout) cancelReplaceable(ctx context.Context, live lifecycle.Subscription) error {
	if !s.replaceable(live) {
		return s.ConflictWith(ctx, s.deps.Pool, live)
	}
	if _, err := s.deps.Recovery.Drop(ctx, live, state.Replaced, state.BySubscribe); err != nil {
		return gateway.FaultOf(err)
	}
	return nil
}

// replaceable: a PIX that waits too long, or a card of gateway B whose payment
// was begun and not finished. While the gateway is being asked, nobody knows
// what there is to replace.
func (s *Checkout) replaceable(sub lifecycle.Subscription) bool {
	if sub.Status != state.Pending || sub.IntentOpen {
		return false
	}
	if sub.PaymentMethod == gateway.MethodPix {
		return s.deps.Clock.Now().Sub(sub.RegisterDate) > s.deps.Config.PixPendingTTL
	}
	return sub.Traits().PayerConfirms && sub.RemoteID() != ""
}

// replaceTx sees to it that the live subscription is the one that is renewed, and stands as
// it was read. It goes on until the gateway took the new card, when it is active; one that
// is pending gives no access and ends here, and by job at its gateway.
func (s *Checkout) replaceTx(ctx context.Context, tx pgx.Tx, w *request, live lifecycle.Subscription) error {
	if w.renews == nil || live.ID != w.renews.ID || live.Status != w.renews.Status || live.IntentOpen {
		return s.ConflictWith(ctx, tx, live)
	}
	if live.Status != state.Pending {
		return s.beginRenewalTx(ctx, tx, w, live)
	}
	moved, err := s.deps.Store.MoveTx(ctx, tx, &live,
		lifecycle.Change{Action: state.Replaced, Source: state.ByCustomer, Actor: &w.customer.ID})
	if err != nil {
		return err
	}
	if !moved {
		return s.ConflictWith(ctx, tx, live)
	}
	return s.deps.Store.EndAtGatewayTx(ctx, tx, live)
}

// ConflictWith words why the live subscription is in the way; while its gateway is
// being asked, since when, and when it is asked next.
func (s *Checkout) ConflictWith(ctx context.Context, db postgres.DB, live lifecycle.Subscription) error {
	if live.IntentOpen && live.Status == state.Pending {
		i, open, err := s.deps.Intents.OpenOf(ctx, db, live.ID)
		if err != nil {
			return err
		}
		if open {
			return fault.Conflict("%s", calls.Clarified(live, i))
		}
	}
	switch live.Status {
	case state.Active:
		return fault.Conflict("You already have an active subscription.")
	case state.Suspended:
		if live.HasChargeback {
			return fault.Conflict("A payment of your subscription is disputed: nothing is charged, and access waits, until the bank has decided. You can cancel it and subscribe again.")
		}
		return fault.Conflict("Your subscription is suspended. Change the card to pay what is open, or cancel it and subscribe again.")
	default:
		if live.PaymentMethod == gateway.MethodPix {
			return fault.Conflict("A PIX payment is still open: GET /customers/me/pix-qr shows its code.")
		}
		return fault.Conflict("A payment is still being confirmed. If it does not go through, change the card, or cancel the subscription.")
	}
}
