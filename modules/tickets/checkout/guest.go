package checkout

import (
	"context"
	"fmt"

	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/door"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/taxid"
)

// Buyer is a guest (docs/contract/tickets.md, Guests).
type Buyer struct {
	FullName string `json:"full_name" minLength:"3" maxLength:"200"`
	Email    string `json:"email" doc:"E-mail address, at most 254 characters"`
	TaxID    string `json:"tax_id" pattern:"^([0-9]{11}|[0-9A-Za-z]{12}[0-9]{2})$" patternDescription:"11 digits (CPF) or 14 characters (CNPJ)"`
	Phone    string `json:"phone" required:"false" pattern:"^(\\+?[0-9]{10,15})?$" patternDescription:"10 to 15 digits, with or without a plus sign"`
}

type (
	guestCardAInput struct {
		Body struct {
			CardPurchaseA
			Buyer Buyer `json:"buyer"`
		}
	}
	guestCardBInput struct {
		Body struct {
			CardPurchaseB
			Buyer Buyer `json:"buyer"`
		}
	}
	guestPixInput struct {
		Body struct {
			TicketPurchase
			Buyer Buyer `json:"buyer"`
		}
	}
)

// ticketCodeBody is a guest's ticket in the checkout response.
type ticketCodeBody struct {
	TicketID objectid.ID `json:"ticket_id"`
	DataURI  string      `json:"qr_data_uri" doc:"PNG"`
}

type checkoutBody struct {
	Order   orders.OrderBody     `json:"order"`
	Payment *orderPaymentBody    `json:"payment" doc:"Null for a free event"`
	Pix     *orders.OrderPixBody `json:"pix,omitempty"`
	Tickets *[]ticketCodeBody    `json:"tickets" nullable:"true" doc:"Null unless confirmed at once; then they also come by mail"`
}

// CheckoutCardA answers POST /store/purchase/checkout/gwa/card, of a guest.
func (h Handlers) CheckoutCardA(ctx context.Context, in *guestCardAInput) (*httpapi.Output[checkoutBody], error) {
	return h.s.buyFor(ctx, in.Body.Buyer, in.Body.CardPurchaseA.purchase(ctx))
}

// CheckoutCardB answers POST /store/purchase/checkout/gwb/card, of a guest.
func (h Handlers) CheckoutCardB(ctx context.Context, in *guestCardBInput) (*httpapi.Output[checkoutBody], error) {
	return h.s.buyFor(ctx, in.Body.Buyer, in.Body.CardPurchaseB.purchase(ctx))
}

// CheckoutPixA answers POST /store/purchase/checkout/gwa/pix, of a guest.
func (h Handlers) CheckoutPixA(ctx context.Context, in *guestPixInput) (*httpapi.Output[checkoutBody], error) {
	return h.s.buyFor(ctx, in.Body.Buyer, in.Body.TicketPurchase.purchase(gateway.GWA, gateway.MethodPix))
}

// CheckoutPixB answers POST /store/purchase/checkout/gwb/pix, of a guest.
func (h Handlers) CheckoutPixB(ctx context.Context, in *guestPixInput) (*httpapi.Output[checkoutBody], error) {
	return h.s.buyFor(ctx, in.Body.Buyer, in.Body.TicketPurchase.purchase(gateway.GWB, gateway.MethodPix))
}

// buyFor buys for a guest.
func (s *Checkout) buyFor(ctx context.Context, b Buyer, p purchase) (*httpapi.Output[checkoutBody], error) {
	b.TaxID = taxid.Normal(b.TaxID)
	p.buyer = &b
	return s.checkoutOutput(s.buy(ctx, p))
}

// checkoutOutput answers a guest's purchase, or its error.
func (s *Checkout) checkoutOutput(r receipt, err error) (*httpapi.Output[checkoutBody], error) {
	if err != nil {
		return nil, err
	}
	body, err := s.checkoutBodyOf(r)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(body)
}

func (s *Checkout) checkoutBodyOf(r receipt) (checkoutBody, error) {
	p := purchaseBodyOf(r)
	body := checkoutBody{Order: p.Order, Payment: p.Payment, Pix: p.Pix}
	if r.order.State != state.Paid {
		return body, nil
	}
	codes := make([]ticketCodeBody, len(r.tickets))
	for i, id := range r.tickets {
		image, err := door.QRDataURI(s.deps.Door.CodeOf(id, r.order.EventID).Picture())
		if err != nil {
			return body, fmt.Errorf("draw code: %w", err)
		}
		codes[i] = ticketCodeBody{TicketID: id, DataURI: image}
	}
	body.Tickets = &codes
	return body, nil
}
