package app_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/httpapi"
)

// movesMoney are the routes of admins at which no member may be null, whatever their
// schema says: left out it means all that is left, the present subscription, no end.
var movesMoney = []string{
	"subscription_refund", "admin_gwa_subscription_refund", "admin_gwb_subscription_refund",
	"subscription_chargeback", "subscription_cancel", "admin_gwa_subscription_cancel",
	"admin_gwb_subscription_cancel", "subscription_extend", "subscription_activate", "unapplied_payment_refund",
	"unapplied_payment_extend", "unapplied_payment_keep", "admin_ticket_order_refund", "admin_ticket_order_cancel",
	"box_office_sale_create", "box_office_sale_refund",
}

// TestNullIsNoValue: what admins send names each member that is null, before anything
// is done.
func TestNullIsNoValue(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	root := a.Root()
	b := newVictim(t, a)
	sent := map[string]bool{}
	for _, r := range a.Routes() {
		schema := jsonBody(a, r)
		if schema == nil || r.Method == http.MethodGet || r.Auth != httpapi.Admin || operation(a, r).SkipValidateBody {
			continue
		}
		if schema.Ref != "" {
			schema = a.API().OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
		}
		id := b.ids["subscription"]
		object, wrap := objectIn(sampleBody(a, r, id))
		for name, property := range schema.Properties {
			if property.Nullable && !slices.Contains(movesMoney, r.Name) {
				continue
			}
			spoilt := maps.Clone(object)
			spoilt[name] = nil
			raw, err := json.Marshal(wrap(spoilt))
			require.NoError(t, err)
			res := root.Send(r.Method, placeholder.ReplaceAllString(r.Path, id), "application/json", raw)
			require.Equal(t, http.StatusUnprocessableEntity, res.Status, "%s %s with %s: %s", r.Method, r.Path, raw,
				res.Body)
			require.Contains(t, string(res.Body), `"field":"`+name+`"`, "%s %s", r.Method, r.Path)
			sent[r.Name] = true
		}
	}
	for _, name := range movesMoney {
		require.True(t, sent[name], name)
	}
}
