package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/testutil/apitest"
)

// newJob is a job that nobody works, in a state.
func newJob(t *testing.T, p *platformtest.Platform, state string) (id int64) {
	t.Helper()
	require.NoError(t, p.DB.QueryRow(t.Context(), `INSERT INTO jobs.river_job
		(kind, queue, state, args, max_attempts, attempt, scheduled_at, finalized_at, errors)
		VALUES ('test_staff', 'nowhere', $1::text::jobs.river_job_state, '{"email":"maria@example.com","of":{"id":7}}', 3,
			CASE WHEN $1::text = 'discarded' THEN 3 ELSE 1 END, now() + interval '1 hour',
			CASE WHEN $1::text IN ('discarded', 'cancelled', 'completed') THEN now() END,
			ARRAY['{"at":"2026-11-22T00:00:00Z","attempt":1,"error":"no address maria@example.com","trace":"x"}'::jsonb])
		RETURNING id`, state).Scan(&id))
	return id
}

type jobView struct {
	ID          int64
	State       string
	MaxAttempts int `json:"max_attempts"`
	Arguments   map[string]any
	Failures    []struct{ Error string }
}

func TestStaffSeeJobsAndOnlyRootWhatIsInThem(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	var ids []int64
	for range 3 {
		ids = append(ids, newJob(t, p, "retryable"))
	}
	var got struct {
		Jobs []jobView
		More bool
	}
	const list = "/admin/jobs?kind=test_staff&queue=nowhere&state=retryable&qty=2"
	p.Root().Get(list).Expect(http.StatusOK).JSON(&got)
	require.Len(t, got.Jobs, 2)
	require.True(t, got.More)
	require.Equal(t, ids[2], got.Jobs[0].ID)
	require.Equal(t, "maria@example.com", got.Jobs[0].Arguments["email"])
	require.Equal(t, "no address maria@example.com", got.Jobs[0].Failures[0].Error)

	res := p.Admin().Get(list + fmt.Sprintf("&before=%d", ids[1])).Expect(http.StatusOK)
	require.NotContains(t, string(res.Body), "maria")
	got.Jobs = nil
	res.JSON(&got)
	require.Len(t, got.Jobs, 1)
	require.False(t, got.More)
	require.Equal(t, map[string]any{"email": "***", "of": map[string]any{"id": "***"}}, got.Jobs[0].Arguments)
	require.NotContains(t, string(res.Body), "trace")

	for _, query := range []string{"state=lost", "before=x", "qty=101", "before=0"} {
		require.Equal(t, http.StatusUnprocessableEntity, p.Admin().Get("/admin/jobs?"+query).Status, query)
	}
}

// TestJobsAreAListAsAnyOther: filtered, sorted and paged by what everybody on the staff may know of them, with the older
// parameters beside a filter; what only root reads is found by nobody.
func TestJobsAreAListAsAnyOther(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	p.Unsound("jobs_done") // some stay given up
	var ids []int64
	for _, state := range []string{"retryable", "discarded", "discarded", "scheduled"} {
		ids = append(ids, newJob(t, p, state))
	}
	type page struct {
		Docs, Jobs []struct {
			Key         string `json:"_id"`
			ID          int64
			MaxAttempts int `json:"max_attempts"`
			Arguments   map[string]any
		}
		More       bool
		Total      int
		Pagination struct {
			Total int `json:"qty_total_docs"`
			Pages int `json:"qty_of_pages"`
		}
		Links []struct{ Rel string }
	}
	read := func(parameters ...string) (found page, got []int64) {
		values := url.Values{}
		for i := 0; i < len(parameters); i += 2 {
			values.Set(parameters[i], parameters[i+1])
		}
		p.Admin().Get("/admin/jobs?" + values.Encode()).Expect(http.StatusOK).JSON(&found)
		require.Equal(t, found.Docs, found.Jobs)
		for _, one := range found.Docs {
			got = append(got, one.ID)
		}
		return found, got
	}
	const ours = `{"kind":"test_staff"}`
	first, got := read("query", ours, "qty_docs_page", "3")
	require.Equal(t, []int64{ids[3], ids[2], ids[1]}, got, "the last made first")
	require.Equal(t, []int{4, 2, 4}, []int{first.Pagination.Total, first.Pagination.Pages, first.Total})
	require.True(t, first.More)
	require.Equal(t, "***", first.Docs[0].Arguments["email"])
	require.Equal(t, 3, first.Docs[0].MaxAttempts)
	require.NotEmpty(t, first.Links)
	last, got := read("query", ours, "qty_docs_page", "3", "current_page", "1")
	require.Equal(t, ids[:1], got)
	require.False(t, last.More)

	for _, tc := range []struct {
		query, sort string
		want        []int64
	}{
		{`{"kind":"test_staff","state":"discarded"}`, `{"id":1}`, ids[1:3]},
		{`{"kind":"test_staff","state":{"$in":["scheduled","retryable"]}}`, `{"id":1}`, []int64{ids[0], ids[3]}},
		{`{"kind":"test_staff","attempt":{"$gte":3}}`, `{"id":1}`, ids[1:3]},
		{`{"kind":{"$regex":"^test_s"},"finalized_at":null}`, `{"state":1}`, []int64{ids[0], ids[3]}},
		{`{"$and":[{"state":"scheduled"},{"queue":"nowhere"}]}`, ``, ids[3:]},
		{`{"$or":[{"state":"scheduled"},{"state":"retryable"}],"queue":"nowhere"}`, `{"id":1}`, []int64{ids[0], ids[3]}},
		{`{"state":"lost"}`, ``, nil},
		{`{"arguments":{"$ne":null}}`, ``, nil},
		{`{"errors":{"$regex":"maria"}}`, ``, nil},
		{`{"max_attempts":3}`, ``, nil},
	} {
		_, got := read("query", tc.query, "sort", tc.sort)
		require.Equal(t, tc.want, got, tc.query)
	}
	_, got = read("query", ours, "state", "discarded", "before", strconv.FormatInt(ids[2], 10))
	require.Equal(t, ids[1:2], got, "the older parameters narrow it")
	one, got := read("_id", first.Docs[0].Key)
	require.Equal(t, ids[3:], got)
	require.Equal(t, []int{1, 1}, []int{one.Total, one.Pagination.Total})

	for parameters, field := range map[string]string{
		"query=x": "query", "query=" + url.QueryEscape(`{"state":{"$near":1}}`): "query", "sort=id": "sort",
		"state=discarded&query=" + url.QueryEscape(`{"kind":"a"},{}`): "query", "qty_docs_page=1001": "qty_docs_page",
	} {
		res := p.Admin().Get("/admin/jobs?" + parameters)
		require.Equal(t, http.StatusUnprocessableEntity, res.Status, parameters)
		require.Equal(t, field, res.Field(), parameters)
	}
}

