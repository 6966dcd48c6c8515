package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/jobs"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Money is what the ledgers know of an order: its payments and their
// refunds, newest first.
type Money struct {
	Paid    []gateway.LedgerPayment
	Refunds []payments.Refund
}

// MoneyTx reads what was paid for an order and what was given back of it, in cents.
func (s *Store) MoneyTx(ctx context.Context, tx postgres.DB, id objectid.ID) (m Money, err error) {
	if m.Paid, err = s.deps.Payments.PaymentsOf(ctx, tx, gateway.ForOrder, id); err != nil {
		return m, fmt.Errorf("read payments: %w", err)
	}
	if m.Refunds, err = s.deps.Payments.RefundsOf(ctx, tx, gateway.ForOrder, id); err != nil {
		return m, fmt.Errorf("read refunds: %w", err)
	}
	return m, nil
}

// whole tells whether the order's own payment came and all of it is back. What was paid
// beside it bought nothing, and may be kept.
func (m Money) whole(o Order) bool {
	for _, p := range m.Paid {
		if p.Payment.ID != nullable.Value(o.GatewayPaymentID) {
			continue
		}
		left := p.Payment.Amount
		for _, r := range m.Refunds {
			if r.Status == gateway.RefundStatusDone && IsOf(r, p.Payment) {
				left -= r.Amount
			}
		}
		return left <= 0
	}
	return false
}

// IsOf reports whether a refund is one of the payment.
func IsOf(r payments.Refund, p gateway.Payment) bool { return isNamed(p, r.PaymentID) }

// isNamed tells whether a refund or dispute speaks of the payment by that id.
func isNamed(p gateway.Payment, id string) bool { return id == p.ID || id == p.PaymentIntentID }

// Left is the part of a payment that is neither refunded nor being refunded, and
// bounced the last of its refunds that failed, nil for none.
func (m Money) Left(p gateway.Payment) (left money.Cents, bounced *payments.Refund) {
	left = p.Amount
	for i, r := range m.Refunds {
		switch {
		case !IsOf(r, p):
		case r.Status != gateway.RefundStatusFailed:
			left -= r.Amount
		case bounced == nil:
			bounced = &m.Refunds[i]
		}
	}
	return left, bounced
}

// ReturnedTx has tickets follow the refunds of their shares, and looks whether all money of
// the order is back, and stays there. Notified is the admin who is told that a refund
// failed, "" when nobody is: then it is listed.
func (s *Store) ReturnedTx(ctx context.Context, tx pgx.Tx, o *Order, notified string) error {
	m, err := s.MoneyTx(ctx, tx, o.ID)
	if err != nil {
		return err
	}
	givenBack, err := s.syncGiveBackTx(ctx, tx, *o, m)
	if err != nil {
		return err
	}
	failed, err := s.syncTicketsTx(ctx, tx, *o, m.Refunds, givenBack)
	if err != nil {
		return err
	}
	if notified == "" && !givenBack {
		if err := s.listFailedSharesTx(ctx, tx, *o, m, failed); err != nil {
			return err
		}
	}
	if err := s.refundSecondsAgainTx(ctx, tx, *o, m); err != nil {
		return err
	}
	if err := s.listPartTx(ctx, tx, *o, m); err != nil {
		return err
	}
	if _, bounces := state.Orders.Next(o.State, state.RefundBounced); bounces && len(m.Paid) > 0 && !m.whole(*o) {
		return s.refundAgainTx(ctx, tx, o)
	}
	if _, returns := state.Orders.Next(o.State, state.MoneyReturned); !returns || !m.whole(*o) {
		return nil
	}
	if _, err := s.deps.Events.LockTx(ctx, tx, o.EventID); err != nil {
		return fmt.Errorf("lock event: %w", err)
	}
	if err := s.db.TicketExpireUnused(ctx, tx, o.ID, state.TicketOrderReturned, s.deps.Clock.Now()); err != nil {
		return fmt.Errorf("void tickets: %w", err)
	}
	due := o.State == state.RefundDue
	err = s.MoveTx(ctx, tx, o, state.MoneyReturned, func(o *Order) {
		o.PaymentStatus = o.words().Refunded
	})
	if err != nil || !due {
		return err
	}
	return s.MailLaterTx(ctx, tx, o.ID, MailRefund)
}

// refundAgainTx: the tickets are void, so that the money has to go back all the
// same. As long as it does not, the order stays among those whose refund is due.
func (s *Store) refundAgainTx(ctx context.Context, tx pgx.Tx, o *Order) error {
	err := s.MoveTx(ctx, tx, o, state.RefundBounced, func(o *Order) {
		o.PaymentStatus = o.words().Settled
	})
	if err != nil || o.GatewayPaymentID == nil {
		return err
	}
	return s.insertRefundTx(ctx, tx, RefundArgs{OrderID: o.ID, PaymentID: *o.GatewayPaymentID},
		river.UniqueOpts{}) // the first one's job is still remembered
}

