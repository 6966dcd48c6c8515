package subscriptions_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/paymentstest"
	"marquee/platform/objectid"
	"marquee/testutil/pgtest"
	"marquee/testutil/sandbox"
	"marquee/testutil/sandbox/stage"
	"marquee/testutil/soak"
)

// race is what happens at once to one customer's money, with the guards that keep
// it to one effect.
type race struct {
	round func(t *testing.T, b *bundle) (fault string) // for a new customer; "" when all is well
	// What takes the guards away: of the product's queries, of the schema, and at the
	// gateway.
	queries [][2]string
	schema  []string
	gateway func(t *testing.T, b *bundle)
}

// The guards of this module's writes: the customer and the row are locked, the
// state is compared and set. Where two writers have to meet between reading and
// writing, the schema is made to linger there.
var (
	locks = [][2]string{
		{"WHERE id = $1 FOR UPDATE", "WHERE id = $1"}, {"deleted_at IS NULL FOR NO KEY UPDATE", "deleted_at IS NULL"},
	}
	locksAndStates = append([][2]string{{"WHERE id = $1 AND status = $2", "WHERE id = $1 AND $2 <> ''"}}, locks...)
)

const (
	withoutOneLive    = "DROP INDEX subscriptions.subscriptions_one_live_per_customer"
	withoutOneRenewal = "DROP INDEX subscriptions.subscriptions_one_renewal_per_customer"
	withoutLedger     = "ALTER TABLE payments.payments DROP CONSTRAINT payments_one_row_per_gateway_payment"
	withoutEvents     = "ALTER TABLE payments.processed_events DROP CONSTRAINT processed_events_one_row_per_gateway_event"
)

func linger(operation, table string) string {
	return `CREATE FUNCTION public.linger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END';
		CREATE TRIGGER linger BEFORE ` + operation + ` ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION public.linger()`
}

