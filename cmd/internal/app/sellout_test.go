package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
	"marquee/testutil/soak"
)

// TestSelloutSoak: hundreds of buyers at once, by card and PIX at both gateways, as
// customers and as guests, by promo code and from an admin's hand, at an event
// with far fewer seats. Holds run out while their payments arrive. In the end
// every seat is taken once, was never taken twice at any moment, nobody got an
// error of ours, and every charge at the gateways is seated or refunded. Then a
// promo code and a sale race for one last seat.
func TestSelloutSoak(t *testing.T) {
	t.Parallel()
	s := newSellout(t, soak.Rounds(75, 500), soak.Rounds(15, 100))
	for round := range soak.Rounds(1, 50) {
		began := time.Now()
		require.Empty(t, s.run(), "round %d", round)
		t.Logf("round %d: %v, %d samples, answers %v, charges %v", round, time.Since(began).Round(time.Millisecond),
			s.samples, s.outcomes, s.charges)
	}
	s.raceForTheLastSeat(soak.Rounds(6, 200))
}

// TestSelloutWithoutTheGuard shows that the test above can fail: the one condition
// that no ticket is issued beyond the capacity is taken away.
func TestSelloutWithoutTheGuard(t *testing.T) {
	t.Parallel()
	s := newSellout(t, 25, 10)
	s.removeGuard()
	require.Contains(t, strings.Join(s.run(), "; "), "seats are taken, of 10")
	s.giveTheLastSeatTwice()
}

// sellout is the platform with as many customers as are to buy.
type sellout struct {
	w                *platformtest.Platform
	buyers, seats    int
	customers        []*apitest.Client
	recipient        objectid.ID // of the admin's tickets
	event            objectid.ID
	promo            string
	mu               sync.Mutex
	outcomes         map[string]int // of the round, by kind and status
	charges          map[string]int // of the round at the gateways, by what became of them
	unpaid           []func() error
	problems         []string
	samples, highest int
}

func newSellout(t *testing.T, buyers, seats int) *sellout {
	t.Helper()
	s := &sellout{buyers: buyers, seats: seats}
	s.w = running(t, func(c *app.Config) {
		c.Keys.Tokens = accountstest.Config().TokenKeys                        // so that logging hundreds of customers in costs nothing
		c.HTTP.TrustedProxies, c.Database.MaxConns = []string{"127.0.0.1"}, 12 // everybody has an address of their own
		c.Promos.PerMinute, c.Promos.PerAddress = 10_000, 10_000
		c.Throttle.Off = false // the limits of unpaid places are in the way of guests, and keep no seat empty
	})
	for range buyers*3/5 + 1 {
		c := accountstest.Customer(t, s.w.DB)
		s.recipient = c.ID
		s.customers = append(s.customers, s.w.Guest.As(accountstest.Token(t, s.w.DB, c.Username)))
	}
	return s
}

func (s *sellout) removeGuard() {
	s.w.Unsound("capacity_respected")
	s.w.Exec("ALTER TABLE tickets.events DISABLE TRIGGER events_capacity_respected")
}

// open puts an event with so many seats on sale, and a promo code that gives a
// ticket to it.
func (s *sellout) open(seats int) {
	event := s.w.Make(s.w.Admin(), "/events", object{
		"title": "Premiere", "event_date": time.Now().Add(30 * 24 * time.Hour).Format(time.RFC3339),
		"capacity": seats, "ticket_value": 60, "is_sale_box_office": true,
	})
	s.event = objectid.ID(event["_id"].(string))
	code := s.w.Make(s.w.Admin(), "/admin/promo-codes",
		object{"title": "Premiere", "code_type": "ticket", "event_id": s.event})
	s.promo = code["code"].(string)
	s.w.Exec("DELETE FROM tickets.declines") // or the bad cards are soon not even tried
	s.outcomes, s.charges, s.problems, s.unpaid, s.samples, s.highest = map[string]int{}, map[string]int{}, nil, nil, 0,
		0
}

// run sells an event out and returns what is wrong.
func (s *sellout) run() []string {
	s.open(s.seats)
	stop := s.sample()
	var rush sync.WaitGroup
	for i := range s.buyers {
		rush.Go(func() { s.buy(i) })
	}
	rush.Wait()
	s.expireWhilePaid()
	s.settled()
	s.closeOut()
	stop()
	s.check()
	return s.problems
}

// closeOut sells what is left. Then nobody gets in, not even by an admin's hand.
func (s *sellout) closeOut() {
	for n := 0; s.buyCard(n%s.buyers, 1, paymentstest.TokenApproved).Status == http.StatusOK; n++ {
		require.Less(s.w.T, n, 2*s.buyers, "the event never sells out")
	}
	s.give(http.StatusConflict)
	s.settled()
}

