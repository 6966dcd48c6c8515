package attacks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/taxid"
)

// Somebody signs up as the house, as an admin, or under a name that shows another.
func TestSomebodyReadsLikeSomebodyElse(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	for _, name := range []string{"suporte", "SUPPORT", "adrnin", "r00t", "rооt"} {
		require.Contains(t, []int{409, 422}, p.SignUp("stranger", object{"username": name}).Status, name)
	}
	p.SignUp("stranger", object{"full_name": "Ana\u202eavliS"}).Expect(422)
	p.SignUp("stranger", object{"password": "12345678"}).Expect(422)
	p.SignUp("stranger", object{"password": "STRANGER@example.com"}).Expect(422)
	p.SignUp("stranger", nil).Expect(200)
}

// Somebody who got hold of a session moves the account to an address of their own: not
// without the password where that is asked for, and never unseen.
func TestSessionThiefMovesTheAccount(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled, func(c *app.Config) { c.Accounts.EmailChangeNeedsPassword = true })
	owner := accountstest.Customer(t, p.DB)
	token, _ := p.SignIn(p.Guest, owner.Username, platformtest.Password).Expect(200).Map()["access_token"].(string)
	thief := p.Guest.As(token)
	thief.Post("/customers/me/change-email", object{"new_email": "thief@example.com"}).Expect(400)
	thief.Post("/customers/me/change-email", object{
		"new_email": "thief@example.com", "current_password": "a guess",
	}).Expect(400)
	notices := `SELECT count(*) FROM jobs.river_job WHERE kind = 'accounts_send_email_notice'`
	require.Zero(t, p.Count(notices))
	thief.Post("/customers/me/change-email", object{
		"new_email": "thief@example.com", "current_password": platformtest.Password,
	}).Expect(200)
	require.Equal(t, 1, p.Count(notices), "the owner is told")
	p.Guest.Post("/auth/undo-email-change", object{"token": "0123456789abcdef01234567forged"}).Expect(400)
	page := p.Guest.Get("/auth/undo-email-change").Expect(200)
	require.Contains(t, string(page.Body), "<button")
	require.Equal(t, "no-referrer", page.Header.Get("Referrer-Policy"))
}

// Somebody signs up with a stranger's address, waits until its owner buys as a guest, and
// proves another address: the tickets are not theirs.
func TestSquatterTakesTheTicketsOfAGuest(t *testing.T) {
	t.Parallel()
	b := selling(t, nil, unthrottled)
	a := b.SignUp("victim", object{"verify_email_now": false}).Expect(200)
	token, _ := a.Map()["auth"].(map[string]any)["access_token"].(string)
	squatter := b.Guest.As(token)
	b.guestAs("victim@example.com", taxid.CPF(611_000_000), "198.51.100.7", 1).Expect(200)
	require.Equal(t, 1, b.Count("SELECT count(*) FROM tickets.orders WHERE without_login"))
	squatter.Post("/customers/me/change-email", object{"new_email": "squatter@example.com"}).Expect(409)
}
