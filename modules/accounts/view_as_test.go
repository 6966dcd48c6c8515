package accounts_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/platform/objectid"
)

// TestStaffSeeWhatACustomerSees: for a quarter of an hour, with a reason, and only that.
func TestStaffSeeWhatACustomerSees(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, admin := accountstest.Customer(t, b.db), accountstest.Admin(t, b.db)
	staff := b.loginFrom(t, "Console/1", admin.Username).text("access_token")
	path := "/admin/customers/" + c.ID.String() + "/view-as"
	why := map[string]any{"reason": "ticket 4711: the page is empty"}

	a := b.post(t, path, staff, why)
	require.Equal(t, 200, a.status, a.raw)
	token := a.text("access_token")
	require.Equal(t, c.ID.String(), a.text("customer_id"))
	ends, err := time.Parse(time.RFC3339, a.text("expiration"))
	require.NoError(t, err)
	require.WithinDuration(t, b.clock.Now().Add(15*time.Minute), ends, time.Second)
	require.NotContains(t, a.raw, "refresh_token")
	var reason string
	require.NoError(t, b.db.QueryRow(t.Context(), `SELECT after->>'reason' FROM accounts.audit_log
		WHERE action = 'customer_view_as' AND record_id = $1 AND actor_id = $2`, c.ID, admin.ID).Scan(&reason))
	require.Equal(t, why["reason"], reason)

	require.Equal(t, c.ID.String(), b.get(t, "/current-user", token).text("user_id"))
	require.Equal(t, 200, b.get(t, "/customers/me", token).status)
	require.Empty(t, b.sessionsOf(t, "/me/sessions", token), "it is no session of the customer's")
	for _, change := range []struct{ method, path, body string }{
		{http.MethodPut, "/customers/me", `{"full_name":"Somebody Else"}`},
		{http.MethodPost, "/auth/change-password", `{"current_password":"a","new_password":"b"}`},
		{http.MethodDelete, "/customers/me", `{}`},
		{http.MethodPost, "/me/avatar", ""},
		{http.MethodPost, "/auth/refresh-archive-token", ""},
		{http.MethodPost, path, `{"reason":"again"}`},
	} {
		refused := b.send(t, change.method, change.path, token, "application/json", change.body)
		require.Equal(t, http.StatusForbidden, refused.status, "%s %s: %s", change.method, change.path, refused.raw)
		require.Contains(t, refused.detail(), "only reads", change.path)
	}
	require.Equal(t, http.StatusForbidden, b.get(t, "/users", token).status, "it has no right of whoever looks")
	b.clock.Advance(15*time.Minute + time.Second)
	require.Equal(t, http.StatusForbidden, b.get(t, "/customers/me", token).status)
}

// TestAViewEndsWithWhoeverLooks: with their session, their account, and with the customer's.
func TestAViewEndsWithWhoeverLooks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	why := map[string]any{"reason": "a call"}
	for name, end := range map[string]func(staff string, customer, admin objectid.ID){
		"session": func(staff string, _, _ objectid.ID) { b.remove(t, "/me/sessions/"+sidOf(t, staff), staff) },
		"viewer": func(_ string, _, admin objectid.ID) {
			b.exec(t, "UPDATE accounts.users SET enable = false WHERE id = $1", admin)
		},
		"customer": func(_ string, customer, _ objectid.ID) {
			b.exec(t, "UPDATE accounts.users SET enable = false WHERE id = $1", customer)
		},
	} {
		c, admin := accountstest.Customer(t, b.db), accountstest.Admin(t, b.db)
		staff := b.loginFrom(t, "Console/1", admin.Username).text("access_token")
		token := b.post(t, "/admin/customers/"+c.ID.String()+"/view-as", staff, why).text("access_token")
		require.Equal(t, 200, b.get(t, "/customers/me", token).status, name)
		end(staff, c.ID, admin.ID)
		require.Equal(t, http.StatusForbidden, b.get(t, "/customers/me", token).status, name)
	}
}

func TestWhoseViewIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, other, admin := accountstest.Customer(t, b.db), accountstest.Customer(t, b.db), accountstest.Admin(t, b.db)
	staff, customer := b.loginFrom(t, "x", admin.Username).text("access_token"), accountstest.Token(t, b.db, other.Username)
	path := "/admin/customers/" + c.ID.String() + "/view-as"
	why := map[string]any{"reason": "a call"}
	require.Equal(t, http.StatusForbidden, b.post(t, path, customer, why).status)
	require.Equal(t, "reason", b.post(t, path, staff, map[string]any{"reason": "x"}).field())
	require.Equal(t, http.StatusNotFound, b.post(t, strings.Replace(path, c.ID.String(), admin.ID.String(), 1), staff, why).status)
	b.exec(t, "UPDATE accounts.users SET enable = false WHERE id = $1", c.ID)
	require.Equal(t, http.StatusConflict, b.post(t, path, staff, why).status)

	var claims jwt.MapClaims
	b.exec(t, "UPDATE accounts.users SET enable = true WHERE id = $1", c.ID)
	_, _, err := jwt.NewParser().ParseUnverified(b.post(t, path, staff, why).text("access_token"), &claims)
	require.NoError(t, err)
	require.Equal(t, admin.ID.String(), claims["act"].(map[string]any)["sub"])
	require.NotContains(t, claims, "sid")
}
