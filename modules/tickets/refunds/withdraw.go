package refunds

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/state"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// withdrawal is what became of an order that its buyer gave back.
type withdrawal struct {
	amount     money.Cents // given back by it, or on its way
	refundedAt *time.Time  // nil until all of it is given back, and where nothing was paid
	status     string
}

// What a withdrawal leaves.
const (
	withdrawalCancelled = "cancelled" // nothing was paid: the places are free
	withdrawalRefunding = "refunding"
	withdrawalRefunded  = "refunded"
)

// withdraw gives an order back for its buyer: the tickets are void and the places free at
// once, and all that is left of its money goes back (CDC, art. 49; Decreto 7.962/2013).
// What nobody has paid is void, at the gateway first. What follows the request is done by
// job should it not succeed at once; asking again answers the same. Errors: 404 for an
// unknown order; 422 WITHDRAWAL_NOT_ALLOWED after the end of the right, with its date, for
// used tickets and under a dispute; 409 while nobody knows whether the order is paid.
func (s *Refunds) withdraw(ctx context.Context, id objectid.ID) (withdrawal, error) {
	o, err := s.db.OrderGet(ctx, s.deps.Pool, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return withdrawal{}, fault.NotFound("Order")
	}
	if err != nil {
		return withdrawal{}, fmt.Errorf("read order: %w", err)
	}
	reason := TicketRefund{OrderID: o.ID, Reason: state.Withdrawn.Reason()}
	if o.State == state.Reserved {
		if o, err = s.cancelReserved(ctx, o, reason, state.BuyerWithdraws); err != nil {
			return withdrawal{}, err
		}
	}
	givenBack, err := s.isGivenBack(ctx, o)
	if err != nil || givenBack || o.State != state.Paid && o.State != state.Lost {
		return s.withdrawalOf(ctx, o.ID, err)
	}
	why, err := s.mayWithdraw(ctx, o)
	if err != nil {
		return withdrawal{}, err
	}
	if o.TotalCents == 0 {
		err := s.cancelFree(context.WithoutCancel(ctx), o.ID, reason, state.BuyerWithdraws)
		return s.withdrawalOf(ctx, o.ID, err)
	}
	_, refused := s.RefundTickets(ctx, TicketRefund{
		OrderID: o.ID, Consumed: why == state.EventCancelled, Reason: why.Reason(), why: why,
	})
	if refused == nil {
		return s.withdrawalOf(ctx, o.ID, nil)
	}
	var disputed *payments.RefundDisputedError
	if errors.As(refused, &disputed) { // since the order was read
		refused = errNoWithdrawal(disputed.Sentence())
	}
	if givenBack, err = s.isGivenBack(context.WithoutCancel(ctx), o); err != nil || !givenBack {
		return withdrawal{}, errors.Join(refused, err)
	}
	return s.withdrawalOf(ctx, o.ID, nil) // the job, or people, see to the money
}

// isGivenBack reports whether all of the order's money was asked for already.
func (s *Refunds) isGivenBack(ctx context.Context, o orders.Order) (bool, error) {
	g, err := s.db.GiveBackGet(ctx, s.deps.Pool, o.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read how the order is given back: %w", err)
	}
	return g.AskedAt != nil && (g.RefundID != nil || g.FailedAt != nil || g.Why != state.EventCancelled), nil
}

// mayWithdraw answers by which right a paid order may be given back, or why not.
func (s *Refunds) mayWithdraw(ctx context.Context, o orders.Order) (state.GivenBack, error) {
	e, err := s.db.EventGet(ctx, s.deps.Pool, o.EventID)
	if err != nil {
		return "", fmt.Errorf("read event: %w", err)
	}
	tickets, err := s.db.TicketListOfOrder(ctx, s.deps.Pool, &o.ID)
	if err != nil {
		return "", fmt.Errorf("read tickets: %w", err)
	}
	until, why := s.deps.Orders.WithdrawalUntil(e, o)
	ends := ""
	if until != nil {
		ends = " The right of withdrawal ends at " + until.UTC().Format(time.RFC3339) + "."
	}
	used := slices.ContainsFunc(tickets, func(t events.Ticket) bool { return t.Status == state.Consumed })
	switch {
	case o.State == state.Lost || o.DisputedAt != nil:
		return "", errNoWithdrawal("The order's payment is disputed: the bank decides about the money." + ends)
	case until == nil:
		return "", errNoWithdrawal("Withdrawal is not offered.")
	case !s.deps.Clock.Now().Before(*until):
		return "", errNoWithdrawal("The right of withdrawal ended at " + until.UTC().Format(time.RFC3339) + ".")
	case used && why != state.EventCancelled:
		return "", errNoWithdrawal("A ticket of the order was used." + ends)
	}
	return why, nil
}

