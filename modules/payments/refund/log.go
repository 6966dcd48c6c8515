package refund

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/platform/audit"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// RefundByID is a refund with what its gateway answered, null while it has not, or
// once the log of it has been forgotten.
func (s *Refunds) RefundByID(ctx context.Context, id objectid.ID) (Outcome, error) {
	row, err := s.db.RefundFind(ctx, s.deps.Pool, id)
	if err != nil {
		return Outcome{}, fmt.Errorf("read refund: %w", err)
	}
	out := Outcome{Refund: ledger.RefundOf(row)}
	payload, err := s.db.WebhookLogGetPayload(ctx, s.deps.Pool,
		paymentsdb.WebhookLogGetPayloadParams{Gateway: row.Gateway, EventID: &row.EventID})
	if errors.Is(err, pgx.ErrNoRows) {
		return out, nil
	}
	if err != nil {
		return Outcome{}, err
	}
	var logged struct {
		Response json.RawMessage `json:"gateway_response"`
	}
	err = json.Unmarshal(payload, &logged)
	out.Response = logged.Response
	return out, err
}

// auditRefundTx tells the audit trail what an admin wants back, at what was paid
// for; what became of it is in the list of refunds.
func auditRefundTx(ctx context.Context, tx pgx.Tx, r ledger.Refund) error {
	resource := map[gateway.Purpose]string{
		gateway.ForSubscription: "subscriptions", gateway.ForOrder: "ticket-orders",
		gateway.ForCustomer: "customers",
	}[r.Purpose]
	request := map[string]any{
		"id": r.ID, "payment_id": r.PaymentID, "amount_cents": int64(r.Amount), "reason": r.Reason,
	}
	return audit.RecordTx(ctx, tx, audit.Change{
		Resource: resource, RecordID: r.LocalID, Before: map[string]any{"refund": nil},
		After: map[string]any{"refund": request},
	})
}

// logRefundTx logs a refund once, as if the gateway had sent it.
func (s *Refunds) logRefundTx(ctx context.Context, tx pgx.Tx, r ledger.Refund, remote gateway.RemoteRefund) error {
	n, err := s.db.WebhookLogCountEvent(ctx, tx,
		paymentsdb.WebhookLogCountEventParams{Gateway: r.Gateway, EventID: &r.EventID})
	if err != nil || n > 0 {
		return err
	}
	payload, err := json.Marshal(map[string]any{
		"id": r.EventID, "type": r.EventType, string(r.Purpose) + "_id": r.LocalID, "payment_id": r.PaymentID,
		"refund_id": nullable.Ptr(r.GatewayRefundID),
		"amount":    int64(r.Amount), "reason": nullable.Ptr(r.Reason), "admin": nullable.Ptr(r.Admin),
		"admin_id": r.AdminID, "gateway_response": remote.Response,
	})
	if err != nil {
		return err
	}
	result := gateway.Result{Status: gateway.ResultApplied}
	if r.Purpose == gateway.ForSubscription {
		result.SubscriptionID = &r.LocalID
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	return s.db.WebhookLogInsert(ctx, tx, paymentsdb.WebhookLogInsertParams{
		ID: objectid.At(now), Gateway: r.Gateway, EventID: &r.EventID, EventType: &r.EventType, Payload: payload,
		SignatureValid: true, Processed: true, Result: raw, ReceivedAt: now, ProcessedAt: &now,
		RequestID: nullable.Ptr(httpapi.RequestID(ctx)),
	})
}
