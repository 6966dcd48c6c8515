package gwb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// Keys of a refund's metadata; the gateway's own reason takes three words only.
const (
	metaRefund = "local_refund_id"
	metaReason = "reason"
	metaAdmin  = "admin"
	// maxMetadata is the longest value of metadata.
	maxMetadata = 500
)

// Refund makes one call. Its answer counts when it is of this refund and the list of
// the payment's refunds has it: an id that the gateway does not know would be booked
// beside the true one.
func (g *refunds) Refund(ctx context.Context, t gateway.RefundTerms) (gateway.RemoteRefund, error) {
	intent, err := g.intentID(ctx, t.Payment)
	if err != nil {
		return gateway.RemoteRefund{}, err
	}
	t.Payment.PaymentIntentID = intent
	id, err := write(ctx, g.client, func(ctx context.Context) (string, error) {
		r, err := g.api.V1Refunds.Create(ctx, refundParams(t))
		if err != nil {
			return "", err
		}
		if money.Cents(r.Amount) != t.Amount {
			return "", reply.Odd("it is of another amount")
		}
		if intent != "" && (r.PaymentIntent == nil || r.PaymentIntent.ID != intent) {
			return "", reply.Odd("it is of another payment intent")
		}
		return r.ID, carries(r.Metadata, metaRefund, t.RefundID)
	})
	var rejected *gateway.Rejected
	if errors.As(err, &rejected) && rejected.Code == string(stripe.ErrorCodeChargeDisputed) {
		err = fmt.Errorf("%w: %w", gateway.ErrDisputed, err)
	}
	if err != nil {
		return gateway.RemoteRefund{}, err
	}
	// What the payment's own list does not show under that id is not booked.
	return reply.Made(func() (gateway.RemoteRefund, error) {
		known, ok, err := g.FindRefund(ctx, t)
		if err == nil && (!ok || known.ID != id) {
			err = reply.Odd("the payment's refunds do not show it")
		}
		return known, err
	})
}

func refundParams(t gateway.RefundTerms) *stripe.RefundCreateParams {
	p := &stripe.RefundCreateParams{
		Amount: stripe.Int64(int64(t.Amount)), Reason: stripe.String(string(stripe.RefundReasonRequestedByCustomer)),
		Metadata: map[string]string{metaRefund: t.RefundID.String()},
	}
	if t.Payment.PaymentIntentID != "" {
		p.PaymentIntent = stripe.String(t.Payment.PaymentIntentID)
	} else {
		p.Charge = stripe.String(t.Payment.ChargeID)
	}
	for key, text := range map[string]string{metaReason: t.Reason, metaAdmin: t.Admin} {
		if text != "" {
			r := []rune(text)
			p.Metadata[key] = string(r[:min(len(r), maxMetadata)])
		}
	}
	p.AddExpand("charge")
	p.SetIdempotencyKey("refund-" + t.RefundID.String())
	return p
}

// FindRefund looks among the payment's refunds for the one with our id.
func (g *refunds) FindRefund(ctx context.Context, t gateway.RefundTerms) (gateway.RemoteRefund, bool, error) {
	all, err := g.ListRefunds(ctx, t.Payment)
	if err != nil {
		return gateway.RemoteRefund{}, false, err
	}
	for _, r := range all {
		if r.RefundID == t.RefundID {
			return r, true, nil
		}
	}
	return gateway.RemoteRefund{}, false, nil
}

// ListRefunds lists them newest first, each with what the charge says of all. Each is
// read by its id, since it is booked under it.
func (g *refunds) ListRefunds(ctx context.Context, ref gateway.PaymentRef) ([]gateway.RemoteRefund, error) {
	if ref.ChargeID == "" || ref.PaymentIntentID == "" {
		intent, err := g.intentID(ctx, ref)
		if err != nil {
			return nil, err
		}
		ref.PaymentIntentID = intent
	}
	ids, err := read(ctx, g.client, func(ctx context.Context) (ids []string, err error) {
		p := &stripe.RefundListParams{}
		p.Limit = stripe.Int64(100)
		if ref.PaymentIntentID != "" {
			p.PaymentIntent = stripe.String(ref.PaymentIntentID)
		} else {
			p.Charge = stripe.String(ref.ChargeID)
		}
		for r, err := range g.api.V1Refunds.List(ctx, p).All(ctx) {
			if err != nil {
				return nil, err
			}
			ids = append(ids, r.ID)
		}
		return ids, nil
	})
	all := []gateway.RemoteRefund{}
	for _, id := range ids {
		r, err := g.refund(ctx, id, ref.PaymentIntentID)
		if err != nil {
			return nil, reply.Unproven(err)
		}
		all = append(all, g.remoteRefund(r))
	}
	return all, err
}

