package subscriptions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/idempotency"
	"marquee/platform/jobs"
	"marquee/platform/mail"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/apitest"
	"marquee/testutil/cleanup"
	"marquee/testutil/pgtest"
	"marquee/testutil/sandbox"
	"marquee/testutil/secrettest"
)

// plan costs 49.90 a month and has no trial.
const plan = subscriptionstest.PlanID

// pix is the platform's PIX setting in a test.
type pix struct {
	months int
	mode   string
}

func (p *pix) PixBillingMonths(context.Context) (int, error)       { return p.months, nil }
func (p *pix) PixSubscriptionMode(context.Context) (string, error) { return p.mode, nil }

var templates = sync.OnceValues(func() (*mail.Templates, error) { return mail.ParseTemplates(os.DirFS("../../web/mail")) })

// bundle is the module with both sandbox gateways behind it and the API before
// it.
type bundle struct {
	db       *pgxpool.Pool
	clock    *clock.Fake
	gateways *paymentstest.Gateways
	payments *payments.Service
	accounts *accounts.Service
	service  *subscriptions.Service
	jobs     *jobs.Client
	pix      *pix
	promos   *codes
	limits   payments.AutomaticRefunds
	mails    *mail.Catcher
	customer accounts.Customer
	token    string // of the customer's requests; "" until the first one logs in
	login    sync.Mutex
	serve    func() served // starts the API; most tests of events do without
	unsound  []string      // invariants that the test itself breaks
	working  bool          // jobs run
	broken   bool          // the test takes guards away: nothing holds at its end
}

// setup builds it with one customer. Webhooks of the sandbox wait until
// listen; jobs until work.
func setup(t *testing.T, change ...func(*subscriptions.Config)) *bundle {
	t.Helper()
	return setupOn(t, pgtest.DB(t), change...)
}

// setupOn is setup on a database of the test's own.
func setupOn(t *testing.T, db *pgxpool.Pool, change ...func(*subscriptions.Config)) *bundle {
	t.Helper()
	return setupWithin(t, db, payments.AutomaticRefunds{}, change...)
}

// setupWithin is setupOn with limits of what is refunded by itself.
func setupWithin(t *testing.T, db *pgxpool.Pool, limits payments.AutomaticRefunds,
	change ...func(*subscriptions.Config),
) *bundle {
	t.Helper()
	log := secrettest.Logger(t)
	b := &bundle{
		limits: limits, db: db, clock: clock.NewFake(paymentstest.Now()), gateways: paymentstest.NewGateways(t),
		pix: &pix{months: 1, mode: "manual"},
	}
	begun := b.clock.Now() // what waits for a job or for its time is no matter of the end
	cleanup.Add(t, func() {
		if !b.broken {
			pgtest.RequireInvariants(t, b.db, begun,
				append(b.unsound, "no_clock_skew")...) // the test's clock jumps, gateway B's does not
			paymentstest.RequireMovesOfTheTable(context.Background(), t, b.db)
			requireOrderMovesOfTheTables(context.Background(), t, b.db)
		}
	})
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	cfg := subscriptions.Config{Zone: zone}
	for _, c := range change {
		c(&cfg)
	}
	workers := river.NewWorkers()
	b.jobs, err = jobs.New(b.db, jobs.Options{Log: log, Workers: workers})
	require.NoError(t, err)
	who := accountstest.Deps(t, b.db)
	who.Clock = paymentstest.Clock{} // tokens outlive the months that b.clock goes on
	b.accounts, err = accounts.New(who)
	require.NoError(t, err)
	b.promos = &codes{}
	b.mails, err = mail.NewCatcher("127.0.0.1:0", log)
	require.NoError(t, err)
	cleanup.Add(t, func() { _ = b.mails.Close() })
	sender, err := mail.NewSMTP(b.mails.URL(), "Marquee <no-reply@example.com>")
	require.NoError(t, err)
	templates, err := templates()
	require.NoError(t, err)
	b.payments = payments.New(payments.Deps{
		Pool: b.db, Jobs: b.jobs, Clock: b.clock, Log: log, Adapters: b.gateways.Adapters(),
		GWBPublishableKey: "pk_test",
		Accounts:          b.accounts, Mail: sender, Templates: templates, Automatic: b.limits,
	})
	b.service = subscriptions.New(subscriptions.Deps{
		Mail: sender, Templates: templates, Promos: b.promos, Pool: b.db, Jobs: b.jobs, Clock: b.clock, Log: log,
		Accounts: b.accounts, Payments: b.payments, Settings: b.pix, Config: cfg,
	})
	b.payments.Workers(workers)
	b.service.Workers(workers)
	b.serve = sync.OnceValue(func() served {
		api := httpapi.New(httpapi.Config{
			Auth: b.accounts, Trail: b.accounts, Log: log, PublicURL: "https://api.example.com",
			Idempotency: idempotency.New(b.db, b.clock, []byte("0123456789abcdef0123456789abcdef")),
		})
		b.payments.Routes(api)
		b.service.Routes(api)
		return served{api: api, url: apitest.Serve(t, api)}
	})
	subscriptionstest.Plan(t, b.db, plan, 4990)
	b.newcomer(t)
	return b
}

