package attacks

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/clock"
	"marquee/testutil/apitest"
)

// mailsOf counts what was queued to be mailed, or to find out whom to mail.
func (p *platform) mailsOf() int {
	p.T.Helper()
	return p.Count(`SELECT count(*) FROM jobs.river_job
		WHERE kind IN ('accounts_send_code', 'accounts_send_reset', 'accounts_resend_verification', 'tickets_mail')`)
}

// Ten addresses have the platform mail one box, each for every purpose there is: the
// box gets its day's number and no more.
func TestMailsPourIntoOneBox(t *testing.T) {
	t.Parallel()
	const allowed = 6
	today := new(clock.Moved) // mails are counted by the day: half an hour of one is ahead
	if left := time.Until(time.Now().Truncate(24 * time.Hour).Add(24 * time.Hour)); left < time.Hour/2 {
		today.Move(left)
	}
	p := attackedWith(t, platformtest.Options{Config: []func(*app.Config){func(c *app.Config) {
		c.Codes.MailsPerDay, c.Codes.Cooldown, c.Promos.PerMinute = allowed, time.Millisecond, 1000
	}}, Parts: app.Parts{Clock: today}})
	_, admin := p.NewAdmin()
	event := p.made(admin, "/events", object{
		"title": "Open day", "event_date": time.Now().AddDate(0, 0, 9).Format(time.RFC3339),
		"is_sale_box_office": true,
	})
	flood := func(c, attacker *apitest.Client, name, taxID string) (refused int) {
		box := name + "@example.com"
		for _, a := range []*apitest.Response{
			c.Post("/customers/signup", []object{{
				"username": name, "email": box, "password": platformtest.Password, "full_name": "Ana Box",
				"phone": "+5511987654321",
			}}),
			c.Post("/auth/forgot-password", object{"email": box}),
			c.Post("/auth/resend-verification", object{"email": box}),
			c.Post("/store/purchase/checkout/gwa/pix", object{
				"event_id": event, "quantity": 1,
				"buyer": object{"full_name": "Ana Box", "email": box, "tax_id": taxID, "phone": "+5511987654321"},
			}),
			attacker.Post("/customers/me/change-email", object{"new_email": box}),
		} {
			require.Contains(t, []int{200, 400, 409, 429}, a.Status, "%s", a.Body)
			if a.Status == 429 {
				refused++
			}
		}
		return refused
	}
	mailed := func(kind string) int { return p.Count(`SELECT count(*) FROM jobs.river_job WHERE kind = $1`, kind) }
	_, attacker := p.NewCustomer()
	for _, box := range []string{"box", "nobodys"} { // with an account before anybody mails, and without
		if box == "box" {
			accountstest.Customer(t, p.DB, platformtest.Named(box))
		}
		before, refused := p.mailsOf(), 0
		for i := range 10 {
			address := fmt.Sprintf("203.0.113.%d", i)
			refused += flood(from(p.Guest, address), from(attacker, address), box, "52998224725")
		}
		require.Equal(t, allowed, p.mailsOf()-before, box)
		require.Positive(t, refused)
		require.Positive(t, mailed("tickets_mail"), "guests' tickets are among them")
	}
}
