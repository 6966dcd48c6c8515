package modeltest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/files"
	"marquee/modules/finance"
	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/gwa"
	"marquee/modules/payments/gwb"
	"marquee/modules/promos"
	"marquee/modules/subscriptions"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/modules/tickets"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
	"marquee/platform/taxid"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
	"marquee/web"
)

const (
	gwaToken  = "sandbox-webhook-token-of-gateway-a-0001"
	gwbSecret = "whsec_sandboxwebhooksecretofgatewayb01"
	gwaKey    = "$aact_hmlg_sandbox"
	gwbKey    = "sk_test_sandbox"
	masterKey = "0123456789abcdef0123456789abcdef"
)

// testPlatform is the composed platform on one database. Histories run on it one after
// the other, each on a clean slate and at its own time.
type testPlatform struct {
	db            *pgxpool.Pool
	at            atomic.Int64 // the platform's time in milliseconds
	current       *history
	workers       *river.Workers
	accounts      *accounts.Service
	payments      *payments.Service
	subscriptions *subscriptions.Service
	tickets       *tickets.Service
	finance       *finance.Service
	connections   *connections
	adapters      map[gateway.Name]*adapter
	zone          *time.Location
	routes        *httpapi.API
	api           http.Handler
	admin         string // token
	people        int    // made so far
	cleaning      string // statements
	picturing     string // statement
}

// Now makes the world the platform's clock.
func (w *testPlatform) Now() time.Time { return time.UnixMilli(w.at.Load()).UTC() }

// dawn lies before every history, and after the machine's own time, at which River
// puts jobs that are due at once: a history would not find them due before. It lies so far
// ahead that no machine comes there, in a year whose days are those of 2027.
var dawn = time.Date(2083, 1, 1, 3, 0, 0, 0, time.UTC)

func newTestPlatform(t *testing.T) *testPlatform {
	t.Helper()
	w := &testPlatform{workers: river.NewWorkers(), connections: &connections{loans: map[*pgx.Conn]loan{}}}
	w.db = tracedPool(t, w.connections)
	w.at.Store(dawn.UnixMilli())
	log := secrettest.Logger(t)
	client, err := jobs.New(w.db, jobs.Options{Log: log})
	require.NoError(t, err)
	w.zone, err = time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	templates, err := mail.ParseTemplates(web.Mail())
	require.NoError(t, err)
	archive := files.New(files.Deps{Pool: w.db, Clock: w})
	w.accounts = newAccounts(t, w, client, archive, templates)
	w.adapters = map[gateway.Name]*adapter{gateway.GWA: {Adapter: w.newGWA()}, gateway.GWB: {Adapter: w.newGWB()}}
	w.payments = payments.New(payments.Deps{
		Pool: w.db, Jobs: client, Clock: w, Log: log, GWBPublishableKey: "pk_test",
		Adapters: []gateway.Adapter{w.adapters[gateway.GWA], w.adapters[gateway.GWB]},
	})
	w.tickets = tickets.New(tickets.Deps{
		Pool: w.db, Jobs: client, Clock: w, Log: log, Accounts: w.accounts, Payments: w.payments, Files: archive,
		Mail: nobody{}, Templates: templates,
		Config: tickets.Config{
			FileKey: []byte(masterKey), Zone: w.zone, DeclinesPerAddress: 1 << 30, DeclinesPerCard: 1 << 30,
			DeclinesPerBuyer: 1 << 30, WithdrawalDays: 7, WithdrawalBefore: 48 * time.Hour, RefundsPerSecond: 50,
		},
	})
	codes := promos.New(promos.Deps{
		Pool: w.db, Clock: w, Log: log, Accounts: w.accounts, Files: archive, Tickets: w.tickets,
	})
	w.subscriptions = subscriptions.New(subscriptions.Deps{
		Pool: w.db, Jobs: client, Clock: w, Log: log, Accounts: w.accounts, Payments: w.payments, Settings: pix{w},
		Promos: promoCodes{codes}, Mail: nobody{}, Templates: templates,
		Config: subscriptions.Config{Zone: w.zone, WithdrawalDays: 7},
	})
	w.finance = finance.New(finance.Deps{Pool: w.db, Jobs: client, Clock: w, Log: log, Zone: w.zone})
	require.NoError(t, w.finance.UseReportZone(t.Context()))
	w.accounts.Connect(accounts.Above{
		Sync:      w.subscriptions,
		Billing:   []accounts.Billing{w.subscriptions, w.tickets},
		Purchases: []accounts.Purchases{w.subscriptions, w.tickets},
		Changes:   []accounts.CustomerChanges{w.tickets},
		Personal:  []accounts.PersonalData{w.subscriptions, w.tickets, codes, w.payments},
	})
	for _, add := range []func(*river.Workers){
		archive.Workers, w.accounts.Workers, w.payments.Workers, w.tickets.Workers, w.subscriptions.Workers,
	} {
		add(w.workers)
	}
	w.routes = httpapi.New(httpapi.Config{
		Auth: w.accounts, Log: log, PublicURL: "https://api.example.com", NoThrottle: true,
		Idempotency: idempotency.New(w.db, w, []byte(masterKey)),
	})
	for _, add := range []func(*httpapi.API){
		w.accounts.Routes, w.payments.Routes, w.tickets.Routes, codes.Routes, w.subscriptions.Routes,
	} {
		add(w.routes)
	}
	w.api = w.routes.Handler()
	w.furnish(t)
	return w
}

