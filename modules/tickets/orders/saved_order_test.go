package orders

import (
	"bytes"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"marquee/modules/payments"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/state"
	"marquee/platform/clock"
	"marquee/platform/jobs"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/testutil/pgtest"
	"marquee/testutil/secrettest"
)

// newStore is the room without gateways.
func newStore(t *testing.T, db *pgxpool.Pool, log io.Writer) *Store {
	t.Helper()
	client, err := jobs.New(db, jobs.Options{Log: secrettest.Logger(t)})
	require.NoError(t, err)
	money := payments.New(payments.Deps{Pool: db, Jobs: client, Clock: clock.System{}, Log: secrettest.Logger(t)})
	return New(Deps{Base: events.Base{
		Pool: db, Jobs: client, Clock: clock.NewFake(time.Now()), Payments: money,
		Log: slog.New(slog.NewJSONHandler(log, nil)), // secrettest.Logger allows no change of what it does not name
	}})
}

// reserved is the row of an order that waits for its PIX.
func reserved(t *testing.T, s *Store, db *pgxpool.Pool) Order {
	t.Helper()
	id, event, now := objectid.New(), objectid.New(), s.deps.Clock.Now()
	_, err := db.Exec(t.Context(),
		`INSERT INTO tickets.events (id, title, event_date, location, ticket_value_cents, is_sale_box_office)
		VALUES ($1, 'Premiere', $2, 'Cine Ipiranga', 12050, true)`, event, now.Add(30*24*time.Hour))
	require.NoError(t, err)
	_, err = db.Exec(t.Context(),
		`INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method,
			payment_status, state, hold_until, intent_open, created_at, updated_at, tax_id_mac, email_mac, address_mac)
		VALUES ($1, $2, $3, 2, 12050, 24100, 'gwb', 'pix', 'requires_action', 'reserved', $4, true, $4, $4, '\x01', '\x02', '\x03')`,
		id, objectid.New(), event, now)
	require.NoError(t, err)
	return get(t, s, db, id)
}

func get(t *testing.T, s *Store, db *pgxpool.Pool, id objectid.ID) Order {
	t.Helper()
	o, err := s.db.OrderGet(t.Context(), db, id)
	require.NoError(t, err)
	return o
}

// Each column that a change may name is looked at when two orders are compared, and no
// other; whatever else a row has never changes.
func TestAllColumnsAreCompared(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, state.AllColumns, columns.Outside(nil))
	pgtest.Compared(t, columns,
		"id", "customer_id", "event_id", "quantity", "unit_price_cents", "total_cents", "gateway", "payment_method",
		"gateway_customer_id",
		"without_login", "created_at", "updated_at", "sold_by_id", "sold_by", "note", "buyer_phone")
}

// An order is not read again after it was written: it has to be what a reader gets, in every
// field that a change may write.
func TestASavedOrderIsWhatTheDatabaseHas(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newStore(t, db, io.Discard)
	o := reserved(t, s, db)
	after := o
	pgtest.Fill(t, &after, state.AllColumns...)
	after.State, after.IntentOpen = state.RefundDue, false
	require.NoError(t, postgres.InTx(t.Context(), db, func(tx pgx.Tx) error {
		return s.saveTx(t.Context(), tx, &o, after, named{"test", state.AllColumns, "test"}, nil)
	}))
	read := get(t, s, db, o.ID)
	require.Equal(t, read, o)
	require.Equal(t, "filled", read.PaymentStatus)
}

// What differs is written whether the change names it or not, and told; what does not differ
// is left as it is, whatever it is by now. Somebody else's move is not written over.
func TestAChangeOfAnOrderWritesWhatDiffers(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	var log bytes.Buffer
	s := newStore(t, db, &log)
	o := reserved(t, s, db)
	edit := func(o Order, edit func(o *Order)) error {
		return postgres.InTx(t.Context(), db,
			func(tx pgx.Tx) error { return s.EditTx(t.Context(), tx, &o, state.Overdue, edit) })
	}
	_, err := db.Exec(t.Context(), "UPDATE tickets.orders SET pix_payload = 'meanwhile' WHERE id = $1", o.ID)
	require.NoError(t, err)
	require.NoError(t, edit(o, func(o *Order) { o.PaymentStatus = StatusOverdue }))
	require.Empty(t, log.String())
	require.NoError(t, edit(o, func(o *Order) { o.PaymentStatus, o.GatewayPaymentID = StatusOverdue, new("pi_1") }))
	read := get(t, s, db, o.ID)
	require.Equal(t, "meanwhile", nullable.Value(read.PixPayload))
	require.Equal(t, StatusOverdue, read.PaymentStatus)
	require.Equal(t, "pi_1", nullable.Value(read.GatewayPaymentID))
	require.Contains(t, log.String(), `"level":"ERROR"`)
	require.Contains(t, log.String(), `"change":"overdue","columns":["gateway_payment_id"]`)

	move := func(o Order, by state.Action) error {
		return postgres.InTx(t.Context(), db,
			func(tx pgx.Tx) error { return s.MoveTx(t.Context(), tx, &o, by, func(*Order) {}) })
	}
	require.NoError(t, move(o, state.PaymentSeated))
	require.ErrorIs(t, move(o, state.HoldRunsOut), errMoved)
	var moves []string
	require.NoError(t, db.QueryRow(t.Context(), `SELECT array_agg(concat(from_state, '>', to_state, ' ', reason) ORDER BY id)
		FROM tickets.order_transitions WHERE order_id = $1`, o.ID).Scan(&moves))
	require.Equal(t, []string{">reserved not_recorded", "reserved>paid paid"}, moves, "who comes too late leaves nothing")
}

// Who holds the places is forgotten with the places, from which address with the payment.
func TestWhoHeldThePlacesIsForgotten(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	s := newStore(t, db, io.Discard)
	o := reserved(t, s, db)
	require.NotNil(t, o.AddressMac)
	move := func(by state.Action) {
		require.NoError(t, postgres.InTx(t.Context(), db,
			func(tx pgx.Tx) error { return s.MoveTx(t.Context(), tx, &o, by, func(*Order) {}) }))
		require.Equal(t, get(t, s, db, o.ID), o)
	}
	move(state.PaymentSeated)
	require.Nil(t, o.AddressMac)
	require.Equal(t, [][]byte{{1}, {2}}, [][]byte{o.TaxIDMac, o.EmailMac})
	move(state.MoneyReturned)
	require.Nil(t, o.TaxIDMac)
	require.Nil(t, o.EmailMac)
}
