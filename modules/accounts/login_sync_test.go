package accounts_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

func readerOf(s string) *strings.Reader { return strings.NewReader(s) }

// gateway counts questions and answers as told.
type gateway struct {
	calls   atomic.Int64
	respond func(ctx context.Context) error
}

func (g *gateway) SyncSubscription(ctx context.Context, _ objectid.ID) error {
	g.calls.Add(1)
	return g.respond(ctx)
}

var (
	succeeds = func(context.Context) error { return nil }
	fails    = func(context.Context) error { return errors.New("the gateway is down") }
	hangs    = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
)

// subscriber is a customer who logs in with a subscription.
func subscriber(t *testing.T, b *bundle) accounts.Customer {
	t.Helper()
	c := accountstest.Customer(t, b.db)
	require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
		return b.svc.SetCurrentSubscriptionTx(t.Context(), tx, c.ID, objectid.New())
	}))
	return c
}

func syncJobs(t *testing.T, b *bundle) int {
	t.Helper()
	return b.count(t, `SELECT count(*) FROM jobs.river_job WHERE kind = 'accounts_sync_subscription'`)
}

func TestLoginAsksTheGatewayOfSubscribersAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := &gateway{respond: succeeds}
	b.svc.Connect(accounts.Above{Sync: g})
	b.token(t, accountstest.Customer(t, b.db).Username)
	b.token(t, accountstest.Admin(t, b.db).Username)
	require.Zero(t, g.calls.Load())
	c := subscriber(t, b)
	b.token(t, c.Username)
	require.EqualValues(t, 1, g.calls.Load())
	require.Equal(t, 401, b.login(t, c.Username, "wrong").status)
	require.EqualValues(t, 1, g.calls.Load())
	require.Zero(t, syncJobs(t, b))
}

func TestLoginNeverFailsNorHangsForTheGateway(t *testing.T) {
	t.Parallel()
	for name, respond := range map[string]func(context.Context) error{"fails": fails, "hangs": hangs} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(d *accounts.Deps) { d.Config.Sync.Wait = 50 * time.Millisecond })
			b.svc.Connect(accounts.Above{Sync: &gateway{respond: respond}})
			c := subscriber(t, b)
			b.token(t, c.Username)
			b.token(t, c.Username)
			require.Equal(t, 1, syncJobs(t, b), "one job waits at a time")
		})
	}
}

func TestLoginsNeverEndangerTheQuota(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *accounts.Deps) { d.Config.Sync.PerMinute, d.Config.Sync.Wait = 5, time.Minute })
	b.clock.Advance(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute))) // a whole minute begins
	g := &gateway{respond: succeeds}
	b.svc.Connect(accounts.Above{Sync: g})
	c := subscriber(t, b)
	for range 6 {
		b.token(t, c.Username)
	}
	require.EqualValues(t, 3, g.calls.Load(), "of one customer")
	for range 6 {
		b.token(t, subscriber(t, b).Username)
	}
	require.EqualValues(t, 5, g.calls.Load(), "of all")
	require.Zero(t, syncJobs(t, b), "what is over the limit leaves no job, which would ask too")
	b.clock.Advance(time.Minute)
	b.token(t, c.Username)
	require.EqualValues(t, 6, g.calls.Load())
}

func TestGatewayThatFailsIsLeftAloneForAMoment(t *testing.T) {
	t.Parallel()
	for rest, calls := range map[time.Duration]int{time.Hour: 3, time.Nanosecond: 5} {
		t.Run(rest.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(d *accounts.Deps) { d.Config.Sync.PerMinute, d.Config.Sync.Rest = 100, rest })
			g := &gateway{respond: fails}
			b.svc.Connect(accounts.Above{Sync: g})
			for range 5 {
				b.token(t, subscriber(t, b).Username)
			}
			require.EqualValues(t, calls, g.calls.Load())
			require.Equal(t, 5, syncJobs(t, b), "jobs ask when it is back")
			g.respond = succeeds
			for range 2 {
				b.token(t, subscriber(t, b).Username)
			}
			if rest < time.Second {
				require.EqualValues(t, 7, g.calls.Load(), "one caller tries, and the others follow")
			} else {
				require.EqualValues(t, 3, g.calls.Load(), "it rests")
			}
		})
	}
}
