package reports

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// TicketOrder is the answer of GET /admin/ticket-orders/{id} (docs/contract/tickets.md, The store): one order with its
// tickets and its money. Money in reais; each list holds the newest 500, newest first.
type TicketOrder struct {
	ID               objectid.ID    `json:"_id"`
	Event            orderEvent     `json:"event"`
	CustomerID       *objectid.ID   `json:"customer_id" nullable:"true" doc:"Whose account it is; null once that is deleted, and of the box office, which asks for none"`
	Buyer            orderBuyer     `json:"buyer" doc:"Who bought, as far as it is known still"`
	Quantity         int64          `json:"quantity"`
	UnitPrice        reais          `json:"unit_price"`
	Total            reais          `json:"total"`
	Refunded         reais          `json:"refunded" doc:"What of it was given back"`
	Gateway          *string        `json:"gateway" nullable:"true" doc:"gwa, gwb; null for a free event and of the box office"`
	GatewayPaymentID *string        `json:"gateway_payment_id" nullable:"true" doc:"Null until the gateway has one"`
	PaymentMethod    *string        `json:"payment_method" nullable:"true"`
	PaymentStatus    string         `json:"payment_status" doc:"The gateway's own word"`
	State            string         `json:"state" enum:"reserved,paid,released,refund_due,refunded,lost" doc:"reserved: its places wait for the money; released: they are free again; refund_due: it goes back; lost: to a dispute"`
	WithoutLogin     bool           `json:"without_login"`
	SoldBy           *string        `json:"sold_by" nullable:"true" doc:"Of the box office: who sold it, by the username of that time"`
	Note             *string        `json:"note" nullable:"true" doc:"Of the box office"`
	HoldUntil        *httpapi.Time  `json:"hold_until" nullable:"true" doc:"Of a reserved one: until when its places wait"`
	PaidAt           *httpapi.Time  `json:"paid_at" nullable:"true"`
	DisputedAt       *httpapi.Time  `json:"disputed_at" nullable:"true" doc:"Since when a dispute closes the door to its tickets"`
	CreatedAt        httpapi.Time   `json:"created_at"`
	Tickets          []orderTicket  `json:"tickets" maxItems:"500"`
	Payments         []orderPayment `json:"payments" maxItems:"500" doc:"Settled ones"`
	Refunds          []orderRefund  `json:"refunds" maxItems:"500"`
	Disputes         []orderDispute `json:"disputes" maxItems:"500"`
	History          []orderMove    `json:"history" maxItems:"500" doc:"Every change of its state"`
	Timeline         []orderMoment  `json:"timeline" maxItems:"500"`
}

type orderEvent struct {
	ID          objectid.ID   `json:"_id"`
	Title       string        `json:"title"`
	EventDate   httpapi.Time  `json:"event_date"`
	Location    string        `json:"location"`
	CancelledAt *httpapi.Time `json:"cancelled_at" nullable:"true" doc:"When it was called off"`
}

type orderBuyer struct {
	FullName string  `json:"full_name" doc:"May be empty"`
	Email    string  `json:"email" doc:"May be empty"`
	Phone    *string `json:"phone" nullable:"true" doc:"Told at the box office"`
}

type orderTicket struct {
	ID objectid.ID `json:"_id"`
	TicketFigures
}

type orderPayment struct {
	ID               objectid.ID  `json:"_id"`
	Gateway          string       `json:"gateway" enum:"gwa,gwb"`
	GatewayPaymentID string       `json:"gateway_payment_id"`
	PaymentMethod    string       `json:"payment_method" enum:"credit_card,pix,boleto"`
	Amount           reais        `json:"amount"`
	Status           string       `json:"status" doc:"The gateway's own word"`
	PaidAt           httpapi.Time `json:"paid_at"`
}

