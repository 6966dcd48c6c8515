package finance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/finance/financetest"
)

// methodsOf are the amounts of the payment methods in a row, without those that paid nothing.
func methodsOf(t *testing.T, r financetest.Row) doc {
	t.Helper()
	methods := doc{}
	for _, method := range []string{"credit_card", "pix", "boleto"} {
		if amount := r.Float(t, method); amount != 0 {
			methods[method] = amount
		}
	}
	return methods
}

func httpRevenueByMethod(t *testing.T, b *bundle) {
	plain := b.get("/admin/finance/revenue?start=2026-01")
	all := b.get("/admin/finance/revenue?start=2026-01&by=payment_method")
	totals := doc{}
	for i, r := range financetest.Table(t, "Revenue by method") {
		row := all["data"].([]any)[i].(doc)
		require.Equal(t, r["month"], row["date"])
		require.Equal(t, methodsOf(t, r), row["by_payment_method"], r["month"])
		var sum float64
		for method, amount := range methodsOf(t, r) {
			sum += amount.(float64)
			of, _ := totals[method].(float64)
			totals[method] = of + amount.(float64)
		}
		require.InDelta(t, row["gross"], sum, 0, r["month"])
		delete(row, "by_payment_method")
	}
	require.Equal(t, totals, all["totals"].(doc)["by_payment_method"])
	delete(all["totals"].(doc), "by_payment_method")
	require.Equal(t, plain, all, "besides the methods all is as without them")

	// By day: S21 at the last second of February, S22 at the first of March, both by PIX; S47 ten seconds into August.
	for day, want := range map[string]doc{
		"2026-02-28": {"pix": 59880.0}, "2026-03-01": {"pix": 59880.0}, "2026-08-01": {"credit_card": 1990.0},
		"2026-05-07": {}, "2026-05-08": {"boleto": 1990.0}, "2026-06-10": {"credit_card": 19900.0, "boleto": 1990.0},
	} {
		one := b.get("/admin/finance/revenue?period=daily&by=payment_method&start=" + day + "&end=" + day)
		require.Equal(t, want, one["data"].([]any)[0].(doc)["by_payment_method"], day)
		require.Equal(t, want, one["totals"].(doc)["by_payment_method"], day)
	}
}