var races = map[string]race{
	"subscribes at one gateway": {
		round: func(t *testing.T, b *bundle) string {
			return oneOf(t, b, http.StatusCreated,
				subscribesAt(b, "/gwb/subscribe", "/gwb/subscribe", "/gwb/subscribe"))
		},
		queries: locks, schema: []string{withoutOneLive, linger("INSERT", "subscriptions.subscriptions")},
	},
	"subscribes at both gateways": {
		round: func(t *testing.T, b *bundle) string {
			return oneOf(t, b, http.StatusCreated,
				subscribesAt(b, "/gwa/subscribe", "/gwb/subscribe", "/gwa/subscribe/pix", "/gwb/subscribe/pix"))
		},
		queries: locks, schema: []string{withoutOneLive, linger("INSERT", "subscriptions.subscriptions")},
	},
	"renewals": {
		round: func(t *testing.T, b *bundle) string {
			// Nothing is told of what is renewed while it is made: without the guards that alone
			// ends in a deadlock at times.
			b.gateways.Sandbox.SetWebhooks(sandbox.Webhooks{})
			old := idOf(b.expect(t, http.StatusCreated, http.MethodPost, "/gwb/subscribe",
				gwbCard(paymentstest.TokenApproved)))
			require.Equal(t, "active", b.status(t, old))
			renew := func(t *testing.T) int {
				status, _ := b.call(t, http.MethodPut, renewPath,
					object{"payment_method_id": paymentstest.TokenApproved})
				return status
			}
			var fault string
			allWaiting(t, b, 3, func() {
				fault = oneOf(t, b, http.StatusOK, []func(*testing.T) int{renew, renew, renew})
			})
			b.settle(t)
			if fault == "" && b.status(t, old) != "cancelled" {
				fault = "the old one goes on"
			}
			return fault
		},
		queries: locksAndStates,
		schema:  []string{withoutOneLive, withoutOneRenewal, linger("INSERT OR UPDATE", "subscriptions.subscriptions")},
	},
	"refunds in part": {
		round: func(t *testing.T, b *bundle) string {
			id, admin := b.paidGWA(t), b.admin(t)
			atOnce(3, func(int) {
				// One that is not answered yet keeps the others waiting: 409. Without the guards one
				// may stay so until its gateway is asked again.
				status := http.StatusConflict
				for tries := 0; status == http.StatusConflict && tries < 100; tries++ {
					status = admin.Post("/admin/gwa/subscriptions/"+id.String()+"/refund",
						object{"reason": "as agreed", "value": 20.0}).Status
				}
			})
			b.settle(t)
			return refundsOf(t, b, id, 4000)
		},
		queries: withoutMoneyLock, schema: []string{noLock, linger("INSERT", "payments.refunds")},
	},
	"refunds of all, and their webhooks": {
		round: func(t *testing.T, b *bundle) string {
			id, admin := b.paidGWB(t), b.admin(t)
			paths := []string{
				"/admin/gwb/subscriptions/" + id.String() + "/refund", "/subscriptions/" + id.String() + "/refund",
			}
			atOnce(4, func(i int) { admin.Post(paths[i%2], object{"reason": "as agreed"}) })
			b.settle(t)
			return refundsOf(t, b, id, 4990)
		},
		queries: withoutMoneyLock, schema: []string{noLock, linger("INSERT", "payments.refunds")},
	},
	"a refund and a chargeback": {
		round: func(t *testing.T, b *bundle) string {
			refund, chargeback, _ := takings(t, b, b.paidGWB(t))
			var statuses [2]int
			together(func() { statuses[0] = refund() }, func() { statuses[1] = chargeback() })
			b.settle(t)
			if statuses == [2]int{http.StatusOK, http.StatusOK} {
				return "both took all of the payment"
			}
			return ""
		},
		queries: withoutMoneyLock, schema: []string{noLock, linger("INSERT", "payments.disputes")},
	},
	"the answer and its webhooks": {
		round: func(t *testing.T, b *bundle) string {
			b.listen()
			id := idOf(b.expect(t, http.StatusCreated, http.MethodPost, "/gwb/subscribe",
				gwbCard(paymentstest.TokenApproved)))
			b.settle(t)
			return openedOnce(t, b, id)
		},
		queries: locksAndStates, schema: []string{withoutLedger, linger("UPDATE", "subscriptions.subscriptions")},
	},
	"the recovery and the webhooks": {
		round: func(t *testing.T, b *bundle) string {
			b.gateways.Sandbox.GWB.Stage().Webhooks.Hold("*")
			b.listen()
			lose(t, b.gateways.Sandbox.GWB.Stage(), stage.FaultResetAfter, "/v1/subscriptions")
			id := idOf(b.expect(t, http.StatusCreated, http.MethodPost, "/gwb/subscribe",
				gwbCard(paymentstest.TokenApproved)))
			b.gateways.Sandbox.GWB.Stage().Faults.Clear()
			together(
				func() { b.gateways.Sandbox.GWB.Stage().Webhooks.Release() },
				func() { _ = b.service.Recover(t.Context(), id) }, // the loser of the race is told, and comes again
			)
			b.settle(t)
			return openedOnce(t, b, id)
		},
		queries: locksAndStates, schema: []string{withoutLedger, linger("UPDATE", "subscriptions.subscriptions")},
	},
	"deliveries of a payment": {
		round: func(t *testing.T, b *bundle) string {
			id := idOf(b.expect(t, http.StatusCreated, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
			event := objectid.New().String()
			atOnce(6, func(i int) { // one event three times, and what tells of the same money
				deliverGWA(t, b, fmt.Sprintf("evt_%s&%d", event, max(0, i-2)),
					[]string{"PAYMENT_RECEIVED", "PAYMENT_CONFIRMED"}[i%2], id)
			})
			return openedOnce(t, b, id)
		},
		queries: locksAndStates,
		schema:  []string{withoutLedger, withoutEvents, linger("UPDATE", "subscriptions.subscriptions")},
	},
	"a payment and the job that gives it up": {
		round: func(t *testing.T, b *bundle) string {
			b.listen()
			id := idOf(b.expect(t, http.StatusCreated, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
			code := column[string](t, b, id, "pix_payload")
			b.set(t, id, "pix_expires_at = $2", b.clock.Now()) // now
			var paid error
			together(
				func() { _, paid = b.gateways.Sandbox.GWA.PayPIX(code) },
				func() {
					awaitLingering(t, b)
					_ = b.service.DropPix(t.Context(), id)
				},
			)
			b.settle(t)
			switch status := b.status(t, id); {
			case paid == nil && status != "active":
				return "paid, and " + status
			case paid != nil && status != "cancelled":
				return "unpaid, and " + status
			}
			return ""
		},
		queries: locksAndStates, schema: []string{linger("UPDATE", "subscriptions.subscriptions")},
		gateway: func(t *testing.T, b *bundle) { // the code stays payable
			for _, f := range []stage.Fault{
				{Method: http.MethodDelete, Path: "/v3/payments", Status: http.StatusNotFound},
				{
					Method: http.MethodGet, Path: "/v3/payments", Suffix: "/v3/payments", Status: http.StatusOK,
					Body: `{"object":"list","totalCount":0,"data":[]}`,
				},
			} {
				f.Kind, f.Times = stage.FaultStatus, manyTimes
				require.NoError(t, b.gateways.Sandbox.GWA.Stage().Faults.Plan(f))
			}
		},
	},
	"a payment and the job that ends the period": {
		round: func(t *testing.T, b *bundle) string {
			b.listen()
			id := idOf(b.expect(t, http.StatusCreated, http.MethodPost, "/gwa/subscribe/pix", object{"plan_id": plan}))
			deliverGWA(t, b, "evt_"+objectid.New().String(), "PAYMENT_RECEIVED", id)
			b.set(t, id, "expires_at = $2", b.clock.Now()) // now
			together(
				func() {
					again := forgedLate(b, id, "pay_again"+id.String())
					again.Type = gateway.Reconciled // the gateway was asked
					editPayment(&again, func(p *gateway.Payment) { p.Method = gateway.MethodPix })
					b.apply(t, again)
				},
				func() {
					awaitLingering(t, b)
					_ = b.service.Expire(t.Context(), id)
				},
			)
			status := b.status(t, id)
			if status != "active" || !b.access(t) {
				return "paid anew, and " + status
			}
			return ""
		},
		queries: locksAndStates, schema: []string{linger("UPDATE", "subscriptions.subscriptions")},
	},
	"debits of a cycle": {
		round: func(t *testing.T, b *bundle) string {
			id, _ := b.authorized(t)
			b.set(t, id, "next_billing_date = $2", b.clock.Now().AddDate(0, 0, 3))
			atOnce(4, func(int) { _ = b.service.Debit(t.Context(), id) })
			debits := 0
			for _, c := range b.gateways.Charges(t) {
				if c.LocalID == id {
					debits++
				}
			}
			if debits != 1 {
				return fmt.Sprintf("%d debits of one cycle", debits)
			}
			return ""
		},
		queries: [][2]string{
			{"WHERE debits.gateway_payment_id IS NULL AND debits.tried_at <=", "WHERE '-infinity' <="},
			{"SET tried_at = excluded.tried_at", "SET tried_at = debits.tried_at"},
		},
		schema: []string{"DROP INDEX payments.intents_one_open"},
	},
}

// allWaiting makes so many requests, none of which goes on before all have come: they wait for the lock on the
// customer, or, without locks, what the first asks the gateway for takes a while.
func allWaiting(t *testing.T, b *bundle, requests int, send func()) {
	t.Helper()
	b.listen()
	if b.broken {
		faults := b.gateways.Sandbox.GWB.Stage().Faults
		require.NoError(t, faults.Plan(stage.Fault{
			Method: http.MethodPost, Path: "/v1/subscriptions", Kind: stage.FaultDelay,
			Delay: stage.Duration(300 * time.Millisecond), Times: manyTimes,
		}))
		send()
		faults.Clear()
		return
	}
	b.settle(t) // a webhook waits for the lock, too
	tx, err := b.db.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), "SELECT 1 FROM accounts.users WHERE id = $1 FOR UPDATE", b.customer.ID)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		send()
	}()
	eventually(t, "all wait for the lock", func() bool { // seen by this session: they take all others of the pool
		var waiting int
		return tx.QueryRow(t.Context(),
			`SELECT count(DISTINCT w.pid) FROM pg_locks w
			JOIN pg_locks h ON h.pid = w.pid JOIN pg_database d ON d.oid = h.database
			WHERE NOT w.granted AND d.datname = current_database()`).Scan(&waiting) == nil && waiting == requests
	})
	require.NoError(t, tx.Rollback(t.Context()))
	<-done
}

// awaitLingering returns when somebody lingers between reading and writing, or after
// a moment; at once while the guards stand.
func awaitLingering(t *testing.T, b *bundle) {
	for until := time.Now().Add(time.Second); b.broken && time.Now().Before(until); {
		if b.count(t,
			"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'") > 0 {
			return
		}
	}
}

var withoutMoneyLock = [][2]string{
	{
		"pg_advisory_xact_lock(hashtextextended('payments.refunds/'",
		"public.no_lock_at_all(hashtextextended('payments.refunds/'",
	},
}

const noLock = "CREATE FUNCTION public.no_lock_at_all(bigint) RETURNS void LANGUAGE sql AS 'SELECT'"

func TestSoakRaces(t *testing.T) {
	t.Parallel()
	for name, r := range races {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			for range soak.Rounds(2, 500) {
				require.Empty(t, r.round(t, b))
				b.newcomer(t)
			}
		})
	}
}

