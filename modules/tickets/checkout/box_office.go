package checkout

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/door"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// counterSale is what a sale of the box office has, and no purchase of the store.
type counterSale struct {
	method       gateway.Method
	seller       httpapi.Caller
	note, phone  string
	auditTrailTx func(tx pgx.Tx, o orders.Order) error
}

// sell sells tickets at the counter: by the same gate as every purchase, so that no place is sold twice, paid at once,
// and no gateway is asked. What bounds one buyer of the store bounds nobody there. Errors: 404 and 400 for the event,
// 409 sold out, and when the price has just changed; 422 names what is wrong with the sale.
func (s *Checkout) sell(ctx context.Context, w request) (orders.Order, error) {
	e, err := s.db.EventGet(ctx, s.deps.Pool, w.event.ID)
	if postgres.IsNoRows(err) {
		return orders.Order{}, fault.NotFound("Event")
	}
	if err != nil {
		return orders.Order{}, fmt.Errorf("read event: %w", err)
	}
	if err := events.SellableAtBoxOffice(e, s.deps.Clock.Now()); err != nil {
		return orders.Order{}, err
	}
	if w.counter.method != orders.MethodCourtesy && priceOf(e) == 0 {
		return orders.Order{}, fault.InvalidAt("has to be courtesy: the event is free", "body", "method")
	}
	w.event = e
	o, _, err := s.reserve(ctx, w)
	return o, err
}

// sellable says why a purchase, or a sale of the box office, is refused by its event as it is under its lock.
func sellable(e events.Event, w request, now time.Time) error {
	if w.counter == nil {
		if err := events.Sellable(e, now); err != nil {
			return err
		}
	} else if err := events.SellableAtBoxOffice(e, now); err != nil {
		return err
	}
	if e.Capacity != nil && int(e.TicketsIssued)+w.quantity > int(*e.Capacity) {
		return events.ErrSoldOut()
	}
	changed := (w.gateway == nil) != (priceOf(e) == 0)
	if w.counter != nil {
		changed = w.counter.method != orders.MethodCourtesy && priceOf(e) != priceOf(w.event)
	}
	if changed {
		return fault.Conflict("The price of the event has just changed. Check it and try again.")
	}
	return nil
}

// soldAt is an order that is paid at the counter.
func (c *counterSale) soldAt(o orders.Order) orders.Order {
	if c.method == orders.MethodCourtesy {
		o.UnitPriceCents, o.TotalCents = 0, 0
	}
	o.PaymentMethod, o.SoldByID, o.SoldBy = &c.method, &c.seller.ID, &c.seller.Username
	o.Note, o.BuyerPhone = nullable.Ptr(c.note), nullable.Ptr(c.phone)
	return o
}

// saleTx does what follows from a sale in its transaction.
func (c *counterSale) saleTx(tx pgx.Tx, o orders.Order) error {
	if c == nil {
		return nil
	}
	return c.auditTrailTx(tx, o)
}

// saleBuyer is who buys at the counter, as far as they say.
type saleBuyer struct {
	FullName string `json:"full_name" required:"false" maxLength:"200"`
	Email    string `json:"email" required:"false" maxLength:"254" doc:"E-mail address; nothing is mailed"`
	Phone    string `json:"phone" required:"false" pattern:"^(\\+?[0-9]{10,15})?$" patternDescription:"10 to 15 digits, with or without a plus sign"`
}

type sellInput struct {
	ID   string `path:"id" doc:"The event's _id"`
	Body struct {
		Quantity int       `json:"quantity" minimum:"1" maximum:"100"`
		Method   string    `json:"method" enum:"cash,card_machine,courtesy" doc:"courtesy: free, and note says why; the one method of a free event"`
		Buyer    saleBuyer `json:"buyer" required:"false"`
		Note     string    `json:"note" required:"false" maxLength:"500" doc:"At least 5 characters for a courtesy"`
	}
}

func (in *sellInput) request(ctx context.Context) (request, error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return request{}, fault.InvalidAt(err.Error(), "path", "id")
	}
	c := &counterSale{
		method: gateway.Method(in.Body.Method), seller: httpapi.CallerOf(ctx), note: strings.TrimSpace(in.Body.Note),
		phone: in.Body.Buyer.Phone,
	}
	if c.method == orders.MethodCourtesy && len([]rune(c.note)) < 5 {
		return request{}, fault.InvalidAt("has to have at least 5 characters: why it is given", "body", "note")
	}
	email := strings.TrimSpace(in.Body.Buyer.Email)
	if parsed, err := mail.ParseAddress(email); email != "" && (err != nil || parsed.Address != email) {
		return request{}, fault.InvalidAt("has to be an e-mail address", "body", "buyer", "email")
	}
	c.auditTrailTx = func(tx pgx.Tx, o orders.Order) error {
		return audit.RecordTx(ctx, tx, audit.Change{
			Resource: "ticket-orders", RecordID: o.ID, After: map[string]any{
				"event_id": o.EventID, "quantity": o.Quantity, "total": events.Reais(o.TotalCents), "method": c.method,
				"note": o.Note,
			},
		})
	}
	return request{
		event: events.Event{ID: id}, quantity: in.Body.Quantity, counter: c, attempt: idempotency.AttemptOf(ctx),
		customer: accounts.Customer{
			ID: objectid.New(), FullName: strings.TrimSpace(in.Body.Buyer.FullName), Email: email,
		},
	}, nil
}

