package payments_test

import (
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

func settled(id, native string) gateway.Payment {
	return gateway.Payment{
		ID: id, Status: gateway.PaymentStatusSettled, NativeStatus: native, Method: gateway.MethodCard, Amount: 4990,
	}
}

func (b *bundle) record(r payments.Record) bool {
	b.t.Helper()
	var first bool
	err := postgres.InTx(b.t.Context(), b.pool, func(tx pgx.Tx) (err error) {
		first, err = b.svc.RecordPaymentTx(b.t.Context(), tx, r)
		return err
	})
	require.NoError(b.t, err)
	return first
}

func TestCardReceivedDaysAfterConfirmedCountsOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := payments.Record{
		Owner: gateway.Owner{
			Gateway: gateway.GWA, Purpose: gateway.ForSubscription, LocalID: objectid.New(), CustomerID: objectid.New(),
		},
		Payment: settled("pay_1", "CONFIRMED"),
	}
	at := b.clock.Now()
	r.Payment.SettledAt = &at
	require.True(t, b.record(r))
	require.False(t, b.record(r))

	later := at.AddDate(0, 0, 32)
	r.Payment.NativeStatus, r.Payment.SettledAt = "RECEIVED", &later
	require.False(t, b.record(r), "the same money")
	r.Payment.NativeStatus = "CONFIRMED"
	require.False(t, b.record(r))

	rows, err := b.svc.PaymentsOf(t.Context(), b.pool, gateway.ForSubscription, r.LocalID)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, "RECEIVED", rows[0].Payment.NativeStatus, "never back to CONFIRMED")
	require.Equal(t, at, *rows[0].Payment.SettledAt, "the first word counts")
	require.EqualValues(t, 4990, rows[0].Payment.Amount)
	require.Equal(t, r.CustomerID, rows[0].CustomerID)

	none, err := b.svc.PaymentsOf(t.Context(), b.pool, gateway.ForOrder, r.LocalID)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestPaymentIntentIsAddedOnceKnown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := payments.Record{
		Owner: gateway.Owner{
			Gateway: gateway.GWB, Purpose: gateway.ForSubscription, LocalID: objectid.New(), CustomerID: objectid.New(),
		},
		Payment: settled("in_1", "paid"),
	}
	r.Payment.InvoiceID = "in_1"
	require.True(t, b.record(r), "a newer invoice.paid does not tell it")
	r.Payment.PaymentIntentID = "pi_1"
	require.False(t, b.record(r))
	r.Payment.PaymentIntentID = ""
	require.False(t, b.record(r))
	rows, err := b.svc.PaymentsOf(t.Context(), b.pool, gateway.ForSubscription, r.LocalID)
	require.NoError(t, err)
	require.Equal(t, "pi_1", rows[0].Payment.PaymentIntentID)
}

func TestAbsentIsWhatTheLedgerHasNoneOf(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := payments.Record{
		Owner: gateway.Owner{
			Gateway: gateway.GWB, Purpose: gateway.ForSubscription, LocalID: objectid.New(), CustomerID: objectid.New(),
		},
		Payment: settled("in_1", "paid"),
	}
	r.Payment.PaymentIntentID = "pi_1"
	type absent struct{ Payment, Others, Failures bool }
	failedAt := time.Now().UTC().Truncate(time.Microsecond)
	since := failedAt.Add(-time.Second)
	requireAbsent := func(want absent, id string, localID objectid.ID) {
		t.Helper()
		rows, err := b.pool.Query(t.Context(), "SELECT * FROM payments.absent_since($1, $2, $3, $4, $5)",
			r.Gateway, id, r.Purpose, localID, since)
		require.NoError(t, err)
		found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[absent])
		require.NoError(t, err)
		require.Equal(t, want, found)
	}
	requireAbsent(absent{Payment: true, Others: true, Failures: true}, "in_1", r.LocalID)
	require.True(t, b.record(r))
	for _, id := range []string{"in_1", "pi_1"} {
		requireAbsent(absent{Others: true, Failures: true}, id, r.LocalID)
		requireAbsent(absent{Failures: true}, id, objectid.New())
	}
	requireAbsent(absent{Payment: true, Others: true, Failures: true}, "in_2", r.LocalID)

	require.NoError(t, postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error {
		_, err := b.svc.RecordFailureTx(t.Context(), tx, payments.Failure{
			Gateway: r.Gateway, Purpose: r.Purpose, LocalID: r.LocalID, PaymentID: "in_3", Attempt: 1,
			Amount: 4990, FailedAt: failedAt,
		})
		return err
	}))
	requireAbsent(absent{Payment: true, Others: true}, "in_2", r.LocalID)
	since = failedAt
	requireAbsent(absent{Payment: true, Others: true, Failures: true}, "in_2", r.LocalID)
}

