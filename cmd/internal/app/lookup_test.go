package app_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
	"marquee/testutil/golden"
)

// found are what a search finds, each as its kind and id.
func found(t *testing.T, by *apitest.Client, typed string) (all []string) {
	t.Helper()
	var body struct {
		Hits []struct {
			Kind string
			ID   string `json:"_id"`
		}
	}
	by.Get("/admin/search?q=" + url.QueryEscape(typed)).Expect(http.StatusOK).JSON(&body)
	require.LessOrEqual(t, len(body.Hits), 20)
	for _, h := range body.Hits {
		all = append(all, h.Kind+" "+h.ID)
	}
	return all
}

// archive is one record of each kind that staff find, and what else they are known by.
type archive struct {
	of    map[string]string // ids by kind
	named map[string]string // what is typed, and the kind of what is found first
}

// routeOfKind is the route that shows a kind.
var routeOfKind = map[string]string{
	"customer": "customer_list", "user": "user_list", "profile": "users_type_list", "audit_entry": "audit_log_list",
	"payment": "payment_list", "refund": "refund_list", "dispute": "dispute_list",
	"unapplied_payment": "unapplied_payment_list", "webhook_log": "webhook_log_list",
	"subscription": "subscription_list", "plan": "plan_list_all",
	"ticket": "ticket_list", "ticket_order": "admin_ticket_order_get", "event": "event_list",
	"promo_code": "promo_code_list", "video": "video_list", "category": "category_list", "tag": "tag_list",
	"season": "season_list", "requisition": "requisition_get", "requisition_status": "requisition_status_get",
}

// newArchive fills the platform with a record of each kind, beside others that are alike.
func newArchive(t *testing.T, p *platformtest.Platform) archive {
	t.Helper()
	p.Unsound("unapplied_match_ledger", "issued_counts_places") // by rows that are written past the modules
	root := p.Root()
	for _, name := range []string{"joana", "conrado", "maria"} {
		p.NewCustomer(platformtest.Named(name), func(n *accounts.NewUser) { n.FullName = name + " da Silva" })
	}
	c, client := p.NewCustomer(platformtest.Named("jc.souza"), func(n *accounts.NewUser) {
		n.FullName, n.TaxID, n.Email = "João Conceição de Souza", "52998224725", "jconceicao.souza@mail.example.com"
	})
	p.Exec(`UPDATE accounts.users SET gwb_customer_id = 'cus_OfJoao' WHERE id = $1`, c.ID)
	a := archive{of: map[string]string{"customer": c.ID.String()}, named: map[string]string{
		"jconceicao.souza@mail.example.com": "customer", "JConceicao": "customer", "souza@mail": "customer",
		"529.982.247-25": "customer", "52998224725": "customer", "joao conceicao": "customer", "João Conc": "customer",
		"ceicao de sou": "customer", "souza joao": "customer", "jc.souza": "customer", "cus_OfJoao": "customer",
	}}
	a.buys(t, p, c, client)
	a.isPublished(p, root)
	a.isLogged(t, p, root)
	return a
}

