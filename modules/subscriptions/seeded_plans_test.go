package subscriptions_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/modules/subscriptions"
)

func TestSeededPlansArePublic(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, subscriptions.SeedPlans(t.Context(), b.db, b.clock.Now()))
	_, err := b.db.Exec(t.Context(),
		"UPDATE subscriptions.plans SET name = 'Ours', gwb_price_id = 'price_secret' WHERE plan_id = 'plus'")
	require.NoError(t, err)
	require.NoError(t, subscriptions.SeedPlans(t.Context(), b.db, b.clock.Now()), "seeding again changes nothing")
	_, err = b.db.Exec(t.Context(), "UPDATE subscriptions.plans SET is_active = false WHERE plan_id = $1", plan)
	require.NoError(t, err)

	a := b.expect(t, 200, http.MethodGet, "/plans", nil)
	require.Equal(t, "ok", a["msg"])
	require.EqualValues(t, 3, a["pagination"].(object)["qty_total_docs"])
	tiers := []any{}
	trials := 0
	for _, d := range a["docs"].([]any) {
		p := d.(object)
		tiers = append(tiers, p["tier"])
		require.NotContains(t, p, "gwb_price_id")
		require.NotContains(t, p, "gwb_product_id")
		require.Equal(t, "MONTH", p["interval_unit"])
		require.Positive(t, p["amount"])
		if p["trial_enabled"] == true {
			trials++
			require.Positive(t, p["trial_days"])
		}
	}
	require.Equal(t, []any{1.0, 2.0, 3.0}, tiers)
	require.Equal(t, 1, trials)
	require.Equal(t, "Ours", a["docs"].([]any)[1].(object)["name"])

	one := b.expect(t, 200, http.MethodGet, "/plans?query=%7B%22plan_id%22%3A%22basic%22%7D", nil)
	require.Len(t, one["docs"], 1)
	b.expect(t, 422, http.MethodGet, "/plans?query=%7B", nil)
	b.expect(t, 422, http.MethodGet, "/plans?qty_docs_page=0", nil)
	id := doc(one)["_id"].(string)
	require.Equal(t, "basic", doc(b.expect(t, 200, http.MethodGet, "/plans?_id="+id, nil))["plan_id"])
	b.expect(t, 404, http.MethodGet, "/plans?_id=aaaaaaaaaaaaaaaaaaaaaaaa", nil)
}
