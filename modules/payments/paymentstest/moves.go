package paymentstest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/state"
	"marquee/platform/transition"
)

// RequireMovesOfTheTable fails for a move in the history of unapplied payments, of refunds, of disputes or of intents that
// their one table does not have, for its reason: any where the table has none, and one that goes on where the table's
// ends in a colon. What a test moves of a refund or a dispute by hand is not recorded.
func RequireMovesOfTheTable(ctx context.Context, t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	requireListed(ctx, t, db, state.UnappliedPayments,
		"SELECT DISTINCT coalesce(from_state, ''), to_state, '', coalesce(reason, '') FROM payments.unapplied_decisions")
	requireListed(ctx, t, db, state.Refunds, `
		SELECT DISTINCT coalesce(from_state, ''), to_state, action, coalesce(reason, '')
		FROM payments.refund_transitions WHERE action <> '`+state.NotRecorded+`'`)
	requireListed(ctx, t, db, state.Disputes, `
		SELECT DISTINCT coalesce(from_state, ''), to_state, action, coalesce(reason, '')
		FROM payments.dispute_transitions WHERE action <> '`+state.NotRecorded+`'`)
	requireListed(ctx, t, db, state.Intents, `
		SELECT DISTINCT coalesce(lag(state) OVER (PARTITION BY intent_id ORDER BY id), ''), state, outcome, ''
		FROM payments.intent_steps`)
}

// requireListed asks for moves by a query: from where, to where, by what action where the history says so, and why.
func requireListed[S, A ~string](ctx context.Context, t testing.TB, db *pgxpool.Pool, table transition.Table[S, A],
	moves string,
) {
	t.Helper()
	rows, err := db.Query(ctx, moves)
	require.NoError(t, err)
	var from, to S
	var by A
	var reason string
	_, err = pgx.ForEachRow(rows, []any{&from, &to, &by, &reason}, func() error {
		listed := slices.ContainsFunc(table, func(r transition.Row[S, A]) bool {
			target, moves := r.Moves[from]
			goesOn := strings.HasSuffix(r.Reason, ":") && strings.HasPrefix(reason, r.Reason+" ")
			said := r.Reason == "" || r.Reason == reason || goesOn
			return moves && target == to && (by == "" || by == r.By) && said
		})
		require.True(t, listed, "%T: %q → %q by %q for the reason %q", from, from, to, by, reason)
		return nil
	})
	require.NoError(t, err)
}
