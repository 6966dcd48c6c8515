package tickets_test

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/tickets/state"
	"marquee/platform/transition"
)

// requireMovesOfTheTable fails for a move in the history of tickets that the one table does not have, for its reason.
func requireMovesOfTheTable(ctx context.Context, b *bundle) {
	rows, err := b.db.Query(ctx, `SELECT DISTINCT coalesce(from_status, ''), to_status, reason FROM tickets.transitions
		WHERE to_status <> 'deleted'`)
	require.NoError(b.t, err)
	var from, to state.Ticket
	var reason string
	_, err = pgx.ForEachRow(rows, []any{&from, &to, &reason}, func() error {
		listed := slices.ContainsFunc(state.Tickets, func(r transition.Row[state.Ticket, state.TicketAction]) bool {
			target, moves := r.Moves[from]
			return moves && target == to && r.Reason == reason
		})
		require.True(b.t, listed, "%q → %q for the reason %q", from, to, reason)
		return nil
	})
	require.NoError(b.t, err)
}
