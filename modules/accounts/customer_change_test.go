package accounts_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
)

// observer is a module above that keeps what it is told, or refuses.
type observer struct {
	last    accounts.Customer
	times   int
	refuses bool
}

func (k *observer) CustomerChangedTx(_ context.Context, _ pgx.Tx, c accounts.Customer) error {
	if k.refuses {
		return errors.New("not now")
	}
	k.last = c
	k.times++
	return nil
}

func TestModulesAboveAreToldOfChangedCustomers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	above := &observer{}
	b.svc.Connect(accounts.Above{Changes: []accounts.CustomerChanges{above}})
	c := accountstest.Customer(t, b.db)
	me, admin := accountstest.Token(t, b.db, c.Username),
		accountstest.Token(t, b.db, accountstest.Admin(t, b.db).Username)

	require.Equal(t, 200, b.json(t, "PUT", "/customers/me", me, []any{map[string]any{"full_name": "New Name"}}).status)
	require.Equal(t, "New Name", above.last.FullName)
	require.Equal(t, 200, b.json(t, "PUT", "/customers", admin, []any{map[string]any{
		"_id": c.ID, "email": "new@example.com",
	}}).status)
	require.Equal(t, "new@example.com", above.last.Email)
	require.False(t, above.last.EmailVerified)
	require.Equal(t, 200, b.post(t, "/admin/customers/"+c.ID.String()+"/verify-email", admin, nil).status)
	require.True(t, above.last.EmailVerified)
	require.Equal(t, 3, above.times)

	above.refuses = true
	require.Equal(t, 500, b.json(t, "PUT", "/customers/me", me, []any{map[string]any{"full_name": "Never Written"}}).
		status)
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.users WHERE full_name = 'New Name'`),
		"in the same transaction")
}
