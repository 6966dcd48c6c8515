package payments_test

import (
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// list puts a case on the list, as whoever books the money does.
func (b *bundle) list(u payments.Unapplied) bool {
	b.t.Helper()
	var first bool
	err := postgres.InTx(b.t.Context(), b.pool, func(tx pgx.Tx) (err error) {
		first, err = b.svc.Cases().RecordUnappliedTx(b.t.Context(), tx, u)
		return err
	})
	require.NoError(b.t, err)
	return first
}

func TestUnappliedPaymentIsListedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := payments.Unapplied{
		Kind: payments.UnappliedLate, Gateway: gateway.GWA, PaymentID: "pay_1", Amount: new(money.Cents(4990)),
		CustomerID: objectid.New(),
	}
	var wg sync.WaitGroup
	firsts := make(chan bool, 8)
	for range cap(firsts) {
		wg.Go(func() { firsts <- b.list(u) })
	}
	wg.Wait()
	close(firsts)
	n := 0
	for first := range firsts {
		if first {
			n++
		}
	}
	require.Equal(t, 1, n, "one row a payment, whoever comes first")
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.unapplied_payments"))
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.unapplied_decisions WHERE from_state IS NULL AND to_state = 'open'"))
	u.Gateway = gateway.GWB
	require.True(t, b.list(u), "the other gateway's ids are its own")
}

// TestUnappliedUnknownIsCompleted: an answer that nobody knew stands under its
// subject; a payment that nobody could place takes the kind that it turns out to have.
func TestUnappliedUnknownIsCompleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.True(t, b.list(payments.Unapplied{
		Kind: payments.UnappliedUnknown, Gateway: gateway.GWA, Subject: objectid.New().String(),
	}))
	require.True(t, b.list(payments.Unapplied{
		Kind: payments.UnappliedUnknown, Gateway: gateway.GWA, PaymentID: "pay_2",
	}))
	require.False(t, b.list(payments.Unapplied{
		Kind: payments.UnappliedDuplicate, Gateway: gateway.GWA, PaymentID: "pay_2", Amount: new(money.Cents(1990)),
		SubscriptionID: objectid.New(), Note: "twice",
	}))
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'duplicate' AND amount_cents = 1990 AND note = 'twice' AND subscription_id IS NOT NULL"))
	require.False(t, b.list(payments.Unapplied{
		Kind: payments.UnappliedLate, Gateway: gateway.GWA, PaymentID: "pay_2", Amount: new(money.Cents(7)),
	}))
	require.Equal(t, 1,
		b.count("SELECT count(*) FROM payments.unapplied_payments WHERE kind = 'duplicate' AND amount_cents = 1990"),
		"what is known stays")
}

func TestUnappliedRefusesWhatItIsNot(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, u := range []payments.Unapplied{
		{Kind: payments.UnappliedUnknown, Gateway: gateway.GWA},
		{Kind: payments.UnappliedLate, Gateway: gateway.GWA, PaymentID: "pay_1"},
		{Kind: payments.UnappliedLate, Gateway: gateway.GWA, Subject: "sub_1", Amount: new(money.Cents(1))},
		{Kind: "lost", Gateway: gateway.GWA, PaymentID: "pay_1", Amount: new(money.Cents(1))},
		{Kind: payments.UnappliedLate, Gateway: "gwc", PaymentID: "pay_1", Amount: new(money.Cents(1))},
		{Kind: payments.UnappliedLate, Gateway: gateway.GWA, PaymentID: "pay_1", Amount: new(money.Cents(-1))},
	} {
		err := postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error {
			_, err := b.svc.Cases().RecordUnappliedTx(t.Context(), tx, u)
			return err
		})
		require.Error(t, err, "%+v", u)
	}
	require.True(t, b.list(payments.Unapplied{Kind: payments.UnappliedUnknown, Gateway: gateway.GWA, Subject: "sub_1"}))
	_, err := b.pool.Exec(t.Context(), "DELETE FROM payments.unapplied_decisions")
	require.ErrorContains(t, err, "append-only")
}
