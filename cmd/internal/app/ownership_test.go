package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
)

// requests are all ways to name the ids in a call of the route: in each place of
// the path, in each parameter that the document knows, and in those that others
// might have left open. own is the caller's archive token.
func requests(a *platformtest.Platform, r httpapi.RouteInfo, ids map[string]string, self string) []string {
	paths := []string{r.Path}
	for placeholder.MatchString(paths[0]) {
		var next []string
		for _, path := range paths {
			spot := placeholder.FindString(path)
			names := sorted(ids)
			switch spot {
			case "{collection_name}":
				names = []string{"users", "customers", "tickets", "promo-codes", "requisitions"}
			case "{archive_token}":
				names = append(names, self)
			}
			for _, name := range names {
				next = append(next, strings.Replace(path, spot, name, 1))
			}
		}
		paths = next
	}
	var all []string
	for _, path := range paths {
		all = append(all, path)
		if !strings.Contains(path, self) && strings.Contains(r.Path, "{") &&
			!strings.HasPrefix(r.Path, httpapi.Prefix+"/search/") {
			continue // the path names the record
		}
		for _, id := range sorted(ids) {
			for _, q := range queries(a, r, id) {
				all = append(all, path+"?"+q.Encode())
			}
		}
	}
	return all
}

// queries name the id in the parameters of the route.
func queries(a *platformtest.Platform, r httpapi.RouteInfo, id string) []url.Values {
	all := []url.Values{{"_id": {id}, "id": {id}, "user_id": {id}, "customer_id": {id}, "owner": {id}}}
	op := operation(a, r)
	if op == nil {
		return all
	}
	for _, p := range op.Parameters {
		switch {
		case p.In != "query" || p.Schema != nil && p.Schema.Type != "string", formOnly[p.Name]:
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

// formOnly are the parameters that say how to answer, not of what.
var formOnly = map[string]bool{
	"sort": true, "docs_range": true, "format": true, "fmt": true, "dry_run": true, "start": true, "end": true,
	"event_type": true,
}

// naming are the calls of the route that name, in each of its places, the record
// of the kind that belongs there.
func naming(a *platformtest.Platform, r httpapi.RouteInfo, ids map[string]string) []string {
	path := strings.Replace(r.Path, "{collection_name}", "customers", 1)
	query := url.Values{}
	for _, p := range places(a, r) {
		switch p.in {
		case "path":
			path = strings.Replace(path, "{"+p.name+"}", ids[p.kind(r)], 1)
		case "query":
			query.Set(p.name, ids[p.kind(r)])
		}
	}
	return []string{path, path + "?" + query.Encode()}
}

func sorted(ids map[string]string) []string {
	all := make([]string, 0, len(ids))
	for _, id := range ids {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

// attackers are customers like the victim, one after the other, since some of
// what they try ends their own account.
type attackers struct {
	t       *testing.T
	a       *platformtest.Platform
	n       int
	client  *apitest.Client
	archive string // the client's archive token
	victim  victim
	body    map[string]string // what bodies name, by kind
}

// call sends the requests and returns how often each status was the answer.
func (x *attackers) call(r httpapi.RouteInfo, paths []string) map[int]int {
	body, statuses := bodyNaming(x.a, r, x.body), map[int]int{}
	for _, path := range paths {
		res := x.client.Do(r.Method, path, body)
		statuses[res.Status]++
		require.NotEqual(x.t, http.StatusInternalServerError, res.Status, "%s %s: %s", r.Method, path, res.Body)
		require.False(x.t, x.victim.reveals(res, path+fmt.Sprint(body)), "%s %s: %d %s", r.Method, path,
			res.Status, res.Body)
		if res.Status < 300 && r.Method == http.MethodDelete && x.gone() {
			x.next() // the client deleted itself
		}
	}
	return statuses
}

func (x *attackers) next() {
	x.n++
	_, client := x.a.NewSubscriber(platformtest.Named(fmt.Sprintf("attacker%d", x.n)))
	x.client = client
	x.archive = client.Post("/auth/refresh-archive-token", nil).Expect(http.StatusOK).Map()["archive_token"].(string)
}

func (x *attackers) gone() bool { return x.client.Get("/current-user").Status != http.StatusOK }

// TestOwnership: a customer who knows every id of another one calls every route
// with them, and neither reads nor changes anything. The routes are those that are
// registered, the tables those that are there: what is added later is in it by itself.
func TestOwnership(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	b := newVictim(t, a)
	before, ids := rowsNaming(t, a, b.ids), b.everyID()
	require.Greater(t, len(before), 30)

	x := &attackers{t: t, a: a, victim: b, body: ids}
	x.next()
	tried := 0
	for _, r := range a.Routes() {
		responses := x.call(r, naming(a, r, ids))
		if (r.Auth == httpapi.Admin || r.Auth == httpapi.Root) && responses[http.StatusForbidden] == 2 {
			continue // closed to customers, whatever is named
		}
		tried++
		for status, n := range x.call(r, requests(a, r, b.ids, x.archive)) {
			responses[status] += n
		}
		if x.gone() {
			x.next()
		}
		if r.Method != http.MethodGet && responses[http.StatusOK]+responses[http.StatusCreated] > 0 {
			require.Empty(t, cmp.Diff(before, rowsNaming(t, a, b.ids)), "%s %s changed what is the victim's", r.Method,
				r.Path)
		}
	}
	require.Empty(t, cmp.Diff(before, rowsNaming(t, a, b.ids)))
	require.Greater(t, tried, 60)
}

// onlyCommon says whether the route names but what all may name.
func (v victim) onlyCommon(a *platformtest.Platform, r httpapi.RouteInfo) bool {
	for _, p := range places(a, r) {
		if v.common[p.kind(r)] == "" {
			return false
		}
	}
	return true
}

// hidden are the GET routes that take an id and show nothing of the victim's to
// anybody.
var hidden = map[string]string{
	"admin_gwa_subscription_list":     "the subscription is gateway B's",
	"admin_gwa_subscription_payments": "the subscription is gateway B's",
	"admin_gwa_subscription_refunds":  "the subscription is gateway B's",
	"admin_gwb_subscription_payments": "asks the gateway, which knows nothing here",
	"admin_gwb_subscription_refunds":  "nothing was refunded",
	"subscription_payments":           "asks the gateway, which knows nothing here",
	"subscription_refunds":            "nothing was refunded",
	"archive_record_public_get":       "opens by an archive token, which TestOwnership has",
	"requisition_history_get":         "the card has none", "user_list": "lists admins",
	"users_type_list": "says nothing of users", "avatar_get": "public",
	"customer_timeline":         "sentences about money and titles, without ids",
	"video_stream_url":          "an address, and the play that was named",
	"me_ticket_qr":              "a signed text about the ticket that was named",
	"overdue_subscription_list": "the subscription is paid",
	"box_office_sale_get":       "the order is the store's: 404 to everybody",
}

// TestOwnershipIsSeen: what TestOwnership looks for is there to be found. The
// owner and an admin, who may, do read it with the same calls, on every route that
// takes an id.
func TestOwnershipIsSeen(t *testing.T) {
	t.Parallel()
	a := platformtest.New(t)
	root := a.Root()
	b := newVictim(t, a)
	ids, seen, blind := b.everyID(), map[string]bool{}, []string(nil)
	for _, r := range a.Routes() {
		if r.Method != http.MethodGet || len(places(a, r)) == 0 && r.Auth != httpapi.Customer ||
			hidden[r.Name] != "" {
			continue
		}
		for _, path := range naming(a, r, ids)[1:] {
			seen["owner "+r.Name] = seen["owner "+r.Name] || b.reveals(b.client.Get(path), path)
			seen["admin "+r.Name] = seen["admin "+r.Name] || b.reveals(root.Get(path), path)
		}
		if !b.onlyCommon(a, r) && !seen["owner "+r.Name] && !seen["admin "+r.Name] {
			blind = append(blind, r.Name)
		}
	}
	require.Empty(t, blind,
		"these show nothing of the victim's to anybody, though they take an id: say why in hidden, or give the victim what they show")
	for _, who := range []string{
		"owner archive_record_get", "owner me_ticket_order_get", "owner me_ticket_list", "owner customer_me_get",
		"owner customer_data_get", "owner watch_history_get", "admin archive_record_get", "admin customer_list",
		"admin search", "admin ticket_list", "admin webhook_log_list", "admin export_download",
		"admin requisition_get", "admin requisition_file_download",
	} {
		require.True(t, seen[who], "%s of %v", who, seen)
	}
	before := rowsNaming(t, a, b.ids)
	root.Delete("/tickets?_id="+b.ids["ticket"], nil).Expect(http.StatusOK)
	require.NotEmpty(t, cmp.Diff(before, rowsNaming(t, a, b.ids)))
}
