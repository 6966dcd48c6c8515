package webhooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/jobs"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// locate finds the subscription in the contract's order (docs/contract/payments.md, Webhooks): the gateway's
// subscription, the authorization, the local id that the gateway was told. The
// last also finds events that overtook our own commit, and those of a call whose
// answer was none: whether the event fits the row is strayTx's to say. A payment that
// the ledger has needs no looking: its row says what it was for.
func (s *Locator) locate(ctx context.Context, tx pgx.Tx, e gateway.Event) (lifecycle.Row, error) {
	if e.Known != nil {
		if e.Known.Purpose != gateway.ForSubscription {
			return lifecycle.Row{}, pgx.ErrNoRows
		}
		return s.db.GetSubscription(ctx, tx, e.Known.LocalID)
	}
	for _, find := range []func(context.Context, pgx.Tx, gateway.Event) (lifecycle.Row, error){
		func(ctx context.Context, tx pgx.Tx, e gateway.Event) (lifecycle.Row, error) {
			return s.LocateRemote(ctx, tx, e.Gateway, e.SubscriptionID)
		},
		s.locateAuthorization, s.locateReference, s.deps.Charges.LocateCharge, s.locateByPix,
	} {
		sub, err := find(ctx, tx, e)
		if !errors.Is(err, pgx.ErrNoRows) {
			return sub, err
		}
	}
	return lifecycle.Row{}, pgx.ErrNoRows
}

// LocateRemote finds the subscription by the gateway's id of its recurrence.
func (s *Locator) LocateRemote(ctx context.Context, db postgres.DB, gw gateway.Name,
	recurrence string) (lifecycle.Row, error) {
	if recurrence == "" {
		return lifecycle.Row{}, pgx.ErrNoRows
	}
	if gw == gateway.GWA { // each gateway's ids have a column of their own
		return s.db.GetSubscriptionByGWAID(ctx, db, &recurrence)
	}
	return s.db.GetSubscriptionByGWBID(ctx, db, &recurrence)
}

func (s *Locator) locateAuthorization(ctx context.Context, tx pgx.Tx, e gateway.Event) (lifecycle.Row, error) {
	if e.AuthorizationID != "" {
		sub, err := s.db.GetSubscriptionByAuthorization(ctx, tx, &e.AuthorizationID)
		if !errors.Is(err, pgx.ErrNoRows) {
			return sub, err
		}
	}
	if e.ConciliationID == "" {
		return lifecycle.Row{}, pgx.ErrNoRows
	}
	return s.db.GetSubscriptionByConciliation(ctx, tx, &e.ConciliationID)
}

func (s *Locator) locateReference(ctx context.Context, tx pgx.Tx, e gateway.Event) (lifecycle.Row, error) {
	if !objectid.Valid(e.Reference.String()) {
		return lifecycle.Row{}, pgx.ErrNoRows
	}
	return s.db.GetSubscription(ctx, tx, e.Reference)
}

// locateByPix finds the subscription whose code a refund or a dispute of gateway B is
// of, which names nothing but the payment.
func (s *Locator) locateByPix(ctx context.Context, tx pgx.Tx, e gateway.Event) (lifecycle.Row, error) {
	id := ofPayment(e)
	if id == "" {
		return lifecycle.Row{}, pgx.ErrNoRows
	}
	sub, err := s.db.GetSubscriptionByPixPayment(ctx, tx,
		subscriptionsdb.GetSubscriptionByPixPaymentParams{Gateway: e.Gateway, PixPaymentID: &id})
	if !errors.Is(err, pgx.ErrNoRows) {
		return sub, err
	}
	c, err := s.db.GetRenewalChargeByPayment(ctx, tx,
		subscriptionsdb.GetRenewalChargeByPaymentParams{Gateway: e.Gateway, GatewayPaymentID: &id})
	if err != nil {
		return lifecycle.Row{}, err
	}
	return s.db.GetSubscription(ctx, tx, c.SubscriptionID)
}

// ofPayment is the payment that a refund or a dispute is of, where the event tells
// nothing else of it; "" else.
func ofPayment(e gateway.Event) string {
	if _, ok := e.Payment(); ok {
		return ""
	}
	return e.TakenFrom()
}