// Each renewal looks: also when the ledger has millions of rows.
func TestWhatTheLedgerHasNoneOfIsReadByIndexes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), "SET LOCAL enable_seqscan = off") // where an index can be read it is, however small the table
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT * FROM payments.absent_since($1, $2, $3, $4, now())", "gwb", "in_1",
		"subscription", objectid.New())
	require.NoError(t, err)
	for _, table := range []string{"payments.payments", "payments.failed_attempts"} {
		var whole, byIndex int
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables
			WHERE relid = $1::text::regclass`, table).Scan(&whole, &byIndex))
		require.Zero(t, whole, table)
		require.Positive(t, byIndex, table)
	}
}

func TestTheSameIdAtBothGatewaysIsTwoPayments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := payments.Record{
		Owner: gateway.Owner{
			Gateway: gateway.GWA, Purpose: gateway.ForOrder, LocalID: objectid.New(), CustomerID: objectid.New(),
		},
		Payment: settled("x", "RECEIVED"),
	}
	require.True(t, b.record(r))
	r.Gateway = gateway.GWB
	require.True(t, b.record(r))
}

func TestOnlySettledPaymentsEnterTheLedger(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, p := range []gateway.Payment{
		{ID: "pay_1", Status: gateway.PaymentStatusPending}, {Status: gateway.PaymentStatusSettled},
	} {
		err := postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error {
			_, err := b.svc.RecordPaymentTx(t.Context(), tx, payments.Record{
				Owner: gateway.Owner{
					Gateway: gateway.GWA, Purpose: gateway.ForOrder, LocalID: objectid.New(),
				},
				Payment: p,
			})
			return err
		})
		require.Error(t, err)
	}
}

// recordAtOnce records one payment from eight sides and counts who was first.
func recordAtOnce(b *bundle) int {
	r := payments.Record{
		Owner: gateway.Owner{
			Gateway: gateway.GWA, Purpose: gateway.ForOrder, LocalID: objectid.New(), CustomerID: objectid.New(),
		},
		Payment: settled("pay_1", "RECEIVED"),
	}
	firsts := make([]bool, 8)
	var all sync.WaitGroup
	for i := range firsts {
		all.Go(func() { firsts[i] = b.record(r) })
	}
	all.Wait()
	n := 0
	for _, first := range firsts {
		if first {
			n++
		}
	}
	return n
}

func TestOneOfManyAtOnceIsFirst(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1, recordAtOnce(setup(t)))
}

func TestManyAreFirstWithoutTheConstraint(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.pool.Exec(t.Context(),
		"ALTER TABLE payments.payments DROP CONSTRAINT payments_one_row_per_gateway_payment")
	require.NoError(t, err)
	require.Equal(t, 8, recordAtOnce(b))
}

func (b *bundle) fail(id string, attempt int) bool {
	b.t.Helper()
	var first bool
	err := postgres.InTx(b.t.Context(), b.pool, func(tx pgx.Tx) (err error) {
		first, err = b.svc.RecordFailureTx(b.t.Context(), tx, payments.Failure{
			Gateway: gateway.GWB, Purpose: gateway.ForSubscription, LocalID: objectid.New(), PaymentID: id,
			Attempt: attempt, Amount: 4990, FailedAt: time.Now(),
		})
		return err
	})
	require.NoError(b.t, err)
	return first
}

// TestFailedAttemptIsCountedOnce: 0 stands for the status event, which tells no
// number; the order of the two events is not fixed.
func TestFailedAttemptIsCountedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	type report struct {
		attempt int
		first   bool
	}
	for name, reports := range map[string][]report{
		"repeated":                {{1, true}, {1, false}, {2, true}, {1, false}},
		"invoice before status":   {{1, true}, {0, false}, {2, true}, {0, false}, {3, true}},
		"status before invoice":   {{0, true}, {0, false}, {1, false}, {1, false}, {2, true}},
		"status, late first":      {{0, true}, {2, false}, {1, true}, {2, false}},
		"status in the middle":    {{1, true}, {2, true}, {0, false}, {1, false}, {3, true}},
		"the second and no other": {{2, true}, {0, false}},
	} {
		for i, r := range reports {
			require.Equal(t, r.first, b.fail("in_"+name, r.attempt), "%s: report %d", name, i)
		}
	}
}

func TestBothReportsOfAFailureAtOnceCountOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	firsts := make([]bool, 8)
	var all sync.WaitGroup
	for i := range firsts {
		all.Go(func() { firsts[i] = b.fail("in_1", i%2) })
	}
	all.Wait()
	n := 0
	for _, first := range firsts {
		if first {
			n++
		}
	}
	require.Equal(t, 1, n)
	require.Equal(t, 1, b.count("SELECT count(*) FROM payments.failed_attempts"))
}
