package subscriptions

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"marquee/modules/payments"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/money"
)

// refundOrder is what an admin asks to be given back: a payment by any of its ids,
// "" for the latest that has something left; an amount, 0 for all that is left.
type refundOrder struct {
	paymentID string
	field     string // of the body that named it
	amount    money.Cents
	reason    string
}

// refunded is what the refund routes answer.
type refunded struct {
	sub      row
	payment  payments.LedgerPayment
	refund   payments.Refund
	response json.RawMessage
	admin    string
	at       time.Time
	full     bool
}

// refund gives a subscription's money back (specification, Admin subscription
// management). Errors: 422 REFUND_NOT_ALLOWED without a settled payment that has
// something left; 422 for more than is left; 404 for a payment of somebody else;
// 500 REFUND_FAILED when the gateway refuses; 503 while it does not answer: then
// the refund is either not made or finished by a job.
func (s *Service) refund(ctx context.Context, found row, o refundOrder) (refunded, error) {
	payment, left, err := s.refundable(ctx, found, o)
	if err != nil {
		return refunded{}, err
	}
	if o.amount > left {
		return refunded{}, tooMuch(left)
	}
	caller := httpapi.CallerOf(ctx)
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	out, err := s.payments.RefundPayment(call, payments.RefundWish{
		Payment: payment, Amount: o.amount, Reason: o.reason, Admin: caller.Username, AdminID: callerID(ctx),
	}, nil)
	if err != nil {
		return refunded{}, s.refundFault(ctx, err, o)
	}
	sub, err := s.totalRefunds(context.WithoutCancel(ctx), found.CustomerID, found.ID)
	if err != nil {
		return refunded{}, err
	}
	r := refunded{
		sub: sub, payment: payment, refund: out.Refund, response: out.Response, admin: caller.Username, at: out.Refund.RequestedAt,
		full: out.Refund.Amount >= payment.Payment.Amount,
	}
	if out.Refund.RefundedAt != nil {
		r.at = *out.Refund.RefundedAt
	}
	return r, nil
}

// refundable finds the payment that is meant and what is left of it.
func (s *Service) refundable(ctx context.Context, sub row, o refundOrder) (payments.LedgerPayment, money.Cents, error) {
	none := payments.LedgerPayment{}
	paid, err := s.payments.PaymentsOf(ctx, s.pool, payments.ForSubscription, sub.ID)
	if err != nil {
		return none, 0, err
	}
	given, err := s.payments.RefundsOf(ctx, s.pool, payments.ForSubscription, sub.ID)
	if err != nil {
		return none, 0, err
	}
	wanted := []string{o.paymentID}
	if o.paymentID != "" {
		if wanted, err = s.namesOf(ctx, sub, o.paymentID); err != nil {
			return none, 0, err
		}
	}
	named := false
	for _, p := range paid { // newest first
		if o.paymentID != "" && !isOne(p.Payment, wanted) {
			continue
		}
		named = true
		if left := leftOf(p, given); left > 0 {
			return p, left, nil
		}
	}
	if o.paymentID != "" && !named {
		return none, 0, fault.NotFound("Payment").WithField(o.field)
	}
	return none, 0, &fault.Error{
		Kind: fault.Invalid, Code: fault.CodeRefundNotAllowed, Message: "The subscription has no settled payment left to refund.",
	}
}

// namesOf are all names of a payment. Gateway B gives one three: the ledger may
// know its invoice, while people see the payment intent or the charge.
func (s *Service) namesOf(ctx context.Context, sub row, id string) ([]string, error) {
	names := []string{id}
	if sub.Gateway != string(payments.GWB) {
		return names, nil
	}
	remote, err := s.listRemote(ctx, sub)
	if err != nil {
		return nil, err
	}
	for _, p := range remote {
		if id == p.ID || id == p.PaymentIntentID {
			names = append(names, p.Payment.ID, p.Payment.InvoiceID, p.PaymentIntentID)
		}
	}
	return names, nil
}

func isOne(p payments.Payment, names []string) bool {
	for _, name := range names {
		if name != "" && (name == p.ID || name == p.InvoiceID || name == p.PaymentIntentID) {
			return true
		}
	}
	return false
}

// leftOf is what has not been given back or asked for yet.
func leftOf(p payments.LedgerPayment, refunds []payments.Refund) money.Cents {
	left := p.Payment.Amount
	for _, r := range refunds {
		if r.Status != payments.RefundFailed && isOne(p.Payment, []string{r.PaymentID}) {
			left -= r.Amount
		}
	}
	return left
}

func tooMuch(left money.Cents) error {
	return fault.InvalidAt("is more than what is left to refund: R$ "+left.String(), "body", "value")
}

func (s *Service) refundFault(ctx context.Context, err error, o refundOrder) error {
	var rejected *payments.Rejected
	var declined *payments.Declined
	switch {
	case errors.Is(err, payments.ErrRefundTooMuch) && o.amount > 0:
		return fault.InvalidAt("is more than what is left to refund", "body", "value")
	case errors.Is(err, payments.ErrRefundTooMuch):
		return &fault.Error{Kind: fault.Invalid, Code: fault.CodeRefundNotAllowed, Message: "Nothing is left to refund."}
	case errors.As(err, &rejected), errors.As(err, &declined):
		return (&fault.Error{
			Kind: fault.Internal, Code: fault.CodeRefundFailed, Message: "The payment gateway rejected the refund.",
		}).WithCause(err)
	case errors.Is(err, payments.ErrOutcomeUnknown):
		return (&fault.Error{
			Kind: fault.Unavailable, RetryAfter: time.Minute,
			Message: "The payment gateway did not answer in time. The refund will be finished or given up within minutes: see the list of refunds before you ask again.",
		}).WithCause(err)
	}
	return s.payments.Refused(ctx, "refund", err)
}

// listRemote is the payments as the gateway has them.
func (s *Service) listRemote(ctx context.Context, sub row) ([]payments.RemotePayment, error) {
	gateway, err := s.payments.Gateway(payments.GatewayName(sub.Gateway))
	if err != nil {
		return nil, payments.FaultOf(err)
	}
	customer := text(sub.GwaCustomerID)
	if sub.Gateway == string(payments.GWB) {
		customer = text(sub.GwbCustomerID)
	}
	q := payments.PaymentsQuery{SubscriptionID: sub.ID, SubscriptionGatewayID: remoteID(sub), CustomerGatewayID: customer}
	if sub.PixAutomatic {
		paid, err := s.payments.PaymentsOf(ctx, s.pool, payments.ForSubscription, sub.ID)
		if err != nil {
			return nil, err
		}
		for _, p := range paid {
			q.PaymentIDs = append(q.PaymentIDs, p.Payment.ID)
		}
	}
	all, err := gateway.ListPayments(ctx, q)
	if err != nil {
		return nil, s.payments.Refused(ctx, "list payments", err)
	}
	return all, nil
}
