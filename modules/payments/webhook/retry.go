package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/postgres"
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

// queueTx logs the delivery of an event whose applying failed, and has a job try
// again. Another delivery may have applied it meanwhile, which is as good.
func (s *Webhooks) queueTx(ctx context.Context, tx pgx.Tx, d delivery) (gateway.Result, error) {
	claimed, err := s.claimTx(ctx, tx, d)
	if err != nil {
		return gateway.Result{}, err
	}
	if !claimed {
		return s.repeatTx(ctx, tx, d)
	}
	if err := s.insertRetryTx(ctx, tx, d.event); err != nil {
		return gateway.Result{}, err
	}
	result := gateway.Result{Status: gateway.ResultQueued}
	return result, s.receivedTx(ctx, tx, d, state.EventQueued, result)
}

// ApplyAgain applies a queued or waiting event from its stored body. An event
// that is neither any more is left alone. The error keeps the event as it is.
func (s *Webhooks) ApplyAgain(ctx context.Context, name gateway.Name, eventID string) error {
	gw, err := s.deps.Gateways.Find(name)
	if err != nil {
		return err
	}
	if err := s.linkIntent(ctx, gw, eventID); err != nil {
		return err
	}
	var queued *time.Time // since when, where it is now applied that had failed
	var result gateway.Result
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		row, err := s.db.ProcessedEventLock(ctx, tx,
			paymentsdb.ProcessedEventLockParams{Gateway: name, EventID: eventID})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lock event: %w", err)
		}
		if row.State == state.EventQueued {
			queued = &row.UpdatedAt
		}
		event, err := readStored(gw, row.Payload, row.LogID)
		if err != nil {
			return fmt.Errorf("read stored event %s: %w", eventID, err)
		}
		if result, err = s.ApplyTx(ctx, tx, event); err != nil {
			return fmt.Errorf("apply event %s: %w", eventID, err)
		}
		if !result.Unclaimed {
			return s.finishTx(ctx, tx, event, state.EventDone, result)
		}
		result = unclaimed(result)
		return s.finishTx(ctx, tx, event, state.EventWaiting, result)
	})
	if err != nil {
		return err
	}
	if queued != nil {
		s.metrics.observe(name, s.deps.Clock.Now().Sub(*queued))
	}
	s.metrics.countIgnored(name, result)
	return nil
}

// ReplayWaiting applies each waiting event in its own transaction, oldest first.
func (s *Webhooks) ReplayWaiting(ctx context.Context, gateway gateway.Name, subjects []string) error {
	events, err := s.db.ProcessedEventListWaiting(ctx, s.deps.Pool, paymentsdb.ProcessedEventListWaitingParams{
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

// finishTx gives an event that was applied again, and all its logs, the result.
func (s *Webhooks) finishTx(ctx context.Context, tx pgx.Tx, e gateway.Event, to state.Event, r gateway.Result) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	// The caller holds the event: nobody else touches its logs, so that they never
	// have different results.
	params := paymentsdb.ProcessedEventFinishParams{
		Gateway: e.Gateway, EventID: e.ID, LogID: e.LogID, State: to, Result: raw, At: s.deps.Clock.Now(),
		Processed: true,
	}
	params.ProcessedAt = &params.At
	if err := s.db.ProcessedEventFinish(ctx, tx, params); err != nil {
		return fmt.Errorf("finish event: %w", err)
	}
	return nil
}
