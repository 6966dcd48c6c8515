package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
)

// webhookStats is the answer of GET /webhook-logs/stats (docs/contract/payments.md, The log).
// Processed, pending, failed and invalid_signature add up to total.
type webhookStats struct {
	Total            int64            `json:"total"`
	Processed        int64            `json:"processed" doc:"Applied, or known to be without consequence"`
	Pending          int64            `json:"pending" doc:"Waiting for the subscription or order that they are about"`
	Failed           int64            `json:"failed" doc:"Could not be applied; a job tries again"`
	InvalidSignature int64            `json:"invalid_signature" doc:"Refused calls: those stored and those counted alone, by whole hours"`
	ByGateway        map[string]int64 `json:"by_gateway"`
	ByEventType      map[string]int64 `json:"by_event_type" doc:"Of authenticated calls"`
	ByHour           []webhookHour    `json:"by_hour" doc:"Stored calls by hour of receipt, of the last seven days of the span"`
	LastReceivedAt   *httpapi.Time    `json:"last_received_at" nullable:"true"`
	P95Processing    float64          `json:"p95_processing_ms" doc:"From receipt to the result, of processed ones"`
}

// webhookHour is an hour in which calls came; those without any are left out.
type webhookHour struct {
	At    httpapi.Time `json:"at" doc:"Its first instant"`
	Calls int64        `json:"calls"`
}

// hourlySpan is how far back hours are told apart.
const hourlySpan = 7 * 24 * time.Hour

type webhookStatsInput struct {
	Start string `query:"start" doc:"First instant or day (UTC) of receipt; default from the beginning"`
	End   string `query:"end" doc:"Instant before which, or last day (UTC) on which, calls were received; default now"`
}

// Stats answers GET /webhook-logs/stats.
func (h Handlers) Stats(ctx context.Context, in *webhookStatsInput) (*httpapi.Output[webhookStats], error) {
	from, err := bound("start", in.Start, 0)
	if err != nil {
		return nil, err
	}
	to, err := bound("end", in.End, 24*time.Hour)
	if err != nil {
		return nil, err
	}
	if from != nil && to != nil && !from.Before(*to) {
		return nil, fault.InvalidAt("has to be after start", "query", "end")
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	stats, err := h.log.stats(ctx, from, to)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(stats)
}

// bound reads a bound in time; a bare day is moved by wholeDay, so that the last
// day is inside.
func bound(name, text string, wholeDay time.Duration) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no bound
	}
	at, err := httpapi.ParseTime(text)
	if err != nil {
		return nil, fault.InvalidAt("has to be a day or an instant", "query", name)
	}
	if len(text) == len(time.DateOnly) {
		at = at.Add(wholeDay)
	}
	return &at, nil
}

// stats counts the calls of a span: 422 for more calls than can be counted while somebody
// waits (resource.StatementTimeout).
func (s *Log) stats(ctx context.Context, from, to *time.Time) (webhookStats, error) {
	if err := s.refusals.writeRefused(ctx); err != nil {
		return webhookStats{}, err
	}
	var row paymentsdb.WebhookLogStatsGetRow
	var counted paymentsdb.RefusedWebhookStatsGetRow
	until := s.deps.Clock.Now()
	if to != nil {
		until = *to
	}
	err := s.deps.Reads.Read(ctx, func(ctx context.Context, db postgres.Pool) (err error) {
		row, err = s.db.WebhookLogStatsGet(ctx, db, paymentsdb.WebhookLogStatsGetParams{
			FromAt: from, ToAt: to, HoursFrom: until.Add(-hourlySpan),
		})
		if err == nil {
			counted, err = s.db.RefusedWebhookStatsGet(ctx, db,
				paymentsdb.RefusedWebhookStatsGetParams{FromAt: from, ToAt: to})
		}
		return err
	})
	if postgres.IsTimeout(err) {
		return webhookStats{}, fault.InvalidAt("has to be later: there are too many calls to count", "query", "start").
			WithCause(err)
	}
	if err != nil {
		return webhookStats{}, fmt.Errorf("count webhook logs: %w", err)
	}
	refused := counted.FromGwa + counted.FromGwb
	if counted.LastReceivedAt.After(row.LastReceivedAt) {
		row.LastReceivedAt = counted.LastReceivedAt
	}
	stats := webhookStats{
		Total: row.Total + refused, Processed: row.Processed, Pending: row.Pending, Failed: row.Failed,
		InvalidSignature: row.InvalidSignature + refused,
		ByGateway: gateway.Each[int64]{
			GWA: row.FromGwa + counted.FromGwa, GWB: row.FromGwb + counted.FromGwb,
		}.ByName(),
		ByEventType:   map[string]int64{},
		P95Processing: row.P95ProcessingMs,
	}
	if stats.Total > 0 {
		stats.LastReceivedAt = httpapi.TimePtr(&row.LastReceivedAt)
	}
	if err := json.Unmarshal(row.ByEventType, &stats.ByEventType); err != nil {
		return webhookStats{}, fmt.Errorf("read counts by event type: %w", err)
	}
	if err := json.Unmarshal(row.ByHour, &stats.ByHour); err != nil {
		return webhookStats{}, fmt.Errorf("read counts by hour: %w", err)
	}
	return stats, nil
}
