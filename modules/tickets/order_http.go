package tickets

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/payments"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/collection"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

type ordersBody struct {
	Orders []orderBody `json:"orders"`
}

// listOrders answers GET /me/ticket-orders, newest first. What a guest bought for
// the address is hidden until it is verified.
func (s *Service) listOrders(ctx context.Context, _ *struct{}) (*httpapi.Output[ordersBody], error) {
	me, err := s.accounts.CustomerByID(ctx, s.pool, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	rows, err := s.ordersOf(ctx, s.pool, me.ID, me.EmailVerified)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(ordersBody{Orders: rows})
}

type orderInput struct {
	OrderID string `path:"order_id"`
}

type orderDetail struct {
	Order   orderBody         `json:"order"`
	Tickets []json.RawMessage `json:"tickets"`
	// Pix is there while the order waits for its PIX, also of a purchase whose answer
	// came without the code.
	Pix *orderPixBody `json:"pix,omitempty"`
	// WithdrawalUntil is until when a paid order may be given back.
	WithdrawalUntil *httpapi.Time `json:"withdrawal_until"`
}

// getOrder answers GET /me/ticket-orders/{order_id}; another customer's order is
// 404.
func (s *Service) getOrder(ctx context.Context, in *orderInput) (*collection.Answer, error) {
	o, err := s.ownOrder(ctx, in.OrderID)
	if err != nil {
		return nil, err
	}
	return s.orderAnswer(ctx, o)
}

// ownOrder is an order of the caller that they may see.
func (s *Service) ownOrder(ctx context.Context, path string) (order, error) {
	id, err := objectid.Parse(path)
	if err != nil {
		return order{}, fault.InvalidAt(err.Error(), "path", "order_id")
	}
	o, err := s.db.OrderGet(ctx, s.pool, id)
	if err != nil && !postgres.IsNoRows(err) {
		return order{}, fmt.Errorf("read order: %w", err)
	}
	me := httpapi.CallerOf(ctx).ID
	if err != nil || o.CustomerID != me {
		return order{}, fault.NotFound("Order")
	}
	if o.WithoutLogin {
		c, err := s.accounts.CustomerByID(ctx, s.pool, me)
		if err != nil {
			return order{}, err
		}
		if !c.EmailVerified {
			return order{}, fault.NotFound("Order")
		}
	}
	return o, nil
}

func (s *Service) ordersOf(ctx context.Context, db postgres.DB, customerID objectid.ID, withHidden bool) ([]orderBody, error) {
	rows, err := s.db.OrderListOf(ctx, db, ticketsdb.OrderListOfParams{CustomerID: customerID, WithHidden: withHidden})
	if err != nil {
		return nil, fmt.Errorf("list orders: %w", err)
	}
	ids := make([]objectid.ID, len(rows))
	for i, o := range rows {
		ids[i] = o.ID
	}
	tickets, err := s.ticketIDsOf(ctx, db, ids...)
	if err != nil {
		return nil, err
	}
	refunded, err := s.refundedOf(ctx, db, rows...)
	if err != nil {
		return nil, err
	}
	bodies := make([]orderBody, len(rows))
	for i, o := range rows {
		bodies[i] = orderBodyOf(o, tickets[o.ID], refunded[o.ID])
	}
	return bodies, nil
}

// ticketIDsOf are the tickets of orders, by order.
func (s *Service) ticketIDsOf(ctx context.Context, db postgres.DB, orders ...objectid.ID) (map[objectid.ID][]objectid.ID, error) {
	rows, err := s.db.TicketListIDsOfOrders(ctx, db, objectid.Strings(orders))
	if err != nil {
		return nil, fmt.Errorf("list tickets of orders: %w", err)
	}
	all := map[objectid.ID][]objectid.ID{}
	for _, row := range rows {
		all[*row.OrderID] = append(all[*row.OrderID], row.ID)
	}
	return all, nil
}

// refundedOf is what was given back of the orders' own payments, by order.
func (s *Service) refundedOf(ctx context.Context, db postgres.DB, orders ...order) (map[objectid.ID]money.Cents, error) {
	ids, own := make([]objectid.ID, len(orders)), map[objectid.ID]string{}
	for i, o := range orders {
		ids[i], own[o.ID] = o.ID, postgres.Text(o.GatewayPaymentID)
	}
	all, err := s.payments.RefundedPayments(ctx, db, payments.ForOrder, ids)
	refunded := map[objectid.ID]money.Cents{}
	for _, r := range all {
		if r.PaymentID == own[r.LocalID] {
			refunded[r.LocalID] = r.Amount
		}
	}
	return refunded, err
}

func (s *Service) orderAnswer(ctx context.Context, o order) (*collection.Answer, error) {
	tickets, err := s.ticketIDsOf(ctx, s.pool, o.ID)
	if err != nil {
		return nil, err
	}
	docs, _, err := events.Tickets.DocsTx(ctx, s.pool, tickets[o.ID])
	if err != nil {
		return nil, err
	}
	refunded, err := s.refundedOf(ctx, s.pool, o)
	if err != nil {
		return nil, err
	}
	body := orderDetail{Order: orderBodyOf(o, tickets[o.ID], refunded[o.ID])}
	if err := json.Unmarshal(append(append([]byte{'['}, docs...), ']'), &body.Tickets); err != nil {
		return nil, fmt.Errorf("read own documents: %w", err)
	}
	e, err := s.db.EventGet(ctx, s.pool, o.EventID)
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	if o.State == state.Paid && postgres.Text(e.CancelRefund) != events.RefundAll {
		until, _ := s.withdrawalUntil(e, o)
		body.WithdrawalUntil = httpapi.TimePtr(until)
	}
	if payable(o, s.clock.Now()) && e.CancelledAt == nil {
		body.Pix = pixBodyOf(o, payments.PixCharge{Payload: *o.PixPayload, EncodedImage: postgres.Text(o.PixImage)})
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write answer: %w", err)
	}
	return &collection.Answer{ContentType: "application/json", Body: raw}, nil
}

// orderDetailSchema documents what Postgres and orderBody make together.
func orderDetailSchema() *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Required: []string{"order", "tickets", "withdrawal_until"}, Properties: map[string]*huma.Schema{
		"order":   {Type: huma.TypeObject, Description: "As in GET /me/ticket-orders"},
		"tickets": {Type: huma.TypeArray, Items: events.Tickets.DocumentSchema()},
		"withdrawal_until": {
			Type: huma.TypeString, Format: "date-time", Nullable: true,
			Description: "Until when the order may be given back (POST /me/ticket-orders/{order_id}/withdraw); null where there is no such right",
		},
		"pix": {
			Type: huma.TypeObject, Required: []string{"payload", "encoded_image", "expiration_date"},
			Description: "As in the purchase response; there while the order waits for its PIX",
			Properties: map[string]*huma.Schema{
				"payload":         {Type: huma.TypeString, Description: "Copy-and-paste text"},
				"encoded_image":   {Type: huma.TypeString, Description: "PNG in base64"},
				"expiration_date": {Type: huma.TypeString, Format: "date-time", Description: "Until then the places are held"},
			},
		},
	}}
}
