package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/modules/tickets/state"
	"marquee/platform/money"
	"marquee/platform/nullable"
	"marquee/platform/postgres"
)

// RequestGiveBackTx notes the refund that gives a whole order back, in the transaction that
// commits it. Who gives tickets back has them no more, and their places are free at once;
// those of a called off event are blocked already, and expire with the refund.
func (s *Store) RequestGiveBackTx(ctx context.Context, tx pgx.Tx, o Order, why state.GivenBack,
	r payments.Refund,
) error {
	err := s.db.GiveBackRequest(ctx, tx, ticketsdb.GiveBackRequestParams{
		OrderID: o.ID, EventID: o.EventID, Why: why, Now: &r.RequestedAt, RefundID: r.ID.String(),
	})
	if err != nil {
		return fmt.Errorf("note that the order is given back: %w", err)
	}
	if why == state.EventCancelled {
		return nil
	}
	from, to := state.Tickets.Of(state.TicketWithdrawn)
	if err := s.db.TicketLeave(ctx, tx, ticketsdb.TicketLeaveParams{
		OrderID: &o.ID, RefundID: r.ID.String(), Reason: state.Tickets.ReasonOf(state.TicketWithdrawn),
		Now: r.RequestedAt, FromStates: from, ToStates: to,
	}); err != nil {
		return fmt.Errorf("void tickets: %w", err)
	}
	return nil
}

// syncGiveBackTx has an order that is given back follow a refund that came to nothing:
// what its gateway refused is left to people, on the list of unapplied payments; where the
// gateway was not there, or the money is with the payer's bank, the job asks again.
func (s *Store) syncGiveBackTx(ctx context.Context, tx pgx.Tx, o Order, m Money) (givenBack bool, err error) {
	g, err := s.db.GiveBackGet(ctx, tx, o.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read how the order is given back: %w", err)
	}
	givenBack = g.AskedAt != nil
	for _, r := range m.Refunds {
		if g.RefundID == nil || r.ID != *g.RefundID || r.Status != gateway.RefundStatusFailed {
			continue
		}
		if r.FailedUnasked() || r.FailedByDispute() {
			return givenBack, s.PostponeGiveBack(ctx, tx, g)
		}
		if err := s.db.GiveBackFail(ctx, tx, ticketsdb.GiveBackFailParams{
			OrderID: o.ID, Now: new(s.deps.Clock.Now()),
		}); err != nil {
			return givenBack, fmt.Errorf("note that the refund failed: %w", err)
		}
		return givenBack, s.listNotGivenBackTx(ctx, tx, o, m, g.Why, r)
	}
	return givenBack, nil
}

// listNotGivenBackTx leaves to people what the gateway did not give back of the order's own payment, with
// its reason.
func (s *Store) listNotGivenBackTx(ctx context.Context, tx pgx.Tx, o Order, m Money, why state.GivenBack,
	r payments.Refund,
) error {
	for _, p := range m.Paid {
		if p.Payment.ID != nullable.Value(o.GatewayPaymentID) {
			continue
		}
		left, _ := m.Left(p.Payment)
		return s.ListUnappliedTx(ctx, tx, o, p.Payment, payments.Unapplied{
			Kind: payments.UnappliedUnrefundable, Amount: &left, Bought: true,
			Note: why.Reason() + " The gateway did not give the money back: " + r.Failure,
		})
	}
	return nil
}

// PostponeGiveBack has the job ask again later: each further wait doubles, from a minute to an hour.
func (s *Store) PostponeGiveBack(ctx context.Context, db postgres.DB, g ticketsdb.GiveBack) error {
	wait := min(time.Minute<<min(g.Tries, 6), time.Hour)
	refund := ""
	if g.RefundID != nil {
		refund = g.RefundID.String()
	}
	next := s.deps.Clock.Now().Add(wait)
	if err := s.db.GiveBackPostpone(ctx, db, ticketsdb.GiveBackPostponeParams{
		OrderID: g.OrderID, RefundID: refund, NextAt: &next,
	}); err != nil {
		return fmt.Errorf("postpone refund: %w", err)
	}
	return nil
}

// GivenBackOf is what became of the money of an order that was given back: what went back since
// then, or is to, and when all of it was back, nil before.
func (s *Store) GivenBackOf(ctx context.Context, tx postgres.DB, o Order,
	since *time.Time,
) (amount money.Cents, at *time.Time, err error) {
	m, err := s.MoneyTx(ctx, tx, o.ID)
	if err != nil {
		return 0, nil, err
	}
	for _, p := range m.Paid {
		if p.Payment.ID != nullable.Value(o.GatewayPaymentID) {
			continue
		}
		amount += p.Payment.Amount
		for _, r := range m.Refunds {
			switch {
			case !IsOf(r, p.Payment) || r.Status == gateway.RefundStatusFailed:
			case since != nil && r.RequestedAt.Before(*since):
				amount -= r.Amount
			case r.Status == gateway.RefundStatusDone && (at == nil || r.RefundedAt.After(*at)):
				at = r.RefundedAt
			}
		}
	}
	if !m.whole(o) {
		at = nil
	}
	return amount, at, nil
}