func TestStaffRunRetryAndCancelJobs(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	p.Unsound("jobs_done") // some stay given up
	reason := platformtest.Object{"reason": "it waits for nobody"}
	for state, answers := range map[string]struct{ retry, run, cancel int }{
		"available": {409, 409, 200},
		"scheduled": {409, 200, 200},
		"retryable": {409, 200, 200},
		"running":   {409, 409, 200},
		"completed": {409, 409, 409},
		"cancelled": {200, 409, 409},
		"discarded": {200, 409, 409},
	} {
		for act, want := range map[string]int{"retry": answers.retry, "run": answers.run, "cancel": answers.cancel} {
			id := newJob(t, p, state)
			path := fmt.Sprintf("/admin/jobs/%d/%s", id, act)
			var res *apitest.Response
			if act == "cancel" {
				require.Equal(t, http.StatusForbidden, p.Admin().Post(path, reason).Status)
				res = p.Root().Post(path, reason)
			} else {
				res = p.Admin().Post(path, nil)
			}
			require.Equal(t, want, res.Status, "%s %s: %s", act, state, res.Body)
			var is string
			require.NoError(t, p.DB.QueryRow(t.Context(), "SELECT state FROM jobs.river_job WHERE id = $1", id).Scan(&is))
			entries := p.Count("SELECT count(*) FROM accounts.audit_log WHERE after->>'job_id' = $1", strconv.FormatInt(id, 10))
			if want == http.StatusConflict {
				require.Equal(t, state, is)
				require.NotEmpty(t, res.Detail())
				require.Zero(t, entries)
				continue
			}
			var j jobView
			res.JSON(&j)
			require.Equal(t, is, j.State)
			becomes := map[string]string{"retry": "available", "run": "available", "cancel": "cancelled"}[act]
			if state == "running" {
				becomes = "running" // it is told to stop
			}
			require.Equal(t, becomes, is)
			require.Equal(t, 1, entries)
			if state == "discarded" {
				require.Equal(t, 4, j.MaxAttempts)
			}
		}
	}
	require.Equal(t, http.StatusNotFound, p.Admin().Post("/admin/jobs/999999999/retry", nil).Status)
	short := p.Root().Post("/admin/jobs/1/cancel", platformtest.Object{"reason": "x"})
	require.Equal(t, http.StatusUnprocessableEntity, short.Status)
	require.Equal(t, "reason", short.Field())
}

func TestRootPausesAQueueAndSaysWhy(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	type queue struct {
		Name     string
		PausedAt *string `json:"paused_at"`
		Reason   string
		Retries  int `json:"retryable"`
	}
	queues := func() map[string]queue {
		var body struct{ Queues []queue }
		p.Admin().Get("/admin/queues").Expect(http.StatusOK).JSON(&body)
		by := map[string]queue{}
		for _, q := range body.Queues {
			by[q.Name] = q
		}
		return by
	}
	newJob(t, p, "retryable")
	all := queues()
	require.Contains(t, all, "mail")
	require.Equal(t, 1, all["nowhere"].Retries)
	why := platformtest.Object{"reason": "The mail server is being moved."}
	require.Equal(t, http.StatusConflict, p.Root().Post("/admin/queues/mail/pause", why).Status, "no worker yet")
	require.Equal(t, http.StatusNotFound, p.Root().Post("/admin/queues/none/pause", why).Status)

	p.Exec("INSERT INTO jobs.river_queue (name, created_at, metadata, updated_at) VALUES ('mail', now(), '{}', now())")
	require.Equal(t, http.StatusForbidden, p.Admin().Post("/admin/queues/mail/pause", why).Status)
	require.Equal(t, http.StatusConflict, p.Root().Post("/admin/queues/mail/resume", nil).Status)
	p.Root().Post("/admin/queues/mail/pause", why).Expect(http.StatusOK)
	require.Equal(t, http.StatusConflict, p.Root().Post("/admin/queues/mail/pause", why).Status)
	require.NotNil(t, queues()["mail"].PausedAt)
	require.Equal(t, why["reason"], queues()["mail"].Reason)
	p.Root().Post("/admin/queues/mail/resume", nil).Expect(http.StatusOK)
	require.Nil(t, queues()["mail"].PausedAt)
	require.Empty(t, queues()["mail"].Reason)
	require.Equal(t, 2, p.Count("SELECT count(*) FROM accounts.audit_log WHERE after->>'queue' = 'mail'"))
}
