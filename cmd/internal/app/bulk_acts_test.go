package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts"
	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

type bulkAct struct {
	ID                           objectid.ID `json:"_id"`
	State                        string
	Total, Done, Skipped, Failed int
	Unknown                      int
}

func (a bulkAct) over() bool { return a.State != "running" }

// awaitEnd reads it until it has ended.
func (a *bulkAct) awaitEnd(t *testing.T, p *platformtest.Platform) {
	t.Helper()
	require.Eventually(t, func() bool {
		p.Root().Get("/admin/bulk-acts/" + a.ID.String()).JSON(a)
		return a.over()
	}, time.Minute, 20*time.Millisecond)
}

// labelAll begins to give the one customer a label.
func labelAll(client *apitest.Client) (act bulkAct) {
	client.Post("/admin/bulk-acts", platformtest.Object{
		"act": "customer_update", "query": "", "expected": 1, "arguments": platformtest.Object{"labels": []string{"x"}},
	}).Expect(http.StatusOK).JSON(&act)
	return act
}

// TestABulkActIsTheSingleActForEach: for the records of the moment of confirming, with what became of each.
func TestABulkActIsTheSingleActForEach(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	admin := p.Admin()
	for range 4 {
		p.NewCustomer(func(u *accounts.NewUser) { u.Nationality = "CH" })
	}
	begin := platformtest.Object{
		"act": "customer_update", "query": `{"nationality":"CH"}`, "expected": 4,
		"arguments": platformtest.Object{"labels": []string{"swiss"}},
	}
	var act bulkAct
	admin.Post("/admin/bulk-acts", begin).Expect(http.StatusOK).JSON(&act)
	require.Equal(t, 4, act.Total)
	p.NewCustomer(func(u *accounts.NewUser) { u.Nationality = "CH" }) // since
	p.Exec("UPDATE accounts.users SET deleted_at = now() WHERE id = (SELECT min(record_id) FROM platform.bulk_rows)")
	p.Work()
	path := "/admin/bulk-acts/" + act.ID.String()
	require.Eventually(t, func() bool { admin.Get(path).JSON(&act); return act.over() }, time.Minute, 20*time.Millisecond)
	require.Equal(t, "done", act.State)
	require.Equal(t, []int{3, 1, 0}, []int{act.Done, act.Skipped, act.Failed})
	require.Equal(t, 3, p.Count("SELECT count(*) FROM accounts.users WHERE labels = '{swiss}'"))
	require.Equal(t, 3, p.Count(`SELECT count(*) FROM accounts.audit_log
		WHERE action = 'customer_update' AND request_id = $1 AND actor_name <> 'platform'`, act.ID))
	require.Equal(t, 1, p.Count("SELECT count(*) FROM accounts.audit_log WHERE action = 'bulk_act_begin'"))

	var rows struct {
		Rows []struct {
			Position        int
			Outcome, Reason string
		}
	}
	admin.Get(path + "/rows?outcome=skipped").Expect(http.StatusOK).JSON(&rows)
	require.Len(t, rows.Rows, 1)
	require.Contains(t, rows.Rows[0].Reason, "not found")
	file := string(admin.Get(path + "/result").Expect(http.StatusOK).Body)
	require.True(t, strings.HasPrefix(file, "position,record_id,outcome,reason\n"), file)
	require.Equal(t, 5, strings.Count(file, "\n"))
	_, other := p.NewAdmin()
	require.Equal(t, http.StatusNotFound, other.Get(path).Status, "somebody else's")
	require.Equal(t, http.StatusOK, p.Root().Get(path).Status)
	require.Equal(t, http.StatusConflict, admin.Post(path+"/stop", nil).Status)
}