func errNoWithdrawal(message string) error {
	return &fault.Error{Kind: fault.KindInvalid, Code: fault.CodeWithdrawalNotAllowed, Message: message}
}

// withdrawalOf reads what became of it.
func (s *Refunds) withdrawalOf(ctx context.Context, id objectid.ID, err error) (w withdrawal, _ error) {
	if err != nil {
		return w, err
	}
	ctx = context.WithoutCancel(ctx)
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		o, err := s.db.OrderGet(ctx, tx, id)
		if err != nil {
			return fmt.Errorf("read order: %w", err)
		}
		g, err := s.db.GiveBackGet(ctx, tx, id)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("read how the order is given back: %w", err)
		}
		if w.amount, w.refundedAt, err = s.deps.Orders.GivenBackOf(ctx, tx, o, g.AskedAt); err != nil {
			return err
		}
		switch {
		case w.amount == 0 && w.refundedAt == nil:
			w.status = withdrawalCancelled
		case w.refundedAt == nil:
			w.status = withdrawalRefunding
		default:
			w.status = withdrawalRefunded
		}
		return nil
	})
	return w, err
}

// orderOfRefund is the order that a refund belongs to, of a request that was cut off.
func (s *Refunds) orderOfRefund(ctx context.Context, id objectid.ID) (objectid.ID, error) {
	out, err := s.deps.Payments.RefundByID(ctx, id)
	if err != nil {
		return "", err
	}
	if out.Refund.Purpose != gateway.ForOrder {
		return "", fault.NotFound("Order")
	}
	return out.Refund.LocalID, nil
}

// withdrawalBody is the answer to a buyer who gives an order back (docs/ticket-orders.md, A buyer gives an order back).
type withdrawalBody struct {
	RefundAmount events.Reais  `json:"refund_amount" doc:"Reais, as the order's own amounts"`
	RefundedAt   *httpapi.Time `json:"refunded_at" nullable:"true" doc:"Null until the gateway has given all of it back, and where nothing was paid"`
	Status       string        `json:"status" enum:"cancelled,refunding,refunded" doc:"cancelled: nothing was paid, and the places are free"`
}

// WithdrawOrder answers POST /me/ticket-orders/{order_id}/withdraw; another customer's order
// is 404.
func (h Handlers) WithdrawOrder(ctx context.Context, in *orders.OrderInput) (*httpapi.Output[withdrawalBody], error) {
	o, err := h.s.deps.CallerOrders.CallerOrder(ctx, in.OrderID)
	if err != nil {
		return nil, err
	}
	return withdrawalOutput(h.s.withdraw(ctx, o.ID))
}

func withdrawalOutput(w withdrawal, err error) (*httpapi.Output[withdrawalBody], error) {
	if err != nil {
		return nil, err
	}
	return httpapi.OK(withdrawalBody{
		RefundAmount: events.Reais(w.amount), RefundedAt: httpapi.TimePtr(w.refundedAt), Status: w.status,
	})
}

// ReplayWithdrawal tells what became of a request that was cut off (httpapi.Idempotent).
func (h Handlers) ReplayWithdrawal(ctx context.Context, refund objectid.ID) (*httpapi.Output[withdrawalBody], error) {
	id, err := h.s.orderOfRefund(ctx, refund)
	if err != nil {
		return nil, err
	}
	return withdrawalOutput(h.s.withdrawalOf(ctx, id, nil))
}

type withdrawalLinkInput struct {
	Body struct {
		Token secret.Text `json:"token" minLength:"1" maxLength:"200" doc:"What follows the # in the mailed link"`
	}
}

// WithdrawByLink answers POST /store/ticket-orders/withdraw: who got the mail of an order
// gives it back, without an account.
func (h Handlers) WithdrawByLink(ctx context.Context,
	in *withdrawalLinkInput,
) (*httpapi.Output[withdrawalBody], error) {
	id, err := h.s.deps.Links.OrderOf(in.Body.Token)
	if err != nil {
		return nil, err
	}
	o, err := h.s.db.OrderGet(ctx, h.s.deps.Pool, id)
	if postgres.IsNoRows(err) {
		return nil, fault.NotFound("Order")
	}
	if err != nil {
		return nil, err
	}
	if _, err := h.s.deps.Accounts.CustomerByID(ctx, h.s.deps.Pool, o.CustomerID); err != nil {
		return nil, err // deleted since: 404
	}
	return withdrawalOutput(h.s.withdraw(ctx, id))
}

// WithdrawalPage is what the mailed link opens: a page with one button, since programs that
// look at mails follow links, too. It performs nothing.
func (h Handlers) WithdrawalPage(w http.ResponseWriter, _ *http.Request) {
	httpapi.ScriptedPage(w, h.s.deps.Config.WithdrawalPage)
}

// LinksPerMinute bounds tries by client address.
const LinksPerMinute = 20
