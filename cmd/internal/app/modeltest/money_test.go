package modeltest_test

import (
	"context"
	"math"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments/gateway"
)

// settled are the statuses of gateway A's payments whose money has come, whatever
// became of it.
var settled = map[string]bool{
	"CONFIRMED": true, "RECEIVED": true, "REFUNDED": true, "REFUND_REQUESTED": true, "REFUND_IN_PROGRESS": true,
	"CHARGEBACK_REQUESTED": true, "CHARGEBACK_DISPUTE": true, "AWAITING_CHARGEBACK_REVERSAL": true,
}

// books are what was paid, given back and disputed, in cents, by gateway id.
type books struct {
	Paid, Back map[string]int64
	Disputes   map[string]string
}

func newBooks() books {
	return books{Paid: map[string]int64{}, Back: map[string]int64{}, Disputes: map[string]string{}}
}

// checkMoney: the ledger is what the gateways have, to the cent.
func checkMoney(h *history) {
	h.t.Helper()
	theirs := newBooks()
	bookA(h, theirs)
	bookB(h, theirs)
	ours := ledger(h)
	for what, differ := range map[string]string{
		"payments": cmp.Diff(theirs.Paid, ours.Paid), "refunds": cmp.Diff(theirs.Back, ours.Back),
		"disputes": cmp.Diff(theirs.Disputes, ours.Disputes),
	} {
		if differ != "" {
			h.fail(what+" of the ledger are not the gateways'", "%s", differ)
		}
	}
}

func cents(reais float64) int64 { return int64(math.Round(reais * 100)) }

// bookA reads gateway A. A chargeback's id is its payment's.
func bookA(h *history, b books) {
	for _, p := range h.gateways.list(h.t, gateway.GWA, "/v3/payments") {
		id := str(p, "id")
		if !settled[str(p, "status")] {
			continue
		}
		b.Paid[id] = cents(num(p, "value"))
		refunds, _ := p["refunds"].([]any)
		for _, r := range refunds {
			if one := r.(object); str(one, "status") == "DONE" {
				b.Back[id] += cents(num(one, "value"))
			}
		}
		if c, ok := p["chargeback"].(object); ok {
			b.Disputes[id] = map[string]string{
				"REQUESTED": "open", "IN_DISPUTE": "open", "DONE": "lost", "REVERSED": "won",
			}[str(c, "status")]
		}
	}
}

// bookB reads gateway B: a payment of an invoice stands under the invoice, its
// refunds under the payment intent.
func bookB(h *history, b books) {
	invoices := map[string]string{}
	for _, p := range h.gateways.list(h.t, gateway.GWB, "/v1/invoice_payments") {
		payment, _ := p["payment"].(object)
		invoices[str(payment, "payment_intent")] = str(p, "invoice")
	}
	for _, c := range h.chargesB() {
		intent := str(c, "payment_intent")
		key := intent
		if invoice := invoices[intent]; invoice != "" {
			key = invoice
		}
		b.Paid[key] = int64(num(c, "amount"))
		if back := int64(num(c, "amount_refunded")); back > 0 {
			b.Back[intent] = back
		}
	}
	states := map[string]string{
		"needs_response": "open", "warning_needs_response": "inquiry", "won": "won", "lost": "lost",
		"warning_closed": "dismissed",
	}
	for _, d := range h.gateways.list(h.t, gateway.GWB, "/v1/disputes") {
		b.Disputes[str(d, "id")] = states[str(d, "status")]
	}
}

// ledger reads ours. Disputes that an admin noted are no gateway's, and what the
// gateway calls a refund of a subscription may be a dispute that was lost.
func ledger(h *history) books {
	b := newBooks()
	read(h, `SELECT gateway_payment_id, amount_cents FROM payments.payments WHERE amount_cents > 0`, b.Paid)
	read(h, `SELECT payment_ref, sum(amount_cents)::bigint FROM (
		SELECT payment_ref, amount_cents FROM payments.refunds WHERE status = 'done'
		UNION ALL SELECT payment_ref, amount_cents FROM payments.disputes WHERE state = 'lost' AND (kind = 'med' OR gateway = 'gwa' AND native_status = 'REFUNDED' AND gateway_dispute_id LIKE 'CHARGEBACK-%')) x
		GROUP BY payment_ref`, b.Back)
	read(h,
		`SELECT gateway_dispute_id, state FROM payments.disputes WHERE gateway_dispute_id NOT LIKE 'CHARGEBACK-%' AND kind = 'chargeback'`, b.Disputes)
	return b
}

func read[V any](h *history, query string, into map[string]V) {
	rows, err := h.db.Query(context.Background(), query)
	require.NoError(h.t, err)
	var id string
	var v V
	_, err = pgx.ForEachRow(rows, []any{&id, &v}, func() error {
		into[id] = v
		return nil
	})
	require.NoError(h.t, err)
}
