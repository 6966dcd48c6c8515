package attacks

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/platform/taxid"
	"marquee/testutil/apitest"
)

// boxOffice is the attacked platform with gateways that take payments, and an event.
type boxOffice struct {
	*platform
	event  objectid.ID
	guests atomic.Int64
}

func selling(t *testing.T, event object, change ...func(*app.Config)) *boxOffice {
	t.Helper()
	b := &boxOffice{platform: attackedWith(t, platformtest.Options{Gateways: true, Config: change})}
	_, admin := b.NewAdmin()
	e := object{
		"title": "Premiere", "event_date": time.Now().Add(30 * 24 * time.Hour).Format(time.RFC3339),
		"ticket_value": 60, "is_sale_box_office": true,
	}
	for k, v := range event {
		e[k] = v
	}
	b.event = b.made(admin, "/events", e)
	return b
}

// order is the body of a purchase by PIX.
func (b *boxOffice) order(quantity int) object {
	return object{"event_id": b.event, "quantity": quantity}
}

// guest holds places by PIX as somebody new from an address.
func (b *boxOffice) guest(address string, quantity int) *apitest.Response {
	b.T.Helper()
	n := b.guests.Add(1)
	return b.guestAs(fmt.Sprintf("guest%d@example.com", n), taxid.CPF(600_000_000+int(n)), address, quantity)
}

func (b *boxOffice) guestAs(email, tax, address string, quantity int) *apitest.Response {
	b.T.Helper()
	body := b.order(quantity)
	body["buyer"] = object{"full_name": "Bruno Lima", "email": email, "tax_id": tax}
	return from(b.Guest, address).Post("/store/purchase/checkout/gwb/pix", body)
}

func (b *boxOffice) pix(c *apitest.Client, quantity int) *apitest.Response {
	b.T.Helper()
	return c.Post("/store/purchase/gwb/pix", b.order(quantity))
}

func (b *boxOffice) card(c *apitest.Client, quantity int) *apitest.Response {
	b.T.Helper()
	body := b.order(quantity)
	body["payment_method_id"] = paymentstest.TokenApproved
	return c.Post("/store/purchase/gwb/card", body)
}

func (b *boxOffice) reservedPlaces() int {
	return b.Count("SELECT tickets_issued FROM tickets.events WHERE id = $1", b.event)
}

// refused is a purchase that a limit of unpaid places keeps out, in a sentence that
// names it, with the seconds to wait.
func refused(t *testing.T, a *apitest.Response, sentence string) {
	t.Helper()
	require.Contains(t, a.Expect(http.StatusTooManyRequests).Detail(), sentence)
	wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, wait)
}

// Four guests who pay nothing hold a whole event, each from an address of their own.
func TestGuestsHoldAWholeEvent(t *testing.T) {
	t.Parallel()
	b := selling(t, object{"capacity": 40})
	b.guest("198.51.100.1", 10).Expect(200)
	b.guest("198.51.100.2", 10).Expect(200)
	for _, address := range []string{"198.51.100.3", "198.51.100.4"} {
		refused(t, b.guest(address, 10), "half of the free places")
		refused(t, b.guest(address, 1), "Sign in")
	}
	require.Equal(t, 20, b.reservedPlaces())
	_, buyer := b.NewCustomer()
	b.card(buyer, 10).Expect(200)
	_, other := b.NewCustomer()
	b.pix(other, 10).Expect(200)
	require.Equal(t, 40, b.reservedPlaces())
	require.Equal(t, "The event is sold out.", b.guest("198.51.100.5", 1).Expect(409).Detail())
	for range 200 {
		b.guest("198.51.100.6", 1).Expect(409) // a room behind one address is heard, each of them
	}
}

// Accounts that anybody makes in a second hold what is left when guests have their half.
func TestFreshAccountsHoldAWholeEvent(t *testing.T) {
	t.Parallel()
	b := selling(t, object{"capacity": 40})
	b.guest("198.51.100.1", 10).Expect(200)
	unproved := func(n *accounts.NewUser) { n.EmailVerified = false }
	_, fresh := b.NewCustomer(unproved)
	b.pix(from(fresh, "198.51.100.2"), 10).Expect(200)
	_, other := b.NewCustomer(unproved)
	refused(t, b.pix(from(other, "198.51.100.3"), 1), "half of the free places")
	refused(t, b.pix(from(other, "198.51.100.3"), 1), "verify it")
	require.Equal(t, 20, b.Count("SELECT places_unpaid_guests FROM tickets.events WHERE id = $1", b.event))
	_, proved := b.NewCustomer()
	b.pix(proved, 10).Expect(200)
	require.Equal(t, 30, b.reservedPlaces())
}

// The last places are not out of a guest's reach.
func TestTheLastPlaceGoesToAGuest(t *testing.T) {
	t.Parallel()
	b := selling(t, object{"capacity": 3})
	_, buyer := b.NewCustomer()
	b.card(buyer, 2).Expect(200)
	b.guest("198.51.100.1", 1).Expect(200)
	require.Equal(t, 3, b.reservedPlaces())
}

// Many hold an event again and again: for ten minutes each time, not for thirty.
func TestAnEventIsHeldAgainAndAgain(t *testing.T) {
	t.Parallel()
	b := selling(t, object{"capacity": 40})
	lasts := func(a *apitest.Response) time.Duration {
		pix := a.Expect(200).Map()["pix"].(object)
		end, err := time.Parse(time.RFC3339, pix["expiration_date"].(string))
		require.NoError(t, err)
		return end.Sub(paymentstest.Now())
	}
	require.Greater(t, lasts(b.guest("198.51.100.1", 10)), 25*time.Minute)
	require.Greater(t, lasts(b.guest("198.51.100.2", 2)), 25*time.Minute, "25 % are held")
	require.Greater(t, lasts(b.guest("198.51.100.2", 1)), 25*time.Minute, "30 % are held, not more")
	hurried := lasts(b.guest("198.51.100.2", 1))
	require.LessOrEqual(t, hurried, 10*time.Minute)
	require.Greater(t, hurried, 5*time.Minute)
}