// Sell answers POST /events/{id}/box-office-sales.
func (h Handlers) Sell(ctx context.Context, in *sellInput) (*httpapi.Output[saleDetail], error) {
	w, err := in.request(ctx)
	if err != nil {
		return nil, err
	}
	o, err := h.s.sell(ctx, w)
	if err != nil {
		return nil, err
	}
	return h.ReplaySale(context.WithoutCancel(ctx), o.ID)
}

// ReplaySale tells of a sale whose request was cut off (httpapi.Idempotent).
func (h Handlers) ReplaySale(ctx context.Context, orderID objectid.ID) (*httpapi.Output[saleDetail], error) {
	return h.s.saleOf(ctx, "", orderID)
}

type saleInput struct {
	ID      string `path:"id" doc:"The event's _id"`
	OrderID string `path:"order_id" doc:"The sale's _id"`
}

// GetSale answers GET /events/{id}/box-office-sales/{order_id}: what is printed again.
func (h Handlers) GetSale(ctx context.Context, in *saleInput) (*httpapi.Output[saleDetail], error) {
	event, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "id")
	}
	id, err := objectid.Parse(in.OrderID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "order_id")
	}
	return h.s.saleOf(ctx, event, id)
}

// saleBody is a sale of the box office; money in reais.
type saleBody struct {
	ID          objectid.ID    `json:"_id" doc:"Of the order"`
	Quantity    int32          `json:"quantity"`
	UnitPrice   events.Reais   `json:"unit_price"`
	Total       events.Reais   `json:"total"`
	Refunded    events.Reais   `json:"refunded" doc:"What of it was handed back"`
	Method      gateway.Method `json:"method" enum:"cash,card_machine,courtesy"`
	Status      state.Order    `json:"status" enum:"paid,refunded" doc:"refunded: all of it was handed back, or of a courtesy given back"`
	TicketsGood int64          `json:"tickets_good" doc:"Of its tickets, those that open the door"`
	SoldBy      string         `json:"sold_by" doc:"Username of that time"`
	Buyer       buyerBody      `json:"buyer" doc:"What they said of themselves; forgotten 30 days after the event"`
	Note        *string        `json:"note" nullable:"true"`
	CreatedAt   httpapi.Time   `json:"created_at"`
}

type buyerBody struct {
	FullName string  `json:"full_name"`
	Email    string  `json:"email"`
	Phone    *string `json:"phone" nullable:"true"`
}

// saleDetail is a sale with what is printed.
type saleDetail struct {
	Sale    saleBody     `json:"sale"`
	Event   saleEvent    `json:"event"`
	Tickets []saleTicket `json:"tickets"`
}

type saleEvent struct {
	ID        objectid.ID  `json:"_id"`
	Title     string       `json:"title"`
	EventDate httpapi.Time `json:"event_date"`
	Location  string       `json:"location"`
}

type saleTicket struct {
	ID         objectid.ID   `json:"_id"`
	Status     state.Ticket  `json:"status" enum:"pending,available,consumed,expired"`
	RefundedAt *httpapi.Time `json:"refunded_at" nullable:"true"`
	Payload    *string       `json:"qr_payload" nullable:"true" doc:"What the code says; null of a ticket that opens no door"`
	DataURI    *string       `json:"qr_data_uri" nullable:"true" doc:"PNG"`
}

