package admin

import (
	"context"
	"fmt"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// accessReason says in a word why a customer may watch, or may not.
type accessReason string

const (
	accessActive           accessReason = "active"
	accessDisabled         accessReason = "customer_disabled"
	accessNeverSubscribed  accessReason = "never_subscribed"
	accessUnanswered       accessReason = "gateway_unanswered"
	accessPixUnpaid        accessReason = "pix_unpaid"
	accessPaymentPending   accessReason = "payment_pending"
	accessPeriodOver       accessReason = "period_over"
	accessDisputed         accessReason = "payment_disputed"
	accessSuspendedByStaff accessReason = "suspended_by_staff"
	accessPaymentFailed    accessReason = "payment_failed"
	accessCancelled        accessReason = "cancelled"
)

// accessBody is why a customer may watch, or may not.
type accessBody struct {
	CustomerID     objectid.ID   `json:"customer_id"`
	HasAccess      bool          `json:"has_access" doc:"Whether GET /videos answers them"`
	Reason         accessReason  `json:"reason" enum:"active,customer_disabled,never_subscribed,gateway_unanswered,pix_unpaid,payment_pending,period_over,payment_disputed,suspended_by_staff,payment_failed,cancelled"`
	Sentence       string        `json:"sentence" doc:"The same for people"`
	At             *httpapi.Time `json:"at" nullable:"true" doc:"The instant that the sentence names; null where it names none"`
	Failures       int32         `json:"payment_failures" doc:"The failed payments in a row that the sentence counts; 0 where it counts none"`
	Since          *httpapi.Time `json:"since" nullable:"true" doc:"When that began"`
	Until          *httpapi.Time `json:"until" nullable:"true" doc:"When access ends; null while nothing ends it, and without access"`
	SubscriptionID *objectid.ID  `json:"subscription_id" nullable:"true" doc:"The subscription that decides"`
	Status         *string       `json:"status" nullable:"true" doc:"Its status"`
	MoveReason     string        `json:"move_reason" doc:"Why it has that status, as in its history; empty without a subscription"`
	MoveSource     string        `json:"move_source" doc:"What brought it there"`
}

// access answers GET /admin/customers/{id}/access by the rule of subscriptions.has_access, in words. Errors: 404 for a
// customer that is not there, 422 for what is no id.
func (h handlers) access(ctx context.Context, in *idInput) (*httpapi.Output[accessBody], error) {
	if !objectid.Valid(in.ID) {
		return nil, fault.InvalidAt(objectid.ErrMalformed.Error(), "path", "id")
	}
	d := h.service.deps
	customer, err := d.Accounts.CustomerByID(ctx, d.Pool, objectid.ID(in.ID))
	if err != nil {
		return nil, err
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	body := accessBody{CustomerID: customer.ID}
	now := d.Clock.Now()
	deciding, err := h.service.db.SubscriptionGetDeciding(ctx, d.Pool, customer.ID, now)
	switch {
	case postgres.IsNoRows(err):
		body.Reason, body.Sentence = accessNeverSubscribed, "The customer has never subscribed."
	case err != nil:
		return nil, fmt.Errorf("read the subscription that decides: %w", err)
	default:
		body.judge(deciding, now)
	}
	if !customer.Enabled {
		body.HasAccess, body.Reason, body.Until, body.At, body.Failures = false, accessDisabled, nil, nil, 0
		body.Sentence = "The account is deactivated: the customer cannot sign in, whatever was paid."
	}
	return httpapi.OK(body)
}

// judge says what the subscription that decides means for access.
func (b *accessBody) judge(d lifecycle.Deciding, now time.Time) {
	sub, status := d.Subscription, string(d.Subscription.Status)
	b.SubscriptionID, b.Status, b.MoveReason, b.MoveSource = &sub.ID, &status, string(d.Reason), string(d.Source)
	b.Since = httpapi.TimePtr(&d.MovedAt)
	switch sub.Status {
	case state.Active:
		b.judgeActive(sub, now)
	case state.Pending:
		b.judgePending(sub)
	case state.Suspended:
		b.judgeSuspended(sub, d)
	case state.Expired:
		b.Reason, b.At = accessPeriodOver, httpapi.TimePtr(sub.EndedAt)
		b.Sentence = "The period that was paid ended " + day(sub.EndedAt) + "."
	default:
		b.Reason, b.At = accessCancelled, httpapi.TimePtr(sub.EndedAt)
		b.Sentence = "The subscription was cancelled " + day(sub.EndedAt) + ": " + wording(d.Reason) + "."
	}
}

func (b *accessBody) judgeActive(sub lifecycle.Subscription, now time.Time) {
	if sub.ExpiresAt != nil && !sub.ExpiresAt.After(now) {
		b.Reason, b.Since, b.At = accessPeriodOver, httpapi.TimePtr(sub.ExpiresAt), httpapi.TimePtr(sub.ExpiresAt)
		b.Sentence = "The period that was paid ended " + day(sub.ExpiresAt) + "."
		return
	}
	b.HasAccess, b.Reason = true, accessActive
	b.Until, b.At = httpapi.TimePtr(sub.ExpiresAt), httpapi.TimePtr(sub.ExpiresAt)
	b.Sentence = "The subscription is active"
	if sub.ExpiresAt != nil {
		b.Sentence += ", until " + sub.ExpiresAt.UTC().Format(instant)
	}
	b.Sentence += "."
}

func (b *accessBody) judgePending(sub lifecycle.Subscription) {
	switch {
	case sub.IntentOpen:
		b.Reason = accessUnanswered
		b.Sentence = "The gateway has not told the outcome of the first payment yet; it is checked again automatically."
	case sub.PaymentMethod == gateway.MethodPix && sub.PixExpiresAt != nil:
		b.Reason, b.At = accessPixUnpaid, httpapi.TimePtr(sub.PixExpiresAt)
		b.Sentence = "The PIX code has not been paid; it is valid until " + sub.PixExpiresAt.UTC().Format(instant) + "."
	case sub.PaymentMethod == gateway.MethodPix:
		b.Reason, b.Sentence = accessPixUnpaid, "The PIX code has not been paid."
	default:
		b.Reason, b.Sentence = accessPaymentPending, "The first payment by card has not been confirmed."
	}
}

func (b *accessBody) judgeSuspended(sub lifecycle.Subscription, d lifecycle.Deciding) {
	switch {
	case sub.HasChargeback:
		b.Reason = accessDisputed
		b.Sentence = "A payment is disputed: access waits until the bank has decided."
	case d.Source == state.ByAdmin:
		b.At = httpapi.TimePtr(&d.MovedAt)
		b.Reason, b.Sentence = accessSuspendedByStaff, "Staff suspended the subscription "+day(&d.MovedAt)+"."
	case sub.PaymentFailures > 0:
		b.Reason, b.At, b.Failures = accessPaymentFailed, httpapi.TimePtr(&d.MovedAt), sub.PaymentFailures
		b.Sentence = "The subscription was suspended " + day(&d.MovedAt) + ", after " +
			fault.Count(int(sub.PaymentFailures), "failed payment") + " in a row."
	default:
		b.Reason, b.At = accessPaymentFailed, httpapi.TimePtr(&d.MovedAt)
		b.Sentence = "The subscription was suspended " + day(&d.MovedAt) + ": the gateway could not collect."
	}
}

// instant is how sentences for staff tell an instant.
const instant = "2006-01-02 15:04 UTC"

func day(t *time.Time) string {
	if t == nil {
		return "earlier"
	}
	return "on " + t.UTC().Format(instant)
}

// wording is a reason of the history in words, behind "was cancelled …:".
func wording(reason state.Reason) string {
	switch reason {
	case state.ReasonPaymentFailure:
		return "payments failed"
	case state.ReasonCustomerCancelled:
		return "the customer asked for it"
	case state.ReasonWithdrawn:
		return "the customer withdrew and the money goes back"
	case state.ReasonAdminCancelled:
		return "staff did it"
	case state.ReasonChargeback:
		return "a payment was charged back"
	case state.ReasonPaymentDeclined:
		return "the first payment was declined"
	case state.ReasonAbsentAtGateway:
		return "the gateway has nothing of it"
	case state.ReasonAbandoned:
		return "the first payment was never finished"
	case state.ReasonReplaced:
		return "a newer one took its place"
	case state.ReasonPixUnpaid:
		return "its PIX was not paid in time"
	case state.ReasonGoneAtGateway:
		return "it is gone at the gateway"
	default:
		return "the gateway ended it"
	}
}
