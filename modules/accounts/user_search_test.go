package accounts_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/httpapi"
	"marquee/platform/resource"
	"marquee/testutil/apitest"
	"marquee/testutil/secrettest"
)

func TestAdminsSearchPeople(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	c := accountstest.Customer(t, o.db,
		func(n *accounts.NewUser) { n.FullName = "João Conceição"; n.Email = "joao.c@example.com" })
	api := httpapi.New(httpapi.Config{Auth: o.svc, Log: secrettest.Logger(t)})
	lists := resource.Routes{Pool: o.db, Clock: o.clock}
	httpapi.Route(api, http.MethodGet, "/search/{collection_name}", "search", httpapi.SignedIn,
		lists.Search(o.svc.UserSearch(), o.svc.CustomerSearch()), resource.SearchDoc()...)
	client := apitest.New(t, api)
	for _, words := range []string{"joao", "conceicao joão", "João Conc", "joao.c@example.com", c.TaxID, c.Username} {
		a := client.As(o.adminToken).Get("/search/customers?q=" + url.QueryEscape(words)).Expect(200)
		require.Contains(t, string(a.Body), c.ID.String(), words)
		a = client.As(o.adminToken).Get("/search/users?q=" + url.QueryEscape(words)).Expect(200)
		require.NotContains(t, string(a.Body), c.ID.String(), "only admins are users")
	}
	a := client.As(o.adminToken).Get("/search/users?q=" + url.QueryEscape(o.admin.Username)).Expect(200)
	require.Contains(t, string(a.Body), o.admin.ID.String())
	client.As(o.customerJWT).Get("/search/customers?q=a").Expect(403)
	client.As(o.customerJWT).Get("/search/users?q=a").Expect(403)

	require.Equal(t, 200, o.remove(t, "/customers", o.adminToken, ids(c.ID)).status)
	a = client.As(o.adminToken).Get("/search/customers?q=joao").Expect(200)
	require.NotContains(t, string(a.Body), c.ID.String(), "who is deleted is not found")
}

// The index has to hold the very expression that the search asks.
func TestSearchingPeopleUsesTheIndex(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx, err := b.db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
	_, err = tx.Exec(t.Context(), `SET LOCAL enable_seqscan = off`)
	require.NoError(t, err)
	var plan []byte
	require.NoError(t, tx.QueryRow(t.Context(), `EXPLAIN (FORMAT JSON) SELECT t.id FROM accounts.users t
		WHERE (t.deleted_at IS NULL) AND `+accounts.SearchedBy+` @@ platform.search_query('ana')`).Scan(&plan))
	require.Contains(t, string(plan), "users_search")
}
