package attacks

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/payments/paymentstest"
	"marquee/testutil/apitest"
)

// hold locks tables until the test ends or they are released, by a connection that is none of
// the platform's.
func (p *platform) hold(tables string) (release func()) {
	p.T.Helper()
	conn, err := pgx.Connect(p.T.Context(), p.DB.Config().ConnString())
	require.NoError(p.T, err)
	_, err = conn.Exec(p.T.Context(), "BEGIN; LOCK TABLE "+tables)
	require.NoError(p.T, err)
	release = func() { _ = conn.Close(context.WithoutCancel(p.T.Context())) }
	p.T.Cleanup(release)
	return release
}

// round is one of up to five of an attack. On a machine that stands still for a second what is
// prompt comes late now and then, or finds its time for a connection over; what has to wait
// for others is late each time.
type round struct {
	number int
	mu     sync.Mutex
	late   []string
}

// inSomeRound fails when something is late in every round.
func inSomeRound(t *testing.T, play func(r *round)) {
	t.Helper()
	var late []string
	for number := range 5 {
		r := &round{number: number}
		play(r)
		if late = r.late; len(late) == 0 {
			return
		}
	}
	require.Empty(t, late)
}

func (r *round) isLate(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = append(r.late, fmt.Sprintf(format, args...))
}

// within calls f, which is late when it takes longer.
func (r *round) within(limit time.Duration, what string, f func()) {
	began := time.Now()
	f()
	if took := time.Since(began); took > limit {
		r.isLate("%s took %v, longer than %v", what, took, limit)
	}
}

// expect takes an answer of another status for a late one.
func (r *round) expect(status int, what string, a *apitest.Response) {
	if a.Status != status {
		r.isLate("%s: %d %s", what, a.Status, a.Body)
	}
}

// Thirty requests for a table that somebody holds keep everybody else waiting: with five
// connections they are told to come again, and all else goes on.
func TestALockedTableStopsEverythingElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ table, route string }{
		"which every caller needs": {"accounts.users", "/customers"},
		"of the list alone":        {"catalog.videos", "/videos"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := attacked(t, unthrottled,
				func(c *app.Config) {
					c.Database.MaxConns, c.Database.Wait, c.Database.LockWait = 5, time.Second, 2*time.Second
				})
			_, admin := p.NewAdmin()
			var all sync.WaitGroup
			for range 10 { // connections are open, as they are where there is load
				all.Go(func() { p.Guest.Get("/plans") })
			}
			all.Wait()
			inSomeRound(t, func(r *round) {
				release := p.hold(c.table)
				defer release()
				for range 30 {
					all.Go(func() {
						r.within(2500*time.Millisecond, "a list", func() {
							a := admin.Get(c.route).Expect(http.StatusServiceUnavailable)
							require.Equal(t, "SERVICE_BUSY", a.Code())
							require.NotEmpty(t, a.Header.Get("Retry-After"))
						})
					})
				}
				for i := range 10 {
					all.Go(func() {
						r.within(5*time.Second, "a webhook", func() {
							r.expect(http.StatusOK, "a webhook", webhook(p.Guest, "gwa", "asaas-access-token", paymentstest.GWAToken,
								paid(fmt.Sprintf("%d_%d", r.number, i))))
						})
					})
				}
				for range 4 {
					r.within(500*time.Millisecond, "health", func() { r.expect(http.StatusOK, "health", p.Guest.Get("/health")) })
					r.expect(http.StatusOK, "the gateway", p.Guest.Get("/config/payment-gateway"))
					r.expect(http.StatusOK, "plans", p.Guest.Get("/plans"))
				}
				all.Wait()
			})
		})
	}
}

// Events that wait for a table that somebody holds take what is kept for tokens: they
// leave one connection to who signs in, and are stored meanwhile.
func TestEventsBehindALockKeepPeopleFromSigningIn(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled,
		func(c *app.Config) {
			c.Database.MaxConns, c.Database.Wait, c.Database.LockWait = 5, time.Second, 2*time.Second
		})
	p.NewCustomer(platformtest.Named("ana"))
	inSomeRound(t, func(r *round) {
		release := p.hold("subscriptions.subscriptions")
		defer release()
		var all sync.WaitGroup
		waiting := make(chan struct{}, 20)
		for i := range cap(waiting) {
			all.Go(func() {
				waiting <- struct{}{}
				r.expect(http.StatusOK, "a webhook", webhook(p.Guest, "gwa", "asaas-access-token", paymentstest.GWAToken,
					paid(fmt.Sprintf("_lock%d_%d", r.number, i))))
			})
		}
		for range cap(waiting) {
			<-waiting
		}
		for range 5 {
			r.expect(http.StatusOK, "signing in", p.SignIn(p.Guest, "ana", platformtest.Password))
		}
		all.Wait()
	})
}

