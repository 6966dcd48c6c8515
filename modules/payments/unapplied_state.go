package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/audit"
	"marquee/platform/jobs"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// UnappliedState is where the decision about an unapplied payment stands.
type UnappliedState string

// The states (open-shapes, section 5).
const (
	UnappliedOpen      UnappliedState = "open"
	UnappliedRefunding UnappliedState = "refunding"
	UnappliedRefunded  UnappliedState = "refunded"
	UnappliedExtended  UnappliedState = "extended"
	UnappliedKept      UnappliedState = "kept"
)

// unappliedMoves is the one table of permitted moves. What people have decided stays,
// but for an extension that the gateway refuses, a kept part of which the bank takes back
// more, and what was kept and given back all the same; what a refund makes of a case
// follows the ledger, back too when a refund fails after it was counted.
var unappliedMoves = map[UnappliedState][]UnappliedState{
	UnappliedOpen:      {UnappliedRefunding, UnappliedRefunded, UnappliedExtended, UnappliedKept},
	UnappliedRefunding: {UnappliedRefunded, UnappliedOpen},
	UnappliedRefunded:  {UnappliedRefunding, UnappliedOpen},
	UnappliedExtended:  {UnappliedOpen},
	UnappliedKept:      {UnappliedOpen, UnappliedRefunded},
}

// Who decided, in the history.
const (
	byPlatform = "platform"
	byAdmin    = "admin"
	byGateway  = "gateway"
)

// unappliedChange is one move of a case.
type unappliedChange struct {
	to     UnappliedState
	source string
	admin  *objectid.ID
	reason string
	// What else changes: "" leaves it.
	kind           UnappliedKind
	subscriptionID objectid.ID
	note           string
	// forPeople: nothing is done with it by itself any more.
	forPeople bool
}

// moveUnappliedTx is the only way in which a case changes its state:
// compare-and-set and a row of the history. Moved is false, and nothing is written,
// when the state holds against it or somebody else was faster. What is open again, and
// which a lost dispute took, is kept at once.
func (s *Service) moveUnappliedTx(ctx context.Context, tx pgx.Tx, u paymentsdb.PaymentsUnappliedPayment, c unappliedChange) (moved bool, err error) {
	if !slices.Contains(unappliedMoves[UnappliedState(u.State)], c.to) {
		return false, nil
	}
	if c.source == byPlatform {
		err = s.byPlatformTx(ctx, tx, u.ID, "unapplied_payment_"+string(c.to), func() error {
			moved, err = s.writeMoveTx(ctx, tx, u, c)
			return err
		})
	} else {
		moved, err = s.writeMoveTx(ctx, tx, u, c)
	}
	if err == nil && moved && c.to == UnappliedOpen && u.GatewayPaymentID != nil { // a dispute may have decided it meanwhile
		err = s.decideLostTx(ctx, tx, gateway.Name(u.Gateway), *u.GatewayPaymentID)
	}
	return moved, err
}

// byPlatformTx makes a change of a case that nobody but the platform decides, and tells
// the audit trail.
func (s *Service) byPlatformTx(ctx context.Context, tx pgx.Tx, id objectid.ID, deed string, change func() error) error {
	if s.deps.Accounts == nil {
		return change()
	}
	return unappliedPayments.AuditTx(audit.ByPlatform(ctx, s.deps.Accounts, deed), tx, []objectid.ID{id}, change)
}

func (s *Service) writeMoveTx(ctx context.Context, tx pgx.Tx, u paymentsdb.PaymentsUnappliedPayment, c unappliedChange) (moved bool, err error) {
	now := s.deps.Clock.Now()
	n, err := s.db.UnappliedMove(ctx, tx, paymentsdb.UnappliedMoveParams{
		ID: u.ID, FromState: u.State, ToState: string(c.to), Kind: filled(string(c.kind)), SubscriptionID: filledID(c.subscriptionID),
		Note: filled(c.note), Automatic: !c.forPeople, At: now,
	})
	if err != nil || n == 0 {
		return false, err
	}
	err = s.db.UnappliedDecide(ctx, tx, paymentsdb.UnappliedDecideParams{
		UnappliedID: u.ID, At: now, FromState: u.State, ToState: string(c.to), Source: c.source, AdminID: c.admin,
		AmountCents: u.AmountCents, Reason: filled(c.reason),
	})
	if err != nil {
		return false, fmt.Errorf("write history of unapplied payment: %w", err)
	}
	if c.to == UnappliedRefunded && u.OrderID == nil && !u.TakenBack { // an order's buyer hears of it from there
		_, err = s.deps.Jobs.InsertTx(ctx, tx, unappliedMailArgs{ID: u.ID}, &river.InsertOpts{Queue: jobs.QueueMail})
	}
	return true, err
}

