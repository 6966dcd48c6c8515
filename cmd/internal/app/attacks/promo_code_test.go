package attacks

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/clock"
	"marquee/testutil/apitest"
)

// codeWay is a route at which a code may be given.
type codeWay struct {
	name string
	try  func(c *apitest.Client, code string) *apitest.Response
}

// giving are the ways besides validation and redemption; signup is everybody's.
func (p *platform) giving() []codeWay {
	subscriptionstest.Plan(p.T, p.DB, subscriptionstest.PlanID, 4990)
	people := 0
	post := func(path string, more object) func(c *apitest.Client, code string) *apitest.Response {
		return func(c *apitest.Client, code string) *apitest.Response {
			body := object{"plan_id": subscriptionstest.PlanID, "promo_code": code}
			for k, v := range more {
				body[k] = v
			}
			return c.Post(path, body)
		}
	}
	return []codeWay{
		{"signup", func(c *apitest.Client, code string) *apitest.Response {
			people++
			name := fmt.Sprintf("guesser%d", people)
			return c.Post("/customers/signup", []object{{
				"username": name, "email": name + "@example.com", "password": platformtest.Password,
				"full_name": "Ana Guess", "phone": "+5511987654321", "promo_code": code,
			}})
		}},
		{"PIX of gateway A", post("/gwa/subscribe/pix", nil)},
		{"automatic PIX of gateway A", post("/gwa/subscribe/pix-automatico", nil)},
		{"card of gateway A", post("/gwa/subscribe", object{
			"credit_card": object{
				"holderName": "ANA", "number": "4111111111111111", "expiryMonth": "12", "expiryYear": "2099",
				"ccv": "123",
			},
			"credit_card_holder_info": object{
				"name": "Ana Guess", "email": "ana@example.com", "cpfCnpj": "52998224725", "postalCode": "01310100",
				"addressNumber": "1", "phone": "11987654321",
			},
		})},
	}
}

// Codes are guessed where they may be given, and the answer tells which are worth
// another try elsewhere, or at another time.
func TestSentenceTellsWhichCodesExist(t *testing.T) {
	t.Parallel()
	p := attacked(t, unthrottled)
	_, admin := p.NewAdmin()
	day := func(n int) string { return time.Now().AddDate(0, 0, n).Format(time.RFC3339) }
	event := p.made(admin, "/events", object{"title": "Premiere", "event_date": day(9)})
	over := p.made(admin, "/events", object{"title": "Over", "event_date": day(9)})
	p.Exec(`UPDATE tickets.events SET event_date = now() - interval '9 days' WHERE id = $1`, over)
	anywhere := []object{
		{"code": "INACT2", "code_type": "promo", "discount_first_month": 1, "is_active": false},
		{"code": "EXPIR2", "code_type": "promo", "discount_first_month": 1, "valid_until": day(-1)},
		{"code": "TOMOR2", "code_type": "promo", "discount_first_month": 1, "valid_from": day(1)},
		{"code": "ENDED2", "code_type": "ticket", "event_id": over},
	}
	unfit := []object{
		{"code": "TICKT2", "code_type": "ticket", "event_id": event},
		{"code": "BUNDL2", "code_type": "promo"},
	}
	for _, code := range append(append([]object{}, anywhere...), unfit...) {
		code["title"] = "A code"
		p.made(admin, "/admin/promo-codes", code)
	}
	_, customer := p.NewCustomer()
	for _, way := range p.giving() {
		c, codes := customer, append(append([]object{{"code": "NOSUCH"}}, anywhere...), unfit...)
		if way.name == "signup" {
			c, codes = p.Guest, codes[:1+len(anywhere)]
		}
		for _, code := range codes {
			a := way.try(c, code["code"].(string))
			require.Equal(t, 400, a.Status, "%s at %s: %s", code["code"], way.name, a.Body)
			require.Equal(t, "This promo code cannot be used here.", a.Detail(), "%s at %s", code["code"], way.name)
			require.Equal(t, "promo_code", a.Field())
		}
	}
	require.Zero(t, p.Count(`SELECT count(*) FROM subscriptions.subscriptions`))

	// Redeeming tells when a code's time is, as validating does, but of one that is not
	// active no more than of one that there is not.
	messages := map[string]bool{}
	for _, code := range []string{"NOSUCH", "INACT2", "inact2"} {
		a := customer.Put("/customers/me/redeem-promo-code?code="+code, nil)
		messages[fmt.Sprintf("%d %s %s %q", a.Status, a.Code(), a.Detail(), a.Field())] = true
	}
	require.Equal(t, map[string]bool{`404 NOT_FOUND Promo code not found. ""`: true}, messages)
}

// Where validation is throttled, the guesses go to the other routes.
func TestCodesAreTriedWithoutLimitElsewhere(t *testing.T) {
	t.Parallel()
	tries := func(c *app.Config) { c.Promos.PerMinute, c.Promos.PerAddress = 4, 1000 }
	minute := new(clock.Moved) // tries are counted by the minute: a whole one is ahead
	minute.Move(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
	p := attackedWith(t, platformtest.Options{Config: []func(*app.Config){tries}, Parts: app.Parts{Clock: minute}})
	throttled := func(way codeWay, c *apitest.Client) {
		t.Helper()
		for i := range 4 {
			a := way.try(c, fmt.Sprintf("NOSUCH%d", i))
			require.Equal(t, 400, a.Status, "%s: %s", way.name, a.Body)
		}
		a := way.try(c, "NOSUCH")
		require.Equal(t, 429, a.Status, "%s: %s", way.name, a.Body)
		require.NotEmpty(t, a.Header.Get("Retry-After"))
	}
	at := 0
	for _, way := range p.giving() {
		at++
		address := fmt.Sprintf("203.0.113.%d", at)
		if way.name == "signup" {
			throttled(way, from(p.Guest, address))
			from(p.Guest, address).Get("/customers/validate-promo-code?code=NOSUCH").Expect(429)
			continue
		}
		_, customer := p.NewCustomer()
		throttled(way, from(customer, address))
		// One count for all ways, wherever the calls come from.
		from(customer, "198.51.100.1").Get("/customers/validate-promo-code?code=NOSUCH").Expect(429)
		from(customer, "198.51.100.2").Put("/customers/me/redeem-promo-code?code=NOSUCH", nil).Expect(429)
	}
}
