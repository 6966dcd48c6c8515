package gwa

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"marquee/modules/payments"
	"marquee/platform/money"
)

type paymentBody struct {
	Customer          string      `json:"customer"`
	BillingType       string      `json:"billingType"`
	Value             money.Reais `json:"value"`
	DueDate           string      `json:"dueDate"`
	Description       string      `json:"description,omitempty"`
	ExternalReference string      `json:"externalReference"`
}

type qrCode struct {
	Payload        string `json:"payload"`
	EncodedImage   string `json:"encodedImage"`
	ExpirationDate date   `json:"expirationDate"`
}

// CreatePix makes a PIX payment and reads its code, which lives a year at the
// gateway: whoever lets the payment go has to call CancelPix.
func (g *Gateway) CreatePix(ctx context.Context, t payments.PixTerms) (payments.PixCharge, error) {
	var made payment
	err := g.post(ctx, "/payments", paymentBody{
		Customer: t.Payer.GatewayID, BillingType: "PIX", Value: t.Amount.Reais(), DueDate: g.dueDay(t.DueDate),
		Description: t.Description, ExternalReference: t.Reference.String(),
	}, &made, g.cfg.Timeout)
	if err != nil {
		return payments.PixCharge{}, err
	}
	if !echoes(made.ExternalReference, made.Value, t.Reference, t.Amount) {
		return payments.PixCharge{}, g.undo(ctx, "payment", made.ID, g.CancelPix)
	}
	c, err := g.firstCode(ctx, &made)
	if err != nil {
		return payments.PixCharge{}, fmt.Errorf("%w: payment %s was made, its code not read: %w", payments.ErrOutcomeUnknown, made.ID, err)
	}
	return c, nil
}

// firstCode reads the code of a new payment, which the gateway may refuse for a
// moment (section 6).
func (g *Gateway) firstCode(ctx context.Context, p *payment) (c payments.PixCharge, err error) {
	for try := range maxTries {
		c, err = g.withCode(ctx, p)
		if err == nil || errors.Is(err, payments.ErrUnavailable) {
			return c, err
		}
		if try < maxTries-1 && !pause(ctx, g.cfg.RetryWait<<try) {
			return c, err
		}
	}
	return c, err
}

// withCode adds the QR code while the payment can be paid.
func (g *Gateway) withCode(ctx context.Context, p *payment) (payments.PixCharge, error) {
	c := payments.PixCharge{Payment: g.asOfNow(p)}
	if c.Payment.Status != payments.PaymentPending {
		c.Expired = c.Payment.Status != payments.PaymentSettled
		return c, nil
	}
	var code qrCode
	err := g.get(ctx, "/payments/"+url.PathEscape(p.ID)+"/pixQrCode", nil, &code)
	var rejected *payments.Rejected
	if p.Status == "OVERDUE" && (errors.As(err, &rejected) || errors.Is(err, payments.ErrGatewayMissing)) {
		c.Expired = true // an overdue payment keeps its code until the code runs out
		return c, nil
	}
	if err != nil {
		return payments.PixCharge{}, err
	}
	c.Payload, c.EncodedImage, c.ExpiresAt = code.Payload, code.EncodedImage, code.ExpirationDate.in(g.cfg.Zone)
	c.Expired = c.ExpiresAt != nil && !g.cfg.Clock.Now().Before(*c.ExpiresAt)
	return c, nil
}

// FindPix looks for a PIX payment that carries the reference and is not deleted.
func (g *Gateway) FindPix(ctx context.Context, t payments.PixTerms) (payments.PixCharge, bool, error) {
	var found list[payment]
	err := g.get(ctx, "/payments", url.Values{"externalReference": {t.Reference.String()}, "billingType": {"PIX"}, "limit": {"100"}}, &found)
	if err != nil {
		return payments.PixCharge{}, false, err
	}
	for i := range found.Data {
		p := &found.Data[i]
		if p.Deleted || p.Subscription != "" || reference(p.ExternalReference) != t.Reference {
			continue
		}
		c, err := g.withCode(ctx, p)
		return c, err == nil, err
	}
	return payments.PixCharge{}, false, nil
}

// ReadPix reads the payment and, while it can be paid, its code.
func (g *Gateway) ReadPix(ctx context.Context, paymentID string) (payments.PixCharge, error) {
	p, err := g.payment(ctx, paymentID)
	if err != nil {
		return payments.PixCharge{}, err
	}
	return g.withCode(ctx, p)
}

func (g *Gateway) payment(ctx context.Context, id string) (*payment, error) {
	var p payment
	err := g.get(ctx, "/payments/"+url.PathEscape(id), nil, &p)
	return &p, err
}

// CancelPix deletes an open payment. A paid one cannot be deleted.
func (g *Gateway) CancelPix(ctx context.Context, paymentID string) error {
	err := g.remove(ctx, "/payments/"+url.PathEscape(paymentID))
	if errors.Is(err, payments.ErrGatewayMissing) {
		return nil
	}
	var rejected *payments.Rejected
	if !errors.As(err, &rejected) {
		return err
	}
	p, readErr := g.payment(ctx, paymentID)
	switch {
	case errors.Is(readErr, payments.ErrGatewayMissing):
		return nil
	case readErr != nil:
		return readErr
	}
	switch p.neutral(g.cfg.Zone).Status {
	case payments.PaymentSettled:
		return payments.ErrAlreadyPaid
	case payments.PaymentGone:
		return nil
	}
	return err
}