// TestRacesWithoutTheirGuardsLong: each race goes wrong as soon as its guards are taken
// away, so that it is they which decide it.
func TestRacesWithoutTheirGuardsLong(t *testing.T) {
	soak.Long(t)
	t.Parallel()
	const patience = 60
	for name, r := range races {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := pgtest.DB(t)
			b := setupOn(t, pgtest.Rewritten(t, whole, r.queries...))
			b.broken = true
			for _, statement := range r.schema {
				_, err := whole.Exec(t.Context(), statement)
				require.NoError(t, err)
			}
			if r.gateway != nil {
				r.gateway(t, b)
			}
			for range patience {
				if fault := r.round(t, b); fault != "" {
					t.Log(fault)
					return
				}
				b.newcomer(t)
			}
			t.Errorf("nothing went wrong in %d rounds", patience)
		})
	}
}

// atOnce calls f so many times at the same time.
func atOnce(n int, f func(i int)) {
	calls := make([]func(), n)
	for i := range calls {
		calls[i] = func() { f(i) }
	}
	together(calls...)
}

func together(calls ...func()) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for _, call := range calls {
		wg.Go(func() {
			<-start
			call()
		})
	}
	close(start)
	wg.Wait()
}

func subscribesAt(b *bundle, paths ...string) []func(*testing.T) int {
	calls := make([]func(*testing.T) int, len(paths))
	for i, path := range paths {
		body := map[string]object{
			"/gwa/subscribe": gwaCard(paymentstest.CardApproved), "/gwb/subscribe": gwbCard(paymentstest.TokenApproved),
			"/gwa/subscribe/pix": {"plan_id": plan}, "/gwb/subscribe/pix": {"plan_id": plan},
		}[path]
		calls[i] = func(t *testing.T) int {
			status, _ := b.call(t, http.MethodPost, path, body)
			return status
		}
	}
	return calls
}

