package settle

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
)

// IsBesideTx reports whether a payment names the subscription and is none of its own: a
// card is paid by the charges that name its recurrence, at gateway B by its invoices, and
// by one first month that a promo code lowered; automatic PIX by its first code and its
// debits. Whatever else was made for them, also of the right amount, pays no period. A
// manual PIX is lengthened by each payment. What is read live has to tell its
// authorization itself: of an event's word it is not known who sent it.
func (s *Settler) IsBesideTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, e gateway.Event, p gateway.Payment) (bool, error) {
	switch {
	case lifecycle.PaysOnce(sub):
		return false, nil
	case IsFirst(sub, e):
		return sub.LastPaymentAt != nil, nil
	case !sub.PixAutomatic && !e.Gateway.Traits().Invoices:
		return e.SubscriptionID == "", nil
	case !sub.PixAutomatic:
		return e.SubscriptionID == "" && p.InvoiceID == "", nil
	case sub.LastPaymentAt == nil, e.AuthorizationID != "" && e.Type != gateway.ReadLive:
		return false, nil
	case p.AuthorizationGatewayID != "" && p.AuthorizationGatewayID == lifecycle.Text(sub.GwaPixAuthID):
		return false, nil
	}
	_, found, err := s.reads.DebitOfTx(ctx, tx, sub, p.ID)
	if err != nil || found {
		return false, err
	}
	awaited, err := s.db.HasAwaitedDebit(ctx, tx, sub.ID)
	if err != nil {
		return false, fmt.Errorf("read debits: %w", err)
	}
	return !awaited, nil
}

// keepBesideTx lists money that was made beside the recurrence: it moves no end, and is
// given back by itself.
func (s *Settler) keepBesideTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment) (bool, error) {
	if !p.Beside {
		return false, nil
	}
	note := "It names the subscription, but is no charge of its recurrence, which pays each period."
	if p.First {
		note = "The first month of the subscription was paid before."
	}
	_, err := s.payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedDuplicate, Gateway: sub.Gateway, PaymentID: p.ID, Amount: &p.Amount, CustomerID: sub.CustomerID,
		SubscriptionID: sub.ID, PaidAt: p.SettledAt, Automatic: true, Note: note,
	})
	return true, err
}

// keepTwiceTx lists a second charge of gateway A's recurrence for a due date that is paid:
// it pays no further period, and is given back by itself. A charge that is tried again, or
// whose due date is moved, stays one payment, and stays made for the day that it was made
// for; gateway B makes one invoice a period, and the ledger knows it by that.
func (s *Settler) keepTwiceTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment) (bool, error) {
	if !paysADay(sub, p) {
		return false, nil
	}
	twins, err := s.payments.PaidFor(ctx, tx, sub.Gateway, sub.ID, p.Payment)
	if err != nil || len(twins) == 0 {
		return false, err
	}
	_, err = s.payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedDuplicate, Gateway: sub.Gateway, PaymentID: p.ID, Amount: &p.Amount, CustomerID: sub.CustomerID,
		SubscriptionID: sub.ID, PaidAt: p.SettledAt, Automatic: true,
		Note: "A second charge of the recurrence for " + p.MadeFor.In(s.cfg.Zone).Format(time.DateOnly) + ", which another one has paid.",
	})
	return true, err
}

// paysADay reports whether a payment is a charge of gateway A's recurrence, of which each
// day that is due has one.
func paysADay(sub lifecycle.Row, p Payment) bool {
	return p.Recurs && !p.First && lifecycle.TraitsOf(sub).ChargesByDay && sub.PaymentMethod != gateway.MethodPix
}

// asksTwinTx has a charge for a due date read live, by job, and the one that has paid that
// day as well, when only an event has told of that one: somebody may have made it up, and
// what is given back must not be the true one.
func (s *Settler) asksTwinTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment) (bool, error) {
	if !paysADay(sub, p) || sub.Status.Ended() {
		return false, nil
	}
	twins, err := s.payments.PaidFor(ctx, tx, sub.Gateway, sub.ID, p.Payment)
	if err != nil || !slices.ContainsFunc(twins, func(t payments.PaidFor) bool { return !t.Shown }) {
		return false, err
	}
	return true, s.InsertLateTx(ctx, tx, LateMoneyArgs{SubscriptionID: sub.ID, PaymentID: p.ID, EventID: lifecycle.Text(p.Event), SettledAt: p.SettledAt}, time.Time{})
}

// countTx notes in the ledger that a payment opened the subscription or paid one of its
// periods: what it does not say of has to be listed.
func (s *Settler) countTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment) error {
	return s.payments.CountPaymentTx(ctx, tx, sub.Gateway, p.ID)
}
