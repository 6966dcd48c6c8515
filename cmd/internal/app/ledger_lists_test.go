package app_test

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/platform/objectid"
)

// TestStaffListPaymentsAndDisputes: each of both gateways, the latest first, found by their filters and by staff alone.
func TestStaffListPaymentsAndDisputes(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	user, customer := p.NewCustomer()
	p.Unsound("payments_have_subjects", "disputes_have_subjects") // of subscriptions that are not there
	older, newer := objectid.New(), objectid.New()
	for _, row := range []struct {
		id              objectid.ID
		gateway, ref    string
		amount, daysAgo int
	}{{older, "gwa", "pay_older", 1990, 2}, {newer, "gwb", "in_newer", 2990, 1}} {
		p.Exec(`INSERT INTO payments.payments (id, gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents,
				method, native_status, settled_at, created_at, updated_at)
			VALUES ($1, $2, $3, 'customer', $4, $4, $5, 'pix', 'RECEIVED', now() - make_interval(days => $6), now(), now())`,
			row.id, row.gateway, row.ref, user.ID, row.amount, row.daysAgo)
	}
	dispute := p.Insert(`INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id,
			amount_cents, reason, state, native_status, opened_at, reported_at, created_at, updated_at)
		VALUES ('gwb', 'du_1', 'pi_1', 'customer', $1, $1, 2990, 'fraudulent', 'inquiry', 'warning_needs_response',
			now(), now(), now(), now())`, user.ID)

	ids := func(path, filter string) (all []objectid.ID) {
		var list struct {
			Docs []struct {
				ID     objectid.ID `json:"_id"`
				Amount int64       `json:"amount"`
			}
		}
		p.Admin().Get(path + "?" + url.Values{"query": {filter}}.Encode()).Expect(http.StatusOK).JSON(&list)
		for _, doc := range list.Docs {
			require.Positive(t, doc.Amount)
			all = append(all, doc.ID)
		}
		return all
	}
	const payments, disputes = "/admin/finance/payments", "/admin/finance/disputes"
	require.Equal(t, []objectid.ID{newer, older}, ids(payments, `{}`))
	require.Equal(t, []objectid.ID{older}, ids(payments, `{"gateway":"gwa","amount":{"$lt":2000}}`))
	require.Equal(t, []objectid.ID{newer}, ids(payments, `{"gateway_payment_id":"in_newer"}`))
	require.Equal(t, []objectid.ID{dispute}, ids(disputes, `{"state":"inquiry","customer_id":"`+user.ID.String()+`"}`))
	require.Empty(t, ids(disputes, `{"state":"open"}`))
	for _, path := range []string{payments, disputes} {
		customer.Get(path).Expect(http.StatusForbidden)
		p.Guest.Get(path).Expect(http.StatusUnauthorized)
	}
}

// TestDisputesAreSortedByWhatIsDueFirst: those without a deadline last, either way, and found by their deadline.
func TestDisputesAreSortedByWhatIsDueFirst(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	user, _ := p.NewCustomer()
	p.Unsound("disputes_have_subjects")
	dispute := func(name, due string) {
		p.Exec(`INSERT INTO payments.disputes (gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents,
				state, native_status, evidence_due_at, opened_at, reported_at, created_at, updated_at)
			VALUES ('gwb', $1, 'pi_' || $1, 'customer', $2, $2, 2990, 'open', 'needs_response', nullif($3, '')::timestamptz, now(), now(), now(), now())`,
			name, user.ID, due)
	}
	dispute("later", "2030-01-02T00:00:00Z")
	dispute("untold", "")
	dispute("sooner", "2030-01-01T00:00:00Z")
	read := func(query, sort string) (names []string) {
		var list struct {
			Docs []struct {
				Name  string  `json:"gateway_dispute_id"`
				DueAt *string `json:"evidence_due_at"`
				Sent  bool    `json:"evidence_sent"`
			}
		}
		p.Admin().Get("/admin/finance/disputes?" + url.Values{"query": {query}, "sort": {sort}}.Encode()).
			Expect(http.StatusOK).JSON(&list)
		for _, doc := range list.Docs {
			require.Equal(t, doc.Name == "untold", doc.DueAt == nil)
			require.False(t, doc.Sent)
			names = append(names, doc.Name)
		}
		return names
	}
	require.Equal(t, []string{"sooner", "later", "untold"}, read(`{}`, `{"evidence_due_at":1}`))
	require.Equal(t, []string{"later", "sooner", "untold"}, read(`{}`, `{"evidence_due_at":-1}`))
	require.Equal(t, []string{"sooner"}, read(`{"evidence_due_at":{"$lt":"2030-01-01T12:00:00Z"}}`, ""))
	require.Equal(t, []string{"untold"}, read(`{"evidence_due_at":null}`, ""))
}