// repeatOthersTx reports whether an event names the subscription with a payment that the
// ledger has for something else: it pays that alone, whoever tells it. One that was made
// another row's of the customer (/extend) learns what the gateway says of it since.
func (s *Locator) repeatOthersTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, e gateway.Event) (bool, error) {
	told, settled := e.Payload.(gateway.SettledPayment)
	if !settled {
		return false, nil
	}
	known, err := s.deps.Payments.FindPayment(ctx, tx, e.Gateway, told.Payment.ID)
	if err != nil || !settle.IsOthers(sub, known) {
		return false, err
	}
	if known.CustomerID == sub.CustomerID {
		err = s.BookTx(ctx, tx, sub, e.Gateway, told.Payment)
	}
	return true, err
}

// stray says why an event that names a subscription is about something else of its
// gateway; the zero value, that it is not.
type stray struct {
	reason gateway.Reason
	waits  bool // applied again once the row knows its recurrence, or the ledger the payment
	ours   bool // money of it was charged for the subscription once more
}

// strayTx holds the event's ids against the row's. An id that contradicts is not
// believed, and never written over the row's own.
func (s *Locator) strayTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, e gateway.Event) (stray, error) {
	if e.Known != nil {
		return stray{}, nil
	}
	known := lifecycle.RemoteID(sub)
	_, ofAuthorization := e.Payload.(gateway.AuthorizationChange)
	_, settled := e.Payload.(gateway.SettledPayment)
	_, refund := e.Payload.(gateway.RefundChange)
	paid, ofMoney := e.Payment()
	otherRecurrence := e.SubscriptionID != "" && !ofAuthorization && e.SubscriptionID != known
	switch {
	case sub.Gateway != e.Gateway:
		return stray{reason: gateway.ReasonOtherGateway}, nil
	case ofPayment(e) != "" && (refund || e.SubscriptionID == "" || sub.Status == state.Pending):
		// How much was paid, and how, is not told: what was taken back before the payment
		// is booked would pass for a refund of ours, and the payment then for money.
		return stray{reason: gateway.ReasonNotBooked, waits: true}, nil
	case e.AuthorizationID != "" && sub.GwaPixAuthID != nil && *sub.GwaPixAuthID != e.AuthorizationID:
		return stray{reason: gateway.ReasonOtherAuthorization, ours: true}, nil
	case ofAuthorization && e.Reference != "" && e.Reference != sub.ID:
		return stray{reason: gateway.ReasonOtherContract}, nil
	case otherRecurrence && known != "",
		otherRecurrence && !e.Gateway.Traits().SignsEvents && sub.PaymentMethod != gateway.MethodCard:
		return stray{reason: gateway.ReasonOtherRecurrence, ours: true}, nil
	case otherRecurrence && !e.Gateway.Traits().SignsEvents && !settled:
		return stray{reason: gateway.ReasonRecurrenceUnknown, waits: true}, nil
	case ofAuthorization && e.ConciliationID != "" && e.ConciliationID != nullable.Value(sub.PixConciliationID):
		if sub.PixConciliationID != nil {
			return stray{reason: gateway.ReasonOtherAuthorization}, nil
		}
		return s.takenTx(s.db.GetSubscriptionByConciliation(ctx, tx, &e.ConciliationID))
	case ofMoney && sub.PaymentMethod == gateway.MethodPix && !sub.PixAutomatic && sub.PixPaymentID == nil:
		return s.takenTx(s.db.GetSubscriptionByPixPayment(ctx, tx, subscriptionsdb.GetSubscriptionByPixPaymentParams{
			Gateway: sub.Gateway, PixPaymentID: &paid.ID,
		}))
	}
	return stray{}, nil
}

// takenTx: the row lacks an id that the event tells. Another row has it already.
func (*Locator) takenTx(_ lifecycle.Row, err error) (stray, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return stray{}, nil
	}
	return stray{reason: gateway.ReasonOtherSubscription}, err
}

