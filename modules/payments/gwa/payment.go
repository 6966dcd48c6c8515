package gwa

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

type payment struct {
	Object            string      `json:"object"`
	ID                string      `json:"id"`
	Customer          ref         `json:"customer"`
	Subscription      ref         `json:"subscription"`
	Value             money.Reais `json:"value"`
	BillingType       string      `json:"billingType"`
	Status            string      `json:"status"`
	Deleted           bool        `json:"deleted"`
	Description       string      `json:"description"`
	DateCreated       date        `json:"dateCreated"`
	DueDate           date        `json:"dueDate"`
	OriginalDueDate   date        `json:"originalDueDate"`
	ConfirmedDate     date        `json:"confirmedDate"`
	PaymentDate       date        `json:"paymentDate"`
	ClientPaymentDate date        `json:"clientPaymentDate"`
	ExternalReference *string     `json:"externalReference"`
	// Automatic PIX: where the authorization's id stands is not certain.
	PixAutomaticAuthorizationID ref    `json:"pixAutomaticAuthorizationId"`
	PixAutomaticAuthorization   ref    `json:"pixAutomaticAuthorization"`
	PixQRCodeID                 string `json:"pixQrCodeId"`

	Refunds    []refund    `json:"refunds"`
	Chargeback *chargeback `json:"chargeback"`
}

// statuses of payments in neutral words; one that is not listed is pending. Money
// that is disputed, or on its way back, has come: what becomes of it is told by
// refunds and disputes.
var statuses = map[string]gateway.PaymentStatus{
	"CONFIRMED":        gateway.PaymentStatusSettled,
	"RECEIVED":         gateway.PaymentStatusSettled,
	"RECEIVED_IN_CASH": gateway.PaymentStatusSettled,
	"DUNNING_RECEIVED": gateway.PaymentStatusSettled,
	"OVERDUE":          gateway.PaymentStatusFailed,
	"REFUNDED":         gateway.PaymentStatusGone,

	"REFUND_REQUESTED":             gateway.PaymentStatusSettled,
	"REFUND_IN_PROGRESS":           gateway.PaymentStatusSettled,
	"CHARGEBACK_REQUESTED":         gateway.PaymentStatusSettled,
	"CHARGEBACK_DISPUTE":           gateway.PaymentStatusSettled,
	"AWAITING_CHARGEBACK_REVERSAL": gateway.PaymentStatusSettled,
}

var methods = map[string]gateway.Method{
	"CREDIT_CARD": gateway.MethodCard,
	"PIX":         gateway.MethodPix,
	"BOLETO":      gateway.MethodBoleto,
}

func (p *payment) neutral(zone *time.Location) gateway.Payment {
	n := gateway.Payment{
		ID: p.ID, NativeStatus: p.Status, Method: methods[p.BillingType], Amount: p.Value.Cents(),
		Status: gateway.PaymentStatusPending, DueDate: p.DueDate.in(zone), MadeFor: p.OriginalDueDate.in(zone),
	}
	if n.Method == "" {
		n.Method = gateway.MethodBoleto // UNDEFINED lets the payer choose; the choice comes with the payment
	}
	if status, known := statuses[p.Status]; known {
		n.Status = status
	}
	// An overdue PIX can still be paid; a card that is overdue was refused.
	if p.Status == "OVERDUE" && n.Method != gateway.MethodCard {
		n.Status = gateway.PaymentStatusPending
	}
	if p.Deleted && n.Status != gateway.PaymentStatusSettled {
		n.Status = gateway.PaymentStatusGone
	}
	if n.Status == gateway.PaymentStatusSettled {
		n.SettledAt = firstDate(zone, p.ConfirmedDate, p.ClientPaymentDate, p.PaymentDate)
	}
	return n
}

func (p *payment) identity() reply.Identity {
	return reply.Identity{Object: p.Object, ID: p.ID, Reference: nullable.Value(p.ExternalReference)}
}

// check lets the reference be left out by what the gateway made by itself: charges
// of a recurrence, and the first payment of an automatic PIX.
func (p *payment) check(id string, local objectid.ID) error {
	want := reply.Identity{Object: kindPayment, ID: id, Reference: local.String()}
	if p.ExternalReference == nil && (p.Subscription != "" || p.PixQRCodeID != "") {
		want.Reference = ""
	}
	if p.Status == "" {
		return reply.Odd("it has no status")
	}
	return p.identity().Check(want)
}

// payment reads one, with the look that a 404 needs.
func (g *client) payment(ctx context.Context, id string, local objectid.ID) (*payment, error) {
	p, err := get(ctx, g, "/payments/"+url.PathEscape(id), nil, func(p *payment) error { return p.check(id, local) })
	return p, missing[payment](ctx, g, err, "/payments", id, local)
}

// settledAt is the event's own instant when it is of the day on which the
// payment says that it was made, since that day has no time; else the day.
func (g *client) settledAt(p *payment, eventAt time.Time) *time.Time {
	paid := firstDate(g.cfg.Zone, p.ConfirmedDate, p.ClientPaymentDate, p.PaymentDate)
	if eventAt.IsZero() {
		return paid
	}
	if paid == nil || day(*paid, g.cfg.Zone) == day(eventAt, g.cfg.Zone) {
		return &eventAt
	}
	return paid
}