// TestARefundSaysWhatIsNext: by its state, why it failed and where, and what has become of its payment since.
func TestARefundSaysWhatIsNext(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	user, _ := p.NewCustomer()
	p.Unsound("refunds_within_payments", "refunds_answered", "unapplied_match_ledger", "refunds_have_subjects")
	refund := func(payment, gateway, status, failure string) {
		p.Exec(`INSERT INTO payments.refunds (gateway, payment_ref, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type,
				failure, requested_at, refunded_at, created_at, updated_at)
			VALUES ($1, $2, 'customer', $3, $3, 100, $4, 'admin', 'REFUND', 'REFUND', nullif($5, ''), clock_timestamp(),
				CASE WHEN $4 = 'done' THEN now() END, now(), now())`, gateway, payment, user.ID, status, failure)
	}
	failed := "The gateway reports that the refund failed."
	want := map[string]string{}
	for i, tc := range []struct {
		gateway, status, failure string
		next                     string
	}{
		{"gwa", "requested", "", "awaiting_answer"},
		{"gwb", "pending", "", "awaiting_webhook"},
		{"gwb", "done", "", "nothing_left_to_do"},
		{"gwb", "failed", "Your card was odd.", "read_and_refund_again"},
		{"gwa", "failed", "", "read_and_refund_again"},
		{"gwa", "failed", failed, "fund_and_refund_again"},
		{"gwb", "failed", failed, "pay_by_hand"},
		{"gwa", "failed", "The payment is disputed: its money is with the payer's bank.", "awaiting_dispute"},
		{"gwa", "failed", "The gateway was not available: nothing was requested. 503", "refund_again"},
		{"gwb", "failed", "The gateway no longer counts it.", "compare_with_gateway"},
		{"gwb", "failed", "It was a dispute, and is recorded as one.", "nothing_left_to_do"},
	} {
		payment := "pay_" + strconv.Itoa(i)
		refund(payment, tc.gateway, tc.status, tc.failure)
		want[payment+" "+tc.status] = tc.next
	}
	refund("pay_again", "gwa", "failed", failed)
	refund("pay_again", "gwa", "done", "")
	want["pay_again failed"], want["pay_again done"] = "asked_for_again", "nothing_left_to_do"
	refund("pay_other", "gwb", "failed", failed) // the same payment's name at the other gateway
	refund("pay_other", "gwa", "done", "")
	want["pay_other failed"], want["pay_other done"] = "pay_by_hand", "nothing_left_to_do"
	refund("pay_case", "gwa", "failed", failed)
	p.Exec(`INSERT INTO payments.unapplied_payments (kind, gateway, subject, gateway_payment_id, customer_id, amount_cents, paid_at, created_at, updated_at)
		VALUES ('unrefundable', 'gwa', 'pay_case', 'pay_case', $1, 100, now(), now(), now())`, user.ID)
	want["pay_case failed"] = "decide_unapplied"
	p.Exec(`INSERT INTO payments.intents (id, kind, subject_id, gateway, reference, next_look_at, created_at)
		SELECT platform.new_object_id(), 'refund', id, gateway, id, '2030-01-01', now() FROM payments.refunds WHERE status = 'requested'`)

	var list struct {
		Docs []struct {
			Payment     string  `json:"payment_id"`
			Status      string  `json:"status"`
			Next        string  `json:"next_step"`
			NextCheckAt *string `json:"next_check_at"`
		}
	}
	p.Admin().Get("/admin/finance/refunds?qty_docs_page=100").Expect(http.StatusOK).JSON(&list)
	got := map[string]string{}
	for _, doc := range list.Docs {
		got[doc.Payment+" "+doc.Status] = doc.Next
		require.Equal(t, doc.Status == "requested", doc.NextCheckAt != nil, doc.Payment)
	}
	require.Equal(t, want, got)
	p.Admin().Get("/admin/finance/refunds?" + url.Values{"query": {`{"next_step":"pay_by_hand"}`}}.Encode()).
		Expect(http.StatusOK).JSON(&list)
	require.Len(t, list.Docs, 2)
}