// adapter stands for a gateway's adapter, which is made anew for each history: it
// remembers until when the gateway asked it to rest.
type adapter struct {
	gateway.Adapter
	onReply func(ctx context.Context, right bool)
}

// OnReply implements gateway.Adapter, for the adapters that are made later, too.
func (a *adapter) OnReply(f func(ctx context.Context, right bool)) {
	a.onReply = f
	a.Adapter.OnReply(f)
}

// renew puts another in its place.
func (a *adapter) renew(by gateway.Adapter) {
	a.Adapter = by
	a.OnReply(a.onReply)
}

func (w *testPlatform) newGWA() gateway.Adapter {
	return gwa.New(gwa.Config{
		URL: "http://gwa/v3", APIKey: gwaKey, WebhookTokens: []string{gwaToken}, Zone: w.zone, Clock: w,
		RetryWait: time.Nanosecond, Transport: wire{w, gateway.GWA},
	})
}

func (w *testPlatform) newGWB() gateway.Adapter {
	return gwb.New(gwb.Config{
		URL: "http://gwb", SecretKey: gwbKey, WebhookSecrets: []string{gwbSecret}, Clock: w,
		RetryWait: time.Nanosecond, Transport: wire{w, gateway.GWB},
	})
}

// tracedPool is a pool at whose commits the process may die.
func tracedPool(t *testing.T, watched *connections) *pgxpool.Pool {
	t.Helper()
	cfg := pgtest.DB(t).Config()
	cfg.ConnConfig.Tracer, cfg.MaxConns = watched, 6
	db, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		if db.Stat().AcquiredConns() == 0 { // it would wait for them
			db.Close()
		}
	})
	return db
}

func newAccounts(t *testing.T, w *testPlatform, client *jobs.Client, archive *files.Service,
	templates *mail.Templates,
) *accounts.Service {
	t.Helper()
	d := accountstest.Deps(t, w.db)
	d.Jobs, d.Clock, d.Files, d.Mail, d.Templates = client, w, archive, nobody{}, templates
	d.Config.AccessTokenTTL = 20 * 365 * 24 * time.Hour
	s, err := accounts.New(d)
	require.NoError(t, err)
	return s
}

// nobody reads the mails.
type nobody struct{}

func (nobody) Send(context.Context, mail.Message) error { return nil }

// pix is the platform's PIX setting, which the history turns.
type pix struct{ w *testPlatform }

func (p pix) PixBillingMonths(context.Context) (int, error)       { return p.w.current.months, nil }
func (p pix) PixSubscriptionMode(context.Context) (string, error) { return p.w.current.pixMode, nil }

// promoCodes is the module promos as the composition root shows it to subscriptions.
type promoCodes struct{ *promos.Service }

func (p promoCodes) FirstMonth(ctx context.Context, customerID objectid.ID,
	code string,
) (subscriptions.PromoDiscount, bool, error) {
	d, ok, err := p.Service.FirstMonth(ctx, customerID, code)
	return subscriptions.PromoDiscount{Code: d.Code, FirstMonth: d.FirstMonth}, ok, err
}

// Plans, codes and the event of every history.
const (
	planPlus    = "plus"    // 49.90 a month
	planTrial   = "trial"   // 29.90 a month after 7 free days
	planPremium = "premium" // 69.90 a month
	codeTen     = "TENOFF"
	codeFree    = "FREEMO"
	codeTicket  = "TICKET"
	eventID     = "65a000000000000000000001"
)

// plans are their prices as a history finds them.
var plans = map[string]int64{planPlus: 4990, planTrial: 2990, planPremium: 6990}

