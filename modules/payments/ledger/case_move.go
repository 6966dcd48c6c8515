package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/audit"
	"marquee/platform/jobs"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// Move is one move of a case.
type Move struct {
	By     state.UnappliedAction
	Source state.Origin
	Admin  *objectid.ID
	Reason string // only where a person or a note words it (state.UnappliedReason)
	// What else changes: "" leaves it.
	Kind           state.UnappliedKind
	SubscriptionID objectid.ID
	Note           string
	// ForPeople: nothing is done with it by itself any more.
	ForPeople bool
}

// MoveTx is the only way in which a case changes its state:
// compare-and-set and a row of the history. Moved is false, and nothing is written,
// when the state holds against it or somebody else was faster. What is open again, and
// which a lost dispute took, is kept at once. An error is the database's, the audit trail's included, without which
// nothing is moved.
func (s *Cases) MoveTx(ctx context.Context, tx pgx.Tx, u paymentsdb.PaymentsUnappliedPayment,
	c Move,
) (moved bool, err error) {
	to, ok := state.UnappliedPayments.Next(u.State, c.By)
	if !ok {
		return false, nil
	}
	if c.Source == state.ByPlatform {
		err = s.ByPlatformTx(ctx, tx, u.ID, "unapplied_payment_"+string(to), func() error {
			moved, err = s.writeMoveTx(ctx, tx, u, to, c)
			return err
		})
	} else {
		moved, err = s.writeMoveTx(ctx, tx, u, to, c)
	}
	if err == nil && moved && to == state.UnappliedOpen &&
		u.GatewayPaymentID != nil { // a dispute may have decided it meanwhile
		err = s.DecideLostTx(ctx, tx, u.Gateway, *u.GatewayPaymentID)
	}
	return moved, err
}

// ByPlatformTx makes a change of a case that nobody but the platform decides, and tells
// the audit trail, which has nobody else to name. Its errors are change's.
func (s *Cases) ByPlatformTx(ctx context.Context, tx pgx.Tx, id objectid.ID, action string, change func() error) error {
	if s.deps.Accounts == nil {
		return change()
	}
	return UnappliedPayments.AuditTx(audit.ByPlatform(ctx, s.deps.Accounts, action), tx, []objectid.ID{id}, change)
}

// writeMoveTx writes the state and the row of its history, and has the payer written to when their money
// went back. Moved is false when somebody else was faster. An error is the database's.
func (s *Cases) writeMoveTx(ctx context.Context, tx pgx.Tx, u paymentsdb.PaymentsUnappliedPayment,
	to state.Unapplied, c Move,
) (moved bool, err error) {
	now := s.deps.Clock.Now()
	n, err := s.db.UnappliedMove(ctx, tx, paymentsdb.UnappliedMoveParams{
		ID: u.ID, FromState: u.State, ToState: to, Kind: nullable.Ptr(string(c.Kind)),
		SubscriptionID: nullable.Ptr(c.SubscriptionID),
		Note:           nullable.Ptr(c.Note), Automatic: !c.ForPeople, At: now,
	})
	if err != nil || n == 0 {
		return false, err
	}
	err = s.db.UnappliedDecide(ctx, tx, paymentsdb.UnappliedDecideParams{
		UnappliedID: u.ID, At: now, FromState: &u.State, ToState: to, Source: c.Source, AdminID: c.Admin,
		AmountCents: u.AmountCents, Reason: nullable.Ptr(state.UnappliedReason(c.By, c.Reason)),
	})
	if err != nil {
		return false, fmt.Errorf("write history of unapplied payment: %w", err)
	}
	if to == state.UnappliedRefunded && u.OrderID == nil && !u.TakenBack { // an order's buyer hears of it from there
		_, err = s.deps.Jobs.InsertTx(ctx, tx, CaseMailArgs{ID: u.ID}, &river.InsertOpts{Queue: jobs.QueueMail})
	}
	return true, err
}

