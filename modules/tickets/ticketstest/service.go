package ticketstest

import (
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"marquee/modules/accounts"
	"marquee/modules/files"
	"marquee/modules/payments"
	"marquee/modules/tickets"
	"marquee/platform/clock"
	"marquee/platform/jobs"
)

// Service makes a service that issues tickets, for the tests of modules above. No
// gateway is behind it, so it sells none.
func Service(t testing.TB, db *pgxpool.Pool, now clock.Clock, users *accounts.Service,
	archive *files.Service) *tickets.Service {
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
