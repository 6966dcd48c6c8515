package orders

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/tickets/state"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Made is what a gateway has made for an order: a payment or a PIX code. With neither,
// nobody reports its payment.
type Made struct {
	Payment *gateway.Payment
	Pix     *gateway.PixCharge
	Expired bool // nobody can pay it any more: its tickets expire, where they would vanish else
	// By, of what is void, is the action that gave it up. Default state.HoldRunsOut.
	By state.Action
}

// Outcome is what a gateway says of an order's one call, whoever asked: the request itself,
// a check, a webhook, the sweep. Void: nobody paid in time. What was declined, refused or is
// missing never came about.
type Outcome = intent.Outcome[Made]

// The outcomes.
type (
	Succeeded = intent.Succeeded[Made]
	Declined  = intent.Declined[Made]
	Void      = intent.Void[Made]
)

// End is how an order's intent ends, and who brought it.
type End struct {
	How Outcome
	By  intent.By
}

// isDecline reports whether a card was declined, or not accepted, whoever tells it.
func (e End) isDecline() bool {
	switch how := e.How.(type) {
	case Declined:
		return true
	case intent.Refused[Made]:
		return gateway.IsDeclined(how.Cause) || gateway.IsRejected(how.Cause)
	case Succeeded:
		return how.Result.Payment != nil && how.Result.Payment.Status == gateway.PaymentStatusFailed
	case intent.Pending[Made], intent.Missing[Made], Void, intent.NotKnown[Made]:
	}
	return false
}

// IntentOf names the intent of an order's one call.
func IntentOf(id objectid.ID) intent.Ref { return intent.Ref{Kind: intent.Order, Subject: id} }

// Purchase is what an order's one call is made from: the order, and what its request alone
// has in hand.
type Purchase struct {
	Order      Order
	Payer      gateway.Payer
	Title      string // of the event
	Instrument gateway.Instrument
}

func (p Purchase) isPix() bool {
	return nullable.Value(p.Order.PaymentMethod) == gateway.MethodPix
}

// Charge is the charge of an order, by card or by a PIX code. The gate commits it, up to 64
// at once (checkout.reserve). Card data are gone after the request: nothing is called again.
func (s *Store) Charge() *intent.Operation[Purchase, Made] {
	c := charger{s}
	return &intent.Operation[Purchase, Made]{
		Kind: intent.Order, Intents: s.intents, Settling: "purchase.before_commit",
		Opening: func(p Purchase) intent.Opening { return s.OpeningOf(p.Order) },
		Row:     c.purchaseOf,
		Steps: []intent.Step[Purchase, Made]{
			{FaultPoint: "purchase.after_call", Call: c.call, Find: c.find, Judge: judge},
		},
		SettleTx: func(ctx context.Context, tx pgx.Tx, p *Purchase, outcome Outcome, by intent.By) error {
			return s.lockAndSettleTx(ctx, tx, &p.Order, outcome, by)
		},
	}
}

// OpeningOf is the intent of an order whose gateway is about to be called, in the transaction that writes it.
func (s *Store) OpeningOf(o Order) intent.Opening {
	return intent.Opening{
		Ref: IntentOf(o.ID), Customer: o.CustomerID, Gateway: nullable.Value(o.Gateway), CallTime: s.intents.CallTime(),
		Begun: o.CreatedAt, Fresh: true,
	}
}

// charger is the one step of an order: the call, and how what it may have made is found.
type charger struct{ store *Store }

// purchaseOf reads an order whose call was not known; over when the release before, which
// knows no intents, has settled it.
func (c charger) purchaseOf(ctx context.Context, i intent.Intent) (p Purchase, over bool, err error) {
	if p.Order, err = c.store.db.OrderGet(ctx, c.store.deps.Pool, i.Subject); err != nil {
		return p, false, err
	}
	p.Payer = gateway.Payer{CustomerID: p.Order.CustomerID, GatewayID: nullable.Value(p.Order.GatewayCustomerID)}
	return p, !p.Order.IntentOpen, nil
}

