package gwa

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/answer"
	"marquee/platform/money"
	"marquee/platform/objectid"
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

func (c *qrCode) check() error {
	if c.Payload == "" || c.EncodedImage == "" {
		return answer.Odd("it is no code")
	}
	return nil
}

// CreatePix makes a PIX payment and reads its code, which lives a year at the
// gateway: whoever lets the payment go has to call CancelPix.
func (g *payments) CreatePix(ctx context.Context, t gateway.PixTerms) (gateway.PixCharge, error) {
	p, err := g.makePayment(ctx, request{path: "/payments", timeout: g.cfg.Timeout, body: paymentBody{
		Customer: t.Payer.GatewayID, BillingType: "PIX", Value: t.Amount.Reais(), DueDate: g.dueDay(t.DueDate),
		Description: t.Description, ExternalReference: t.Reference.String(),
	}}, t.Reference)
	if err != nil {
		return gateway.PixCharge{}, err
	}
	if p.Value.Cents() != t.Amount {
		return gateway.PixCharge{}, g.undo(ctx, "payment", p.ID, t.Reference, g.CancelPix)
	}
	c, err := g.firstCode(ctx, p)
	if err != nil {
		return gateway.PixCharge{}, fmt.Errorf("%w: payment %s was made, its code not read: %w", gateway.ErrOutcomeUnknown, p.ID, answer.Unnamed(err))
	}
	return c, nil
}

// makePayment makes a payment and reads it by the id that the answer tells.
func (g *client) makePayment(ctx context.Context, r request, local objectid.ID) (*payment, error) {
	answered, err := post(ctx, g, r, func(p *payment) error { return p.check("", local) })
	if err != nil {
		return nil, err
	}
	return answer.Made(func() (*payment, error) { return g.payment(ctx, answered.ID, local) })
}

// firstCode reads the code of a new payment, which the gateway may refuse for a
// moment (section 6).
func (g *payments) firstCode(ctx context.Context, p *payment) (c gateway.PixCharge, err error) {
	err = answer.Repeat(ctx, g.cfg.RetryWait, func() (again bool, err error) {
		c, err = g.withCode(ctx, p)
		return !errors.Is(err, gateway.ErrUnavailable), err
	})
	return c, err
}

// withCode adds the QR code while the payment can be paid.
func (g *payments) withCode(ctx context.Context, p *payment) (gateway.PixCharge, error) {
	c := gateway.PixCharge{Payment: g.asOfNow(p)}
	if c.Payment.Status != gateway.PaymentPending {
		c.Expired = c.Payment.Status != gateway.PaymentSettled
		return c, nil
	}
	code, err := get(ctx, g.client, "/payments/"+url.PathEscape(p.ID)+"/pixQrCode", nil, (*qrCode).check)
	var rejected *gateway.Rejected
	if p.Status == "OVERDUE" && (errors.As(err, &rejected) || errors.Is(err, errNotThere)) {
		c.Expired = true // an overdue payment keeps its code until the code runs out
		return c, nil
	}
	if err != nil {
		return gateway.PixCharge{}, err
	}
	c.Payload, c.EncodedImage, c.ExpiresAt = code.Payload, code.EncodedImage, code.ExpirationDate.in(g.cfg.Zone)
	c.Expired = c.ExpiresAt != nil && !g.cfg.Clock.Now().Before(*c.ExpiresAt)
	return c, nil
}

// FindPix looks for a PIX payment that carries the reference and is not deleted.
func (g *payments) FindPix(ctx context.Context, t gateway.PixTerms) (gateway.PixCharge, bool, error) {
	query := named(t.Reference)
	query.Set("billingType", "PIX")
	found, err := find(ctx, g.client, "/payments", query, func(p *payment) bool {
		return !p.Deleted && p.Subscription == "" && reference(p.ExternalReference) == t.Reference
	})
	if err != nil || found == nil {
		return gateway.PixCharge{}, false, err
	}
	c, err := g.ReadPix(ctx, found.ID, t.Reference)
	return c, err == nil, answer.Unproven(err)
}

// ReadPix reads the payment and, while it can be paid, its code.
func (g *payments) ReadPix(ctx context.Context, paymentID string, local objectid.ID) (gateway.PixCharge, error) {
	p, err := g.payment(ctx, paymentID, local)
	if err != nil {
		return gateway.PixCharge{}, err
	}
	return g.withCode(ctx, p)
}

// CancelPix deletes an open payment. A paid one cannot be deleted.
func (g *client) CancelPix(ctx context.Context, paymentID string, local objectid.ID) error {
	err := g.remove(ctx, "/payments", paymentID)
	var rejected *gateway.Rejected
	if !errors.As(err, &rejected) {
		return answer.Gone(missing[payment](ctx, g, err, "/payments", paymentID, local))
	}
	p, readErr := g.payment(ctx, paymentID, local)
	switch {
	case errors.Is(readErr, gateway.ErrMissing):
		return nil
	case readErr != nil:
		return readErr
	}
	switch p.neutral(g.cfg.Zone).Status {
	case gateway.PaymentSettled:
		return gateway.ErrAlreadyPaid
	case gateway.PaymentGone:
		return nil
	}
	return err
}