// refundSecondsAgainTx: what was paid beside the order's own payment is never kept,
// whatever became of the order, so that a refund of it which failed is made again,
// by one job a failure.
func (s *Store) refundSecondsAgainTx(ctx context.Context, tx pgx.Tx, o Order, m Money) error {
	for _, p := range m.Paid {
		if p.Payment.ID == nullable.Value(o.GatewayPaymentID) {
			continue
		}
		left, bounced := m.Left(p.Payment)
		if left <= 0 || bounced == nil {
			continue
		}
		args := RefundArgs{OrderID: o.ID, PaymentID: p.Payment.ID, After: bounced.ID}
		if err := s.insertRefundTx(ctx, tx, args, river.UniqueOpts{ByArgs: true}); err != nil {
			return err
		}
	}
	return nil
}

// syncTicketsTx has the tickets of a locked order follow what became of the refunds of
// their shares. Shares whose refund failed after it was believed done are given back again,
// since their tickets are void; of an order that is given back as a whole its job does that.
// Out are the refunds that failed without having been believed done, and are not made again.
func (s *Store) syncTicketsTx(ctx context.Context, tx pgx.Tx, o Order, refunds []payments.Refund,
	givenBack bool,
) (out []payments.Refund, err error) {
	tickets, err := s.db.TicketListOfOrder(ctx, tx, &o.ID)
	if err != nil {
		return nil, fmt.Errorf("read tickets: %w", err)
	}
	var done, failed []string
	var owed []objectid.ID
	for _, t := range tickets {
		if t.RefundID == nil {
			continue
		}
		i := slices.IndexFunc(refunds, func(r payments.Refund) bool { return r.ID == *t.RefundID })
		switch {
		case i < 0:
		case refunds[i].Status == gateway.RefundStatusDone && t.RefundedAt == nil:
			done = append(done, t.RefundID.String())
		case refunds[i].Status == gateway.RefundStatusFailed:
			if t.RefundedAt != nil {
				owed = append(owed, t.ID)
			} else if !slices.Contains(failed, t.RefundID.String()) {
				out = append(out, refunds[i])
			}
			failed = append(failed, t.RefundID.String())
		}
	}
	if len(done)+len(failed) == 0 {
		return nil, nil
	}
	if _, err := s.deps.Events.LockTx(ctx, tx, o.EventID); err != nil {
		return nil, fmt.Errorf("lock event: %w", err)
	}
	now := s.deps.Clock.Now()
	from, to := state.Tickets.Of(state.TicketShareReturned)
	if _, err := s.db.TicketReturn(ctx, tx, ticketsdb.TicketReturnParams{
		Now: now, OrderID: &o.ID, RefundIds: done, Reason: state.Tickets.ReasonOf(state.TicketShareReturned),
		FromStates: from, ToStates: to,
	}); err != nil {
		return nil, fmt.Errorf("void tickets: %w", err)
	}
	if err := s.db.TicketReturnFailed(ctx, tx,
		ticketsdb.TicketReturnFailedParams{Now: now, OrderID: &o.ID, RefundIds: failed}); err != nil {
		return nil, fmt.Errorf("take refund from tickets: %w", err)
	}
	if len(owed) == 0 || o.State != state.Paid || givenBack {
		return out, nil
	}
	_, err = s.deps.Jobs.InsertTx(ctx, tx, SharesArgs{OrderID: o.ID, TicketIDs: owed},
		&river.InsertOpts{Queue: jobs.QueueGateway})
	if err != nil {
		return nil, fmt.Errorf("queue refund: %w", err)
	}
	return out, nil
}