// oneOf makes the calls at once: one may succeed, the others conflict.
func oneOf(t *testing.T, b *bundle, success int, calls []func(*testing.T) int) string {
	t.Helper()
	statuses := make([]int, len(calls))
	atOnce(len(calls), func(i int) { statuses[i] = calls[i](t) })
	got := map[int]int{}
	for _, status := range statuses {
		got[status]++
	}
	live := b.count(t,
		"SELECT count(*) FROM subscriptions.subscriptions WHERE customer_id = $1 AND status IN ('pending', 'active', 'suspended')", b.customer.ID)
	if live != 1 || got[success] != 1 || got[http.StatusConflict] != len(calls)-1 {
		return fmt.Sprintf("%d live subscriptions, answers %v", live, got)
	}
	return ""
}

// refundsOf looks at what was asked back of a payment of 49.90: never more than
// was paid, also by those who were refused at last.
func refundsOf(t *testing.T, b *bundle, id objectid.ID, want int64) string {
	t.Helper()
	requested := b.count(t, "SELECT coalesce(sum(amount_cents), 0) FROM payments.refunds WHERE local_id = $1", id)
	if got := column[int64](t, b, id, "total_refunded_cents"); got != want || requested > 4990 {
		return fmt.Sprintf("asked for %d cents back and got %d", requested, got)
	}
	return ""
}

// openedOnce looks at one payment's effect: one row of the ledger, one move, and
// one period.
func openedOnce(t *testing.T, b *bundle, id objectid.ID) string {
	t.Helper()
	paid := b.count(t, "SELECT count(*) FROM payments.payments WHERE local_id = $1", id)
	moves := b.history(t, id)
	if paid != 1 || len(moves) != 2 || b.status(t, id) != "active" {
		return fmt.Sprintf("%d payments, %s, %v", paid, b.status(t, id), moves)
	}
	if expires := column[*time.Time](t, b, id, "expires_at"); expires != nil &&
		expires.After(b.clock.Now().AddDate(0, 1, 3)) {
		return fmt.Sprintf("a month that lasts until %s", expires)
	}
	return ""
}

// deliverGWA posts a webhook of gateway A about a PIX of the subscription, by the
// payment's id or that of its own code.
func deliverGWA(t *testing.T, b *bundle, event, kind string, id objectid.ID, payment ...string) {
	t.Helper()
	paid := column[string](t, b, id, "pix_payment_id")
	if len(payment) > 0 {
		paid = payment[0]
	}
	body := object{
		"id": event, "event": kind, "dateCreated": "2026-11-20 14:03:12",
		"payment": object{
			"object": "payment", "id": paid, "value": 49.9, "billingType": "PIX", "status": "RECEIVED",
			"externalReference": id,
			"paymentDate":       b.clock.Now().In(reportZone(t)).AddDate(0, 0, 1).Format(time.DateOnly),
		},
	}
	require.Equal(t, http.StatusOK,
		postWebhook(t, b, "/webhooks/gwa", "asaas-access-token", paymentstest.GWAToken, body))
}

// postWebhook posts as a gateway does and returns the status.
func postWebhook(t *testing.T, b *bundle, path, header, proof string, body object) int {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.serve().url+path, bytes.NewReader(raw))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(header, proof)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}
