package account

import (
	"fmt"
	"strings"
	"time"
)

// Customer is a payer (docs/gateway-facts.md, A2).
type Customer struct {
	ID                   string `json:"id"`
	Order                int64  `json:"order"`
	Created              Day    `json:"created"`
	Name                 string `json:"name"`
	Email                string `json:"email"`
	Company              string `json:"company"`
	Phone                string `json:"phone"`
	MobilePhone          string `json:"mobilePhone"`
	Address              string `json:"address"`
	AddressNumber        string `json:"addressNumber"`
	Complement           string `json:"complement"`
	Province             string `json:"province"`
	PostalCode           string `json:"postalCode"`
	CPFCNPJ              string `json:"cpfCnpj"`
	PersonType           string `json:"personType"`
	AdditionalEmails     string `json:"additionalEmails"`
	ExternalReference    string `json:"externalReference"`
	NotificationDisabled bool   `json:"notificationDisabled"`
	Observations         string `json:"observations"`
	MunicipalInscription string `json:"municipalInscription"`
	StateInscription     string `json:"stateInscription"`
	Deleted              bool   `json:"deleted"`
}

// CustomerInput is the body of a creation or update; absent fields of an update stay as they are.
type CustomerInput struct {
	Name                 *string `json:"name"`
	CPFCNPJ              *text   `json:"cpfCnpj"`
	Email                *string `json:"email"`
	Company              *string `json:"company"`
	Phone                *text   `json:"phone"`
	MobilePhone          *text   `json:"mobilePhone"`
	Address              *string `json:"address"`
	AddressNumber        *text   `json:"addressNumber"`
	Complement           *string `json:"complement"`
	Province             *string `json:"province"`
	PostalCode           *text   `json:"postalCode"`
	AdditionalEmails     *string `json:"additionalEmails"`
	ExternalReference    *text   `json:"externalReference"`
	NotificationDisabled *bool   `json:"notificationDisabled"`
	Observations         *string `json:"observations"`
	MunicipalInscription *text   `json:"municipalInscription"`
	StateInscription     *text   `json:"stateInscription"`
}

func set[D, S ~string](dst *D, src *S) {
	if src != nil {
		*dst = D(*src)
	}
}

// Apply changes what the body names; refused, the customer may be half changed.
func (in CustomerInput) Apply(c *Customer) *APIError {
	set(&c.Name, in.Name)
	if strings.TrimSpace(c.Name) == "" {
		return BadRequest("invalid_name", "O campo name deve ser informado.")
	}
	if in.CPFCNPJ != nil {
		digits, personType, ok := taxID(string(*in.CPFCNPJ))
		if !ok {
			return errTaxID()
		}
		c.CPFCNPJ, c.PersonType = digits, personType
	}
	if c.CPFCNPJ == "" {
		return errTaxID()
	}
	for _, phone := range []*text{in.MobilePhone, in.Phone} {
		if phone != nil && allDigits(string(*phone)) && repeated(string(*phone)) {
			return BadRequest("invalid_mobilePhone", "O celular informado é inválido.")
		}
	}
	in.applyDetails(c)
	return nil
}

func (in CustomerInput) applyDetails(c *Customer) {
	set(&c.Email, in.Email)
	set(&c.Company, in.Company)
	set(&c.Phone, in.Phone)
	set(&c.MobilePhone, in.MobilePhone)
	set(&c.Address, in.Address)
	set(&c.AddressNumber, in.AddressNumber)
	set(&c.Complement, in.Complement)
	set(&c.Province, in.Province)
	set(&c.PostalCode, in.PostalCode)
	set(&c.AdditionalEmails, in.AdditionalEmails)
	set(&c.ExternalReference, in.ExternalReference)
	set(&c.Observations, in.Observations)
	set(&c.MunicipalInscription, in.MunicipalInscription)
	set(&c.StateInscription, in.StateInscription)
	if in.NotificationDisabled != nil {
		c.NotificationDisabled = *in.NotificationDisabled
	}
}

