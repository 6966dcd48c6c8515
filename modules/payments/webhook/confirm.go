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

// Confirmation describes how a job asks a gateway for what an event reports and does not prove:
// until the gateway shows it, none of it is believed.
type Confirmation struct {
	Gateway gateway.Name
	EventID string        // its log has the result; "": no event reported it
	Misses  int           // checks before this one that did not show it
	Again   river.JobArgs // the job of the next check, with one miss more
	// Read gives the event as the gateway shows it. gateway.ErrMissing: it does not, and is asked
	// again, unless this is the last check; any other error has the job repeated.
	Read func(ctx context.Context, last bool) (gateway.Event, error)
	// ApplyTx applies what was read.
	ApplyTx func(ctx context.Context, tx pgx.Tx, live gateway.Event) (gateway.Result, error)
	// GivenUpTx gives the result of an event that the last check did not show.
	GivenUpTx func(ctx context.Context, tx pgx.Tx, why error) (gateway.Result, error)
	// finishTx gives the event its result; nil: FinishConfirmationTx.
	finishTx func(ctx context.Context, tx pgx.Tx, r gateway.Result) error
}

// Confirm looks once. What was read is applied, and the event finished, in one transaction, also
// when the caller goes away.
func (s *Webhooks) Confirm(ctx context.Context, c Confirmation) error {
	pause, again := livePause(c.Misses)
	live, err := c.Read(ctx, !again)
	missing := errors.Is(err, gateway.ErrMissing)
	if err != nil && !missing {
		return fmt.Errorf("ask for what event %s tells: %w", c.EventID, err)
	}
	ctx = context.WithoutCancel(ctx)
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if missing && again {
			return s.queueConfirmationTx(ctx, tx, c.Again, s.deps.Clock.Now().Add(pause))
		}
		return s.decideTx(ctx, tx, c, live, err)
	})
}

// decideTx applies what was read, or gives the event up, and finishes it. The event is held
// first, as by everybody who applies it.
func (s *Webhooks) decideTx(ctx context.Context, tx pgx.Tx, c Confirmation, live gateway.Event,
	missing error,
) (err error) {
	_, err = s.db.ProcessedEventHold(ctx, tx,
		paymentsdb.ProcessedEventHoldParams{Gateway: c.Gateway, EventID: c.EventID})
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("hold stored event: %w", err)
	}
	var result gateway.Result
	if missing == nil {
		result, err = c.ApplyTx(ctx, tx, live)
	} else {
		result, err = c.GivenUpTx(ctx, tx, missing)
	}
	if err != nil {
		return fmt.Errorf("apply event %s as the gateway shows it: %w", c.EventID, err)
	}
	if c.finishTx != nil {
		return c.finishTx(ctx, tx, result)
	}
	return s.FinishConfirmationTx(ctx, tx, c.Gateway, c.EventID, result)
}

func (s *Webhooks) queueConfirmationTx(ctx context.Context, tx pgx.Tx, a river.JobArgs, at time.Time) error {
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway, ScheduledAt: at})
}

// ConfirmEventArgs reads at the gateway what an event tells that proves nothing by itself, and
// applies the event as the gateway shows it.
type ConfirmEventArgs struct {
	Gateway gateway.Name `json:"gateway"`
	EventID string       `json:"event_id"`
	Misses  int          `json:"misses,omitempty"` // checks that did not show what the event tells
}

// Kind names the job.
func (ConfirmEventArgs) Kind() string { return "payments_event_told" }

// ConfirmEvent asks the gateway for what an event is about, and applies the event with its
// answer. What four checks do not show changes nothing, and the webhook's log says so; an
// answer that is not known is asked for again.
func (s *Webhooks) ConfirmEvent(ctx context.Context, a ConfirmEventArgs) error {
	gw, err := s.deps.Gateways.Find(a.Gateway)
	if err != nil {
		return err
	}
	row, err := s.db.ProcessedEventGetBody(ctx, s.deps.Pool,
		paymentsdb.ProcessedEventGetBodyParams{Gateway: a.Gateway, EventID: a.EventID})
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
	again := a
	again.Misses++
	var result gateway.Result
	err = s.Confirm(ctx, Confirmation{
		Gateway: a.Gateway, EventID: a.EventID, Misses: a.Misses, Again: again,
		Read: func(ctx context.Context, _ bool) (gateway.Event, error) {
			live, err := gw.Confirm(gateway.Background(ctx), stored)
			live.Confirmed = true
			return live, err
		},
		ApplyTx: s.ApplyTx,
		GivenUpTx: func(ctx context.Context, _ pgx.Tx, why error) (gateway.Result, error) {
			s.deps.Log.WarnContext(ctx, "webhook that the gateway does not confirm changes nothing",
				slog.String("gateway", string(a.Gateway)),
				slog.String("event_id", a.EventID), slog.String("event_type", stored.Type),
				slog.String("log_id", stored.LogID.String()), slog.Any("error", why))
			return gateway.Result{Status: gateway.ResultIgnored, Reason: gateway.ReasonUnconfirmed}, nil
		},
		finishTx: func(ctx context.Context, tx pgx.Tx, r gateway.Result) error {
			if result = r; r.Unclaimed {
				result = unclaimed(r)
				return s.finishTx(ctx, tx, stored, state.EventWaiting, result)
			}
			return s.finishTx(ctx, tx, stored, state.EventDone, r)
		},
	})
	if err == nil {
		s.metrics.countIgnored(a.Gateway, result)
	}
	return err
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

// livePauses lie between the looks for a payment that was told and is not found, or not
// paid: gateway A's answers may lag, and the last of four decides.
var livePauses = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// livePause is how long to wait after so many checks that did not find a payment paid; ok
// is false when that was the last.
func livePause(misses int) (pause time.Duration, ok bool) {
	if misses >= len(livePauses) {
		return 0, false
	}
	return livePauses[misses], true
}
