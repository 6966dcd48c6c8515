package tickets_test

import (
	"context"
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
	"marquee/modules/files"
	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/tickets"
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
	"marquee/web"
)

// bundle is the module with both sandbox gateways behind it and the API before
// it, called as an admin, as a customer and by nobody.
type bundle struct {
	t        *testing.T
	db       *pgxpool.Pool
	clock    *clock.Fake
	gateways *paymentstest.Gateways
	payments *payments.Service
	accounts *accounts.Service
	service  *tickets.Service
	jobs     *jobs.Client
	mails    *outbox
	nobody   *apitest.Client
	admin    *apitest.Client
	me       *apitest.Client
	customer accounts.Customer
	unsound  []string // invariants that the test itself breaks
}

// outbox keeps what would have been mailed.
type outbox struct {
	mu   sync.Mutex
	sent []mail.Message
}

func (o *outbox) Send(_ context.Context, m mail.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = append(o.sent, m)
	return nil
}

// to are the messages to an address whose subject holds a text.
func (o *outbox) to(address, subject string) []mail.Message {
	o.mu.Lock()
	defer o.mu.Unlock()
	var found []mail.Message
	for _, m := range o.sent {
		if m.To == address && strings.Contains(m.Subject, subject) {
			found = append(found, m)
		}
	}
	return found
}

var fileKey = []byte("0123456789abcdef0123456789abcdef")

var templates = sync.OnceValues(func() (*mail.Templates, error) { return mail.ParseTemplates(web.Mail()) })

// setup builds it. Webhooks of the sandbox wait until listen; jobs until work.
func setup(t *testing.T, change ...func(*tickets.Config)) *bundle {
	t.Helper()
	log := secrettest.Logger(t)
	b := &bundle{
		t: t, db: pgtest.DB(t), clock: clock.NewFake(paymentstest.Now()), gateways: paymentstest.NewGateways(t),
		mails: &outbox{},
	}
	begun := b.clock.Now() // what waits for a job or for its time is no matter of the end
	// The test's clock jumps, gateway B's does not.
	cleanup.Add(t, func() {
		pgtest.RequireInvariants(t, b.db, begun, append(b.unsound, "no_clock_skew")...)
		requireMovesOfTheTable(context.Background(), b)
		paymentstest.RequireMovesOfTheTable(context.Background(), t, b.db)
	})
	zone, err := time.LoadLocation("America/Sao_Paulo")
	require.NoError(t, err)
	cfg := tickets.Config{FileKey: fileKey, Zone: zone, PerMinute: 100_000, DeclinesPerAddress: 100_000}
	for _, c := range change {
		c(&cfg)
	}
	workers := river.NewWorkers()
	b.jobs, err = jobs.New(b.db, jobs.Options{Log: log, Workers: workers})
	require.NoError(t, err)
	templates, err := templates()
	require.NoError(t, err)
	archive := files.New(files.Deps{
		Pool: b.db, Clock: b.clock, Config: files.Config{FileKey: fileKey, PublicURL: "https://api.example.com"},
	})
	deps := accountstest.Deps(t, b.db)
	deps.Jobs, deps.Mail, deps.Templates = b.jobs, b.mails, templates
	b.accounts, err = accounts.New(deps)
	require.NoError(t, err)
	b.payments = payments.New(payments.Deps{
		Pool: b.db, Jobs: b.jobs, Clock: b.clock, Log: log, Adapters: b.gateways.Adapters(),
		GWBPublishableKey: "pk_test",
	})
	b.service = tickets.New(tickets.Deps{
		Pool: b.db, Jobs: b.jobs, Clock: b.clock, Log: log, Accounts: b.accounts, Payments: b.payments,
		Files: archive, Mail: b.mails, Templates: templates, Config: cfg,
	})
	b.payments.Workers(workers)
	b.accounts.Workers(workers)
	b.service.Workers(workers)
	archive.Connect(files.Above{Records: b.service.FileRecords()})
	b.customer = accountstest.Customer(t, b.db)
	b.serve(idempotency.New(b.db, b.clock, fileKey))
	return b
}

