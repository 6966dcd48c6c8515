package app_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/httpapi"
)

// place is where an id stands in the call of a route.
type place struct{ in, name string }

// kindOfName are the kinds of the records that a parameter or field of that name
// names.
var kindOfName = map[string]string{
	"avatar_id": "avatar", "category_id": "category", "chargeback_id": "chargeback",
	"children_code_ids": "promo code", "customer_id": "user", "document_created_by_id": "user",
	"event_id": "event", "f": "file", "file_id": "file", "image_id": "file", "order_id": "order", "passkey_id": "passkey", "play_id": "play",
	"plan_id": "plan", "profile_id": "profile", "promo_code_id": "promo code", "season_id": "season", "session_id": "session",
	"subscription_id": "subscription",
	"status_id":       "column", "tags_id": "tag", "target_customer_ids": "user", "thumbnail_horizontal": "file",
	"thumbnail_horizontal_name_less": "file", "thumbnail_vertical": "file", "thumbnail_vertical_name_less": "file",
	"ticket_id": "ticket", "ticket_order_id": "order", "ticket_ids": "ticket", "type_user": "profile",
	"user": "user", "user_id": "user", "video_gridfs_id": "file", "video_id": "video",
	// What gateways call their payments.
	"charge_id": "payment", "payment_id": "payment", "payment_intent_id": "payment",
	"payment_method_id": "payment", "archive_token": "file",
	"legacy_id": "video", // the places of other secrets and names, in which an id is tried too
}

// kindOfPath are the kinds of the records that _id and {id} name, by the
// beginning of the route's path.
var kindOfPath = map[string]string{
	"/admin/customers": "user", "/admin/finance/unapplied-payments": "unapplied payment", "/admin/exports": "export",
	"/admin/finance/disputes": "chargeback", "/admin/finance/payments": "settled payment",
	"/admin/finance/refunds": "refund", "/admin/jobs": "job",
	"/admin/finance/overdue-subscriptions": "subscription",
	"/admin/finance/reconciliations":       "reconciliation", "/admin/finance/reconciliation-findings": "finding",
	"/admin/gwa/subscriptions": "subscription", "/admin/gwb/subscriptions": "subscription",
	"/admin/bulk-acts": "bulk act", "/admin/imports": "import", "/admin/views": "view", "/customer-notes": "note",
	"/admin/promo-codes": "promo code", "/admin/events-dashboard/promo-codes": "promo code",
	"/admin/ticket-orders": "order", "/admin/events": "event",
	"/admin/requisition-status": "column", "/admin/requisitions": "requisition", "/admin/subscriptions": "subscription",
	"/audit-log": "audit entry", "/categories": "category", "/customers": "user", "/events": "event",
	"/me/tickets": "ticket", "/my-user": "user",
	"/plans": "plan", "/search": "user", "/seasons": "season", "/subscriptions": "subscription", "/tags": "tag",
	"/tickets":                     "ticket",
	"/upload-file/archive-records": "user", "/users": "user", "/users-type": "profile", "/videos": "video",
	"/webhook-logs": "webhook log",
}

// kindOfPlace are the kinds where a name alone does not tell, by handler and name.
var kindOfPlace = map[string]string{
	"avatar_get file_id": "avatar", "requisition_file_download file_id": "attachment",
	"requisition_file_delete file_id": "attachment",
	"queue_pause name":                "queue", "queue_resume name": "queue",
	// What authenticators call their passkeys.
	"passkey_verify_post id": "passkey", "me_passkey_create id": "passkey",
}

// kind is the kind of record that the place names; empty where the matrix has no
// row for it.
func (p place) kind(r httpapi.RouteInfo) string {
	if kind := kindOfPlace[r.Name+" "+p.name]; kind != "" {
		return kind
	}
	if p.name != "id" && p.name != "_id" {
		return kindOfName[p.name]
	}
	path, longest := strings.TrimPrefix(r.Path, httpapi.Prefix), ""
	for prefix := range kindOfPath {
		if (path == prefix || strings.HasPrefix(path, prefix+"/")) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	return kindOfPath[longest]
}

var (
	placeholder = regexp.MustCompile(`\{[a-z_]+\}`)
	// namesAnID are the names that ids have in parameters and bodies.
	namesAnID = regexp.MustCompile(`^(f|id|_id|user|.*_ids?)$`)
)

// isID says whether ids stand under that name. A tax_id is none.
func isID(name, pattern string) bool {
	return name != "tax_id" && (namesAnID.MatchString(name) || strings.Contains(pattern, "{24}"))
}

// places are all in which a call of the route may name a record, as the route
// table and the OpenAPI document tell.
func places(a *platformtest.Platform, r httpapi.RouteInfo) []place {
	var all []place
	for _, spot := range placeholder.FindAllString(r.Path, -1) {
		if name := strings.Trim(spot, "{}"); name != "collection_name" {
			all = append(all, place{"path", name})
		}
	}
	if op := operation(a, r); op != nil {
		for _, p := range op.Parameters {
			if p.In == "query" && p.Schema != nil && isID(p.Name, p.Schema.Pattern) {
				all = append(all, place{"query", p.Name})
			}
		}
	}
	eachProperty(a.API().OpenAPI().Components.Schemas, jsonBody(a, r), "", func(name, pattern string) {
		if p := (place{"body", name}); isID(name, pattern) && !slices.Contains(all, p) {
			all = append(all, p)
		}
	})
	return all
}

// eachProperty visits the properties of a body that hold plain values or lists of
// them. What is read-only is sent back by clients and changes nothing.
func eachProperty(registry huma.Registry, s *huma.Schema, name string, visit func(name, pattern string)) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		s = registry.SchemaFromRef(s.Ref)
	}
	switch {
	case s.Items != nil:
		eachProperty(registry, s.Items, name, visit)
	case len(s.Properties) == 0 && name != "":
		visit(name, s.Pattern)
	}
	for property, schema := range s.Properties {
		if schema.ReadOnly {
			continue
		}
		eachProperty(registry, schema, property, visit)
	}
}

