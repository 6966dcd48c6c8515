package refund

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/platform/money"
)

// order is a refund, what it is of, and what the request has asked for beside it.
type order struct {
	refund  ledger.Refund
	payment gateway.LedgerPayment
	applied func(ctx context.Context, tx pgx.Tx, r ledger.Refund) error
}

// Order is the order of a refund. Only when it is proved that nothing was made the call is
// made again; its refusal counts when the list of refunds shows nothing even then.
func (s *Refunds) Order() *intent.Operation[order, gateway.RemoteRefund] {
	return &intent.Operation[order, gateway.RemoteRefund]{
		Kind: intent.Refund, Intents: s.deps.Intents, Committed: "refund.committed",
		Opening:  func(o order) intent.Opening { return opening(o.refund, s.deps.Intents.CallTime()) },
		Row:      s.orderOf,
		Steps:    []intent.Step[order, gateway.RemoteRefund]{{Answered: "refund.answered", Call: s.call, Find: s.find, Again: s.enoughLeft}},
		SettleTx: s.settleTx,
		Settled:  func(ctx context.Context, o order) error { return s.Follow(ctx, o.refund) },
	}
}

// opening is the intent of a request. Of one payment one is open at a time. callTime is 0
// for a request whose call was made long ago.
func opening(r ledger.Refund, callTime time.Duration) intent.Opening {
	return intent.Opening{
		Ref: ledger.IntentOf(r.ID), Customer: r.CustomerID, Gateway: r.Gateway, Excludes: "refund:" + r.PaymentID, CallTime: callTime,
	}
}

// orderOf reads a request whose answer was lost; one that is answered is followed.
func (s *Refunds) orderOf(ctx context.Context, i intent.Intent) (o order, over bool, err error) {
	row, err := s.db.RefundFind(ctx, s.deps.Pool, i.Subject)
	if err != nil {
		return o, false, fmt.Errorf("read refund: %w", err)
	}
	if o.refund = ledger.RefundOf(row); o.refund.Status != gateway.RefundRequested {
		return o, true, s.Follow(ctx, o.refund)
	}
	payment, err := s.reader.FindPayment(ctx, s.deps.Pool, o.refund.Gateway, o.refund.PaymentID)
	if err != nil {
		return o, false, err
	}
	if payment == nil {
		return o, false, fmt.Errorf("payments: refund %s is of a payment that the ledger does not have", o.refund.ID)
	}
	o.payment = *payment
	return o, false, nil
}

func (o order) terms() gateway.RefundTerms {
	return gateway.RefundTerms{
		RefundID: o.refund.ID, Amount: o.refund.Amount, Reason: o.refund.Reason, Admin: o.refund.Admin, AskedAt: o.refund.RequestedAt,
		Payment: gateway.PaymentRef{PaymentID: o.payment.Payment.ID, PaymentIntentID: o.payment.RefundKey()},
	}
}

func (s *Refunds) call(ctx context.Context, gw gateway.Gateway, o order, _ gateway.RemoteRefund) (gateway.RemoteRefund, error) {
	remote, err := gw.Refund(ctx, o.terms())
	if err != nil {
		return remote, err
	}
	return remote, s.recordUnasked(ctx, o.refund, remote.Report)
}

func (s *Refunds) find(ctx context.Context, gw gateway.Gateway, o order, _ gateway.RemoteRefund) (remote gateway.RemoteRefund, found bool, err error) {
	if remote, found, err = gw.FindRefund(ctx, o.terms()); err != nil || !found {
		return remote, found, err
	}
	return remote, true, s.recordUnasked(ctx, o.refund, remote.Report)
}

