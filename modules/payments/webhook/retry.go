package webhook

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
)

// RetryArgs applies an event again whose applying failed.
type RetryArgs struct {
	Gateway gateway.Name `json:"gateway"`
	EventID string       `json:"event_id"`
}

// Kind names the job.
func (RetryArgs) Kind() string { return "payments_event_retry" }

func (s *Webhooks) insertRetryTx(ctx context.Context, tx pgx.Tx, e gateway.Event) error {
	_, err := s.deps.Jobs.InsertTx(ctx, tx, RetryArgs{Gateway: e.Gateway, EventID: e.ID}, nil)
	return err
}

// ReplayWaiting applies each waiting event in its own transaction, oldest first.
func (s *Webhooks) ReplayWaiting(ctx context.Context, gateway gateway.Name, subjects []string) error {
	events, err := s.db.ProcessedEventWaiting(ctx, s.deps.Pool, paymentsdb.ProcessedEventWaitingParams{
		Gateway: gateway, Subjects: subjects,
	})
	if err != nil {
		return err
	}
	var failed error
	for _, id := range events {
		failed = errors.Join(failed, s.ApplyAgain(ctx, gateway, id))
	}
	return failed
}
