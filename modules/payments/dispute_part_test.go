package payments_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// TestADisputeThatIsLostInPartLeavesTheRest: the case is about what is left, which can be
// given back, and is over with it, whichever comes first.
func TestADisputeThatIsLostInPartLeavesTheRest(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		lose := func(id string, paid gateway.LedgerPayment, amount money.Cents) {
			require.NoError(t, postgres.InTx(t.Context(), s.pool, func(tx pgx.Tx) error {
				key := paid.Payment.ID
				if paid.Payment.PaymentIntentID != "" {
					key = paid.Payment.PaymentIntentID
				}
				_, err := s.svc.RecordDisputeTx(t.Context(), tx, payments.DisputeRecord{
					Owner: paid.Owner.At(name),
					Report: gateway.DisputeReport{
						ID: id, PaymentID: key, Amount: amount, State: gateway.DisputeLost, NativeStatus: "lost",
						At: s.clock.Now(),
					},
				})
				return err
			}))
		}
		list := func(paid gateway.LedgerPayment) {
			require.NoError(t, postgres.InTx(t.Context(), s.pool, func(tx pgx.Tx) error {
				_, err := s.svc.Cases().RecordUnappliedTx(t.Context(), tx, payments.Unapplied{
					Kind: payments.UnappliedLate, Gateway: name, PaymentID: paid.Payment.ID,
					Amount:     &paid.Payment.Amount,
					CustomerID: paid.CustomerID, OrderID: paid.LocalID,
				})
				return err
			}))
		}
		state := func(paid gateway.LedgerPayment) (is string) {
			require.NoError(t,
				s.pool.QueryRow(t.Context(),
					"SELECT state || ' ' || amount_cents FROM payments.unapplied_payments WHERE gateway_payment_id = $1", paid.Payment.ID).Scan(&is))
			return is
		}
		rest := s.sold(name)
		list(rest)
		lose("du_1", rest, 4000)
		require.Equal(t, "open 20000", state(rest), "what is left")
		require.ErrorIs(t, s.refund(rest, 20001), payments.ErrRefundTooMuch)
		require.NoError(t, s.refund(rest, 0), "all that is left")
		require.EqualValues(t, 20000, s.refunded())
		require.Equal(t, "refunded 20000", state(rest))
		lose("du_2", rest, 1000)
		require.Equal(t, "refunded 20000", state(rest))

		s.local = objectid.New()
		parts := s.sold(name)
		list(parts)
		lose("du_3", parts, 20000)
		require.Equal(t, "open 4000", state(parts))
		lose("du_4", parts, 4000)
		require.Equal(t, "kept 4000", state(parts), "all of it is gone, by two disputes")
		require.ErrorIs(t, s.refund(parts, 0), gateway.ErrDisputed)
	})
}

// TestADisputeKeepsItsDeadline: a newer report moves it, one that tells none leaves it, an older one changes nothing, and
// what was answered stays answered; the gateway's report of a dispute that an admin entered brings it.
func TestADisputeKeepsItsDeadline(t *testing.T) {
	t.Parallel()
	eachName(t, func(t *testing.T, s *shop, name gateway.Name) {
		paid := s.sold(name)
		key := paid.Payment.ID
		if paid.Payment.PaymentIntentID != "" {
			key = paid.Payment.PaymentIntentID
		}
		now := s.clock.Now().UTC().Truncate(time.Second)
		tell := func(id, status string, after time.Duration, due *time.Time, sent bool) {
			t.Helper()
			require.NoError(t, postgres.InTx(t.Context(), s.pool, func(tx pgx.Tx) error {
				_, err := s.svc.RecordDisputeTx(t.Context(), tx, payments.DisputeRecord{
					Owner: paid.Owner.At(name),
					Report: gateway.DisputeReport{
						ID: id, PaymentID: key, Amount: 100, State: gateway.DisputeOpen, NativeStatus: status,
						At: now.Add(after), EvidenceDueAt: due, EvidenceSent: sent,
					},
				})
				return err
			}))
		}
		is := func() (due *time.Time, sent bool) {
			t.Helper()
			all, err := s.svc.DisputesOf(t.Context(), s.pool, paid.Purpose, paid.LocalID)
			require.NoError(t, err)
			require.Len(t, all, 1)
			if all[0].EvidenceDueAt == nil {
				return nil, all[0].EvidenceSent
			}
			return new(all[0].EvidenceDueAt.UTC()), all[0].EvidenceSent
		}
		want := func(wantDue *time.Time, wantSent bool) {
			t.Helper()
			due, sent := is()
			require.Equal(t, wantDue, due)
			require.Equal(t, wantSent, sent)
		}
		first, second := now.Add(7*24*time.Hour), now.Add(9*24*time.Hour)
		tell("CHARGEBACK-1", payments.ReportedByAdmin, 0, nil, false)
		want(nil, false)
		tell("du_1", "needs_response", -time.Minute, &first, false) // the same dispute, which opened before
		want(&first, false)
		tell("du_1", "needs_response", time.Minute, &second, false)
		want(&second, false)
		tell("du_1", "needs_response", 0, &first, false)
		want(&second, false)
		tell("du_1", "under_review", 2*time.Minute, nil, true)
		want(&second, true)
	})
}