// served is the API and its address, without a slash at the end.
type served struct {
	api *httpapi.API
	url string
}

// bearer is the token of the customer's requests.
func (b *bundle) bearer(t *testing.T) string {
	t.Helper()
	b.login.Lock()
	defer b.login.Unlock()
	if b.token == "" {
		b.token = accountstest.Token(t, b.db, b.customer.Username)
	}
	return b.token
}

// newcomer has the bundle go on with another customer, who has no subscription.
func (b *bundle) newcomer(t *testing.T) {
	t.Helper()
	b.customer, b.token = accountstest.Customer(t, b.db), ""
}

// listen lets the sandbox deliver its webhooks.
func (b *bundle) listen() {
	url := b.serve().url
	b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{
		GWAURL: url + "/webhooks/gwa", GWAToken: paymentstest.GWAToken,
		GWBURL: url + "/webhooks/gwb", GWBSecret: paymentstest.GWBSecret,
	})
}

// settle waits until every webhook is delivered.
func (b *bundle) settle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, b.gateways.Sandbox.Settle(ctx))
	b.confirmLate(t)
}

// confirmLate does what the jobs of told events and of late money would, unless they run.
func (b *bundle) confirmLate(t *testing.T) {
	t.Helper()
	if b.working {
		return
	}
	for workTaken(t, b, "payments_event_told", b.payments.ConfirmEvent) { // each may look once more
	}
	for workTaken(t, b, "subscriptions_late_money", b.service.ConfirmLateMoney) { // each may look once more
	}
	workTaken(t, b, "subscriptions_follow_recurrence", b.service.SyncRecurrence)
	workTaken(t, b, "subscriptions_stray_money", b.service.TakeStrayMoney)
}

// workTaken works the jobs that wait, which are taken away, and tells whether there were any.
func workTaken[A any](t *testing.T, b *bundle, kind string, work func(context.Context, A) error) bool {
	t.Helper()
	rows, err := b.db.Query(t.Context(),
		"DELETE FROM jobs.river_job WHERE kind = $1 AND state IN ('available', 'scheduled') RETURNING args", kind)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[A])
	require.NoError(t, err)
	for _, a := range all {
		require.NoError(t, work(t.Context(), a))
	}
	return len(all) > 0
}

// work runs the jobs until the test ends.
func (b *bundle) work(t *testing.T) {
	t.Helper()
	if b.working {
		return
	}
	b.working = true
	require.NoError(t, b.jobs.Start(context.WithoutCancel(t.Context())))
	cleanup.Add(t, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, b.jobs.Stop(ctx))
	})
}

// object is a JSON object of an answer.
type object = map[string]any

// call sends a request as the customer and returns the answer.
func (b *bundle) call(t *testing.T, method, path string, body any) (int, object) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, b.serve().url+httpapi.Prefix+path, reader)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+b.bearer(t))
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	var o object
	require.NoError(t, json.Unmarshal(got, &o), "%s", got)
	return res.StatusCode, o
}

// expect is call for an answer whose status is known.
func (b *bundle) expect(t *testing.T, status int, method, path string, body any) object {
	t.Helper()
	got, result := b.call(t, method, path, body)
	require.Equal(t, status, got, "%s %s: %v", method, path, result)
	return result
}

func doc(o object) object  { return o["docs"].([]any)[0].(object) }
func info(o object) object { return o["info"].(object) }
func idOf(o object) objectid.ID {
	return objectid.ID(doc(o)["_id"].(string))
}

// refused checks a coded error.
func refused(t *testing.T, o object, code, field string) {
	t.Helper()
	coded, ok := o["error"].(object)
	require.True(t, ok, "%v", o)
	require.Equal(t, code, coded["code"])
	require.NotEmpty(t, o["detail"])
	if field != "" {
		require.Equal(t, field, coded["field"])
	}
}

func gwbCard(token string) object { return object{"plan_id": plan, "payment_method_id": token} }

