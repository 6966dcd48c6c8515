package reconcile

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/recovery"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// SyncSubscription asks the gateway about the customer's live subscription and
// settles what it says (specification, Rules for login 4). A subscription whose
// first call is still open is left to its recovery job.
func (s *Reconciler) SyncSubscription(ctx context.Context, customerID objectid.ID) error {
	ctx = gateway.Background(ctx)
	sub, err := s.reads.Current(ctx, customerID)
	if lifecycle.IsMissing(err) || (err == nil && sub.IntentOpen) {
		return nil
	}
	if err != nil {
		return err
	}
	if waiting, ok, err := s.reads.WaitingRenewal(ctx, s.pool, customerID); err != nil || ok && waiting.ID != sub.ID && recovery.AsksLive(waiting) {
		if err == nil {
			_, _, err = s.recovery.Resolve(ctx, waiting)
		}
		return err
	}
	gw, err := s.payments.Gateway(sub.Gateway)
	if err != nil {
		return err
	}
	card := sub.PaymentMethod == gateway.MethodCard
	switch {
	case card && sub.Status == state.Pending && lifecycle.TraitsOf(sub).PayerConfirms:
		_, _, err = s.recovery.Resolve(ctx, sub)
		return err
	case card && lifecycle.RemoteID(sub) != "":
		return s.syncCard(ctx, gw, sub)
	case sub.Status == state.Pending && sub.PixPaymentID != nil:
		return s.syncPix(ctx, gw, sub)
	}
	return nil
}

func (s *Reconciler) syncPix(ctx context.Context, gw gateway.Gateway, sub lifecycle.Row) error {
	charge, err := gw.ReadPix(ctx, *sub.PixPaymentID, sub.ID)
	if errors.Is(err, gateway.ErrMissing) || (err == nil && charge.Payment.Status != gateway.PaymentSettled) {
		return nil // unpaid codes end by their own job
	}
	if err != nil {
		return err
	}
	_, err = s.settler.Settle(ctx, sub, state.ByLiveRead, settle.Succeeded{Answer: settle.Code{PixCharge: charge}})
	return err
}

func (s *Reconciler) syncCard(ctx context.Context, gateway gateway.Gateway, sub lifecycle.Row) error {
	remote, err := s.calls.ReadRunning(ctx, gateway, sub)
	if errors.Is(err, calls.ErrMissingOnce) {
		return nil
	}
	if err != nil {
		return err
	}
	if lifecycle.Running(remote.Status) {
		if sub, err = s.settler.Settle(ctx, sub, state.ByLiveRead, recovery.JudgeRemote(remote)); err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx) // the gateway has answered
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.LockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || locked.Status != sub.Status {
			return err // moved meanwhile by a newer word
		}
		if remote.Inactive {
			if paused, err := s.reads.PausedLatelyTx(ctx, tx, sub.ID); err != nil || paused {
				return err
			}
		}
		return s.followReadTx(ctx, tx, locked, remote)
	})
}

// followReadTx moves the subscription to what was read. Failures are not counted
// here: the gateway tells each by an event.
func (s *Reconciler) followReadTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, remote gateway.RemoteSubscription) error {
	action, known := lifecycle.StatusActions[remote.Status]
	if !known || action == state.GatewaySaysIncomplete {
		return nil
	}
	c := lifecycle.Change{Action: action, Source: state.ByLiveRead, Edit: func(r *lifecycle.Row) { s.calendar.LearnRemote(r, &remote) }}
	switch {
	case action == state.GatewaySaysActive:
		if !lifecycle.TraitsOf(sub).StatusTellsPayment || sub.Status != state.Suspended {
			return nil
		}
		if by, err := s.reads.HeldTx(ctx, tx, sub); err != nil || by != "" {
			return err
		}
		c.Edit = func(r *lifecycle.Row) { s.calendar.LearnRemote(r, &remote); r.PaymentFailures = 0 }
	case action == state.GatewaySaysSuspended && s.cfg.PastDueOnlyCounts && remote.Status == gateway.RemotePastDue:
		return nil
	case action != state.GatewaySaysCancelled && lifecycle.EndsThere(sub):
		return nil
	case action == state.GatewaySaysCancelled:
		return s.applier.EndWithGatewayTx(ctx, tx, &sub, c, remote)
	}
	_, err := s.store.MoveTx(ctx, tx, &sub, c)
	return err
}
