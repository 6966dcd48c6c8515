package unapplied

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/state"
	"marquee/platform/fault"
	"marquee/platform/nullable"
	"marquee/platform/postgres"
)

// unusedText is what people read of money that its gateway shows by now, and that pays
// for nothing here.
const unusedText = "Only an event had reported it as paid. The gateway now shows it as paid, and nothing was granted for it: refund it, or extend a subscription with it."

// farAhead is later than any try.
const farAhead = 100 * 365 * 24 * time.Hour

// DecideConfirmed asks a gateway whose events are not signed about all booked payments that are
// on the list because only an event reported them, also those asked about lately.
func (s *List) DecideConfirmed(ctx context.Context, on gateway.Name) error {
	return s.decideConfirmed(ctx, s.deps.Clock.Now().Add(farAhead), on)
}

// decideConfirmed keeps by itself what the gateways show as paid by now, and that pays for
// something. About what they do not show, or what pays for nothing, people decide.
func (s *List) decideConfirmed(ctx context.Context, due time.Time, on ...gateway.Name) error {
	var failed error
	for _, name := range on {
		found, err := s.db.UnappliedListUnconfirmed(ctx, s.deps.Pool,
			paymentsdb.UnappliedListUnconfirmedParams{Gateway: name, Due: due, Most: unappliedBatch})
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("list told payments: %w", err))
		}
		for _, u := range found {
			failed = errors.Join(failed, s.decideOne(ctx, u))
		}
	}
	return failed
}

func (s *List) decideOne(ctx context.Context, u paymentsdb.PaymentsUnappliedPayment) error {
	id := nullable.Value(u.GatewayPaymentID)
	confirmed, err := s.IsConfirmed(ctx, u.Gateway, id)
	if err != nil {
		return err
	}
	paid, err := s.reader.FindPayment(ctx, s.deps.Pool, u.Gateway, id)
	if err != nil || paid == nil {
		return err
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		given, err := s.isGivenTx(ctx, tx, u, *paid)
		if err != nil {
			return err
		}
		if confirmed && given {
			_, err = s.cases.MoveTx(ctx, tx, u, ledger.Move{
				By: state.UnappliedConfirmed, Source: state.ByPlatform, ForPeople: true,
				Note: state.UnappliedPayments.ReasonOf(state.UnappliedConfirmed),
			})
			return err
		}
		if confirmed {
			if err := s.markUnusedTx(ctx, tx, u); err != nil {
				return err
			}
		}
		wait := min(unappliedWait<<min(u.Tries, 12), unappliedWaitMax) //nolint:gosec // tries are few
		next := s.deps.Clock.Now().Add(wait)
		return s.db.UnappliedPostpone(ctx, tx, paymentsdb.UnappliedPostponeParams{ID: u.ID, NextTryAt: &next})
	})
}

// markUnusedTx has the note of an open case say that the gateway shows it, and leaves it to people.
func (s *List) markUnusedTx(ctx context.Context, tx pgx.Tx, u paymentsdb.PaymentsUnappliedPayment) error {
	if nullable.Value(u.Note) == unusedText {
		return nil
	}
	return s.cases.ByPlatformTx(ctx, tx, u.ID, "unapplied_payment_shown", func() error {
		return s.db.UnappliedGiveUp(ctx, tx, paymentsdb.UnappliedGiveUpParams{
			ID: u.ID, Note: new(unusedText), At: s.deps.Clock.Now(),
		})
	})
}

// IsConfirmed asks the gateway for a payment that is booked. One that was paid there, whatever
// has become of it since, is read no more.
func (s *List) IsConfirmed(ctx context.Context, name gateway.Name, paymentID string) (bool, error) {
	gw, err := s.deps.Gateways.Find(name)
	if err != nil {
		return false, err
	}
	live, err := gw.Confirm(gateway.Background(ctx), gateway.BookedPayment(name, s.deps.Clock.Now(), paymentID))
	if errors.Is(err, gateway.ErrMissing) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read payment %s: %w", paymentID, err)
	}
	paid, _ := live.Payment()
	err = s.db.PaymentConfirm(context.WithoutCancel(ctx), s.deps.Pool, paymentsdb.PaymentConfirmParams{
		Gateway: name, GatewayPaymentID: paymentID, DueAt: paid.MadeFor, At: s.deps.Clock.Now(),
	})
	if err != nil {
		return false, fmt.Errorf("note that payment %s is shown: %w", paymentID, err)
	}
	return true, nil
}

// requireConfirmed is 409 of money that nobody could place, and that its gateway, whose events
// are not signed, does not show as paid: it was booked by an event alone.
func (s *List) requireConfirmed(ctx context.Context, u paymentsdb.PaymentsUnappliedPayment,
	paid gateway.LedgerPayment,
) error {
	if u.Kind != state.UnappliedUnknown || paid.Gateway.Traits().SignsEvents || paid.Purpose == gateway.ForCustomer {
		return nil
	}
	call, cancel := context.WithTimeout(ctx, unappliedCallTime)
	defer cancel()
	confirmed, err := s.IsConfirmed(call, paid.Gateway, paid.Payment.ID)
	if err != nil {
		return s.refunds.Refused(ctx, "read unapplied payment", err)
	}
	if !confirmed {
		return fault.Conflict("The gateway does not show the payment as paid: it can only be kept.")
	}
	return nil
}

// requireUnused is 409 of a payment that has paid for something.
func (s *List) requireUnused(ctx context.Context, tx pgx.Tx, u paymentsdb.PaymentsUnappliedPayment,
	paid gateway.LedgerPayment,
) error {
	given, err := s.isGivenTx(ctx, tx, u, paid)
	if err == nil && given {
		err = fault.Conflict("What the payment pays for was already granted: it can be refunded or kept.")
	}
	return err
}

// isGivenTx reports whether a payment has paid for something: a period of a subscription,
// or the order that it was booked for, of which an event alone had told.
func (s *List) isGivenTx(ctx context.Context, tx pgx.Tx, u paymentsdb.PaymentsUnappliedPayment,
	paid gateway.LedgerPayment,
) (bool, error) {
	counts, err := s.db.PaymentIsCounted(ctx, tx,
		paymentsdb.PaymentIsCountedParams{Gateway: u.Gateway, GatewayPaymentID: paid.Payment.ID})
	if err != nil {
		return false, fmt.Errorf("read whether %s counts: %w", paid.Payment.ID, err)
	}
	return counts || u.Kind == state.UnappliedUnknown && paid.Purpose == gateway.ForOrder, nil
}
