package account

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// minimumPIX is the least value of a PIX or boleto charge (docs/gateway-facts.md, A5).
const minimumPIX Cents = 500

// maxDescription is the longest description of a payment or subscription.
const maxDescription = 500

// Payment is one charge (docs/gateway-facts.md, A5). Zero values of optional fields print as null or are left out, see
// view.
type Payment struct {
	ID                string `json:"id"`
	Order             int64  `json:"order"`
	Customer          string `json:"customer"`
	Subscription      string `json:"subscription,omitempty"`
	Authorization     string `json:"authorization,omitempty"`
	Created           Day    `json:"created"`
	Value             Cents  `json:"value"`
	Description       string `json:"description,omitempty"`
	ExternalReference string `json:"externalReference,omitempty"`
	BillingType       string `json:"billingType"`
	Status            string `json:"status"`
	Due               Day    `json:"due"`
	OriginalDue       Day    `json:"originalDue"`
	PaymentDate       Day    `json:"paymentDate,omitempty"`
	ClientPaymentDate Day    `json:"clientPaymentDate,omitempty"`
	ConfirmedDate     Day    `json:"confirmedDate,omitempty"`
	CreditDate        Day    `json:"creditDate,omitempty"`
	InvoiceNumber     string `json:"invoiceNumber"`
	Receipt           string `json:"receipt,omitempty"`
	Deleted           bool   `json:"deleted,omitempty"`
	// CardToken is the card to charge. CardShown says that the answers name it: not before the charge is under way
	// and not after it failed (samples PAYMENT_DELETED and PAYMENT_OVERDUE).
	CardToken string `json:"cardToken,omitempty"`
	CardShown bool   `json:"cardShown,omitempty"`
	// FailNext makes the next charge or debit of this payment be refused; only controls set it. A debit is refused for
	// FailReason on FailTimes days, one when that is 0.
	FailNext   bool   `json:"failNext,omitempty"`
	FailReason string `json:"failReason,omitempty"`
	FailTimes  int    `json:"failTimes,omitempty"`
	// QRLocation is the address inside the BR code, QRCodeID the identifier by which a paid PIX is matched, and
	// PixTransaction the paid transaction, gone again after a refund.
	QRLocation     string      `json:"qrLocation,omitempty"`
	QRExpired      bool        `json:"qrExpired,omitempty"`
	QRCodeID       string      `json:"qrCodeId,omitempty"`
	PixTransaction string      `json:"pixTransaction,omitempty"`
	Chargeback     *Chargeback `json:"chargeback,omitempty"`
	Refunds        []Refund    `json:"refunds,omitempty"`
	// Before is the status to which a won chargeback or a denied refund goes back.
	Before string `json:"before,omitempty"`
}

