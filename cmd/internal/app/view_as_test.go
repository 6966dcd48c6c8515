package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/testutil/apitest"
)

// TestAViewOfTheCatalogueEndsWithWhoeverLooks: also on routes that check the customer by themselves.
func TestAViewOfTheCatalogueEndsWithWhoeverLooks(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	subscriber, _ := p.NewSubscriber()
	stranger, _ := p.NewCustomer()
	user, admin := p.NewAdmin()
	view := func(id string) *apitest.Client {
		body := admin.Post("/admin/customers/"+id+"/view-as", platformtest.Object{"reason": "a call"}).Expect(http.StatusOK).Map()
		return admin.As(body["access_token"].(string))
	}
	sees := view(subscriber.ID.String())
	require.Equal(t, http.StatusOK, sees.Get("/videos").Status)
	require.Equal(t, http.StatusForbidden, view(stranger.ID.String()).Get("/videos").Status, "as the customer")
	p.Exec("UPDATE accounts.users SET enable = false WHERE id = $1", user.ID)
	require.Equal(t, http.StatusForbidden, sees.Get("/videos").Status)
}
