package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// endedAuthorizations say what the gateway's word makes of a row that runs.
var endedAuthorizations = map[gateway.AuthorizationStatus]state.Action{
	gateway.AuthorizationStatusRefused:   state.AuthorizationCancelled,
	gateway.AuthorizationStatusCancelled: state.AuthorizationCancelled,
	gateway.AuthorizationStatusExpired:   state.AuthorizationExpired,
}

// SyncAuthorization applies what the gateway says of an authorization. One that was not
// known is adopted, and opens the subscription, when it carries our id.
func (s *Reconciler) SyncAuthorization(ctx context.Context, a webhooks.RefusedArgs) error {
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, a.SubscriptionID)
	if err != nil {
		return err
	}
	sync := s.syncActivation
	if a.AuthorizationID == "" {
		sync = s.syncRefusal
	}
	ignored, err := sync(ctx, sub, a)
	if err != nil {
		return err
	}
	return s.finishConfirmation(ctx, sub, a.EventID, ignored)
}

func (s *Reconciler) syncActivation(ctx context.Context, sub lifecycle.Subscription,
	a webhooks.RefusedArgs,
) (ignored gateway.Reason, err error) {
	if sub.GwaPixAuthID != nil && *sub.GwaPixAuthID != a.AuthorizationID {
		return gateway.ReasonOtherSubscription, nil
	}
	if !sub.Traits().DebitsPix {
		return gateway.ReasonUnconfirmed, nil
	}
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return "", err
	}
	ref := sub.AuthorizationRef()
	ref.ID = a.AuthorizationID
	auth, err := gw.ReadPixAuthorization(ctx, ref)
	if errors.Is(err, gateway.ErrMissing) || err == nil && auth.Status != gateway.AuthorizationStatusActive {
		s.deps.Log.WarnContext(ctx, "authorization that the gateway does not confirm gives nothing",
			slog.String("subscription_id", sub.ID.String()),
			slog.String("authorization_id", a.AuthorizationID), slog.String("event_id", a.EventID))
		return gateway.ReasonUnconfirmed, nil
	}
	if err != nil {
		return "", fmt.Errorf("read authorization %s: %w", a.AuthorizationID, err)
	}
	_, err = s.deps.Settler.Settle(ctx, sub, state.ByLiveRead,
		settle.Succeeded{Result: settle.Authorization{PixAuthorization: auth}})
	return "", err
}

// syncRefusal ends a subscription whose authorization is over at the gateway, too.
// One that stands there goes on here.
func (s *Reconciler) syncRefusal(ctx context.Context, sub lifecycle.Subscription,
	args webhooks.RefusedArgs,
) (ignored gateway.Reason, err error) {
	if sub.Status.Ended() {
		return gateway.ReasonEnded, nil
	}
	if sub.GwaPixAuthID == nil {
		return gateway.ReasonUnconfirmed, nil
	}
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return "", err
	}
	a, err := gw.ReadPixAuthorization(ctx, sub.AuthorizationRef())
	if err != nil {
		return "", fmt.Errorf("read authorization of %s: %w", sub.ID, err)
	}
	action, ended := endedAuthorizations[a.Status]
	if !ended {
		s.deps.Log.InfoContext(ctx, "authorization stands although an event says that it is over",
			slog.String("subscription_id", sub.ID.String()), slog.String("event_id", args.EventID))
		return gateway.ReasonUnconfirmed, nil
	}
	return "", s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if nullable.Value(locked.GwaPixAuthID) != a.ID || locked.Status.Ended() {
			return nil
		}
		return s.deps.Applier.UnauthorizeTx(ctx, tx, &locked, action, args.EventID)
	})
}

// SyncRecurrence does what the gateway itself says of a recurrence. One that goes on
// there goes on here, whatever an event said.
func (s *Reconciler) SyncRecurrence(ctx context.Context, a webhooks.RecurrenceArgs) error {
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, a.SubscriptionID)
	if err != nil {
		return err
	}
	ignored, err := s.syncRecurrence(ctx, sub, a)
	if err != nil {
		return err
	}
	return s.finishConfirmation(ctx, sub, a.EventID, ignored)
}

func (s *Reconciler) syncRecurrence(ctx context.Context, sub lifecycle.Subscription,
	a webhooks.RecurrenceArgs,
) (ignored gateway.Reason, err error) {
	if sub.Status.Ended() {
		return gateway.ReasonEnded, nil
	}
	if sub.RemoteID() == "" {
		return gateway.ReasonUnconfirmed, nil
	}
	if sub.Traits().EndsWithPeriod {
		return "", s.checkPeriodEnd(ctx, sub.ID)
	}
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return "", err
	}
	remote, err := s.deps.Calls.ReadRunning(ctx, gw, sub)
	switch {
	case err == calls.ErrMissingOnce: //nolint:errorlint // joined with another, that one has failed
		return gateway.ReasonToConfirmAgain, nil
	case err != nil:
		return "", fmt.Errorf("read recurrence of %s: %w", sub.ID, err)
	case remote.Status != gateway.RemoteCanceled && a.Moved:
		return s.syncChargeDay(ctx, sub, remote)
	case remote.Status != gateway.RemoteCanceled:
		s.deps.Log.WarnContext(ctx, "recurrence goes on although an event says that it has ended",
			slog.String("subscription_id", sub.ID.String()), slog.String("event_id", a.EventID))
		return gateway.ReasonUnconfirmed, nil
	}
	ctx = context.WithoutCancel(ctx)
	return "", s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if locked.Status.Ended() || locked.RemoteID() != remote.GatewayID {
			return nil
		}
		if remote.Inactive {
			if paused, err := s.deps.Reads.PausedLatelyTx(ctx, tx, sub.ID); err != nil || paused {
				return err
			}
		}
		return s.deps.Applier.EndWithGatewayTx(ctx, tx, &locked,
			lifecycle.Change{Action: state.GatewaySaysCancelled, Source: state.ByWebhook, Event: &a.EventID}, remote)
	})
}