// listStrayTx: money is never kept in silence, also where nobody can apply it.
func (s *Locator) listStrayTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, why stray, e gateway.Event) error {
	told, settled := e.Payload.(gateway.SettledPayment)
	p := told.Payment
	if !settled || p.Amount == 0 {
		return nil
	}
	s.deps.Log.WarnContext(ctx, "money that names a subscription and is not its own",
		slog.String("subscription_id", sub.ID.String()),
		slog.String("gateway", string(e.Gateway)), slog.String("payment_id", p.ID),
		slog.String("reason", string(why.reason)))
	u := payments.Unapplied{
		Kind: payments.UnappliedForeign, Gateway: e.Gateway, PaymentID: p.ID, Amount: &p.Amount,
		CustomerID: sub.CustomerID, SubscriptionID: sub.ID, PaidAt: p.SettledAt,
		Note: "The event names the subscription, but is about " + string(why.reason) + ".",
	}
	if why.ours {
		u.Kind, u.Automatic = payments.UnappliedDuplicate, true
	}
	if err := s.BookTx(ctx, tx, sub, e.Gateway, p); err != nil {
		return err
	}
	if _, err := s.deps.Payments.Cases().RecordUnappliedTx(ctx, tx, u); err != nil || !why.ours {
		return err
	}
	return s.endStrayTx(ctx, tx, sub, e)
}

// adoptTx keeps the gateway's subscription id when an event tells it first.
func (s *Locator) adoptTx(ctx context.Context, tx pgx.Tx, sub *lifecycle.Row,
	e gateway.Event) (adopted bool, err error) {
	if e.SubscriptionID == "" || lifecycle.RemoteID(*sub) != "" {
		return false, nil
	}
	err = s.deps.Store.EditTx(ctx, tx, sub, state.RecurrenceAdopted,
		func(r *lifecycle.Row) { lifecycle.SetRecurrence(r, e.SubscriptionID) })
	if err != nil {
		return false, err
	}
	return true, s.deps.Payments.ReplayWaitingTx(ctx, tx, e.Gateway, e.SubscriptionID)
}

// BookTx takes a payment into the ledger and changes nothing of the subscription.
func (s *Locator) BookTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, gw gateway.Name, p gateway.Payment) error {
	_, err := s.deps.Payments.RecordPaymentTx(ctx, tx, payments.Record{
		Gateway: gw, Purpose: gateway.ForSubscription, LocalID: sub.ID, CustomerID: sub.CustomerID, Payment: p,
	})
	return err
}

// StrayWait is how soon it is looked at again whether the money of a recurrence that
// no row owns goes back: soon, as it goes on charging until then.
const StrayWait = 10 * time.Second

// EndStrayArgs ends at the gateway a recurrence that names one of our subscriptions, or
// is one of our customers', but belongs to no row.
type EndStrayArgs struct {
	Gateway        gateway.Name `json:"gateway"`
	RecurrenceID   string       `json:"recurrence_id"`
	SubscriptionID objectid.ID  `json:"subscription_id"`
	PaymentID      string       `json:"payment_id"` // the charge that told of it
	// CustomerID is the gateway's customer, of a recurrence that names none of our
	// subscriptions: it is that customer's, or nothing is ended.
	CustomerID string `json:"customer_id,omitempty"`
}

// Kind names the job.
func (EndStrayArgs) Kind() string { return "subscriptions_end_stray" }

// endStrayTx has the recurrence behind a charge ended that is booked beside the
// subscription's own.
func (s *Locator) endStrayTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, e gateway.Event) error {
	if e.SubscriptionID == "" || e.SubscriptionID == lifecycle.RemoteID(sub) {
		return nil
	}
	return s.InsertEndStrayTx(ctx, tx, EndStrayArgs{
		Gateway: e.Gateway, RecurrenceID: e.SubscriptionID, SubscriptionID: sub.ID, PaymentID: e.PaymentID(),
	})
}

// InsertEndStrayTx has a recurrence ended that nobody owns.
func (s *Locator) InsertEndStrayTx(ctx context.Context, tx pgx.Tx, args EndStrayArgs) error {
	_, err := s.deps.Jobs.InsertTx(ctx, tx, args,
		&river.InsertOpts{Queue: jobs.QueueGateway, UniqueOpts: river.UniqueOpts{ByArgs: true}})
	if err != nil {
		return fmt.Errorf("queue the end of a recurrence: %w", err)
	}
	return nil
}