func TestABulkActIsRefused(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	p.NewCustomer()
	labels := platformtest.Object{"labels": []string{"x"}}
	for says, body := range map[string]platformtest.Object{
		"matches 1 record now":   {"act": "customer_update", "query": "", "expected": 2, "arguments": labels},
		"has to name the fields": {"act": "customer_update", "query": "", "expected": 1},
		"may not name _id":       {"act": "customer_update", "query": "", "expected": 1, "arguments": platformtest.Object{"_id": "x"}},
		"has to have reason":     {"act": "subscription_cancel", "query": "", "expected": 1},
		"that the act does not":  {"act": "webhook_log_replay", "query": "", "expected": 1, "arguments": labels},
		"does not have":          {"act": "customer_update", "query": `{"password":"x"}`, "expected": 1, "arguments": labels},
		"$near":                  {"act": "customer_update", "query": `{"email":{"$near":1}}`, "expected": 1, "arguments": labels},
		"act":                    {"act": "everything", "query": "", "expected": 1},
	} {
		res := p.Admin().Post("/admin/bulk-acts", body)
		require.Contains(t, []int{http.StatusConflict, http.StatusUnprocessableEntity}, res.Status, says)
		require.Contains(t, string(res.Body), says)
	}
	require.Zero(t, p.Count("SELECT count(*) FROM platform.bulk_acts"))
	require.Zero(t, p.Count("SELECT count(*) FROM jobs.river_job WHERE kind = 'platform_bulk_act'"))
}

// TestABulkActEndsWithTheRightsOfWhoeverAsked: they are those of the moment of each record.
func TestABulkActEndsWithTheRightsOfWhoeverAsked(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	p.NewCustomer()
	user, admin := p.NewAdmin()
	act := labelAll(admin)
	p.Exec("UPDATE accounts.users SET enable = false WHERE id = $1", user.ID)
	p.Work()
	act.awaitEnd(t, p)
	require.Equal(t, 1, act.Failed)
	require.Zero(t, p.Count("SELECT count(*) FROM accounts.users WHERE labels <> '{}'"))
	require.Equal(t, 1, p.Count(`SELECT count(*) FROM platform.bulk_rows
		WHERE reason = 'Whoever began this may not do it any more, or their sign-in was ended.'`))
}

// TestABulkActEndsWithWhatItWasBegunWith: whoever stole a token does nothing more once it is ended, all sessions at once
// or the one by another; nor where a new password is set.
func TestABulkActEndsWithWhatItWasBegunWith(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(t *testing.T, p *platformtest.Platform, user objectid.ID, elsewhere *apitest.Client){
		"all sessions, by root": func(_ *testing.T, p *platformtest.Platform, user objectid.ID, _ *apitest.Client) {
			p.Root().Delete("/admin/users/"+user.String()+"/sessions", nil).Expect(http.StatusOK)
		},
		"all others, by another": func(_ *testing.T, _ *platformtest.Platform, _ objectid.ID, elsewhere *apitest.Client) {
			elsewhere.Delete("/me/sessions", nil).Expect(http.StatusOK)
		},
		"the one, by another": func(t *testing.T, p *platformtest.Platform, user objectid.ID, elsewhere *apitest.Client) {
			var id objectid.ID
			require.NoError(t, p.DB.QueryRow(t.Context(),
				"SELECT claims ->> 'SessionID' FROM platform.bulk_acts WHERE actor_id = $1", user).Scan(&id))
			elsewhere.Delete("/me/sessions/"+id.String(), nil).Expect(http.StatusOK)
		},
		"all tokens": func(_ *testing.T, p *platformtest.Platform, user objectid.ID, _ *apitest.Client) {
			p.Exec("UPDATE accounts.users SET tokens_valid_after = now() + interval '1 second' WHERE id = $1", user)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := platformtest.New(t)
			p.NewCustomer()
			user, admin := p.NewAdmin()
			act := labelAll(admin)
			ends(t, p, user.ID, p.As(user.Username))
			p.Work()
			act.awaitEnd(t, p)
			require.Equal(t, []int{0, 0, 1}, []int{act.Done, act.Skipped, act.Failed})
			require.Zero(t, p.Count("SELECT count(*) FROM accounts.users WHERE labels <> '{}'"))
		})
	}
}

