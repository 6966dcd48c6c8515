package unapplied

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/refund"
	"marquee/modules/payments/state"
	"marquee/platform/faultpoint"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// AutomaticRefunds bounds what is refunded without a person's decision.
type AutomaticRefunds struct {
	PerHour *int         // refunds in any hour; default 20
	PerDay  *money.Cents // their sum in any 24 hours; default R$ 5,000
}

func (a AutomaticRefunds) withDefaults() AutomaticRefunds {
	if a.PerHour == nil {
		a.PerHour = new(20)
	}
	if a.PerDay == nil {
		a.PerDay = new(money.Cents(500_000))
	}
	return a
}

const (
	// SweepEvery is how often what waits is looked at again.
	SweepEvery = 5 * time.Minute
	// unappliedLeft is after how long somebody else goes on with a refund that was
	// decided and not asked for: longer than any call takes.
	unappliedLeft = 5 * time.Minute
	// unappliedBatch bounds one sweep.
	unappliedBatch = 200
	// unappliedWait is the first wait after a check that told nothing; each further
	// wait doubles, up to unappliedWaitMax.
	unappliedWait, unappliedWaitMax = 5 * time.Minute, 24 * time.Hour
)

// automaticReason is that of a refund for which no admin words one.
var automaticReason = state.UnappliedPayments.ReasonOf(state.UnappliedAutomaticRefund)

// SweepArgs looks at all that wait.
type SweepArgs struct{}

// Kind names the job.
func (SweepArgs) Kind() string { return "payments_unapplied_sweep" }

// Sweep does what is due about the list by itself: refundDue, and tendUnknown.
func (s *List) Sweep(ctx context.Context) error {
	return errors.Join(s.refundDue(ctx), s.tendUnknown(ctx))
}

// refundDue refunds by itself what may be, the oldest first, and goes on
// with refunds that were decided by somebody who died since. It stops at the limits. What
// a lost dispute took is kept, and so is what waited for an answer that has come.
func (s *List) refundDue(ctx context.Context) error {
	now := s.deps.Clock.Now()
	due, err := s.db.UnappliedListDue(ctx, s.deps.Pool,
		paymentsdb.UnappliedListDueParams{Now: &now, LeftSince: now.Add(-unappliedLeft), Most: unappliedBatch})
	if err != nil {
		return fmt.Errorf("list unapplied payments: %w", err)
	}
	failed := errors.Join(s.decideLost(ctx), s.decideEnded(ctx), s.decideConfirmed(ctx, now, gateway.Unsigned()...))
	for _, id := range due {
		failed = errors.Join(failed, s.Handle(ctx, id))
	}
	return failed
}

// Handle does what is to be done about one unapplied payment by itself.
func (s *List) Handle(ctx context.Context, id objectid.ID) error {
	u, err := s.db.UnappliedFind(ctx, s.deps.Pool, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	switch {
	case err != nil:
		return fmt.Errorf("read unapplied payment: %w", err)
	case u.State == state.UnappliedRefunding:
		return s.resumeRefund(ctx, u)
	case u.State == state.UnappliedOpen && !u.Automatic:
		return s.decideConfirmed(ctx, s.deps.Clock.Now(), gateway.Unsigned()...)
	case u.State != state.UnappliedOpen:
		return nil
	}
	if allowed, err := s.mayRefund(ctx, s.deps.Pool, u); err != nil || !allowed {
		return err
	}
	paid, why, err := s.readUnapplied(ctx, u)
	if err != nil { // not known, or disputed: nothing changes
		s.deps.Log.WarnContext(ctx, "unapplied payment not read", slog.String("id", u.ID.String()),
			slog.String("gateway", string(u.Gateway)), slog.Any("error", err))
		wait := min(unappliedWait<<min(u.Tries, 12), unappliedWaitMax) //nolint:gosec // tries are few
		next := s.deps.Clock.Now().Add(wait)
		return s.db.UnappliedPostpone(ctx, s.deps.Pool, paymentsdb.UnappliedPostponeParams{ID: u.ID, NextTryAt: &next})
	}
	if why != "" {
		return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
			return s.cases.ByPlatformTx(ctx, tx, u.ID, "unapplied_payment_give_up", func() error {
				return s.db.UnappliedGiveUp(ctx, tx,
					paymentsdb.UnappliedGiveUpParams{ID: u.ID, Note: &why, At: s.deps.Clock.Now()})
			})
		})
	}
	claimed, err := s.claimAutomatic(ctx, u)
	if err != nil || !claimed {
		return err
	}
	faultpoint.Hit("unapplied.claimed_by_itself")
	return s.refundClaimed(ctx, u, *paid, refund.Request{Reason: automaticReason})
}