// sample looks every 50 ms how many seats are taken, until stop.
func (s *sellout) sample() (stop func()) {
	ctx, cancel := context.WithCancel(s.w.T.Context())
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			var counted, rows int
			err := s.w.DB.QueryRow(context.WithoutCancel(ctx),
				`SELECT tickets_issued, (SELECT count(*) FROM tickets.tickets t WHERE t.event_id = e.id AND t.status <> 'expired')
				FROM tickets.events e WHERE id = $1`, s.event).Scan(&counted, &rows)
			s.mu.Lock()
			s.samples, s.highest = s.samples+1, max(s.highest, rows)
			if err != nil || counted != rows {
				s.problems = append(s.problems,
					fmt.Sprintf("sample: %d seats counted, %d tickets, %v", counted, rows, err))
			}
			s.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// expireWhilePaid lets all holds run out at once, while half of the unpaid codes are
// being paid and others buy what becomes free. Some places were given back here
// a moment before, so that their payments come too late to be refused.
func (s *sellout) expireWhilePaid() {
	ctx := s.w.T.Context()
	s.w.Exec(`WITH early AS (
			UPDATE tickets.orders SET state = 'released' WHERE event_id = $1 AND state = 'reserved' AND gateway_payment_id IS NOT NULL AND right(id, 1) < '8' RETURNING id)
		UPDATE tickets.tickets SET status = 'expired' WHERE order_id IN (SELECT id FROM early)`, s.event)
	s.w.Exec("UPDATE tickets.orders SET hold_until = now() - interval '1 s' WHERE event_id = $1 AND state = 'reserved'",
		s.event)
	var all sync.WaitGroup
	all.Go(func() {
		if err := s.w.Tickets().Sweep(ctx); err != nil {
			s.wrong("sweep: %v", err)
		}
	})
	for i, pay := range s.unpaid {
		all.Go(func() { s.buyCard(i, 1+i%3, paymentstest.TokenApproved) })
		if i%2 == 0 {
			all.Go(func() { _ = pay() }) // refused when the code is cancelled already
		}
	}
	all.Wait()
}

// settled waits until webhooks are delivered and no order waits for money or for
// its refund.
func (s *sellout) settled() {
	s.w.Settle()
	require.Eventually(s.w.T, func() bool {
		return s.w.Count("SELECT count(*) FROM tickets.orders WHERE event_id = $1 AND state IN ('reserved', 'refund_due')", s.event) == 0
	}, 60*time.Second, 20*time.Millisecond, "orders settle")
	s.w.Settle()
}

// check looks at the end: seats, orders, and what the gateways say of their money.
func (s *sellout) check() {
	if s.highest > s.seats {
		s.wrong("at a moment %d seats are taken, of %d", s.highest, s.seats)
	}
	good := s.w.Count("SELECT count(*) FROM tickets.tickets WHERE event_id = $1 AND status = 'available'", s.event)
	issued := s.w.Count("SELECT tickets_issued FROM tickets.events WHERE id = $1", s.event)
	if good != s.seats || issued != s.seats {
		s.wrong("in the end %d seats are taken, of %d; %d are counted", good, s.seats, issued)
	}
	type row struct {
		ID       objectid.ID
		State    string
		Quantity int
		Good     int
		Charges  int
	}
	rows, err := s.w.DB.Query(s.w.T.Context(),
		`SELECT id, state, quantity, (SELECT count(*) FROM tickets.tickets t WHERE t.order_id = o.id AND t.status = 'available') AS good, 0 AS charges
		FROM tickets.orders o WHERE event_id = $1`, s.event)
	require.NoError(s.w.T, err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	require.NoError(s.w.T, err)
	orders := map[objectid.ID]*row{}
	for i := range list {
		orders[list[i].ID] = &list[i]
	}
	for _, c := range s.w.Gateways.Charges(s.w.T) {
		o, ours := orders[c.LocalID]
		switch {
		case !ours:
		case !c.Succeeded:
			s.charges["unpaid"]++
		case c.Refunded:
			s.charges["refunded"]++
			if o.State != "refunded" {
				s.wrong("%s charge %s is refunded, its order %s", c.Gateway, c.ID, o.State)
			}
		default:
			s.charges["seated"]++
			o.Charges++
		}
	}
	for _, o := range list {
		seated := o.State == "paid" && o.Good == o.Quantity && o.Charges == 1
		unpaid := o.State != "paid" && o.Good == 0 && o.Charges == 0
		if !seated && !unpaid {
			s.wrong("order %s is %s with %d of %d tickets and %d charges", o.ID, o.State, o.Good, o.Quantity, o.Charges)
		}
	}
}

func (s *sellout) wrong(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}
