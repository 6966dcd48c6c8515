package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

// protected are the fields that no body may set, with what an attacker would
// want in them: rights, states, money, what gateways say, and who made what when.
var protected = map[string]any{
	"user_type": "admin", "is_root": true, "type_user": []string{"000000000000000000000001"},
	"email_verified": false, "email_verified_at": "2001-01-01T00:00:00Z",
	"current_subscription_id": "66f0a1b2c3d4e5f607182a01", "trial_used_at": nil, "promo_code_used": "FREE",
	"promo_code_id": "66f0a1b2c3d4e5f607182a01", "gwa_customer_id": "cus_of_another",
	"gwb_customer_id": "cus_of_another", "gwa_subscription_id": "sub_of_another",
	"gwb_subscription_id": "sub_of_another", "gateway_payment_id": "pay_of_another", "gwa_pix_auth_id": "auth",
	"gwb_price_id": "price_cheap", "gwb_product_id": "prod_cheap", "total": 0, "total_cents": 0,
	"unit_price_cents": 0, "price_cents": 0, "amount_cents": 0, "total_refunded": 1, "total_refunded_cents": 1,
	"payment_failures": 0, "has_chargeback": true,
	"password_hash": "$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$aGFzaA", "password_reset_required": true,
	"tokens_valid_after": "2001-01-01T00:00:00Z", "kept_token_id": "mine",
	"kept_token_since": "2001-01-01T00:00:00Z", "deleted_at": "2001-01-01T00:00:00Z",
	"document_created_by_id": "66f0a1b2c3d4e5f607182a01", "register_date": "2001-01-01T00:00:00Z",
	"register_update_date": "2001-01-01T00:00:00Z", "created_at": "2001-01-01T00:00:00Z",
	"updated_at": "2001-01-01T00:00:00Z", "tickets_issued": 0, "payment_status": "paid",
	"paid_at": "2001-01-01T00:00:00Z", "holds_place": false, "intent_open": false, "recovery_at": nil,
	"last_event_at": "2001-01-01T00:00:00Z",
}

// forAdmins are the fields that admins may set, by route.
var forAdmins = map[string][]string{"customer_update": {"email_verified"}}

// forged are the values that appear in no row unless a body brought them there.
const forged = `2001-01-01|66f0a1b2c3d4e5f607182a01|of_another|prod_cheap|price_cheap`

