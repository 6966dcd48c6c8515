package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// reconcileBooked compares the other way: refunds and disputes that are booked here since,
// and that gateway A does not show. Its webhooks are not signed. People decide what
// becomes of them.
func (s *Reconciler) reconcileBooked(ctx context.Context, gw gateway.Adapter, o Options, report *Report) error {
	if gw.Name().Traits().SignsEvents {
		return nil
	}
	refunds, err := s.db.RefundListBookedSince(ctx, s.deps.Pool,
		paymentsdb.RefundListBookedSinceParams{Gateway: new(gw.Name()), Since: o.Since})
	if err != nil {
		return fmt.Errorf("list booked refunds: %w", err)
	}
	disputes, err := s.db.DisputeListBookedSince(ctx, s.deps.Pool,
		paymentsdb.DisputeListBookedSinceParams{Gateway: gw.Name(), Since: o.Since})
	if err != nil {
		return fmt.Errorf("list booked disputes: %w", err)
	}
	var failed error
	compare := func(f Finding, events ...gateway.Event) {
		if err := s.Pace(ctx, gw.Name()); err != nil {
			failed = errors.Join(failed, report.Fail(ctx, f, err))
			return
		}
		found, err := s.confirms(ctx, gw, events)
		if err != nil {
			failed = errors.Join(failed, report.Fail(ctx, f, fmt.Errorf("read %s, which is booked: %w", f.ID, err)))
			return
		}
		if !found {
			s.logFinding(ctx, f)
			report.Add(ctx, f)
		}
	}
	for _, r := range refunds {
		amount := money.Cents(r.AmountCents)
		compare(Finding{
			Gateway: gw.Name(), Kind: UnshownRefund, ID: r.PaymentRef, LocalID: objectid.ID(r.LocalID), Amount: amount,
			Verdict: Unknown, Detail: "booked here, not shown there",
		}, s.bookedRefund(gw.Name(), r.PaymentRef, amount))
	}
	for _, d := range disputes {
		events := []gateway.Event{s.bookedDispute(gw.Name(), d.PaymentRef, d.State)}
		if d.State == gateway.DisputeLost { // by a refund that nobody here asked for
			events = append(events, s.bookedRefund(gw.Name(), d.PaymentRef, money.Cents(d.AmountCents)))
		}
		compare(Finding{
			Gateway: gw.Name(), Kind: UnshownDispute, ID: d.GatewayDisputeID, LocalID: d.LocalID,
			Amount: money.Cents(d.AmountCents), Verdict: Unknown,
			Detail: string(d.State) + ": booked here, not shown there",
		}, events...)
	}
	return failed
}

// confirms reports whether the gateway shows what one of the events tells.
func (s *Reconciler) confirms(ctx context.Context, gw gateway.Adapter, events []gateway.Event) (bool, error) {
	for _, e := range events {
		_, err := gw.Confirm(gateway.Background(ctx), e)
		if err == nil || !errors.Is(err, gateway.ErrMissing) {
			return err == nil, err
		}
	}
	return false, nil
}

func (s *Reconciler) bookedRefund(on gateway.Name, payment string, amount money.Cents) gateway.Event {
	return gateway.Event{
		Gateway: on, Type: gateway.Reconciled, CreatedAt: s.deps.Clock.Now(), Payload: gateway.RefundChange{
			Status: gateway.RefundStatusDone, Payment: gateway.Payment{ID: payment},
			Report: gateway.RefundReport{PaymentID: payment, Total: amount, HasTotal: true},
		},
	}
}

func (s *Reconciler) bookedDispute(on gateway.Name, payment string, state gateway.DisputeState) gateway.Event {
	return gateway.Event{
		Gateway: on, Type: gateway.Reconciled, CreatedAt: s.deps.Clock.Now(), Payload: gateway.DisputeChange{
			Payment: gateway.Payment{ID: payment},
			Report:  gateway.DisputeReport{ID: payment, PaymentID: payment, State: state},
		},
	}
}

// reconcileUnconfirmed compares the payments that are booked here since, and that only an event
// has told: what gateway A does not show as paid is listed for people. Listed are the ids
// of those that the lists of the gateway have shown.
func (s *Reconciler) reconcileUnconfirmed(ctx context.Context, gw gateway.Adapter, o Options, listed map[string]bool,
	report *Report,
) error {
	if gw.Name().Traits().SignsEvents {
		return nil
	}
	rows, err := s.db.PaymentListUnconfirmedSince(ctx, s.deps.Pool,
		paymentsdb.PaymentListUnconfirmedSinceParams{Gateway: gw.Name(), Since: o.Since})
	if err != nil {
		return fmt.Errorf("list booked payments: %w", err)
	}
	var failed error
	for _, row := range rows {
		if listed[row.GatewayPaymentID] {
			continue
		}
		f := Finding{
			Gateway: gw.Name(), Kind: UnshownPayment, ID: row.GatewayPaymentID, LocalID: row.LocalID,
			Amount: money.Cents(row.AmountCents), Verdict: Unknown,
			Detail: "booked here, not shown there as paid",
		}
		if err := s.Pace(ctx, gw.Name()); err != nil {
			return errors.Join(failed, report.Fail(ctx, f, err))
		}
		found, err := s.confirms(ctx, gw, []gateway.Event{
			gateway.BookedPayment(gw.Name(), s.deps.Clock.Now(), row.GatewayPaymentID),
		})
		if err != nil {
			failed = errors.Join(failed,
				report.Fail(ctx, f, fmt.Errorf("read %s, which is booked: %w", row.GatewayPaymentID, err)))
			continue
		}
		if found {
			continue
		}
		s.logFinding(ctx, f)
		report.Add(ctx, f)
		if !o.DryRun {
			err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.cases.ListUnshownTx(ctx, tx, row) })
			failed = errors.Join(failed, report.Fail(ctx, f, err))
		}
	}
	return failed
}
