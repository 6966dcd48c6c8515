package app_test

import (
	"fmt"
	"net/http"
	"slices"

	"marquee/modules/payments/paymentstest"
	"marquee/platform/taxid"
	"marquee/testutil/apitest"
)

// buy is one buyer, of the kind that n says. Each comes from an address
// of their own.
func (s *sellout) buy(n int) {
	gateway, quantity := s.gateway(n), 1+n%3
	customer, guest := s.from(s.customers[n%len(s.customers)], n), s.from(s.w.Guest, n)
	kind := n % 25
	if card := kind < 6 || kind >= 12 && kind < 16 || kind >= 22; !card {
		for range n / 25 % 4 { // or those whose way is short would be first all the time
			s.count("look", guest.Get("/store/events/"+s.event.String()), 200)
		}
	}
	switch {
	case kind < 6:
		s.buyCard(n, quantity, paymentstest.TokenApproved)
	case kind < 12:
		s.buyPix("pix", customer, "/store/purchase/"+gateway+"/pix", s.order(quantity), kind < 9)
	case kind < 16:
		s.count("guest's card",
			guest.Post("/store/purchase/checkout/"+gateway+"/card",
				s.asGuest(n, s.card(gateway, quantity, paymentstest.TokenApproved))), 200, 409, 429)
	case kind < 20:
		s.buyPix("guest's pix", guest, "/store/purchase/checkout/"+gateway+"/pix", s.asGuest(n, s.order(quantity)),
			kind < 18)
	case kind < 21:
		s.count("promo", customer.Put("/customers/me/redeem-promo-code?code="+s.promo, nil), 200, 409)
	case kind < 22:
		s.give(200, 409)
	default:
		s.buyCard(n, quantity, paymentstest.TokenDeclined)
	}
}

// give has an admin give somebody a ticket.
func (s *sellout) give(statuses ...int) {
	s.count("admin", s.w.Admin().Post("/tickets", object{"customer_id": s.recipient, "event_id": s.event}), statuses...)
}

func (s *sellout) gateway(n int) string { return []string{"gwa", "gwb"}[n%2] }

// from sends requests of a client from the address of buyer n.
func (s *sellout) from(c *apitest.Client, n int) *apitest.Client {
	return c.With("X-Forwarded-For", fmt.Sprintf("198.51.%d.%d", n/250, 1+n%250))
}

func (s *sellout) order(quantity int) object {
	return object{"event_id": s.event, "quantity": quantity}
}

// card is an order with a card; token is one of gateway B, for gateway A that
// means the card that behaves alike.
func (s *sellout) card(gateway string, quantity int, token string) object {
	body := s.order(quantity)
	if gateway == "gwb" {
		body["payment_method_id"] = token
		return body
	}
	number := paymentstest.CardApproved
	if token == paymentstest.TokenDeclined {
		number = paymentstest.CardDeclined
	}
	body["credit_card"] = object{
		"holderName": "ANA SOUZA", "number": number, "expiryMonth": "05", "expiryYear": "2099", "ccv": "318",
	}
	body["credit_card_holder_info"] = object{
		"name": "Ana Souza", "email": "ana@example.com", "cpfCnpj": "52998224725", "postalCode": "01310100",
		"addressNumber": "150", "phone": "1138830000",
	}
	return body
}

func (s *sellout) asGuest(n int, body object) object {
	body["buyer"] = object{
		"full_name": fmt.Sprintf("Guest %d", n), "email": fmt.Sprintf("guest%d@example.com", n),
		"tax_id": taxid.CPF(500_000_000 + n),
	}
	return body
}

func (s *sellout) buyCard(n, quantity int, token string) *apitest.Response {
	gateway := s.gateway(n)
	kind, wanted := "card", []int{http.StatusOK, http.StatusConflict}
	if token == paymentstest.TokenDeclined {
		kind, wanted = "bad card", []int{
			http.StatusBadRequest, http.StatusConflict, http.StatusTooManyRequests,
		} // it is refused everywhere after a few times
	}
	return s.count(kind, s.from(s.customers[n%len(s.customers)], n).Post("/store/purchase/"+gateway+"/card",
		s.card(gateway, quantity, token)), wanted...)
}

// buyPix buys, and pays at once or leaves that for later.
func (s *sellout) buyPix(kind string, c *apitest.Client, path string, body object, pays bool) {
	wanted := []int{http.StatusOK, http.StatusConflict}
	if _, guest := body["buyer"]; guest {
		wanted = append(wanted, http.StatusTooManyRequests) // guests hold at most half of what is free
	}
	a := s.count(kind, c.Post(path, body), wanted...)
	if a.Status != http.StatusOK {
		return
	}
	m := a.Map()
	order := m["order"].(object)
	pay := func() error { return s.w.Gateways.Sandbox.GWB.PayPIX(order["gateway_payment_id"].(string)) }
	if order["gateway"] == "gwa" {
		pay = func() error {
			_, err := s.w.Gateways.Sandbox.GWA.PayPIX(m["pix"].(object)["payload"].(string))
			return err
		}
	}
	if !pays {
		s.mu.Lock()
		s.unpaid = append(s.unpaid, pay)
		s.mu.Unlock()
		return
	}
	if err := pay(); err != nil {
		s.wrong("pay: %v", err)
	}
}

// count counts an answer, which has to have one of the statuses.
func (s *sellout) count(kind string, a *apitest.Response, statuses ...int) *apitest.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes[fmt.Sprintf("%s %d", kind, a.Status)]++
	if !slices.Contains(statuses, a.Status) {
		s.problems = append(s.problems, fmt.Sprintf("%s %d: %s", kind, a.Status, a.Body))
	}
	return a
}