// CreateCustomer makes a customer; the same CPF may exist many times (docs/gateway-facts.md, A2).
func (s *state) CreateCustomer(in CustomerInput, now time.Time) (*Customer, *APIError) {
	c := &Customer{Created: DayOf(now)}
	if err := in.Apply(c); err != nil {
		return nil, err
	}
	return s.addCustomer(c), nil
}

func (s *state) addCustomer(c *Customer) *Customer {
	c.ID = fmt.Sprintf("cus_%012d", s.next("customer", 12345678))
	c.Order = s.order()
	s.Customers.Put(c.ID, c)
	return c
}

// payer makes the customer that the gateway itself creates for whoever pays a PIX that names no customer
// (docs/gateway-facts.md, A8).
func (s *state) payer(now time.Time) *Customer {
	return s.addCustomer(&Customer{
		Created: DayOf(now), Name: "Pagador Pix", CPFCNPJ: "39053344705", PersonType: "FISICA",
		NotificationDisabled: true,
	})
}

// liveCustomer finds a customer who can be charged.
func (s *state) liveCustomer(id string) (*Customer, *APIError) {
	c, ok := s.Customers.Find(id)
	if !ok || c.Deleted {
		return nil, errCustomer()
	}
	return c, nil
}

// CustomerView is a customer as it is printed.
type CustomerView struct {
	Object                string  `json:"object"`
	ID                    string  `json:"id"`
	DateCreated           Day     `json:"dateCreated"`
	Name                  string  `json:"name"`
	Email                 *string `json:"email"`
	Company               *string `json:"company"`
	Phone                 *string `json:"phone"`
	MobilePhone           *string `json:"mobilePhone"`
	Address               *string `json:"address"`
	AddressNumber         *string `json:"addressNumber"`
	Complement            *string `json:"complement"`
	Province              *string `json:"province"`
	PostalCode            *string `json:"postalCode"`
	CPFCNPJ               string  `json:"cpfCnpj"`
	PersonType            string  `json:"personType"`
	Deleted               bool    `json:"deleted"`
	AdditionalEmails      *string `json:"additionalEmails"`
	ExternalReference     *string `json:"externalReference"`
	NotificationDisabled  bool    `json:"notificationDisabled"`
	Observations          *string `json:"observations"`
	MunicipalInscription  *string `json:"municipalInscription"`
	StateInscription      *string `json:"stateInscription"`
	CanDelete             bool    `json:"canDelete"`
	CannotBeDeletedReason null    `json:"cannotBeDeletedReason"`
	CanEdit               bool    `json:"canEdit"`
	CannotEditReason      null    `json:"cannotEditReason"`
	City                  null    `json:"city"`
	CityName              null    `json:"cityName"`
	State                 null    `json:"state"`
	Country               string  `json:"country"`
}

// View prints the customer.
func (c *Customer) View() CustomerView {
	return CustomerView{
		Object: "customer", ID: c.ID, DateCreated: c.Created, Name: c.Name, Email: orNull(c.Email),
		Company: orNull(c.Company), Phone: orNull(c.Phone), MobilePhone: orNull(c.MobilePhone),
		Address: orNull(c.Address), AddressNumber: orNull(c.AddressNumber), Complement: orNull(c.Complement),
		Province: orNull(c.Province), PostalCode: orNull(c.PostalCode), CPFCNPJ: c.CPFCNPJ, PersonType: c.PersonType,
		Deleted: c.Deleted, AdditionalEmails: orNull(c.AdditionalEmails),
		ExternalReference: orNull(c.ExternalReference), NotificationDisabled: c.NotificationDisabled,
		Observations: orNull(c.Observations), MunicipalInscription: orNull(c.MunicipalInscription),
		StateInscription: orNull(c.StateInscription), CanDelete: true, CanEdit: true, Country: "Brasil",
	}
}
