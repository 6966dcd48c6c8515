package gateway

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/fault"
	"marquee/platform/secret"
	"marquee/platform/taxid"
)

// What is missing or malformed in card data is 400 VALIDATION_ERROR with the
// field, unlike other request validation, which is 422 (docs/contract/money.md, Card data). So these parts of a body
// take any JSON, and are read here; but a member that is not known is 422, as in any body. No error quotes what was
// sent.

// texts are the members of an object of texts, hidden from printing.
type texts struct {
	given     bool // null is given, and malformed
	malformed bool
	members   map[string]secret.Text
	wrong     string   // a member that is no text
	names     []string // of all members
}

// UnmarshalJSON reads the object and never fails: read tells what is wrong.
func (t *texts) UnmarshalJSON(b []byte) error {
	t.given = true
	var raw map[string]json.RawMessage
	if json.Unmarshal(b, &raw) != nil || raw == nil {
		t.malformed = true
		return nil //nolint:nilerr // check tells it, as a 400
	}
	t.members = map[string]secret.Text{}
	for name, value := range raw {
		t.names = append(t.names, name)
		var s string
		if json.Unmarshal(value, &s) != nil {
			t.wrong = name
			continue
		}
		t.members[name] = secret.NewText(s)
	}
	return nil
}

// part is one member: its name and what it has to look like.
type part struct {
	name string
	form *regexp.Regexp
	doc  string
}

// check looks for all parts in the object under the field's name, and for none
// but them.
func (t texts) check(field string, parts []part) error {
	if !t.given {
		return fault.BadRequest("%s is required.", field).WithField(field)
	}
	if t.malformed {
		return fault.BadRequest("%s has to be an object.", field).WithField(field)
	}
	for _, p := range parts {
		path := field + "." + p.name
		value, ok := t.members[p.name]
		switch {
		case t.wrong == p.name:
			return fault.BadRequest("%s has to be a text.", path).WithField(path)
		case !ok || strings.TrimSpace(value.Reveal()) == "":
			return fault.BadRequest("%s is required.", path).WithField(path)
		case !p.form.MatchString(value.Reveal()):
			return fault.BadRequest("%s has to be %s.", path, p.doc).WithField(path)
		}
	}
	return nil
}

// unknown finds the members that are none of the parts.
func (t texts) unknown(at *huma.PathBuffer, parts []part) []error {
	var found []error
	for _, name := range slices.Sorted(slices.Values(t.names)) {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			found = append(found, &huma.ErrorDetail{
				Location: at.With(strings.ToValidUTF8(name[:min(len(name), maxNameLength)], "")),
				Message:  "unexpected property",
			})
		}
	}
	return found
}

// maxNameLength bounds what an error repeats of a member's name, in bytes.
const maxNameLength = 64

// Given reports whether the request holds the object at all, well formed or not.
func (t texts) Given() bool { return t.given }

func (t texts) text(name string) secret.Text { return t.members[name] }
func (t texts) plain(name string) string     { return t.members[name].Reveal() }

// schemaOf documents the object. It has no type, so that the request's
// validation leaves it to check.
func schemaOf(parts []part) *huma.Schema {
	s := &huma.Schema{Properties: map[string]*huma.Schema{}, Description: "An object of texts."}
	for _, p := range parts {
		s.Properties[p.name] = &huma.Schema{Type: huma.TypeString, Description: p.doc}
		s.Required = append(s.Required, p.name)
	}
	return s
}

// CardBody is credit_card in a request body (docs/contract/money.md, Card data).
type CardBody struct{ texts }

var cardParts = []part{
	{"holderName", regexp.MustCompile(`^\S.{0,99}$`), "the name on the card"},
	{"number", regexp.MustCompile(`^[0-9]{12,19}$`), "12 to 19 digits"},
	{"expiryMonth", regexp.MustCompile(`^(0[1-9]|1[0-2])$`), "2 digits, 01 to 12"},
	{"expiryYear", regexp.MustCompile(`^20[0-9]{2}$`), "4 digits"},
	{"ccv", regexp.MustCompile(`^[0-9]{3,4}$`), "3 or 4 digits"},
}