func (c charger) call(ctx context.Context, gw gateway.Gateway, p Purchase, _ Made) (Made, error) {
	if p.isPix() {
		charge, err := gw.CreatePix(ctx, c.pixTerms(p.Order, p.Payer, p.Title))
		return Made{Pix: &charge}, err
	}
	charge, err := gw.ChargeCard(ctx, p.Order.CardTerms(p.Payer, p.Title, p.Instrument))
	return Made{Payment: &charge.Payment}, err
}

// pixTerms are the terms of an order that is paid by PIX.
func (c charger) pixTerms(o Order, payer gateway.Payer, description string) gateway.PixTerms {
	terms := gateway.PixTerms{
		Reference: o.ID, Kind: gateway.KindTicketOrder, Payer: payer, Amount: money.Cents(o.TotalCents),
		Description: description,
		DueDate:     o.CreatedAt.In(c.store.deps.Config.Zone), ExpiresIn: c.store.deps.Config.PixTTL,
	}
	if o.HoldUntil != nil {
		terms.ExpiresIn = o.HoldUntil.Sub(o.CreatedAt)
	}
	return terms
}

// judge: a card may be charged later, a code is made.
func judge(_ Purchase, made Made) Outcome {
	if made.Payment != nil && made.Payment.Status == gateway.PaymentStatusPending {
		return intent.Pending[Made]{Result: made}
	}
	return Succeeded{Result: made}
}

// find looks at the gateway for what the order's call may have made.
func (c charger) find(ctx context.Context, gw gateway.Gateway, p Purchase, _ Made) (made Made, found bool, err error) {
	background, o := gateway.Background(ctx), p.Order
	switch {
	case p.isPix():
		charge, found, err := gw.FindPix(background, c.pixTerms(o, p.Payer, ""))
		if err == nil && found && charge.Payment.Status == gateway.PaymentStatusPending {
			return c.offerable(ctx, gw, o, charge)
		}
		return Made{Pix: &charge}, found, err
	case o.GatewayPaymentID != nil:
		paid, err := gw.ReadPayment(background, *o.GatewayPaymentID, o.ID)
		return Made{Payment: &paid}, true, err
	}
	charge, found, err := gw.FindCardCharge(background, o.CardTerms(p.Payer, "", gateway.Instrument{}))
	return Made{Payment: &charge.Payment}, found, err
}

// offerable judges a code that a check has found, of which the buyer, who was answered
// without one, is written. One that cannot be shown any more, since the places are held
// no longer, is made unpayable first.
func (c charger) offerable(ctx context.Context, gw gateway.Gateway, o Order,
	charge gateway.PixCharge,
) (made Made, found bool, err error) {
	e, err := c.store.db.EventGet(ctx, c.store.deps.Pool, o.EventID)
	if err != nil {
		return made, false, fmt.Errorf("read event: %w", err)
	}
	after, now := o, c.store.deps.Clock.Now()
	after.SetPix(&charge)
	if after.Payable(now) && !charge.Expired && e.EndsAt.After(now) && e.CancelledAt == nil {
		return Made{Pix: &charge}, true, nil
	}
	paid, err := gateway.WithdrawPix(ctx, gw, charge.Payment.ID, o.ID)
	switch {
	case err != nil:
		return made, false, err
	case paid != nil:
		return Made{Pix: paid}, true, nil
	}
	return Made{Pix: &charge, Expired: true}, true, nil
}

// Settle writes what a gateway reports outside of the order's own call, although the client goes away: the
// money has moved or not by now. An order that is not there is pgx.ErrNoRows.
func (s *Store) Settle(ctx context.Context, id objectid.ID, outcome Outcome) (Order, error) {
	// The money has moved or not by now: a client that went away must not keep
	// that from being written.
	ctx = context.WithoutCancel(ctx)
	o := Order{ID: id}
	err := postgres.InTx(ctx, s.deps.Pool,
		func(tx pgx.Tx) error { return s.lockAndSettleTx(ctx, tx, &o, outcome, intent.ByResponse) })
	if err != nil {
		return Order{}, err
	}
	return o, nil
}

