package attacks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app"
	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts/accountstest"
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