// One person holds places by many orders: signed in, as a guest, in the name of others.
func TestOnePersonHoldsManyPlaces(t *testing.T) {
	t.Parallel()
	b := selling(t, object{"capacity": 1000})
	const sentence = "At most 10 places of an event may wait for one person's payment"
	me, buyer := b.NewCustomer()
	b.pix(buyer, 6).Expect(200)
	b.pix(buyer, 4).Expect(200)
	refused(t, b.pix(buyer, 1), sentence)
	refused(t, b.card(buyer, 1), sentence)
	refused(t, b.guestAs(me.Email, me.TaxID, "198.51.100.1", 1), sentence)

	const tax = "52998224725" // of nobody's account
	var emails []string
	for range 2 {
		c, _ := b.NewCustomer(func(n *accounts.NewUser) { n.TaxID = "" })
		emails = append(emails, c.Email)
	}
	b.guestAs(emails[0], tax, "198.51.100.2", 6).Expect(200)
	refused(t, b.guestAs(emails[1], tax, "198.51.100.3", 5), sentence)
	b.guestAs(emails[1], tax, "198.51.100.3", 4).Expect(200)

	// One mailbox has as many addresses as one likes.
	b.guestAs("zoe@example.com", taxid.CPF(700_000_001), "198.51.100.4", 6).Expect(200)
	b.guestAs("zoe+1@example.com", taxid.CPF(700_000_002), "198.51.100.4", 4).Expect(200)
	refused(t, b.guestAs("Zoe+2@example.com", taxid.CPF(700_000_003), "198.51.100.4", 1), sentence)
	b.guestAs("z.oe@gmail.com", taxid.CPF(700_000_004), "198.51.100.5", 6).Expect(200)
	refused(t, b.guestAs("zo.e+x@googlemail.com", taxid.CPF(700_000_005), "198.51.100.5", 5), sentence)
	require.Equal(t, 1, b.Count("SELECT count(*) FROM accounts.users WHERE email = 'zoe+1@example.com'"),
		"it is nobody else's account")
}

// One person's orders all come at once.
func TestOnePersonHoldsManyPlacesAtOnce(t *testing.T) {
	t.Parallel()
	b := selling(t, object{"capacity": 1000})
	_, buyer := b.NewCustomer()
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() { b.pix(buyer, 1) })
	}
	all.Wait()
	require.Equal(t, 10, b.reservedPlaces())
}

// A room full of invented guests behind one address.
func TestOneAddressHoldsManyPlaces(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct {
		same  func(n int) string
		other string
	}{
		"IPv4": {func(int) string { return "198.51.100.7" }, "198.51.100.8"},
		"IPv6": {func(n int) string { return fmt.Sprintf("2001:db8:1:2:%x::1", n) }, "2001:db8:1:3::1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := selling(t, object{"capacity": 1000})
			for n := range 4 {
				b.guest(at.same(n), 10).Expect(200)
			}
			refused(t, b.guest(at.same(5), 1), "At most 40 places of an event may wait for payment from one network")
			_, buyer := b.NewCustomer()
			refused(t, b.pix(from(buyer, at.same(6)), 1), "from one network")
			b.guest(at.other, 1).Expect(200)
			require.Equal(t, 0,
				b.Count("SELECT count(*) FROM tickets.orders o WHERE o::text LIKE '%198.51.100%' OR o::text LIKE '%2001:db8%'"), "no address is stored")
		})
	}
}

// A reseller buys more than the event sells to one person, in every way there is.
func TestAResellerBuysTooMany(t *testing.T) {
	t.Parallel()
	b := selling(t, object{"capacity": 100, "max_per_person": 4})
	const sentence = "One person can have at most 4 places of this event, paid for or waiting for payment."
	me, buyer := b.NewCustomer()
	require.Equal(t, sentence, b.card(buyer, 5).Expect(409).Detail())
	b.card(buyer, 3).Expect(200)
	a := b.card(buyer, 2).Expect(409)
	require.Equal(t, sentence, a.Detail())
	require.Equal(t, "quantity", a.Field())
	b.guestAs(me.Email, me.TaxID, "198.51.100.1", 1).Expect(200)
	require.Equal(t, sentence, b.pix(buyer, 1).Expect(409).Detail())
	require.Equal(t, sentence, b.guestAs(me.Email, me.TaxID, "198.51.100.2", 1).Expect(409).Detail())

	_, hasty := b.NewCustomer()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { b.card(hasty, 1) })
	}
	all.Wait()
	require.Equal(t, 4+4, b.reservedPlaces())
}

// A reseller at an event that costs nothing, whose places are never unpaid.
func TestAResellerTakesTooManyForNothing(t *testing.T) {
	t.Parallel()
	b := selling(t, object{"capacity": 100, "max_per_person": 2, "ticket_value": nil})
	_, buyer := b.NewCustomer()
	b.card(buyer, 2).Expect(200)
	b.card(buyer, 1).Expect(409)
	b.guest("198.51.100.1", 2).Expect(200)
	require.Equal(t, 4, b.reservedPlaces())
}

// Without throttles, as for load tests, nothing of this holds but the event's own limit.
func TestUnthrottledPlacesAreHeldFreely(t *testing.T) {
	t.Parallel()
	b := selling(t, object{"capacity": 60}, unthrottled)
	for range 6 {
		b.guest("198.51.100.1", 10).Expect(200)
	}
	require.Equal(t, 60, b.reservedPlaces())
}
