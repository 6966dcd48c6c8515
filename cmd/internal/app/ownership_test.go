package app

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/secret"
	"marquee/testutil/apitest"
	"marquee/testutil/leaktest"
	"marquee/testutil/pgtest"
)

// canary stands in everything of the victim that is nobody else's to read.
const canary = "canary-of-the-victim"

// victimPhone and victimTaxID cannot carry the canary.
const (
	victimPhone = "+5511912345670"
	victimTaxID = "52998224725"
	appPassword = "correct horse battery"
)

// openApp is the composed platform without limits per address, before gateways that
// refuse everything.
func openApp(t *testing.T) *App {
	t.Helper()
	gateway := httptest.NewServer(http.HandlerFunc(knowsNothing))
	t.Cleanup(gateway.Close)
	cfg := complete()
	cfg.DatabaseURL, cfg.MaxConns, cfg.MailFrom = pgtest.URL(t), 4, "Marquee <no-reply@example.com>"
	cfg.NoThrottle, cfg.GWAURL, cfg.GWBURL, cfg.GWBPublishable = true, gateway.URL, gateway.URL, "pk_test_1"
	a, err := New(t.Context(), cfg, leaktest.Logger(t), true)
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return a
}

// knowsNothing answers as either gateway answers about an object that it has not:
// for good, so that nothing is tried again.
func knowsNothing(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, `{"errors":[{"code":"not_found","description":"Not found"}],"error":{"type":"invalid_request_error","code":"resource_missing","message":"No such object"}}`)
}

// person makes a user and logs him in.
func person(t *testing.T, a *App, c *apitest.Client, n accounts.NewUser) (accounts.User, *apitest.Client) {
	t.Helper()
	n.Password, n.Email, n.EmailVerified = secret.NewText(appPassword), n.Username+"@example.com", true
	u, err := a.modules.accounts.CreateUser(t.Context(), n)
	require.NoError(t, err)
	return u, c.As(tokenOf(c, n.Username))
}

func tokenOf(c *apitest.Client, username string) string {
	login := c.PostForm("/token", url.Values{"username": {username}, "password": {appPassword}}).Expect(http.StatusOK)
	return login.Map()["access_token"].(string)
}

func (a *App) insert(t *testing.T, sql string, args ...any) objectid.ID {
	t.Helper()
	var id objectid.ID
	require.NoError(t, a.pool.QueryRow(t.Context(), sql+" RETURNING id", args...).Scan(&id))
	return id
}

// victim has a record of everything that customers have. ids are its records'
// by kind.
type victim struct {
	ids    map[string]string
	client *apitest.Client
}

