// Package ticketstest makes events for tests: real rows, one line each, no
// gateway.
package ticketstest

import (
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/files"
	"marquee/modules/payments"
	"marquee/modules/tickets"
	"marquee/platform/clock"
	"marquee/platform/jobs"
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

// Service makes a service that issues tickets, for the tests of modules above. No
// gateway is behind it, so it sells none.
func Service(t testing.TB, db *pgxpool.Pool, now clock.Clock, users *accounts.Service,
	archive *files.Service,
) *tickets.Service {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	inserter, err := jobs.New(db, jobs.Options{Log: log})
	if err != nil {
		t.Fatalf("ticketstest: %v", err)
	}
	return tickets.New(tickets.Deps{
		Pool: db, Jobs: inserter, Clock: now, Log: log, Accounts: users, Files: archive,
		Payments: payments.New(payments.Deps{Pool: db, Jobs: inserter, Clock: now, Log: log}),
		Config:   tickets.Config{FileKey: []byte("0123456789abcdef0123456789abcdef")},
	})
}
