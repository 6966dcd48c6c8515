package refunds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

type refundOrderInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body struct {
		TicketIDs       []objectid.ID `json:"ticket_ids" required:"false" minItems:"1" maxItems:"1000" doc:"Tickets of the order; without it all whose share is not given back"`
		Reason          string        `json:"reason" minLength:"5" maxLength:"500"`
		IncludeConsumed bool          `json:"include_consumed" required:"false" doc:"Used tickets, too; they stay used"`
	}
}

type cancelOrderInput struct {
	ID   string `path:"id" doc:"24 hexadecimal digits"`
	Body struct {
		Reason          string `json:"reason" minLength:"5" maxLength:"500"`
		IncludeConsumed bool   `json:"include_consumed" required:"false" doc:"Also when tickets were used; they stay used"`
	}
}

// orderRefundBody answers both routes.
type orderRefundBody struct {
	Message         string           `json:"message"`
	Order           orders.OrderBody `json:"order"`
	RefundID        *objectid.ID     `json:"refund_id" nullable:"true" doc:"Null when no money had to be given back"`
	RefundAmount    events.Reais     `json:"refund_amount" doc:"Reais"`
	TicketIDs       []objectid.ID    `json:"ticket_ids" doc:"The tickets whose share it gives back"`
	GatewayResponse json.RawMessage  `json:"gateway_response"`
}

// RefundOrder answers POST /admin/ticket-orders/{id}/refund.
func (h Handlers) RefundOrder(ctx context.Context, in *refundOrderInput) (*httpapi.Output[orderRefundBody], error) {
	q, err := ticketRefund(ctx, in.ID, in.Body.Reason, in.Body.IncludeConsumed)
	if err != nil {
		return nil, err
	}
	if q.TicketIDs, err = idsOf(in.Body.TicketIDs); err != nil {
		return nil, err
	}
	out, err := h.s.RefundTickets(ctx, q)
	if err != nil {
		return nil, err
	}
	return h.s.refundEnvelope(ctx, q.OrderID, &out)
}

// CancelOrderNow answers POST /admin/ticket-orders/{id}/cancel.
func (h Handlers) CancelOrderNow(ctx context.Context, in *cancelOrderInput) (*httpapi.Output[orderRefundBody], error) {
	q, err := ticketRefund(ctx, in.ID, in.Body.Reason, in.Body.IncludeConsumed)
	if err != nil {
		return nil, err
	}
	out, err := h.s.CancelOrder(ctx, q)
	if err != nil {
		return nil, err
	}
	return h.s.refundEnvelope(ctx, q.OrderID, out)
}

func ticketRefund(ctx context.Context, path, reason string, consumed bool) (TicketRefund, error) {
	id, err := objectid.Parse(path)
	if err != nil {
		return TicketRefund{}, fault.InvalidAt(err.Error(), "path", "id")
	}
	if reason = strings.TrimSpace(reason); len([]rune(reason)) < 5 {
		return TicketRefund{}, fault.InvalidAt("has to have at least 5 characters", "body", "reason")
	}
	caller := httpapi.CallerOf(ctx)
	return TicketRefund{OrderID: id, Consumed: consumed, Reason: reason, Admin: caller.Username, AdminID: &caller.ID},
		nil
}

// ReplayOrderRefund tells what became of the refund of a request that was cut off
// (httpapi.Idempotent).
func (h Handlers) ReplayOrderRefund(ctx context.Context, id objectid.ID) (*httpapi.Output[orderRefundBody], error) {
	out, err := h.s.deps.Payments.RefundByID(ctx, id)
	if err != nil {
		return nil, err
	}
	switch out.Refund.Status {
	case gateway.RefundStatusRequested:
		return nil, idempotency.InProgress()
	case gateway.RefundStatusFailed:
		return nil, httpapi.ErrWithoutEffect
	}
	return h.s.refundEnvelope(ctx, out.Refund.LocalID, &out)
}