// enoughLeft has the call made once more, unless others have given back so much meanwhile
// that too little is left.
func (s *Refunds) enoughLeft(ctx context.Context, gw gateway.Gateway, o order) (intent.Outcome[gateway.RemoteRefund], error) {
	all, err := gw.ListRefunds(ctx, gateway.PaymentRef{PaymentID: o.payment.Payment.ID, PaymentIntentID: o.refund.PaymentID})
	if err != nil {
		return nil, err
	}
	if err := s.recordList(ctx, o.refund.PaymentID, o.payment, all); err != nil {
		return nil, err
	}
	rows, err := s.db.RefundListOfPayment(ctx, s.deps.Pool, paymentsdb.RefundListOfPaymentParams{Gateway: o.payment.Gateway, PaymentRef: o.refund.PaymentID})
	if err != nil {
		return nil, err
	}
	left := o.payment.Payment.Amount
	for _, row := range rows {
		if r := ledger.RefundOf(row); r.Status != gateway.RefundFailed {
			left -= r.Amount
		}
	}
	if left < 0 {
		return intent.Refused[gateway.RemoteRefund]{Cause: ErrTooMuch}, nil
	}
	return nil, nil
}

func (s *Refunds) settleTx(ctx context.Context, tx pgx.Tx, o *order, outcome intent.Outcome[gateway.RemoteRefund], by intent.By) error {
	if _, err := s.ledger.LockRefundsTx(ctx, tx, o.refund.Gateway, o.refund.PaymentID); err != nil {
		return err
	}
	switch outcome := outcome.(type) {
	case intent.Succeeded[gateway.RemoteRefund]:
		return s.recordTx(ctx, tx, o, outcome.Answer, by)
	case intent.Declined[gateway.RemoteRefund]:
		return s.failTx(ctx, tx, o, outcome.Cause, by)
	case intent.Refused[gateway.RemoteRefund]:
		return s.failTx(ctx, tx, o, outcome.Cause, by)
	}
	return fmt.Errorf("payments: a refund cannot be %T", outcome)
}

// recordTx takes the gateway's answer into the ledger and logs the refund as a webhook
// (specification, Admin subscription management).
func (s *Refunds) recordTx(ctx context.Context, tx pgx.Tx, o *order, remote gateway.RemoteRefund, by intent.By) error {
	r, report := o.refund, remote.Report
	report.PaymentID, report.EventID, report.Type = r.PaymentID, r.EventID, r.EventType
	if err := s.deps.Intents.EndTx(ctx, tx, ledger.IntentOf(r.ID), intent.Succeeded[any]{}, by); err != nil { // else the record ends it, as a report's
		return err
	}
	if err := s.followLaterTx(ctx, tx, r.ID); err != nil {
		return err
	}
	_, err := s.ledger.RecordRefundTx(ctx, tx, ledger.RefundRecord{
		Gateway: r.Gateway, Purpose: r.Purpose, LocalID: r.LocalID, CustomerID: r.CustomerID, Report: report,
	})
	if err != nil {
		return err
	}
	row, err := s.db.RefundFind(ctx, tx, r.ID)
	if err != nil {
		return err
	}
	o.refund = ledger.RefundOf(row)
	if err := s.logRefundTx(ctx, tx, o.refund, remote); err != nil || o.applied == nil {
		return err
	}
	return o.applied(ctx, tx, o.refund)
}

// failTx marks a refund that certainly was not made, and has it followed.
func (s *Refunds) failTx(ctx context.Context, tx pgx.Tx, o *order, why error, by intent.By) error {
	if by == intent.ByLook {
		s.deps.Log.WarnContext(ctx, "refund came to nothing", slog.String("refund_id", o.refund.ID.String()), slog.Any("error", why))
	}
	failure := why.Error()
	switch {
	case errors.Is(why, gateway.ErrDisputed):
		failure = ledger.FailedDisputed
	case errors.Is(why, gateway.ErrUnavailable):
		failure = ledger.FailedUnasked + " " + failure
	}
	now, err := s.db.RefundFind(ctx, tx, o.refund.ID)
	if err != nil || now.Status != gateway.RefundRequested {
		return err // a report took it for done: then it is the gateway's own of the same amount
	}
	o.refund.Status = gateway.RefundFailed
	if err := s.ledger.FailRefundTx(ctx, tx, o.refund.ID, money.Cents(now.AmountCents), failure); err != nil {
		return err
	}
	if err := s.followLaterTx(ctx, tx, o.refund.ID); err != nil {
		return err
	}
	return s.cases.FollowTx(ctx, tx, o.refund.Gateway, o.refund.PaymentID, errors.Is(why, gateway.ErrUnavailable))
}