// buys gives the customer a subscription with money, and a ticket.
func (a archive) buys(t *testing.T, p *platformtest.Platform, c accounts.Customer, client *apitest.Client) {
	t.Helper()
	subscription := subscriptionstest.Active(t, p.DB, c.ID)
	a.of["subscription"] = subscription.String()
	p.Exec(`UPDATE subscriptions.subscriptions SET gwb_subscription_id = 'sub_OfJoao', gwb_customer_id = 'cus_OfJoao' WHERE id = $1`, subscription)
	a.of["plan"] = p.Insert(`INSERT INTO subscriptions.plans (id, plan_id, name, amount_cents, tier, register_date, register_update_date)
		VALUES (platform.new_object_id(), 'cinema-plus', 'Cinema em família', 4990, 1, now(), now())`).String()
	a.of["payment"] = p.Insert(`INSERT INTO payments.payments (gateway, gateway_payment_id, payment_intent_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
		VALUES ('gwb', 'in_OfJoao', 'pi_OfJoao', 'subscription', $1, $2, 4990, 'credit_card', 'paid', now(), now(), now())`, subscription, c.ID).String()
	a.of["refund"] = p.Insert(`INSERT INTO payments.refunds (gateway, payment_ref, gateway_refund_id, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, requested_at, created_at, updated_at)
		VALUES ('gwb', 'pi_OfJoao', 're_OfJoao', 'subscription', $1, $2, 100, 'requested', 'admin', 'REFUND-1', 'refund', now(), now(), now())`, subscription, c.ID).String()
	a.of["dispute"] = p.Insert(`INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, state, native_status, opened_at, reported_at, created_at, updated_at)
		VALUES ('gwb', 'du_OfJoao', 'pi_OfJoao', 'subscription', $1, $2, 1, 'inquiry', 'inquiry', now(), now(), now(), now())`, subscription, c.ID).String()
	a.of["unapplied_payment"] = p.Insert(`INSERT INTO payments.unapplied_payments (kind, gateway, subject, gateway_payment_id, amount_cents, customer_id, created_at, updated_at)
		VALUES ('unknown', 'gwa', 'pay_ofnobody', 'pay_ofnobody', 100, $1, now(), now())`, c.ID).String()
	event := p.Insert(`INSERT INTO tickets.events (title, code, event_date, capacity) VALUES ('Pré-estreia do Sertão', 'SERTAO-26', now() + interval '30 days', 100)`)
	a.of["event"] = event.String()
	a.of["ticket_order"] = p.Insert(`INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method,
			gateway_payment_id, payment_status, state, hold_until, intent_open, created_at, updated_at)
		VALUES (platform.new_object_id(), $1, $2, 1, 5000, 5000, 'gwa', 'pix', 'pay_oftheorder', 'pending', 'reserved', now() + interval '1 day', false, now(), now())`, c.ID, event).String()
	p.Exec(`INSERT INTO tickets.customers (id, name, email) VALUES ($1, 'João', $2) ON CONFLICT DO NOTHING`, c.ID, c.Email)
	a.of["ticket"] = p.Insert(`INSERT INTO tickets.tickets (event_id, customer_id, title, status, reason) VALUES ($1, $2, 'Entrada', 'available', 'courtesy')`, event, c.ID).String()
	code := client.Get("/me/tickets/" + a.of["ticket"] + "/qr").Expect(http.StatusOK).Map()
	a.named[code["qr_payload"].(string)] = "ticket"
	for typed, kind := range map[string]string{
		"sub_OfJoao": "subscription", "in_OfJoao": "payment", "pi_OfJoao": "payment", "re_OfJoao": "refund", "du_OfJoao": "dispute",
		"pay_ofnobody": "unapplied_payment", "pay_oftheorder": "ticket_order", "cinema-plus": "plan", "familia": "plan",
		"sertao-26": "event", "pre-estreia sert": "event", "pré-estreia do sertão": "event",
	} {
		a.named[typed] = kind
	}
}

// isPublished gives the platform a catalogue, a promo code and a board.
func (a archive) isPublished(p *platformtest.Platform, root *apitest.Client) {
	for kind, path := range map[string]string{"category": "/categories", "tag": "/tags", "season": "/seasons"} {
		a.of[kind] = p.Make(root, path, object{"name": "Ação " + kind, "slug": "of-" + kind})["_id"].(string)
		a.named["of-"+kind], a.named["acao "+kind] = kind, kind
	}
	a.of["video"] = p.Make(root, "/videos", object{
		"title": "O Cangaceiro", "slug": "o-cangaceiro", "video_id": "https://videos.example.com/1", "duration": 90,
		"release_date": "2024-01-02",
	})["_id"].(string)
	a.of["promo_code"] = p.Insert(`INSERT INTO promos.promo_codes (code, title, code_type) VALUES ('NATAL7', 'Presente de fim de ano', 'promo')`).String()
	a.of["requisition_status"] = p.Insert(`INSERT INTO board.requisition_status (name) VALUES ('A fazer')`).String()
	a.of["requisition"] = p.Insert(`INSERT INTO board.requisitions (name, status_id) VALUES ('Legendas atrasadas', $1)`, a.of["requisition_status"]).String()
	for typed, kind := range map[string]string{
		"cangaceiro": "video", "O Cangaceiro": "video", "cangac": "video", "o-cangaceiro": "video",
		"natal7": "promo_code", "presente fim": "promo_code", "legendas atras": "requisition",
	} {
		a.named[typed] = kind
	}
}