// mayRefund reports whether an automatic refund is within the limits, and whether
// this is the database whose money it is (restore.go).
func (s *List) mayRefund(ctx context.Context, db postgres.DB, u paymentsdb.PaymentsUnappliedPayment) (bool, error) {
	stopped, err := s.reader.RefundsStopped(ctx, db)
	if err != nil || stopped {
		return false, err
	}
	now := s.deps.Clock.Now()
	spent, err := s.db.UnappliedSumSpent(ctx, db,
		paymentsdb.UnappliedSumSpentParams{HourAgo: now.Add(-time.Hour), DayAgo: now.Add(-24 * time.Hour)})
	if err != nil {
		return false, fmt.Errorf("count automatic refunds: %w", err)
	}
	limits := s.deps.Automatic.withDefaults()
	amount := int64(0)
	if u.AmountCents != nil {
		amount = *u.AmountCents
	}
	if spent.Claims >= int64(*limits.PerHour) || spent.Cents+amount > int64(*limits.PerDay) {
		s.deps.Log.WarnContext(ctx, "automatic refund waits: the limit is reached", slog.String("id", u.ID.String()),
			slog.Int64("refunds_in_an_hour", spent.Claims), slog.Int64("cents_in_a_day", spent.Cents))
		return false, nil
	}
	return true, nil
}

// readUnapplied reads the payment live: gateway A's webhooks are not signed, so that
// whoever has its token could have a payment refunded which was never made. The
// error says that it is not known, or who holds it by a dispute; why is the reason for
// which nobody but a person may refund it.
func (s *List) readUnapplied(ctx context.Context,
	u paymentsdb.PaymentsUnappliedPayment,
) (paid *gateway.LedgerPayment, why string, err error) {
	name := u.Gateway
	gw, err := s.deps.Gateways.Find(name)
	if err != nil {
		return nil, "", err
	}
	if paid, err = s.reader.FindPayment(ctx, s.deps.Pool, name, nullable.Value(u.GatewayPaymentID)); err != nil {
		return nil, "", err
	}
	if paid == nil {
		return nil, "No ledger has it.", nil
	}
	if err := s.reader.NotDisputed(ctx, s.deps.Pool, name, paid.Payment.Amount, paid.Names()...); err != nil {
		var disputed *ledger.RefundDisputedError
		if errors.As(err, &disputed) && disputed.Dispute.State == gateway.DisputeLost {
			return nil, disputed.Sentence() + " Nothing was refunded automatically.", nil
		}
		return nil, "", err
	}
	reference := paid.LocalID
	if u.Reference != nil {
		reference = *u.Reference
	}
	if u.Kind == state.UnappliedForeign { // it carries another reference, or none
		reference = ""
	}
	remote, err := gw.ReadPayment(ctx, paid.Payment.ID, reference)
	switch {
	case err != nil:
		return nil, "", err
	case remote.ID != paid.Payment.ID:
		return nil, "", fmt.Errorf("%w: asked for %s, the gateway told of %q", gateway.ErrOutcomeUnknown,
			paid.Payment.ID, remote.ID)
	case remote.Status != gateway.PaymentStatusSettled:
		return nil, fmt.Sprintf("The gateway says that it is %s (%s): nothing was refunded automatically.", remote.Status,
			remote.NativeStatus), nil
	case remote.Amount != paid.Payment.Amount:
		return nil,
			fmt.Sprintf("The amount is R$ %s at the gateway and R$ %s in the ledger: nothing was refunded automatically.",
				remote.Amount, paid.Payment.Amount), nil
	}
	return paid, "", nil
}

// claimAutomatic decides for the platform: one claim after the other, so that the
// limits hold whoever else is at it.
func (s *List) claimAutomatic(ctx context.Context, u paymentsdb.PaymentsUnappliedPayment) (claimed bool, err error) {
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if err := s.db.UnappliedBudgetLock(ctx, tx); err != nil {
			return err
		}
		allowed, err := s.mayRefund(ctx, tx, u)
		if err != nil || !allowed {
			return err
		}
		claimed, err = s.cases.MoveTx(ctx, tx, u,
			ledger.Move{By: state.UnappliedAutomaticRefund, Source: state.ByPlatform})
		return err
	})
	return claimed, err
}