// Schema documents the object.
func (CardBody) Schema(huma.Registry) *huma.Schema { return schemaOf(cardParts) }

// Resolve refuses members that are not known.
func (c *CardBody) Resolve(_ huma.Context, at *huma.PathBuffer) []error {
	return c.unknown(at, cardParts)
}

// Read checks the card; 400 VALIDATION_ERROR naming the field.
func (c CardBody) Read() (*Card, error) {
	if err := c.check("credit_card", cardParts); err != nil {
		return nil, err
	}
	return &Card{
		HolderName: c.text("holderName"), Number: c.text("number"), ExpiryMonth: c.text("expiryMonth"),
		ExpiryYear: c.text("expiryYear"), CCV: c.text("ccv"),
	}, nil
}

// CardHolderBody is credit_card_holder_info in a request body (docs/contract/money.md, Card data).
type CardHolderBody struct{ texts }

var holderParts = []part{
	{"name", regexp.MustCompile(`^\S.{0,199}$`), "the holder's name"},
	{"email", regexp.MustCompile(`^[^\s@]+@[^\s@]+\.[^\s@]+$`), "an e-mail address"},
	{"cpfCnpj", regexp.MustCompile(taxid.Form), "11 digits (CPF) or 14 characters (CNPJ)"},
	{"postalCode", regexp.MustCompile(`^[0-9]{8}$`), "8 digits"},
	{"addressNumber", regexp.MustCompile(`^\S.{0,19}$`), "the number of the house"},
	{"phone", regexp.MustCompile(`^\+?[0-9]{8,15}$`), "8 to 15 digits"},
}

// Schema documents the object.
func (CardHolderBody) Schema(huma.Registry) *huma.Schema { return schemaOf(holderParts) }

// Resolve refuses members that are not known.
func (c *CardHolderBody) Resolve(_ huma.Context, at *huma.PathBuffer) []error {
	return c.unknown(at, holderParts)
}

// Read checks the holder's data; 400 VALIDATION_ERROR naming the field.
func (c CardHolderBody) Read() (*CardHolder, error) {
	if err := c.check("credit_card_holder_info", holderParts); err != nil {
		return nil, err
	}
	return &CardHolder{
		Name: c.plain("name"), Email: c.plain("email"), TaxID: taxid.Normal(c.plain("cpfCnpj")),
		PostalCode: c.plain("postalCode"), AddressNumber: c.plain("addressNumber"), Phone: c.plain("phone"),
	}, nil
}

// PaymentMethodBody is a card's token, made by gateway B's client library.
type PaymentMethodBody struct{ value json.RawMessage }

var paymentMethodForm = regexp.MustCompile(`^[A-Za-z0-9_]{3,255}$`)

// UnmarshalJSON keeps what was sent for read.
func (p *PaymentMethodBody) UnmarshalJSON(b []byte) error {
	p.value = bytes.Clone(b)
	return nil
}

// Schema documents the token.
func (PaymentMethodBody) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Description: "The card's token at gateway B, a text such as pm_…"}
}

// Given reports whether the request holds the token at all, well formed or not.
func (p PaymentMethodBody) Given() bool { return len(p.value) > 0 }

// Read checks the token; 400 VALIDATION_ERROR naming the field.
func (p PaymentMethodBody) Read() (string, error) {
	const field = "payment_method_id"
	if len(p.value) == 0 || bytes.Equal(p.value, []byte("null")) {
		return "", fault.BadRequest("%s is required.", field).WithField(field)
	}
	var id string
	err := json.Unmarshal(p.value, &id)
	if err == nil && strings.TrimSpace(id) == "" {
		return "", fault.BadRequest("%s is required.", field).WithField(field)
	}
	if err != nil || !paymentMethodForm.MatchString(id) {
		return "", fault.BadRequest("%s has to be a payment method of the gateway, such as pm_card_visa.", field).
			WithField(field)
	}
	return id, nil
}