func (s *Refunds) refundEnvelope(ctx context.Context, id objectid.ID,
	out *payments.RefundOutcome,
) (*httpapi.Output[orderRefundBody], error) {
	ctx = context.WithoutCancel(ctx)
	o, err := s.db.OrderGet(ctx, s.deps.Pool, id)
	if err != nil {
		return nil, fmt.Errorf("read order: %w", err)
	}
	tickets, err := s.db.TicketListOfOrder(ctx, s.deps.Pool, &o.ID)
	if err != nil {
		return nil, fmt.Errorf("read tickets: %w", err)
	}
	refunded, err := s.deps.Orders.RefundedOf(ctx, s.deps.Pool, o)
	if err != nil {
		return nil, err
	}
	body := orderRefundBody{
		Message: "The order is void; there was nothing to refund.", TicketIDs: []objectid.ID{},
		GatewayResponse: json.RawMessage("null"),
	}
	var all []objectid.ID
	for _, t := range tickets {
		all = append(all, t.ID)
		if out != nil && t.RefundID != nil && *t.RefundID == out.Refund.ID {
			body.TicketIDs = append(body.TicketIDs, t.ID)
		}
	}
	body.Order = o.Body(all, refunded[o.ID])
	if out == nil {
		return httpapi.OK(body)
	}
	body.Message = "The refund was made."
	if out.Refund.Status != gateway.RefundStatusDone {
		body.Message = "The refund is under way at the gateway."
	}
	body.RefundID, body.RefundAmount = &out.Refund.ID, events.Reais(out.Refund.Amount)
	if len(out.Response) > 0 {
		body.GatewayResponse = out.Response
	}
	return httpapi.OK(body)
}

// TicketRefund is what somebody wants to be given back of a paid order: the unit price of
// each of the tickets.
type TicketRefund struct {
	OrderID   objectid.ID
	TicketIDs []objectid.ID // nil stands for all whose share is not given back yet
	Consumed  bool          // used ones, too
	Reason    string
	Admin     string       // name shown in the history; "" for the customer or the platform
	AdminID   *objectid.ID // nil for them
	// why, when not "", has all that is left of the payment go back, whatever tickets are left
	why state.GivenBack
}

// RefundTickets gives the shares of tickets back, and no more than what is left of the
// order's payment. From the request on the tickets are blocked; they expire, and their
// places are free, when the refund is known to be done, and are good again when it failed,
// whoever learns of it: the answer, a webhook, a check. Used ones stay used. Errors: 404
// for an unknown order, and for a ticket of another one; 422 REFUND_NOT_ALLOWED when the
// order or a ticket has nothing to give back, and under a dispute; 409 when a ticket changed
// meanwhile, and while another refund of the payment is not answered; those of
// payments.RefundFault, whose causes stay in them.
func (s *Refunds) RefundTickets(ctx context.Context, q TicketRefund) (payments.RefundOutcome, error) {
	out, err := s.refundTickets(ctx, q)
	if errors.Is(err, payments.ErrRefundTooMuch) { // the gateway had given back what was not known here; it is now
		out, err = s.refundTickets(ctx, q)
	}
	if err == nil {
		return out, nil
	}
	if !errors.Is(err, gateway.ErrOutcomeUnknown) { // of a refund that was not made nothing is to be waited for
		err = errors.Join(err, s.deps.Orders.SyncRefunds(context.WithoutCancel(ctx), q.OrderID, q.Admin))
	}
	return out, s.deps.Payments.RefundFault(ctx, err)
}

