package accounts_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

func TestCustomerByID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	address := &accounts.Address{
		Street: "Rua Augusta", Number: "1", Locality: "Centro", City: "Sao Paulo", RegionCode: "SP", Country: "BRA",
		PostalCode: "01305000",
	}
	made := accountstest.Customer(t, b.db, func(n *accounts.NewUser) { n.Address, n.Nationality = address, "br" })
	c, err := b.svc.CustomerByID(t.Context(), b.db, made.ID)
	require.NoError(t, err)
	require.Equal(t, made, c)
	require.Equal(t, address, c.Address)
	require.Equal(t, "BR", c.Nationality)
	require.True(t, c.Enabled)
	require.True(t, c.EmailVerified)
	require.Empty(t, c.CurrentSubscriptionID)

	admin := accountstest.Admin(t, b.db)
	b.exec(t, `UPDATE accounts.users SET deleted_at = now() WHERE id = $1`, made.ID)
	for _, id := range []objectid.ID{admin.ID, made.ID, objectid.New()} {
		_, err := b.svc.CustomerByID(t.Context(), b.db, id)
		require.True(t, fault.Is(err, fault.KindNotFound), "%v", err)
	}
}

func TestCurrentSubscription(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	first, second := objectid.New(), objectid.New()
	inTx := func(f func(tx pgx.Tx) error) {
		t.Helper()
		require.NoError(t, postgres.InTx(t.Context(), b.db, f))
	}
	current := func() objectid.ID {
		t.Helper()
		got, err := b.svc.CustomerByID(t.Context(), b.db, c.ID)
		require.NoError(t, err)
		return got.CurrentSubscriptionID
	}
	inTx(func(tx pgx.Tx) error { return b.svc.SetCurrentSubscriptionTx(t.Context(), tx, c.ID, first) })
	require.Equal(t, first, current())
	inTx(func(tx pgx.Tx) error { return b.svc.SetCurrentSubscriptionTx(t.Context(), tx, c.ID, second) })
	inTx(func(tx pgx.Tx) error { return b.svc.ClearCurrentSubscriptionTx(t.Context(), tx, c.ID, first) })
	require.Equal(t, second, current(), "cleared only where it still points there")
	inTx(func(tx pgx.Tx) error { return b.svc.ClearCurrentSubscriptionTx(t.Context(), tx, c.ID, second) })
	require.Empty(t, current())
	b.exec(t, `UPDATE accounts.users SET deleted_at = now() WHERE id = $1`, c.ID)
	inTx(func(tx pgx.Tx) error { return b.svc.SetCurrentSubscriptionTx(t.Context(), tx, c.ID, first) })
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.users WHERE id = $1 AND current_subscription_id IS NULL`, c.ID),
		"a deleted account points to none")
}

func TestGatewayCustomerIsSetOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	for _, gateway := range []string{"gwa", "gwb"} {
		id, err := b.svc.SetGatewayCustomer(t.Context(), b.db, c.ID, gateway, "first-"+gateway)
		require.NoError(t, err)
		require.Equal(t, "first-"+gateway, id)
		id, err = b.svc.SetGatewayCustomer(t.Context(), b.db, c.ID, gateway, "second")
		require.NoError(t, err)
		require.Equal(t, "first-"+gateway, id, "the first holds")
	}
	got, err := b.svc.CustomerByID(t.Context(), b.db, c.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"gwa": "first-gwa", "gwb": "first-gwb"}, got.GatewayCustomerIDs)
	_, err = b.svc.SetGatewayCustomer(t.Context(), b.db, c.ID, "gwc", "x")
	require.Error(t, err)
	_, err = b.svc.SetGatewayCustomer(t.Context(), b.db, objectid.New(), "gwa", "x")
	require.True(t, fault.Is(err, fault.KindNotFound), "%v", err)
}

func TestSetTaxID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, other := accountstest.Customer(t, b.db), accountstest.Customer(t, b.db)
	require.NoError(t, b.svc.SetTaxID(t.Context(), b.db, c.ID, "11222333000181"))
	require.True(t, fault.Is(b.svc.SetTaxID(t.Context(), b.db, c.ID, other.TaxID), fault.KindConflict))
	require.True(t, fault.Is(b.svc.SetTaxID(t.Context(), b.db, c.ID, "1"), fault.KindInvalid))
	require.True(t, fault.Is(b.svc.SetTaxID(t.Context(), b.db, objectid.New(), "52998224725"), fault.KindNotFound))
}

func TestTrialIsUsedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	for _, want := range []bool{false, true} {
		require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
			used, err := b.svc.MarkTrialUsedTx(t.Context(), tx, c.ID)
			require.Equal(t, want, used)
			return err
		}))
	}
}

// Two requests of one customer at once: the lock makes the second see what the
// first did. Without it both would see nothing.
func TestLockCustomerSerialises(t *testing.T) {
	t.Parallel()
	b := setup(t)
	subscribe := func(id objectid.ID, lock func(tx pgx.Tx) error) int {
		made := 0
		require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
			if err := lock(tx); err != nil {
				return err
			}
			c, err := b.svc.CustomerByID(t.Context(), tx, id)
			if err != nil || c.CurrentSubscriptionID != "" {
				return err
			}
			if _, err := tx.Exec(t.Context(), `SELECT pg_sleep(0.1)`); err != nil {
				return err
			}
			made = 1
			return b.svc.SetCurrentSubscriptionTx(t.Context(), tx, id, objectid.New())
		}))
		return made
	}
	locked := accountstest.Customer(t, b.db).ID
	require.Equal(t, map[int]int{1: 1, 0: 2}, parallel(3, func() int {
		return subscribe(locked, func(tx pgx.Tx) error { return b.svc.LockCustomerTx(t.Context(), tx, locked) })
	}))
	open := accountstest.Customer(t, b.db).ID
	require.Greater(t, parallel(3, func() int {
		return subscribe(open, func(pgx.Tx) error { return nil })
	})[1], 1)
}

func TestCreateUser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	valid := accounts.NewUser{
		Type: httpapi.TypeAdmin, Root: true, Username: "root", Email: "Root@Example.com",
		Password: secret.NewText("eight8ch"), Name: "Root",
	}
	u, err := b.svc.CreateUser(t.Context(), valid)
	require.NoError(t, err)
	require.Equal(t, accounts.User{ID: u.ID, Type: "admin", Username: "root", Email: "root@example.com", Root: true}, u)
	_, err = b.svc.CreateUser(t.Context(), valid)
	require.True(t, fault.Is(err, fault.KindConflict), "%v", err)
	for name, change := range map[string]func(*accounts.NewUser){
		"type":          func(n *accounts.NewUser) { n.Type = "owner" },
		"root customer": func(n *accounts.NewUser) { n.Type = httpapi.TypeCustomer },
		"e-mail":        func(n *accounts.NewUser) { n.Email = "x" },
		"username":      func(n *accounts.NewUser) { n.Username = "" },
		"password":      func(n *accounts.NewUser) { n.Password = secret.NewText("1234567") },
		"tax_id":        func(n *accounts.NewUser) { n.TaxID = "1" },
		"name":          func(n *accounts.NewUser) { n.Name = "ab" },
		"phone":         func(n *accounts.NewUser) { n.Phone = "1" },
	} {
		bad := valid
		bad.Username, bad.Email = "second", "second@example.com"
		change(&bad)
		_, err := b.svc.CreateUser(t.Context(), bad)
		require.True(t, fault.Is(err, fault.KindInvalid), "%s: %v", name, err)
	}
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM accounts.users`))
}

func TestLoginsFollowTheUser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := accountstest.Customer(t, b.db)
	b.exec(t, `UPDATE accounts.users SET email = 'moved@example.com' WHERE id = $1`, c.ID)
	require.Equal(t, 2, b.count(t, `SELECT count(*) FROM accounts.logins WHERE user_id = $1`, c.ID))
	require.Equal(t, 401, b.login(t, c.Email, accountstest.Password).status)
	require.Equal(t, 200, b.login(t, "moved@example.com", accountstest.Password).status)
	b.exec(t, `UPDATE accounts.users SET deleted_at = now(), username = '', email = '' WHERE id = $1`, c.ID)
	require.Zero(t, b.count(t, `SELECT count(*) FROM accounts.logins`))
	again := accountstest.Customer(t, b.db, func(n *accounts.NewUser) { n.Username, n.TaxID = c.Username, c.TaxID })
	require.NotEqual(t, c.ID, again.ID, "name and tax_id are free again")
}
