package orders

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

type ordersBody struct {
	Orders []OrderBody `json:"orders"`
}

// ListOrders answers GET /me/ticket-orders, newest first. What a guest bought for
// the address is hidden until it is verified.
func (h Handlers) ListOrders(ctx context.Context, _ *struct{}) (*httpapi.Output[ordersBody], error) {
	me, err := h.s.store.deps.Accounts.CustomerByID(ctx, h.s.store.deps.Pool, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	rows, err := h.s.OrdersOf(ctx, h.s.store.deps.Pool, me.ID, me.EmailVerified)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(ordersBody{Orders: rows})
}

// OrdersOf are a customer's orders, newest first, as they are shown; withHidden those of a guest's, too.
func (s *CallerOrders) OrdersOf(ctx context.Context, db postgres.DB, customerID objectid.ID,
	withHidden bool,
) ([]OrderBody, error) {
	rows, err := s.store.db.OrderListOf(ctx, db,
		ticketsdb.OrderListOfParams{CustomerID: customerID, WithHidden: withHidden})
	if err != nil {
		return nil, fmt.Errorf("list orders: %w", err)
	}
	ids := make([]objectid.ID, len(rows))
	for i, o := range rows {
		ids[i] = o.ID
	}
	tickets, err := s.store.TicketIDsOf(ctx, db, ids...)
	if err != nil {
		return nil, err
	}
	refunded, err := s.store.RefundedOf(ctx, db, rows...)
	if err != nil {
		return nil, err
	}
	bodies := make([]OrderBody, len(rows))
	for i, o := range rows {
		bodies[i] = o.Body(tickets[o.ID], refunded[o.ID])
	}
	return bodies, nil
}

// OrderInput names an order in the path.
type OrderInput struct {
	OrderID string `path:"order_id"`
}

type orderDetail struct {
	Order   OrderBody         `json:"order"`
	Tickets []json.RawMessage `json:"tickets"`
	// Pix is there while the order waits for its PIX, also of a purchase whose answer
	// came without the code.
	Pix *OrderPixBody `json:"pix,omitempty"`
	// WithdrawalUntil is until when a paid order may be given back.
	WithdrawalUntil *httpapi.Time `json:"withdrawal_until"`
}

// GetOrder answers GET /me/ticket-orders/{order_id}; another customer's order is
// 404.
func (h Handlers) GetOrder(ctx context.Context, in *OrderInput) (*resource.Response, error) {
	o, err := h.s.CallerOrder(ctx, in.OrderID)
	if err != nil {
		return nil, err
	}
	return h.s.envelope(ctx, o)
}

// CallerOrder is an order of the caller that they may see: 422 for a malformed id, 404 for one that is not
// there, is another's, or is a guest's while the address is not verified.
func (s *CallerOrders) CallerOrder(ctx context.Context, path string) (Order, error) {
	id, err := objectid.Parse(path)
	if err != nil {
		return Order{}, fault.InvalidAt(err.Error(), "path", "order_id")
	}
	o, err := s.store.db.OrderGet(ctx, s.store.deps.Pool, id)
	if err != nil && !postgres.IsNoRows(err) {
		return Order{}, fmt.Errorf("read order: %w", err)
	}
	me := httpapi.CallerOf(ctx).ID
	if err != nil || o.CustomerID != me {
		return Order{}, fault.NotFound("Order")
	}
	if o.WithoutLogin {
		c, err := s.store.deps.Accounts.CustomerByID(ctx, s.store.deps.Pool, me)
		if err != nil {
			return Order{}, err
		}
		if !c.EmailVerified {
			return Order{}, fault.NotFound("Order")
		}
	}
	return o, nil
}

func (s *CallerOrders) envelope(ctx context.Context, o Order) (*resource.Response, error) {
	tickets, err := s.store.TicketIDsOf(ctx, s.store.deps.Pool, o.ID)
	if err != nil {
		return nil, err
	}
	docs, _, err := events.Tickets.DocsTx(ctx, s.store.deps.Pool, tickets[o.ID])
	if err != nil {
		return nil, err
	}
	refunded, err := s.store.RefundedOf(ctx, s.store.deps.Pool, o)
	if err != nil {
		return nil, err
	}
	body := orderDetail{Order: o.Body(tickets[o.ID], refunded[o.ID])}
	if err := json.Unmarshal(append(append([]byte{'['}, docs...), ']'), &body.Tickets); err != nil {
		return nil, fmt.Errorf("read own documents: %w", err)
	}
	e, err := s.store.db.EventGet(ctx, s.store.deps.Pool, o.EventID)
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	if o.State == state.Paid && nullable.Value(e.CancelRefund) != events.RefundAll {
		until, _ := s.store.WithdrawalUntil(e, o)
		body.WithdrawalUntil = httpapi.TimePtr(until)
	}
	if o.Payable(s.store.deps.Clock.Now()) && e.CancelledAt == nil {
		body.Pix = o.PixBody(gateway.PixCharge{Payload: *o.PixPayload, EncodedImage: nullable.Value(o.PixImage)})
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write answer: %w", err)
	}
	return &resource.Response{ContentType: "application/json", Body: raw}, nil
}

// OrderDetailSchema documents what Postgres and OrderBody make together.
func OrderDetailSchema() *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"order", "tickets", "withdrawal_until"},
		Properties: map[string]*huma.Schema{
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
					"payload":       {Type: huma.TypeString, Description: "Copy-and-paste text"},
					"encoded_image": {Type: huma.TypeString, Description: "PNG in base64"},
					"expiration_date": {
						Type: huma.TypeString, Format: "date-time", Description: "Until then the places are held",
					},
				},
			},
		},
	}
}