func gwaCard(number string) object {
	return object{
		"plan_id": plan,
		"credit_card": object{
			"holderName": "ANA SOUZA", "number": number, "expiryMonth": "05", "expiryYear": "2099", "ccv": "318",
		},
		"credit_card_holder_info": object{
			"name": "Ana Souza", "email": "ana@example.com", "cpfCnpj": "52998224725", "postalCode": "01310100",
			"addressNumber": "150", "phone": "1138830000",
		},
	}
}

// column reads one column of a subscription.
func column[T any](t *testing.T, b *bundle, id objectid.ID, name string) T {
	t.Helper()
	var v T
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT "+name+" FROM subscriptions.subscriptions WHERE id = $1", id).
		Scan(&v))
	return v
}

func (b *bundle) status(t *testing.T, id objectid.ID) string {
	t.Helper()
	return column[string](t, b, id, "status")
}

// forged notes that the test writes a status past the module, so that it has no
// history and no customer who knows it.
func (b *bundle) forged() {
	b.unsound = append(b.unsound, "subscription_status_is_history", "subscription_history_unbroken",
		"current_subscription_live", "live_subscription_current")
}

func (b *bundle) set(t *testing.T, id objectid.ID, assignments string, args ...any) {
	t.Helper()
	if strings.Contains(assignments, "status") {
		b.forged()
	}
	_, err := b.db.Exec(t.Context(), "UPDATE subscriptions.subscriptions SET "+assignments+" WHERE id = $1",
		append([]any{id}, args...)...)
	require.NoError(t, err)
}

func (b *bundle) count(t *testing.T, query string, args ...any) int {
	t.Helper()
	var n int
	require.NoError(t, b.db.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

// current is the customer's current_subscription_id, "" for none.
func (b *bundle) current(t *testing.T) objectid.ID {
	t.Helper()
	c, err := b.accounts.CustomerByID(t.Context(), b.db, b.customer.ID)
	require.NoError(t, err)
	return c.CurrentSubscriptionID
}

// history is the moves of a subscription, such as "pending>active payment_settled webhook".
func (b *bundle) history(t *testing.T, id objectid.ID) []string {
	t.Helper()
	rows, err := b.db.Query(t.Context(), `SELECT concat(from_status, '>', to_status, ' ', reason, ' ', source)
		FROM subscriptions.transitions WHERE subscription_id = $1 ORDER BY id`, id)
	require.NoError(t, err)
	moves, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return moves
}

// apply applies an event as a webhook does.
func (b *bundle) apply(t *testing.T, e gateway.Event) gateway.Result {
	t.Helper()
	if e.ID == "" {
		e.ID = "evt_" + objectid.New().String()
	}
	var r gateway.Result
	require.NoError(t, postgres.InTx(t.Context(), b.db, func(tx pgx.Tx) (err error) {
		r, err = b.service.ApplyEventTx(t.Context(), tx, e)
		return err
	}))
	return r
}

// access asks as the catalogue does.
func (b *bundle) access(t *testing.T) bool {
	t.Helper()
	var ok bool
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT has_access FROM subscriptions.has_access($1, $2)",
		b.customer.ID, b.clock.Now()).Scan(&ok))
	return ok
}

// admin calls the API as an admin; every answer is checked against the OpenAPI
// document.
func (b *bundle) admin(t *testing.T) *apitest.Client {
	t.Helper()
	return apitest.New(t, b.serve().api).As(accountstest.Token(t, b.db, accountstest.Admin(t, b.db).Username))
}

// client calls the API as the customer, with an Idempotency-Key.
func (b *bundle) client(t *testing.T, key string) *apitest.Client {
	t.Helper()
	return apitest.New(t, b.serve().api).As(b.bearer(t)).With("Idempotency-Key", key)
}

// text is the one value of a query.
func (b *bundle) text(t *testing.T, query string, args ...any) string {
	t.Helper()
	var s string
	require.NoError(t, b.db.QueryRow(t.Context(), query, args...).Scan(&s))
	return s
}

// day is a date of the row as it is in REPORT_TZ.
func (b *bundle) day(t *testing.T, id objectid.ID, name string) string {
	t.Helper()
	return b.text(t, "SELECT to_char("+name+
		" AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD') FROM subscriptions.subscriptions WHERE id = $1", id)
}

// reportZone is REPORT_TZ of these tests.
func reportZone(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	return zone
}

// eventually polls until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, time.Minute, 20*time.Millisecond, what)
}

// reconcile looks at the last hour, changing nothing or all that has to be.
func (b *bundle) reconcile(t *testing.T, dryRun bool) *payments.ReconcileReport {
	t.Helper()
	report, err := b.service.Reconcile(t.Context(),
		payments.ReconcileOptions{Since: b.clock.Now().Add(-time.Hour), DryRun: dryRun})
	require.NoError(t, err)
	return report
}