// eachGateway is paymentstest.EachGateway, with a bundle for each.
func eachGateway(t *testing.T, run func(t *testing.T, b *bundle, gateway string)) {
	t.Helper()
	paymentstest.EachGateway(t, func(t *testing.T, gateway string) { run(t, setup(t), gateway) })
}

// serve puts the API before the module; without a store it ignores
// Idempotency-Key.
func (b *bundle) serve(repeats *idempotency.Store) {
	b.t.Helper()
	api := httpapi.New(httpapi.Config{
		Auth: b.accounts, Trail: b.accounts, Log: secrettest.Logger(b.t), PublicURL: "https://api.example.com",
		Idempotency: repeats,
	})
	b.payments.Routes(api)
	b.service.Routes(api)
	b.nobody = apitest.New(b.t, api)
	b.me = b.nobody.As(accountstest.Token(b.t, b.db, b.customer.Username))
	b.admin = b.nobody.As(accountstest.Token(b.t, b.db, accountstest.Admin(b.t, b.db).Username))
}

// listen lets the sandbox deliver its webhooks.
func (b *bundle) listen() {
	b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{
		GWAURL: b.nobody.URL() + "/webhooks/gwa", GWAToken: paymentstest.GWAToken,
		GWBURL: b.nobody.URL() + "/webhooks/gwb", GWBSecret: paymentstest.GWBSecret,
	})
}

// settle waits until every webhook is delivered.
func (b *bundle) settle() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	require.NoError(b.t, b.gateways.Sandbox.Settle(ctx))
	b.confirmEvents()
}

// confirmEvents asks the gateway for what events told, as their jobs would.
func (b *bundle) confirmEvents() {
	b.t.Helper()
	for workTaken(b, "payments_event_told", b.payments.ConfirmEvent) { // each may look once more
	}
}

// workTaken works the jobs that wait, which are taken away, and tells whether there were any.
func workTaken[A any](b *bundle, kind string, work func(context.Context, A) error) bool {
	b.t.Helper()
	rows, err := b.db.Query(b.t.Context(),
		"DELETE FROM jobs.river_job WHERE kind = $1 AND state IN ('available', 'scheduled') RETURNING args", kind)
	require.NoError(b.t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[A])
	require.NoError(b.t, err)
	for _, a := range all {
		require.NoError(b.t, work(b.t.Context(), a))
	}
	return len(all) > 0
}

// work runs the jobs until the test ends.
func (b *bundle) work() {
	b.t.Helper()
	require.NoError(b.t, b.jobs.Start(context.WithoutCancel(b.t.Context())))
	cleanup.Add(b.t, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(b.t, b.jobs.Stop(ctx))
	})
}

// sweep does what is due: looks at both gateways, and the module's own sweep.
func (b *bundle) sweep() {
	b.t.Helper()
	for _, gateway := range []gateway.Name{gateway.GWA, gateway.GWB} {
		require.NoError(b.t, b.payments.Intents().CheckDue(b.t.Context(), gateway))
	}
	require.NoError(b.t, b.service.Sweep(b.t.Context()))
}

// another logs a further customer in.
func (b *bundle) another() (accounts.Customer, *apitest.Client) {
	b.t.Helper()
	c := accountstest.Customer(b.t, b.db)
	return c, b.nobody.As(accountstest.Token(b.t, b.db, c.Username))
}

type object = map[string]any

// event makes an event on sale in a month, at 120 reais with 100 places, with
// changes.
func (b *bundle) event(changes object) objectid.ID {
	b.t.Helper()
	e := object{
		"title": "Premiere", "event_type": "movie_premiere",
		"event_date": b.clock.Now().Add(30 * 24 * time.Hour).Format(time.RFC3339), "location": "Cine Ipiranga",
		"capacity": 100, "ticket_value": 120.5, "is_sale_box_office": true,
	}
	for k, v := range changes {
		e[k] = v
	}
	return idOf(b.admin.Post("/events", []object{e}).Expect(200))
}

func docs(a *apitest.Response) []object {
	var all []object
	list, _ := a.Map()["docs"].([]any)
	for _, d := range list {
		all = append(all, d.(object))
	}
	return all
}

