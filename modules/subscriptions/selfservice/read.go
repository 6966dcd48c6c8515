package selfservice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/calls"
	"marquee/modules/subscriptions/charges"
	"marquee/modules/subscriptions/checkout"
	"marquee/modules/subscriptions/debits"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// readPending returns the customer's subscription at a gateway; a pending one is read
// live and resolved (docs/contract/subscriptions.md, The customer's own). The client secret is there while the payer
// has to authenticate.
func (s *SelfService) readPending(ctx context.Context, customerID objectid.ID,
	at gateway.Name,
) (sub lifecycle.Subscription, clientSecret string, err error) {
	sub, err = s.deps.Reads.Current(ctx, customerID)
	if err != nil {
		return lifecycle.Subscription{}, "", err
	}
	if sub.Gateway != at {
		return lifecycle.Subscription{}, "", fault.BadRequest("Your subscription is not with this gateway.")
	}
	if httpapi.HeadOnly(ctx) {
		return sub, "", nil // the gateway is not asked
	}
	if waiting, ok, err := s.deps.Reads.WaitingRenewal(ctx, s.deps.Pool, customerID); err != nil ||
		ok && waiting.ID != sub.ID {
		return s.deps.Checkout.ReadRenewal(ctx, sub, waiting, err)
	}
	if sub.Status != state.Pending || sub.PaymentMethod != gateway.MethodCard {
		return sub, "", nil
	}
	resolved, clientSecret, err := s.deps.Recovery.Resolve(ctx, sub)
	if err != nil {
		// The gateway's silence is no reason to hide what is known here.
		s.deps.Log.WarnContext(ctx, "live read failed", slog.String("subscription_id", sub.ID.String()),
			slog.Any("error", err))
		return sub, "", nil
	}
	return resolved, clientSecret, nil
}

// pixDoc is what the route of the code answers.
type pixDoc struct {
	sub        lifecycle.Subscription // with the code, also of a renewal
	message    string
	clarifying *intent.Intent // while it is not known whether there is a code
}

// pixCode returns the customer's pending PIX with its code, or their subscription with
// the open code that renews it, or that pays a failed debit: 404 without a
// pending subscription, 400 when that is no PIX, 410 when the code has run out
// (docs/contract/subscriptions.md, The customer's own). While it is being clarified whether there
// is a code, it comes without.
func (s *SelfService) pixCode(ctx context.Context, customerID objectid.ID) (pixDoc, error) {
	sub, err := s.deps.Reads.Current(ctx, customerID)
	if err == nil && sub.Status != state.Pending {
		return s.chargeCode(ctx, sub)
	}
	if fault.Is(err, fault.KindNotFound) {
		return pixDoc{}, fault.NotFound("Pending subscription")
	}
	if err != nil {
		return pixDoc{}, err
	}
	if sub.PaymentMethod != gateway.MethodPix {
		return pixDoc{}, fault.BadRequest("Your pending subscription is not paid by PIX.")
	}
	if sub.PixPayload == nil {
		if err = httpapi.HeadEnds(ctx); err != nil {
			return pixDoc{}, err
		}
		if sub, err = s.fetchPix(ctx, sub); err != nil {
			return pixDoc{}, err
		}
	}
	if sub.PixExpiresAt != nil && !sub.PixExpiresAt.After(s.deps.Clock.Now()) {
		return pixDoc{}, errCodeGone()
	}
	doc := pixDoc{sub: sub, message: checkout.PayPix}
	if sub.PixPayload == nil {
		i, open, err := s.deps.Intents.OpenOf(ctx, s.deps.Pool, sub.ID)
		if err != nil {
			return pixDoc{}, err
		}
		if open {
			doc.message, doc.clarifying = calls.Clarified(sub, i), &i
		}
	}
	return doc, nil
}

// chargeCode shows the code of a further period of a subscription that is paid.
func (s *SelfService) chargeCode(ctx context.Context, sub lifecycle.Subscription) (pixDoc, error) {
	c, ok, err := s.deps.Charges.OpenCharge(ctx, sub)
	if err != nil {
		return pixDoc{}, err
	}
	if !ok {
		return s.debitCode(ctx, sub)
	}
	sub.PixPaymentID, sub.PixPayload, sub.PixImage, sub.PixExpiresAt = c.GatewayPaymentID, c.PixPayload, c.PixImage,
		c.PixExpiresAt
	i, open, err := s.deps.Charges.OpenIntentOf(ctx, c)
	if err != nil {
		return pixDoc{}, err
	}
	if open {
		return pixDoc{sub: sub, message: charges.ChargeClarified(i), clarifying: &i}, nil
	}
	return pixDoc{sub: sub, message: s.payRenewal(sub, c)}, nil
}

