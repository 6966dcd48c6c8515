package reports

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// EventsOverview is the answer of GET /admin/events-dashboard/overview
// (docs/contract/figures.md, Events dashboard). Money in reais.
type EventsOverview struct {
	TotalEvents        int64            `json:"total_events"`
	ActiveEvents       int64            `json:"active_events" doc:"Switched on"`
	UpcomingEvents     int64            `json:"upcoming_events" doc:"Date after now"`
	PastEvents         int64            `json:"past_events" doc:"The other ones"`
	TotalTicketsIssued int64            `json:"total_tickets_issued" doc:"Live: pending, available, consumed"`
	TotalTicketsSold   int64            `json:"total_tickets_sold" doc:"With an order, not counting expired-unpaid"`
	TotalTicketsPromo  int64            `json:"total_tickets_promo" doc:"With a promo code and no order"`
	TotalRevenue       reais            `json:"total_revenue" doc:"Reais"`
	TotalOrders        int64            `json:"total_orders"`
	EventsByType       map[string]int64 `json:"events_by_type"`
}

// GetEventsOverview answers GET /admin/events-dashboard/overview.
func (h Handlers) GetEventsOverview(ctx context.Context, _ *struct{}) (*document, error) {
	return h.document(ctx, "Events", func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		return h.db.EventOverviewGet(ctx, tx)
	})
}

// EventFilter is what the list and its export filter by.
type EventFilter struct {
	EventType  string `query:"event_type" enum:"movie_premiere,lecture,screening,other" doc:"Default: all"`
	ActiveOnly bool   `query:"active_only" default:"false" doc:"Only events that are switched on"`
}

type eventListInput struct {
	Page  int32 `query:"page" default:"0" minimum:"0" maximum:"1000000" doc:"Zero-based"`
	Limit int32 `query:"limit" default:"20" minimum:"1" maximum:"500"`
	EventFilter
}

// EventList is the answer of GET /admin/events-dashboard/events, the latest date
// first.
type EventList struct {
	Total  int64      `json:"total" doc:"On all pages"`
	Events []EventRow `json:"events"`
}

// EventRow is an event with its sales; money in reais.
type EventRow struct {
	EventID       objectid.ID          `json:"event_id"`
	Title         string               `json:"title"`
	EventType     string               `json:"event_type" enum:"movie_premiere,lecture,screening,other"`
	EventDate     httpapi.Time         `json:"event_date"`
	Location      string               `json:"location"`
	Capacity      int64                `json:"capacity" doc:"0 is unlimited"`
	TicketsIssued int64                `json:"tickets_issued" doc:"Live: pending, available, consumed"`
	TicketsSold   int64                `json:"tickets_sold" doc:"With an order, not counting expired-unpaid"`
	TicketsPromo  int64                `json:"tickets_promo" doc:"With a promo code and no order"`
	TicketStatus  eventTicketsByStatus `json:"ticket_status"`
	Revenue       reais                `json:"revenue" doc:"Reais"`
	OrdersCount   int64                `json:"orders_count"`
	OccupancyPct  float64              `json:"occupancy_pct" doc:"Percent"`
	CancelledAt   *httpapi.Time        `json:"cancelled_at" nullable:"true" doc:"When it was called off: none of its orders and tickets counts any more"`
	Kept          reais                `json:"kept" doc:"Of a called off event: what of its paid orders is not given back"`
}

type eventTicketsByStatus struct {
	Available int64 `json:"available"`
	Consumed  int64 `json:"consumed"`
	Expired   int64 `json:"expired"`
}

// ListEvents answers GET /admin/events-dashboard/events; a page beyond the end is
// empty.
func (h Handlers) ListEvents(ctx context.Context, in *eventListInput) (*document, error) {
	return h.document(ctx, "Events", func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		return h.db.EventListReport(ctx, tx, financedb.EventListReportParams{
			EventType: nullable.Ptr(in.EventType), ActiveOnly: in.ActiveOnly, Size: in.Limit, Start: in.Page * in.Limit,
		})
	})
}

type eventInput struct {
	EventID string `path:"event_id" doc:"The event's _id"`
}

// EventDetail is the answer of GET /admin/events-dashboard/events/{event_id}
// (docs/contract/figures.md, Events dashboard): the row of the list and what belongs to it, at most
// the newest 500 of each.
type EventDetail struct {
	EventRow
	MailedIfCancelled int64            `json:"mailed_if_cancelled" doc:"People whom calling it off writes to: who has a good ticket, or has used one"`
	MailedIfMoved     int64            `json:"mailed_if_moved" doc:"People whom moving it writes to: who has a good ticket"`
	Sales             []eventSale      `json:"sales" maxItems:"1000" doc:"Paid orders by day and payment method, whatever became of them; oldest first"`
	Orders            []eventOrder     `json:"orders" maxItems:"500" doc:"Newest first"`
	Tickets           []eventTicket    `json:"tickets" maxItems:"500" doc:"Newest first"`
	PromoCodes        []eventPromoCode `json:"promo_codes" maxItems:"500" doc:"Codes of type ticket that give tickets to the event"`
}

type eventSale struct {
	Day           string  `json:"day" format:"date" doc:"Of REPORT_TZ"`
	PaymentMethod *string `json:"payment_method" nullable:"true" doc:"Null for orders without a price"`
	Orders        int64   `json:"orders"`
	Tickets       int64   `json:"tickets"`
	Total         reais   `json:"total" doc:"Reais"`
}