// protectedColumns are the protected columns of every row, by table and id.
// updated_at and register_update_date move with any write that is allowed.
func protectedColumns(t *testing.T, a *platformtest.Platform) map[string]string {
	t.Helper()
	names := slices.DeleteFunc(slices.Collect(maps.Keys(protected)),
		func(name string) bool { return strings.HasPrefix(name, "updat") || strings.Contains(name, "_update_") })
	found, err := a.DB.Query(t.Context(),
		`SELECT format('%I.%I', table_schema, table_name) FROM information_schema.columns
		WHERE column_name = 'id' AND table_schema NOT IN ('pg_catalog', 'information_schema', 'public') ORDER BY 1`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(found, pgx.RowTo[string])
	require.NoError(t, err)
	all := map[string]string{}
	for _, table := range tables {
		found, err := a.DB.Query(t.Context(),
			`SELECT t.id::text, (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(to_jsonb(t)) WHERE key = ANY ($1))::text
			FROM `+table+` t`, names)
		require.NoError(t, err)
		var id, columns string
		_, err = pgx.ForEachRow(found, []any{&id, &columns}, func() error { all[table+" "+id] = columns; return nil })
		require.NoError(t, err)
	}
	return all
}

// changed are the rows of before that are different now; rows that are gone or
// new are no assignment.
func changed(before, now map[string]string) string {
	was, is := map[string]string{}, map[string]string{}
	for row, columns := range before {
		if after, there := now[row]; there && after != columns {
			was[row], is[row] = columns, after
		}
	}
	return cmp.Diff(was, is)
}

// TestMassAssignment puts every protected field into the body of every route that
// takes one, as the document tells bodies. What the route's body does not have is
// refused by its name; what it has, because clients send back what they read, is
// refused by its name or changes nothing (docs/contract/collections.md, Fields that clients do not write).
func TestMassAssignment(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	nobody, root := a.Guest, a.Root()
	adminID, admin := a.NewAdmin(platformtest.Named("admin"))
	other, _ := a.NewAdmin(platformtest.Named("other_admin"))
	b := newVictim(t, a)
	before := protectedColumns(t, a)
	callers := map[httpapi.Auth]*apitest.Client{
		httpapi.Public: nobody, httpapi.Customer: b.client, httpapi.SignedIn: b.client, httpapi.Admin: admin,
		httpapi.Root: root,
	}
	refused, accepted, routes := 0, 0, 0
	var wrong []string
	for _, r := range a.Routes() {
		schema := jsonBody(a, r)
		if schema == nil || r.Method == http.MethodGet || r.Method == http.MethodDelete {
			continue
		}
		routes++
		caller, known := callers[r.Auth]
		if !known {
			caller = b.client
		}
		if r.Name == "config_branding_put" { // a right that the seeded profile does not hold
			caller = root
		}
		path := placeholder.ReplaceAllString(r.Path, target(r, b, adminID.ID, other.ID))
		for _, field := range slices.Sorted(maps.Keys(protected)) {
			if slices.Contains(forAdmins[r.Name], field) {
				continue
			}
			res := caller.Do(r.Method, path,
				withField(t, necessary(a, schema, sampleBody(a, r, target(r, b, adminID.ID, other.ID))), field))
			require.NotEqual(t, http.StatusInternalServerError, res.Status, "%s %s", r.Name, field)
			switch {
			case refusedByName(res, field):
				refused++
			case !declares(a, schema, field):
				wrong = append(wrong, fmt.Sprintf("%s %s: %d %s", r.Name, field, res.Status, res.Body))
			case res.Status < 300:
				accepted++
				now := protectedColumns(t, a)
				require.Empty(t, changed(before, now), "%s sets %s", r.Name, field)
				for row, columns := range now {
					require.NotRegexp(t, forged, columns, "%s makes %s with %s", r.Name, row, field)
				}
			}
		}
	}
	require.Empty(t, wrong, "neither refused by name nor documented as ignored")
	require.Empty(t, changed(before, protectedColumns(t, a)))
	require.Greater(t, routes, 50)
	require.Greater(t, refused, 1500)
	require.Positive(t, accepted, "the bodies are good enough to be accepted where the field is ignored")
}

// refusedByName says whether the answer refuses the request because of the field.
func refusedByName(res *apitest.Response, field string) bool {
	if res.Status != http.StatusUnprocessableEntity && res.Status != http.StatusBadRequest &&
		res.Status != http.StatusConflict {
		return false
	}
	var body struct {
		Detail json.RawMessage
		Error  struct{ Field string }
	}
	if json.Unmarshal(res.Body, &body) != nil {
		return false
	}
	var issues []struct{ Loc []any }
	_ = json.Unmarshal(body.Detail, &issues) // a sentence elsewhere
	return body.Error.Field == field ||
		slices.ContainsFunc(issues, func(i struct{ Loc []any }) bool { return slices.Contains(i.Loc, any(field)) })
}

// declares says whether bodies of the route have the field, or an unknown form.
func declares(a *platformtest.Platform, s *huma.Schema, field string) bool {
	if s.Ref != "" {
		s = a.API().OpenAPI().Components.Schemas.SchemaFromRef(s.Ref)
	}
	if s.Items != nil {
		return declares(a, s.Items, field)
	}
	_, has := s.Properties[field]
	return has || len(s.Properties) == 0
}

// target is the record that a route of a collection is about.
func target(r httpapi.RouteInfo, b victim, adminID, otherAdmin objectid.ID) string {
	switch {
	case strings.HasPrefix(r.Name, "my_user"):
		return adminID.String()
	case strings.HasPrefix(r.Name, "user_"):
		return otherAdmin.String()
	}
	for kind, id := range b.ids {
		if strings.HasPrefix(r.Name, kind) {
			return id
		}
	}
	return b.ids["user"]
}

// necessary leaves of a body what has to be there and the record's id, so that
// nothing else in it is a reason to refuse it.
func necessary(a *platformtest.Platform, s *huma.Schema, body any) any {
	if s.Ref != "" {
		s = a.API().OpenAPI().Components.Schemas.SchemaFromRef(s.Ref)
	}
	switch body := body.(type) {
	case []any:
		return []any{necessary(a, s.Items, body[0])}
	case map[string]any:
		maps.DeleteFunc(body,
			func(name string, _ any) bool { return name != "_id" && !slices.Contains(s.Required, name) })
	}
	return body
}

// withField is the body with the protected field in it.
func withField(t *testing.T, body any, field string) string {
	t.Helper()
	object, isObject := body.(map[string]any)
	if list, isList := body.([]any); isList {
		object, isObject = list[0].(map[string]any)
	}
	if !isObject { // the document leaves the form open
		object = map[string]any{}
		body = object
	}
	object[field] = protected[field]
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	return string(raw)
}