// payRenewal says what the code of a further period is for.
func (s *SelfService) payRenewal(sub lifecycle.Subscription, c lifecycle.RenewalCharge) string {
	switch {
	case c.Cycle.Valid:
		return "Pay the PIX for the period of your subscription that begins on " +
			s.deps.Calendar.Day(s.deps.Calendar.DayOf(c.Cycle)) + "."
	case sub.ExpiresAt != nil:
		return "Pay the PIX to renew your subscription, which is paid until " + s.deps.Calendar.Day(*sub.ExpiresAt) +
			"."
	}
	return "Pay the PIX to renew your subscription."
}

func errCodeGone() error {
	return &fault.Error{Kind: fault.KindGone, Message: "This PIX code has expired. Subscribe again to get a new one."}
}

// fetchPix asks the gateway for a code that its first answer did not bring.
func (s *SelfService) fetchPix(ctx context.Context, sub lifecycle.Subscription) (lifecycle.Subscription, error) {
	if sub.PixPaymentID == nil && sub.GwaPixAuthID == nil {
		after, err := s.deps.Recovery.CheckNow(ctx, sub)
		switch {
		case err != nil:
			s.deps.Log.WarnContext(ctx, "no check of a PIX", slog.String("subscription_id", sub.ID.String()),
				slog.Any("error", err))
			return sub, nil
		case after.Status != state.Pending:
			return lifecycle.Subscription{}, fault.NotFound("Pending subscription")
		case after.PixPayload != nil || after.IntentOpen:
			return after, nil
		}
		sub = after
	}
	made, expired, err := s.readPix(ctx, sub)
	if err == nil {
		sub, err = s.deps.Settler.Settle(ctx, sub, state.ByLiveRead, settle.Succeeded{Result: made})
	}
	if err != nil {
		return lifecycle.Subscription{}, s.deps.Payments.Refused(ctx, "read PIX code", err)
	}
	if sub.PixPayload == nil && expired {
		return lifecycle.Subscription{}, errCodeGone()
	}
	if sub.PixPayload == nil {
		return lifecycle.Subscription{}, &fault.Error{
			Kind: fault.KindUnavailable, RetryAfter: 10 * time.Second,
			Message: "The PIX code is not there yet. Try again in a moment.",
		}
	}
	return sub, nil
}

func (s *SelfService) readPix(ctx context.Context,
	sub lifecycle.Subscription,
) (made settle.Made, expired bool, err error) {
	gateway, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return nil, false, err
	}
	if sub.GwaPixAuthID != nil {
		auth, err := gateway.ReadPixAuthorization(ctx, sub.AuthorizationRef())
		return settle.Authorization{PixAuthorization: auth}, auth.Expired, err
	}
	charge, err := gateway.ReadPix(ctx, nullable.Value(sub.PixPaymentID), sub.ID)
	return settle.Code{PixCharge: charge}, charge.Expired, err
}

const payDebit = "Your bank did not make the automatic payment for this period: pay it with this PIX. The automatic PIX stays authorized for the next ones."

// debitCode shows the code of a failed debit of automatic PIX that the bank is not
// asked for any more; 404 where there is none.
func (s *SelfService) debitCode(ctx context.Context, sub lifecycle.Subscription) (pixDoc, error) {
	none := fault.NotFound("Pending subscription")
	if !sub.PixAutomatic || sub.HasChargeback {
		return pixDoc{}, none
	}
	d, err := s.db.DebitGetFailed(ctx, s.deps.Pool, sub.ID, new(debits.FailedGone))
	if errors.Is(err, pgx.ErrNoRows) {
		return pixDoc{}, none
	}
	if err != nil {
		return pixDoc{}, fmt.Errorf("read failed debit: %w", err)
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return pixDoc{}, err
	}
	_, code, _, err := s.deps.Debits.HowToPayDebit(ctx, sub, *d.GatewayPaymentID)
	if err != nil {
		return pixDoc{}, s.deps.Payments.Refused(ctx, "read PIX code", err)
	}
	if code.Payload == "" {
		return pixDoc{}, none
	}
	sub.PixPaymentID, sub.PixPayload, sub.PixImage, sub.PixExpiresAt = d.GatewayPaymentID, &code.Payload,
		&code.EncodedImage, code.ExpiresAt
	return pixDoc{sub: sub, message: payDebit}, nil
}
