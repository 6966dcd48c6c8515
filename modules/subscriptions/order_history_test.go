package subscriptions_test

import (
	"context"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions/state"
	"marquee/platform/objectid"
	"marquee/platform/transition"
)

// orderHistory are the moves of a subscription's orders of one kind, each with its action and its reason; of several
// orders one after the other.
func (b *bundle) orderHistory(t *testing.T, kind string, id objectid.ID) []string {
	t.Helper()
	rows, err := b.db.Query(t.Context(), `SELECT concat_ws(' ', from_state || '>' || to_state, CASE WHEN from_state IS NULL THEN '>' || to_state END, action || ':', reason)
		FROM subscriptions.order_transitions WHERE kind = $1 AND subscription_id = $2 ORDER BY item, id`, kind, id)
	require.NoError(t, err)
	moves, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return moves
}

// requireOrderMovesOfTheTables fails for a move in the history of the orders beside subscriptions that the table of its
// kind does not have, by its action and for its reason: any where the table has none. What a test moves by hand is not
// recorded.
func requireOrderMovesOfTheTables(ctx context.Context, t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	rows, err := db.Query(ctx, `SELECT DISTINCT kind, coalesce(from_state, ''), to_state, action, coalesce(reason, '')
		FROM subscriptions.order_transitions WHERE action <> $1`, state.NotRecorded)
	require.NoError(t, err)
	var kind, from, to, by, reason string
	_, err = pgx.ForEachRow(rows, []any{&kind, &from, &to, &by, &reason}, func() error {
		listed := map[string]func(from, to, by, reason string) bool{
			"renewal_charge": listedIn(state.Charges), "plan_move": listedIn(state.Moves),
			"charge_move": listedIn(state.Moves), "pause": listedIn(state.Pauses), "debit_retry": listedIn(state.Retries),
		}[kind]
		require.True(t, listed(from, to, by, reason), "%s: %q → %q by %q for the reason %q", kind, from, to, by, reason)
		return nil
	})
	require.NoError(t, err)
}

func listedIn[S, A ~string](table transition.Table[S, A]) func(from, to, by, reason string) bool {
	return func(from, to, by, reason string) bool {
		return slices.ContainsFunc(table, func(r transition.Row[S, A]) bool {
			target, moves := r.Moves[S(from)]
			return string(r.By) == by && moves && string(target) == to && (r.Reason == "" || r.Reason == reason)
		})
	}
}

// TestAnOrderMovedPastItsHistoryIsRecorded: at psql, or by the release before. Nobody changes what is recorded.
func TestAnOrderMovedPastItsHistoryIsRecorded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := dueByPix(t, b, "gwa")
	b.expect(t, 201, "POST", renewPixPath, nil)
	exec := func(sql string) error {
		_, err := b.db.Exec(t.Context(), sql)
		return err
	}
	require.NoError(t, exec(`UPDATE subscriptions.renewal_charges SET state = 'gone';
		INSERT INTO subscriptions.debits (subscription_id, cycle, due_date, amount_cents, register_date, tried_at) SELECT id, '2027-01-10', '2027-01-10', 4990, now(), now() FROM subscriptions.subscriptions;
		INSERT INTO subscriptions.debit_retries (subscription_id, cycle, retry_date, state, register_date) SELECT subscription_id, cycle, '2027-01-11', 'planned', now() FROM subscriptions.debits;
		UPDATE subscriptions.debit_retries SET tried_at = now();
		UPDATE subscriptions.debit_retries SET state = 'dropped', ended_at = now()`))
	require.Equal(t, []string{">open code_ordered: a further period", "open>gone not_recorded:"},
		b.orderHistory(t, "renewal_charge", id))
	require.Equal(t, []string{">planned not_recorded:", "planned>dropped not_recorded:"}, b.orderHistory(t, "debit_retry", id))
	require.Equal(t, "2027-01-10/2027-01-11", b.text(t, "SELECT DISTINCT item FROM subscriptions.order_transitions WHERE kind = 'debit_retry'"))
	for _, change := range []string{
		"UPDATE subscriptions.order_transitions SET reason = 'x'", "DELETE FROM subscriptions.order_transitions",
	} {
		require.ErrorContains(t, exec(change), "subscriptions.order_transitions is append-only")
	}
}
