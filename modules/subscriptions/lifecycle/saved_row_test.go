package lifecycle

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/state"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/clock"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// The row is not read again after it was written: it has to be what a reader gets,
// in every field that a change may write.
func TestSavedRowIsWhatTheDatabaseHas(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newStore(t, db)
	s.deps.Clock = clock.NewFake(time.Now())
	id := subscriptionstest.In(t, db, accountstest.Customer(t, db).ID, string(state.Cancelled))
	found, err := s.db.SubscriptionGet(t.Context(), db, id)
	require.NoError(t, err)

	changed := found
	pgtest.Fill(t, &changed, state.AllColumns...)
	// What the constraints ask of these.
	changed.Status, changed.PlanID, changed.IntentOpen = found.Status, found.PlanID, false

	var saved Subscription
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) (err error) {
		saved, err = s.saveTx(t.Context(), tx, found, changed, named{"test", state.AllColumns}, IntentEnd{})
		return err
	}))
	read, err := s.db.SubscriptionGet(t.Context(), db, id)
	require.NoError(t, err)
	require.Equal(t, read, saved)
	require.NotEqual(t, found.GwbPriceID, read.GwbPriceID)
}

// Each column that a change may name is looked at when the rows are compared, and no other;
// whatever else a row has never changes.
func TestAllColumnsAreCompared(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, state.AllColumns, columns.Outside(nil))
	pgtest.Compared(t, columns,
		"id", "customer_id", "gateway", "payment_method", "period_months", "trial_days", "document_created_by_id",
		"register_date", "register_update_date",
		"pix_automatic", "promo_code", "first_amount_cents", "renews_id", "starts_at")

	named := map[string]bool{}
	for _, as := range state.ChargeEdits {
		for _, c := range state.ChargeEditedBy(as) {
			named[c] = true
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(named)), chargeColumns.Outside(nil))
	pgtest.Compared(t, chargeColumns,
		"id", "subscription_id", "customer_id", "gateway", "cycle", "amount_cents", "payable_until",
		"register_date", "register_update_date")
}

// A renewal charge is not read again either, and another's change of it stays.
func TestASavedChargeIsWhatTheDatabaseHas(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newStore(t, db)
	var log bytes.Buffer
	s.deps.Log = slog.New(slog.NewJSONHandler(&log, nil)) // secrettest.Logger allows no such change
	customer := accountstest.Customer(t, db).ID
	now := s.deps.Clock.Now()
	var charge RenewalCharge
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) (err error) {
		charge, err = s.InsertChargeTx(t.Context(), tx, RenewalCharge{
			ID: objectid.New(), SubscriptionID: subscriptionstest.Active(t, db, customer), CustomerID: customer,
			Gateway: gateway.GWA, AmountCents: 4990, PayableUntil: now, RegisterDate: now,
		})
		return err
	}))
	read := charge
	edit := func(c RenewalCharge, as state.ChargeEdit, edit func(c *RenewalCharge)) (saved RenewalCharge, err error) {
		err = postgres.InTx(t.Context(), db, func(tx pgx.Tx) error {
			saved, err = s.SaveChargeTx(t.Context(), tx, c, as, edit)
			return err
		})
		return saved, err
	}
	saved, err := edit(charge, state.CodeMade, func(c *RenewalCharge) {
		pgtest.Fill(t, c, "gateway_payment_id", "pix_payload", "pix_image", "pix_expires_at")
		c.IntentOpen = false
	})
	require.NoError(t, err)
	found, err := s.db.RenewalChargeGet(t.Context(), db, charge.ID)
	require.NoError(t, err)
	require.Equal(t, found, saved)
	require.Empty(t, log.String())

	_, err = db.Exec(t.Context(), "UPDATE subscriptions.renewal_charges SET pix_image = 'meanwhile' WHERE id = $1",
		charge.ID)
	require.NoError(t, err)
	_, err = edit(saved, state.CodeGone, func(c *RenewalCharge) { c.PixPayload = nil })
	require.NoError(t, err)
	found, err = s.db.RenewalChargeGet(t.Context(), db, charge.ID)
	require.NoError(t, err)
	require.Equal(t, "meanwhile", nullable.Value(found.PixImage))
	require.Equal(t, state.ChargeGone, found.State)
	require.Nil(t, found.PixPayload)
	require.Contains(t, log.String(), `"change":"code_gone","columns":["pix_payload"]`)

	_, err = edit(read, state.CodeUnapplied, func(*RenewalCharge) {})
	require.ErrorIs(t, err, errMoved)
	_, err = edit(found, state.CodeGone, func(*RenewalCharge) {})
	require.ErrorContains(t, err, `state "gone" holds against "code_gone"`)
}

// What differs is written whether the change names it or not, and told; what does not differ
// is left as it is, whatever it is by now.
func TestAChangeWritesWhatDiffers(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newStore(t, db)
	var log bytes.Buffer
	s.deps.Log = slog.New(slog.NewJSONHandler(&log, nil)) // secrettest.Logger allows no such change
	id := subscriptionstest.In(t, db, accountstest.Customer(t, db).ID, string(state.Active))
	edit := func(as state.Edit, edit func(r *Subscription)) Subscription {
		read, err := s.db.SubscriptionGet(t.Context(), db, id)
		require.NoError(t, err)
		_, err = db.Exec(t.Context(), "UPDATE subscriptions.subscriptions SET pix_payload = 'meanwhile' WHERE id = $1",
			id)
		require.NoError(t, err)
		require.NoError(t, postgres.InTx(t.Context(), db,
			func(tx pgx.Tx) error { return s.EditTx(t.Context(), tx, &read, as, edit) }))
		read, err = s.db.SubscriptionGet(t.Context(), db, id)
		require.NoError(t, err)
		require.Equal(t, "meanwhile", nullable.Value(read.PixPayload))
		return read
	}
	require.EqualValues(t, 500,
		edit(state.RefundsTotalled, func(r *Subscription) { r.TotalRefundedCents = 500 }).TotalRefundedCents)
	require.Empty(t, log.String())
	after := edit(state.RefundsTotalled, func(r *Subscription) { r.TotalRefundedCents, r.HasChargeback = 700, true })
	require.EqualValues(t, 700, after.TotalRefundedCents)
	require.True(t, after.HasChargeback)
	require.Contains(t, log.String(), `"level":"ERROR"`)
	require.Contains(t, log.String(), `"change":"refunds_totalled","columns":["has_chargeback"]`)
}