// Chargeback is the cardholder's objection to a payment.
type Chargeback struct {
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// open tells whether the payment can still be paid or removed.
func (p *Payment) open() bool {
	return !p.Deleted && (p.Status == statusPending || p.Status == statusOverdue)
}

// PaymentInput is the body of its creation.
type PaymentInput struct {
	Customer                    string `json:"customer"`
	BillingType                 string `json:"billingType"`
	Value                       *Cents `json:"value"`
	DueDate                     string `json:"dueDate"`
	Description                 string `json:"description"`
	ExternalReference           text   `json:"externalReference"`
	PixAutomaticAuthorizationID string `json:"pixAutomaticAuthorizationId"`
	Discount                    struct {
		Value Cents  `json:"value"`
		Type  string `json:"type"`
	} `json:"discount"`
	CardFields
}

// Create makes a one-off payment. A card is decided within the call: a refused one leaves no payment behind.
func (l Payments) Create(in PaymentInput, now time.Time) (*Payment, *APIError) {
	if _, err := l.liveCustomer(in.Customer); err != nil {
		return nil, err
	}
	value, due, err := in.check(l.Settings, now)
	if err != nil {
		return nil, err
	}
	if in.PixAutomaticAuthorizationID != "" {
		if err := Debits(l).checkDebit(in, now, due); err != nil {
			return nil, err
		}
	}
	var card *Card
	if in.BillingType == billingCard && (in.CreditCard != nil || in.CreditCardToken != "") {
		if card, err = l.card(in.CardFields, in.Customer, now); err != nil {
			return nil, err
		}
	}
	p := l.addPayment(&Payment{
		Customer: in.Customer, Value: value, Description: in.Description, BillingType: in.BillingType, Due: due,
		ExternalReference: string(in.ExternalReference), Authorization: in.PixAutomaticAuthorizationID,
	}, now)
	switch {
	case card == nil:
		l.emitPayment(now, "PAYMENT_CREATED", p)
	case l.Settings.RiskAnalysis:
		p.CardToken, p.CardShown, p.Status = card.Token, true, statusRiskAnalysis
		l.emitPayment(now, "PAYMENT_CREATED", p)
		l.emitPayment(now, "PAYMENT_AWAITING_RISK_ANALYSIS", p)
	default:
		p.CardToken, p.CardShown = card.Token, true
		l.markConfirmed(p, now)
		l.emitPayment(now, "PAYMENT_CREATED", p)
		l.emitPayment(now, "PAYMENT_CONFIRMED", p)
	}
	if p.Authorization != "" {
		Debits(l).createInstruction(p, now)
	}
	return p, nil
}

func (in PaymentInput) check(settings Settings, now time.Time) (Cents, Day, *APIError) {
	if err := checkBilling(in.BillingType, settings); err != nil {
		return 0, "", err
	}
	if in.Value == nil || *in.Value <= 0 {
		return 0, "", BadRequest("invalid_value", "O campo value deve ser informado e maior que zero.")
	}
	if err := checkMinimum(in.BillingType, *in.Value, in.discount()); err != nil {
		return 0, "", err
	}
	due, err := parseDay(in.DueDate)
	if err != nil {
		return 0, "", BadRequest("invalid_dueDate", "O campo dueDate deve ser informado.")
	}
	if due < DayOf(now) {
		return 0, "", BadRequest("invalid_dueDate", "Não é permitido data de vencimento inferior a hoje.")
	}
	if len([]rune(in.Description)) > maxDescription {
		return 0, "", ErrObject("A descrição não pode ter mais de 500 caracteres.")
	}
	return *in.Value, due, nil
}

// discount is the part of the value that paying in time saves.
func (in PaymentInput) discount() Cents {
	if in.Discount.Type == "PERCENTAGE" && in.Value != nil {
		return Cents((int64(*in.Value)*int64(in.Discount.Value) + 5000) / 10000)
	}
	return in.Discount.Value
}

func checkBilling(billingType string, settings Settings) *APIError {
	switch billingType {
	case billingPIX, billingBoleto, billingUndefined:
		return nil
	case billingCard:
		if !settings.CardsApproved {
			return BadRequest("invalid_billingType",
				"Sua conta não está aprovada para receber pagamentos via cartão de crédito.")
		}
		return nil
	}
	return BadRequest("invalid_billingType", "O campo billingType deve ser informado.")
}

func checkMinimum(billingType string, value, discount Cents) *APIError {
	if billingType != billingPIX && billingType != billingBoleto || value-discount >= minimumPIX {
		return nil
	}
	return ErrObject(fmt.Sprintf("O valor da cobrança (%s) menos o valor do desconto (%s) não pode ser menor que %s.",
		value.reais(), discount.reais(), minimumPIX.reais()))
}

// addPayment numbers and keeps a pending payment and enters the moment at which it becomes overdue.
func (l Payments) addPayment(p *Payment, now time.Time) *Payment {
	p.ID, p.Order, p.Created = objectID("pay_"), l.order(), DayOf(now)
	p.Status, p.OriginalDue = statusPending, p.Due
	p.InvoiceNumber = fmt.Sprintf("%010d", l.next("invoice", 114500231))
	if p.BillingType == billingPIX || p.BillingType == billingUndefined {
		p.QRLocation, p.QRCodeID = uuid.NewString(), conciliation(l.next("qrCode", 123456))
	}
	l.Payments.Put(p.ID, p)
	l.stage.Clock.At(p.Due.overdueAt(), jobOverdue, p.ID)
	return p
}

// livePayment finds a payment that was not removed.
func (s *state) livePayment(id string) (*Payment, *APIError) {
	p, ok := s.Payments.Find(id)
	if !ok || p.Deleted {
		return nil, NotFound()
	}
	return p, nil
}

// AnyPayment finds a payment, removed ones too: they are answered with deleted true.
func (s *state) AnyPayment(id string) (*Payment, *APIError) {
	p, ok := s.Payments.Find(id)
	if !ok {
		return nil, NotFound()
	}
	return p, nil
}

// Delete removes an open payment: it keeps its status, with deleted true.
func (l Payments) Delete(id string, now time.Time) *APIError {
	p, err := l.livePayment(id)
	if err != nil {
		return err
	}
	if !p.open() && p.Status != statusRiskAnalysis {
		return errAction("Não é possível remover uma cobrança que já foi paga.")
	}
	if !l.receiverMayCancel(p, now) {
		return errAction("O cancelamento da instrução deve ser feito até as 22h do dia anterior ao vencimento.")
	}
	l.removePayment(p, now)
	return nil
}

func (l Payments) removePayment(p *Payment, now time.Time) {
	p.Deleted = true
	l.emitPayment(now, "PAYMENT_DELETED", p)
	Debits(l).cancelOrder(p, reasonByReceiver, now)
}

// receipt gives a paid payment its receipt.
func (s *state) receipt(p *Payment) {
	if p.Receipt == "" {
		p.Receipt = fmt.Sprintf("https://sandbox.asaas.com/comprovantes/%016d", s.next("receipt", 1))
	}
}

// markConfirmed is the approved card: the money comes 32 days later.
func (l Payments) markConfirmed(p *Payment, at time.Time) {
	today := DayOf(at)
	p.Status, p.ConfirmedDate, p.ClientPaymentDate, p.PaymentDate = statusConfirmed, today, today, ""
	p.CreditDate = today.settledOn()
	l.receipt(p)
	l.stage.Clock.At(p.CreditDate.at(3, 12), jobSettle, p.ID)
}

// markReceived is the money that has arrived.
func (s *state) markReceived(p *Payment, at time.Time) {
	today := DayOf(at)
	p.Status, p.PaymentDate = statusReceived, today
	if p.BillingType != billingCard {
		p.ConfirmedDate, p.ClientPaymentDate, p.CreditDate = today, today, today
	}
	s.receipt(p)
	s.Balance += net(p.Value, p.BillingType)
}

// chargeCard is the collection of a charge on its due date; the result is told by webhook alone.
func (l Payments) chargeCard(id string, now time.Time) {
	p, ok := l.Payments.Find(id)
	if !ok || !p.open() || p.BillingType != billingCard || p.Due > DayOf(now) {
		return
	}
	card := l.Cards.Get(p.CardToken)
	if sub, ok := l.Subscriptions.Find(p.Subscription); ok && sub.FailNext {
		sub.FailNext, p.FailNext = false, true
	}
	if p.FailNext || card == nil || card.Declines {
		p.FailNext, p.CardShown = false, false
		l.emitPayment(now, "PAYMENT_CREDIT_CARD_CAPTURE_REFUSED", p)
		return
	}
	p.CardShown = true
	l.markConfirmed(p, now)
	l.emitPayment(now, "PAYMENT_CONFIRMED", p)
}

// EndRiskAnalysis decides a card payment that waited for it.
func (l Payments) EndRiskAnalysis(id string, approved bool, now time.Time) (*Payment, *APIError) {
	p, err := l.livePayment(id)
	if err != nil {
		return nil, err
	}
	if p.Status != statusRiskAnalysis {
		return nil, errAction("the payment is not in risk analysis")
	}
	if approved {
		l.emitPayment(now, "PAYMENT_APPROVED_BY_RISK_ANALYSIS", p)
		l.markConfirmed(p, now)
		l.emitPayment(now, "PAYMENT_CONFIRMED", p)
		return p, nil
	}
	p.Status, p.CardShown = statusPending, false
	l.emitPayment(now, "PAYMENT_REPROVED_BY_RISK_ANALYSIS", p)
	return p, nil
}
