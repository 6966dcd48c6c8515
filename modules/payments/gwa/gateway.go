package gwa

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/clock"
)

// Config of the adapter.
type Config struct {
	URL           string         // base URL with its version, such as https://api.asaas.com/v3 (the default)
	APIKey        string         // $aact_…, sent as access_token
	WebhookTokens []string       // the authToken of the webhook; several while it is being changed
	Zone          *time.Location // of the gateway's own days and times; default America/Sao_Paulo
	Days          *time.Location // REPORT_TZ, in which the days of terms are meant; default Zone
	Clock         clock.Clock
	Timeout       time.Duration     // of a call; default 20 s
	CardTimeout   time.Duration     // of a call that may charge a card; default 60 s, the vendor's advice
	RetryWait     time.Duration     // before a GET is repeated; default 300 ms
	UserAgent     string            // compulsory at the gateway; default Marquee
	Transport     http.RoundTripper // default http.DefaultTransport
}

// productionURL is where real money is taken, and the default of Config.URL.
const productionURL = "https://api.asaas.com/v3"

// TestMode reports whether no real money is taken: the address is another than that of production, or the key is one
// of the sandbox ($aact_hmlg_…).
func (c Config) TestMode() bool {
	url := strings.TrimSuffix(cmp.Or(c.URL, productionURL), "/")
	return !strings.EqualFold(url, productionURL) || strings.HasPrefix(c.APIKey, "$aact_hmlg_")
}

// Gateway is gateway A: its client, and what can be asked of it, by what that is about.
type Gateway struct {
	*client
	payments
	recurrences
	authorizations
	refunds
	events
	lister
}

type (
	// payments are made and read one by one: PIX codes, charges of cards, and who pays them.
	payments struct{ *client }
	// recurrences are card subscriptions, from their beginning to their end.
	recurrences struct{ *client }
	// authorizations are automatic PIX, its debits and the orders to the payer's bank.
	authorizations struct{ *client }
	// refunds are what was given back or disputed.
	refunds struct{ *client }
	// events are what a webhook tells, and what the gateway shows of it.
	events struct{ *client }
	// lister reads what the gateway has, page by page.
	lister struct{ *client }
)

// client calls the gateway, judges its answers, and reads single objects.
type client struct {
	cfg    Config
	http   *http.Client
	limits limits
	quota  quota
	health reply.Health
}

var _ gateway.Adapter = (*Gateway)(nil)

// New makes the adapter. It makes no call.
func New(cfg Config) *Gateway {
	cfg.URL = strings.TrimSuffix(cmp.Or(cfg.URL, productionURL), "/")
	if cfg.Zone == nil {
		cfg.Zone = saoPaulo()
	}
	cfg.Days = cmp.Or(cfg.Days, cfg.Zone)
	if cfg.Clock == nil {
		cfg.Clock = clock.System{}
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, 20*time.Second)
	cfg.CardTimeout = cmp.Or(cfg.CardTimeout, 60*time.Second)
	cfg.RetryWait = cmp.Or(cfg.RetryWait, 300*time.Millisecond)
	cfg.UserAgent = cmp.Or(cfg.UserAgent, "Marquee")
	c := &client{cfg: cfg, http: &http.Client{
		Transport: cfg.Transport,
		// A redirect would send the key, and perhaps a card, to another address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	return &Gateway{
		client: c, payments: payments{c}, recurrences: recurrences{c}, authorizations: authorizations{c},
		refunds: refunds{c}, events: events{c}, lister: lister{c},
	}
}

// Name is gateway.GWA.
func (*Gateway) Name() gateway.Name { return gateway.GWA }

// SyncPlan does nothing: the gateway keeps no plans.
func (*payments) SyncPlan(context.Context, gateway.PlanTerms) (gateway.PlanIDs, error) {
	return gateway.PlanIDs{}, nil
}