// Guests who buy wait for a table that somebody holds no longer than anybody else, also
// after the gateway has been told who they are: nobody has paid yet.
func TestPurchasesBehindALock(t *testing.T) {
	t.Parallel()
	for _, table := range strings.Fields("tickets.orders tickets.customers payments.intents") {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			b := selling(t, nil, unthrottled, func(c *app.Config) {
				c.Database.MaxConns, c.Database.Wait, c.Database.LockWait = 5, 500*time.Millisecond, 500*time.Millisecond
			})
			inSomeRound(t, func(r *round) {
				release := b.hold(table)
				defer release()
				var all sync.WaitGroup
				for n := range 8 { // of one event: they do not wait one after the other either
					all.Go(func() {
						r.within(5*time.Second, "a purchase", func() {
							a := b.guest(fmt.Sprintf("203.0.113.%d", n), 1).Expect(http.StatusServiceUnavailable)
							require.Equal(t, "SERVICE_BUSY", a.Code())
							require.NotEmpty(t, a.Header.Get("Retry-After"))
						})
					})
				}
				all.Wait()
			})
			require.Zero(t, b.reservedPlaces())
			require.NotContains(t, b.Logged(), `"ERROR"`)
			b.guest("203.0.113.9", 1).Expect(http.StatusOK)
		})
	}
}

// everyTable are the tables of the platform, partitions apart.
func (p *platform) everyTable() []string {
	p.T.Helper()
	rows, err := p.DB.Query(p.T.Context(),
		`SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^(pg_|information_schema)' ORDER BY 1`)
	require.NoError(p.T, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(p.T, err)
	require.Greater(p.T, len(tables), 50)
	return tables
}

// Whichever table somebody holds, what needs it is told to come again in time, and what
// does not is answered. The waits are shorter than they are by default.
func TestAnyTableLocked(t *testing.T) {
	t.Parallel()
	needed := map[string]string{"/plans": "subscriptions.plans", "/config/payment-gateway": "settings.platform"}
	lists := strings.Fields("/customers /videos /webhook-logs /admin/promo-codes /customers /videos /webhook-logs /events")
	const parts = 4
	for part := range parts {
		t.Run(strconv.Itoa(part), func(t *testing.T) {
			t.Parallel()
			p := attacked(t, unthrottled, func(c *app.Config) {
				c.Database.MaxConns, c.Database.Wait, c.Database.LockWait = 5, 300*time.Millisecond, 500*time.Millisecond
			})
			_, admin := p.NewAdmin()
			for i, table := range p.everyTable() {
				if i%parts != part {
					continue
				}
				inSomeRound(t, func(r *round) {
					release := p.hold(table)
					defer release()
					var all sync.WaitGroup
					for _, route := range lists {
						all.Go(func() {
							r.within(2500*time.Millisecond, route+" beside "+table,
								func() { okOrBusy(t, admin.Get(route), route, table) })
						})
					}
					for n := range 3 {
						all.Go(func() {
							r.within(5*time.Second, "a webhook beside "+table, func() {
								okOrBusy(t, webhook(p.Guest, "gwa", "asaas-access-token", paymentstest.GWAToken,
									paid(fmt.Sprintf("%d_%d_%d", r.number, i, n))), "a webhook", table)
							})
						})
					}
					for range 2 {
						r.within(500*time.Millisecond, "health beside "+table,
							func() { r.expect(http.StatusOK, "health beside "+table, p.Guest.Get("/health")) })
						for route, kind := range needed {
							if a := p.Guest.Get(route); table != kind {
								r.expect(http.StatusOK, route+" beside "+table, a)
							}
						}
					}
					all.Wait()
				})
				require.NotContains(t, p.Logged(), `"ERROR"`, table)
			}
		})
	}
}

// okOrBusy is what anybody gets beside a lock.
func okOrBusy(t *testing.T, a *apitest.Response, what, table string) {
	t.Helper()
	if a.Status == http.StatusOK {
		return
	}
	if a.Status != http.StatusServiceUnavailable || a.Code() != "SERVICE_BUSY" || a.Header.Get("Retry-After") == "" {
		t.Errorf("%s beside %s: %d %s", what, table, a.Status, a.Body)
	}
}

// paid is an event of gateway A about a payment that nobody knows.
func paid(id string) string {
	return fmt.Sprintf(`{"id":"evt_busy%[1]s","event":"PAYMENT_CONFIRMED","dateCreated":"2026-11-20 14:03:12","payment":{"object":"payment","id":"pay_busy%[1]s","customer":"cus_1","subscription":"sub_1","value":49.9,"netValue":47.92,"billingType":"CREDIT_CARD","status":"CONFIRMED","confirmedDate":"2026-11-20","dueDate":"2026-11-20","deleted":false}}`, id)
}

// More requests at once than can be worked on wait for ever: beyond the number each is
// told to come again, while health and webhooks are answered.
func TestMoreRequestsThanCanBeWorkedOn(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled,
		func(c *app.Config) {
			c.HTTP.InFlight, c.Database.Wait, c.Database.LockWait = 3, time.Minute, 2*time.Second
		})
	_, admin := p.NewAdmin()
	p.hold("accounts.users")
	var all sync.WaitGroup
	statuses := make(chan int, 12)
	for range 12 {
		all.Go(func() { statuses <- admin.Get("/customers").Status })
	}
	require.Eventually(t, func() bool { return len(statuses) >= 9 }, time.Minute, time.Millisecond,
		"nine are turned away at once")
	p.Guest.Get("/health").Expect(http.StatusOK)
	p.Guest.Post("/webhooks/gwa", "{}").Expect(http.StatusUnauthorized)
	all.Wait()
	for range 12 {
		require.Equal(t, http.StatusServiceUnavailable, <-statuses)
	}
	p.Guest.Get("/plans").Expect(http.StatusOK)
}