// lockAndSettleTx does so in the caller's transaction.
func (s *Store) lockAndSettleTx(ctx context.Context, tx pgx.Tx, o *Order, outcome Outcome, by intent.By) (err error) {
	id := o.ID
	locked := postgres.Queue(tx, func(db postgres.DB) (Order, error) { return s.db.OrderLock(ctx, db, id) })
	read := s.readAhead(ctx, tx, *o, outcome)
	w := settling{Store: s}
	if *o, err = locked.Get(ctx); err == nil {
		w.ahead, err = read()
	}
	if err == nil {
		err = w.settleTx(ctx, tx, o, outcome, by)
	}
	if err != nil {
		return fmt.Errorf("settle order %s: %w", id, err)
	}
	return nil
}

// SettleTx writes an outcome into a locked order: the one way in which an order learns of
// its money. NotKnown is an error: of it nothing is written.
func (s *Store) SettleTx(ctx context.Context, tx pgx.Tx, o *Order, outcome Outcome, by intent.By) error {
	return settling{Store: s}.settleTx(ctx, tx, o, outcome, by)
}

// settling writes one outcome into an order, with what was read of the order when it was locked.
type settling struct {
	*Store
	ahead    *ahead // nil: all is read where it is needed
	replayed bool   // what waits for the payment is applied once this is committed
}

func (s settling) settleTx(ctx context.Context, tx pgx.Tx, o *Order, outcome Outcome, by intent.By) error {
	end := End{How: outcome, By: by}
	switch outcome := outcome.(type) {
	case Succeeded:
		if outcome.Result.Expired {
			return s.ReleaseTx(ctx, tx, o, state.HoldRunsOut, outcome.Result, end)
		}
		return s.recordMadeTx(ctx, tx, o, outcome.Result, end)
	case intent.Pending[Made]:
		if err := s.recordMadeTx(ctx, tx, o, outcome.Result,
			end); err != nil || by != intent.ByCheck || o.HoldUntil == nil || o.HoldUntil.After(s.deps.Clock.Now()) {
			return err
		}
		// The gateway has thought about the card for too long. What it takes after all
		// is money that arrives late.
		return s.ReleaseTx(ctx, tx, o, state.HoldRunsOut, Made{Expired: true}, End{How: Void{}, By: by})
	case Declined:
		return s.ReleaseTx(ctx, tx, o, lostBy(outcome.Result), outcome.Result, end)
	case Void:
		gaveUp := cmp.Or(outcome.Result.By, state.HoldRunsOut)
		return s.ReleaseTx(ctx, tx, o, gaveUp, Made{Expired: true}, end)
	case intent.Refused[Made]:
		return s.ReleaseTx(ctx, tx, o, state.CallRefused, Made{}, end)
	case intent.Missing[Made]:
		return s.ReleaseTx(ctx, tx, o, state.AbsentAtGateway, Made{}, end)
	case intent.NotKnown[Made]:
	}
	return fmt.Errorf("an outcome %T", outcome)
}

// lostBy is what has become of a payment that the gateway gave up: a code has run out, a card was declined.
func lostBy(made Made) state.Action {
	if made.Expired {
		return state.HoldRunsOut
	}
	return state.PaymentDeclined
}