type eventOrder struct {
	ID            objectid.ID   `json:"_id"`
	CustomerID    objectid.ID   `json:"customer_id"`
	CustomerName  string        `json:"customer_name" doc:"Empty once the customer is deleted"`
	CustomerEmail string        `json:"customer_email"`
	Quantity      int64         `json:"quantity"`
	UnitPrice     reais         `json:"unit_price"`
	Total         reais         `json:"total"`
	Refunded      reais         `json:"refunded" doc:"What of it was given back"`
	Gateway       *string       `json:"gateway" nullable:"true" doc:"gwa, gwb; null for a free event and of the box office"`
	PaymentMethod *string       `json:"payment_method" nullable:"true"`
	PaymentStatus string        `json:"payment_status" doc:"The gateway's own word"`
	WithoutLogin  bool          `json:"without_login"`
	PaidAt        *httpapi.Time `json:"paid_at" nullable:"true"`
	CreatedAt     httpapi.Time  `json:"created_at"`
}

type eventTicket struct {
	ID            objectid.ID `json:"_id"`
	CustomerID    objectid.ID `json:"customer_id"`
	CustomerName  string      `json:"customer_name" doc:"Empty once the customer is deleted"`
	CustomerEmail string      `json:"customer_email"`
	TicketFigures
}

// TicketFigures are what reports tell of a ticket besides whose it is.
type TicketFigures struct {
	Title         string        `json:"title"`
	Status        string        `json:"status" enum:"pending,available,consumed,expired"`
	Blocked       *string       `json:"blocked" nullable:"true" doc:"Why the door refuses it although its status is good"`
	RefundedAt    *httpapi.Time `json:"refunded_at" nullable:"true" doc:"When its share of the order's money was given back"`
	TicketOrderID *objectid.ID  `json:"ticket_order_id" nullable:"true"`
	PromoCode     *string       `json:"promo_code" nullable:"true"`
	ConsumedAt    *httpapi.Time `json:"consumed_at" nullable:"true"`
	CreatedAt     httpapi.Time  `json:"created_at"`
}

type eventPromoCode struct {
	ID               objectid.ID `json:"_id"`
	Code             string      `json:"code"`
	Title            string      `json:"title"`
	CodeType         string      `json:"code_type" enum:"promo,ticket"`
	IsActive         bool        `json:"is_active"`
	TicketsGenerated int64       `json:"tickets_generated"`
}

// GetEvent answers GET /admin/events-dashboard/events/{event_id}: 422 for a
// malformed id, 404 for an unknown one.
func (h Handlers) GetEvent(ctx context.Context, in *eventInput) (*document, error) {
	id, err := objectid.Parse(in.EventID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "event_id")
	}
	return h.document(httpapi.InFull(ctx), "Event",
		func(ctx context.Context, tx pgx.Tx) ([]byte, error) { return h.db.EventDetailGet(ctx, tx, id) })
}

// OrderTotals is the answer of GET /admin/events-dashboard/orders. The three maps
// are over all orders, so the counts of each add up to total_orders; revenue and
// averages are of paid ones. Money in reais.
type OrderTotals struct {
	TotalOrders        int64                 `json:"total_orders"`
	TotalRevenue       reais                 `json:"total_revenue" doc:"Reais"`
	ByStatus           map[string]orderShare `json:"by_status" doc:"By payment status, the gateway's own word"`
	ByGateway          map[string]orderShare `json:"by_gateway" doc:"gwa, gwb; box_office for those sold at the counter; free for others without a price"`
	ByPaymentMethod    map[string]orderShare `json:"by_payment_method" doc:"credit_card, pix; cash, card_machine, courtesy of the box office; unknown where none is recorded"`
	AvgOrderValue      reais                 `json:"avg_order_value" doc:"Reais"`
	AvgTicketsPerOrder float64               `json:"avg_tickets_per_order" doc:"Two decimals"`
}

type orderShare struct {
	Count       int64 `json:"count"`
	TotalAmount reais `json:"total_amount" doc:"Reais; of all orders, also unpaid ones"`
}

// GetOrderTotals answers GET /admin/events-dashboard/orders.
func (h Handlers) GetOrderTotals(ctx context.Context, _ *struct{}) (*document, error) {
	return h.document(ctx, "Orders", func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		return h.db.OrderTotalsGet(ctx, tx)
	})
}

// PromoPerformance is the answer of GET /admin/events-dashboard/promo-codes.
type PromoPerformance struct {
	TotalPromoCodes        int64                `json:"total_promo_codes"`
	ActivePromoCodes       int64                `json:"active_promo_codes" doc:"Switched on and not past their window"`
	TotalTicketsFromPromos int64                `json:"total_tickets_from_promos" doc:"Not counting expired-unpaid"`
	ByType                 map[string]promoType `json:"by_type" doc:"promo and ticket"`
	TopCodes               []topPromoCode       `json:"top_codes" maxItems:"10" doc:"Most tickets first"`
}

type promoType struct {
	Total            int64 `json:"total"`
	Active           int64 `json:"active"`
	TicketsGenerated int64 `json:"tickets_generated"`
}

type topPromoCode struct {
	Code             string `json:"code"`
	CodeType         string `json:"code_type" enum:"promo,ticket"`
	Title            string `json:"title"`
	TicketsGenerated int64  `json:"tickets_generated"`
	IsActive         bool   `json:"is_active"`
}

// GetPromoPerformance answers GET /admin/events-dashboard/promo-codes.
func (h Handlers) GetPromoPerformance(ctx context.Context, _ *struct{}) (*document, error) {
	return h.document(ctx, "Promo codes", func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		return h.db.PromoPerformanceGet(ctx, tx)
	})
}
