package finance_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
)

// TestThePromoFamily: from whichever code of it, the family is all that hold one another through all levels, a code that
// two hold once, and nobody else.
func TestThePromoFamily(t *testing.T) {
	t.Parallel()
	b := setup(t)
	code := func(code string, children ...objectid.ID) objectid.ID {
		id := objectid.New()
		_, err := b.db.Exec(t.Context(), `INSERT INTO promos.promo_codes (id, code, title, code_type, children_code_ids)
			VALUES ($1, $2, $2, 'promo', $3)`, id, code, objectid.Strings(children))
		require.NoError(t, err)
		return id
	}
	leaf := code("LEAF01")
	left, right := code("LEFT01", leaf), code("RIGHT1", leaf)
	top := code("TOP001", left)
	alone := code("ALONE1", objectid.New()) // holds one that is gone
	family := func(id objectid.ID) []string {
		names := []string{}
		for _, member := range b.get("/admin/events-dashboard/promo-codes/" + id.String())["family"].([]any) {
			names = append(names, member.(doc)["code"].(string))
		}
		require.True(t, slices.IsSorted(names))
		return names
	}
	for _, id := range []objectid.ID{leaf, left, right, top} {
		require.Equal(t, []string{"LEAF01", "LEFT01", "RIGHT1", "TOP001"}, family(id))
	}
	require.Equal(t, []string{"ALONE1"}, family(alone))
	one := b.get("/admin/events-dashboard/promo-codes/" + top.String())
	require.Equal(t, top.String(), one["_id"])
	require.Equal(t, []any{}, one["by_day"])
	require.Equal(t, []any{left.String()}, one["family"].([]any)[3].(doc)["children_code_ids"])
}
