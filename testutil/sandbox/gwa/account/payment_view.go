package account

import "strings"

type cardView struct {
	CreditCardNumber *string `json:"creditCardNumber"`
	CreditCardBrand  *string `json:"creditCardBrand"`
	CreditCardToken  string  `json:"creditCardToken,omitempty"`
}

func (c *Card) view() *cardView {
	return &cardView{&c.Last4, &c.Brand, c.Token}
}

type termsView struct {
	Value int    `json:"value"`
	Type  string `json:"type"`
}

type discountView struct {
	Value            int    `json:"value"`
	LimitDate        null   `json:"limitDate"`
	DueDateLimitDays int    `json:"dueDateLimitDays"`
	Type             string `json:"type"`
}

var (
	noFine     = termsView{0, "FIXED"}
	noInterest = termsView{0, "PERCENTAGE"}
	noDiscount = discountView{Type: "FIXED"}
)

// PaymentView is a payment as it is printed.
type PaymentView struct {
	Object                string       `json:"object"`
	ID                    string       `json:"id"`
	DateCreated           Day          `json:"dateCreated"`
	Customer              string       `json:"customer"`
	Subscription          string       `json:"subscription,omitempty"`
	CheckoutSession       null         `json:"checkoutSession"`
	PaymentLink           null         `json:"paymentLink"`
	Value                 Cents        `json:"value"`
	NetValue              Cents        `json:"netValue"`
	OriginalValue         null         `json:"originalValue"`
	InterestValue         null         `json:"interestValue"`
	Description           *string      `json:"description"`
	BillingType           string       `json:"billingType"`
	ConfirmedDate         Day          `json:"confirmedDate,omitempty"`
	CreditCard            *cardView    `json:"creditCard,omitempty"`
	CanBePaidAfterDueDate *bool        `json:"canBePaidAfterDueDate,omitempty"`
	PixTransaction        *string      `json:"pixTransaction"`
	PixQRCodeID           string       `json:"pixQrCodeId,omitempty"`
	PixAuthorization      string       `json:"pixAutomaticAuthorizationId,omitempty"`
	Status                string       `json:"status"`
	DueDate               Day          `json:"dueDate"`
	OriginalDueDate       Day          `json:"originalDueDate"`
	PaymentDate           *Day         `json:"paymentDate"`
	ClientPaymentDate     *Day         `json:"clientPaymentDate"`
	InstallmentNumber     null         `json:"installmentNumber"`
	InvoiceURL            string       `json:"invoiceUrl"`
	InvoiceNumber         string       `json:"invoiceNumber"`
	ExternalReference     *string      `json:"externalReference"`
	Deleted               bool         `json:"deleted"`
	Anticipated           bool         `json:"anticipated"`
	Anticipable           bool         `json:"anticipable"`
	CreditDate            *Day         `json:"creditDate"`
	EstimatedCreditDate   *Day         `json:"estimatedCreditDate"`
	TransactionReceiptURL *string      `json:"transactionReceiptUrl"`
	NossoNumero           *string      `json:"nossoNumero"`
	BankSlipURL           *string      `json:"bankSlipUrl"`
	LastInvoiceViewed     null         `json:"lastInvoiceViewedDate"`
	LastBankSlipViewed    null         `json:"lastBankSlipViewedDate"`
	Discount              discountView `json:"discount"`
	Fine                  termsView    `json:"fine"`
	Interest              termsView    `json:"interest"`
	PostalService         bool         `json:"postalService"`
	Escrow                null         `json:"escrow"`
	Chargeback            *Chargeback  `json:"chargeback,omitempty"`
	Refunds               []Refund     `json:"refunds"`
}

// PaymentView prints a payment; keys that don't apply are left out (docs/gateway-facts.md, A5).
func (s *state) PaymentView(p *Payment) PaymentView {
	number := strings.TrimPrefix(p.ID, "pay_")
	v := PaymentView{
		Object: "payment", ID: p.ID, DateCreated: p.Created, Customer: p.Customer, Subscription: p.Subscription,
		Value: p.Value, NetValue: net(p.Value, p.BillingType), Description: orNull(p.Description),
		BillingType: p.BillingType, ConfirmedDate: p.ConfirmedDate, PixTransaction: orNull(p.PixTransaction),
		PixAuthorization: p.Authorization, Status: p.Status, DueDate: p.Due, OriginalDueDate: p.OriginalDue,
		PaymentDate: orNull(p.PaymentDate), ClientPaymentDate: orNull(p.ClientPaymentDate),
		InvoiceURL: "https://sandbox.asaas.com/i/" + number, InvoiceNumber: p.InvoiceNumber,
		ExternalReference: orNull(p.ExternalReference), Deleted: p.Deleted, CreditDate: orNull(p.CreditDate),
		EstimatedCreditDate: orNull(p.CreditDate), TransactionReceiptURL: orNull(p.Receipt),
		Discount: noDiscount, Fine: noFine, Interest: noInterest, Chargeback: p.Chargeback, Refunds: p.Refunds,
	}
	switch p.BillingType {
	case billingCard:
		v.CreditCard = &cardView{}
		if card, ok := s.Cards.Find(p.CardToken); ok && p.CardShown {
			v.CreditCard = card.view()
		}
	case billingBoleto:
		payable, slip := true, "https://sandbox.asaas.com/b/pdf/"+number
		v.CanBePaidAfterDueDate, v.BankSlipURL, v.NossoNumero = &payable, &slip, &p.InvoiceNumber
	default:
		if p.ConfirmedDate != "" && p.Authorization == "" {
			v.PixQRCodeID = p.QRCodeID
		}
	}
	return v
}

// WritePayment prints a payment unless there was an error.
func (s *state) WritePayment(p *Payment, err *APIError) (v PaymentView, _ *APIError) {
	if err != nil {
		return v, err
	}
	return s.PaymentView(p), nil
}