type orderRefund struct {
	ID          objectid.ID   `json:"_id"`
	Kind        string        `json:"kind" enum:"refund,med,by_hand" doc:"by_hand: at the box office; med: the payer's bank took the PIX back"`
	Gateway     *string       `json:"gateway" nullable:"true" doc:"gwa, gwb; null of the box office"`
	PaymentID   string        `json:"payment_id" doc:"Gateway A: pay_…; gateway B: the payment intent pi_…; of the box office the order's _id"`
	Amount      reais         `json:"amount"`
	Status      string        `json:"status" enum:"requested,pending,done,failed"`
	Source      string        `json:"source" enum:"admin,platform,gateway"`
	Admin       *string       `json:"admin" nullable:"true" doc:"Username of who asked for it"`
	Reason      *string       `json:"reason" nullable:"true"`
	Failure     *string       `json:"failure" nullable:"true" doc:"Why it failed, in the gateway's words"`
	RequestedAt httpapi.Time  `json:"requested_at"`
	RefundedAt  *httpapi.Time `json:"refunded_at" nullable:"true"`
}

type orderDispute struct {
	ID            objectid.ID   `json:"_id"`
	Kind          string        `json:"kind" enum:"chargeback,med"`
	Gateway       string        `json:"gateway" enum:"gwa,gwb"`
	PaymentID     string        `json:"payment_id"`
	Amount        reais         `json:"amount"`
	State         string        `json:"state" enum:"inquiry,open,won,lost,dismissed,withdrawn"`
	Reason        *string       `json:"reason" nullable:"true"`
	OpenedAt      httpapi.Time  `json:"opened_at"`
	ClosedAt      *httpapi.Time `json:"closed_at" nullable:"true"`
	EvidenceDueAt *httpapi.Time `json:"evidence_due_at" nullable:"true" doc:"Until when the gateway takes an answer"`
	EvidenceSent  bool          `json:"evidence_sent"`
}

// orderMove is a change of an order's state, by the one table of them (docs/ticket-orders.md).
type orderMove struct {
	At        httpapi.Time `json:"at"`
	FromState *string      `json:"from_state" nullable:"true" enum:"reserved,paid,released,refund_due,refunded,lost" doc:"Null where it began"`
	ToState   string       `json:"to_state" enum:"reserved,paid,released,refund_due,refunded,lost"`
	Reason    string       `json:"reason" doc:"Such as purchased, paid, declined, not_paid, refunded; not_recorded where the history began later than the order"`
}

// orderMoment is one thing that happened to an order: a sentence, and the values that it is made of, by its type. Those
// that the type does not have are absent.
type orderMoment struct {
	At      httpapi.Time `json:"at"`
	Type    string       `json:"type" enum:"order,payment,ticket,refund,dispute,event_cancelled"`
	Summary string       `json:"summary" doc:"A sentence in English, of the values below"`

	Amount        *reais `json:"amount,omitempty" doc:"Reais, of order, payment, refund and dispute"`
	Quantity      int64  `json:"quantity,omitempty" doc:"Tickets, of order and ticket"`
	Gateway       string `json:"gateway,omitempty" enum:"gwa,gwb" doc:"Of payment, refund and dispute; absent of the box office"`
	PaymentMethod string `json:"payment_method,omitempty" enum:"credit_card,pix,boleto,cash,card_machine,courtesy" doc:"Of payment"`
	RefundStatus  string `json:"refund_status,omitempty" enum:"requested,pending,done,failed" doc:"Of refund"`
	DisputeState  string `json:"dispute_state,omitempty" enum:"inquiry,open,won,lost,dismissed,withdrawn" doc:"Of dispute"`
	FromStatus    string `json:"from_status,omitempty" enum:"pending,available,consumed,expired" doc:"Of ticket; absent where it began"`
	ToStatus      string `json:"to_status,omitempty" enum:"pending,available,consumed,expired,deleted" doc:"Of ticket"`
	Reason        string `json:"reason,omitempty" doc:"Of ticket and refund"`
}

type ticketOrderInput struct {
	ID string `path:"id" doc:"The order's _id"`
}

// GetTicketOrder answers GET /admin/ticket-orders/{id}: 422 for a malformed id, 404 for an unknown one.
func (h Handlers) GetTicketOrder(ctx context.Context, in *ticketOrderInput) (*document, error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "id")
	}
	return h.document(httpapi.InFull(ctx), "Order",
		func(ctx context.Context, tx pgx.Tx) ([]byte, error) { return h.db.OrderDetailGet(ctx, tx, id) })
}