func newVictim(t *testing.T, a *App, nobody, admin *apitest.Client) victim {
	t.Helper()
	b, client := person(t, a, nobody, accounts.NewUser{
		Type: httpapi.TypeCustomer, Username: canary, FullName: canary, Phone: victimPhone, TaxID: victimTaxID,
	})
	subscription := subscriptionstest.Active(t, a.pool, b.ID)
	event := a.insert(t, `INSERT INTO tickets.events (title, event_date, capacity) VALUES ('Premiere', now() + interval '30 days', 100)`)
	order := a.insert(t, `INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method,
			gateway_payment_id, payment_status, state, hold_until, pix_payload, intent_open, created_at, updated_at)
		VALUES (platform.new_object_id(), $1, $2, 1, 5000, 5000, 'gwa', 'pix', $3, 'pending', 'reserved', now() + interval '1 day', $3, false, now(), now())`,
		b.ID, event, canary)
	_, err := a.pool.Exec(t.Context(), `INSERT INTO tickets.customers (id, name, email) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, b.ID, canary, b.Email)
	require.NoError(t, err)
	ticket := a.insert(t, `INSERT INTO tickets.tickets (event_id, customer_id, title, description, status, reason) VALUES ($1, $2, $3, $3, 'available', 'courtesy')`,
		event, b.ID, canary)
	log := a.insert(t, `INSERT INTO payments.webhook_logs (gateway, payload, signature_valid, received_at) VALUES ('gwa', jsonb_build_object('customer', $1::text), true, now())`, canary)
	a.insert(t, `INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
		VALUES ('gwb', $1, 'subscription', $2, $3, 4990, 'credit_card', 'paid', now(), now(), now())`, canary, subscription, b.ID)
	column := a.insert(t, `INSERT INTO board.requisition_status (name) VALUES ($1)`, canary)
	card := a.insert(t, `INSERT INTO board.requisitions (name, status_id) VALUES ($1, $2)`, canary, column)
	return victim{client: client, ids: map[string]string{
		"user": b.ID.String(), "subscription": subscription.String(), "order": order.String(), "ticket": ticket.String(), "webhook log": log.String(),
		"column": column.String(), "requisition": card.String(), "event": event.String(),
		"file":       upload(t, admin, "/upload-file/archive-records/"+b.ID.String()),
		"attachment": upload(t, admin, "/admin/requisitions/"+card.String()+"/files"),
	}}
}

// upload sends a text that carries the canary and returns the file's id.
func upload(t *testing.T, admin *apitest.Client, path string) string {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", canary+".txt")
	require.NoError(t, err)
	_, err = part.Write([]byte(canary))
	require.NoError(t, err)
	require.NoError(t, form.Close())
	answer := admin.Send(http.MethodPost, path, form.FormDataContentType(), body.Bytes())
	require.Less(t, answer.Status, 300, "%s", answer.Body)
	id := regexp.MustCompile(`"(?:file_id|_id)":\s*"([0-9a-f]{24})"`)
	all := id.FindAllSubmatch(answer.Body, -1)
	require.NotEmpty(t, all, "%s", answer.Body)
	return string(all[len(all)-1][1])
}

// reveals says whether the answer holds anything of the victim's. What the
// request itself named may be repeated.
func reveals(answer *apitest.Answer) bool {
	text := string(answer.Body) + fmt.Sprint(answer.Header)
	return strings.Contains(text, canary) || strings.Contains(text, victimPhone) || strings.Contains(text, victimTaxID)
}

// rows are all rows, of whatever table of whatever module, that name one of the
// ids or carry the canary.
func (a *App) rows(t *testing.T, ids map[string]string) []string {
	t.Helper()
	found, err := a.pool.Query(t.Context(), `SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
		WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'public') ORDER BY 1`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(found, pgx.RowTo[string])
	require.NoError(t, err)
	marks := []string{canary}
	for _, id := range ids {
		marks = append(marks, id)
	}
	var all []string
	for _, table := range tables {
		found, err := a.pool.Query(t.Context(), `SELECT to_jsonb(t)::text FROM `+table+` t WHERE to_jsonb(t)::text ~ $1`, strings.Join(marks, "|"))
		require.NoError(t, err)
		rows, err := pgx.CollectRows(found, pgx.RowTo[string])
		require.NoError(t, err)
		for _, row := range rows {
			all = append(all, table+" "+row)
		}
	}
	slices.Sort(all)
	return all
}

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// requests are all ways to name the ids in a call of the route: in each place of
// the path, in each parameter that the document knows, and in those that others
// might have left open.
func requests(a *App, r httpapi.RouteInfo, ids map[string]string) []string {
	paths := []string{r.Path}
	for placeholder.MatchString(paths[0]) {
		var next []string
		for _, path := range paths {
			spot := placeholder.FindString(path)
			for _, id := range append([]string{"users", "customers"}, sorted(ids)...) {
				if strings.Contains(path, spot) && (spot == "{collection_name}") == (len(id) < 24) {
					next = append(next, strings.Replace(path, spot, id, 1))
				}
			}
		}
		paths = next
	}
	var all []string
	for _, path := range paths {
		all = append(all, path)
		for _, id := range sorted(ids) {
			for _, q := range queries(a, r, id) {
				all = append(all, path+"?"+q.Encode())
			}
		}
	}
	return all
}

// queries name the id in the parameters of the route.
func queries(a *App, r httpapi.RouteInfo, id string) []url.Values {
	if strings.Contains(r.Path, "{") && r.Method != http.MethodGet {
		return nil
	}
	all := []url.Values{{"_id": {id}, "id": {id}, "user_id": {id}, "customer_id": {id}, "owner": {id}}}
	op := operation(a, r)
	if op == nil {
		return all
	}
	for _, p := range op.Parameters {
		switch {
		case p.In != "query" || p.Schema != nil && p.Schema.Type != "string":
		case p.Name == "query":
			for _, field := range []string{"_id", "user_id", "customer_id"} {
				all = append(all, url.Values{"query": {fmt.Sprintf(`{%q:%q}`, field, id)}})
			}
		default:
			all = append(all, url.Values{p.Name: {id}})
		}
	}
	return all
}

func sorted(ids map[string]string) []string {
	all := make([]string, 0, len(ids))
	for _, id := range ids {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

// TestOwnership: a customer who knows every id of another one calls every route
// with them: never does he read anything, never does he change anything. The
// routes are those that are registered, the tables those that are there: what is
// added later is in it by itself.
func TestOwnership(t *testing.T) {
	t.Parallel()
	a := openApp(t)
	nobody := apitest.New(t, a.api)
	_, admin := person(t, a, nobody, accounts.NewUser{Type: httpapi.TypeAdmin, Root: true, Username: "root", Name: "Root"})
	b := newVictim(t, a, nobody, admin)
	before := a.rows(t, b.ids)
	require.Greater(t, len(before), 10)

	attackers := 0
	attacker := func() *apitest.Client {
		attackers++
		u, client := person(t, a, nobody, accounts.NewUser{
			Type: httpapi.TypeCustomer, Username: fmt.Sprintf("attacker%d", attackers), FullName: "Attacker", Phone: "+5511987654321",
		})
		subscriptionstest.Active(t, a.pool, u.ID)
		return client
	}
	client, called := attacker(), 0
	for _, r := range a.api.Routes() {
		for _, path := range requests(a, r, b.ids) {
			called++
			answer := client.Do(r.Method, path, sampleBody(a, r, b.ids["user"]))
			require.NotEqual(t, http.StatusInternalServerError, answer.Status, "%s %s: %s", r.Method, path, answer.Body)
			require.False(t, reveals(answer), "%s %s: %d %s", r.Method, path, answer.Status, answer.Body)
			if answer.Status < 300 && r.Method == http.MethodDelete && client.Get("/current-user").Status != http.StatusOK {
				client = attacker() // he deleted himself
			}
		}
		if client.Get("/current-user").Status != http.StatusOK {
			client = attacker()
		}
		if r.Method != http.MethodGet {
			require.Empty(t, cmp.Diff(before, a.rows(t, b.ids)), "%s %s changed what is the victim's", r.Method, r.Path)
		}
	}
	require.Empty(t, cmp.Diff(before, a.rows(t, b.ids)))
	require.Greater(t, called, 10*len(a.api.Routes()))
}

// TestOwnershipIsSeen: what TestOwnership looks for is there to be found. The
// owner and an admin, who may, do read and change it with the same calls.
func TestOwnershipIsSeen(t *testing.T) {
	t.Parallel()
	a := openApp(t)
	nobody := apitest.New(t, a.api)
	_, admin := person(t, a, nobody, accounts.NewUser{Type: httpapi.TypeAdmin, Root: true, Username: "root", Name: "Root"})
	b := newVictim(t, a, nobody, admin)
	seen := map[string]bool{}
	for _, r := range a.api.Routes() {
		if r.Method != http.MethodGet {
			continue
		}
		for _, path := range requests(a, r, b.ids) {
			if !seen["owner "+r.Name] && reveals(b.client.Get(path)) {
				seen["owner "+r.Name] = true
			}
			if !seen["admin "+r.Name] && reveals(admin.Get(path)) {
				seen["admin "+r.Name] = true
			}
		}
	}
	for _, who := range []string{
		"owner archive_record_get", "owner me_ticket_order_get", "owner me_ticket_list", "owner customer_me_get", "owner customer_data_get",
		"admin archive_record_get", "admin customer_list", "admin search", "admin ticket_list", "admin webhook_log_list",
		"admin requisition_get", "admin requisition_file_download",
	} {
		require.True(t, seen[who], "%s of %v", who, seen)
	}
	before := a.rows(t, b.ids)
	admin.Delete("/tickets?_id="+b.ids["ticket"], nil).Expect(http.StatusOK)
	require.NotEmpty(t, cmp.Diff(before, a.rows(t, b.ids)))
}