// TestReconciliationsAreListed: one that runs, one that has ended, one with failures, and one that died and is not called
// running for ever; what each found is found by it.
func TestReconciliationsAreListed(t *testing.T) {
	t.Parallel()
	p := platformtest.New(t)
	_, customer := p.NewCustomer()
	run := func(starter, ended string, failed int, silent string) objectid.ID {
		return p.Insert(`INSERT INTO payments.reconcile_runs (started_by, starter, dry_run, gateways, since, started_at, seen_at, ended_at, failed, updated_at)
			VALUES ('command', $1, false, '{gwa,gwb}', now() - interval '2 days', now() - interval '1 hour', now() - $4::interval, nullif($2, '')::timestamptz, $3, now())`,
			starter, ended, failed, silent)
	}
	alive, died := run("alive", "", 0, "90 seconds"), run("died", "", 0, "3 minutes")
	run("ended", "2100-01-01", 0, "1 hour")
	run("failures", "2100-01-01", 2, "1 hour")
	p.Exec(`INSERT INTO payments.reconcile_findings (run_id, gateway, kind, verdict, gateway_object_id, was, became, found_at)
		VALUES ($1, 'gwa', 'missed_payment', 'repaired', 'pay_1', '{"paid": 0}', '{"paid": 4990}', now()),
			($2, 'gwb', 'unshown_refund', 'unknown', 'pay_2', NULL, NULL, now())`, died, alive)
	const runs, findings = "/admin/finance/reconciliations", "/admin/finance/reconciliation-findings"
	var list struct {
		Docs []struct {
			Starter, State string
			Gateways       []string
		}
	}
	p.Admin().Get(runs).Expect(http.StatusOK).JSON(&list)
	states := map[string]string{}
	for _, doc := range list.Docs {
		states[doc.Starter] = doc.State
		require.Equal(t, []string{"gwa", "gwb"}, doc.Gateways)
	}
	require.Equal(t, map[string]string{
		"alive": "running", "died": "not_ended", "ended": "ended", "failures": "ended_with_failures",
	}, states)
	p.Admin().Get(runs + "?" + url.Values{"query": {`{"state":"not_ended"}`}}.Encode()).Expect(http.StatusOK).JSON(&list)
	require.Len(t, list.Docs, 1)

	var found struct {
		Docs []struct {
			Object      string         `json:"gateway_object_id"`
			Was, Became map[string]any `json:",omitempty"`
		}
	}
	p.Admin().Get(findings + "?" + url.Values{"query": {`{"run_id":"` + died.String() + `"}`}}.Encode()).
		Expect(http.StatusOK).JSON(&found)
	require.Len(t, found.Docs, 1)
	require.Equal(t, "pay_1", found.Docs[0].Object)
	require.InDelta(t, 4990, found.Docs[0].Became["paid"], 0)
	for _, path := range []string{runs, findings} {
		customer.Get(path).Expect(http.StatusForbidden)
		p.Guest.Get(path).Expect(http.StatusUnauthorized)
	}
}