func (s *Refunds) refundTickets(ctx context.Context, q TicketRefund) (payments.RefundOutcome, error) {
	o, err := s.db.OrderGet(ctx, s.deps.Pool, q.OrderID)
	if errors.Is(err, pgx.ErrNoRows) {
		return payments.RefundOutcome{}, fault.NotFound("Order")
	}
	if err != nil {
		return payments.RefundOutcome{}, fmt.Errorf("read order: %w", err)
	}
	if err := refundable(o); err != nil {
		return payments.RefundOutcome{}, err
	}
	if err := s.noneUnanswered(ctx, o); err != nil {
		return payments.RefundOutcome{}, err
	}
	tickets, err := s.db.TicketListOfOrder(ctx, s.deps.Pool, &o.ID)
	if err != nil {
		return payments.RefundOutcome{}, fmt.Errorf("read tickets: %w", err)
	}
	chosen, err := q.choose(tickets)
	if err != nil {
		return payments.RefundOutcome{}, err
	}
	paid, left, err := s.orderPayment(ctx, s.deps.Pool, o)
	if err != nil {
		return payments.RefundOutcome{}, err
	}
	amount := min(money.Cents(o.UnitPriceCents)*money.Cents(len(chosen)), left)
	if q.why != "" {
		amount = left
	}
	if amount <= 0 {
		return payments.RefundOutcome{}, errFullyRefunded("Nothing of the order's payment is left to refund.")
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.intents.CallTime())
	defer cancel()
	return s.deps.Payments.RefundPayment(call, payments.RefundRequest{
		Payment: paid, Amount: amount, Reason: q.Reason, Admin: q.Admin, AdminID: q.AdminID,
		Requested: func(ctx context.Context, tx pgx.Tx, r payments.Refund) error {
			return s.assignTicketsTx(ctx, tx, q, chosen, r)
		},
	}, func(ctx context.Context, tx pgx.Tx, _ payments.Refund) error {
		o, err := s.db.OrderLock(ctx, tx, o.ID)
		if err != nil {
			return err
		}
		return s.deps.Orders.ReturnedTx(ctx, tx, &o, "")
	})
}

// noneUnanswered is the error of RefundOpen while a refund of the order's own payment is
// asked for and not answered: until it is, nobody knows what is left of the order.
func (s *Refunds) noneUnanswered(ctx context.Context, o orders.Order) error {
	m, err := s.deps.Orders.MoneyTx(ctx, s.deps.Pool, o.ID)
	if err != nil {
		return err
	}
	for _, p := range m.Paid {
		if p.Payment.ID != nullable.Value(o.GatewayPaymentID) {
			continue
		}
		for _, r := range m.Refunds {
			if orders.IsOf(r, p.Payment) && r.ByAdmin && r.Status == gateway.RefundStatusRequested {
				return s.deps.Payments.RefundOpen(ctx, s.deps.Pool, r)
			}
		}
	}
	return nil
}

// refundable is 422 when no share of the order can be given back.
func refundable(o orders.Order) error {
	switch {
	case o.OfBoxOffice():
		return errSoldAtBoxOffice(o)
	case o.State == state.Paid && o.TotalCents > 0 && o.GatewayPaymentID != nil:
		return nil
	case o.State == state.Paid:
		return errFullyRefunded("The order was free: there is nothing to refund.")
	case o.State == state.RefundDue:
		return errFullyRefunded("The order had no place, and is refunded already.")
	case o.State == state.Lost:
		return errFullyRefunded("The bank has given the order's money back: nothing is left to refund.")
	}
	return errFullyRefunded("The order is " + string(o.State) + ": nothing of it can be refunded.")
}

func errFullyRefunded(message string) error {
	return &fault.Error{Kind: fault.KindInvalid, Code: fault.CodeRefundNotAllowed, Message: message}
}

// choose gives the tickets that are meant.
func (q TicketRefund) choose(tickets []events.Ticket) ([]objectid.ID, error) {
	if q.TicketIDs != nil {
		return q.chooseNamed(tickets)
	}
	var chosen []objectid.ID
	used := 0
	for _, t := range tickets {
		switch {
		case t.RefundID != nil:
		case t.Status == state.Consumed && !q.Consumed:
			used++
		default:
			chosen = append(chosen, t.ID)
		}
	}
	switch {
	case len(chosen) > 0, q.why != "" && used == 0:
		return chosen, nil
	case used > 0:
		return nil, errFullyRefunded("What is left of the order was used: include_consumed refunds it anyway.")
	}
	return nil, errFullyRefunded("No ticket of the order is left to refund.")
}

