package attacks

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts/accountstest"
	"marquee/testutil/apitest"
)

// Somebody sends wrong passwords from one address after the other, so that the
// owner has to wait: not where they have signed in before.
func TestOwnerIsLockedOutFromChangingAddresses(t *testing.T) {
	t.Parallel()
	p := attacked(t, func(c *app.Config) { c.Throttle.Wait, c.Throttle.WaitMax = time.Hour, time.Hour })
	owner := accountstest.Customer(t, p.DB)
	home := from(p.Guest, "203.0.113.7")
	signedIn := p.SignIn(home, owner.Username, platformtest.Password).Expect(200)
	require.Contains(t, signedIn.Header.Get("Set-Cookie"), "; HttpOnly; Secure; SameSite=Strict")
	device := signedIn.Header.Get("Device-Token")
	statuses := map[int]int{}
	for i := range 30 {
		statuses[p.SignIn(from(p.Guest, fmt.Sprintf("198.51.100.%d", i)), owner.Email, fmt.Sprintf("guess %d", i)).
			Status]++
	}
	require.Equal(t, map[int]int{401: 10, 429: 20}, statuses, "guesses are bounded, wherever they come from")
	for result, times := range map[string]int{"right": 1, "wrong": 10, "put off": 20} {
		require.Equal(t, times, strings.Count(p.Logged(), fmt.Sprintf(`"user_id":%q,"result":%q`, owner.ID, result)),
			"the log tells of each: %s", result)
	}
	p.SignIn(from(p.Guest, "192.0.2.9"), owner.Username, platformtest.Password).
		Expect(429) // the price, on a device that nobody knows
	p.SignIn(home.With("Device-Token", device), owner.Username, platformtest.Password).Expect(200)

	// A thief of the device's token gets tries of its own number, and no more.
	statuses = map[int]int{}
	for i := range 15 {
		statuses[p.SignIn(from(p.Guest, fmt.Sprintf("192.0.2.%d", i)).With("Device-Token", device), owner.Username,
			"wrong").Status]++
	}
	require.Equal(t, map[int]int{401: 10, 429: 5}, statuses)
}

// A crowd who sign in from one address take half of the places at most: beyond, each is told to come again, other
// routes are answered, and who signs in from another address is not turned away for them.
func TestACrowdSigningInLeavesRoom(t *testing.T) {
	t.Parallel()
	const places, crowd = 12, 30
	p := attacked(t, unthrottled, func(c *app.Config) {
		c.HTTP.InFlight, c.Database.MaxConns = places, 20
		c.Database.Wait, c.Database.LockWait = time.Minute, time.Minute
	})
	ann := accountstest.Customer(t, p.DB)
	release := p.hold("accounts.throttles") // which is read when it is somebody's turn
	office, signedIn := from(p.Guest, "203.0.113.7"), make(chan *apitest.Response, crowd)
	var all sync.WaitGroup
	for range crowd {
		all.Go(func() { signedIn <- p.SignIn(office, ann.Username, platformtest.Password) })
	}
	turnedAway := func(n int) {
		require.Eventually(t, func() bool { return len(signedIn) == n }, time.Minute, time.Millisecond)
	}
	turnedAway(crowd - places/2)
	one := p.SignIn(office, ann.Username, platformtest.Password).Expect(http.StatusServiceUnavailable)
	require.Equal(t, "SERVICE_BUSY", one.Code())
	require.Contains(t, string(one.Body), "Too many logins")
	require.Equal(t, "3", one.Header.Get("Retry-After"))
	p.Guest.Get("/plans").Expect(http.StatusOK)

	all.Go(func() {
		p.SignIn(from(p.Guest, "198.51.100.1"), ann.Username, platformtest.Password).Expect(http.StatusOK)
	})
	turnedAway(crowd - places/2 + 1) // one more of the crowd
	p.Guest.Get("/plans").Expect(http.StatusOK)
	release()
	all.Wait()
	statuses := map[int]int{}
	for range crowd {
		statuses[(<-signedIn).Status]++
	}
	away := crowd - places/2 + 1
	require.Equal(t, map[int]int{http.StatusOK: crowd - away, http.StatusServiceUnavailable: away}, statuses)
}
