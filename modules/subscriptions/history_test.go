package subscriptions_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/money"
)

// invariants are statements that count what must not be.
var invariants = map[string]string{
	"two live subscriptions of a customer": `SELECT count(*) FROM (SELECT 1 FROM subscriptions.subscriptions
		WHERE status IN ('active', 'pending', 'suspended') GROUP BY customer_id HAVING count(*) > 1) x`,
	"a history that does not end in the state": `SELECT count(*) FROM subscriptions.subscriptions s WHERE s.status <>
		(SELECT to_status FROM subscriptions.transitions t WHERE t.subscription_id = s.id ORDER BY id DESC LIMIT 1)`,
	"a history with a gap": `SELECT count(*) FROM (SELECT from_status, lag(to_status) OVER (PARTITION BY subscription_id ORDER BY id) AS before
		FROM subscriptions.transitions) x WHERE before IS NOT NULL AND from_status IS DISTINCT FROM before`,
	"a total that the ledger does not have": `SELECT count(*) FROM subscriptions.subscriptions s WHERE total_refunded_cents <>
		coalesce((SELECT sum(amount_cents) FROM payments.refunds r WHERE r.local_id = s.id AND r.status = 'done'), 0)`,
	"an ended one without an instant": `SELECT count(*) FROM subscriptions.subscriptions WHERE (ended_at IS NULL) = (status IN ('cancelled', 'expired'))`,
	"an active one that is disputed": `SELECT count(*) FROM subscriptions.subscriptions s WHERE status = 'active' AND EXISTS (
		SELECT 1 FROM payments.disputes d WHERE d.local_id = s.id AND d.state = 'open')`,
	"a pointer to what is not live": `SELECT count(*) FROM accounts.users u JOIN subscriptions.subscriptions s ON s.id = u.current_subscription_id
		WHERE s.status IN ('cancelled', 'expired') OR s.customer_id <> u.id`,
}

// Random histories of events, doubled and out of order: after each step the
// invariants hold, and access is open only to what is active. The seed is printed.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 12 {
		seed := rand.Uint64() //nolint:gosec // no secret
		random := rand.New(rand.NewPCG(seed, 1))
		b.customer = accountstest.Customer(t, b.db)
		id := subscriptionstest.In(t, b.db, b.customer.ID, []string{"pending", "active", "suspended"}[random.IntN(3)])
		r := b.remoteOf(t, id)
		var told []payments.Event
		for step := range 15 {
			e := randomEvent(random, r, id.String())
			if len(told) > 0 && random.IntN(4) == 0 {
				e = told[random.IntN(len(told))] // a repetition, perhaps of long ago
			}
			told = append(told, e)
			b.apply(t, e)
			name := fmt.Sprintf("seed %d, step %d, %s", seed, step, e.Kind)
			for what, query := range invariants {
				require.Zero(t, b.count(t, query), "%s: %s", name, what)
			}
			if b.access(t) {
				require.Equal(t, "active", b.status(t, id), name)
			}
		}
	}
}

func randomEvent(random *rand.Rand, r remote, tag string) payments.Event {
	second := random.IntN(1000)
	invoice := fmt.Sprintf("in_%s_%d", tag, random.IntN(4))
	statuses := []payments.RemoteStatus{
		payments.RemoteActive, payments.RemotePastDue, payments.RemoteUnpaid, payments.RemoteIncomplete, payments.RemoteActive,
	}
	var e payments.Event
	switch random.IntN(12) {
	case 0, 1, 2:
		e = r.paid(invoice, second)
	case 3, 4:
		e = r.failed(invoice, 1+random.IntN(3), second)
	case 5, 6, 7:
		e = r.updated(statuses[random.IntN(len(statuses))], second, invoice)
	case 8, 9:
		e = payments.Event{Gateway: payments.GWB, Kind: payments.PaymentWasRefunded, SubscriptionID: r.id, CreatedAt: r.at(second), Refund: &payments.RefundReport{
			PaymentID: "pi_" + invoice, ChargeID: "ch_" + invoice, Total: money.Cents(1000 * (1 + second%4)), HasTotal: true, At: r.at(second), Type: "charge.refunded", EventID: "evt_" + invoice,
		}}
	case 10:
		kind, state := payments.DisputeWasOpened, payments.DisputeOpen
		if random.IntN(2) == 0 {
			kind, state = payments.DisputeWasClosed, payments.DisputeWon
		}
		e = payments.Event{Gateway: payments.GWB, Kind: kind, SubscriptionID: r.id, CreatedAt: r.at(second), Dispute: &payments.DisputeReport{
			ID: "dp_" + tag, PaymentID: "pi_" + invoice, Amount: 4990, State: state, At: r.at(second),
		}}
	default:
		if random.IntN(5) == 0 {
			e = r.deleted(second)
		} else {
			e = r.created(payments.RemoteIncomplete, 0)
		}
	}
	e.ID = fmt.Sprintf("evt_%s_%d", tag, random.Uint64())
	return e
}
