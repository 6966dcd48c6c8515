package lifecycle

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/subscriptions/state"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/clock"
	"marquee/platform/nullable"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// The row is not read again after it was written: it has to be what a reader gets,
// in every field that a change may write.
func TestSavedRowIsWhatTheDatabaseHas(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newStore(t, db)
	s.deps.Clock = clock.NewFake(time.Now())
	id := subscriptionstest.In(t, db, accountstest.Customer(t, db).ID, string(state.Cancelled))
	found, err := s.db.GetSubscription(t.Context(), db, id)
	require.NoError(t, err)

	changed := found
	row := reflect.ValueOf(&changed).Elem()
	for i := range row.NumField() {
		if slices.Contains(state.AllColumns, columnOf(row.Type().Field(i).Name)) {
			fill(t, row.Field(i))
		}
	}
	// What the constraints ask of these.
	changed.Status, changed.PlanID, changed.IntentOpen, changed.RecoveryAt = found.Status, found.PlanID, false, nil

	var saved Row
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) (err error) {
		saved, err = s.saveTx(t.Context(), tx, found, changed, named{"test", state.AllColumns}, IntentEnd{})
		return err
	}))
	read, err := s.db.GetSubscription(t.Context(), db, id)
	require.NoError(t, err)
	require.Equal(t, read, saved)
	require.NotEqual(t, found.GwbPriceID, read.GwbPriceID)
}

// columnOf is the column of a row's field.
func columnOf(field string) string {
	name := regexp.MustCompile(`ID$|[A-Z]`).ReplaceAllStringFunc(field, func(s string) string { return "_" + strings.ToLower(s) })
	return strings.TrimPrefix(name, "_")
}

// Each column that a change may name is looked at when the rows are compared, and no other;
// whatever else a row has never changes.
func TestAllColumnsAreCompared(t *testing.T) {
	t.Parallel()
	var compared state.Columns
	for _, c := range columns {
		compared = append(compared, c.Name)
	}
	require.ElementsMatch(t, state.AllColumns, compared)

	fixed := state.Columns{
		"id", "customer_id", "gateway", "payment_method", "period_months", "trial_days", "document_created_by_id", "register_date", "register_update_date",
		"pix_automatic", "promo_code", "first_amount_cents", "renews_id", "starts_at",
	}
	row := reflect.TypeFor[Row]()
	for i := range row.NumField() {
		name := columnOf(row.Field(i).Name)
		if slices.Contains(fixed, name) {
			continue
		}
		var before, after Row
		fill(t, reflect.ValueOf(&after).Elem().Field(i))
		differ := columns.Differing(&before, &after)
		require.Len(t, differ, 1, name)
		require.Equal(t, name, differ[0].Name)
	}
}

// What differs is written whether the change names it or not, and told; what does not differ
// is left as it is, whatever it is by now.
func TestAChangeWritesWhatDiffers(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newStore(t, db)
	var log bytes.Buffer
	s.deps.Log = secrettest.Logger(t, &log)
	id := subscriptionstest.In(t, db, accountstest.Customer(t, db).ID, string(state.Active))
	edit := func(as state.Edit, edit func(r *Row)) Row {
		read, err := s.db.GetSubscription(t.Context(), db, id)
		require.NoError(t, err)
		_, err = db.Exec(t.Context(), "UPDATE subscriptions.subscriptions SET pix_payload = 'meanwhile' WHERE id = $1", id)
		require.NoError(t, err)
		require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) error { return s.EditTx(t.Context(), tx, &read, as, edit) }))
		read, err = s.db.GetSubscription(t.Context(), db, id)
		require.NoError(t, err)
		require.Equal(t, "meanwhile", nullable.Value(read.PixPayload))
		return read
	}
	require.EqualValues(t, 500, edit(state.RefundsTotalled, func(r *Row) { r.TotalRefundedCents = 500 }).TotalRefundedCents)
	require.Empty(t, log.String())
	after := edit(state.RefundsTotalled, func(r *Row) { r.TotalRefundedCents, r.HasChargeback = 700, true })
	require.EqualValues(t, 700, after.TotalRefundedCents)
	require.True(t, after.HasChargeback)
	require.Contains(t, log.String(), `"level":"ERROR"`)
	require.Contains(t, log.String(), `"change":"refunds_totalled","columns":["has_chargeback"]`)
}

// fill sets a field to a value that it did not have.
func fill(t *testing.T, field reflect.Value) {
	t.Helper()
	at := time.Date(2031, 2, 3, 4, 5, 6, 789_000_000, time.UTC)
	switch field.Interface().(type) {
	case *time.Time:
		field.Set(reflect.ValueOf(&at))
	case *string:
		field.Set(reflect.ValueOf(new("filled")))
	case *int32:
		field.Set(reflect.ValueOf(new(int32(7))))
	case bool:
		field.SetBool(!field.Bool())
	case int32, int64:
		field.SetInt(field.Int() + 7)
	default:
		require.Equal(t, reflect.String, field.Kind(), "a kind of field that the test does not know: %s", field.Type())
		field.SetString("filled")
	}
}
