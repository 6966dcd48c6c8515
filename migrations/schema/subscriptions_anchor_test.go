package schema_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/migrations/schema"
	"marquee/testutil/pgtest"
)

// TestAnchorDaysOfRowsThatAreThere: what runs keeps the day on which it began,
// unless its date has left that day since.
func TestAnchorDaysOfRowsThatAreThere(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.URL(t)
	for undone := ""; undone != "00211_subscriptions_anchor_day.sql"; {
		var err error
		undone, err = schema.Down(ctx, url)
		require.NoError(t, err)
	}
	db, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { _ = db.Close(ctx) }()
	_, err = db.Exec(ctx, `INSERT INTO subscriptions.plans (plan_id, name, amount_cents, register_date, register_update_date) VALUES ('basic', 'Basic', 1990, now(), now())`)
	require.NoError(t, err)
	const insert = `INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months, trial_days, first_amount_cents,
			started_at, next_billing_date, expires_at, ended_at, intent_open, register_date, register_update_date)
		VALUES (platform.new_object_id(), platform.new_object_id(), 'basic', 'gwa', $1, $2, 1990, 1, $3, $4, $5::timestamptz, $6::timestamptz, $7::timestamptz, $8::timestamptz, false,
			$5::timestamptz, $5::timestamptz) RETURNING id`
	began, february := "2027-01-31T15:00:00Z", "2027-02-28T15:00:00Z"
	ended := "2027-02-01T00:00:00Z"
	rows := []struct {
		method, status string
		trial          int
		first          any
		began          string
		next, expires  any
		ended          any
		want           any
	}{
		{"credit_card", "active", 0, nil, began, february, nil, nil, int32(31)},
		{"credit_card", "active", 7, nil, began, "2027-03-07T03:00:00Z", nil, nil, int32(7)},
		{"credit_card", "active", 0, 990, began, "2027-03-02T03:00:00Z", nil, nil, int32(2)},
		{"pix", "active", 0, nil, began, nil, february, nil, int32(31)},
		{"pix", "active", 0, nil, began, "2027-03-28T15:00:00Z", nil, nil, int32(28)},
		{"pix", "pending", 0, nil, began, nil, nil, nil, int32(31)},
		{"pix", "cancelled", 0, nil, began, nil, february, ended, nil},
		{"pix", "active", 0, nil, "2027-02-01T02:00:00Z", nil, "2027-03-01T02:00:00Z", nil, int32(31)}, // 31 January there
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		require.NoError(t, db.QueryRow(ctx, insert, r.method, r.status, r.trial, r.first, r.began, r.next, r.expires, r.ended).Scan(&ids[i]), i)
	}
	_, err = schema.Up(ctx, url)
	require.NoError(t, err)
	for i, r := range rows {
		var day *int32
		require.NoError(t, db.QueryRow(ctx, "SELECT anchor_day FROM subscriptions.subscriptions WHERE id = $1", ids[i]).Scan(&day))
		if r.want == nil {
			require.Nil(t, day, i)
			continue
		}
		require.NotNil(t, day, i)
		require.Equal(t, r.want, *day, i)
	}
}