// recordMadeTx keeps what the gateway has made, and does what follows from its money.
func (s settling) recordMadeTx(ctx context.Context, tx pgx.Tx, o *Order, made Made, end End) error {
	p := made.Payment
	if made.Pix != nil {
		p = &made.Pix.Payment
	}
	if p == nil {
		return nil
	}
	if o.isOtherAmount(*p) {
		return s.keepOtherAmountTx(ctx, tx, o, *p)
	}
	firstSight, open := o.GatewayPaymentID == nil, o.IntentOpen
	_, pending := end.How.(intent.Pending[Made])
	err := s.EditTx(ctx, tx, o, state.Recorded, func(o *Order) {
		if firstSight {
			o.GatewayPaymentID = &p.ID
		}
		if made.Pix != nil && o.State == state.Reserved {
			o.SetPix(made.Pix)
		}
		if !pending {
			o.closeIntent()
		}
	}, end)
	if err != nil {
		return err
	}
	if firstSight {
		// Events may have overtaken the id by which they are found.
		ids := append(recordOf(*o, *p).EventSubjects(), o.ID.String())
		if err := s.deps.Payments.ReplayWaitingTx(ctx, tx, nullable.Value(o.Gateway), ids...); err != nil {
			return err
		}
		s.replayed = true
	}
	switch p.Status {
	case gateway.PaymentStatusSettled:
		return s.settlePaymentTx(ctx, tx, o, *p)
	case gateway.PaymentStatusFailed, gateway.PaymentStatusGone:
		made.Expired = nullable.Value(o.PaymentMethod) != gateway.MethodCard
		return s.ReleaseTx(ctx, tx, o, lostBy(made), made, end)
	case gateway.PaymentStatusPending:
		if open && made.Pix != nil && end.By == intent.ByCheck && o.Payable(s.deps.Clock.Now()) {
			return s.MailLaterTx(ctx, tx, o.ID, MailPix) // the answer to the buyer came without this code
		}
	}
	return nil
}

// isOtherAmount reports whether money is not the order's price, at a gateway where what was
// asked for may be changed.
func (o Order) isOtherAmount(p gateway.Payment) bool {
	return nullable.Value(o.Gateway).Traits().AmountsMayChange && p.Status == gateway.PaymentStatusSettled &&
		int64(p.Amount) != o.TotalCents
}

// keepOtherAmountTx books and lists it: it buys nothing, and people decide. Where it paid
// the order's own charge nobody can pay that any more, and the places are free again.
func (s *Store) keepOtherAmountTx(ctx context.Context, tx pgx.Tx, o *Order, p gateway.Payment) error {
	first, err := s.deps.Payments.RecordPaymentTx(ctx, tx, recordOf(*o, p))
	if err != nil {
		return fmt.Errorf("record payment: %w", err)
	}
	if first {
		note := fmt.Sprintf("R$ %s was paid where R$ %s was due.", p.Amount, money.Cents(o.TotalCents))
		u := payments.Unapplied{Kind: payments.UnappliedForeign, Note: note}
		if err := s.ListUnappliedTx(ctx, tx, *o, p, u); err != nil {
			return err
		}
	}
	if nullable.Value(o.GatewayPaymentID) != p.ID || o.State != state.Reserved {
		return nil
	}
	return s.ReleaseTx(ctx, tx, o, state.OtherAmountPaid, Made{Expired: true},
		End{How: Succeeded{}, By: intent.ByResponse})
}

