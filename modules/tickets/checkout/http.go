package checkout

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/door"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/taxid"
)

// orderPaymentBody is payment of the purchase response (docs/contract/tickets.md, The store).
type orderPaymentBody struct {
	ID          *string `json:"id"`
	Status      string  `json:"status"`
	BillingType string  `json:"billing_type"`
}

// Schema is the object, or null for a free event; in place, since a reference
// cannot be null.
func (orderPaymentBody) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Nullable: true, Required: []string{"id", "status", "billing_type"}, Properties: map[string]*huma.Schema{
		"id":           {Type: huma.TypeString, Nullable: true, Description: "The gateway's; null while its answer is awaited"},
		"status":       {Type: huma.TypeString, Enum: []any{orders.StatusConfirmed, orders.StatusPending}},
		"billing_type": {Type: huma.TypeString, Enum: []any{"CREDIT_CARD", "PIX"}},
	}}
}

type purchaseBody struct {
	Order   orders.OrderBody     `json:"order"`
	Payment *orderPaymentBody    `json:"payment" doc:"Null for a free event"`
	Pix     *orders.OrderPixBody `json:"pix,omitempty"`
}

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

func purchaseBodyOf(r receipt) purchaseBody {
	body := purchaseBody{Order: orders.OrderBodyOf(r.order, r.tickets, 0)}
	if r.order.Gateway == nil {
		return body
	}
	body.Payment = &orderPaymentBody{ID: r.order.GatewayPaymentID, Status: orders.StatusPending, BillingType: "CREDIT_CARD"}
	if r.order.State == state.Paid {
		body.Payment.Status = orders.StatusConfirmed
	}
	if nullable.Value(r.order.PaymentMethod) == gateway.MethodPix {
		body.Payment.BillingType = "PIX"
	}
	if r.pix != nil {
		body.Pix = orders.PixBodyOf(r.order, *r.pix)
	}
	return body
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

// TicketPurchase is what is bought; the whole body for PIX.
type TicketPurchase struct {
	EventID  objectid.ID `json:"event_id" pattern:"^[0-9a-fA-F]{24}$"`
	Quantity int         `json:"quantity" minimum:"1" maximum:"1000" doc:"At most MAX_TICKETS_PER_ORDER"`
}

// CardPurchaseA is a purchase by a card of gateway A.
type CardPurchaseA struct {
	TicketPurchase
	Card   gateway.CardBody       `json:"credit_card" required:"false"`
	Holder gateway.CardHolderBody `json:"credit_card_holder_info" required:"false"`
}

// CardPurchaseB is a purchase by a card token of gateway B.
type CardPurchaseB struct {
	TicketPurchase
	Method gateway.PaymentMethodBody `json:"payment_method_id" required:"false"`
}

func (w TicketPurchase) purchase(gateway gateway.Name, method gateway.Method) purchase {
	id, _ := objectid.Parse(w.EventID.String())
	return purchase{gateway: gateway, method: method, eventID: id, quantity: w.Quantity}
}

func (b CardPurchaseA) purchase(ctx context.Context) purchase {
	p := b.TicketPurchase.purchase(gateway.GWA, gateway.MethodCard)
	p.instrument = func() (gateway.Instrument, error) {
		card, err := b.Card.Read()
		if err != nil {
			return gateway.Instrument{}, err
		}
		holder, err := b.Holder.Read()
		return gateway.Instrument{Card: card, Holder: holder, RemoteIP: httpapi.ClientIP(ctx)}, err
	}
	return p
}

func (b CardPurchaseB) purchase(context.Context) purchase {
	p := b.TicketPurchase.purchase(gateway.GWB, gateway.MethodCard)
	p.instrument = func() (gateway.Instrument, error) {
		id, err := b.Method.Read()
		return gateway.Instrument{PaymentMethodID: id}, err
	}
	return p
}

type (
	buyCardAInput struct{ Body CardPurchaseA }
	buyCardBInput struct{ Body CardPurchaseB }
	buyPixInput   struct{ Body TicketPurchase }
)

// BuyCardA answers POST /store/purchase/gwa/card.
func (s *Checkout) BuyCardA(ctx context.Context, in *buyCardAInput) (*httpapi.Output[purchaseBody], error) {
	return s.buyAs(ctx, in.Body.purchase(ctx))
}

// BuyCardB answers POST /store/purchase/gwb/card.
func (s *Checkout) BuyCardB(ctx context.Context, in *buyCardBInput) (*httpapi.Output[purchaseBody], error) {
	return s.buyAs(ctx, in.Body.purchase(ctx))
}

// BuyPixA answers POST /store/purchase/gwa/pix.
func (s *Checkout) BuyPixA(ctx context.Context, in *buyPixInput) (*httpapi.Output[purchaseBody], error) {
	return s.buyAs(ctx, in.Body.purchase(gateway.GWA, gateway.MethodPix))
}

// BuyPixB answers POST /store/purchase/gwb/pix.
func (s *Checkout) BuyPixB(ctx context.Context, in *buyPixInput) (*httpapi.Output[purchaseBody], error) {
	return s.buyAs(ctx, in.Body.purchase(gateway.GWB, gateway.MethodPix))
}

// buyAs buys for the customer who calls.
func (s *Checkout) buyAs(ctx context.Context, p purchase) (*httpapi.Output[purchaseBody], error) {
	p.customerID = httpapi.CallerOf(ctx).ID
	r, err := s.buy(ctx, p)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(purchaseBodyOf(r))
}

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

// CheckoutCardA answers POST /store/purchase/checkout/gwa/card, of a guest.
func (s *Checkout) CheckoutCardA(ctx context.Context, in *guestCardAInput) (*httpapi.Output[checkoutBody], error) {
	return s.buyFor(ctx, in.Body.Buyer, in.Body.CardPurchaseA.purchase(ctx))
}

// CheckoutCardB answers POST /store/purchase/checkout/gwb/card, of a guest.
func (s *Checkout) CheckoutCardB(ctx context.Context, in *guestCardBInput) (*httpapi.Output[checkoutBody], error) {
	return s.buyFor(ctx, in.Body.Buyer, in.Body.CardPurchaseB.purchase(ctx))
}

// CheckoutPixA answers POST /store/purchase/checkout/gwa/pix, of a guest.
func (s *Checkout) CheckoutPixA(ctx context.Context, in *guestPixInput) (*httpapi.Output[checkoutBody], error) {
	return s.buyFor(ctx, in.Body.Buyer, in.Body.TicketPurchase.purchase(gateway.GWA, gateway.MethodPix))
}

// CheckoutPixB answers POST /store/purchase/checkout/gwb/pix, of a guest.
func (s *Checkout) CheckoutPixB(ctx context.Context, in *guestPixInput) (*httpapi.Output[checkoutBody], error) {
	return s.buyFor(ctx, in.Body.Buyer, in.Body.TicketPurchase.purchase(gateway.GWB, gateway.MethodPix))
}

// buyFor buys for a guest.
func (s *Checkout) buyFor(ctx context.Context, b Buyer, p purchase) (*httpapi.Output[checkoutBody], error) {
	b.TaxID = taxid.Normal(b.TaxID)
	p.buyer = &b
	r, err := s.buy(ctx, p)
	if err != nil {
		return nil, err
	}
	body, err := s.checkoutBodyOf(r)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(body)
}
