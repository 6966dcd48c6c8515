package orders

import (
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// OrderBody is the specification's Ticket order; money in reais.
type OrderBody struct {
	ID               objectid.ID     `json:"_id"`
	CustomerID       objectid.ID     `json:"customer_id"`
	EventID          objectid.ID     `json:"event_id"`
	Quantity         int32           `json:"quantity"`
	UnitPrice        events.Reais    `json:"unit_price"`
	Total            events.Reais    `json:"total"`
	Refunded         events.Reais    `json:"refunded" doc:"What of it was given back"`
	Gateway          *gateway.Name   `json:"gateway" nullable:"true" doc:"gwa, gwb; null for a free event"`
	PaymentMethod    *gateway.Method `json:"payment_method" nullable:"true" doc:"credit_card, pix; null for a free event"`
	GatewayPaymentID *string         `json:"gateway_payment_id" nullable:"true"`
	PaymentStatus    string          `json:"payment_status" doc:"The gateway's own word"`
	Status           string          `json:"status" enum:"pending"`
	TicketIDs        []objectid.ID   `json:"ticket_ids"`
	CreatedAt        httpapi.Time    `json:"created_at"`
	UpdatedAt        httpapi.Time    `json:"updated_at"`
	WithoutLogin     bool            `json:"without_login,omitempty"`
}

// OrderBodyOf shows an order with its tickets.
func OrderBodyOf(o Order, tickets []objectid.ID, refunded money.Cents) OrderBody {
	return OrderBody{
		ID: o.ID, CustomerID: o.CustomerID, EventID: o.EventID, Quantity: o.Quantity, UnitPrice: events.Reais(o.UnitPriceCents), Total: events.Reais(o.TotalCents), Refunded: events.Reais(refunded),
		Gateway: o.Gateway, PaymentMethod: o.PaymentMethod, GatewayPaymentID: o.GatewayPaymentID, PaymentStatus: o.PaymentStatus, Status: "pending",
		TicketIDs: append([]objectid.ID{}, tickets...), CreatedAt: httpapi.Time(o.CreatedAt), UpdatedAt: httpapi.Time(o.UpdatedAt), WithoutLogin: o.WithoutLogin,
	}
}

// OrderPixBody is a code that can be paid.
type OrderPixBody struct {
	Payload        string        `json:"payload" doc:"Copy-and-paste text"`
	EncodedImage   string        `json:"encoded_image" doc:"PNG in base64"`
	ExpirationDate *httpapi.Time `json:"expiration_date" nullable:"true" doc:"Until then the places are held"`
}

// PixBodyOf shows an order's code.
func PixBodyOf(o Order, c gateway.PixCharge) *OrderPixBody {
	return &OrderPixBody{Payload: c.Payload, EncodedImage: c.EncodedImage, ExpirationDate: httpapi.TimePtr(o.HoldUntil)}
}
