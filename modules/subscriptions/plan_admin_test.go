package subscriptions_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/httpapi"
	"marquee/platform/resource"
	"marquee/testutil/apitest"
	"marquee/testutil/secrettest"
)

// planAPI serves the module's routes with the search, each answer checked
// against the OpenAPI document.
func planAPI(t *testing.T, b *bundle) (admin, customer *apitest.Client) {
	t.Helper()
	api := httpapi.New(httpapi.Config{
		Auth: b.accounts, Log: secrettest.Logger(t), PublicURL: "https://api.example.com",
	})
	b.service.Routes(api)
	routes := resource.Routes{Pool: b.db, Clock: b.clock}
	httpapi.Route(api, http.MethodGet, "/search/{collection_name}", "search", httpapi.SignedIn,
		routes.Search(b.service.PlanSearch()), resource.SearchDoc()...)
	client := apitest.New(t, api)
	return client.As(accountstest.Token(t, b.db, accountstest.Admin(t, b.db).Username)), client.As(b.bearer(t))
}

func first(a *apitest.Response) object { return doc(a.Expect(http.StatusOK).Map()) }

const gold = `[{"plan_id":"gold","name":"Gold","amount":4990,"description":"Tudo em 4K","tier":3}]`

func TestPlansAreKeptByAdmins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin, customer := planAPI(t, b)
	made := first(admin.Post("/plans", gold))
	id := made["_id"].(string)
	require.Equal(t, "gold", made["plan_id"])
	require.Equal(t, true, made["is_active"])
	require.Equal(t, "MONTH", made["interval_unit"])
	require.Nil(t, made["gwb_product_id"])
	require.NotContains(t, made, "gwb_price_amount_cents")

	changed := first(admin.Put("/plans", `[{"_id":"`+id+`","plan_id":"gold","amount":5990,"description":null}]`))
	require.EqualValues(t, 5990, changed["amount"])
	require.Nil(t, changed["description"])
	require.Equal(t, "Gold", changed["name"])

	for _, key := range []string{"gold", id, strings.ToUpper(id)} {
		path := "/plans/" + key
		if key == strings.ToUpper(id) {
			require.Equal(t, "NOT_FOUND", admin.Post(path+"/activate", nil).Expect(404).Code(),
				"neither a plan_id nor an id")
			continue
		}
		for range 2 {
			require.Equal(t, false, first(admin.Post(path+"/inactivate", nil))["is_active"])
		}
		query := "?query=" + url.QueryEscape(`{"plan_id":"gold"}`)
		require.Empty(t, customer.Get("/plans" + query).Expect(200).Map()["docs"])
		require.Equal(t, "gold", first(admin.Get("/plans/admin" + query))["plan_id"])
		require.Equal(t, true, first(admin.Post(path+"/activate", nil))["is_active"])
		require.NotContains(t, first(customer.Get("/plans"+query)), "gwb_price_id")
	}
	admin.Delete("/plans?_id="+id, nil).Expect(200)
	require.Equal(t, "NOT_FOUND", admin.Post("/plans/gold/activate", nil).Expect(404).Code())
}

func TestInactivatingLeavesItsTrace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin, _ := planAPI(t, b)
	made := first(admin.Post("/plans", gold))
	b.clock.Advance(1e9)
	off := first(admin.Post("/plans/gold/inactivate", nil))
	require.NotEqual(t, made["register_update_date"], off["register_update_date"])
	b.clock.Advance(1e9)
	require.Equal(t, off, first(admin.Post("/plans/gold/inactivate", nil)), "nothing changes twice")
}

func TestRefusedPlans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin, customer := planAPI(t, b)
	id := first(admin.Post("/plans", gold))["_id"].(string)
	with := func(more string) string { return `[{"plan_id":"silver","name":"Silver","amount":1,` + more + `}]` }
	for body, field := range map[string]string{
		`[{"name":"x","amount":1}]`:                         "plan_id",
		`[{"plan_id":"ab","name":"x","amount":1}]`:          "plan_id",
		`[{"plan_id":"Gold","name":"x","amount":1}]`:        "plan_id",
		`[{"plan_id":"a b c","name":"x","amount":1}]`:       "plan_id",
		with(`"plan_id":"` + strings.Repeat("a", 51) + `"`): "plan_id",
		with(`"amount":-1`):                                 "amount",
		with(`"amount":1.5`):                                "amount",
		with(`"amount":"12"`):                               "amount",
		with(`"name":""`):                                   "name",
		with(`"interval_unit":"YEAR"`):                      "interval_unit",
		with(`"trial_days":-1`):                             "trial_days",
		with(`"tier":0`):                                    "tier",
		with(`"is_active":null`):                            "is_active",
		with(`"gwb_price_id":"price_1"`):                    "gwb_price_id",
		with(`"gwb_product_id":null`):                       "gwb_product_id",
		with(`"gwb_price_amount_cents":1`):                  "gwb_price_amount_cents",
		with(`"search":"x"`):                                "search",
	} {
		a := admin.Post("/plans", body).Expect(422)
		require.Equal(t, "VALIDATION_ERROR", a.Code(), body)
		require.Equal(t, field, a.Field(), body)
	}
	taken := admin.Post("/plans", gold).Expect(409)
	require.Equal(t, "CONFLICT", taken.Code())
	require.Equal(t, "plan_id", taken.Field())
	renamed := admin.Put("/plans", `[{"_id":"`+id+`","plan_id":"other"}]`).Expect(422)
	require.Equal(t, "plan_id", renamed.Field())
	for _, path := range []string{
		"/plans/none/activate", "/plans/none/inactivate", "/plans/none/sync-gwb",
		"/plans/aaaaaaaaaaaaaaaaaaaaaaaa/sync-gwb",
	} {
		require.Equal(t, "NOT_FOUND", admin.Post(path, nil).Expect(404).Code(), path)
		require.Equal(t, "FORBIDDEN", customer.Post(path, nil).Expect(403).Code(), path)
	}
	require.Equal(t, "FORBIDDEN", customer.Get("/plans/admin").Expect(403).Code())
	require.Equal(t, "FORBIDDEN", customer.Post("/plans", gold).Expect(403).Code())
}

