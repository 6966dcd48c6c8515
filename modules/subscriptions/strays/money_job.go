package strays

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// strayMoneyWait is how soon it is looked again whether what is being asked of the
// gateway for the customer has been answered.
const strayMoneyWait = time.Minute

// StrayMoneyArgs reads live, and lists, a customer's money that names nothing here, or
// an unknown customer's that names one of our ids.
type StrayMoneyArgs struct {
	Gateway    gateway.Name `json:"gateway"`
	PaymentID  string       `json:"payment_id"`
	CustomerID string       `json:"customer_id"` // the gateway's
	// Reference is our id that it names, where the customer has no subscription here.
	Reference objectid.ID `json:"reference,omitempty"`
}

// Kind names the job.
func (StrayMoneyArgs) Kind() string { return "subscriptions_stray_money" }

// TakeStrayMoneyTx takes in settled money that nothing here knows when the gateway's
// customer is one of ours, also a deleted one, or when it names an id of ours, as does
// what a restored database has lost (webhook.StrayMoneyTaker). All else is what other
// systems take in the same account.
func (s *Strays) TakeStrayMoneyTx(ctx context.Context, tx pgx.Tx, e gateway.Event) (gateway.Result, error) {
	unclaimed := gateway.Result{Status: gateway.ResultIgnored, Unclaimed: true}
	sub, customer, err := s.ofGatewayCustomer(ctx, tx, e.Gateway, e.CustomerID)
	if err != nil || customer == "" && !e.NamesOurs() {
		return unclaimed, err
	}
	paymentID := e.PaymentID()
	if state, err := s.deps.Payments.Cases().UnappliedStateOf(ctx, tx, e.Gateway, paymentID); err != nil ||
		state != "" {
		return unclaimed, err // it is listed, and needs no ledger for that
	}
	known, err := s.deps.Payments.FindPayment(ctx, tx, e.Gateway, paymentID)
	if err != nil || known != nil {
		return unclaimed, err
	}
	args := StrayMoneyArgs{Gateway: e.Gateway, PaymentID: paymentID, CustomerID: e.CustomerID}
	unclaimed.Reason = gateway.ReasonStrayMoney
	if sub == nil && e.NamesOurs() {
		args.Reference = e.Reference
	}
	if customer == "" {
		unclaimed.Reason = gateway.ReasonNamedMoney
	}
	_, err = s.deps.Jobs.InsertTx(ctx, tx, args,
		&river.InsertOpts{Queue: jobs.QueueGateway, UniqueOpts: river.UniqueOpts{ByArgs: true}})
	if err != nil {
		return unclaimed, fmt.Errorf("have stray money read: %w", err)
	}
	unclaimed.Taken = true
	return unclaimed, nil
}

// TakeStrayMoney books a customer's money as the gateway shows it, and lists it as
// foreign, so that it is refunded automatically; the recurrence that charged it is
// ended. What the gateway does not know, or shows as unpaid or as another's, is left
// alone; what it does not answer is asked again. While a call for the customer is not
// answered it may be that one's. What names an id of ours, of a customer whom nobody
// knows, is listed for people.
func (s *Strays) TakeStrayMoney(ctx context.Context, a StrayMoneyArgs) error {
	sub, customer, err := s.ofGatewayCustomer(ctx, s.deps.Pool, a.Gateway, a.CustomerID)
	if err != nil || customer == "" && a.Reference == "" {
		return err
	}
	named := a.Reference // which the gateway has to show
	if sub != nil {
		named = ""
	}
	gw, err := s.deps.Payments.Gateway(a.Gateway)
	if err != nil {
		return err
	}
	if strings.HasPrefix(a.PaymentID, "pi_") {
		invoice, err := gw.InvoiceOf(ctx, a.PaymentID)
		if err != nil {
			return fmt.Errorf("find the invoice of %s: %w", a.PaymentID, err)
		}
		if invoice != "" {
			return nil // which tells itself what it is for
		}
	}
	remote, err := gw.ReadPayment(ctx, a.PaymentID, named)
	if err != nil && a.Gateway.Traits().MissNeedsList && named == "" {
		if _, again := gw.ReadPayment(ctx, a.PaymentID, customer); errors.Is(again, gateway.ErrMissing) {
			err = again
		}
	}
	switch {
	case errors.Is(err, gateway.ErrMissing):
		return s.leaveStray(ctx, a, "the gateway does not know it")
	case err != nil:
		return fmt.Errorf("read stray payment %s: %w", a.PaymentID, err)
	case remote.ID != a.PaymentID:
		return fmt.Errorf("%w: asked for %s, the gateway told of %q", gateway.ErrOutcomeUnknown, a.PaymentID, remote.ID)
	case remote.Status != gateway.PaymentStatusSettled || remote.Amount <= 0:
		return s.leaveStray(ctx, a, "it is "+remote.NativeStatus)
	case remote.CustomerGatewayID != a.CustomerID:
		return s.leaveStray(ctx, a, "it is another customer's")
	}
	if customer == "" {
		return postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool,
			func(tx pgx.Tx) error { return s.listNamedTx(ctx, tx, a, remote) })
	}
	waiting := false
	err = postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		if err := s.deps.Store.LockCustomerTx(ctx, tx, customer); err != nil {
			return err
		}
		waiting, err = s.db.SubscriptionHasOpenIntent(ctx, tx, customer, a.Gateway)
		if err != nil || waiting {
			return err
		}
		if sub == nil {
			return s.listTx(ctx, tx, gateway.OfCustomer(a.Gateway, customer), a, remote,
				ofBuyer(a, remote.SubscriptionGatewayID))
		}
		locked, err := s.deps.Store.LockTx(ctx, tx, customer, sub.ID)
		if err != nil {
			return err
		}
		return s.listTx(ctx, tx, locked.Owner().At(a.Gateway), a, remote, payments.Unapplied{
			Kind: payments.UnappliedForeign, Automatic: true,
			Note: "The gateway charged this customer, and the payment names no subscription or order known here.",
		})
	})
	if err == nil && waiting {
		return river.JobSnooze(strayMoneyWait)
	}
	return err
}

