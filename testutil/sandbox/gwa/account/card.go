package account

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// decliningCards are the vendor's public test numbers that refuse every charge (docs/gateway-facts.md, A3).
var decliningCards = map[string]bool{"5184019740373151": true, "4916561358240741": true}

// vendorCard is the vendor's approving test number that is no valid card number (docs/gateway-facts.md, A3).
const vendorCard = "4444444444444444"

// cardInput is the card as a request brings it. It lives as long as the request: it is never stored, and String keeps
// it out of any log line by accident.
type cardInput struct {
	HolderName  string `json:"holderName"`
	Number      string `json:"number"`
	ExpiryMonth text   `json:"expiryMonth"`
	ExpiryYear  text   `json:"expiryYear"`
	CCV         text   `json:"ccv"`
}

// String hides the card.
func (cardInput) String() string { return "card hidden" }

// GoString hides the card.
func (cardInput) GoString() string { return "card hidden" }

type holderInput struct {
	Name              string `json:"name"`
	Email             string `json:"email"`
	CPFCNPJ           text   `json:"cpfCnpj"`
	PostalCode        text   `json:"postalCode"`
	AddressNumber     text   `json:"addressNumber"`
	AddressComplement string `json:"addressComplement"`
	Phone             text   `json:"phone"`
	MobilePhone       text   `json:"mobilePhone"`
}

// CardFields are the card's part of a payment's or subscription's body: a card with its holder, or a token.
type CardFields struct {
	CreditCard           *cardInput   `json:"creditCard"`
	CreditCardHolderInfo *holderInput `json:"creditCardHolderInfo"`
	CreditCardToken      string       `json:"creditCardToken"`
	RemoteIP             string       `json:"remoteIp"`
}

// Card is what the gateway keeps of a card: last four digits, brand and a token that belongs to one customer.
type Card struct {
	Last4    string `json:"last4"`
	Brand    string `json:"brand"`
	Token    string `json:"token"`
	Customer string `json:"customer"`
	// Declines makes every later charge of this token be refused. Controls set it: a declining number gets no token.
	Declines bool `json:"declines,omitempty"`
}

func errCard(description string) *APIError { return BadRequest("invalid_creditCard", description) }

// card checks the card of a request and returns its stored form. A declining number is refused with the sentence of
// docs/gateway-facts.md, A1, so nothing that was to hang on it comes into being.
func (s *state) card(in CardFields, customer string, now time.Time) (*Card, *APIError) {
	if in.RemoteIP == "" {
		return nil, BadRequest("invalid_remoteIp", "O IP remoto (remoteIp) do comprador deve ser informado.")
	}
	if in.CreditCardToken != "" {
		c, ok := s.Cards.Find(in.CreditCardToken)
		if !ok || c.Customer != customer {
			return nil, errCard("CreditCardToken " + in.CreditCardToken + " não encontrado.")
		}
		if c.Declines {
			return nil, errDeclined()
		}
		return c, nil
	}
	if in.CreditCard == nil {
		return nil, errCard("Informe os dados do cartão de crédito.")
	}
	if err := in.CreditCard.check(now); err != nil {
		return nil, err
	}
	if err := in.CreditCardHolderInfo.check(); err != nil {
		return nil, err
	}
	number := compact(in.CreditCard.Number)
	if decliningCards[number] {
		return nil, errDeclined()
	}
	c := &Card{Last4: number[len(number)-4:], Brand: cardBrand(number), Token: uuid.NewString(), Customer: customer}
	s.Cards.Put(c.Token, c)
	return c, nil
}

func (c *cardInput) check(now time.Time) *APIError {
	if strings.TrimSpace(c.HolderName) == "" {
		return errCard("Informe o nome do portador do cartão de crédito.")
	}
	number := compact(c.Number)
	if len(number) < 13 || len(number) > 19 || !luhn(number) && number != vendorCard {
		return errCard("O número do cartão de crédito informado é inválido.")
	}
	month, errMonth := strconv.Atoi(string(c.ExpiryMonth))
	year, errYear := strconv.Atoi(string(c.ExpiryYear))
	if errMonth != nil || errYear != nil || month < 1 || month > 12 || len(c.ExpiryYear) != 4 {
		return errCard("A data de vencimento do cartão de crédito é inválida.")
	}
	if time.Date(year, time.Month(month)+1, 1, 0, 0, 0, 0, saoPaulo).Before(now) {
		return errCard("O cartão de crédito informado está vencido.")
	}
	if ccv := string(c.CCV); len(ccv) < 3 || len(ccv) > 4 || !allDigits(ccv) {
		return errCard("O código de segurança do cartão de crédito é inválido.")
	}
	return nil
}

func errHolder(description string) *APIError {
	return BadRequest("invalid_creditCardHolderInfo", description)
}

// check wants the fields that docs/gateway-facts.md, A3, names as required.
func (h *holderInput) check() *APIError {
	if h == nil {
		return errHolder("Informe os dados do titular do cartão de crédito.")
	}
	required := []struct{ value, sentence string }{
		{h.Name, "Informe o nome do titular do cartão de crédito."},
		{h.Email, "Informe o e-mail do titular do cartão de crédito."},
		{string(h.CPFCNPJ), "Informe o CPF ou CNPJ do titular do cartão de crédito."},
		{string(h.PostalCode), "Informe o CEP do titular do cartão de crédito."},
		{string(h.AddressNumber), "Informe o número do endereço do titular do cartão de crédito."},
		{string(h.Phone), "Informe o telefone do titular do cartão de crédito."},
	}
	for _, r := range required {
		if strings.TrimSpace(r.value) == "" {
			return errHolder(r.sentence)
		}
	}
	if _, _, ok := taxID(string(h.CPFCNPJ)); !ok {
		return errTaxID()
	}
	return nil
}

func compact(number string) string { return strings.NewReplacer(" ", "", "-", "").Replace(number) }

func luhn(number string) bool {
	if !allDigits(number) {
		return false
	}
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// cardBrand names the brand by the leading digits.
func cardBrand(number string) string {
	two, _ := strconv.Atoi(number[:2])
	four, _ := strconv.Atoi(number[:4])
	switch {
	case strings.HasPrefix(number, "636368"), strings.HasPrefix(number, "438935"),
		strings.HasPrefix(number, "504175"), strings.HasPrefix(number, "5067"):
		return "ELO"
	case strings.HasPrefix(number, "606282"):
		return "HIPERCARD"
	case number[0] == '4':
		return "VISA"
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720:
		return "MASTERCARD"
	case two == 34, two == 37:
		return "AMEX"
	case two == 36, two == 38:
		return "DINERS"
	case two == 60, two == 65:
		return "DISCOVER"
	}
	return "UNKNOWN"
}
