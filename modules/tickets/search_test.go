package tickets_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/accounts/accountstest"
	"marquee/platform/httpapi"
	"marquee/platform/resource"
	"marquee/testutil/apitest"
)

// searching serves GET /search as the composition root adds it.
func searching(b *bundle) *apitest.Client {
	b.t.Helper()
	api := httpapi.New(httpapi.Config{
		Auth: b.accounts, Log: slog.New(slog.DiscardHandler), PublicURL: "https://api.example.com",
	})
	routes := resource.Routes{Pool: b.db, Clock: b.clock}
	httpapi.Route(api, http.MethodGet, "/search/{collection_name}", "search", httpapi.SignedIn,
		routes.Search(b.service.EventSearch(), b.service.TicketSearch()), resource.SearchDoc()...)
	return apitest.New(b.t, api)
}

func titles(a *apitest.Response) []string {
	found := []string{}
	for _, d := range docs(a) {
		found = append(found, d["title"].(string))
	}
	return found
}

func TestSearchFindsEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	search := searching(b)
	me := search.As(accountstest.Token(t, b.db, b.customer.Username))
	b.event(object{
		"title": "Estreia: Canções do Mar", "code": "mar-26", "location": "Cine Ipiranga",
		"description": "Com a orquestra.",
	})
	inactive := b.event(object{
		"title": "Palestra", "location": "Teatro do Mar", "is_active": false, "description": "Sem ingressos",
	})
	b.event(object{"title": "Sessão", "location": "Online", "description": "Um filme sobre o mar."})
	for words, want := range map[string][]string{
		"mar":        {"Estreia: Canções do Mar", "Palestra", "Sessão"}, // title before place before description
		"cancao mar": {"Estreia: Canções do Mar"},
		"MAR-26":     {"Estreia: Canções do Mar"},
		"ipirang":    {"Estreia: Canções do Mar"},
		"orquestras": {"Estreia: Canções do Mar"},
		"trombone":   {},
	} {
		require.Equal(t, want, titles(me.Get("/search/events?q="+url.QueryEscape(words)).Expect(200)), words)
	}
	require.Equal(t, []string{"Sessão"},
		titles(me.Get("/search/events?q=mar&query="+url.QueryEscape(`{"description":{"$regex":"filme"}}`)).Expect(200)))
	admin := search.As(accountstest.Token(t, b.db, accountstest.Admin(t, b.db).Username))
	require.Len(t, docs(admin.Get("/search/events?_id="+inactive.String()).Expect(200)), 1)
	me.Get("/search/events?_id=" + inactive.String()).Expect(403)
	search.Get("/search/events?q=mar").Expect(401)
	me.Get("/search/events").Expect(422)
}

func TestSearchFindsTicketsThatMayBeListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	search := searching(b)
	event := b.event(nil)
	other, _ := b.another()
	for _, owner := range []accounts.Customer{b.customer, other} {
		b.admin.Post("/tickets", object{
			"customer_id": owner.ID, "event_id": event, "title": "Camarote de " + owner.FullName,
		}).Expect(200)
	}
	admin := search.As(accountstest.Token(t, b.db, accountstest.Admin(t, b.db).Username))
	me := search.As(accountstest.Token(t, b.db, b.customer.Username))
	require.Len(t, docs(admin.Get("/search/tickets?q=camarotes").Expect(200)), 2)
	require.Equal(t, []string{"Camarote de " + b.customer.FullName},
		titles(me.Get("/search/tickets?q=camarote").Expect(200)), "the caller's own alone")
	strangers := docs(admin.Get("/search/tickets?q=" + url.QueryEscape(other.FullName)).Expect(200))[0]["_id"].(string)
	me.Get("/search/tickets?_id=" + strangers).Expect(404)
	require.Len(t, docs(me.Get("/search/tickets?q=camarote&query=null").Expect(200)), 1)
	for _, filter := range []string{
		`{"customer_id":"` + other.ID.String() + `"}`, `{"$or":[{"customer_id":"` + other.ID.String() + `"},{}]}`,
	} {
		for _, d := range docs(me.Get("/search/tickets?q=camarote&query=" + url.QueryEscape(filter)).Expect(200)) {
			require.Equal(t, b.customer.ID.String(), d["customer_id"])
		}
	}
	me.Get("/search/tickets?q=camarote&query=" + url.QueryEscape(`{"title":{"$foo":1}}`)).Expect(422)

	unverified := accountstest.Customer(t, b.db, func(n *accounts.NewUser) { n.EmailVerified = false })
	_, err := b.db.Exec(t.Context(), "INSERT INTO tickets.customers VALUES ($1, 'x', 'y')", unverified.ID)
	require.NoError(t, err)
	_, err = b.db.Exec(t.Context(), "UPDATE tickets.tickets SET customer_id = $1, without_login = true WHERE id = $2",
		unverified.ID, strangers)
	require.NoError(t, err)
	guest := search.As(accountstest.Token(t, b.db, unverified.Username))
	require.Empty(t, docs(guest.Get("/search/tickets?q=camarote").Expect(200)), "hidden until the address is verified")
}
