package subscriptions_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions"
	"marquee/platform/objectid"
	"marquee/testutil/sandbox/stage"
)

// passTime moves both clocks on, lets the webhooks come, and does what is due.
func passTime(t *testing.T, b *bundle, by time.Duration) {
	t.Helper()
	b.clock.Advance(by)
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(b.clock.Now().Sub(b.gateways.Sandbox.GWA.Now())))
	b.settle(t)
	require.NoError(t, b.service.Sweep(t.Context()))
	b.settle(t)
}

// passToEvening passes time until half past nine in the evening of the day, which lies so
// many days after the debit's due date: what the bank gave up is known, and what is to
// be ordered for tomorrow can be.
func passToEvening(t *testing.T, b *bundle, after int) {
	t.Helper()
	var due time.Time
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT max(due_date) FROM subscriptions.debits").Scan(&due))
	at := time.Date(due.Year(), due.Month(), due.Day()+after, 21, 10, 0, 0, reportZone(t))
	for at.After(b.clock.Now()) {
		passTime(t, b, min(at.Sub(b.clock.Now()), 24*time.Hour))
	}
	passTime(t, b, 20*time.Minute) // the sweep leaves what is new to its job
}

// refusedDebit is an automatic PIX whose next debit is ordered, and refused by the bank on so
// many days, as of the evening of the first.
func refusedDebit(t *testing.T, b *bundle, reason string, days int) (id objectid.ID, debit string) {
	t.Helper()
	id, _, debit = b.debited(t)
	_, err := b.gateways.Sandbox.GWA.RefuseDebits(debit, reason, days)
	require.NoError(t, err)
	passToEvening(t, b, 0)
	return id, debit
}

// debitRetries are those of the newest debit, such as "1 refused INSUFFICIENT_FUNDS".
func debitRetries(t *testing.T, b *bundle) []string {
	t.Helper()
	rows, err := b.db.Query(t.Context(), `SELECT concat_ws(' ', r.retry_date - d.due_date, r.state, r.reason)
		FROM subscriptions.debit_retries r JOIN subscriptions.debits d USING (subscription_id, cycle) ORDER BY r.retry_date`)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return all
}

func paymentFailures(t *testing.T, b *bundle, id objectid.ID) int {
	t.Helper()
	return column[int](t, b, id, "payment_failures")
}

const noFunds = "INSUFFICIENT_FUNDS"

func TestRefusedDebitIsTakenOnOneOfThreeDays(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		days    int // on which the bank refuses
		after   int
		retries []string
	}{
		{"on the day after", 1, 1, []string{"1 paid paid", "3 dropped paid", "6 dropped paid"}},
		{"on the third", 2, 3, []string{"1 refused " + noFunds, "3 paid paid", "6 dropped paid"}},
		{"on the sixth", 3, 6, []string{"1 refused " + noFunds, "3 refused " + noFunds, "6 paid paid"}},
		{"never", 4, 8, []string{"1 refused " + noFunds, "3 refused " + noFunds, "6 refused " + noFunds}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, debit := refusedDebit(t, b, "", tc.days)
			require.Equal(t, []string{"1 ordered", "3 planned", "6 planned"}, debitRetries(t, b))
			require.Equal(t, 1, paymentFailures(t, b, id))
			next := column[time.Time](t, b, id, "next_billing_date")
			passToEvening(t, b, tc.after)
			require.Equal(t, tc.retries, debitRetries(t, b))
			if tc.days == 2 {
				require.Equal(t, []string{
					">planned debit_failed: the debit failed", "planned>ordered order_taken: taken by the gateway", "ordered>refused bank_refused: " + noFunds,
					">planned debit_failed: the debit failed", "planned>ordered order_taken: taken by the gateway", "ordered>paid debit_paid: paid",
					">planned debit_failed: the debit failed", "planned>dropped debit_paid: paid",
				}, b.orderHistory(t, "debit_retry", id))
			}
			paid, owed := 1, 0
			if tc.days == 4 {
				paid, owed = 0, 1
			}
			require.Equal(t, paid,
				b.count(t,
					"SELECT count(*) FROM payments.payments WHERE gateway_payment_id = $1 AND amount_cents = 4990",
					debit))
			require.Equal(t, owed, paymentFailures(t, b, id), "one failure a cycle")
			require.Equal(t, 1, b.count(t,
				"SELECT count(*) FROM payments.failed_attempts WHERE gateway_payment_id = $1", debit))
			require.Equal(t, "active", b.status(t, id))
			require.Equal(t, next, column[time.Time](t, b, id, "next_billing_date"), "the cycle keeps its beginning")
		})
	}
}

