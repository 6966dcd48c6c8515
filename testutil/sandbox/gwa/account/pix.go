package account

import (
	"encoding/base64"
	"time"

	"github.com/google/uuid"

	"marquee/testutil/sandbox/stage"
)

// qrPixels is the side of the QR image.
const qrPixels = 400

// QRView is the code of a payment.
type QRView struct {
	Success        bool   `json:"success"`
	EncodedImage   string `json:"encodedImage"`
	Payload        string `json:"payload"`
	ExpirationDate string `json:"expirationDate"`
	Description    string `json:"description"`
}

// payload is the copy-and-paste text of a PIX code; location tells the codes apart.
func (l *Ledger) payload(location string, value Cents) string {
	return stage.BRCode{
		Location: "pix-h.asaas.com/qr/cobv/" + location, Name: l.receiver, City: "SAO PAULO", AmountCents: int64(value),
	}.String()
}

// encodedImage is the base64 PNG of a payload, without a data: prefix (docs/gateway-facts.md, A6).
func encodedImage(payload string) (string, *APIError) {
	png, err := stage.QRPNG(payload, qrPixels)
	if err != nil {
		return "", ErrObject("QR code: " + err.Error())
	}
	return base64.StdEncoding.EncodeToString(png), nil
}

// qrExpiry is the due date one year on, at the last second of the day.
func (p *Payment) qrExpiry() time.Time {
	return p.Due.addMonths(12, p.Due.dayOfMonth()).at(23, 59).Add(59 * time.Second)
}

func errNoPixKey() *APIError { return errAction("Chave Pix não encontrada.") }

// QRCode is the code of an open PIX payment.
func (l Payments) QRCode(id string) (*QRView, *APIError) {
	p, err := l.livePayment(id)
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
	case !l.Settings.PixKey:
		return nil, errNoPixKey()
	}
	l.provideQR(p)
	payload := l.payload(p.QRLocation, p.Value)
	image, err := encodedImage(payload)
	if err != nil {
		return nil, err
	}
	description := p.Description
	if description == "" {
		description = "Descricao nao informada"
	}
	return &QRView{true, image, payload, ISOTime(p.qrExpiry()), description}, nil
}

// provideQR gives a payment that became payable by PIX its code.
func (l Payments) provideQR(p *Payment) {
	if p.QRLocation == "" {
		p.QRLocation, p.QRCodeID = uuid.NewString(), conciliation(l.next("qrCode", 123456))
	}
}

// Pay is the payer's side: PIX and boleto arrive at once, a card is approved and settles later.
func (l Payments) Pay(id string, now time.Time) (*Payment, *APIError) {
	p, err := l.livePayment(id)
	if err != nil {
		return nil, err
	}
	switch {
	case !p.open():
		return nil, errAction("the payment is " + p.Status + " and can't be paid")
	case p.BillingType == billingCard:
		p.CardShown = p.CardToken != ""
		l.markConfirmed(p, now)
		l.emitPayment(now, "PAYMENT_CONFIRMED", p)
		return p, nil
	case p.QRExpired || now.After(p.qrExpiry()):
		return nil, errAction("the QR code has expired")
	}
	l.receivePIX(p, now)
	return p, nil
}

func (l Payments) receivePIX(p *Payment, now time.Time) {
	if p.BillingType == billingUndefined {
		p.BillingType = billingPIX
	}
	if p.BillingType == billingPIX {
		l.provideQR(p)
		p.PixTransaction = uuid.NewString()
	}
	l.markReceived(p, now)
	l.emitPayment(now, "PAYMENT_RECEIVED", p)
	Debits(l).cancelOrder(p, reasonPaidBefore, now) // paid by its code before the debit
}

// Transfer is a PIX that has nothing to do with any charge: it makes payment events all the same
// (docs/gateway-facts.md, A10).
func (l Payments) Transfer(value Cents, now time.Time) (*Payment, *APIError) {
	if value <= 0 {
		return nil, BadRequest("invalid_value", "value must be above zero")
	}
	p := l.addPayment(&Payment{Customer: l.payer(now).ID, Value: value, BillingType: billingPIX, Due: DayOf(now)}, now)
	l.emitPayment(now, "PAYMENT_CREATED", p)
	l.receivePIX(p, now)
	return p, nil
}

// PaidBy finds what a payload pays: a payment or an authorization.
func (l Payments) PaidBy(payload string) (payment, authorization string) {
	for id, p := range l.Payments.All() {
		if p.QRLocation != "" && !p.Deleted && l.payload(p.QRLocation, p.Value) == payload {
			return id, ""
		}
	}
	for id, a := range l.Authorizations.All() {
		if l.payload(a.QRLocation, a.FirstValue) == payload {
			return "", id
		}
	}
	return "", ""
}

// overdue is the night in which an unpaid charge becomes overdue. A helper may have moved its due date meanwhile.
func (l Payments) overdue(id string, now time.Time) {
	p, ok := l.Payments.Find(id)
	if !ok || p.Deleted || p.Status != statusPending || p.Due.overdueAt().After(now) {
		return
	}
	l.markOverdue(p, now)
}

func (l Payments) markOverdue(p *Payment, now time.Time) {
	p.Status, p.CardShown = statusOverdue, false
	l.emitPayment(now, "PAYMENT_OVERDUE", p)
}

// ForceOverdue is the vendor's helper: it moves the due date back and keeps the original (docs/gateway-facts.md, A9).
func (l Payments) ForceOverdue(id string, now time.Time) (*Payment, *APIError) {
	p, err := l.livePayment(id)
	if err != nil {
		return nil, err
	}
	if p.Status != statusPending {
		return nil, errAction("Somente cobranças pendentes podem ser vencidas.")
	}
	p.Due = DayOf(now).add(-1)
	l.markOverdue(p, now)
	return p, nil
}

// ExpireQR makes the code of a payment unpayable, as the year after its due date would, and the payment overdue.
func (l Payments) ExpireQR(id string, now time.Time) (*Payment, *APIError) {
	p, err := l.livePayment(id)
	if err != nil {
		return nil, err
	}
	if !p.open() || p.BillingType != billingPIX && p.BillingType != billingUndefined {
		return nil, errAction("the payment is no open PIX")
	}
	p.QRExpired = true
	if p.Status == statusPending {
		return l.ForceOverdue(id, now)
	}
	return p, nil
}

// settle is the arrival of a card's money, 32 days after its approval.
func (l Payments) settle(id string, now time.Time) {
	p, ok := l.Payments.Find(id)
	if !ok || p.Deleted || p.Status != statusConfirmed {
		return
	}
	l.markReceived(p, now)
	l.Balance -= p.refunded()
	l.emitPayment(now, "PAYMENT_RECEIVED", p)
}
