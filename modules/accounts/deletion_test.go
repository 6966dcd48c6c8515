package accounts_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/accounts/customers"
	"marquee/modules/files"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// shop stands for a module above: it charges, holds data, and has buyers. Its
// gateway is down at first.
type shop struct {
	mu       sync.Mutex
	up       bool
	requests int
	erased   []objectid.ID
	buyers   []objectid.ID
}

func (s *shop) StopBilling(context.Context, objectid.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if !s.up {
		return errors.New("the gateway is down")
	}
	return nil
}

func (s *shop) PersonalDataName() string { return "shop" }

func (s *shop) PersonalData(_ context.Context, _ postgres.DB, id objectid.ID, _ bool) (any, error) {
	return map[string]any{"bought_by": id}, nil
}

func (s *shop) ErasePersonalDataTx(_ context.Context, _ pgx.Tx, id objectid.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erased = append(s.erased, id)
	return nil
}

func (s *shop) CustomersWithPurchases(context.Context, []objectid.ID) ([]objectid.ID, error) {
	return s.buyers, nil
}

func (s *shop) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = true
}

func (s *shop) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func withShop(t *testing.T, b *bundle) *shop {
	t.Helper()
	s := &shop{}
	b.svc.Connect(accounts.Above{
		Billing:   []accounts.Billing{s},
		Purchases: []accounts.Purchases{s},
		Personal:  []accounts.PersonalData{s},
	})
	return s
}

