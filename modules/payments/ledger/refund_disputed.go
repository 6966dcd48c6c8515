package ledger

import (
	"context"
	"errors"
	"fmt"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/postgres"
)

// RefundDisputedError says that a dispute of the payment is open, or was lost: its
// money is the bank's to give back. It is an ErrDisputed and a *Rejected: as if the
// gateway had refused, which is not asked.
type RefundDisputedError struct{ Dispute Dispute }

// Error implements error.
func (e *RefundDisputedError) Error() string {
	return "payments: dispute " + e.Dispute.GatewayDisputeID + " of the payment is " + string(e.Dispute.State)
}

// Unwrap has it be treated as the gateway's own refusal.
func (e *RefundDisputedError) Unwrap() []error {
	return []error{gateway.ErrDisputed, &gateway.Rejected{Code: "disputed", Message: e.Error()}}
}

// Fault words it for people, with the name of the dispute.
func (e *RefundDisputedError) Fault() error {
	return (&fault.Error{Kind: fault.Invalid, Code: fault.CodeRefundNotAllowed, Message: e.Told()}).WithCause(e)
}

// Conflict words it for who wants to do something else with the money than refund it.
func (e *RefundDisputedError) Conflict() error {
	return fault.Conflict("%s", e.Told()).WithCause(e)
}

// Told words it as a sentence for a note.
func (e *RefundDisputedError) Told() string {
	if e.Dispute.State == gateway.DisputeLost {
		return fmt.Sprintf("The bank has given the payment's money back by dispute %s: nothing is left to refund.", e.Dispute.GatewayDisputeID)
	}
	return fmt.Sprintf("The payment is under dispute %s: the bank decides about its money.", e.Dispute.GatewayDisputeID)
}

// NotDisputed is a *RefundDisputedError when a dispute holds the payment that has one of the
// names, or when disputes that were lost took so much of it; 0 is any of it.
func (s *Reader) NotDisputed(ctx context.Context, db postgres.DB, on gateway.Name, amount money.Cents, names ...string) error {
	lost, err := s.LostOf(ctx, db, on, names...)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		found, err := s.db.DisputeListOfPayment(ctx, db, paymentsdb.DisputeListOfPaymentParams{Gateway: on, PaymentRef: name})
		if err != nil {
			return fmt.Errorf("read disputes: %w", err)
		}
		for _, d := range found {
			state := d.State
			if state == gateway.DisputeOpen || state == gateway.DisputeLost && lost >= amount {
				return &RefundDisputedError{Dispute: Dispute{ID: d.ID, Gateway: on, GatewayDisputeID: d.GatewayDisputeID, PaymentID: name, State: state}}
			}
		}
	}
	return nil
}

// LostOf is what disputes that were lost took of the payment that has one of the names.
func (s *Reader) LostOf(ctx context.Context, db postgres.DB, gateway gateway.Name, names ...string) (money.Cents, error) {
	lost, err := s.db.DisputeLostCents(ctx, db, paymentsdb.DisputeLostCentsParams{Gateway: gateway, Refs: names})
	if err != nil {
		return 0, fmt.Errorf("read what disputes took: %w", err)
	}
	return money.Cents(lost), nil
}

// RefusedByGateway reports whether an error is a gateway's own well-formed refusal: it was
// asked, has answered, and made nothing of this call.
func RefusedByGateway(err error) bool {
	var rejected *gateway.Rejected
	var declined *gateway.Declined
	var disputed *RefundDisputedError // nobody was asked
	return (errors.As(err, &rejected) || errors.As(err, &declined)) &&
		!errors.As(err, &disputed) && !errors.Is(err, gateway.ErrUnavailable) && !errors.Is(err, gateway.ErrOutcomeUnknown)
}
