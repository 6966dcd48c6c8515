package door

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/state"
	"marquee/platform/clock"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// TestWithoutTheConditionManyDoorsOpen: doors that look at the ticket and write
// after, without asking whether it still is available, let everybody in. The
// condition of TicketConsume is what TestTwentyDoorsOneTicket holds by.
func TestWithoutTheConditionManyDoorsOpen(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	base := events.Base{Pool: db, Clock: clock.System{}, Accounts: accountstest.Service(t, db)}
	sale := events.New(events.Deps{Base: base})
	s := New(Deps{Base: base, Events: sale})
	event := objectid.New()
	_, err := db.Exec(t.Context(), "INSERT INTO tickets.events (id, title, event_date) VALUES ($1, 'Premiere', $2)",
		event, time.Now().Add(24*time.Hour))
	require.NoError(t, err)
	var issued []objectid.ID
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) (err error) {
		issued, err = sale.IssueTx(t.Context(), tx, events.Issue{
			EventID: event, CustomerIDs: []objectid.ID{accountstest.Customer(t, db).ID},
		})
		return err
	}))
	var seen, all sync.WaitGroup
	seen.Add(3)
	var in atomic.Int32
	for range 3 {
		all.Go(func() {
			_, err := s.useTicket(t.Context(), issued[0], func(tx pgx.Tx) (events.Ticket, error) {
				read, err := s.db.TicketGet(t.Context(), tx, issued[0])
				seen.Done()
				seen.Wait() // all have seen it available
				if err != nil || read.Status != state.Available {
					return read, pgx.ErrNoRows
				}
				_, err = tx.Exec(t.Context(),
					"UPDATE tickets.tickets SET status = 'consumed', consumed_at = now() WHERE id = $1", read.ID)
				return read, err
			})
			if err == nil {
				in.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 3, in.Load())
}