func idOf(a *apitest.Response) objectid.ID { return objectid.ID(docs(a)[0]["_id"].(string)) }

func (b *bundle) count(query string, args ...any) int {
	b.t.Helper()
	var n int
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), query, args...).Scan(&n))
	return n
}

// issued is the event's counter, having checked that it equals the rows.
func (b *bundle) issued(event objectid.ID) int {
	b.t.Helper()
	n := b.count("SELECT tickets_issued FROM tickets.events WHERE id = $1", event)
	require.Equal(b.t, b.count("SELECT count(*) FROM tickets.tickets WHERE event_id = $1 AND holds_place", event), n,
		"the counter equals the rows")
	return n
}

func (b *bundle) eventually(what string, ok func() bool) {
	b.t.Helper()
	require.Eventually(b.t, ok, time.Minute, 20*time.Millisecond, what)
}

// give issues a ticket to a customer as an admin.
func (b *bundle) give(customer, event objectid.ID) objectid.ID {
	b.t.Helper()
	return idOf(b.admin.Post("/tickets", object{
		"customer_id": customer, "event_id": event, "title": "Guest of honour",
	}).Expect(200))
}

func (b *bundle) ticketStatus(id objectid.ID) string {
	b.t.Helper()
	var status string
	require.NoError(b.t,
		b.db.QueryRow(b.t.Context(), "SELECT status FROM tickets.tickets WHERE id = $1", id).Scan(&status))
	return status
}

func cardA(event objectid.ID, quantity int, number string) object {
	return object{
		"event_id": event, "quantity": quantity,
		"credit_card": object{
			"holderName": "ANA SOUZA", "number": number, "expiryMonth": "05", "expiryYear": "2099", "ccv": "318",
		},
		"credit_card_holder_info": object{
			"name": "Ana Souza", "email": "ana@example.com", "cpfCnpj": "52998224725", "postalCode": "01310100",
			"addressNumber": "150", "phone": "1138830000",
		},
	}
}

func cardB(event objectid.ID, quantity int, token string) object {
	return object{"event_id": event, "quantity": quantity, "payment_method_id": token}
}

func pix(event objectid.ID, quantity int) object {
	return object{"event_id": event, "quantity": quantity}
}

// code is what the QR code of a ticket of mine says.
func (b *bundle) code(ticket objectid.ID) string {
	b.t.Helper()
	return b.me.Get("/me/tickets/" + ticket.String() + "/qr").Expect(200).Map()["qr_payload"].(string)
}

// orderRow is the state of an order, and the status that is told of it.
func (b *bundle) orderRow(id string) (state, status string) {
	b.t.Helper()
	require.NoError(b.t,
		b.db.QueryRow(b.t.Context(), "SELECT state, payment_status FROM tickets.orders WHERE id = $1", id).Scan(&state,
			&status))
	return state, status
}

// scanned uploads one scan and gives its result.
func (b *bundle) scanned(code string, at time.Time) object {
	b.t.Helper()
	body := object{"scans": []object{{"qr_payload": code, "scanned_at": at.Format(time.RFC3339Nano)}}}
	return b.admin.Post("/tickets/consume-qr/batch", body).Expect(200).Map()["results"].([]any)[0].(object)
}

// reconcile looks at the last hour, changing nothing or all that has to be.
func (b *bundle) reconcile(dryRun bool) *payments.ReconcileReport {
	b.t.Helper()
	o := payments.ReconcileOptions{Since: time.Now().Add(-time.Hour), DryRun: dryRun}
	report := payments.NewReconcileReport(o)
	require.NoError(b.t, b.payments.Comparison().Reconcile(b.t.Context(), o, report))
	return report
}

// apply applies an event as a webhook does.
func (b *bundle) apply(e gateway.Event) (r gateway.Result) {
	b.t.Helper()
	require.NoError(b.t, postgres.InTx(b.t.Context(), b.db, func(tx pgx.Tx) (err error) {
		r, err = b.service.Webhooks().ApplyEventTx(b.t.Context(), tx, e)
		return err
	}))
	return r
}