func TestDeletedCustomerIsClosedAtOnceAndErasedOnceBillingHasStopped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := withShop(t, b)
	b.work(t)
	c := accountstest.Customer(t, b.db)
	session := b.login(t, c.Username, accountstest.Password)
	token := session.text("access_token")
	require.Equal(t, 200, changeEmail(t, b, token, "later@example.com").status)
	require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
		_, err := b.files.StoreTx(t.Context(), tx, "a.txt", "text/plain", readerOf("private"), files.Place{
			Purpose: files.Record, Kind: "user", RecordID: c.ID, ReaderID: c.ID,
		})
		return err
	}))

	a := b.send(t, "DELETE", "/customers/me", token, "", "")
	require.Equal(t, 200, a.status, a.raw)
	require.NotEmpty(t, a.text("message"))
	require.Equal(t, 403, b.get(t, "/customers/me", token).status)
	require.Equal(t, 403, b.send(t, "DELETE", "/customers/me", token, "", "").status)
	require.Equal(t, 403,
		b.post(t, "/auth/refresh-token", "", map[string]any{"refresh_token": session.text("refresh_token")}).status)
	_, err := b.files.CallerByArchiveToken(t.Context(), session.text("archive_token"))
	require.Error(t, err)
	require.Equal(t, "INVALID_CREDENTIALS", b.login(t, c.Username, accountstest.Password).code())
	require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.codes`))

	const pending = `kind = 'accounts_erase_customer' AND state IN ('retryable', 'available', 'scheduled') AND errors IS NOT NULL`
	require.Eventually(t, func() bool { return b.count(t, `SELECT count(*) FROM jobs.river_job WHERE `+pending) == 1 },
		time.Minute, 10*time.Millisecond)
	require.Equal(t, 1, b.count(t,
		`SELECT count(*) FROM accounts.deletions WHERE customer_id = $1 AND deleted_by = $1 AND erased_at IS NULL`,
		c.ID))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM files.files`),
		"nothing is erased before the gateway has confirmed")
	s.open()
	b.exec(t, `UPDATE jobs.river_job SET scheduled_at = now(), state = 'available' WHERE `+pending)
	require.Eventually(t, func() bool {
		return b.count(t, `SELECT count(*) FROM accounts.deletions WHERE erased_at IS NOT NULL`) == 1
	}, time.Minute, 50*time.Millisecond)
	require.GreaterOrEqual(t, s.calls(), 2)
	require.Equal(t, []objectid.ID{c.ID}, s.erased)
	require.Zero(t, b.count(t, `SELECT count(*) FROM files.files`))
	all := dump(t, b)
	for _, trace := range []string{c.Email, c.Username, c.FullName, c.TaxID, c.Phone} {
		require.NotContains(t, all, trace)
	}
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.users WHERE id = $1 AND deleted_at IS NOT NULL`,
		c.ID), "a tombstone stays")
}

func TestDeletedLoginsAreFreeAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	require.NoError(t, b.svc.DeleteCustomer(t.Context(), c.ID, c.ID))
	require.Error(t, b.svc.DeleteCustomer(t.Context(), c.ID, c.ID), "once is enough")
	again := signupOf("x", map[string]any{"username": c.Username, "email": c.Email, "tax_id": c.TaxID})
	a := b.post(t, "/customers/signup", "", again)
	require.Equal(t, 200, a.status, a.raw)
	require.NotEqual(t, c.ID.String(), a.text("customer_id"))
}

// The hourly job begins anew what was lost with the table of jobs.
func TestLostErasingIsResumed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	withShop(t, b).open()
	c := accountstest.Customer(t, b.db)
	require.NoError(t, b.svc.DeleteCustomer(t.Context(), c.ID, ""))
	b.exec(t, `DELETE FROM jobs.river_job`)
	b.work(t, customers.SweepDeletionsArgs{})
	require.Eventually(t, func() bool {
		return b.count(t, `SELECT count(*) FROM accounts.deletions WHERE erased_at IS NOT NULL`) == 1
	}, time.Minute, 20*time.Millisecond)
}

func TestUnverifiedAccountsAreRemoved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := withShop(t, b)
	s.open()
	id := func(name string, set map[string]any) objectid.ID {
		a := b.post(t, "/customers/signup", "", signupOf(name, set))
		require.Equal(t, 200, a.status, a.raw)
		return objectid.ID(a.text("customer_id"))
	}
	stale, later := id("stale", nil), id("later", map[string]any{"verify_email_now": false})
	buyer := id("buyer", nil)
	s.buyers = []objectid.ID{buyer}
	verified := accountstest.Customer(t, b.db)
	b.clock.Advance(29 * 24 * time.Hour)
	fresh := id("fresh", nil)
	b.clock.Advance(24*time.Hour + time.Second)
	b.work(t, customers.SweepDeletionsArgs{})
	require.Eventually(t, func() bool {
		return b.count(t,
			`SELECT count(*) FROM accounts.deletions WHERE customer_id = $1 AND deleted_by IS NULL AND erased_at IS NOT NULL`, stale) == 1
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.deletions`))
	for _, id := range []objectid.ID{later, buyer, verified.ID, fresh} {
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.users WHERE id = $1 AND deleted_at IS NULL`,
			id))
	}
}

func TestCustomerDataHoldsEverythingAndNoSecret(t *testing.T) {
	t.Parallel()
	b := setup(t)
	withShop(t, b)
	c := accountstest.Customer(t, b.db)
	session := b.login(t, c.Username, accountstest.Password)
	a := b.get(t, "/customers/me/data", session.text("access_token"))
	require.Equal(t, 200, a.status, a.raw)
	require.Equal(t, "application/json", a.header.Get("Content-Type"))
	require.Regexp(t, `^attachment; filename="customer-data_\d{4}-\d\d-\d\d\.json"$`,
		a.header.Get("Content-Disposition"))
	require.Equal(t, c.Email, a.text("customer", "email"))
	require.Equal(t, c.TaxID, a.text("customer", "tax_id"))
	require.Equal(t, c.Phone, a.text("customer", "phone"))
	require.Equal(t, c.ID.String(), a.text("shop", "bought_by"))
	for _, absent := range []string{"argon2", "password_hash", "code_mac", "kept_token"} {
		require.NotContains(t, a.raw, absent)
	}
	require.Equal(t, 401, b.get(t, "/customers/me/data", "").status)
	require.Equal(t, 403, b.get(t, "/customers/me/data", b.token(t, accountstest.Admin(t, b.db).Username)).status)
}