// isLogged has an admin change something and gateways call, each with the id of a request.
func (a archive) isLogged(t *testing.T, p *platformtest.Platform, root *apitest.Client) {
	t.Helper()
	user, _ := p.NewAdmin(func(n *accounts.NewUser) {
		n.Username, n.Email, n.Name = "zelia", "zelia@office.example.com", "Zélia Ramos"
	})
	a.of["user"], a.named["zelia ramos"], a.named["zelia@office"] = user.ID.String(), "user", "user"
	a.of["profile"] = p.Make(root, "/users-type", object{"name": "Bilheteria", "view": []string{}})["_id"].(string)
	a.named["bilhet"] = "profile"
	root.With("X-Request-Id", "request-of-the-office").Put("/customers", []object{{"_id": a.of["customer"], "enable": true, "phone": "+5511912345678"}}).Expect(http.StatusOK)
	var entry string
	require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT id FROM accounts.audit_log WHERE request_id = 'request-of-the-office'`).Scan(&entry))
	a.of["audit_entry"], a.named["request-of-the-office"] = entry, "audit_entry"

	body, err := os.ReadFile("../../../modules/payments/testdata/webhooks/gwa.SUBSCRIPTION_UPDATED.json")
	require.NoError(t, err)
	p.Guest.With("asaas-access-token", paymentstest.GWAToken).With("X-Request-Id", "request-of-gateway-a").
		Send(http.MethodPost, "/webhooks/gwa", "application/json", body).Expect(http.StatusOK)
	require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT id FROM payments.webhook_logs WHERE request_id = 'request-of-gateway-a'`).Scan(&entry))
	a.of["webhook_log"], a.named["request-of-gateway-a"] = entry, "webhook_log"
	a.named["evt_d9f532ab6cbfc970702e9acaf430b7d5&41870233"] = "webhook_log"
	a.named["sub_k3v9x1m7q2t8w4z6"] = "webhook_log" // a recurrence that nobody here knows
	p.Exec(`INSERT INTO payments.webhook_logs (gateway, event_id, event_type, payload, signature_valid, received_at)
		VALUES ('gwb', 'evt_OfTheCharge', 'charge.refunded', '{"data": {"object": {"object": "charge", "id": "ch_OfJoao", "payment_intent": "pi_OfJoao"}}}', true, now())`)
	a.named["ch_OfJoao"] = "payment"
}

