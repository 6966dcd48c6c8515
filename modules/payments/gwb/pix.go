package gwb

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/skip2/go-qrcode"
	"github.com/stripe/stripe-go/v85"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/secret"
)

const (
	qrPixels = 300
	// Bounds of a code's life at the gateway, in seconds (docs/gateway-facts.md, B7).
	minExpiry, maxExpiry = 10, 1209600
)

// CreatePix makes a payment intent with a PIX code.
func (g *payments) CreatePix(ctx context.Context, t gateway.PixTerms) (gateway.PixCharge, error) {
	intent, err := g.makeIntent(ctx, pixParams(t), t.Reference)
	if err != nil {
		return gateway.PixCharge{}, err
	}
	return g.pixCharge(intent)
}

func pixParams(t gateway.PixTerms) *stripe.PaymentIntentCreateParams {
	life := min(max(int64(t.ExpiresIn/time.Second), minExpiry), maxExpiry)
	p := &stripe.PaymentIntentCreateParams{
		Amount: stripe.Int64(int64(t.Amount)), Currency: stripe.String(currency),
		Customer:    stripe.String(t.Payer.GatewayID),
		Description: nullable.Ptr(t.Description), PaymentMethodTypes: stripe.StringSlice([]string{"pix"}),
		PaymentMethodData: &stripe.PaymentIntentCreatePaymentMethodDataParams{
			Type: stripe.String("pix"),
			BillingDetails: &stripe.PaymentIntentCreatePaymentMethodDataBillingDetailsParams{
				Name: nullable.Ptr(t.Payer.Name), Email: nullable.Ptr(t.Payer.Email),
				TaxID: nullable.Ptr(t.Payer.TaxID),
			},
		},
		PaymentMethodOptions: &stripe.PaymentIntentCreatePaymentMethodOptionsParams{
			Pix: &stripe.PaymentIntentCreatePaymentMethodOptionsPixParams{ExpiresAfterSeconds: stripe.Int64(life)},
		},
		Confirm: stripe.Bool(true),
		Metadata: map[string]string{
			pixReference(t.Kind): t.Reference.String(), metaCustomer: t.Payer.CustomerID.String(), metaKind: t.Kind,
		},
	}
	p.AddExpand("latest_charge")
	p.SetIdempotencyKey("pix-" + t.Reference.String())
	return p
}

// pixReference is the metadata key that holds the local id.
func pixReference(kind string) string {
	if kind == gateway.KindTicketOrder {
		return metaOrder
	}
	return metaSubscription
}

// FindPix looks through the payer's intents for the one that carries the
// reference.
func (g *payments) FindPix(ctx context.Context, t gateway.PixTerms) (gateway.PixCharge, bool, error) {
	intent, err := g.findIntent(ctx, t.Payer.GatewayID, t.Kind, t.Reference)
	return reply.Found(intent, err, g.pixCharge)
}

// ReadPix reads the intent; the code is there while it can be paid.
func (g *payments) ReadPix(ctx context.Context, paymentID string, local objectid.ID) (gateway.PixCharge, error) {
	intent, err := g.createdIntent(ctx, paymentID, local)
	if err != nil {
		return gateway.PixCharge{}, err
	}
	return g.pixCharge(intent)
}

// CancelPix cancels the intent, so that nobody pays an old code.
func (g *payments) CancelPix(ctx context.Context, paymentID string, local objectid.ID) error {
	_, err := write(ctx, g.client, func(ctx context.Context) (*stripe.PaymentIntent, error) {
		intent, err := g.api.V1PaymentIntents.Cancel(ctx, paymentID,
			&stripe.PaymentIntentCancelParams{CancellationReason: stripe.String("abandoned")})
		if err == nil && intent.Status != stripe.PaymentIntentStatusCanceled {
			err = reply.Odd("it does not say that it is cancelled")
		}
		return intent, err
	})
	if !errors.Is(err, gateway.ErrMissing) && !isCode(err, stripe.ErrorCodePaymentIntentUnexpectedState) {
		return err
	}
	c, readErr := g.ReadPix(ctx, paymentID, local)
	switch {
	case readErr != nil:
		return reply.Gone(readErr)
	case c.Payment.Status == gateway.PaymentStatusSettled:
		return gateway.ErrAlreadyPaid
	case c.Payment.Status == gateway.PaymentStatusGone:
		return nil
	}
	return fmt.Errorf("%w: it can still be paid: %w", gateway.ErrOutcomeUnknown, reply.Unnamed(err))
}

func (g *payments) pixCharge(intent *stripe.PaymentIntent) (gateway.PixCharge, error) {
	c := gateway.PixCharge{
		Payment:      intentPayment(intent, gateway.MethodPix),
		ClientSecret: secret.NewText(intent.ClientSecret),
	}
	c.Expired = c.Payment.Status == gateway.PaymentStatusGone
	if intent.NextAction == nil || intent.NextAction.PixDisplayQRCode == nil {
		return c, nil
	}
	code := intent.NextAction.PixDisplayQRCode
	c.Payload, c.ExpiresAt = code.Data, instant(code.ExpiresAt)
	c.Expired = c.ExpiresAt != nil && !g.cfg.Clock.Now().Before(*c.ExpiresAt)
	png, err := qrcode.Encode(code.Data, qrcode.Medium, qrPixels)
	if err != nil {
		return gateway.PixCharge{}, fmt.Errorf("%w: the PIX code fits no QR code", gateway.ErrOutcomeUnknown)
	}
	c.EncodedImage = base64.StdEncoding.EncodeToString(png)
	return c, nil
}

// intentStatus maps a PIX intent's status. An expired code leaves
// requires_payment_method, which nobody can pay by that code any more.
func intentStatus(s stripe.PaymentIntentStatus) gateway.PaymentStatus {
	switch s {
	case stripe.PaymentIntentStatusSucceeded:
		return gateway.PaymentStatusSettled
	case stripe.PaymentIntentStatusCanceled, stripe.PaymentIntentStatusRequiresPaymentMethod:
		return gateway.PaymentStatusGone
	}
	return gateway.PaymentStatusPending
}