// listTx takes money of a customer of ours into the ledger and onto the list, unless it is that of a recurrence which
// some row owns by now.
func (s *Strays) listTx(ctx context.Context, tx pgx.Tx, owner gateway.Owner, a StrayMoneyArgs, p gateway.Payment,
	u payments.Unapplied,
) error {
	known, err := s.deps.Payments.FindPayment(ctx, tx, a.Gateway, p.ID)
	if err != nil || known != nil {
		return err
	}
	recurrence := p.SubscriptionGatewayID
	_, err = s.deps.Locator.LocateRemote(ctx, tx, a.Gateway, recurrence)
	if !errors.Is(err, pgx.ErrNoRows) {
		return err // its event waited for the row, and is applied with it
	}
	s.deps.Log.WarnContext(ctx, "money of a customer of ours that is of no subscription",
		slog.String("gateway", string(a.Gateway)),
		slog.String("payment_id", p.ID), slog.String("recurrence_id", recurrence),
		slog.String("customer_id", owner.CustomerID.String()))
	if err := s.deps.Payments.BookUnappliedTx(ctx, tx, owner, p, u); err != nil || recurrence == "" {
		return err
	}
	named := a.Reference
	if owner.Purpose == gateway.ForSubscription {
		named = owner.LocalID
	}
	return s.deps.Locator.InsertEndStrayTx(ctx, tx, webhooks.EndStrayArgs{
		Gateway: a.Gateway, RecurrenceID: recurrence, SubscriptionID: named, PaymentID: p.ID, CustomerID: a.CustomerID,
	})
}

func (s *Strays) leaveStray(ctx context.Context, a StrayMoneyArgs, why string) error {
	s.deps.Log.WarnContext(ctx, "money that the gateway does not confirm is left alone",
		slog.String("gateway", string(a.Gateway)),
		slog.String("payment_id", a.PaymentID), slog.String("reason", why))
	return nil
}

// ofGatewayCustomer finds whose customer a gateway's is: "" when it is nobody's of ours.
// Sub is their newest subscription there, nil of who has bought nothing but tickets.
func (s *Strays) ofGatewayCustomer(ctx context.Context, db postgres.DB, gateway gateway.Name,
	gatewayID string,
) (sub *lifecycle.Subscription, customer objectid.ID, err error) {
	found, err := s.db.SubscriptionGetOfGatewayCustomer(ctx, db, gateway, gatewayID)
	if err == nil {
		return &found, found.CustomerID, nil
	}
	if errors.Is(err, pgx.ErrNoRows) {
		customer, err = s.deps.Accounts.CustomerOfGateway(ctx, db, string(gateway), gatewayID)
	}
	if err != nil {
		return nil, "", fmt.Errorf("find whose money it is: %w", err)
	}
	return nil, customer, nil
}

// ofBuyer lists money of a customer who has no subscription at the gateway. What a recurrence took that names an id of
// ours is of a subscription that is lost, and goes back by itself; about all else people decide, since it may be what
// they have bought of somebody else there. The recurrence ends when its money goes back.
func ofBuyer(a StrayMoneyArgs, recurrence string) payments.Unapplied {
	u := payments.Unapplied{
		Kind: payments.UnappliedForeign,
		Note: "The gateway charged this customer, who has no subscription there, and the payment names no order known here.",
	}
	if recurrence != "" && a.Reference != "" {
		u.Automatic = true
		u.Note = "The gateway charged this customer by recurrence " + recurrence + ", which names " +
			a.Reference.String() + ": not a subscription known here, as after a restore of an older database."
	}
	return u
}
