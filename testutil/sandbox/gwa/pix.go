package gwa

import (
	"encoding/base64"
	"time"

	"github.com/google/uuid"

	"marquee/testutil/sandbox/stage"
)

// qrPixels is the side of the QR image.
const qrPixels = 400

type qrView struct {
	Success        bool   `json:"success"`
	EncodedImage   string `json:"encodedImage"`
	Payload        string `json:"payload"`
	ExpirationDate string `json:"expirationDate"`
	Description    string `json:"description"`
}

// payload is the copy-and-paste text of a PIX code; location tells the codes apart.
func (g *Gateway) payload(location string, value Cents) string {
	return stage.BRCode{
		Location: "pix-h.asaas.com/qr/cobv/" + location, Name: g.receiver, City: "SAO PAULO", AmountCents: int64(value),
	}.String()
}

// encodedImage is the base64 PNG of a payload, without a data: prefix (docs/gateway-facts.md, A6).
func encodedImage(payload string) (string, *apiError) {
	png, err := stage.QRPNG(payload, qrPixels)
	if err != nil {
		return "", errObject("QR code: " + err.Error())
	}
	return base64.StdEncoding.EncodeToString(png), nil
}

// qrExpiry is the due date one year on, at the last second of the day.
func (p *Payment) qrExpiry() time.Time {
	return p.Due.addMonths(12, p.Due.dayOfMonth()).at(23, 59).Add(59 * time.Second)
}

func errNoPixKey() *apiError { return errAction("Chave Pix não encontrada.") }

// pixQRCode is the code of an open PIX payment.
func (g *Gateway) pixQRCode(id string) (*qrView, *apiError) {
	p, err := g.livePayment(id)
	if err != nil {
		return nil, err
	}
	switch {
	case p.BillingType != billingPIX && p.BillingType != billingUndefined:
		return nil, errAction("A forma de pagamento da cobrança não permite o QR Code Pix.")
	case !p.open():
		return nil, errAction("A cobrança já foi paga.")
	case p.QRExpired:
		return nil, errAction("O QR Code Pix da cobrança está expirado.")
	case !g.Settings.PixKey:
		return nil, errNoPixKey()
	}
	g.provideQR(p)
	payload := g.payload(p.QRLocation, p.Value)
	image, err := encodedImage(payload)
	if err != nil {
		return nil, err
	}
	description := p.Description
	if description == "" {
		description = "Descricao nao informada"
	}
	return &qrView{true, image, payload, isoTime(p.qrExpiry()), description}, nil
}

// provideQR gives a payment that became payable by PIX its code.
func (g *Gateway) provideQR(p *Payment) {
	if p.QRLocation == "" {
		p.QRLocation, p.QRCodeID = uuid.NewString(), conciliation(g.next("qrCode", 123456))
	}
}

// pay is the payer's side: PIX and boleto arrive at once, a card is approved and settles later.
func (g *Gateway) pay(id string, now time.Time) (*Payment, *apiError) {
	p, err := g.livePayment(id)
	if err != nil {
		return nil, err
	}
	switch {
	case !p.open():
		return nil, errAction("the payment is " + p.Status + " and can't be paid")
	case p.BillingType == billingCard:
		p.CardShown = p.CardToken != ""
		g.markConfirmed(p, now)
		g.emitPayment(now, "PAYMENT_CONFIRMED", p)
		return p, nil
	case p.QRExpired || now.After(p.qrExpiry()):
		return nil, errAction("the QR code has expired")
	}
	g.receivePIX(p, now)
	return p, nil
}

func (g *Gateway) receivePIX(p *Payment, now time.Time) {
	if p.BillingType == billingUndefined {
		p.BillingType = billingPIX
	}
	if p.BillingType == billingPIX {
		g.provideQR(p)
		p.PixTransaction = uuid.NewString()
	}
	g.markReceived(p, now)
	g.emitPayment(now, "PAYMENT_RECEIVED", p)
	g.cancelOrder(p, reasonPaidBefore, now) // paid by its code before the debit
}

// transfer is a PIX that has nothing to do with any charge: it makes payment events all the same
// (docs/gateway-facts.md, A10).
func (g *Gateway) transfer(value Cents, now time.Time) (*Payment, *apiError) {
	if value <= 0 {
		return nil, badRequest("invalid_value", "value must be above zero")
	}
	p := g.addPayment(&Payment{Customer: g.payer(now).ID, Value: value, BillingType: billingPIX, Due: dayOf(now)}, now)
	g.emitPayment(now, "PAYMENT_CREATED", p)
	g.receivePIX(p, now)
	return p, nil
}

// paidBy finds what a payload pays: a payment or an authorization.
func (g *Gateway) paidBy(payload string) (payment, authorization string) {
	for id, p := range g.Payments.All() {
		if p.QRLocation != "" && !p.Deleted && g.payload(p.QRLocation, p.Value) == payload {
			return id, ""
		}
	}
	for id, a := range g.Authorizations.All() {
		if g.payload(a.QRLocation, a.FirstValue) == payload {
			return "", id
		}
	}
	return "", ""
}

// overdue is the night in which an unpaid charge becomes overdue. A helper may have moved its due date meanwhile.
func (g *Gateway) overdue(id string, now time.Time) {
	p, ok := g.Payments.Find(id)
	if !ok || p.Deleted || p.Status != statusPending || p.Due.overdueAt().After(now) {
		return
	}
	g.markOverdue(p, now)
}

func (g *Gateway) markOverdue(p *Payment, now time.Time) {
	p.Status, p.CardShown = statusOverdue, false
	g.emitPayment(now, "PAYMENT_OVERDUE", p)
}

// forceOverdue is the vendor's helper: it moves the due date back and keeps the original (docs/gateway-facts.md, A9).
func (g *Gateway) forceOverdue(id string, now time.Time) (*Payment, *apiError) {
	p, err := g.livePayment(id)
	if err != nil {
		return nil, err
	}
	if p.Status != statusPending {
		return nil, errAction("Somente cobranças pendentes podem ser vencidas.")
	}
	p.Due = dayOf(now).add(-1)
	g.markOverdue(p, now)
	return p, nil
}

// expireQR makes the code of a payment unpayable, as the year after its due date would, and the payment overdue.
func (g *Gateway) expireQR(id string, now time.Time) (*Payment, *apiError) {
	p, err := g.livePayment(id)
	if err != nil {
		return nil, err
	}
	if !p.open() || p.BillingType != billingPIX && p.BillingType != billingUndefined {
		return nil, errAction("the payment is no open PIX")
	}
	p.QRExpired = true
	if p.Status == statusPending {
		return g.forceOverdue(id, now)
	}
	return p, nil
}

// settle is the arrival of a card's money, 32 days after its approval.
func (g *Gateway) settle(id string, now time.Time) {
	p, ok := g.Payments.Find(id)
	if !ok || p.Deleted || p.Status != statusConfirmed {
		return
	}
	g.markReceived(p, now)
	g.Balance -= p.refunded()
	g.emitPayment(now, "PAYMENT_RECEIVED", p)
}
