package subscriptions

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// SyncSubscription asks the gateway about the customer's live subscription and
// settles what it says (specification, Rules for login 4). A subscription whose
// first call is still open is left to its recovery job.
func (s *Reconciler) SyncSubscription(ctx context.Context, customerID objectid.ID) error {
	ctx = payments.Background(ctx)
	sub, err := s.reads.current(ctx, customerID)
	if isMissing(err) || (err == nil && sub.IntentOpen) {
		return nil
	}
	if err != nil {
		return err
	}
	if waiting, ok, err := s.reads.waitingRenewal(ctx, s.pool, customerID); err != nil || ok && waiting.ID != sub.ID && asksLive(waiting) {
		if err == nil {
			_, _, err = s.recovery.resolve(ctx, waiting)
		}
		return err
	}
	gateway, err := s.payments.Gateway(payments.GatewayName(sub.Gateway))
	if err != nil {
		return err
	}
	card := sub.PaymentMethod == string(payments.MethodCard)
	switch {
	case card && Status(sub.Status) == Pending && sub.Gateway == string(payments.GWB):
		_, _, err = s.recovery.resolve(ctx, sub)
		return err
	case card && remoteID(sub) != "":
		return s.syncCard(ctx, gateway, sub)
	case Status(sub.Status) == Pending && sub.PixPaymentID != nil:
		return s.syncPix(ctx, gateway, sub)
	}
	return nil
}

func (s *Reconciler) syncPix(ctx context.Context, gateway payments.Gateway, sub row) error {
	charge, err := gateway.ReadPix(ctx, *sub.PixPaymentID, sub.ID)
	if errors.Is(err, payments.ErrGatewayMissing) || (err == nil && charge.Payment.Status != payments.PaymentSettled) {
		return nil // unpaid codes end by their own job
	}
	if err != nil {
		return err
	}
	_, err = s.settler.settle(ctx, sub, answer{source: ByLiveRead, pix: &charge})
	return err
}

func (s *Reconciler) syncCard(ctx context.Context, gateway payments.Gateway, sub row) error {
	remote, err := s.calls.readRunning(ctx, gateway, sub)
	if errors.Is(err, errMissingOnce) {
		return nil
	}
	if err != nil {
		return err
	}
	if running(remote.Status) {
		if sub, err = s.settler.settle(ctx, sub, readRemote(ByLiveRead, &remote)); err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx) // the gateway has answered
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.store.lockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil || locked.Status != sub.Status {
			return err // moved meanwhile by a newer word
		}
		if remote.Inactive {
			if paused, err := s.reads.pausedLatelyTx(ctx, tx, sub.ID); err != nil || paused {
				return err
			}
		}
		return s.followReadTx(ctx, tx, locked, remote)
	})
}

// followReadTx moves the subscription to what was read. Failures are not counted
// here: the gateway tells each by an event.
func (s *Reconciler) followReadTx(ctx context.Context, tx pgx.Tx, sub row, remote payments.RemoteSubscription) error {
	action, known := statusActions[remote.Status]
	if !known || action == GatewaySaysIncomplete {
		return nil
	}
	c := change{action: action, source: ByLiveRead, edit: func(r *row) { s.calendar.learnRemote(r, &remote) }}
	switch {
	case action == GatewaySaysActive:
		// Gateway A's "active" tells of the recurrence, not of its payments.
		if sub.Gateway == string(payments.GWA) || Status(sub.Status) != Suspended {
			return nil
		}
		if by, err := s.reads.heldTx(ctx, tx, sub); err != nil || by != "" {
			return err
		}
		c.edit = func(r *row) { s.calendar.learnRemote(r, &remote); r.PaymentFailures = 0 }
	case action == GatewaySaysSuspended && s.cfg.PastDueOnlyCounts && remote.Status == payments.RemotePastDue:
		return nil
	case action != GatewaySaysCancelled && endsThere(sub):
		return nil
	case action == GatewaySaysCancelled:
		return s.applier.endWithGatewayTx(ctx, tx, &sub, c, remote)
	}
	_, err := s.store.moveTx(ctx, tx, &sub, c)
	return err
}