// listFailedSharesTx leaves to people the refunds of shares that came to nothing after whoever
// asked for them was told something else, such as that it is not known yet: the gateway
// refused them. What the gateway was not there for is asked again.
func (s *Store) listFailedSharesTx(ctx context.Context, tx pgx.Tx, o Order, m Money, failed []payments.Refund) error {
	for _, p := range m.Paid {
		if p.Payment.ID != nullable.Value(o.GatewayPaymentID) {
			continue
		}
		for _, r := range failed {
			if !IsOf(r, p.Payment) || r.FailedUnasked() {
				continue
			}
			err := s.ListUnappliedTx(ctx, tx, o, p.Payment, payments.Unapplied{
				Kind: payments.UnappliedUnrefundable, Amount: &r.Amount, Bought: true,
				Note: "The gateway did not give the money back: " + r.Failure,
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// RefundChanged has order and tickets follow a refund that a check has settled, of
// which no event may ever tell (refund.Follower).
func (s *Store) RefundChanged(ctx context.Context, r payments.Refund) error {
	if r.Purpose != gateway.ForOrder {
		return nil
	}
	return s.SyncRefunds(ctx, r.LocalID, "")
}

// SyncRefunds has an order follow the ledger of refunds, as ReturnedTx does.
func (s *Store) SyncRefunds(ctx context.Context, id objectid.ID, notified string) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		o, err := s.db.OrderLock(ctx, tx, id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // deleted with its event
		}
		if err != nil {
			return fmt.Errorf("lock order: %w", err)
		}
		return s.ReturnedTx(ctx, tx, &o, notified)
	})
}

// listPartTx leaves to people what went back of a paid order by refunds of which the gateway
// alone tells, and that is not all of it: somebody made them at its console, or a restore has
// lost whose tickets they were of. The money is gone, and the tickets stay good until then.
func (s *Store) listPartTx(ctx context.Context, tx pgx.Tx, o Order, m Money) error {
	if o.State != state.Paid || m.whole(o) || !slices.ContainsFunc(m.Refunds, isReportedOnly) {
		return nil
	}
	tickets, err := s.db.TicketListOfOrder(ctx, tx, &o.ID)
	if err != nil {
		return fmt.Errorf("read tickets: %w", err)
	}
	for _, p := range m.Paid {
		if p.Payment.ID != nullable.Value(o.GatewayPaymentID) {
			continue
		}
		part, reasons := money.Cents(0), []string{}
		for _, r := range m.Refunds {
			named := slices.ContainsFunc(tickets,
				func(t events.Ticket) bool { return t.RefundID != nil && *t.RefundID == r.ID })
			if named || !isReportedOnly(r) || !IsOf(r, p.Payment) {
				continue
			}
			part += r.Amount
			if r.Reason != "" {
				reasons = append(reasons, "It says: "+r.Reason)
			}
		}
		if part == 0 {
			continue
		}
		note := fmt.Sprintf("R$ %s of R$ %s of the order was refunded, and nobody here requested it, or a restore has lost "+
			"the request. Which tickets it was for is not known: set them to expired with PUT /tickets, then keep this.", part,
			p.Payment.Amount)
		err := s.deps.Payments.Cases().RecordTakenBackTx(ctx, tx, payments.Unapplied{
			Kind: payments.UnappliedUnknown, Amount: &part, Bought: true,
			Note: strings.Join(append([]string{note}, reasons...), " "),
		}.Of(o.Owner(), p.Payment))
		if err != nil {
			return fmt.Errorf("list what is back of an order: %w", err)
		}
	}
	return nil
}

// isReportedOnly reports whether a refund is done of which only the gateway has told.
func isReportedOnly(r payments.Refund) bool {
	return r.Status == gateway.RefundStatusDone && !r.ByAdmin
}

// DisputedTx has a locked order follow what the ledger knows of disputes of its own
// payment. While one is open its tickets are blocked, and keep status and place. When one
// is lost the unused tickets expire and their places are free; the consumed ones stay. A
// dispute of another payment of the order concerns no ticket.
func (s *Store) DisputedTx(ctx context.Context, tx pgx.Tx, o *Order) error {
	open, lost, err := s.disputesTx(ctx, tx, *o)
	if err != nil {
		return err
	}
	if open != (o.DisputedAt != nil) {
		err := s.EditTx(ctx, tx, o, state.Disputed, func(o *Order) {
			o.DisputedAt = nil
			if open {
				o.DisputedAt = new(s.deps.Clock.Now())
			}
		})
		if err != nil {
			return err
		}
	}
	if _, loses := state.Orders.Next(o.State, state.DisputeLost); !lost || !loses {
		return nil
	}
	if _, err := s.deps.Events.LockTx(ctx, tx, o.EventID); err != nil {
		return fmt.Errorf("lock event: %w", err)
	}
	if err := s.db.TicketExpireUnused(ctx, tx, o.ID, state.TicketDisputeLost, s.deps.Clock.Now()); err != nil {
		return fmt.Errorf("void tickets: %w", err)
	}
	return s.MoveTx(ctx, tx, o, state.DisputeLost, func(o *Order) { o.PaymentStatus = statusChargebackLost })
}

// disputesTx reads whether a dispute of the order's own payment is open, and whether one was lost.
func (s *Store) disputesTx(ctx context.Context, tx pgx.Tx, o Order) (open, lost bool, err error) {
	disputes, err := s.deps.Payments.DisputesOf(ctx, tx, gateway.ForOrder, o.ID)
	if err != nil || len(disputes) == 0 {
		return false, false, err
	}
	paid, err := s.deps.Payments.PaymentsOf(ctx, tx, gateway.ForOrder, o.ID)
	if err != nil {
		return false, false, fmt.Errorf("read payments: %w", err)
	}
	for _, p := range paid {
		if p.Payment.ID != nullable.Value(o.GatewayPaymentID) {
			continue
		}
		for _, d := range disputes {
			if isNamed(p.Payment, d.PaymentID) {
				open = open || d.State == gateway.DisputeOpen
				lost = lost || d.State == gateway.DisputeLost
			}
		}
	}
	return open, lost, nil
}