// followUnappliedTx brings the case of a payment, where there is one, in line with
// the ledger of its refunds, which the caller has changed and locked. TryAgain says
// that a refund which failed just now may be made later all the same.
func (s *Service) followUnappliedTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, paymentRef string, tryAgain bool) error {
	found, err := s.db.UnappliedOfPayment(ctx, tx, paymentsdb.UnappliedOfPaymentParams{Gateway: string(gateway), PaymentRef: paymentRef})
	if err != nil {
		return fmt.Errorf("find unapplied payment: %w", err)
	}
	for _, row := range found {
		refunds, err := s.db.RefundListOfPayment(ctx, tx, paymentsdb.RefundListOfPaymentParams{Gateway: string(gateway), PaymentRef: paymentRef})
		if err != nil {
			return fmt.Errorf("read refunds: %w", err)
		}
		lost, err := s.lostOf(ctx, tx, gateway, paymentRef)
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
		if _, err := s.moveUnappliedTx(ctx, tx, row.PaymentsUnappliedPayment, c); err != nil {
			return err
		}
	}
	return nil
}

// afterPartTx opens a case again when the refund that was under way, which nobody has
// decided on the list, gave back a part: the rest is still to be decided.
func (s *Service) afterPartTx(ctx context.Context, tx pgx.Tx, u paymentsdb.PaymentsUnappliedPayment, refunds []paymentsdb.PaymentsRefund) (c unappliedChange, changes bool, err error) {
	done := slices.ContainsFunc(refunds, func(r paymentsdb.PaymentsRefund) bool { return gateway.RefundStatus(r.Status) == gateway.RefundDone })
	waits := slices.ContainsFunc(refunds, func(r paymentsdb.PaymentsRefund) bool { return gateway.RefundStatus(r.Status) != gateway.RefundDone })
	if UnappliedState(u.State) != UnappliedRefunding || !done || waits {
		return c, false, nil
	}
	last, err := s.db.UnappliedLastDecision(ctx, tx, u.ID)
	if err != nil {
		return c, false, fmt.Errorf("read decision: %w", err)
	}
	return unappliedChange{to: UnappliedOpen, source: byGateway, reason: "A part was given back."}, last.Source == byGateway, nil
}

// afterRefunds is what the refunds of a payment make of its case, of which disputes took
// what is lost.
// Of what the payer's bank took back they are refunds of the rest, which is not listed.
func afterRefunds(u paymentsdb.PaymentsUnappliedPayment, paid, lost money.Cents, refunds []paymentsdb.PaymentsRefund, tryAgain bool) (c unappliedChange, changes bool) {
	state := UnappliedState(u.State)
	var done money.Cents
	open, failed, note := false, false, "A refund of it failed: see the list of refunds of what it belongs to."
	for _, r := range refunds {
		switch gateway.RefundStatus(r.Status) {
		case gateway.RefundDone:
			done += money.Cents(r.AmountCents)
		case gateway.RefundFailed:
			failed = true
			if refundOf(r).FailedByDispute() {
				note = failedDisputed
			}
		default:
			open = true
		}
	}
	c = unappliedChange{source: byGateway}
	switch {
	case state == UnappliedExtended:
		return c, false
	case done >= paid:
		c.to = UnappliedRefunded
		if state == UnappliedKept {
			c.reason = "All of it was given back, as by a withdrawal."
		}
	case state == UnappliedKept:
		return c, false
	case done > 0 && done+lost >= paid:
		c.to, c.reason = UnappliedRefunded, "What a lost dispute left of it was given back."
	case u.TakenBack:
		c.to, c.reason = UnappliedOpen, "Something of the payment is left."
	case open:
		c.to = UnappliedRefunding
	case failed && tryAgain:
		c.to, c.reason = UnappliedOpen, "The gateway did not answer."
	case failed:
		c.to, c.kind, c.forPeople = UnappliedOpen, UnappliedUnrefundable, true
		c.reason = "A refund failed."
		c.note = note
	default:
		return c, false // a part was given back, or the refund is only decided yet
	}
	return c, c.to != state
}

// afterRefundTx settles a case whose refund was claimed, whatever came of asking for
// it: what the ledger says, else it is open again.
func (s *Service) afterRefundTx(ctx context.Context, tx pgx.Tx, id objectid.ID, refused error) error {
	u, err := s.db.UnappliedLock(ctx, tx, id)
	if err != nil || UnappliedState(u.State) != UnappliedRefunding {
		return err
	}
	c := unappliedChange{to: UnappliedOpen, source: byGateway, reason: "The refund was not asked for."}
	var rejected *gateway.Rejected
	var disputed *RefundDisputedError
	if errors.As(refused, &disputed) { // nobody was asked: when the dispute is over it is as before
		c.reason = "The payment is disputed."
	} else if errors.As(refused, &rejected) || errors.Is(refused, ErrRefundTooMuch) {
		c.kind, c.forPeople, c.note = UnappliedUnrefundable, true, "The gateway has nothing to refund of it."
	}
	_, err = s.moveUnappliedTx(ctx, tx, u, c)
	return err
}