// syncChargeDay learns on which day the recurrence charges next, as it was read.
func (s *Reconciler) syncChargeDay(ctx context.Context, sub lifecycle.Subscription,
	remote gateway.RemoteSubscription,
) (ignored gateway.Reason, err error) {
	ctx = context.WithoutCancel(ctx)
	return ignored, s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if locked.Status.Ended() {
			ignored = gateway.ReasonEnded
			return nil
		}
		return s.deps.Store.EditTx(ctx, tx, &locked, state.RecurrenceRead,
			func(r *lifecycle.Subscription) { s.deps.Calendar.SetRemote(r, &remote) })
	})
}

// SyncSubscription asks the gateway about the customer's live subscription and
// settles what it says (docs/contract/accounts.md, Tokens). A subscription whose
// first call is still open is left to its checks.
func (s *Reconciler) SyncSubscription(ctx context.Context, customerID objectid.ID) error {
	ctx = gateway.Background(ctx)
	sub, err := s.deps.Reads.Current(ctx, customerID)
	if lifecycle.IsMissing(err) || (err == nil && sub.IntentOpen) {
		return nil
	}
	if err != nil {
		return err
	}
	if waiting, ok, err := s.deps.Reads.WaitingRenewal(ctx, s.deps.Pool, customerID); err != nil ||
		ok && waiting.ID != sub.ID && waiting.NeedsStatusCheck() {
		if err == nil {
			_, _, err = s.deps.Recovery.Resolve(ctx, waiting)
		}
		return err
	}
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return err
	}
	card := sub.PaymentMethod == gateway.MethodCard
	switch {
	case card && sub.Status == state.Pending && sub.Traits().PayerConfirms:
		_, _, err = s.deps.Recovery.Resolve(ctx, sub)
		return err
	case card && sub.RemoteID() != "":
		return s.syncCard(ctx, gw, sub)
	case sub.Status == state.Pending && sub.PixPaymentID != nil:
		return s.syncPix(ctx, gw, sub)
	}
	return nil
}

func (s *Reconciler) syncPix(ctx context.Context, gw gateway.Gateway, sub lifecycle.Subscription) error {
	charge, err := gw.ReadPix(ctx, *sub.PixPaymentID, sub.ID)
	if errors.Is(err, gateway.ErrMissing) || (err == nil && charge.Payment.Status != gateway.PaymentStatusSettled) {
		return nil // unpaid codes end by their own job
	}
	if err != nil {
		return err
	}
	_, err = s.deps.Settler.Settle(ctx, sub, state.ByLiveRead, settle.Succeeded{Result: settle.Code{PixCharge: charge}})
	return err
}

func (s *Reconciler) syncCard(ctx context.Context, gateway gateway.Gateway, sub lifecycle.Subscription) error {
	remote, err := s.deps.Calls.ReadRunning(ctx, gateway, sub)
	if errors.Is(err, calls.ErrMissingOnce) {
		return nil
	}
	if err != nil {
		return err
	}
	if lifecycle.Running(remote.Status) {
		if sub, err = s.deps.Settler.Settle(ctx, sub, state.ByLiveRead, settle.JudgeRecurrence(remote)); err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx) // the gateway has answered
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		locked, err := s.deps.Store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || locked.Status != sub.Status {
			return err // moved meanwhile by a newer word
		}
		if remote.Inactive {
			if paused, err := s.deps.Reads.PausedLatelyTx(ctx, tx, sub.ID); err != nil || paused {
				return err
			}
		}
		return s.syncTx(ctx, tx, locked, remote)
	})
}

// syncTx moves the subscription to what was read. Failures are not counted
// here: the gateway tells each by an event.
func (s *Reconciler) syncTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription,
	remote gateway.RemoteSubscription,
) error {
	action, known := lifecycle.StatusActions[remote.Status]
	if !known || action == state.GatewaySaysIncomplete {
		return nil
	}
	c := lifecycle.Change{
		Action: action, Source: state.ByLiveRead,
		Edit: func(r *lifecycle.Subscription) { s.deps.Calendar.SetRemote(r, &remote) },
	}
	switch {
	case action == state.GatewaySaysActive:
		if !sub.Traits().StatusImpliesPayment || sub.Status != state.Suspended {
			return nil
		}
		if by, err := s.deps.Reads.SuspendedByTx(ctx, tx, sub); err != nil || by != "" {
			return err
		}
		c.Edit = func(r *lifecycle.Subscription) { s.deps.Calendar.SetRemote(r, &remote); r.PaymentFailures = 0 }
	case action == state.GatewaySaysSuspended && s.deps.Config.PastDueOnlyCounts &&
		remote.Status == gateway.RemotePastDue:
		return nil
	case action != state.GatewaySaysCancelled && sub.EndsThere():
		return nil
	case action == state.GatewaySaysCancelled:
		return s.deps.Applier.EndWithGatewayTx(ctx, tx, &sub, c, remote)
	}
	_, err := s.deps.Store.MoveTx(ctx, tx, &sub, c)
	return err
}
