package ledger

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/nullable"
)

// DecideLostTx decides what of a payment waits for people, when lost disputes took it and
// all of its money is gone, a part that was given back before included: nothing is left to
// decide. When a part is left, the case is about that. Whatever comes last calls it, the
// dispute or the case: the case's row is locked before the disputes are read. An error is the database's.
func (s *Cases) DecideLostTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, paymentRef string) error {
	found, err := s.db.UnappliedLockOfPayment(ctx, tx,
		paymentsdb.UnappliedLockOfPaymentParams{Gateway: gateway, PaymentRef: paymentRef})
	if err != nil {
		return fmt.Errorf("find unapplied payment: %w", err)
	}
	for _, row := range found {
		if row.PaymentsUnappliedPayment.State != state.UnappliedOpen {
			continue
		}
		if err := s.decideLostCaseTx(ctx, tx, gateway, paymentRef, row); err != nil {
			return err
		}
	}
	return nil
}

// decideLostCaseTx does so of one case: kept when nothing is left, else about what is left. What the
// ledger does not have, or no lost dispute took, stays as it is. An error is the database's.
func (s *Cases) decideLostCaseTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, paymentRef string,
	row paymentsdb.UnappliedLockOfPaymentRow,
) error {
	paid, err := s.reader.FindPayment(ctx, tx, gateway, nullable.Value(row.PaymentsUnappliedPayment.GatewayPaymentID))
	if err != nil || paid == nil {
		return err
	}
	gone, err := s.reader.LostOf(ctx, tx, gateway, append(paid.Names(), paymentRef)...)
	if err != nil || gone == 0 {
		return err
	}
	refunds, err := s.reader.RefundsOfPayment(ctx, tx, gateway, cmp.Or(paid.RefundKey(), paymentRef))
	if err != nil {
		return err
	}
	if left := LeftOf(paid.Payment.Amount, refunds) - gone; left > 0 {
		err := s.db.UnappliedLowerAmount(ctx, tx, paymentsdb.UnappliedLowerAmountParams{
			ID: row.PaymentsUnappliedPayment.ID, AmountCents: new(int64(left)), At: s.deps.Clock.Now(),
		})
		if err != nil {
			return fmt.Errorf("note what is left of %s: %w", paymentRef, err)
		}
		return nil
	}
	_, err = s.MoveTx(ctx, tx, row.PaymentsUnappliedPayment, Move{
		By: state.UnappliedTakenBack, Source: state.ByGateway, ForPeople: true,
		Note: "The payer's bank took all of the payment back: nothing is left of it.",
	})
	return err
}

// reopenReturnedTx has people decide again what was decided because all of its money was
// gone: it is with us again. An error is the database's.
func (s *Cases) reopenReturnedTx(ctx context.Context, tx pgx.Tx, r DisputeRecord) error {
	found, err := s.db.UnappliedLockOfPayment(ctx, tx,
		paymentsdb.UnappliedLockOfPaymentParams{Gateway: r.Gateway, PaymentRef: r.Report.PaymentID})
	if err != nil {
		return fmt.Errorf("find unapplied payment: %w", err)
	}
	for _, row := range found {
		u := row.PaymentsUnappliedPayment
		last, err := s.db.UnappliedGetLastDecision(ctx, tx, u.ID)
		if err != nil {
			return fmt.Errorf("read decision: %w", err)
		}
		if u.State != state.UnappliedKept || last.Source != state.ByGateway && !u.TakenBack {
			continue
		}
		_, err = s.MoveTx(ctx, tx, u, Move{
			By: state.UnappliedTakeBackFailed, Source: state.ByGateway, ForPeople: true, Note: returnedText,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// returnedText is what people read of money that was taken back, and is with us again.
const returnedText = "The payer's bank had taken the payment back by a refund that failed since: the money is with us."
