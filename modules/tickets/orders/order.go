package orders

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Order is what a customer bought of one event, or holds places for until it is paid. Its rules are its own; the
// statements that read and write it are those of Queries and Store.
type Order ticketsdb.Order

// Words of payment_status that are set here, whatever the gateway's own
// (gateway.PaymentWords).
const (
	StatusConfirmed = "CONFIRMED" // gateway A's, and of free orders
	StatusPending   = "PENDING"   // gateway A's, of its card route
	StatusOverdue   = "OVERDUE"   // gateway A's, of a code that can still be paid
	StatusRefunded  = "REFUNDED"  // of an order that is called off
	// statusChargebackLost is no gateway's: a dispute took the order's money.
	statusChargebackLost = "CHARGEBACK_LOST"
)

// OpenStatus is the gateway's word for a payment that is awaited: at gateway B a
// card's is under way there, a PIX waits for the payer.
func OpenStatus(gw gateway.Name, method gateway.Method) string {
	if method == gateway.MethodCard {
		return gw.Traits().Words.AwaitedCard
	}
	return gw.Traits().Words.Awaited
}

// words are those of the order's gateway, or of what is free.
func (o Order) words() gateway.PaymentWords {
	if o.Gateway == nil {
		return gateway.FreeWords()
	}
	return o.Gateway.Traits().Words
}

// OrderBody is a ticket order (docs/contract/tickets.md, The store); money in reais.
type OrderBody struct {
	ID               objectid.ID     `json:"_id"`
	CustomerID       objectid.ID     `json:"customer_id"`
	EventID          objectid.ID     `json:"event_id"`
	Quantity         int32           `json:"quantity"`
	UnitPrice        events.Reais    `json:"unit_price"`
	Total            events.Reais    `json:"total"`
	Refunded         events.Reais    `json:"refunded" doc:"What of it was given back"`
	Gateway          *gateway.Name   `json:"gateway" nullable:"true" doc:"gwa, gwb; null for a free event and of the box office"`
	PaymentMethod    *gateway.Method `json:"payment_method" nullable:"true" doc:"credit_card, pix; of the box office cash, card_machine, courtesy; null for a free event"`
	GatewayPaymentID *string         `json:"gateway_payment_id" nullable:"true"`
	PaymentStatus    string          `json:"payment_status" doc:"The gateway's own word"`
	Status           string          `json:"status" enum:"pending"`
	TicketIDs        []objectid.ID   `json:"ticket_ids"`
	CreatedAt        httpapi.Time    `json:"created_at"`
	UpdatedAt        httpapi.Time    `json:"updated_at"`
	WithoutLogin     bool            `json:"without_login,omitempty"`
}

// Body shows an order with its tickets.
func (o Order) Body(tickets []objectid.ID, refunded money.Cents) OrderBody {
	return OrderBody{
		ID: o.ID, CustomerID: o.CustomerID, EventID: o.EventID, Quantity: o.Quantity,
		UnitPrice: events.Reais(o.UnitPriceCents), Total: events.Reais(o.TotalCents), Refunded: events.Reais(refunded),
		Gateway: o.Gateway, PaymentMethod: o.PaymentMethod, GatewayPaymentID: o.GatewayPaymentID,
		PaymentStatus: o.PaymentStatus, Status: "pending",
		TicketIDs: append([]objectid.ID{}, tickets...), CreatedAt: httpapi.Time(o.CreatedAt),
		UpdatedAt: httpapi.Time(o.UpdatedAt), WithoutLogin: o.WithoutLogin,
	}
}

// OrderPixBody is a code that can be paid.
type OrderPixBody struct {
	Payload        string        `json:"payload" doc:"Copy-and-paste text"`
	EncodedImage   string        `json:"encoded_image" doc:"PNG in base64"`
	ExpirationDate *httpapi.Time `json:"expiration_date" nullable:"true" doc:"Until then the places are held"`
}

// PixBody shows an order's code.
func (o Order) PixBody(c gateway.PixCharge) *OrderPixBody {
	return &OrderPixBody{Payload: c.Payload, EncodedImage: c.EncodedImage, ExpirationDate: httpapi.TimePtr(o.HoldUntil)}
}

