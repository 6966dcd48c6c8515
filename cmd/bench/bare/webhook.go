package bare

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// renew applies the first delivery of a paid renewal and logs it: the event, its log, the
// ledger's row, the subscription, and, where an event waited for the payment, the job that
// applies it. The conditions are those under which the platform renews. No row: the event has
// been there before, or it is no plain renewal.
const renew = `WITH sub AS (
	SELECT s.id, s.customer_id, s.next_billing_date FROM subscriptions.subscriptions s
	WHERE s.gwb_subscription_id = $4 AND s.gateway = 'gwb' AND s.status = 'active' AND NOT s.cancel_at_period_end AND NOT s.has_chargeback
		AND s.gateway_deleted_at IS NULL AND $7::bigint > 0 AND NOT EXISTS (
			SELECT FROM payments.failed_attempts f WHERE f.purpose = 'subscription' AND f.local_id = s.id AND f.failed_at > $9)
), first AS (
	INSERT INTO payments.processed_events (gateway, event_id, log_id, state, subjects, result, event_at, updated_at)
	SELECT 'gwb', $1, $2::text, 'done', ARRAY[$4::text, s.id::text, $6::text],
		jsonb_build_object('status', 'processed', 'subscription_id', s.id, 'new_status', 'active'), $9, $10 FROM sub s
	ON CONFLICT DO NOTHING RETURNING result
), log AS (
	INSERT INTO payments.webhook_logs (id, gateway, event_id, event_type, payload, signature, signature_valid, processed, result, received_at, processed_at, request_id)
	SELECT $2::text, 'gwb', $1, 'invoice.paid', $3, $5, true, true, f.result, $10, $10, $2::text FROM first f
), paid AS (
	INSERT INTO payments.payments (id, gateway, gateway_payment_id, invoice_id, purpose, local_id, customer_id, amount_cents, method, native_status,
		settled_at, created_at, updated_at, counted)
	SELECT platform.new_object_id(), 'gwb', $6, $6, 'subscription', s.id, s.customer_id, $7, 'credit_card', 'paid', $8, $10, $10, true
	FROM sub s, first
), moved AS (
	UPDATE subscriptions.subscriptions t SET register_update_date = $10, last_payment_at = $10, payment_failures = 0, last_paid_invoice_id = $6,
		expires_at = NULL, next_billing_date = coalesce(t.next_billing_date, $8::timestamptz + make_interval(months => t.period_months))
	FROM sub s, first WHERE t.id = s.id
), later AS (
	INSERT INTO jobs.river_job (args, kind, max_attempts)
	SELECT jsonb_build_object('gateway', 'gwb', 'subjects', jsonb_build_array($6::text)), 'payments_events_replay', 25 FROM first
	WHERE EXISTS (SELECT FROM payments.processed_events e WHERE e.state = 'waiting' AND e.gateway = 'gwb' AND e.subjects && ARRAY[$6::text])
)
SELECT s.id FROM sub s, first`

// repeat logs a delivery of an event that has been there before, with its result.
const repeat = `WITH known AS (SELECT result FROM payments.processed_events WHERE gateway = 'gwb' AND event_id = $1 FOR SHARE)
INSERT INTO payments.webhook_logs (id, gateway, event_id, event_type, payload, signature, signature_valid, processed, result, received_at, processed_at, request_id)
SELECT $2::text, 'gwb', $1, 'invoice.paid', $3, $4, true, true, k.result, $5, $5, $2::text FROM known k
RETURNING result->>'subscription_id'`

// event is what of a paid invoice is read.
type event struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Created int64  `json:"created"`
	Data    struct {
		Object struct {
			ID         string `json:"id"`
			AmountPaid int64  `json:"amount_paid"`
			Parent     struct {
				Details struct {
					Subscription string `json:"subscription"`
				} `json:"subscription_details"`
			} `json:"parent"`
			Transitions struct {
				PaidAt int64 `json:"paid_at"`
			} `json:"status_transitions"`
		} `json:"object"`
	} `json:"data"`
}

// taken is the answer to a webhook.
type taken struct {
	Received  bool   `json:"received"`
	EventID   string `json:"event_id"`
	EventType string `json:"event_type"`
	Result    result `json:"result"`
}

type result struct {
	Status         string `json:"status"`
	SubscriptionID string `json:"subscription_id"`
	NewStatus      string `json:"new_status"`
}

// webhook applies a renewal that gateway B tells, and answers after its commit.
func (s *server) webhook(r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, status(http.StatusBadRequest)
	}
	received, signature := now(), r.Header.Get("Stripe-Signature")
	var e event
	if !s.signed(raw, signature, received) || json.Unmarshal(raw, &e) != nil {
		return nil, status(http.StatusUnauthorized)
	}
	o, logID, payload, subscription := e.Data.Object, newID(received), json.RawMessage(raw), ""
	err = s.pool.QueryRow(r.Context(), renew, e.ID, logID, payload, o.Parent.Details.Subscription, signature, o.ID,
		o.AmountPaid, time.Unix(o.Transitions.PaidAt, 0), time.Unix(e.Created, 0), received).Scan(&subscription)
	if errors.Is(err, pgx.ErrNoRows) {
		err = s.pool.QueryRow(r.Context(), repeat, e.ID, logID, payload, signature, received).Scan(&subscription)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, status(http.StatusUnprocessableEntity)
	}
	if err != nil {
		return nil, err
	}
	return encode(taken{
		Received: true, EventID: e.ID, EventType: e.Type,
		Result: result{Status: "processed", SubscriptionID: subscription, NewStatus: "active"},
	})
}

// signed checks the header t=…,v1=… over the body, and that it is of the last five minutes.
func (s *server) signed(body []byte, header string, at time.Time) bool {
	var stamp, given string
	for part := range strings.SplitSeq(header, ",") {
		if value, ok := strings.CutPrefix(part, "t="); ok {
			stamp = value
		}
		if value, ok := strings.CutPrefix(part, "v1="); ok {
			given = value
		}
	}
	sent, err := time.ParseDuration(stamp + "s")
	if err != nil || (at.Sub(time.Unix(0, 0))-sent).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, []byte(s.WebhookSecret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(given))
}
