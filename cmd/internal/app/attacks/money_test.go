package attacks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/accounts"
	"marquee/modules/subscriptions/subscriptionstest"
)

// TestNoChargebackBreaksTheFigures: two of the largest number that there is once made
// every figure fail for good.
func TestNoChargebackBreaksTheFigures(t *testing.T) {
	t.Parallel()
	p := attacked(t)
	_, admin := p.NewAdmin(func(u *accounts.NewUser) { u.Root = true })
	for range 2 {
		customer, _ := p.NewCustomer()
		id := subscriptionstest.Paid(t, p.DB, customer.ID)
		path := "/subscriptions/" + id.String() + "/chargeback"
		for _, amount := range []any{int64(math.MaxInt64), int64(math.MaxInt64) / 2, 100_000_000_001, 1e300} {
			require.Equal(t, "amount", admin.Post(path, object{
				"reason": "told by the bank", "amount": amount,
			}).Expect(422).Field())
		}
		admin.Post(path, object{"reason": "told by the bank"}).Expect(200)
		admin.Post(path, object{"reason": "told by the bank"}).Expect(409)
	}
	for _, path := range []string{"overview", "revenue", "churn", "overdue"} {
		admin.Get("/admin/finance/" + path).Expect(200)
	}
	require.Equal(t, 2, p.Count("SELECT count(*) FROM payments.disputes"))
}