// asOfNow is a payment that was read. Money that came today came now: its day has no
// time, and a period that is paid would begin with the day.
func (g *client) asOfNow(p *payment) gateway.Payment {
	n := p.neutral(g.cfg.Zone)
	if n.Status == gateway.PaymentStatusSettled {
		n.SettledAt = g.settledAt(p, g.cfg.Clock.Now())
	}
	return n
}

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
		return reply.Odd("it is no code")
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
		return gateway.PixCharge{}, fmt.Errorf("%w: payment %s was made, its code not read: %w",
			gateway.ErrOutcomeUnknown, p.ID, reply.Unnamed(err))
	}
	return c, nil
}

// makePayment makes a payment and reads it by the id that the answer tells.
func (g *client) makePayment(ctx context.Context, r request, local objectid.ID) (*payment, error) {
	created, err := post(ctx, g, r, func(p *payment) error { return p.check("", local) })
	if err != nil {
		return nil, err
	}
	return reply.Made(func() (*payment, error) { return g.payment(ctx, created.ID, local) })
}

// firstCode reads the code of a new payment, which the gateway may refuse for a
// moment (docs/gateway-facts.md, A6).
func (g *payments) firstCode(ctx context.Context, p *payment) (c gateway.PixCharge, err error) {
	err = reply.Repeat(ctx, g.cfg.RetryWait, func() (again bool, err error) {
		c, err = g.withCode(ctx, p)
		return !errors.Is(err, gateway.ErrUnavailable), err
	})
	return c, err
}

// withCode adds the QR code while the payment can be paid.
func (g *payments) withCode(ctx context.Context, p *payment) (gateway.PixCharge, error) {
	c := gateway.PixCharge{Payment: g.asOfNow(p)}
	if c.Payment.Status != gateway.PaymentStatusPending {
		c.Expired = c.Payment.Status != gateway.PaymentStatusSettled
		return c, nil
	}
	code, err := get(ctx, g.client, "/payments/"+url.PathEscape(p.ID)+"/pixQrCode", nil, (*qrCode).check)
	if p.Status == "OVERDUE" && (gateway.IsRejected(err) || errors.Is(err, errNotThere)) {
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
	return reply.Found(found, err, func(p *payment) (gateway.PixCharge, error) {
		return g.ReadPix(ctx, p.ID, t.Reference)
	})
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
	if !gateway.IsRejected(err) {
		return reply.Gone(missing[payment](ctx, g, err, "/payments", paymentID, local))
	}
	p, readErr := g.payment(ctx, paymentID, local)
	switch {
	case errors.Is(readErr, gateway.ErrMissing):
		return nil
	case readErr != nil:
		return readErr
	}
	switch p.neutral(g.cfg.Zone).Status {
	case gateway.PaymentStatusSettled:
		return gateway.ErrAlreadyPaid
	case gateway.PaymentStatusGone:
		return nil
	}
	return err
}

// ReadPayment reads one payment.
func (g *payments) ReadPayment(ctx context.Context, paymentID string, local objectid.ID) (gateway.Payment, error) {
	p, err := g.payment(ctx, paymentID, local)
	if err != nil {
		return gateway.Payment{}, err
	}
	n := g.asOfNow(p)
	n.CustomerGatewayID, n.SubscriptionGatewayID = string(p.Customer), string(p.Subscription)
	n.AuthorizationGatewayID = firstID(p.PixAutomaticAuthorizationID, p.PixAutomaticAuthorization)
	return n, nil
}

type customer struct {
	Object            string  `json:"object"`
	ID                string  `json:"id"`
	Deleted           bool    `json:"deleted"`
	ExternalReference *string `json:"externalReference"`
}

func (c *customer) identity() reply.Identity {
	return reply.Identity{Object: c.Object, ID: c.ID, Reference: nullable.Value(c.ExternalReference)}
}

func (c *customer) check(id string, local objectid.ID) error {
	return c.identity().Check(reply.Identity{Object: kindCustomer, ID: id, Reference: local.String()})
}

type customerBody struct {
	Name              string `json:"name"`
	TaxID             string `json:"cpfCnpj"`
	Email             string `json:"email,omitempty"`
	MobilePhone       string `json:"mobilePhone,omitempty"`
	ExternalReference string `json:"externalReference"`
	// NotificationDisabled stops the gateway's own mails and messages, which cost money.
	NotificationDisabled bool `json:"notificationDisabled"`
}

// EnsureCustomer looks for the payer by the local id before making one: after a
// lost answer the next call finds what the first made.
func (g *payments) EnsureCustomer(ctx context.Context, p gateway.Payer) (string, error) {
	if p.GatewayID != "" {
		return p.GatewayID, nil
	}
	found, err := find(ctx, g.client, "/customers", named(p.CustomerID), func(c *customer) bool {
		return !c.Deleted && reference(c.ExternalReference) == p.CustomerID
	})
	if err != nil {
		return "", err
	}
	if found != nil {
		_, err = g.customer(ctx, found.ID, p.CustomerID)
		return found.ID, err
	}
	created, err := post(ctx, g.client, request{path: "/customers", timeout: g.cfg.Timeout, body: customerBody{
		Name: p.Name, TaxID: p.TaxID, Email: p.Email, MobilePhone: p.Phone,
		ExternalReference: p.CustomerID.String(), NotificationDisabled: true,
	}}, func(c *customer) error { return c.check("", p.CustomerID) })
	if err != nil {
		return "", err
	}
	if _, err := reply.Made(func() (*customer, error) {
		return g.customer(ctx, created.ID,
			p.CustomerID)
	}); err != nil {
		return "", err
	}
	return created.ID, nil
}

func (g *payments) customer(ctx context.Context, id string, local objectid.ID) (*customer, error) {
	return get(ctx, g.client, "/customers/"+url.PathEscape(id), nil,
		func(c *customer) error { return c.check(id, local) })
}
