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

// RequireMovesOfTheTable fails for a move in the history of unapplied payments that their one table does not have, for
// its reason: any where the table has none, and one that goes on where the table's ends in a colon.
func RequireMovesOfTheTable(ctx context.Context, t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	rows, err := db.Query(ctx,
		"SELECT DISTINCT coalesce(from_state, ''), to_state, coalesce(reason, '') FROM payments.unapplied_decisions")
	require.NoError(t, err)
	var from, to state.Unapplied
	var reason string
	_, err = pgx.ForEachRow(rows, []any{&from, &to, &reason}, func() error {
		listed := slices.ContainsFunc(state.UnappliedPayments,
			func(r transition.Row[state.Unapplied, state.UnappliedAction]) bool {
				target, moves := r.Moves[from]
				goesOn := strings.HasSuffix(r.Reason, ":") && strings.HasPrefix(reason, r.Reason+" ")
				return moves && target == to && (r.Reason == "" || r.Reason == reason || goesOn)
			})
		require.True(t, listed, "unapplied payment: %q → %q for the reason %q", from, to, reason)
		return nil
	})
	require.NoError(t, err)
}