// TestABulkActOutlivesTheSessionInWhichItWasBegun: it is done with the rights of whoever asked, signed in or not.
func TestABulkActOutlivesTheSessionInWhichItWasBegun(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	p.NewCustomer()
	_, admin := p.NewAdmin()
	act := labelAll(admin)
	var sessions struct {
		Docs []struct {
			ID objectid.ID `json:"_id"`
		}
	}
	admin.Get("/me/sessions").Expect(http.StatusOK).JSON(&sessions)
	require.Len(t, sessions.Docs, 1)
	admin.Delete("/me/sessions/"+sessions.Docs[0].ID.String(), nil).Expect(http.StatusOK)
	require.Equal(t, http.StatusForbidden, admin.Get("/admin/bulk-acts").Status)
	p.Work()
	act.awaitEnd(t, p)
	require.Equal(t, []int{1, 0, 0}, []int{act.Done, act.Skipped, act.Failed})
	require.Equal(t, 1, p.Count("SELECT count(*) FROM accounts.users WHERE labels = '{x}'"))
}

// TestABulkActStoresNoSecret: what was stored before arguments were checked is hidden.
func TestABulkActStoresNoSecret(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	p.NewSubscriber()
	refused := func(act, field string, arguments platformtest.Object) {
		res := p.Root().Post("/admin/bulk-acts", platformtest.Object{
			"act": act, "query": "", "expected": 1, "arguments": arguments,
		})
		require.Equal(t, http.StatusUnprocessableEntity, res.Status, "%s %v: %s", act, arguments, res.Body)
		var body struct {
			Error struct{ Field, Message string }
		}
		res.JSON(&body)
		require.Equal(t, field, body.Error.Field, string(res.Body))
		require.NotContains(t, string(res.Body), "hunter2hunter2")
	}
	refused("customer_update", "arguments.password", platformtest.Object{"password": "hunter2hunter2"})
	for _, field := range []string{"email", "username", "tax_id", "created_at", "user_type", "register_update_date"} {
		refused("customer_update", "arguments."+field, platformtest.Object{field: "hunter2hunter2"})
	}
	refused("customer_update", "arguments.enable", platformtest.Object{"enable": "hunter2hunter2"})
	refused("customer_update", "arguments.labels[0]", platformtest.Object{"labels": []any{7}})
	refused("video_update", "arguments.slug", platformtest.Object{"slug": "a"})
	for _, days := range []any{"x", 0, -3, 1.5, 3651} {
		refused("subscription_extend", "arguments.days", platformtest.Object{"days": days})
	}
	refused("subscription_extend", "arguments", platformtest.Object{"days": nil})
	refused("subscription_cancel", "arguments.reason", platformtest.Object{"reason": 7})
	refused("job_cancel", "arguments.reason", platformtest.Object{"reason": " x"})
	for _, table := range []string{"platform.bulk_acts", "platform.bulk_rows"} {
		require.Zero(t, p.Count("SELECT count(*) FROM "+table))
	}
	p.Exec(`INSERT INTO platform.bulk_acts (id, act, query, arguments, actor_id, claims, state, total, created_at, ended_at)
		VALUES ($1, 'customer_update', '', '{"password":"typed long ago","labels":["x"]}', $1, '{}', 'done', 0, now(), now())`,
		objectid.New())
	list := string(p.Root().Get("/admin/bulk-acts").Expect(http.StatusOK).Body)
	require.NotContains(t, list, "typed long ago")
	require.Contains(t, list, `"password":"[hidden]"`)
	require.Contains(t, list, `"labels":["x"]`)
}

