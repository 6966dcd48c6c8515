package orders

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/state"
	"marquee/platform/money"
	"marquee/platform/postgres"
)

// listPartTx leaves to people what went back of a paid order by refunds of which the gateway
// alone tells, and that is not all of it: somebody made them at its console, or a restore has
// lost whose tickets they were of. The money is gone, and the tickets stay good until then.
func (s *Store) listPartTx(ctx context.Context, tx pgx.Tx, o Order, m Money) error {
	if o.State != state.Paid || m.whole(o) || !slices.ContainsFunc(m.Refunds, toldOnly) {
		return nil
	}
	tickets, err := s.db.TicketListOfOrder(ctx, tx, &o.ID)
	if err != nil {
		return fmt.Errorf("read tickets: %w", err)
	}
	for _, p := range m.Paid {
		if p.Payment.ID != postgres.Text(o.GatewayPaymentID) {
			continue
		}
		part, reasons := money.Cents(0), []string{}
		for _, r := range m.Refunds {
			named := slices.ContainsFunc(tickets, func(t events.Ticket) bool { return t.RefundID != nil && *t.RefundID == r.ID })
			if named || !toldOnly(r) || !IsOf(r, p.Payment) {
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
		note := fmt.Sprintf("R$ %s of R$ %s of the order went back, and nobody here asked for it, or a restore has lost who did. "+
			"Which tickets it is of is not known: set them to expired by PUT /tickets, then keep this.", part, p.Payment.Amount)
		err := s.payments.Cases().RecordTakenBackTx(ctx, tx, payments.Unapplied{
			Kind: payments.UnappliedUnknown, Gateway: p.Gateway, PaymentID: p.Payment.ID, Amount: &part, CustomerID: o.CustomerID, OrderID: o.ID,
			PaidAt: p.Payment.SettledAt, Bought: true, Note: strings.Join(append([]string{note}, reasons...), " "),
		})
		if err != nil {
			return fmt.Errorf("list what is back of an order: %w", err)
		}
	}
	return nil
}

// toldOnly reports whether a refund is done of which only the gateway has told.
func toldOnly(r payments.Refund) bool { return r.Status == gateway.RefundDone && !r.ByAdmin }