func (q TicketRefund) chooseNamed(tickets []events.Ticket) ([]objectid.ID, error) {
	var chosen []objectid.ID
	for _, id := range q.TicketIDs {
		i := slices.IndexFunc(tickets, func(t events.Ticket) bool { return t.ID == id })
		switch {
		case i < 0:
			return nil, fault.NotFound("Ticket").WithField("ticket_ids")
		case slices.Contains(chosen, id):
			continue
		case tickets[i].RefundID != nil:
			return nil, errFullyRefunded("Ticket " + id.String() + " is refunded already.")
		case tickets[i].Status == state.Consumed && !q.Consumed:
			return nil, errFullyRefunded("Ticket " + id.String() + " was used: include_consumed refunds it anyway.")
		}
		chosen = append(chosen, id)
	}
	if len(chosen) == 0 {
		return nil, errFullyRefunded("No ticket is named.")
	}
	return chosen, nil
}

// orderPayment is the order's own payment and what of it is neither back nor on its way.
func (s *Refunds) orderPayment(ctx context.Context, db postgres.DB,
	o orders.Order,
) (gateway.LedgerPayment, money.Cents, error) {
	paid, err := s.deps.Payments.FindPayment(ctx, db, nullable.Value(o.Gateway), nullable.Value(o.GatewayPaymentID))
	if err != nil {
		return gateway.LedgerPayment{}, 0, fmt.Errorf("read payment: %w", err)
	}
	if paid == nil {
		return gateway.LedgerPayment{}, 0, errFullyRefunded("The order's payment is not settled.")
	}
	refunds, err := s.deps.Payments.RefundsOf(ctx, db, gateway.ForOrder, o.ID)
	if err != nil {
		return gateway.LedgerPayment{}, 0, fmt.Errorf("read refunds: %w", err)
	}
	left, _ := orders.Money{Refunds: refunds}.Left(paid.Payment)
	return *paid, left, nil
}

// assignTicketsTx gives tickets to the refund that is being committed. The refunds of the
// payment are locked.
func (s *Refunds) assignTicketsTx(ctx context.Context, tx pgx.Tx, q TicketRefund, chosen []objectid.ID,
	r payments.Refund,
) error {
	o, err := s.db.OrderLock(ctx, tx, q.OrderID)
	if err != nil {
		return fmt.Errorf("lock order: %w", err)
	}
	if err := refundable(o); err != nil {
		return err
	}
	if _, err := s.deps.Events.LockTx(ctx, tx, o.EventID); err != nil {
		return fmt.Errorf("lock event: %w", err)
	}
	taken, err := s.db.TicketRequestRefund(ctx, tx, ticketsdb.TicketRequestRefundParams{
		RefundID: r.ID.String(), Now: r.RequestedAt, Ids: objectid.Strings(chosen), OrderID: &o.ID,
		WithConsumed: q.Consumed,
	})
	if err != nil {
		return fmt.Errorf("take tickets: %w", err)
	}
	if len(taken) != len(chosen) {
		return fault.Conflict("A ticket was used or refunded meanwhile. Look at the order and ask again.")
	}
	if q.why == "" {
		return nil
	}
	return s.deps.Orders.RequestGiveBackTx(ctx, tx, o, q.why, r)
}

// RefundShares does so. What people or a dispute have decided meanwhile stays.
func (s *Refunds) RefundShares(ctx context.Context, a orders.SharesArgs) error {
	if stopped, err := s.deps.Payments.Comparison().RefundsStopped(ctx, s.deps.Pool); err != nil || stopped {
		return errors.Join(err, errStopped)
	}
	_, err := s.RefundTickets(ctx, TicketRefund{
		OrderID: a.OrderID, TicketIDs: a.TicketIDs, Consumed: true, Reason: "The refund before failed at the gateway.",
	})
	if fault.Is(err, fault.KindInvalid) || errors.Is(err, gateway.ErrOutcomeUnknown) {
		return nil // nothing is left, or the checks ask what became of it
	}
	return err
}