// TestWhatMayNotBeRepeatedIsUnknownWhenCutOff: an extension is not given twice, a change of fields is.
func TestWhatMayNotBeRepeatedIsUnknownWhenCutOff(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	p.NewSubscriber()
	for name, arguments := range map[string]platformtest.Object{
		"subscription_extend": {"days": 7}, "subscription_cancel": {"reason": "the end"},
	} {
		var act bulkAct
		p.Root().Post("/admin/bulk-acts", platformtest.Object{
			"act": name, "query": `{"status":"active"}`, "expected": 1, "arguments": arguments,
		}).Expect(http.StatusOK).JSON(&act)
		p.Exec("UPDATE platform.bulk_rows SET outcome = 'started' WHERE bulk_id = $1", act.ID)
	}
	p.Work()
	outcome := func(name string) (outcome string) {
		require.Eventually(t, func() bool {
			_ = p.DB.QueryRow(t.Context(), `SELECT coalesce(r.outcome, '') FROM platform.bulk_rows r
				JOIN platform.bulk_acts a ON a.id = r.bulk_id WHERE a.act = $1 AND a.state = 'done'`, name).Scan(&outcome)
			return outcome != ""
		}, time.Minute, 20*time.Millisecond)
		return outcome
	}
	require.Equal(t, "unknown", outcome("subscription_extend"))
	require.Equal(t, "done", outcome("subscription_cancel"))
	require.Equal(t, 1, p.Count("SELECT count(*) FROM subscriptions.subscriptions WHERE status = 'cancelled'"))
}

// TestJobsAreRetriedAndCancelledByTheirFilter: as one by one, by whoever may do that, and never the job that does it.
func TestJobsAreRetriedAndCancelledByTheirFilter(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	p.Unsound("jobs_done") // some stay given up
	for range 3 {
		newJob(t, p, "discarded")
	}
	newJob(t, p, "completed")
	waiting := newJob(t, p, "scheduled")
	var list struct{ Total int }
	p.Admin().Get("/admin/jobs?state=discarded&kind=test_staff&queue=nowhere").Expect(http.StatusOK).JSON(&list)
	require.Equal(t, 3, list.Total)
	begin := func(act, query string, expected int, arguments platformtest.Object) platformtest.Object {
		return platformtest.Object{"act": act, "query": query, "expected": expected, "arguments": arguments}
	}
	reason := platformtest.Object{"reason": "nobody waits for it"}
	all := `{"kind":"test_staff"}`
	require.Equal(t, http.StatusForbidden, p.Admin().Post("/admin/bulk-acts", begin("job_cancel", all, 5, reason)).Status)
	for _, refused := range []string{`{"args":"x"}`, `{"state":{"$near":1}}`, `x`} {
		res := p.Root().Post("/admin/bulk-acts", begin("job_cancel", refused, 5, reason))
		require.Equal(t, http.StatusUnprocessableEntity, res.Status, refused)
	}
	p.Root().Get("/admin/jobs").Expect(http.StatusOK).JSON(&list)
	require.Equal(t, list.Total, p.Count("SELECT count(*) FROM jobs.river_job WHERE kind <> 'platform_bulk_act'"))

	over := func(body platformtest.Object) (act bulkAct) {
		p.Root().Post("/admin/bulk-acts", body).Expect(http.StatusOK).JSON(&act)
		act.awaitEnd(t, p)
		return act
	}
	p.Work()
	act := over(begin("job_retry", all, 5, platformtest.Object{}))
	require.Equal(t, []int{3, 2, 0}, []int{act.Done, act.Skipped, act.Failed}, "what is done or waits is skipped, and says why")
	require.Equal(t, 3, p.Count("SELECT count(*) FROM jobs.river_job WHERE kind = 'test_staff' AND state = 'available'"))
	act = over(begin("job_cancel", `{"kind":"test_staff","state":{"$in":["available","scheduled"]}}`, 4, reason))
	require.Equal(t, []int{4, 0, 0}, []int{act.Done, act.Skipped, act.Failed})
	require.Equal(t, 1, p.Count("SELECT count(*) FROM jobs.river_job WHERE id = $1 AND state = 'cancelled'", waiting))
	require.Equal(t, 4, p.Count(`SELECT count(*) FROM accounts.audit_log WHERE action = 'job_cancel' AND request_id = $1
		AND after->>'reason' = 'nobody waits for it'`, act.ID))
}