// refundClaimed asks for the refund that was decided. What becomes of the case
// follows from the ledger of refunds, in the transactions that write it; only when
// nothing was written there is it open again.
func (s *List) refundClaimed(ctx context.Context, u paymentsdb.PaymentsUnappliedPayment, paid gateway.LedgerPayment,
	w refund.Request,
) error {
	w.Payment = paid
	_, err := s.refunds.RefundPayment(ctx, w, nil)
	if err == nil || errors.Is(err, gateway.ErrOutcomeUnknown) { // the checks ask what became of it
		return s.notifyRefundOf(context.WithoutCancel(ctx), paid)
	}
	open := false
	settled := postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) (txErr error) {
		if open, txErr = s.refundOpenTx(ctx, tx, paid); txErr != nil || open {
			return txErr
		}
		return s.afterRefundTx(ctx, tx, u.ID, err)
	})
	var other *refund.OpenError
	if settled == nil && open && (errors.Is(err, refund.ErrTooMuch) || errors.As(err, &other)) {
		return nil // somebody else has asked for it, which is as good; of a part the rest follows
	}
	return errors.Join(err, settled)
}

// notifyRefundOf has what is paid for follow its refund (refund.Follower).
func (s *List) notifyRefundOf(ctx context.Context, paid gateway.LedgerPayment) error {
	return s.refunds.Notify(ctx, ledger.Refund{
		Gateway: paid.Gateway, Purpose: paid.Purpose, LocalID: paid.LocalID, CustomerID: paid.CustomerID,
	})
}

// refundOpenTx brings the case in line with the ledger and reports whether a refund
// is under way, or was made by somebody else.
func (s *List) refundOpenTx(ctx context.Context, tx pgx.Tx, paid gateway.LedgerPayment) (bool, error) {
	key := paid.RefundKey()
	if key == "" {
		return false, nil // its intent is not known: no refund names it
	}
	rows, err := ledger.LockRefundsTx(ctx, tx, s.ledger, paid.Gateway, key)
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		if row.Status == gateway.RefundStatusRequested || row.Status == gateway.RefundStatusPending {
			return true, s.cases.SyncRefundsTx(ctx, tx, paid.Gateway, key, false)
		}
	}
	if ledger.DoneSum(rows) >= paid.Payment.Amount {
		return true, s.cases.SyncRefundsTx(ctx, tx, paid.Gateway, key, false)
	}
	return false, nil
}

// resumeRefund goes on with a refund that was decided by somebody who died since, as
// who decided it.
func (s *List) resumeRefund(ctx context.Context, u paymentsdb.PaymentsUnappliedPayment) error {
	if s.deps.Clock.Now().Before(u.UpdatedAt.Add(unappliedLeft)) {
		return nil // who decided may be at it
	}
	paid, err := s.reader.FindPayment(ctx, s.deps.Pool, u.Gateway, nullable.Value(u.GatewayPaymentID))
	if err != nil || paid == nil {
		return err
	}
	open := false
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		open, err = s.refundOpenTx(ctx, tx, *paid)
		return err
	})
	if err != nil || open {
		return err
	}
	if u.TakenBack { // decided when that was still possible: what is left is not this amount
		return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
			_, err := s.cases.MoveTx(ctx, tx, u,
				ledger.Move{By: state.UnappliedTakenBackFirst, Source: state.ByPlatform})
			return err
		})
	}
	last, err := s.db.UnappliedGetLastDecision(ctx, s.deps.Pool, u.ID)
	if err != nil {
		return fmt.Errorf("read decision: %w", err)
	}
	if last.Source == state.ByPlatform {
		if stopped, err := s.reader.RefundsStopped(ctx, s.deps.Pool); err != nil || stopped {
			return err
		}
	}
	return s.refundClaimed(ctx, u, *paid, refund.Request{Reason: nullable.Value(last.Reason), AdminID: last.AdminID})
}

// decideLost decides what stands on the list although a lost dispute took all of it: who
// listed it and who told of the dispute passed each other, or an earlier release did.
func (s *List) decideLost(ctx context.Context) error {
	lost, err := s.db.UnappliedListLost(ctx, s.deps.Pool, unappliedBatch)
	if err != nil {
		return fmt.Errorf("list lost money: %w", err)
	}
	var failed error
	for _, row := range lost {
		failed = errors.Join(failed, postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
			return s.cases.DecideLostTx(ctx, tx, row.Gateway, row.GatewayPaymentID)
		}))
	}
	return failed
}
