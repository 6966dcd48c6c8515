package subscriptions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/postgres"
)

// chargeback does for a dispute that the gateway did not report what
// charge.dispute.created does: suspended, has_chargeback, a row in the ledger of
// disputes. It is of the latest payment and no more than that: 422 above it, 409 while
// that payment is disputed already. Where nothing was paid the price of a period stands
// for it.
func (s *Service) chargeback(ctx context.Context, found row, reason string, amount *int64) (row, error) {
	now := s.clock.Now()
	return s.administer(ctx, found, reason, func(tx pgx.Tx, sub *row) error {
		report := payments.DisputeReport{
			ID: fmt.Sprintf("CHARGEBACK-%s-%d", sub.ID, now.UnixMilli()), Amount: money.Cents(sub.PriceCents * int64(sub.PeriodMonths)),
			Reason: reason, State: payments.DisputeOpen, NativeStatus: payments.ReportedByAdmin, OpenedAt: now, At: now,
		}
		paid, err := s.payments.PaymentsOf(ctx, tx, payments.ForSubscription, sub.ID)
		if err != nil {
			return err
		}
		var latest payments.Payment
		if len(paid) > 0 {
			latest = paid[0].Payment
			report.PaymentID, report.Amount = cmp.Or(latest.PaymentIntentID, latest.ID), latest.Amount
		}
		all, err := s.payments.DisputesOf(ctx, tx, payments.ForSubscription, sub.ID)
		if err != nil {
			return err
		}
		for _, d := range all {
			if d.State == payments.DisputeOpen && (d.PaymentID == report.PaymentID || isOne(latest, []string{d.PaymentID})) {
				return fault.Conflict("The payment has an open chargeback already.")
			}
		}
		if amount != nil {
			if money.Cents(*amount) > report.Amount {
				return fault.InvalidAt(fmt.Sprintf("has to be at most what was paid, %d cents", report.Amount), "body", "amount")
			}
			report.Amount = money.Cents(*amount)
		}
		_, err = s.payments.RecordDisputeTx(ctx, tx, payments.DisputeRecord{
			Gateway: payments.GatewayName(sub.Gateway), Purpose: payments.ForSubscription, LocalID: sub.ID, CustomerID: sub.CustomerID, Report: report,
		})
		if err != nil {
			return err
		}
		return s.openDisputeTx(ctx, tx, sub, change{source: ByAdmin, actor: callerID(ctx)})
	})
}

// withdrawChargeback takes back a chargeback that was entered by hand, as if it had
// never been: what it closed is open again and collected again, unless another dispute
// is open, and no figure counts it. Twice is as good as once. 404 for an unknown one,
// 409 for the gateway's own.
func (s *Service) withdrawChargeback(ctx context.Context, sub row, disputeID, reason string) (row, error) {
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		locked, err := s.lockTx(ctx, tx, sub.CustomerID, sub.ID)
		if err != nil {
			return err
		}
		defer func() { sub = locked }()
		withdrawn, err := s.payments.WithdrawDisputeTx(ctx, tx, payments.ForSubscription, sub.ID, disputeID)
		switch {
		case postgres.IsNoRows(err):
			return fault.NotFound("Chargeback")
		case errors.Is(err, payments.ErrDisputeOfGateway):
			return fault.Conflict("The gateway reported the chargeback itself: only the gateway can decide it.")
		case err != nil || !withdrawn:
			return err
		}
		before := shown(locked)
		if err := s.forgetChargebackTx(ctx, tx, &locked, s.clock.Now()); err != nil {
			return err
		}
		return s.auditTx(ctx, tx, before, locked, reason)
	})
	return sub, err
}

// forgetChargebackTx undoes what a chargeback did that is withdrawn. Where another one
// was won since, it is that one's end which opens the subscription.
func (s *Service) forgetChargebackTx(ctx context.Context, tx pgx.Tx, sub *row, at time.Time) error {
	all, err := s.payments.DisputesOf(ctx, tx, payments.ForSubscription, sub.ID)
	if err != nil || hasState(all, payments.DisputeOpen) || hasState(all, payments.DisputeLost) {
		return err
	}
	c := change{action: ChargebackWithdrawn, source: ByAdmin, actor: callerID(ctx)}
	switch {
	case hasState(all, payments.DisputeWon):
		return s.winDisputeTx(ctx, tx, sub, at, c)
	case sub.StartedAt == nil && Status(sub.Status) == Suspended:
		c.action = UnpaidWithdrawn
	}
	return s.liftDisputeTx(ctx, tx, sub, at, c)
}