func TestPermanentRefusalIsNotRetried(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"ACCOUNT_CLOSED", "PAYER_CPF_CNPJ_MISMATCH"} {
		b := setup(t)
		id, debit := refusedDebit(t, b, reason, 1)
		require.Empty(t, debitRetries(t, b))
		require.Equal(t, reason,
			b.text(t, "SELECT failure FROM subscriptions.debits WHERE gateway_payment_id = $1", debit))
		require.Equal(t, 1, paymentFailures(t, b, id))
		require.NotContains(t, b.mails.Mails()[0].Text, "Tentaremos de novo")
	}
}

func TestRetryThatIsRefusedForGoodEndsTheOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, debit := refusedDebit(t, b, "", 1)
	_, err := b.gateways.Sandbox.GWA.RefuseDebits(debit, "ACCOUNT_CLOSED", 1)
	require.NoError(t, err)
	passToEvening(t, b, 1)
	require.Equal(t, []string{"1 refused ACCOUNT_CLOSED", "3 dropped ACCOUNT_CLOSED", "6 dropped ACCOUNT_CLOSED"},
		debitRetries(t, b))
}

// TestPayerTakesADebitBack: the period is a failure, told with a PIX that pays it; the
// authorization and the next debit go on.
func TestPayerTakesADebitBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _, debit := b.debited(t)
	_, err := b.gateways.Sandbox.GWA.CancelDebit(debit, "")
	require.NoError(t, err)
	passTime(t, b, time.Minute)
	require.Equal(t, 1, paymentFailures(t, b, id))
	require.Equal(t, "active", b.status(t, id))
	require.Empty(t, debitRetries(t, b))
	require.Equal(t, "REQUESTED_BY_PAYER_USER",
		b.text(t, "SELECT failure FROM subscriptions.debits WHERE gateway_payment_id = $1", debit))
	require.Len(t, b.mails.Mails(), 1)
	code := pixCode(t, b, debit)
	require.Contains(t, b.mails.Mails()[0].Text, code)
	require.Contains(t, b.mails.Mails()[0].HTML, code)
	passToEvening(t, b, 4)
	require.Equal(t, 1, paymentFailures(t, b, id), "its due date tells no other failure")
	_, err = b.gateways.Sandbox.GWA.PayPIX(code)
	require.NoError(t, err)
	passTime(t, b, time.Minute)
	require.Zero(t, paymentFailures(t, b, id))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.debits WHERE paid_at IS NOT NULL"))
	next := column[time.Time](t, b, id, "next_billing_date")
	passTime(t, b, next.AddDate(0, 0, -3).Sub(b.clock.Now()))
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM subscriptions.debits"), "the next cycle is debited as ever")
	require.Len(t, mailSubjects(b), 3, "of the days 0, 3 and 7 after it was taken back")
}