// anyID stands in sample bodies where an id is to be filled in.
const anyID = "eeeeeeeeeeeeeeeeeeeeeeee"

// bodyNaming is a plausible body of the route that names, in each place, the
// victim's record of the kind that belongs there.
func bodyNaming(a *platformtest.Platform, r httpapi.RouteInfo, ids map[string]string) any {
	return fillIDs(sampleBody(a, r, anyID), "", func(name string) string { return ids[place{"body", name}.kind(r)] })
}

func fillIDs(value any, name string, id func(name string) string) any {
	switch value := value.(type) {
	case map[string]any:
		for property, inner := range value {
			value[property] = fillIDs(inner, property, id)
		}
	case []any:
		for i, inner := range value {
			value[i] = fillIDs(inner, name, id)
		}
	case string:
		if value == anyID && id(name) != "" {
			return id(name)
		}
	}
	return value
}

// TestOwnershipKnowsEveryID: each place of each route in which an id stands has a
// row in the matrix. Whoever adds a route says here whose record it names, and
// gives the victim one.
func TestOwnershipKnowsEveryID(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	b := newVictim(t, a)
	ids, total := b.everyID(), 0
	for _, r := range a.Routes() {
		for _, p := range places(a, r) {
			total++
			kind := p.kind(r)
			require.NotEmpty(t, kind,
				"%s %s takes an id as %q in its %s: tell in kindOfName or kindOfPath which record it names", r.Method,
				r.Path, p.name, p.in)
			require.NotEmpty(t, ids[kind], "%s %s names a record of the kind %q, and the victim has none", r.Method,
				r.Path, kind)
		}
	}
	require.Greater(t, total, 150)
	for kind := range kindOfPath {
		require.True(t, slices.ContainsFunc(a.Routes(),
			func(r httpapi.RouteInfo) bool { return strings.HasPrefix(r.Path, httpapi.Prefix+kind) }),
			"no route begins with %s", kind)
	}
	require.Empty(t, place{"path", "invoice_id"}.kind(httpapi.RouteInfo{
		Path: httpapi.Prefix + "/invoices/{invoice_id}",
	}), "what nobody has told of is found")
	require.Empty(t, place{"query", "_id"}.kind(httpapi.RouteInfo{
		Path: httpapi.Prefix + "/ticketshops", Method: http.MethodGet,
	}))
}

// notOfCustomers are the tables with a column for a customer in which the victim
// need not have a row.
var notOfCustomers = map[string]string{
	"accounts.deletions":            "the victim is not deleted",
	"accounts.last_writes":          "no route shows it to anybody; without replicas it is empty",
	"accounts.parental_tries":       "counts alone, which no route shows to anybody",
	"finance.exports":               "of the admin who asked",
	"subscriptions.plan_moves":      "no route takes its id or shows it to customers",
	"payments.intents":              "no route takes its id or shows it to customers",
	"tickets.deleted_orders":        "no route takes its id or shows it to anybody",
	"subscriptions.renewal_charges": "no route takes its id: the caller's own is found by their subscription",
}

// TestVictimHasARowInEveryTable: a table that names customers has a row of the
// victim's, so that the matrix watches it.
func TestVictimHasARowInEveryTable(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	b := newVictim(t, a)
	found, err := a.DB.Query(t.Context(),
		`SELECT format('%I.%I', c.table_schema, c.table_name), format('%I', c.column_name)
		FROM information_schema.columns c JOIN pg_tables t ON t.schemaname = c.table_schema AND t.tablename = c.table_name
		WHERE c.column_name IN ('user_id', 'customer_id', 'requested_by', 'reader_id') AND c.table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`)
	require.NoError(t, err)
	var table, column string
	columns := map[string][]string{}
	for found.Next() {
		require.NoError(t, found.Scan(&table, &column))
		columns[table] = append(columns[table], column)
	}
	require.NoError(t, found.Err())
	require.Greater(t, len(columns), 10)
	for table, names := range columns {
		if notOfCustomers[table] != "" {
			continue
		}
		rows := 0
		for _, column := range names {
			var n int
			require.NoError(t, a.DB.QueryRow(t.Context(), `SELECT count(*) FROM `+table+` WHERE `+column+` = $1`,
				b.ids["user"]).Scan(&n))
			rows += n
		}
		require.Positive(t, rows,
			"the victim has no row in %s: give them one in newVictim, or say in notOfCustomers why not", table)
	}
}