// furnish makes what outlives the histories.
func (w *testPlatform) furnish(t *testing.T) {
	t.Helper()
	for id, price := range plans {
		subscriptionstest.Plan(t, w.db, id, price)
	}
	require.NoError(t, w.stage(t.Context(), w.db, dawn))
	_, err := w.db.Exec(t.Context(),
		`UPDATE subscriptions.plans SET trial_enabled = true, trial_days = 7 WHERE plan_id = $1`, planTrial)
	require.NoError(t, err)
	_, err = w.db.Exec(t.Context(), `INSERT INTO promos.promo_codes (code, title, code_type, discount_first_month_cents)
		VALUES ($1, 'Less', 'promo', 1990), ($2, 'Nothing', 'promo', 0)`, codeTen, codeFree)
	require.NoError(t, err)
	_, err = w.db.Exec(t.Context(),
		`INSERT INTO promos.promo_codes (code, title, code_type, event_id, bonus_tickets) VALUES ($1, 'A seat', 'ticket', $2, 1)`, codeTicket, eventID)
	require.NoError(t, err)
	admin := accountstest.Root(t, w.db)
	w.admin = w.login(t, admin.Username)
}

// stage makes the one event: five months ahead, few places, 30.00 each.
func (*testPlatform) stage(ctx context.Context, db postgres.DB, at time.Time) error {
	_, err := db.Exec(ctx,
		`INSERT INTO tickets.events (id, title, event_date, location, capacity, ticket_value_cents, is_sale_box_office)
		VALUES ($1, 'Premiere', $2, 'Cine Ipiranga', 14, 3000, true)`, eventID, at.AddDate(0, 0, 150))
	return err
}

// login returns an access token. It asks no gateway: the sync is a step of its own.
func (w *testPlatform) login(t tester, username string) string {
	t.Helper()
	res := w.send(context.Background(), http.MethodPost, "/token", "", loginForm(username))
	require.Equal(t, http.StatusOK, res.status, "%s", res.body)
	return res.text(t, "access_token")
}

func loginForm(username string) url.Values {
	return url.Values{"username": {username}, "password": {accountstest.Password}}
}

// newPerson makes a customer; n tells customers apart.
func (w *testPlatform) newPerson(t tester, n int) person {
	t.Helper()
	name := fmt.Sprintf("customer%d", n)
	u, err := w.accounts.CreateUser(context.Background(), accounts.NewUser{
		Type: httpapi.TypeCustomer, Username: name, Email: name + ".fill_never@example.com",
		FullName: "Customer " + name,
		Phone:    "+5511987654321", TaxID: taxid.CPF(n), EmailVerified: true, Password: secret.NewText(accountstest.Password),
	})
	require.NoError(t, err)
	return person{id: u.ID, name: name, token: w.login(t, name)}
}

// fullSQL lists what histories fill.
const fullSQL = `SELECT format('DELETE FROM %I.%I;', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND (n.nspname = 'tickets' OR n.nspname = 'finance' AND c.relname <> 'settings'
		OR n.nspname = 'payments' AND c.relname <> 'database_marks'
		OR n.nspname = 'subscriptions' AND c.relname <> 'plans'
		OR n.nspname = 'accounts' AND c.relname NOT IN ('users', 'users_type')
		OR n.nspname || '.' || c.relname IN ('jobs.river_job', 'promos.redemptions', 'platform.idempotency_keys'))`

// clean empties what histories fill. Triggers keep histories and ledgers from
// being changed, by anybody but the owner of a test's database.
func (w *testPlatform) clean(t tester, at time.Time) {
	t.Helper()
	if w.cleaning == "" {
		rows, err := w.db.Query(context.Background(), fullSQL)
		require.NoError(t, err)
		deletes, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		w.cleaning = "SET LOCAL session_replication_role = replica;" + strings.Join(deletes, "") +
			"DELETE FROM accounts.users WHERE user_type = 'customer';" +
			"INSERT INTO payments.gateway_state (gateway) VALUES ('gwa'), ('gwb');" +
			"UPDATE subscriptions.plans SET gwb_product_id = NULL, gwb_price_id = NULL, gwb_price_amount_cents = NULL, amount_cents = CASE plan_id"
		for id, price := range plans {
			w.cleaning += fmt.Sprintf(" WHEN '%s' THEN %d", id, price)
		}
		w.cleaning += " END"
	}
	// A connection that a simulated death kept would otherwise hang the run.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	require.NoError(t, pgx.BeginFunc(ctx, w.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, w.cleaning, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		return w.stage(ctx, tx, at)
	}), "%d connections are taken", w.db.Stat().AcquiredConns())
}