// TestPayerTakesARetryBack: the mail that said that the bank is asked again is followed
// by one with the PIX that pays the period, which GET /customers/me/pix-qr shows, too.
func TestPayerTakesARetryBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, debit := refusedDebit(t, b, "", 1)
	require.Len(t, b.mails.Mails(), 1)
	require.Contains(t, b.mails.Mails()[0].Text, "Tentaremos de novo")
	b.expect(t, 404, http.MethodGet, "/customers/me/pix-qr", nil)
	_, err := b.gateways.Sandbox.GWA.CancelDebit(debit, "")
	require.NoError(t, err)
	passTime(t, b, time.Minute)
	require.Equal(t, []string{
		"1 refused REQUESTED_BY_PAYER_USER", "3 dropped REQUESTED_BY_PAYER_USER",
		"6 dropped REQUESTED_BY_PAYER_USER",
	}, debitRetries(t, b))
	require.Equal(t, 1, paymentFailures(t, b, id), "one failure a cycle")
	require.Len(t, b.mails.Mails(), 2)
	code, status := pixCode(t, b, debit), 0
	for _, m := range b.mails.Mails() {
		if strings.Contains(m.Text, code) {
			status++
		}
	}
	require.Equal(t, 1, status)
	require.Equal(t, code, b.expect(t, 200, http.MethodGet, "/customers/me/pix-qr", nil)["pix"].(object)["qr_code"])
	_, err = b.gateways.Sandbox.GWA.PayPIX(code)
	require.NoError(t, err)
	passTime(t, b, time.Minute)
	require.Zero(t, paymentFailures(t, b, id))
	b.expect(t, 404, http.MethodGet, "/customers/me/pix-qr", nil)
	passToEvening(t, b, 9)
	require.Len(t, b.mails.Mails(), 2)
}

// pixCode is the PIX code of a payment, as the gateway shows it.
func pixCode(t *testing.T, b *bundle, payment string) string {
	t.Helper()
	c, err := b.gateways.A.ReadPix(t.Context(), payment, objectid.ID(""))
	require.NoError(t, err)
	return c.Payload
}

func TestDebitPaidBeforeItsDayIsNoFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _, debit := b.debited(t)
	_, err := b.gateways.Sandbox.GWA.PayPIX(pixCode(t, b, debit))
	require.NoError(t, err)
	passToEvening(t, b, 4)
	require.Zero(t, paymentFailures(t, b, id))
	require.Empty(t, mailSubjects(b))
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments"))
}

// TestLastFailureBeforeItsPeriodKeepsWhatIsPaid: the payer takes the debit back days
// before the period begins, and that is the failure that suspends.
func TestLastFailureBeforeItsPeriodKeepsWhatIsPaid(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *subscriptions.Config) { c.MaxPaymentFailures = 1 })
	id, _, debit := b.debited(t)
	_, err := b.gateways.Sandbox.GWA.CancelDebit(debit, "")
	require.NoError(t, err)
	passTime(t, b, time.Minute)
	require.True(t, b.access(t), "the present period is paid")
	passToEvening(t, b, 4)
	require.Equal(t, "suspended", b.status(t, id))
	require.Equal(t, 1, paymentFailures(t, b, id))
}

