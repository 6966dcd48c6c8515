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
// disputes. It is of the latest payment that gave it time, and no more than that: 422 above it, 409 while
// that payment is disputed already. It may have been made for what the subscription has
// renewed. Where nothing was paid the price of a period stands for it.
func (s *Service) chargeback(ctx context.Context, found row, reason string, amount *int64) (row, error) {
	now := s.clock.Now()
	return s.administer(ctx, found, reason, func(tx pgx.Tx, sub *row) error {
		report := payments.DisputeReport{
			ID: fmt.Sprintf("CHARGEBACK-%s-%d", sub.ID, now.UnixMilli()), Amount: money.Cents(sub.PriceCents * int64(sub.PeriodMonths)),
			Reason: reason, State: payments.DisputeOpen, NativeStatus: payments.ReportedByAdmin, OpenedAt: now, At: now,
		}
		chain, err := s.renewalChain(ctx, tx, *sub)
		if err != nil {
			return err
		}
		disputed := *sub
		var latest payments.Payment
		for _, r := range chain {
			last, err := s.latestPaymentTx(ctx, tx, r)
			if err != nil {
				return err
			}
			if last != nil {
				disputed, latest = r, last.Payment
				report.PaymentID, report.Amount = cmp.Or(latest.PaymentIntentID, latest.ID), latest.Amount
				break
			}
		}
		all, err := s.disputesOf(ctx, tx, *sub)
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
			Gateway: payments.GatewayName(sub.Gateway), Purpose: payments.ForSubscription, LocalID: disputed.ID, CustomerID: sub.CustomerID, Report: report,
		})
		if err != nil {
			return err
		}
		if err := s.openDisputeTx(ctx, tx, &disputed, change{source: ByAdmin, actor: callerID(ctx)}); err != nil {
			return err
		}
		*sub, err = s.db.GetSubscription(ctx, tx, sub.ID)
		return err
	})
}

// latestPaymentTx is the latest payment that gave a subscription time; nil without one.
func (s *Service) latestPaymentTx(ctx context.Context, tx pgx.Tx, sub row) (*payments.LedgerPayment, error) {
	paid, err := s.payments.PaymentsOf(ctx, tx, payments.ForSubscription, sub.ID)
	if err != nil {
		return nil, err
	}
	for _, p := range paid {
		nothing, err := s.payments.BoughtNothing(ctx, tx, p.Gateway, p.Payment.ID)
		if err != nil || !nothing {
			return &p, err
		}
	}
	return nil, nil //nolint:nilnil // nil is the answer: none
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
		disputed, withdrawn, err := s.withdrawDisputeTx(ctx, tx, locked, disputeID)
		switch {
		case postgres.IsNoRows(err):
			return fault.NotFound("Chargeback")
		case errors.Is(err, payments.ErrDisputeOfGateway):
			return fault.Conflict("The gateway reported the chargeback itself: only the gateway can decide it.")
		case err != nil || !withdrawn:
			return err
		}
		before := shown(locked)
		err = s.liftAllTx(ctx, tx, &disputed, func(r *row) error { return s.forgetChargebackTx(ctx, tx, r, s.clock.Now()) })
		if err != nil {
			return err
		}
		if locked, err = s.db.GetSubscription(ctx, tx, sub.ID); err != nil {
			return err
		}
		return s.auditTx(ctx, tx, before, locked, reason)
	})
	return sub, err
}

// withdrawDisputeTx withdraws a dispute of a payment of the subscription, or of those
// that it followed by renewals, and answers which one's it is.
func (s *Service) withdrawDisputeTx(ctx context.Context, tx pgx.Tx, sub row, disputeID string) (disputed row, withdrawn bool, err error) {
	chain, err := s.renewalChain(ctx, tx, sub)
	if err != nil {
		return row{}, false, err
	}
	for _, disputed = range chain {
		withdrawn, err = s.payments.WithdrawDisputeTx(ctx, tx, payments.ForSubscription, disputed.ID, disputeID)
		if !postgres.IsNoRows(err) {
			break
		}
	}
	return disputed, withdrawn, err
}

// forgetChargebackTx undoes what a chargeback did that is withdrawn. Where another one
// was won since, it is that one's end which opens the subscription.
func (s *Service) forgetChargebackTx(ctx context.Context, tx pgx.Tx, sub *row, at time.Time) error {
	all, err := s.holdingDisputesOf(ctx, tx, *sub)
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
