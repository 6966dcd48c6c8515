package tickets_test

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/tickets/state"
	"marquee/platform/transition"
)

// requireMovesOfTheTable fails for a move in the histories of tickets and orders that their one table does not have, for
// its reason. What a test moves by hand is not recorded.
func requireMovesOfTheTable(ctx context.Context, b *bundle) {
	requireListed(ctx, b, state.Tickets,
		"SELECT DISTINCT coalesce(from_status, ''), to_status, reason FROM tickets.transitions WHERE to_status <> 'deleted'")
	requireListed(ctx, b, state.Orders,
		"SELECT DISTINCT coalesce(from_state, ''), to_state, reason FROM tickets.order_transitions WHERE reason <> 'not_recorded'")
}

func requireListed[S, A ~string](ctx context.Context, b *bundle, table transition.Table[S, A], moves string) {
	rows, err := b.db.Query(ctx, moves)
	require.NoError(b.t, err)
	var from, to S
	var reason string
	_, err = pgx.ForEachRow(rows, []any{&from, &to, &reason}, func() error {
		listed := slices.ContainsFunc(table, func(r transition.Row[S, A]) bool {
			target, moves := r.Moves[from]
			return moves && target == to && r.Reason == reason
		})
		require.True(b.t, listed, "%q → %q for the reason %q", from, to, reason)
		return nil
	})
	require.NoError(b.t, err)
}
