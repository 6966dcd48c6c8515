package app_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/httpapi"
	"marquee/testutil/apitest"
)

// tile is a figure of Home.
type tile struct {
	Name  string
	Value int
	AsOf  *string `json:"as_of"`
	Items []struct{ Title, Note string }
	List  struct {
		Route, Path string
		Parameters  map[string]string
	}
}

// address is that of the tile's list, of which a page holds nothing but its counts.
func (x tile) address() string {
	query := url.Values{}
	for name, value := range x.List.Parameters {
		query.Set(name, value)
	}
	return strings.TrimPrefix(x.List.Path, httpapi.Prefix) + "?" + query.Encode()
}

// home reads Home, by name.
func home(t *testing.T, by *apitest.Client) map[string]tile {
	t.Helper()
	var page struct{ Figures []tile }
	by.Get("/admin/home").Expect(http.StatusOK).JSON(&page)
	all := map[string]tile{}
	for _, f := range page.Figures {
		all[f.Name] = f
	}
	return all
}

// listed is how much a figure's list shows.
func listed(t *testing.T, by *apitest.Client, of tile) int {
	t.Helper()
	res := by.Get(of.address()).Expect(http.StatusOK)
	var body struct {
		Pagination *struct {
			Total int `json:"qty_total_docs"`
		}
		Overdue *int `json:"total_overdue"`
		Jobs    []any
		Queues  []struct {
			PausedAt *string `json:"paused_at"`
		}
		Invariants []struct{ Findings int }
		Totals     *struct{ Net int }
	}
	require.NoError(t, json.Unmarshal(res.Body, &body), of.Name)
	switch {
	case body.Pagination != nil:
		return body.Pagination.Total
	case body.Overdue != nil:
		return *body.Overdue
	case body.Totals != nil:
		return body.Totals.Net
	}
	n := len(body.Jobs)
	for _, q := range body.Queues {
		if q.PausedAt != nil {
			n++
		}
	}
	for _, i := range body.Invariants {
		if i.Findings > 0 {
			n++
		}
	}
	return n
}

// TestHomeLeadsToItsLists: each figure is what its list counts, but MRR, which is money.
func TestHomeLeadsToItsLists(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	p.Unsound("jobs_done", "unapplied_match_ledger", "current_subscription_live", "subscription_status_is_history")
	by := p.Root()
	names := []string{
		"mrr", "active", "new", "cancelled", "revenue", "failed_payments", "failed_refunds", "unapplied_payments",
		"webhooks_waiting", "paused_queues", "discarded_jobs", "invariants",
	}
	nothing := home(t, by)
	require.Len(t, nothing, len(names))
	for _, name := range names {
		require.Zero(t, nothing[name].Value, name)
		require.Empty(t, nothing[name].Items, name)
		require.Zero(t, listed(t, by, nothing[name]), name)
	}
	require.Nil(t, nothing["invariants"].AsOf, "not checked yet")

	for range 3 {
		u, _ := p.NewCustomer()
		subscriptionstest.Active(t, p.DB, u.ID)
	}
	u, _ := p.NewCustomer()
	failed := subscriptionstest.Active(t, p.DB, u.ID)
	p.Exec("UPDATE subscriptions.subscriptions SET payment_failures = 2 WHERE id = $1", failed)
	for _, days := range []int{1, 29, 31} {
		p.Exec(`INSERT INTO payments.refunds (gateway, payment_ref, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, requested_at, created_at, updated_at)
			VALUES ('gwb', 'pi_1', 'customer', $1, $1, 1, 'failed', 'gateway', '', '', now() - make_interval(days => $2), now(), now())`,
			u.ID, days)
	}
	p.Exec(`INSERT INTO payments.unapplied_payments (kind, gateway, subject, created_at, updated_at)
		VALUES ('unknown', 'gwa', 'sub_1', now(), now())`)
	p.Exec(`INSERT INTO payments.webhook_logs (gateway, payload, signature_valid, received_at)
		VALUES ('gwa', '{}', true, now()), ('gwa', '{}', false, now())`)
	p.Exec(`INSERT INTO jobs.river_queue (name, created_at, metadata, updated_at) VALUES ('mail', now(), '{}', now())`)
	by.Post("/admin/queues/mail/pause", obj{"reason": "It is moved"}).Expect(http.StatusOK)
	newJob(t, p, "discarded")
	newJob(t, p, "completed")
	p.Exec(`INSERT INTO finance.invariant_results (name, findings, offenders, checked_at)
		VALUES ('jobs_done', 1, '[{"id":"1","detail":"given up"}]', now()), ('payments_count', 0, '[]', now()), ('of_old', 1, '[]', now())`)
	now := home(t, by)
	for name, value := range map[string]int{
		"active": 4, "new": 4, "failed_payments": 1, "failed_refunds": 2, "unapplied_payments": 1, "webhooks_waiting": 1,
		"paused_queues": 1, "discarded_jobs": 1, "invariants": 1,
	} {
		require.Equal(t, value, now[name].Value, name)
		require.Equal(t, value, listed(t, by, now[name]), name)
	}
	require.Positive(t, now["mrr"].Value)
	require.Equal(t, "It is moved", now["paused_queues"].Items[0].Note)
	require.Equal(t, "mail", now["paused_queues"].Items[0].Title)
	require.Equal(t, "jobs_done", now["invariants"].Items[0].Title)
	require.NotEmpty(t, now["invariants"].Items[0].Note)
	require.NotNil(t, now["invariants"].AsOf)
	p.Exec("UPDATE subscriptions.subscriptions SET status = 'cancelled', ended_at = now() WHERE id = $1", failed)
	require.Equal(t, 1, listed(t, by, home(t, by)["cancelled"]))
	require.Empty(t, by.Do(http.MethodHead, "/admin/home", nil).Body)
}