// saleOf reads a sale of an event, of any event where that is "": 404 for an order that is none.
func (s *Checkout) saleOf(ctx context.Context, event, id objectid.ID) (*httpapi.Output[saleDetail], error) {
	o, err := s.db.OrderGet(ctx, s.deps.Pool, id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("read order: %w", err)
	}
	if err != nil || !o.OfBoxOffice() || event != "" && o.EventID != event {
		return nil, fault.NotFound("Sale")
	}
	e, err := s.db.EventGet(ctx, s.deps.Pool, o.EventID)
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	rows, err := s.db.TicketListOfOrder(ctx, s.deps.Pool, &o.ID)
	if err != nil {
		return nil, fmt.Errorf("read tickets: %w", err)
	}
	buyer, err := s.db.CustomerGet(ctx, s.deps.Pool, o.CustomerID)
	if err != nil {
		return nil, fmt.Errorf("read buyer: %w", err)
	}
	refunded, err := s.deps.Orders.RefundedOf(ctx, s.deps.Pool, o)
	if err != nil {
		return nil, err
	}
	d := saleDetail{
		Sale: saleBody{
			ID: o.ID, Quantity: o.Quantity,
			UnitPrice: events.Reais(o.UnitPriceCents), Total: events.Reais(o.TotalCents),
			Refunded: events.Reais(refunded[o.ID]), Method: nullable.Value(o.PaymentMethod), Status: o.State,
			SoldBy: nullable.Value(o.SoldBy), Note: o.Note, CreatedAt: httpapi.Time(o.CreatedAt),
			Buyer: buyerBody{FullName: buyer.Name, Email: buyer.Email, Phone: o.BuyerPhone},
		},
		Event: saleEvent{
			ID: e.ID, Title: e.Title, EventDate: httpapi.Time(e.EventDate), Location: e.Location,
		},
		Tickets: make([]saleTicket, len(rows)),
	}
	for i, t := range rows {
		d.Tickets[i] = saleTicket{ID: t.ID, Status: t.Status, RefundedAt: httpapi.TimePtr(t.RefundedAt)}
		if t.Status != state.Available || t.RefundID != nil || e.CancelledAt != nil {
			continue
		}
		d.Sale.TicketsGood++
		if err := s.drawCode(&d.Tickets[i], e.ID); err != nil {
			return nil, err
		}
	}
	return httpapi.OK(d)
}

type salesInput struct {
	ID   string `path:"id" doc:"The event's _id"`
	Day  string `query:"day" doc:"YYYY-MM-DD, in REPORT_TZ: the sales of that day alone"`
	Skip int32  `query:"skip" default:"0" minimum:"0" maximum:"1000000"`
	Qty  int32  `query:"qty" default:"20" minimum:"1" maximum:"200"`
}

type salesBody struct {
	Sales []saleBody `json:"sales"`
	More  bool       `json:"more" doc:"There are older ones"`
}

// ListSales answers GET /events/{id}/box-office-sales, newest first.
func (h Handlers) ListSales(ctx context.Context, in *salesInput) (*httpapi.Output[salesBody], error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "id")
	}
	p := ticketsdb.OrderListOfBoxOfficeParams{EventID: id, Skip: in.Skip, Qty: in.Qty + 1}
	if in.Day != "" {
		day, err := time.ParseInLocation(time.DateOnly, in.Day, h.s.deps.Config.Zone)
		if err != nil {
			return nil, fault.InvalidAt("has to be a day such as 2026-03-15", "query", "day")
		}
		next := day.AddDate(0, 0, 1)
		p.Since, p.Until = &day, &next
	}
	return h.s.listSales(ctx, p)
}

func (s *Checkout) listSales(ctx context.Context,
	p ticketsdb.OrderListOfBoxOfficeParams,
) (*httpapi.Output[salesBody], error) {
	if _, err := s.db.EventGet(ctx, s.deps.Pool, p.EventID); postgres.IsNoRows(err) {
		return nil, fault.NotFound("Event")
	} else if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	rows, err := s.db.OrderListOfBoxOffice(ctx, s.deps.Pool, p)
	if err != nil {
		return nil, fmt.Errorf("list sales: %w", err)
	}
	body := salesBody{Sales: []saleBody{}, More: len(rows) == int(p.Qty)}
	if body.More {
		rows = rows[:p.Qty-1]
	}
	sold := make([]orders.Order, len(rows))
	for i, r := range rows {
		sold[i] = orders.Order{ID: r.ID, SoldByID: r.SoldByID}
	}
	refunded, err := s.deps.Orders.RefundedOf(ctx, s.deps.Pool, sold...)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		body.Sales = append(body.Sales, saleBody{
			ID: r.ID, Quantity: r.Quantity,
			UnitPrice: events.Reais(r.UnitPriceCents), Total: events.Reais(r.TotalCents),
			Refunded: events.Reais(refunded[r.ID]), Method: nullable.Value(r.PaymentMethod), Status: r.State,
			TicketsGood: r.TicketsGood, SoldBy: nullable.Value(r.SoldBy), Note: r.Note,
			CreatedAt: httpapi.Time(r.CreatedAt),
			Buyer:     buyerBody{FullName: r.Name, Email: r.Email, Phone: r.BuyerPhone},
		})
	}
	return httpapi.OK(body)
}

// drawCode adds the code of a ticket that is good.
func (s *Checkout) drawCode(t *saleTicket, event objectid.ID) error {
	code := s.deps.Door.CodeOf(t.ID, event)
	image, err := door.QRDataURI(code.Picture())
	if err != nil {
		return fmt.Errorf("draw code: %w", err)
	}
	t.Payload, t.DataURI = new(code.Text()), &image
	return nil
}