// settlePaymentTx is where money ends: in the ledger, and in tickets or a refund,
// never in neither and never in both. Repetitions change nothing.
func (s settling) settlePaymentTx(ctx context.Context, tx pgx.Tx, o *Order, p gateway.Payment) error {
	first, err := s.bookTx(ctx, tx, *o, p)
	if err != nil {
		return fmt.Errorf("record payment: %w", err)
	}
	if nullable.Value(o.GatewayPaymentID) != p.ID {
		if !first {
			return nil
		}
		u := payments.Unapplied{Kind: payments.UnappliedDuplicate, Note: "A second payment of the order."}
		if err := s.ListUnappliedTx(ctx, tx, *o, p, u); err != nil {
			return err
		}
		return s.RefundLaterTx(ctx, tx, *o, p.ID)
	}
	err = s.EditTx(ctx, tx, o, state.PaidThere, func(o *Order) {
		o.PaymentStatus = later(o.words(), o.PaymentStatus, p.NativeStatus)
		o.closeIntent()
	})
	if err != nil {
		return err
	}
	if o.State != state.Reserved && o.State != state.Released {
		return nil
	}
	gone, err := s.isGoneTx(ctx, tx, *o)
	if err != nil {
		return err
	}
	if gone {
		return s.refundDeletedTx(ctx, tx, o, p)
	}
	seated, err := s.seatTx(ctx, tx, *o)
	if err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	if !seated {
		// Of an event that is over, places may still be held.
		if err := s.db.TicketExpireOfOrder(ctx, tx, o.ID, state.TicketPaidTooLate, now); err != nil {
			return fmt.Errorf("release places: %w", err)
		}
		if err := s.MoveTx(ctx, tx, o, state.PaymentTooLate, func(o *Order) { o.PaidAt = &now }); err != nil {
			return err
		}
		note, err := s.whyNotSeatedTx(ctx, tx, *o)
		if err != nil {
			return err
		}
		u := payments.Unapplied{Kind: payments.UnappliedLate, Note: note}
		if err := s.ListUnappliedTx(ctx, tx, *o, p, u); err != nil {
			return err
		}
		if err := s.DisputedTx(ctx, tx, o); err != nil { // it may have been told before the payment
			return err
		}
		return s.RefundLaterTx(ctx, tx, *o, p.ID)
	}
	seatedBy := state.PaymentSeated
	if o.State == state.Released {
		seatedBy = state.LatePayment
	}
	if err := s.MoveTx(ctx, tx, o, seatedBy, func(o *Order) { o.PaidAt = &now }); err != nil {
		return err
	}
	if err := s.syncEarlierTx(ctx, tx, o); err != nil {
		return err
	}
	return s.PaidTx(ctx, tx, *o)
}

// isGoneTx reports whether the customer has deleted the account. It holds their row, so
// that who deletes it meanwhile loses the tickets that were paid before, and no others.
func (s settling) isGoneTx(ctx context.Context, tx pgx.Tx, o Order) (bool, error) {
	if held, err := s.holdCustomerTx(ctx, tx, o); err != nil || held {
		return false, err
	}
	deleted, err := s.deps.Accounts.CustomerDeletedAt(ctx, tx, o.CustomerID)
	return deleted != nil, err
}

// refundDeletedTx lists money of an order whose customer was deleted before it was known
// to be paid: the gateway could not drop its code in time. It gives no tickets, which
// would go with the rest of what the customer had, and is given back by itself.
func (s *Store) refundDeletedTx(ctx context.Context, tx pgx.Tx, o *Order, p gateway.Payment) error {
	now := s.deps.Clock.Now()
	if err := s.db.TicketExpireOfOrder(ctx, tx, o.ID, state.TicketBuyerDeleted, now); err != nil {
		return fmt.Errorf("release places: %w", err)
	}
	if err := s.MoveTx(ctx, tx, o, state.PaidAfterGone, func(o *Order) { o.PaidAt = &now }); err != nil {
		return err
	}
	u := payments.Unapplied{
		Kind: payments.UnappliedLate, Note: "Paid after the customer had deleted the account.", Automatic: true,
	}
	if err := s.ListUnappliedTx(ctx, tx, *o, p, u); err != nil {
		return err
	}
	return s.DisputedTx(ctx, tx, o) // it may have been told before the payment
}

// ListUnappliedTx puts money that gives no tickets on the list of unapplied payments.
// The order's own job refunds it, and shows there when it cannot. The caller says its kind and note in u.
func (s *Store) ListUnappliedTx(ctx context.Context, tx pgx.Tx, o Order, p gateway.Payment,
	u payments.Unapplied,
) error {
	_, err := s.deps.Payments.Cases().RecordUnappliedTx(ctx, tx, u.Of(o.Owner(), p))
	return err
}

// later keeps a payment's word from going back: a card is CONFIRMED first and
// RECEIVED 32 days later.
func later(words gateway.PaymentWords, now, reported string) string {
	if reported == "" || now == words.Settled && reported == StatusConfirmed || now == StatusRefunded ||
		now == words.Refunded || now == statusChargebackLost {
		return now
	}
	return reported
}