func TestPlansThatWereSoldStay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin, _ := planAPI(t, b)
	subscriptionstest.In(t, b.db, b.customer.ID, "cancelled")
	free := first(admin.Post("/plans", gold))["_id"].(string)
	sold := first(admin.Get("/plans/admin?query=" +
		url.QueryEscape(`{"plan_id":"`+subscriptionstest.PlanID+`"}`)))["_id"].(string)
	a := admin.Delete("/plans", `[{"_id":"`+free+`"},{"_id":"`+sold+`"}]`).Expect(409)
	require.Equal(t, "CONFLICT", a.Code())
	require.Contains(t, a.Detail(), "Inactivate it instead.")
	first(admin.Get("/plans/admin?_id=" + free))
	admin.Delete("/plans?_id="+free, nil).Expect(200)
}

// prices counts the prices at gateway B.
func prices(t *testing.T, b *bundle) (all, active int) {
	t.Helper()
	return atGatewayB(t, b, "/v1/prices?limit=100"), atGatewayB(t, b, "/v1/prices?limit=100&active=true")
}

func TestSyncingMakesNothingTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin, _ := planAPI(t, b)
	id := first(admin.Post("/plans", gold))["_id"].(string)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { admin.Post("/plans/gold/sync-gwb", nil) })
	}
	wg.Wait()
	once := first(admin.Post("/plans/gold/sync-gwb", nil))
	require.NotEmpty(t, once["gwb_product_id"])
	require.NotEmpty(t, once["gwb_price_id"])
	require.Equal(t, once, first(admin.Post("/plans/"+id+"/sync-gwb", nil)))
	all, active := prices(t, b)
	require.Equal(t, []int{1, 1}, []int{all, active})
	require.Equal(t, 1, atGatewayB(t, b, "/v1/products?limit=100"))

	dearer := first(admin.Put("/plans", `[{"_id":"`+id+`","amount":5990}]`))
	require.Equal(t, once["gwb_price_id"], dearer["gwb_price_id"], "until it is synchronised")
	second := first(admin.Post("/plans/gold/sync-gwb", nil))
	require.Equal(t, once["gwb_product_id"], second["gwb_product_id"])
	require.NotEqual(t, once["gwb_price_id"], second["gwb_price_id"], "a changed amount makes a new price")
	all, active = prices(t, b)
	require.Equal(t, []int{2, 1}, []int{all, active})

	admin.Put("/plans", `[{"_id":"`+id+`","amount":4990}]`).Expect(200)
	require.Equal(t, once["gwb_price_id"], first(admin.Post("/plans/gold/sync-gwb", nil))["gwb_price_id"],
		"the former price comes back")
	all, active = prices(t, b)
	require.Equal(t, []int{2, 1}, []int{all, active})
}

func TestSearchingPlans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin, customer := planAPI(t, b)
	admin.Post("/plans", gold).Expect(200)
	require.Equal(t, "gold", first(customer.Get("/search/plans?q=tudo%20em%204"))["plan_id"])
	require.NotContains(t, first(customer.Get("/search/plans?q=GOL")), "gwb_price_id")
	require.Contains(t, first(admin.Get("/search/plans?q=GOL")), "gwb_price_id")
	admin.Post("/plans/gold/inactivate", nil).Expect(200)
	require.Empty(t, customer.Get("/search/plans?q=gold").Expect(200).Map()["docs"])
	require.Equal(t, "gold", first(admin.Get("/search/plans?q=gold"))["plan_id"])
	customer.Get("/search/videos?q=gold").Expect(404)
}

// atGatewayB counts the objects of a list.
func atGatewayB(t *testing.T, b *bundle, list string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.gateways.Sandbox.GWBURL()+list, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer sk_test_sandbox")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	var found struct{ Data []object }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&found))
	return len(found.Data)
}
