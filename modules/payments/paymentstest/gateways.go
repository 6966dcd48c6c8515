// Package paymentstest gives tests both gateways: the sandbox over real HTTP
// with the real adapters before it, and instruments that it approves, declines
// or challenges.
package paymentstest

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/gwa"
	"marquee/modules/payments/gwb"
	"marquee/platform/clock"
	"marquee/platform/objectid"
	"marquee/platform/secret"
	"marquee/testutil/cleanup"
	"marquee/testutil/sandbox"
)

// What the sandbox gateways prove their webhooks with.
const (
	GWAToken  = sandbox.GWAToken
	GWBSecret = sandbox.GWBSecret
)

// Gateways is both sandboxes and the adapters that speak to them.
type Gateways struct {
	Sandbox *sandbox.Sandbox
	A       *gwa.Gateway
	B       *gwb.Gateway

	ahead *ahead
}

// ahead is the machine's clock, moved forward.
type ahead struct{ by atomic.Int64 }

func (a *ahead) Now() time.Time { return clock.System{}.Now().Add(time.Duration(a.by.Load())) }

const (
	// alwaysAhead is the least by which the clocks of tests with gateways are ahead of the machine's: what is
	// compared with the machine's clock by mistake fails at any time of the day.
	alwaysAhead = 30 * time.Minute
	// nearlyTomorrow is how long before the end of gateway A's day no test begins: a package's tests take less.
	nearlyTomorrow = 20 * time.Minute
)

// lateStart is what the clocks of this process' tests are ahead of the machine's from the beginning, so that no date
// of gateway A changes within a test: what is due today there would be refused.
var lateStart = sync.OnceValue(func() time.Duration {
	now := time.Now().In(gatewayDay)
	begin := now.Add(alwaysAhead)
	tomorrow := time.Date(begin.Year(), begin.Month(), begin.Day()+1, 0, 0, 0, 0, gatewayDay)
	if tomorrow.Sub(begin) < nearlyTomorrow {
		begin = tomorrow
	}
	return begin.Sub(now)
})

// gatewayDay is the zone of gateway A's dates, which has no summer time.
var gatewayDay = time.FixedZone("BRT", -3*60*60)

// Now is where the clock of a test with gateways begins.
func Now() time.Time { return time.Now().Add(lateStart()) }

// Clock goes on from there with the machine's.
type Clock struct{}

// Now is paymentstest.Now in UTC, cut to the millisecond.
func (Clock) Now() time.Time { return Now().UTC().Truncate(time.Millisecond) }

// Clock is the adapters', which Advance moves.
func (g *Gateways) Clock() clock.Clock { return g.ahead }

// Advance moves the clocks of both sandboxes and of the adapters forward.
func (g *Gateways) Advance(t testing.TB, by time.Duration) {
	t.Helper()
	g.ahead.by.Add(int64(by))
	require.NoError(t, g.Sandbox.Advance(by))
}

// NewGateways starts both gateways until the test ends. Their webhooks wait
// until Sandbox.SetWebhooks. The adapters try again at once; their time limits are
// those of production, so that an answer which has to come does on a slow machine:
// a test loses one by a reset, or hangs up itself.
func NewGateways(t testing.TB) *Gateways {
	t.Helper()
	return NewGatewaysThrough(t, nil)
}

// NewGatewaysThrough is NewGateways with gateway B's calls sent through b; nil is
// http.DefaultTransport.
func NewGatewaysThrough(t testing.TB, b http.RoundTripper) *Gateways {
	t.Helper()
	s, err := sandbox.Start(sandbox.Options{
		GWAWebhookToken: GWAToken, GWBWebhookSecret: GWBSecret, GWBSecretKey: sandbox.GWBKey,
		RetryLadder: []time.Duration{time.Second, time.Second, time.Second}, ReceiverNow: Now,
	})
	require.NoError(t, err)
	cleanup.Add(t, func() { require.NoError(t, s.Close()) })
	const wait = 5 * time.Millisecond
	now := &ahead{}
	g := &Gateways{
		Sandbox: s, ahead: now,
		A: gwa.New(gwa.Config{
			URL: s.GWAURL(), APIKey: sandbox.GWAKey, WebhookTokens: []string{GWAToken}, Clock: now, RetryWait: wait,
		}),
		B: gwb.New(gwb.Config{
			URL: s.GWBURL(), SecretKey: sandbox.GWBKey, WebhookSecrets: []string{GWBSecret}, Clock: now,
			RetryWait: wait, Transport: b,
		}),
	}
	g.Advance(t, lateStart())
	return g
}

// Adapters are both, as payments.Deps wants them.
func (g *Gateways) Adapters() []gateway.Adapter { return []gateway.Adapter{g.A, g.B} }

// Payer is a customer with a valid CPF whom no gateway knows.
func Payer() gateway.Payer {
	id := objectid.New()
	return gateway.Payer{
		CustomerID: id, Name: "Ana Souza", Email: "ana." + id.String() + ".fill_never@example.com",
		Phone: "11987654321", TaxID: "52998224725",
	}
}

// Card is a public test card of gateway A with its holder.
func Card(number string) gateway.Instrument {
	return gateway.Instrument{
		Card: &gateway.Card{
			HolderName: secret.NewText("ANA SOUZA"), Number: secret.NewText(number), CCV: secret.NewText("318"),
			ExpiryMonth: secret.NewText("05"), ExpiryYear: secret.NewText("2099"),
		},
		Holder: &gateway.CardHolder{
			Name: "Ana Souza", Email: "ana@example.com", TaxID: "52998224725", PostalCode: "01310100",
			AddressNumber: "150", Phone: "1138830000",
		},
		RemoteIP: "203.0.113.7",
	}
}

// Numbers of gateway A's public test cards.
const (
	CardApproved = "5162306219378829"
	CardDeclined = "5184019740373151"
)

// Token is a card token of gateway B, such as "pm_card_visa".
func Token(id string) gateway.Instrument { return gateway.Instrument{PaymentMethodID: id} }

// Tokens of gateway B's public test cards.
const (
	TokenApproved       = "pm_card_visa"
	TokenDeclined       = "pm_card_chargeCustomerFail"  // attaches, then every charge is declined
	TokenRefused        = "pm_card_visa_chargeDeclined" // cannot be attached
	TokenAuthentication = "pm_card_authenticationRequired"
)

// EachGateway runs a test at both gateways at once.
func EachGateway(t *testing.T, run func(t *testing.T, gateway string)) {
	t.Helper()
	for _, gateway := range []string{"gwa", "gwb"} {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			run(t, gateway)
		})
	}
}
