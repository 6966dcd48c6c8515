package webhook

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/nullable"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// webhookLogsName is the collection's name, in paths and in the audit trail.
const webhookLogsName = "webhook-logs"

const webhookLogColumns = "id, gateway, event_id, event_type, payload, signature, signature_valid, processed, result, received_at, processed_at, request_id"

// logsFrom reads both logs.
const logsFrom = `(SELECT l.*, NULL::platform.object_id AS document_created_by_id, l.received_at AS register_date,
		coalesce(l.processed_at, l.received_at) AS register_update_date
		FROM (SELECT ` + webhookLogColumns + ` FROM payments.webhook_logs
			UNION ALL SELECT ` + webhookLogColumns + ` FROM payments.refused_webhooks) l) t`

// Logs is the collection of every webhook call that is stored (docs/contract/payments.md, The log), the refused ones
// among them. Dotted paths lead into payload and result. The secrets that prove calls stand nowhere in it: a signature
// is a digest, and gateway A's token is never stored.
var Logs = resource.New(resource.Definition{
	Name: webhookLogsName, Singular: "Webhook log", Table: "payments.webhook_logs",
	From:        logsFrom,
	DefaultSort: `{"received_at":-1}`,
	Fields: []resource.Field{
		{
			Name: "event_id", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
			Doc: "The gateway's id; a redelivered event has one log per delivery",
		},
		{Name: "event_type", Kind: query.String, Nullable: true, Write: resource.ReadOnly},
		{
			Name: "gateway", Kind: query.String, Write: resource.ReadOnly, Doc: "gwa or gwb",
			Rule: resource.Rule{Enum: []string{"gwa", "gwb"}},
		},
		{
			Name: "payload", Kind: query.JSON, Write: resource.ReadOnly,
			Doc: "The body; a text when it was not JSON. At most 4 kB of a refused call",
		},
		{
			Name: "signature", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
			Doc: "Gateway B's signature header",
		},
		{Name: "signature_valid", Kind: query.Bool, Write: resource.ReadOnly},
		{Name: "processed", Kind: query.Bool, Write: resource.ReadOnly},
		{Name: "result", Kind: query.JSON, Nullable: true, Write: resource.ReadOnly},
		{Name: "received_at", Kind: query.Date, Write: resource.ReadOnly},
		{Name: "processed_at", Kind: query.Date, Nullable: true, Write: resource.ReadOnly},
		{
			Name: "request_id", Kind: query.String, Nullable: true, Write: resource.ReadOnly,
			Doc: "X-Request-Id of the call; null for calls from before it was recorded",
		},
	},
})

// logFinal logs a delivery without an event behind it.
func (s *Webhooks) logFinal(ctx context.Context, d delivery, r gateway.Result) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	params := logParams(d)
	params.Processed, params.Result, params.ProcessedAt = true, raw, new(s.deps.Clock.Now())
	return s.db.WebhookLogInsert(ctx, s.deps.Pool, params)
}

func logParams(d delivery) paymentsdb.WebhookLogInsertParams {
	return paymentsdb.WebhookLogInsertParams{
		ID: d.log, Gateway: d.event.Gateway, EventID: nullable.Ptr(d.event.ID), EventType: nullable.Ptr(d.event.Type),
		Payload: d.body, Signature: nullable.Ptr(d.proof), SignatureValid: true, ReceivedAt: d.at,
		RequestID: nullable.Ptr(d.request),
	}
}

// repeatTx logs the delivery with the result that its event has.
func (s *Webhooks) repeatTx(ctx context.Context, tx pgx.Tx, d delivery) (gateway.Result, error) {
	raw, err := s.db.ProcessedEventRepeat(ctx, tx, paymentsdb.ProcessedEventRepeatParams{
		Gateway: d.event.Gateway, EventID: d.event.ID, EventType: nullable.Ptr(d.event.Type), LogID: d.log,
		Payload:   d.body,
		Signature: nullable.Ptr(d.proof), ReceivedAt: d.at, ProcessedAt: s.deps.Clock.Now(),
		RequestID: nullable.Ptr(d.request),
	})
	if err != nil {
		return gateway.Result{}, fmt.Errorf("log repetition: %w", err)
	}
	var result gateway.Result
	if err := json.Unmarshal(raw, &result); err != nil {
		return gateway.Result{}, fmt.Errorf("read result of event %s: %w", d.event.ID, err)
	}
	return result, nil
}
