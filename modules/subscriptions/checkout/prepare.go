package checkout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/recovery"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/taxid"
)

// ConstraintOneLive keeps a customer from having two live subscriptions.
const ConstraintOneLive = "subscriptions_one_live_per_customer"

// constraintOneRenewal keeps a customer from having two renewals that wait.
const constraintOneRenewal = "subscriptions_one_renewal_per_customer"

// request is what a customer wants to subscribe to, before anything is written.
type request struct {
	customer  accounts.Customer
	plan      subscriptionsdb.Plan
	gateway   gateway.Gateway
	payer     gateway.Payer
	method    gateway.Method
	months    int
	trial     int  // free days
	automatic bool // PIX by authorized debits
	promoCode string
	first     *money.Cents   // what the first payment costs with the promo code
	renews    *lifecycle.Row // the subscription that this one replaces
	startsAt  *time.Time     // end of its paid time, at which the first charge falls due; set with the row
}

// callTimeOf bounds the calls that follow the wish: a renewal ends the old one first, a
// discounted first month is charged at gateway A before the recurrence is made.
func (s *Checkout) callTimeOf(w request) time.Duration {
	if w.renews != nil ||
		w.first != nil && w.method == gateway.MethodCard && w.gateway.Name().Traits().FirstMonthApart {
		return 2 * s.deps.Intents.CallTime()
	}
	return s.deps.Intents.CallTime()
}

// prepare checks everything that can be checked without the gateway.
func (s *Checkout) prepare(ctx context.Context, customerID objectid.ID, name gateway.Name,
	planID string) (request, error) {
	var w request
	plan, err := s.deps.Plans.SellablePlan(ctx, planID)
	if err != nil {
		return w, err
	}
	customer, err := s.deps.Accounts.CustomerByID(ctx, s.deps.Pool, customerID)
	if err != nil {
		return w, err
	}
	if customer.TaxID == "" || !taxid.Valid(customer.TaxID, s.deps.Config.AlphanumericTaxIDs) {
		return w,
			fault.BadRequest("A payment needs your tax id (CPF or CNPJ) with valid check digits. Add it with PUT /customers/me.").WithField("tax_id")
	}
	gw, err := s.deps.Payments.Gateway(name)
	if err != nil {
		return w, gateway.FaultOf(err)
	}
	return request{customer: customer, plan: plan, gateway: gw, months: 1}, nil
}