// TestStaffFindEverything: by its id, and by whatever else it is known by, first of all that is found.
func TestStaffFindEverything(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	a := newArchive(t, p)
	root := p.Root()
	for kind, id := range a.of {
		require.NotEmpty(t, routeOfKind[kind], kind)
		require.Equal(t, kind+" "+id, slices.Concat(found(t, root, strings.ToUpper(id)), []string{""})[0], kind)
	}
	require.Len(t, a.of, len(routeOfKind))
	for typed, kind := range a.named {
		require.Equal(t, kind+" "+a.of[kind], slices.Concat(found(t, root, typed), []string{""})[0], typed)
	}
	require.Contains(t, found(t, root, "ch_OfJoao"), "payment "+a.of["payment"])
	require.Len(t, found(t, root, "da silva"), 3)

	var hit struct{ Hits []object }
	root.Get("/admin/search?q=sub_OfJoao").Expect(http.StatusOK).JSON(&hit)
	require.Equal(t, object{
		"kind": "subscription", "_id": a.of["subscription"], "title": subscriptionstest.PlanID,
		"note": "active · sub_OfJoao", "found_by": "gwb_subscription_id", "customer_id": a.of["customer"], "order_id": nil,
	}, hit.Hits[0])
	of := func(typed string) object {
		root.Get("/admin/search?q=" + typed).Expect(http.StatusOK).JSON(&hit)
		return object{"kind": hit.Hits[0]["kind"], "customer_id": hit.Hits[0]["customer_id"], "order_id": hit.Hits[0]["order_id"]}
	}
	require.Equal(t, object{"kind": "ticket", "customer_id": a.of["customer"], "order_id": nil}, of(a.of["ticket"]))
	require.Equal(t, object{"kind": "ticket_order", "customer_id": a.of["customer"], "order_id": a.of["ticket_order"]}, of("pay_oftheorder"))
	// Who buys at the counter has no account that anything could lead to.
	p.Exec(`UPDATE tickets.tickets SET order_id = $1 WHERE id = $2`, a.of["ticket_order"], a.of["ticket"])
	p.Exec(`UPDATE tickets.orders SET sold_by_id = $2, sold_by = 'root', gateway = NULL, gateway_payment_id = NULL, payment_method = 'cash', state = 'paid' WHERE id = $1`,
		a.of["ticket_order"], a.of["customer"])
	p.Exec(`UPDATE payments.refunds SET purpose = 'order', local_id = $1 WHERE id = $2`, a.of["ticket_order"], a.of["refund"])
	p.Exec(`UPDATE payments.payments SET purpose = 'order', local_id = $1 WHERE id = $2`, a.of["ticket_order"], a.of["payment"])
	require.Equal(t, object{"kind": "ticket", "customer_id": nil, "order_id": a.of["ticket_order"]}, of(a.of["ticket"]))
	require.Equal(t, object{"kind": "ticket_order", "customer_id": nil, "order_id": a.of["ticket_order"]}, of(a.of["ticket_order"]))
	require.Equal(t, object{"kind": "refund", "customer_id": a.of["customer"], "order_id": a.of["ticket_order"]}, of(a.of["refund"]))
	for _, typed := range []string{"nobody-is-called-so", "...", "%", "_", "a' OR 'a'='a", "MT1.forged", "$1", `\`, "''"} {
		require.Empty(t, found(t, root, typed), typed)
	}
	require.Equal(t, http.StatusOK, root.Delete("/customers", []object{{"_id": a.of["customer"]}}).Status)
	require.NotContains(t, found(t, root, "João Conc"), "customer "+a.of["customer"], "who is deleted is not found")
}

// TestWhatIsFoundIsWhatMayBeListed: each kind is found by those alone who may call the route that shows it.
func TestWhatIsFoundIsWhatMayBeListed(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	a := newArchive(t, p)
	root := p.Root()
	routes := map[string]httpapi.RouteInfo{}
	var handlers []string
	for _, r := range p.Routes() {
		routes[r.Name] = r
		if r.Permission == r.Name {
			handlers = append(handlers, r.Name)
		}
	}
	allowed := func(names ...string) *apitest.Client {
		profile := p.Make(root, "/users-type", object{"name": fmt.Sprintf("Of %d: %.60s", len(names), strings.Join(names, ",")), "view": append([]string{}, names...)})
		user, client := p.NewAdmin()
		root.Put("/users", []object{{"_id": user.ID, "type_user": []any{profile["_id"]}}}).Expect(http.StatusOK)
		return client
	}
	check := func(who string, client *apitest.Client, isRoot bool, names ...string) (kinds int) {
		for kind, id := range a.of {
			if len(names) == 1 && routes[routeOfKind[kind]].Permission == "" {
				continue // as for who has none
			}
			caller := httpapi.Caller{Type: httpapi.TypeAdmin, Root: isRoot, Handlers: names}
			hits := found(t, client, id)
			if routes[routeOfKind[kind]].Allows(caller) {
				kinds++
				require.Contains(t, hits, kind+" "+id, "%s may see %s", who, kind)
				continue
			}
			require.NotContains(t, hits, kind+" "+id, "%s may not see %s", who, kind)
		}
		return kinds
	}
	require.Equal(t, len(routeOfKind), check("root", root, true))
	without := check("an admin without handlers", allowed(), false)
	require.Equal(t, len(routeOfKind)-3, without, "profiles, cards and columns")
	require.Equal(t, without+2, check("an admin with all handlers", allowed(handlers...), false, handlers...))
	for _, one := range handlers {
		check("an admin with "+one, allowed(one), false, one)
	}
	_, customer := p.NewCustomer()
	customer.Get("/admin/search?q=a").Expect(http.StatusForbidden)
	p.Guest.Get("/admin/search?q=a").Expect(http.StatusUnauthorized)
}

// TestHiddenFieldsAreNotFound searches for every text that any table holds. A column by which something is found stands
// in the golden file, with the kind and the way, and so is looked at by whoever lets it in.
func TestHiddenFieldsAreNotFound(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	a := newArchive(t, p)
	root := p.Root()
	p.Exec(`UPDATE tickets.orders SET pix_payload = 'payload-of-a-pix', pix_image = 'image-of-a-pix', gateway_customer_id = 'cus_OfTheOrder'`)
	p.Exec(`UPDATE subscriptions.subscriptions SET pix_payload = 'payload-of-another', pix_payment_id = 'pay_ofapix'`)
	p.Exec(`UPDATE payments.webhook_logs SET signature = 't=1,v1=signature-of-b'`)
	p.Exec(`UPDATE accounts.users SET phone = '+5511987650001', gwa_customer_id = 'cus_000000000001' WHERE id = $1`, a.of["customer"])
	columns, err := p.DB.Query(t.Context(), `SELECT format('%I.%I', c.table_schema, c.table_name), c.column_name
		FROM information_schema.columns c JOIN pg_tables t ON t.schemaname = c.table_schema AND t.tablename = c.table_name
		WHERE c.table_schema NOT IN ('pg_catalog', 'information_schema', 'public') AND c.data_type = 'text'
			AND c.domain_name IS NULL -- ids are no secret
			AND c.table_name NOT LIKE 'webhook_logs_%' ORDER BY 1, 2`)
	require.NoError(t, err)
	places, err := pgx.CollectRows(columns, pgx.RowToStructByPos[struct{ Table, Column string }])
	require.NoError(t, err)
	require.Greater(t, len(places), 150)
	var out strings.Builder
	known := map[string]map[string]bool{}
	for _, place := range places {
		rows, err := p.DB.Query(t.Context(), `SELECT DISTINCT "`+place.Column+`" FROM `+place.Table+
			` WHERE length(trim("`+place.Column+`")) BETWEEN 1 AND 200 ORDER BY 1 LIMIT 50`)
		require.NoError(t, err)
		values, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		ways := map[string]bool{}
		for _, value := range values {
			if known[value] == nil {
				known[value] = waysOf(root, value)
			}
			maps.Copy(ways, known[value])
		}
		if len(ways) > 0 {
			fmt.Fprintf(&out, "%s.%s: %s\n", place.Table, place.Column,
				strings.Join(slices.Sorted(maps.Keys(ways)), ", "))
		}
	}
	golden.Equal(t, "testdata/found_by.golden", out.String())
	require.NotRegexp(t, `(?m)\.[a-z_]*(password|hash|_mac|token|pix_payload|pix_image|signature)[a-z_]*:`, out.String())
}

// waysOf are the kinds of what a search finds, each with what of it was typed.
func waysOf(by *apitest.Client, typed string) map[string]bool {
	var body struct {
		Hits []struct {
			Kind    string
			FoundBy string `json:"found_by"`
		}
	}
	by.Get("/admin/search?q=" + url.QueryEscape(typed)).Expect(http.StatusOK).JSON(&body)
	ways := map[string]bool{}
	for _, h := range body.Hits {
		ways[h.Kind+" by "+h.FoundBy] = true
	}
	return ways
}