// TestADebitThatFailsBeforeItsPeriodLeavesWhatIsPaid: the payer takes the debit back while
// the period before it runs, which is paid until its end whatever is debited next.
func TestADebitThatFailsBeforeItsPeriodLeavesWhatIsPaid(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *bundle, t *testing.T, paid time.Time, id objectid.ID){
		"at the end of the period": func(b *bundle, t *testing.T, paid time.Time, id objectid.ID) {
			b.expect(t, 200, http.MethodDelete, "/customers/me/subscription?at=period_end", nil)
			require.WithinDuration(t, paid, column[time.Time](t, b, id, "expires_at"), time.Second)
			passTime(t, b, time.Minute)
			require.True(t, b.access(t), "also once the gateway tells that it has ended there")
			mails := len(b.mails.Mails())
			passTime(t, b, paid.Sub(b.clock.Now())+time.Hour)
			require.Equal(t, "expired", b.status(t, id))
			require.Len(t, b.mails.Mails(), mails, "nobody is asked for a period that was given up")
		},
		"at once": func(b *bundle, t *testing.T, paid time.Time, id objectid.ID) {
			message := b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)["message"]
			require.Contains(t, message, paid.In(reportZone(t)).Format(time.DateOnly), "the days that are given up")
		},
		"once the period has begun": func(b *bundle, t *testing.T, paid time.Time, id objectid.ID) {
			passTime(t, b, paid.Sub(b.clock.Now())+24*time.Hour)
			require.Equal(t, "active", b.status(t, id))
			b.expect(t, 409, http.MethodDelete, "/customers/me/subscription?at=period_end", nil)
		},
		"extended": func(b *bundle, t *testing.T, _ time.Time, id objectid.ID) {
			b.admin(t).Post("/admin/subscriptions/"+id.String()+"/extend", object{"days": 40}).Expect(200)
			next := column[time.Time](t, b, id, "next_billing_date")
			b.expect(t, 200, http.MethodDelete, "/customers/me/subscription?at=period_end", nil)
			require.WithinDuration(t, next, column[time.Time](t, b, id, "expires_at"), time.Second,
				"what an admin gives counts")
		},
		"renewed by card": func(b *bundle, t *testing.T, paid time.Time, id objectid.ID) {
			next := renewed(b.expect(t, 200, http.MethodPut, renewPath, goodCard()))
			require.WithinDuration(t, paid, column[time.Time](t, b, next, "starts_at"), time.Second,
				"nothing is charged for what is paid")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, _, debit := b.debited(t)
			paid := column[time.Time](t, b, id, "next_billing_date")
			_, err := b.gateways.Sandbox.GWA.CancelDebit(debit, "")
			require.NoError(t, err)
			passTime(t, b, time.Minute)
			require.Equal(t, 1, paymentFailures(t, b, id))
			end(b, t, paid, id)
		})
	}
}

func TestRetriesOfASuspendedSubscriptionOpenItAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *subscriptions.Config) { c.MaxPaymentFailures = 1 })
	id, _ := refusedDebit(t, b, "", 1)
	require.Equal(t, "suspended", b.status(t, id))
	passToEvening(t, b, 1)
	require.Equal(t, "active", b.status(t, id))
	require.True(t, b.access(t))
}

func TestNoRetryOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		happen func(t *testing.T, b *bundle, id objectid.ID)
		want   []string
	}{
		"what was cancelled": {func(t *testing.T, b *bundle, _ objectid.ID) {
			b.expect(t, 200, http.MethodDelete, "/customers/me/subscription", nil)
		}, []string{"1 refused INSUFFICIENT_FUNDS", "3 dropped ended", "6 dropped ended"}},
		"disputed money": {func(t *testing.T, b *bundle, id objectid.ID) {
			b.admin(t).Post("/subscriptions/"+id.String()+"/chargeback", object{"reason": "told by the bank"}).
				Expect(200)
			b.runDueStatusChecks(t)
		}, []string{
			"1 refused INSUFFICIENT_FUNDS", "3 dropped the money is disputed", "6 dropped the money is disputed",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, _ := refusedDebit(t, b, "", 4)
			passToEvening(t, b, 1)
			b.listen()
			tc.happen(t, b, id)
			passToEvening(t, b, 7)
			require.Equal(t, tc.want, debitRetries(t, b))
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM payments.payments"))
		})
	}
}

