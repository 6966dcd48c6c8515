package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// GoesOnTx reports whether the recurrence goes on at the end of the locked subscription's
// extension, which is no end then. An error is the database's.
func (s *Reads) GoesOnTx(ctx context.Context, tx pgx.Tx, sub Subscription) (bool, error) {
	if !sub.Recurs() || sub.CancelAtPeriodEnd || sub.ExpiresAt == nil {
		return false, nil
	}
	return s.db.ChargeMoveGoesBeyond(ctx, tx, sub.ID, sub.ExpiresAt.Add(-time.Second))
}

// IsPausedTx reports whether nothing is to be collected for the subscription now, or
// whether the gateway has not confirmed yet that it collects again. An error is the database's.
func (s *Reads) IsPausedTx(ctx context.Context, tx pgx.Tx, id objectid.ID) (bool, error) {
	_, err := s.db.PauseLockOpen(ctx, tx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// PausedLatelyTx is IsPausedTx for what was read a moment ago. An error is the database's.
func (s *Reads) PausedLatelyTx(ctx context.Context, tx pgx.Tx, id objectid.ID) (bool, error) {
	return s.db.PauseExistsSince(ctx, tx, id, s.deps.Clock.Now().Add(-time.Hour))
}

// IsEchoTx reports whether gateway A's word that a recurrence is inactive is the echo
// of a pause, which may come late. An error is the database's.
func (s *Reads) IsEchoTx(ctx context.Context, tx pgx.Tx, sub Subscription, remote gateway.RemoteSubscription,
	at time.Time,
) (bool, error) {
	if !remote.Inactive {
		return false, nil
	}
	return s.db.PauseExistsSince(ctx, tx, sub.ID, at)
}

// ExtendedTo is the end of an extension whose order is open: what the gateway tells
// meanwhile of its period is from before it. Nil: there is none. An error is the database's.
func (s *Reads) ExtendedTo(ctx context.Context, db postgres.DB, sub Subscription) (*time.Time, error) {
	last, err := s.db.ChargeMoveGetLast(ctx, db, sub.ID)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && last.State != state.MoveOpen:
		return nil, nil //nolint:nilnil // nil is the answer
	case err != nil:
		return nil, fmt.Errorf("read extension: %w", err)
	}
	return &last.ToAt, nil
}

// CycleOfTx is the beginning of the cycle that a payment pays; nil when it is no
// debit of the subscription. An error is the database's.
func (s *Reads) CycleOfTx(ctx context.Context, tx pgx.Tx, sub Subscription, paymentID string) (*time.Time, error) {
	d, err := s.db.DebitGetByPayment(ctx, tx, &paymentID)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && d.SubscriptionID != sub.ID {
		return nil, nil //nolint:nilnil // nil is the answer: no debit
	}
	if err != nil {
		return nil, fmt.Errorf("read debit: %w", err)
	}
	return new(s.calendar.DayOf(d.Cycle)), nil
}

// DebitOfTx is the debit of the subscription that a payment pays. An error is the database's.
func (s *Reads) DebitOfTx(ctx context.Context, tx pgx.Tx, sub Subscription,
	paymentID string,
) (d Debit, found bool, err error) {
	if !sub.PixAutomatic || paymentID == "" {
		return Debit{}, false, nil
	}
	d, err = s.db.DebitGetByPayment(ctx, tx, &paymentID)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && d.SubscriptionID != sub.ID {
		return Debit{}, false, nil
	}
	if err != nil {
		return Debit{}, false, fmt.Errorf("read debit: %w", err)
	}
	return d, true, nil
}

// WasPriceTx reports whether an amount is the price before a plan move: a charge that was made before it, and falls due
// after it, is of that. An error is the database's.
func (s *Reads) WasPriceTx(ctx context.Context, tx pgx.Tx, sub Subscription, amount money.Cents) (bool, error) {
	since := s.deps.Clock.Now().Add(-sub.Traits().ChargesAhead)
	was, err := s.db.PlanMoveIsPrice(ctx, tx, subscriptionsdb.PlanMoveIsPriceParams{
		SubscriptionID: sub.ID, AmountCents: int64(amount), Since: &since,
	})
	if err != nil {
		return false, fmt.Errorf("read plan moves: %w", err)
	}
	return was, nil
}

// Find reads a subscription by its id: 422 for what is no id, 404 for an unknown
// one. Other errors are the database's.
func (s *Reads) Find(ctx context.Context, db postgres.DB, id string) (Subscription, error) {
	if !objectid.Valid(id) {
		return Subscription{}, fault.InvalidAt(objectid.ErrMalformed.Error(), "path", "id")
	}
	sub, err := s.db.SubscriptionGet(ctx, db, objectid.ID(id))
	if postgres.IsNoRows(err) {
		return Subscription{}, fault.NotFound("Subscription")
	}
	return sub, err
}

// suspendedByAdmin is the reason of a suspension by an admin.
var suspendedByAdmin = state.ReasonFor(state.AdminSuspends, state.Known{})

// ClosedByDisputeTx reports whether a suspended subscription would be open but
// for its dispute: payments that failed keep it closed, and so does an admin. An error is the database's.
func (s *Reads) ClosedByDisputeTx(ctx context.Context, tx pgx.Tx, sub Subscription) (bool, error) {
	if int(sub.PaymentFailures) >= s.deps.Config.MaxPaymentFailures {
		return false, nil
	}
	reason, err := s.db.TransitionGetLastReason(ctx, tx, sub.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, nil
	}
	return reason != state.ReasonPaymentFailure && reason != suspendedByAdmin, err
}

// Current returns the customer's live subscription; 404 when there is none. Other errors are the database's.
func (s *Reads) Current(ctx context.Context, customerID objectid.ID) (Subscription, error) {
	sub, err := s.db.SubscriptionGetLive(ctx, s.deps.Pool, customerID)
	if errors.Is(err, pgx.ErrNoRows) {
		return Subscription{}, fault.NotFound("Subscription")
	}
	if err != nil {
		return Subscription{}, fmt.Errorf("read subscription: %w", err)
	}
	return sub, nil
}

// WaitingRenewal is the customer's renewal that waits; ok is false when there is none. An error is the database's.
func (s *Reads) WaitingRenewal(ctx context.Context, db postgres.DB,
	customerID objectid.ID,
) (waiting Subscription, ok bool, err error) {
	waiting, err = s.db.SubscriptionGetWaitingRenewal(ctx, db, customerID)
	if errors.Is(err, pgx.ErrNoRows) {
		return Subscription{}, false, nil
	}
	if err != nil {
		return Subscription{}, false, fmt.Errorf("read renewal: %w", err)
	}
	return waiting, true, nil
}

// StatusActions is the contract's mapping of gateway B's statuses (docs/contract/payments.md, Statuses of gateway B).
var StatusActions = map[gateway.RemoteStatus]state.Action{
	gateway.RemoteActive:            state.GatewaySaysActive,
	gateway.RemoteTrialing:          state.GatewaySaysActive,
	gateway.RemotePastDue:           state.GatewaySaysSuspended,
	gateway.RemoteUnpaid:            state.GatewaySaysSuspended,
	gateway.RemotePaused:            state.GatewaySaysSuspended,
	gateway.RemoteCanceled:          state.GatewaySaysCancelled,
	gateway.RemoteIncomplete:        state.GatewaySaysIncomplete,
	gateway.RemoteIncompleteExpired: state.GatewaySaysExpired,
}

// SuspendedByTx says what keeps a subscription suspended against gateway B's routine word
// that its recurrence runs: money that is disputed, or an admin. "" when that word
// opens it. An error is the database's.
func (s *Reads) SuspendedByTx(ctx context.Context, tx pgx.Tx, sub Subscription) (gateway.Reason, error) {
	switch {
	case sub.Status != state.Suspended:
		return "", nil
	case sub.HasChargeback:
		return gateway.ReasonSuspendedByDispute, nil
	}
	reason, err := s.db.TransitionGetLastReason(ctx, tx, sub.ID)
	if err == nil && reason == suspendedByAdmin {
		return gateway.ReasonSuspendedByAdmin, nil
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return "", err
}

// RenewalChain is the subscription and all that it followed by renewals, newest first:
// to their customer they are one. An error is the database's.
func (s *Reads) RenewalChain(ctx context.Context, db postgres.DB, sub Subscription) ([]Subscription, error) {
	if sub.RenewsID == nil {
		return []Subscription{sub}, nil
	}
	chain, err := s.db.SubscriptionListRenewals(ctx, db, sub.ID)
	if err != nil {
		return nil, fmt.Errorf("list what subscription %s renews: %w", sub.ID, err)
	}
	return chain, nil
}

// PayerOf is the payer of a subscription; of a deleted customer it has the ids alone.
func (s *Reads) PayerOf(ctx context.Context, sub Subscription) gateway.Payer {
	customer, err := s.deps.Accounts.CustomerByID(ctx, s.deps.Pool, sub.CustomerID)
	if err != nil {
		customer = accounts.Customer{ID: sub.CustomerID}
	}
	payer := PayerOf(customer, sub.Gateway)
	if _, known := sub.idColumns(); *known != nil {
		payer.GatewayID = **known
	}
	return payer
}

// Running reports whether a subscription at its gateway gives access.
func Running(status gateway.RemoteStatus) bool {
	return status == gateway.RemoteActive || status == gateway.RemoteTrialing
}

// IsMissing reports whether the error says that there is no such thing.
func IsMissing(err error) bool { return fault.Is(err, fault.KindNotFound) }
