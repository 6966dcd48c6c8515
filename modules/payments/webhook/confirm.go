package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/jobs"
	"marquee/platform/postgres"
)

// ConfirmEventArgs reads at the gateway what an event tells that proves nothing by itself, and
// applies the event as the gateway shows it.
type ConfirmEventArgs struct {
	Gateway gateway.Name `json:"gateway"`
	EventID string       `json:"event_id"`
	Misses  int          `json:"misses,omitempty"` // looks that did not show what the event tells
}

// Kind names the job.
func (ConfirmEventArgs) Kind() string { return "payments_event_told" }

func (s *Webhooks) queueConfirmationTx(ctx context.Context, tx pgx.Tx, a ConfirmEventArgs, at time.Time) error {
	if _, err := s.deps.Jobs.InsertTx(ctx, tx, a,
		&river.InsertOpts{Queue: jobs.QueueGateway, ScheduledAt: at}); err != nil {
		return fmt.Errorf("have the gateway asked for event %s: %w", a.EventID, err)
	}
	return nil
}

// ConfirmEvent asks the gateway for what an event is about, and applies the event with its
// answer. What four looks do not show changes nothing, and the webhook's log says so; an
// answer that is not known is asked for again.
func (s *Webhooks) ConfirmEvent(ctx context.Context, a ConfirmEventArgs) error {
	gw, err := s.deps.Gateways.Find(a.Gateway)
	if err != nil {
		return err
	}
	row, err := s.db.ProcessedEventBody(ctx, s.deps.Pool,
		paymentsdb.ProcessedEventBodyParams{Gateway: a.Gateway, EventID: a.EventID})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // its log was removed with its month
	}
	if err != nil {
		return fmt.Errorf("read told event: %w", err)
	}
	stored, err := readStored(gw, row.Payload, row.LogID)
	if err != nil {
		return fmt.Errorf("read told event %s: %w", a.EventID, err)
	}
	live, err := gw.Confirm(gateway.Background(ctx), stored)
	if errors.Is(err, gateway.ErrMissing) {
		return s.retryConfirmation(ctx, stored, a, err)
	}
	if err != nil {
		return fmt.Errorf("ask for what event %s tells: %w", a.EventID, err)
	}
	live.Confirmed = true
	return s.finishConfirmation(ctx, stored, func(tx pgx.Tx) (gateway.Result, error) {
		return s.ApplyTx(ctx, tx, live)
	})
}

// retryConfirmation has the gateway asked once more after a miss, unless it was the last.
func (s *Webhooks) retryConfirmation(ctx context.Context, stored gateway.Event, a ConfirmEventArgs, why error) error {
	pause, again := gateway.LivePause(a.Misses)
	if again {
		at := s.deps.Clock.Now().Add(pause)
		a.Misses++
		return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error { return s.queueConfirmationTx(ctx, tx, a, at) })
	}
	s.deps.Log.WarnContext(ctx, "webhook that the gateway does not confirm changes nothing",
		slog.String("gateway", string(a.Gateway)),
		slog.String("event_id", a.EventID), slog.String("event_type", stored.Type),
		slog.String("log_id", stored.LogID.String()), slog.Any("error", why))
	return s.finishConfirmation(ctx, stored, func(pgx.Tx) (gateway.Result, error) {
		return gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonNotAsIsTold}, nil
	})
}

// FinishConfirmationTx gives an event the result of asking its gateway, by a job of its applier
// (Asked). An event that was not asked about, or has its result, keeps it.
func (s *Webhooks) FinishConfirmationTx(ctx context.Context, tx pgx.Tx, gateway gateway.Name, eventID string,
	r gateway.Result,
) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	err = s.db.ProcessedEventFinishConfirmation(ctx, tx, paymentsdb.ProcessedEventFinishConfirmationParams{
		Gateway: gateway, EventID: eventID, Result: raw, At: s.deps.Clock.Now(),
	})
	if err != nil {
		return fmt.Errorf("finish event %s: %w", eventID, err)
	}
	return nil
}

// finishConfirmation gives a stored event and its logs the result, which is found in the same
// transaction.
func (s *Webhooks) finishConfirmation(ctx context.Context, stored gateway.Event,
	apply func(tx pgx.Tx) (gateway.Result, error),
) error {
	return postgres.InTx(context.WithoutCancel(ctx), s.deps.Pool, func(tx pgx.Tx) error {
		_, err := s.db.ProcessedEventHold(ctx, tx,
			paymentsdb.ProcessedEventHoldParams{Gateway: stored.Gateway, EventID: stored.ID})
		if err != nil {
			return fmt.Errorf("hold stored event: %w", err)
		}
		result, err := apply(tx)
		if err != nil {
			return fmt.Errorf("apply event %s as the gateway shows it: %w", stored.ID, err)
		}
		if result.Unclaimed {
			return s.finishTx(ctx, tx, stored, state.EventWaiting, unclaimed(result))
		}
		return s.finishTx(ctx, tx, stored, state.EventDone, result)
	})
}