// TicketIDsOf are the tickets of orders, by order.
func (s *Store) TicketIDsOf(ctx context.Context, db postgres.DB,
	orders ...objectid.ID,
) (map[objectid.ID][]objectid.ID, error) {
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

// RefundedOf is what was given back of the orders' own payments, by order.
func (s *Store) RefundedOf(ctx context.Context, db postgres.DB, orders ...Order) (map[objectid.ID]money.Cents, error) {
	ids, names := make([]objectid.ID, len(orders)), map[objectid.ID]string{}
	for i, o := range orders {
		ids[i], names[o.ID] = o.ID, nullable.Value(o.GatewayPaymentID)
		if o.OfBoxOffice() {
			names[o.ID] = o.ID.String()
		}
	}
	all, err := s.deps.Payments.RefundedPayments(ctx, db, gateway.ForOrder, ids)
	refunded := map[objectid.ID]money.Cents{}
	for _, r := range all {
		if r.PaymentID == names[r.LocalID] {
			refunded[r.LocalID] = r.Amount
		}
	}
	return refunded, err
}

// Payable reports whether an order's places are held and its code can be paid.
func (o Order) Payable(now time.Time) bool {
	return o.State == state.Reserved && o.PixPayload != nil && o.HoldUntil != nil && o.HoldUntil.After(now)
}

// CardTerms are the terms of an order that is paid by card.
func (o Order) CardTerms(payer gateway.Payer, description string, instrument gateway.Instrument) gateway.CardTerms {
	return gateway.CardTerms{
		Reference: o.ID, Kind: gateway.KindTicketOrder, Payer: payer, Amount: money.Cents(o.TotalCents),
		Description: description, Instrument: instrument,
	}
}

// Owner is the order as that of its money.
func (o Order) Owner() gateway.Owner {
	return gateway.Owner{
		Gateway: nullable.Value(o.Gateway), Purpose: gateway.ForOrder, LocalID: o.ID, CustomerID: o.CustomerID,
	}
}

// WithdrawalUntil is until when a paid order may be given back, and by which right: of a
// distance purchase until the end of the day, in REPORT_TZ, that lies WithdrawalDays after
// that of its payment, and WithdrawalBefore the event at the latest; whatever these limits,
// until refund_until of an event that was moved or called off; a free order until its event
// begins. Nil where there is no such right, as of the box office, which is no distance purchase: it hands back itself.
func (s *Store) WithdrawalUntil(e events.Event, o Order) (*time.Time, state.GivenBack) {
	now := s.deps.Clock.Now()
	switch {
	case o.OfBoxOffice():
		return nil, state.Withdrawn
	case e.CancelledAt != nil && nullable.Value(e.CancelRefund) == events.RefundAll:
		return new(now.Add(time.Hour)), state.EventCancelled // without an end
	case e.CancelledAt != nil:
		return e.RefundUntil, state.EventCancelled
	case o.TotalCents == 0:
		return &e.EventDate, state.Withdrawn
	}
	var until *time.Time
	if s.deps.Config.WithdrawalDays > 0 && o.PaidAt != nil {
		day := o.PaidAt.In(s.deps.Config.Zone)
		end := time.Date(day.Year(), day.Month(), day.Day()+s.deps.Config.WithdrawalDays+1, 0, 0, 0, 0,
			s.deps.Config.Zone)
		if before := e.EventDate.Add(-s.deps.Config.WithdrawalBefore); before.Before(end) {
			end = before
		}
		until = &end
	}
	if e.RefundUntil != nil && (until == nil || e.RefundUntil.After(*until)) {
		return e.RefundUntil, state.EventMoved
	}
	return until, state.Withdrawn
}

// closeIntent notes that the gateway's answer stands in the row.
func (o *Order) closeIntent() { o.IntentOpen = false }

// SetPix keeps the code of a charge.
func (o *Order) SetPix(c *gateway.PixCharge) {
	if c.Payload != "" {
		o.PixPayload, o.PixImage = &c.Payload, &c.EncodedImage
	}
	if c.ExpiresAt != nil && o.HoldUntil != nil && c.ExpiresAt.Before(*o.HoldUntil) {
		o.HoldUntil = c.ExpiresAt
	}
}

// columns are those that changes of an order write.
var columns = postgres.Columns[Order]{
	{"state", func(o *Order) any { return o.State }},
	{"moves", func(o *Order) any { return o.Moves }},
	{"payment_status", func(o *Order) any { return o.PaymentStatus }},
	{"gateway_payment_id", func(o *Order) any { return o.GatewayPaymentID }},
	{"pix_payload", func(o *Order) any { return o.PixPayload }},
	{"pix_image", func(o *Order) any { return o.PixImage }},
	{"hold_until", func(o *Order) any { return o.HoldUntil }},
	{"paid_at", func(o *Order) any { return o.PaidAt }},
	{"disputed_at", func(o *Order) any { return o.DisputedAt }},
	{"intent_open", func(o *Order) any { return o.IntentOpen }},
	{"tax_id_mac", func(o *Order) any { return o.TaxIDMac }},
	{"email_mac", func(o *Order) any { return o.EmailMac }},
	{"address_mac", func(o *Order) any { return o.AddressMac }},
}

// errMoved says that somebody else moved the order since it was read.
var errMoved = errors.New("order was moved by somebody else")

// MoveTx moves a locked order by the action, and is the only way in which its state changes: compare-and-set and
// history are one statement. An action that the state does not permit is an error, and a programming one; errMoved, of
// the next statement, when the order, which was not locked then, has another state by now.
func (s *Store) MoveTx(ctx context.Context, tx pgx.Tx, o *Order, by state.Action, edit func(*Order), end ...End) error {
	to, ok := state.Orders.Next(o.State, by)
	if !ok {
		return fmt.Errorf("order %s is %s, which holds against %s", o.ID, o.State, by)
	}
	after := *o
	after.State, after.Moves = to, o.Moves+1
	edit(&after)
	// Who holds the places is forgotten with the places, from which address with the payment.
	after.AddressMac = nil
	if to != state.Paid {
		after.TaxIDMac, after.EmailMac = nil, nil
	}
	return s.saveTx(ctx, tx, o, after, named{string(by), state.WrittenBy(by), state.Orders.ReasonOf(by)}, end)
}

// EditTx changes fields of a locked order and leaves its state alone: errMoved when that is another by now.
func (s *Store) EditTx(ctx context.Context, tx pgx.Tx, o *Order, as state.Edit, edit func(*Order), end ...End) error {
	after := *o
	edit(&after)
	return s.saveTx(ctx, tx, o, after, named{string(as), state.EditedBy(as), ""}, end)
}

// named is an action or an edit, the columns that it may write, and of an action why the history says that it moves.
type named struct {
	name    string
	columns state.Columns
	reason  string
}

// An edit of a row, and a move with its history.
const (
	editOrder = "UPDATE tickets.orders SET updated_at = $3%s WHERE id = $1 AND state = $2"
	moveOrder = "WITH moved AS (" + editOrder + " RETURNING id, updated_at, state)\n" +
		"INSERT INTO tickets.order_transitions (order_id, at, from_state, to_state, reason) SELECT id, updated_at, $2, state, $4 FROM moved"
)

// saveTx writes the columns in which a locked order differs from what was read, if its state
// is still that one. What differs is written in any case; a column that the change does not
// name is a mistake of ours, and logged as one. Where it now holds the outcome of the order's
// call, its intent ends: as done by the answer, unless the caller knows better. errMoved, of the next statement
// (postgres.ChangeLater), when the state is another.
func (s *Store) saveTx(ctx context.Context, tx pgx.Tx, o *Order, after Order, as named, end []End) error {
	before := *o
	after.UpdatedAt = s.deps.Clock.Now()
	differ := columns.Differing(&before, &after)
	if more := differ.Outside(as.columns); more != nil {
		s.deps.Log.ErrorContext(ctx, "a change of an order writes columns that it does not name",
			slog.String("order_id", o.ID.String()), slog.String("change", as.name), slog.Any("columns", more))
	}
	update, args := editOrder, []any{o.ID, before.State, after.UpdatedAt}
	if as.reason != "" {
		update, args = moveOrder, append(args, as.reason)
	}
	moved := fmt.Errorf("order %s is no longer %s: %w", o.ID, before.State, errMoved)
	if err := differ.UpdateLater(ctx, tx, moved, update, &after, args...); err != nil {
		return fmt.Errorf("write order: %w", err)
	}
	*o = after
	if !before.IntentOpen || after.IntentOpen {
		return nil
	}
	e := End{How: Succeeded{}, By: intent.ByResponse}
	if len(end) > 0 {
		e = end[0]
	}
	if err := s.countDeclineTx(ctx, tx, *o, e); err != nil {
		return err
	}
	return s.intents.EndTx(ctx, tx, IntentOf(o.ID), e.How, e.By)
}

// countDeclineTx has a card that was declined, or not accepted, count against who tried it, and no other any more:
// until its answer is known each payment under way counts. With the transaction's next statement.
func (s *Store) countDeclineTx(ctx context.Context, tx pgx.Tx, o Order, end End) (err error) {
	if nullable.Value(o.PaymentMethod) != gateway.MethodCard {
		return nil
	}
	if end.isDecline() {
		err = s.db.DeclineKeep(ctx, postgres.Later(tx), o.ID.String())
	} else {
		err = s.db.DeclineDrop(ctx, postgres.Later(tx), o.ID.String())
	}
	if err != nil {
		return fmt.Errorf("count decline: %w", err)
	}
	return nil
}

// PaidTx does what follows from an order being paid: a guest gets the tickets by
// mail.
func (s *Store) PaidTx(ctx context.Context, tx pgx.Tx, o Order) error {
	if o.State != state.Paid || !o.WithoutLogin {
		return nil
	}
	return s.MailLaterTx(ctx, tx, o.ID, MailConfirmation)
}

// seatTx makes an order's tickets good, and takes places again for those that
// have lost them, as long as there are any. Seated is false, and nothing is
// changed, when there are too few, the event is over or called off.
func (s settling) seatTx(ctx context.Context, tx pgx.Tx, o Order) (seated bool, err error) {
	e, tickets, err := s.lockPlacesTx(ctx, tx, o)
	if err != nil {
		return false, err
	}
	now := s.deps.Clock.Now()
	if !e.EndsAt.After(now) || e.CancelledAt != nil {
		return false, nil
	}
	places := 0
	for _, t := range tickets {
		if t.HoldsPlace {
			places++
		}
	}
	missing := int(o.Quantity) - places
	if e.Capacity != nil && missing > 0 && int(e.TicketsIssued)+missing > int(*e.Capacity) {
		return false, nil
	}
	by := state.TicketPaid
	if o.State == state.Released {
		by = state.TicketPaidLate
	}
	reason := state.Tickets.ReasonOf(by)
	from, to := state.Tickets.Of(by)
	if _, err = s.db.TicketSeatOfOrder(ctx, postgres.Later(tx), ticketsdb.TicketSeatOfOrderParams{
		OrderID: &o.ID, Reason: reason, Now: now, FromStates: from, ToStates: to,
	}); err != nil {
		return false, fmt.Errorf("seat tickets: %w", err)
	}
	if more := int(o.Quantity) - len(tickets); more > 0 {
		err = s.db.TicketSeatMore(ctx, tx, ticketsdb.TicketSeatMoreParams{OrderID: o.ID, Reason: reason, Now: now, Quantity: int32(more)}) //nolint:gosec // at most MaxQuantity
		if err != nil {
			return false, fmt.Errorf("seat tickets anew: %w", err)
		}
	}
	return true, nil
}

// whyNotSeatedTx says why money gave no tickets. What is paid for a called off event counts
// among the orders whose money goes back.
func (s *Store) whyNotSeatedTx(ctx context.Context, tx pgx.Tx, o Order) (string, error) {
	e, err := s.db.EventGet(ctx, tx, o.EventID)
	if err != nil {
		return "", fmt.Errorf("read event: %w", err)
	}
	if e.CancelledAt == nil {
		return "Paid when no place was left for the order.", nil
	}
	now := s.deps.Clock.Now()
	err = s.db.GiveBackOpen(ctx, tx, ticketsdb.GiveBackOpenParams{
		EventID: e.ID, OrderID: new(o.ID.String()), AskedAt: &now, Now: now,
	})
	if err != nil {
		return "", fmt.Errorf("list order to give back: %w", err)
	}
	return "Paid when the event was called off.", nil
}

// ReleaseTx frees the places of an unpaid order. A purchase that never came
// about leaves no tickets; of one that nobody paid they expire. A buyer who was
// answered that the outcome is not known is mailed that nothing is owed: when a
// check ends the purchase, or the gateway's event does before the check that
// withdrew its code has written so. By is the action that gave it up.
func (s *Store) ReleaseTx(ctx context.Context, tx pgx.Tx, o *Order, by state.Action, made Made, end End) error {
	if o.State != state.Reserved {
		return s.EditTx(ctx, tx, o, state.Closed, (*Order).closeIntent, end)
	}
	if _, err := s.deps.Events.LockTx(ctx, tx, o.EventID); err != nil {
		return fmt.Errorf("lock event: %w", err)
	}
	var err error
	if !made.Expired {
		err = s.db.TicketDropOfOrder(ctx, tx, &o.ID)
	} else {
		err = s.db.TicketExpireOfOrder(ctx, tx, o.ID, state.TicketNotPaid, s.deps.Clock.Now())
	}
	if err != nil {
		return fmt.Errorf("release places: %w", err)
	}
	neverSeen := made.Expired && o.IntentOpen && o.PixPayload == nil
	if end.By == intent.ByCheck || end.By == intent.ByWebhook && neverSeen {
		if err := s.MailLaterTx(ctx, tx, o.ID, MailNotOwed); err != nil {
			return err
		}
	}
	return s.MoveTx(ctx, tx, o, by, func(o *Order) {
		o.PaymentStatus = o.words().Lost
		o.PixPayload, o.PixImage = nil, nil
		if o.GatewayPaymentID == nil && made.Pix != nil {
			o.GatewayPaymentID = &made.Pix.Payment.ID
		}
		o.closeIntent()
	}, end)
}
