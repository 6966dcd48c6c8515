package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/disputes"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// refundOrder is what an admin asks to be given back: a payment by any of its ids,
// "" for the latest that has something left; an amount, 0 for all that is left.
type refundOrder struct {
	paymentID string
	field     string // of the body that named it
	amount    money.Cents
	amountAt  string // of the body that told the amount
	reason    string
}

// refunded is what the refund routes answer.
type refunded struct {
	sub      lifecycle.Subscription
	refund   payments.Refund
	response json.RawMessage
	admin    string
	at       time.Time
	full     bool
}

// refund gives a subscription's money back (docs/contract/payments.md, Refunds). Errors: 422 REFUND_NOT_ALLOWED without
// a settled payment that has something left, and under a dispute that is open or lost; 422 for more than is left; 404
// for a payment of somebody else; 409 while another refund of the payment is not answered; 500 REFUND_FAILED when
// the gateway refuses; 503 while it does not answer: then the refund is either not
// made or finished by a job.
func (s *Admin) refund(ctx context.Context, found lifecycle.Subscription, o refundOrder) (refunded, error) {
	payment, left, err := s.refundable(ctx, found, o)
	if err != nil {
		return refunded{}, err
	}
	if o.amount > left {
		return refunded{}, tooMuch(o, left)
	}
	caller := httpapi.CallerOf(ctx)
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.deps.Intents.CallTime())
	defer cancel()
	out, err := s.deps.Payments.RefundPayment(call, payments.RefundRequest{
		Payment: payment, Amount: o.amount, Reason: o.reason, Admin: caller.Username, AdminID: lifecycle.CallerID(ctx),
	}, nil)
	if err != nil {
		return refunded{}, s.refundFault(ctx, err, o)
	}
	sub, err := s.deps.Applier.TotalRefunds(context.WithoutCancel(ctx), found.CustomerID, found.ID)
	if err != nil {
		return refunded{}, err
	}
	return refundedBy(sub, payment, out), nil
}

func refundedBy(sub lifecycle.Subscription, payment gateway.LedgerPayment, out payments.RefundOutcome) refunded {
	r := refunded{
		sub: sub, refund: out.Refund, response: out.Response, admin: out.Refund.Admin, at: out.Refund.RequestedAt,
		full: out.Refund.Amount >= payment.Payment.Amount,
	}
	if out.Refund.RefundedAt != nil {
		r.at = *out.Refund.RefundedAt
	}
	return r
}

// replayRefund tells what became of the refund of a request that was cut off
// (httpapi.Idempotent). While the gateway's answer is open nobody knows; one that
// failed gave nothing back, so that the request may run anew.
func (s *Admin) replayRefund(ctx context.Context, id objectid.ID) (refunded, error) {
	out, err := s.deps.Payments.RefundByID(ctx, id)
	if err != nil {
		return refunded{}, err
	}
	switch out.Refund.Status {
	case gateway.RefundStatusRequested:
		return refunded{}, idempotency.InProgress()
	case gateway.RefundStatusFailed:
		return refunded{}, httpapi.ErrWithoutEffect
	}
	payment, err := s.deps.Payments.FindPayment(ctx, s.deps.Pool, out.Refund.Gateway, out.Refund.PaymentID)
	if err != nil {
		return refunded{}, err
	}
	if payment == nil {
		return refunded{}, fmt.Errorf("the ledger lost payment %s of refund %s", out.Refund.PaymentID, id)
	}
	sub, err := s.deps.Applier.TotalRefunds(ctx, out.Refund.CustomerID, out.Refund.LocalID)
	if err != nil {
		return refunded{}, err
	}
	return refundedBy(sub, *payment, out), nil
}

// refundable finds the payment that is meant and what is left of it. The latest of
// which a refund is not answered is not passed over for an older one.
func (s *Admin) refundable(ctx context.Context, sub lifecycle.Subscription,
	o refundOrder,
) (gateway.LedgerPayment, money.Cents, error) {
	none := gateway.LedgerPayment{}
	paid, err := s.deps.Payments.PaymentsOf(ctx, s.deps.Pool, gateway.ForSubscription, sub.ID)
	if err != nil {
		return none, 0, err
	}
	given, err := s.deps.Payments.RefundsOf(ctx, s.deps.Pool, gateway.ForSubscription, sub.ID)
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
		if o.paymentID != "" && !disputes.IsOne(p.Payment, wanted) {
			continue
		}
		named = true
		if open := unanswered(p, given); open != nil {
			return none, 0, s.refundFault(ctx, s.deps.Payments.RefundOpen(ctx, s.deps.Pool, *open), o)
		}
		if left := disputes.LeftOf(p, given); left > 0 {
			return p, left, nil
		}
	}
	if o.paymentID != "" && !named {
		return none, 0, fault.NotFound("Payment").WithField(o.field)
	}
	return none, 0, &fault.Error{
		Kind: fault.KindInvalid, Code: fault.CodeRefundNotAllowed,
		Message: "The subscription has no settled payment left to refund.",
	}
}

// namesOf are all names of a payment. Gateway B gives one three: the ledger may
// know its invoice, while people see the payment intent or the charge.
func (s *Admin) namesOf(ctx context.Context, sub lifecycle.Subscription, id string) ([]string, error) {
	names := []string{id}
	if !sub.Traits().Invoices {
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

// unanswered is the open request for a refund of the payment, nil without one.
func unanswered(p gateway.LedgerPayment, refunds []payments.Refund) *payments.Refund {
	for _, r := range refunds {
		if r.ByAdmin && r.Status == gateway.RefundStatusRequested && disputes.IsOne(p.Payment, []string{r.PaymentID}) {
			return &r
		}
	}
	return nil
}

func tooMuch(o refundOrder, left money.Cents) error {
	return fault.InvalidAt("is more than what is left to refund: R$ "+left.String(), "body", o.amountAt)
}

func (s *Admin) refundFault(ctx context.Context, err error, o refundOrder) error {
	if errors.Is(err, payments.ErrRefundTooMuch) && o.amount > 0 {
		return fault.InvalidAt("is more than what is left to refund", "body", o.amountAt)
	}
	return s.deps.Payments.RefundFault(ctx, err)
}

// listRemote is the payments as the gateway has them.
func (s *Admin) listRemote(ctx context.Context, sub lifecycle.Subscription) ([]gateway.RemotePayment, error) {
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return nil, gateway.FaultOf(err)
	}
	q := gateway.PaymentsQuery{
		SubscriptionID: sub.ID, SubscriptionGatewayID: sub.RemoteID(),
		CustomerGatewayID: sub.RemoteCustomer(),
	}
	if sub.PixAutomatic {
		paid, err := s.deps.Payments.PaymentsOf(ctx, s.deps.Pool, gateway.ForSubscription, sub.ID)
		if err != nil {
			return nil, err
		}
		for _, p := range paid {
			q.PaymentIDs = append(q.PaymentIDs, p.Payment.ID)
		}
	}
	all, err := gw.ListPayments(ctx, q)
	if err != nil {
		return nil, s.deps.Payments.Refused(ctx, "list payments", err)
	}
	return all, nil
}
