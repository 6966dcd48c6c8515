// Package ticketstest makes events for tests: real rows, one line each, no
// gateway.
package ticketstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Event makes an active event on sale in a month, at 120.50 reais, with so many
// places; below 0 for unlimited.
func Event(t testing.TB, db postgres.DB, capacity int) objectid.ID {
	t.Helper()
	return EventAt(t, db, capacity, time.Now().Add(30*24*time.Hour))
}

// EventAt makes such an event that starts at an instant, and ends three hours
// later.
func EventAt(t testing.TB, db postgres.DB, capacity int, start time.Time) objectid.ID {
	t.Helper()
	id := objectid.New()
	_, err := db.Exec(t.Context(),
		`INSERT INTO tickets.events (id, title, event_date, location, capacity, ticket_value_cents, is_sale_box_office)
		VALUES ($1, 'Premiere', $2, 'Cine Ipiranga', NULLIF(greatest($3::int, -1), -1), 12050, true)`, id,
		start.UTC().Truncate(time.Millisecond), capacity)
	require.NoError(t, err)
	return id
}
