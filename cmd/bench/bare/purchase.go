package bare

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
)

// sell checks the caller and the event, whose row it locks, and writes the order with its
// tickets; triggers count the places and begin the history. The lock is held for the one
// statement and its commit.
const sell = `WITH who AS (
	SELECT u.id, u.email_verified, coalesce(nullif(u.full_name, ''), u.username) AS name, u.email
	FROM accounts.caller($1, $2, $3, $8) AS c (username, user_type, is_root, profiles, handlers)
	JOIN accounts.users u ON u.id = $1 AND u.user_type = 'customer'
), known AS (
	INSERT INTO tickets.customers (id, name, email) SELECT w.id, w.name, w.email FROM who w
	WHERE NOT EXISTS (SELECT FROM tickets.customers k WHERE k.id = w.id AND k.name = w.name AND k.email = w.email)
	ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email
), event AS (
	SELECT e.id, e.title, e.image_id FROM tickets.events e
	WHERE e.id = $4 AND e.is_active AND e.is_sale_box_office AND e.ends_at > $7 AND coalesce(e.ticket_value_cents, 0) = 0
		AND e.max_per_person IS NULL AND (e.capacity IS NULL OR e.tickets_issued + $5::int <= e.capacity)
	FOR NO KEY UPDATE
), bought AS (
	INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, payment_status, state, paid_at, intent_open, created_at, updated_at, moves)
	SELECT $6, w.id, e.id, $5, 0, 0, 'CONFIRMED', 'paid', $7, false, $7, $7, 1 FROM who w, event e
	RETURNING id
), begun AS (
	INSERT INTO tickets.order_transitions (order_id, at, to_state, reason) SELECT id, $7, 'paid', 'free' FROM bought
), seated AS (
	INSERT INTO tickets.tickets (event_id, customer_id, order_id, title, status, reason, unproved, image_id, document_created_by_id, register_date, register_update_date)
	SELECT e.id, w.id, $6, e.title, 'available', 'purchased', NOT w.email_verified, e.image_id, w.id, $7, $7
	FROM who w, event e, generate_series(1, $5)
	RETURNING id
)
SELECT array_agg(id::text ORDER BY id) FROM seated HAVING count(*) > 0`

// order is what was bought, as answers show it.
type order struct {
	ID               string   `json:"_id"`
	CustomerID       string   `json:"customer_id"`
	EventID          string   `json:"event_id"`
	Quantity         int      `json:"quantity"`
	UnitPrice        reais    `json:"unit_price"`
	Total            reais    `json:"total"`
	Refunded         reais    `json:"refunded"`
	Gateway          *string  `json:"gateway"`
	PaymentMethod    *string  `json:"payment_method"`
	GatewayPaymentID *string  `json:"gateway_payment_id"`
	PaymentStatus    string   `json:"payment_status"`
	Status           string   `json:"status"`
	TicketIDs        []string `json:"ticket_ids"`
	CreatedAt        string   `json:"created_at"`
	UpdatedAt        string   `json:"updated_at"`
}

// reais is an amount of nothing, the only one here, with its two decimals.
type reais struct{}

func (reais) MarshalJSON() ([]byte, error) { return []byte("0.00"), nil }

// purchase sells tickets of a free event, and answers after the commit.
func (s *server) purchase(r *http.Request) ([]byte, error) {
	c, err := s.caller(r)
	if err != nil {
		return nil, err
	}
	var body struct {
		EventID  string `json:"event_id"`
		Quantity int    `json:"quantity"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Quantity < 1 {
		return nil, status(http.StatusUnprocessableEntity)
	}
	at := now()
	o := order{
		ID: newID(at), CustomerID: c.UserID, EventID: body.EventID, Quantity: body.Quantity,
		PaymentStatus: "CONFIRMED", Status: "pending", CreatedAt: formatTime(at), UpdatedAt: formatTime(at),
	}
	err = s.pool.QueryRow(r.Context(), sell, c.UserID, c.issuedAt(), c.ID, body.EventID, body.Quantity, o.ID, at,
		c.SessionID).
		Scan(&o.TicketIDs)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, status(http.StatusConflict)
	}
	if err != nil {
		return nil, err
	}
	return encode(struct {
		Order   order     `json:"order"`
		Payment *struct{} `json:"payment"`
	}{Order: o})
}

// newID is a new object id.
func newID(at time.Time) string {
	id := make([]byte, 12)
	_, _ = rand.Read(id) // never fails
	seconds := at.Unix()
	id[0], id[1], id[2], id[3] = byte(seconds>>24), byte(seconds>>16), byte(seconds>>8), byte(seconds)
	return hex.EncodeToString(id)
}
