package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/postgres"
)

// chargeback does for a dispute that the gateway did not report what
// charge.dispute.created does: suspended, has_chargeback, a row in the ledger of
// disputes. It is of the latest payment that gave it time, which may have been made for
// what the subscription has renewed, and no more than what is left of that: 422 above it,
// and where nothing was paid or is left; 409 while that payment is disputed already, and
// while a withdrawal is about to give it back.
func (s *Admin) chargeback(ctx context.Context, found lifecycle.Subscription, reason string,
	amount *int64,
) (lifecycle.Subscription, error) {
	now := s.deps.Clock.Now()
	return s.administer(ctx, found, reason, func(tx pgx.Tx, sub *lifecycle.Subscription) error {
		report := gateway.DisputeReport{
			ID: fmt.Sprintf("CHARGEBACK-%s-%d", sub.ID, now.UnixMilli()), Reason: reason, State: gateway.DisputeOpen,
			NativeStatus: payments.ReportedByAdmin, OpenedAt: now, At: now,
		}
		disputed, latest, err := s.deps.Disputes.LatestOfChainTx(ctx, tx, *sub)
		if err != nil {
			return err
		}
		if latest == nil {
			return fault.InvalidAt("cannot be charged back: nothing was paid for the subscription", "body", "amount")
		}
		report.PaymentID, report.Amount, err = s.deps.Disputes.DisputableTx(ctx, tx, *sub, disputed, *latest)
		switch {
		case err != nil:
			return err
		case report.Amount <= 0:
			return fault.InvalidAt("cannot be charged back: what was paid was given back, or taken by a chargeback",
				"body", "amount")
		case amount != nil && money.Cents(*amount) > report.Amount:
			return fault.InvalidAt("has to be at most what is left of what was paid, "+
				fault.Count(int(report.Amount), "cent"), "body", "amount")
		case amount != nil:
			report.Amount = money.Cents(*amount)
		}
		_, err = s.deps.Payments.RecordDisputeTx(ctx, tx,
			payments.DisputeRecord{Owner: disputed.Owner(), Report: report})
		if err != nil {
			return err
		}
		if err := s.deps.Disputes.OpenDisputeTx(ctx, tx, &disputed,
			lifecycle.Change{Source: state.ByAdmin, Actor: lifecycle.CallerID(ctx)}); err != nil {
			return err
		}
		*sub, err = s.db.SubscriptionGet(ctx, tx, sub.ID)
		return err
	})
}

// withdrawChargeback takes back a chargeback that was entered by hand, as if it had
// never been: what it closed is open again and collected again, unless another dispute
// is open, and no figure counts it. Twice is as good as once. 404 for an unknown one,
// 409 for the gateway's own.
func (s *Admin) withdrawChargeback(ctx context.Context, sub lifecycle.Subscription,
	disputeID, reason string,
) (lifecycle.Subscription, error) {
	err := s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		defer func() { sub = locked }()
		disputed, withdrawn, err := s.deps.Disputes.WithdrawDisputeTx(ctx, tx, locked, disputeID)
		switch {
		case postgres.IsNoRows(err):
			return fault.NotFound("Chargeback")
		case errors.Is(err, payments.ErrDisputeOfGateway):
			return fault.Conflict("The gateway reported the chargeback itself: only the gateway can decide it.")
		case err != nil || !withdrawn:
			return err
		}
		before := locked.Doc()
		err = s.deps.Disputes.LiftAllTx(ctx, tx, &disputed, func(r *lifecycle.Subscription) error {
			return s.deps.Disputes.ForgetChargebackTx(ctx, tx, r, s.deps.Clock.Now())
		})
		if err != nil {
			return err
		}
		if locked, err = s.db.SubscriptionGet(ctx, tx, sub.ID); err != nil {
			return err
		}
		return s.auditTx(ctx, tx, before, locked, reason)
	})
	return sub, err
}