// SyncRefundsTx brings the case of a payment, where there is one, in line with
// the ledger of its refunds, which the caller has changed and locked. The argument tryAgain says
// that a refund which failed just now may be made later all the same. An error is the database's: what the caller
// changed is to be rolled back, or the list would say something else than the ledger.
func (s *Cases) SyncRefundsTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, paymentRef string,
	tryAgain bool,
) error {
	found, err := s.db.UnappliedLockOfPayment(ctx, tx,
		paymentsdb.UnappliedLockOfPaymentParams{Gateway: gateway, PaymentRef: paymentRef})
	if err != nil {
		return fmt.Errorf("find unapplied payment: %w", err)
	}
	for _, row := range found {
		refunds, err := s.db.RefundListOfPayment(ctx, tx,
			paymentsdb.RefundListOfPaymentParams{Gateway: &gateway, PaymentRef: paymentRef})
		if err != nil {
			return fmt.Errorf("read refunds: %w", err)
		}
		lost, err := s.reader.LostOf(ctx, tx, gateway, paymentRef)
		if err != nil {
			return err
		}
		c, changes := afterRefunds(row.PaymentsUnappliedPayment, money.Cents(row.PaidCents), lost, refunds, tryAgain)
		if !changes && !row.PaymentsUnappliedPayment.TakenBack {
			c, changes, err = s.afterPartTx(ctx, tx, row.PaymentsUnappliedPayment, refunds)
			if err != nil {
				return err
			}
		}
		if !changes {
			continue
		}
		if _, err := s.MoveTx(ctx, tx, row.PaymentsUnappliedPayment, c); err != nil {
			return err
		}
	}
	return nil
}

// afterPartTx opens a case again when the refund that was under way, which nobody has
// decided on the list, gave back a part: the rest is still to be decided. An error is the database's.
func (s *Cases) afterPartTx(ctx context.Context, tx pgx.Tx, u paymentsdb.PaymentsUnappliedPayment,
	refunds []paymentsdb.PaymentsRefund,
) (c Move, changes bool, err error) {
	done := slices.ContainsFunc(refunds,
		func(r paymentsdb.PaymentsRefund) bool { return r.Status == gateway.RefundStatusDone })
	open := slices.ContainsFunc(refunds,
		func(r paymentsdb.PaymentsRefund) bool { return r.Status != gateway.RefundStatusDone })
	if u.State != state.UnappliedRefunding || !done || open {
		return c, false, nil
	}
	last, err := s.db.UnappliedGetLastDecision(ctx, tx, u.ID)
	if err != nil {
		return c, false, fmt.Errorf("read decision: %w", err)
	}
	return Move{By: state.UnappliedPartRefunded, Source: state.ByGateway}, last.Source == state.ByGateway, nil
}

// afterRefunds is what the refunds of a payment make of its case, of which disputes took
// what is lost.
// Of what the payer's bank took back they are refunds of the rest, which is not listed.
func afterRefunds(u paymentsdb.PaymentsUnappliedPayment, paid, lost money.Cents, refunds []paymentsdb.PaymentsRefund,
	tryAgain bool,
) (c Move, changes bool) {
	at := u.State
	var done money.Cents
	open, failed, note := false, false, "A refund of it failed: see the list of refunds of what it belongs to."
	for _, r := range refunds {
		switch r.Status {
		case gateway.RefundStatusDone:
			done += money.Cents(r.AmountCents)
		case gateway.RefundStatusFailed:
			failed = true
			if RefundOf(r).FailedByDispute() {
				note = FailedDisputed
			}
		default:
			open = true
		}
	}
	c = Move{Source: state.ByGateway}
	switch {
	case at == state.UnappliedExtended:
		return c, false
	case done >= paid && at == state.UnappliedKept:
		c.By = state.UnappliedRefundedAfterAll
	case done >= paid:
		c.By = state.UnappliedRefundDone
	case at == state.UnappliedKept:
		return c, false
	case done > 0 && done+lost >= paid:
		c.By = state.UnappliedRestRefunded
	case u.TakenBack:
		c.By = state.UnappliedPartLeft
	case open:
		c.By = state.UnappliedRefundUnderWay
	case failed && tryAgain:
		c.By = state.UnappliedGatewayUnavailable
	case failed:
		c.By, c.Kind, c.ForPeople, c.Note = state.UnappliedRefundFailed, state.UnappliedUnrefundable, true, note
	default:
		return c, false // a part was given back, or the refund is only decided yet
	}
	_, changes = state.UnappliedPayments.Next(at, c.By)
	return c, changes
}