func (g *refunds) refund(ctx context.Context, id, intent string) (*stripe.Refund, error) {
	return read(ctx, g.client, func(ctx context.Context) (*stripe.Refund, error) {
		p := &stripe.RefundRetrieveParams{}
		p.AddExpand("charge")
		r, err := g.api.V1Refunds.Retrieve(ctx, id, p)
		if err == nil && intent != "" && (r.PaymentIntent == nil || r.PaymentIntent.ID != intent) {
			err = reply.Odd("it is of another payment")
		}
		return r, err
	})
}

// intentID is the payment intent of a payment; an invoice is asked for it. It is
// "" when the charge alone is known.
func (g *refunds) intentID(ctx context.Context, ref gateway.PaymentRef) (string, error) {
	switch {
	case ref.PaymentIntentID != "":
		return ref.PaymentIntentID, nil
	case !isInvoice(ref.PaymentID) && ref.PaymentID != "":
		return ref.PaymentID, nil
	case ref.PaymentID == "":
		return "", nil
	}
	paid, err := g.ReadPayment(ctx, ref.PaymentID, "")
	if err == nil && paid.PaymentIntentID == "" {
		err = &gateway.Rejected{
			Code: "no_payment", Message: "the invoice " + ref.PaymentID + " was settled without a payment",
		}
	}
	return paid.PaymentIntentID, err
}

// refundStates: a pending refund counts, as the charge counts it.
var refundStates = map[string]gateway.RefundStatus{
	"succeeded":       gateway.RefundStatusDone,
	"pending":         gateway.RefundStatusPending,
	"requires_action": gateway.RefundStatusPending,
	"failed":          gateway.RefundStatusFailed,
	"canceled":        gateway.RefundStatusFailed,
}

// ledgerState is a refund's state in the ledger, which counts what the charge's
// amount_refunded counts: all that has not failed.
func ledgerState(status string) gateway.RefundStatus {
	if refundStates[status] == gateway.RefundStatusFailed {
		return gateway.RefundStatusFailed
	}
	return gateway.RefundStatusDone
}

func (g *refunds) remoteRefund(r *stripe.Refund) gateway.RemoteRefund {
	now := g.cfg.Clock.Now()
	created := now
	if at := instant(r.Created); at != nil {
		created = *at
	}
	id, _ := objectid.Parse(r.Metadata[metaRefund])
	out := gateway.RemoteRefund{
		ID: r.ID, RefundID: id, Amount: money.Cents(r.Amount), Status: refundStates[string(r.Status)],
		NativeStatus: string(r.Status),
		Reason:       r.Metadata[metaReason], CreatedAt: created,
	}
	out.Report = gateway.RefundReport{At: now.Truncate(time.Second), Singles: []gateway.SingleRefund{{
		ID: r.ID, RefundID: id, Amount: out.Amount, Status: ledgerState(string(r.Status)), Reason: out.Reason,
		At: created,
	}}}
	if r.Charge != nil {
		out.Report.ChargeID, out.Report.PaymentID = r.Charge.ID, r.Charge.ID
		if r.Charge.Object == "charge" { // expanded, as the charge stands after the refund
			out.Report.Total, out.Report.HasTotal = money.Cents(r.Charge.AmountRefunded), true
		}
	}
	if r.PaymentIntent != nil && r.PaymentIntent.ID != "" {
		out.Report.PaymentID = r.PaymentIntent.ID
	}
	out.Response, _ = json.Marshal(map[string]any{ // plain values always marshal
		"id": r.ID, "object": "refund", "amount": r.Amount, "currency": string(r.Currency), "status": string(r.Status),
		"reason": string(r.Reason),
		"charge": out.Report.ChargeID, "payment_intent": out.Report.PaymentID, "created": r.Created,
	})
	return out
}

// ListDisputes lists the disputes of a payment, newest first.
func (g *refunds) ListDisputes(ctx context.Context, ref gateway.PaymentRef) ([]gateway.DisputeReport, error) {
	intent, err := g.intentID(ctx, ref)
	if err != nil {
		return nil, err
	}
	return read(ctx, g.client, func(ctx context.Context) ([]gateway.DisputeReport, error) {
		p := &stripe.DisputeListParams{}
		p.Limit = stripe.Int64(100)
		if intent != "" {
			p.PaymentIntent = stripe.String(intent)
		} else {
			p.Charge = stripe.String(ref.ChargeID)
		}
		all := []gateway.DisputeReport{}
		for d, err := range g.api.V1Disputes.List(ctx, p).All(ctx) {
			if err != nil {
				return nil, err
			}
			o := disputeObject{
				ID: d.ID, Amount: d.Amount, Reason: string(d.Reason), Status: string(d.Status), Created: d.Created,
			}
			if d.Charge != nil {
				o.Charge.ID = d.Charge.ID
			}
			if d.PaymentIntent != nil {
				o.PaymentIntent.ID = d.PaymentIntent.ID
			}
			all = append(all, o.report(g.cfg.Clock.Now().Truncate(time.Second)))
		}
		return all, nil
	})
}