// discount lowers the first month of a wish; a code never makes it dearer. The
// first payment is the first month by card, and by PIX the whole period with the
// other months at their price (docs/contract/promo-codes.md, At subscribing). Without a code that of the signup counts,
// for the first subscription alone.
func (s *Checkout) discount(ctx context.Context, w *request, code string) error {
	if code == "" {
		if w.customer.PromoCodeUsed == "" {
			return nil
		}
		if begun, err := s.db.HasBegun(ctx, s.deps.Pool, w.customer.ID); err != nil || begun {
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

// ensureGatewayCustomer makes room if a pending subscription may be replaced, and sees to it that
// the gateway knows the payer.
func (s *Checkout) ensureGatewayCustomer(ctx context.Context, w *request) (err error) {
	if w.renews == nil {
		if err := s.cancelReplaceable(ctx, w.customer.ID); err != nil {
			return err
		}
	}
	w.payer, err = s.payerAt(ctx, w.gateway, w.customer)
	return err
}

// payerAt makes the customer known to the gateway and keeps the id it has there. Making
// a customer there twice moves no money.
func (s *Checkout) payerAt(ctx context.Context, gateway gateway.Gateway, c accounts.Customer) (gateway.Payer, error) {
	p := lifecycle.PayerOf(c, gateway.Name())
	if p.GatewayID != "" {
		return p, nil
	}
	id, err := gateway.EnsureCustomer(ctx, p)
	if err != nil {
		return p, s.deps.Payments.Refused(ctx, "make customer", err)
	}
	p.GatewayID, err = s.deps.Accounts.SetGatewayCustomer(ctx, s.deps.Pool, c.ID, string(gateway.Name()), id)
	return p, err
}

// start commits the row that stands for the wish, before the gateway is asked (docs/contract/subscriptions.md, Money
// moves once), has it made there, and settles what became of it. A client who
// goes away meanwhile does not stop it half-way: the call follows what is committed.
func (s *Checkout) start(ctx context.Context, w request,
	card gateway.Instrument) (c recovery.FirstCall, outcome settle.Outcome, err error) {
	ctx = context.WithoutCancel(ctx)
	c = recovery.FirstCall{Plan: w.plan, Payer: w.payer, Instrument: card, CallTime: s.callTimeOf(w)}
	err = s.deps.Recovery.FirstCalls().Begin(ctx, &c, func(tx pgx.Tx) error {
		if err := s.deps.Accounts.LockCustomerTx(ctx, tx, w.customer.ID); err != nil {
			return err
		}
		if err := s.endReplacedTx(ctx, tx, &w); err != nil {
			return err
		}
		var err error
		if c.Sub, err = s.insertTx(ctx, tx, w); err != nil {
			return err
		}
		return idempotency.AttemptOf(ctx).BindTx(ctx, tx, c.Sub.ID)
	})
	switch postgres.Constraint(err) {
	case ConstraintOneLive:
		return c, nil, fault.Conflict("You already have a subscription.")
	case constraintOneRenewal:
		return c, nil, errRenewalPending()
	}
	if err != nil {
		return c, nil, err
	}
	if w.renews != nil && c.Sub.RenewsID == nil { // it was pending, and has ended here
		if _, err := s.deps.Calls.EndNow(ctx, *w.renews); err != nil {
			return c, nil, err
		}
	}
	return s.deps.Recovery.FirstCalls().Run(ctx, c)
}

// endReplacedTx sees to it that the customer has no live subscription but the one that is
// renewed, and that this stands as it was read. It goes on until the gateway took the
// new card, when it is active; one that is pending gives no access and ends here, and
// by job at its gateway.
func (s *Checkout) endReplacedTx(ctx context.Context, tx pgx.Tx, w *request) error {
	live, err := s.db.GetLiveSubscription(ctx, tx, w.customer.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return s.renewsStillTx(ctx, tx, w)
	}
	if err != nil {
		return err
	}
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

func (s *Checkout) insertTx(ctx context.Context, tx pgx.Tx, w request) (lifecycle.Row, error) {
	now := s.deps.Clock.Now()
	recoverAt := now.Add(lifecycle.AdoptAfter)
	id := objectid.At(now)
	if w.trial > 0 && w.renews == nil {
		free, err := s.claimTrialTx(ctx, tx, w, id)
		if err != nil {
			return lifecycle.Row{}, err
		}
		if !free {
			w.trial = 0
		}
	}
	params := subscriptionsdb.InsertSubscriptionParams{
		ID: id, CustomerID: w.customer.ID, PlanID: w.plan.PlanID, Gateway: w.gateway.Name(),
		PaymentMethod: w.method, PriceCents: w.plan.AmountCents, PeriodMonths: int32(w.months), TrialDays: int32(w.trial), //nolint:gosec // at most 12 and 730
		PixAutomatic: w.automatic, PromoCode: nullable.Ptr(w.promoCode), RecoveryAt: &recoverAt, Now: now,
	}
	if w.first != nil {
		params.FirstAmountCents = (*int64)(w.first)
	}
	if w.renews != nil && w.renews.Status == state.Active {
		params.RenewsID, params.StartsAt = &w.renews.ID, w.startsAt
	}
	if w.method == gateway.MethodCard {
		first := s.deps.Calendar.FirstDue(lifecycle.Row{
			Gateway: params.Gateway, PaymentMethod: params.PaymentMethod, RegisterDate: now,
			TrialDays: params.TrialDays, FirstAmountCents: params.FirstAmountCents, StartsAt: params.StartsAt,
		})
		params.AnchorDay = new(int32(first.Day())) //nolint:gosec // a day of a month
	}
	params.GwaCustomerID, params.GwbCustomerID = lifecycle.CustomerColumns(w.gateway.Name(), w.payer.GatewayID)
	if w.gateway.Name().Traits().Prices && w.method == gateway.MethodCard {
		params.GwbPriceID = w.plan.GwbPriceID
	}
	sub, err := s.db.InsertSubscription(ctx, tx, params)
	if err != nil {
		return lifecycle.Row{}, err
	}
	if err := s.deps.Store.ScheduleTx(ctx, tx, sub); err != nil {
		return lifecycle.Row{}, err
	}
	if w.promoCode != "" {
		if err := s.deps.Promos.HoldTx(ctx, tx, sub.CustomerID, sub.ID, w.promoCode); err != nil {
			return lifecycle.Row{}, err
		}
	}
	began := state.Subscribe
	if w.renews != nil {
		began = state.Renew
	}
	return sub, s.deps.Store.RecordMoveTx(ctx, tx, sub, state.None, state.ReasonFor(began, state.Known{}),
		lifecycle.Change{Source: state.BySubscribe, Actor: &sub.CustomerID})
}

// claimTrialTx takes the one trial of the customer's tax id for a subscription that is
// about to be written. Of two customers who have had the same tax id, one after the
// other, one gets it. A subscription that ends before its trial begins gives it back.
func (s *Checkout) claimTrialTx(ctx context.Context, tx pgx.Tx, w request, subscriptionID objectid.ID) (bool, error) {
	now := s.deps.Clock.Now()
	before := lifecycle.Forgotten(now)
	n, err := s.db.ClaimTrial(ctx, tx, subscriptionsdb.ClaimTrialParams{
		TaxIDMac: s.deps.Accounts.TaxIDMAC(w.customer.TaxID), SubscriptionID: &subscriptionID, Now: now,
		Forgotten: &before,
	})
	if err != nil {
		return false, fmt.Errorf("claim trial: %w", err)
	}
	return n == 1, nil
}

// cancelReplaceable ends a pending subscription that a new one may replace: at the
// gateway first, so that no money can move for it afterwards. Anything else that
// is live is a conflict (docs/contract/subscriptions.md, One live subscription).
func (s *Checkout) cancelReplaceable(ctx context.Context, customerID objectid.ID) error {
	live, err := s.db.GetLiveSubscription(ctx, s.deps.Pool, customerID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if !s.replaceable(live) {
		return s.ConflictWith(ctx, s.deps.Pool, live)
	}
	if live.PaymentMethod == gateway.MethodPix {
		err = s.deps.Recovery.DropPixAs(ctx, live, state.Replaced, state.BySubscribe)
	} else {
		err = s.dropPendingCard(ctx, live)
	}
	if err != nil {
		return gateway.FaultOf(err)
	}
	return nil
}

// replaceable: a PIX that waits too long, or a card of gateway B whose payment
// was begun and not finished. While the gateway is being asked, nobody knows
// what there is to replace.
func (s *Checkout) replaceable(sub lifecycle.Row) bool {
	if sub.Status != state.Pending || sub.IntentOpen {
		return false
	}
	if sub.PaymentMethod == gateway.MethodPix {
		return s.deps.Clock.Now().Sub(sub.RegisterDate) > s.deps.Config.PixPendingTTL
	}
	return lifecycle.TraitsOf(sub).PayerConfirms && lifecycle.RemoteID(sub) != ""
}

// dropPendingCard ends a pending card subscription of gateway B. One that turns
// out to be paid is settled instead; the caller finds it live.
func (s *Checkout) dropPendingCard(ctx context.Context, sub lifecycle.Row) error {
	gw, err := s.deps.Payments.Gateway(gateway.GWB)
	if err != nil {
		return err
	}
	remote, err := gw.ReadSubscription(ctx, *sub.GwbSubscriptionID, sub.ID)
	if err != nil && !errors.Is(err, gateway.ErrMissing) {
		return err
	}
	if err == nil && lifecycle.Running(remote.Status) {
		_, err = s.deps.Settler.Settle(ctx, sub, state.ByLiveRead,
			settle.Succeeded{Answer: settle.Recurrence{RemoteSubscription: remote}})
		return err
	}
	if err := gw.CancelSubscription(ctx, *sub.GwbSubscriptionID, sub.ID); err != nil {
		return s.deps.Recovery.EndLater(ctx, sub, state.BySubscribe, err)
	}
	return s.deps.Recovery.End(ctx, sub, state.Replaced, state.BySubscribe)
}

// ConflictWith words why the live subscription is in the way; while its gateway is
// being asked, since when, and when it is asked next.
func (s *Checkout) ConflictWith(ctx context.Context, db postgres.DB, live lifecycle.Row) error {
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