// TestRetryIsFoundBeforeItIsOrderedAgain: the answer to an order is lost.
func TestRetryIsFoundBeforeItIsOrderedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _, debit := b.debited(t)
	_, err := b.gateways.Sandbox.GWA.FailDebit(debit)
	require.NoError(t, err)
	faults := b.gateways.Sandbox.GWA.Stage().Faults
	require.NoError(t, faults.Plan(stage.Fault{
		Method: http.MethodPost, Path: "/v3/pix/automatic/paymentInstructions", Kind: stage.FaultResetAfter, Times: 1,
	}))
	var due time.Time
	require.NoError(t, b.db.QueryRow(t.Context(), "SELECT due_date FROM subscriptions.debits").Scan(&due))
	at := time.Date(due.Year(), due.Month(), due.Day(), 21, 0, 0, 0, reportZone(t))
	b.clock.Advance(at.Sub(b.clock.Now()))
	require.NoError(t, b.gateways.Sandbox.GWA.Advance(at.Sub(b.gateways.Sandbox.GWA.Now())))
	b.settle(t)
	b.clock.Advance(20 * time.Minute)
	require.NoError(t, b.service.Sweep(t.Context()))
	require.Equal(t, []string{"1 planned", "3 planned", "6 planned"}, debitRetries(t, b))
	require.Equal(t, 1, b.count(t,
		"SELECT count(*) FROM payments.intents WHERE kind = 'debit_retry' AND state = 'open' AND subject_id = $1", id),
		"its outcome is not known")
	b.runStatusChecks(t, 10*time.Second)
	require.Equal(t, []string{"1 ordered", "3 planned", "6 planned"}, debitRetries(t, b))
	passToEvening(t, b, 1)
	require.Equal(t, []string{"1 paid paid", "3 dropped paid", "6 dropped paid"}, debitRetries(t, b))
	require.Zero(t, paymentFailures(t, b, id))
}

// TestRefusalsThatAreNotTold: the webhooks of the retries are lost, and the next retry
// reads what became of the last.
func TestRefusalsThatAreNotTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	refusedDebit(t, b, "", 2)
	b.gateways.Sandbox.GWA.Stage().Webhooks.Hold("PIX_AUTOMATIC_RECURRING_PAYMENT_INSTRUCTION_REFUSED")
	passToEvening(t, b, 3)
	require.Equal(t, []string{"1 refused " + noFunds, "3 paid paid", "6 dropped paid"}, debitRetries(t, b))
}

// TestLateMoneyOfAnEarlierPeriodLeavesALaterFailureOpen: what is paid late is booked, and
// the period that is still owed goes on being so.
func TestLateMoneyOfAnEarlierPeriodLeavesALaterFailureOpen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, first := refusedDebit(t, b, "", 4)
	passToEvening(t, b, 8)
	next := column[time.Time](t, b, id, "next_billing_date")
	passTime(t, b, next.AddDate(0, 0, -4).Sub(b.clock.Now()))
	second := b.text(t, "SELECT gateway_payment_id FROM subscriptions.debits WHERE gateway_payment_id <> $1", first)
	_, err := b.gateways.Sandbox.GWA.RefuseDebits(second, "", 4)
	require.NoError(t, err)
	passToEvening(t, b, 8)
	require.Equal(t, 2, paymentFailures(t, b, id))
	after := column[time.Time](t, b, id, "next_billing_date")
	_, err = b.gateways.Sandbox.GWA.Pay(first)
	require.NoError(t, err)
	passTime(t, b, time.Minute)
	require.Equal(t, 2, paymentFailures(t, b, id), "the later period is still owed")
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.debits WHERE paid_at IS NOT NULL"))
	_, err = b.gateways.Sandbox.GWA.Pay(second)
	require.NoError(t, err)
	passTime(t, b, time.Minute)
	require.Zero(t, paymentFailures(t, b, id))
	require.Equal(t, after, column[time.Time](t, b, id, "next_billing_date"))
}

// TestExtensionOrdersNoSecondDebit: an admin gives days away while the debit of the
// period is under way.
func TestExtensionOrdersNoSecondDebit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _, _ := b.debited(t)
	b.admin(t).Post("/admin/subscriptions/"+id.String()+"/extend", object{"days": 3}).Expect(200)
	passTime(t, b, time.Hour)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.debits"))
	passToEvening(t, b, 4)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM subscriptions.debits"))
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM payments.payments"))
}
