package lifecycle

import (
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"marquee/modules/accounts/accountstest"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/state"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/platform/clock"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
)

// The row is not read again after it was written: it has to be what a reader gets,
// in every field that a change may write.
func TestSavedRowIsWhatTheDatabaseHas(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := &Store{db: subscriptionsdb.New(), clock: clock.NewFake(time.Now())}
	id := subscriptionstest.In(t, db, accountstest.Customer(t, db).ID, string(state.Cancelled))
	found, err := s.db.GetSubscription(t.Context(), db, id)
	require.NoError(t, err)

	changed := found
	written := reflect.TypeFor[subscriptionsdb.UpdateSubscriptionParams]()
	for i := range written.NumField() {
		if field := reflect.ValueOf(&changed).Elem().FieldByName(written.Field(i).Name); field.IsValid() {
			fill(t, field)
		}
	}
	// What the constraints ask of these.
	changed.ID, changed.Status, changed.PlanID, changed.IntentOpen, changed.RecoveryAt = id, found.Status, found.PlanID, false, nil

	var saved Row
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) (err error) {
		saved, err = s.saveTx(t.Context(), tx, found, changed, IntentEnd{})
		return err
	}))
	read, err := s.db.GetSubscription(t.Context(), db, id)
	require.NoError(t, err)
	require.Equal(t, read, saved)
	require.NotEqual(t, found.GwbPriceID, read.GwbPriceID)
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
	}
}
