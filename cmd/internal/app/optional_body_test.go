package app_test

import (
	"net/http"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// TestNoBodyIsAnEmptyOne: a route no member of whose body is required takes none, and is
// documented so; every other route refuses it.
func TestNoBodyIsAnEmptyOne(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	nobody, root := a.Guest, a.Root()
	b := newVictim(t, a)
	optional := map[string]bool{}
	for _, r := range a.Routes() {
		schema, op := jsonBody(a, r), operation(a, r)
		if schema == nil || r.Method == http.MethodGet || op.SkipValidateBody {
			continue
		}
		if schema.Ref != "" {
			schema = a.API().OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
		}
		optional[r.Name] = schema.Type == huma.TypeObject && len(schema.Required) == 0
		require.Equal(t, !optional[r.Name], op.RequestBody.Required, r.Name)
		caller := root
		switch r.Auth {
		case httpapi.Customer, httpapi.SignedIn:
			caller = b.client
		case httpapi.Public:
			caller = nobody
		}
		path := placeholder.ReplaceAllString(r.Path, objectid.New().String())
		none := caller.Send(r.Method, path, "", nil)
		if !optional[r.Name] {
			require.Equal(t, http.StatusUnprocessableEntity, none.Status, "%s: %s", r.Name, none.Body)
			continue
		}
		empty := caller.Send(r.Method, path, "application/json", []byte("{}"))
		require.Equal(t, empty.Status, none.Status, "%s: %s and %s", r.Name, empty.Body, none.Body)
		require.Equal(t, empty.Code(), none.Code(), r.Name)
	}
	for _, name := range []string{"my_subscription_renew", "subscription_activate", "unapplied_payment_refund"} {
		require.True(t, optional[name], name)
	}
}
