package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/state"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// ErrDryRun ends a dry run: nothing of it stays.
var ErrDryRun = errors.New("payments: dry run")

// replayResponse is the answer of POST /webhook-logs/{id}/replay: a webhook's, and
// what it changed.
type replayResponse struct {
	Response
	DryRun  bool          `json:"dry_run"`
	Changes []tableChange `json:"changes" doc:"Rows written by applying the event, by table"`
}

// tableChange counts rows written.
type tableChange struct {
	Table    string `json:"table"`
	Inserted int64  `json:"inserted"`
	Updated  int64  `json:"updated"`
	Deleted  int64  `json:"deleted"`
}

type replayInput struct {
	ID     string `path:"id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
	DryRun string `query:"dry_run" enum:"0,1,false,true" doc:"1: apply, show what would change, and take everything back"`
}

// Replay answers POST /webhook-logs/{id}/replay.
func (h Handlers) Replay(ctx context.Context, in *replayInput) (*httpapi.Output[replayResponse], error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt("has to be an id of 24 hexadecimal digits", "path", "id")
	}
	response, err := h.webhooks.replay(ctx, id, in.DryRun == "1" || in.DryRun == "true")
	if err != nil {
		return nil, err
	}
	return httpapi.OK(response)
}

// replay applies the event of a log again, whatever its result was, and gives all
// its logs the new result. Appliers are safe to repeat, so that a replay of what
// was applied changes nothing. A dry run takes everything back.
func (s *Webhooks) replay(ctx context.Context, logID objectid.ID, dryRun bool) (replayResponse, error) {
	response := replayResponse{DryRun: dryRun, Changes: []tableChange{}}
	log, event, err := s.replayable(ctx, logID)
	if err != nil {
		return response, err
	}
	response.Received, response.EventID, response.EventType = true, log.EventID, log.EventType
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if err := s.holdEventTx(ctx, tx, event); err != nil {
			return err
		}
		before, err := rowsWrittenTx(ctx, tx)
		if err != nil {
			return err
		}
		response.Result, err = s.ApplyTx(ctx, tx, event)
		if err != nil {
			return fmt.Errorf("replay event %s: %w", event.ID, err)
		}
		to := state.EventDone
		if response.Result.Unclaimed {
			response.Result, to = unclaimed(response.Result), state.EventWaiting
		}
		after, err := rowsWrittenTx(ctx, tx)
		if err != nil {
			return err
		}
		response.Changes = changesBetween(before, after)
		if dryRun {
			return ErrDryRun
		}
		if err := s.finishTx(ctx, tx, event, to, response.Result); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Change{
			Resource: webhookLogsName, RecordID: logID,
			Before: map[string]any{"replayed": nil},
			After:  map[string]any{"replayed": map[string]any{"result": response.Result, "changes": response.Changes}},
		})
	})
	if errors.Is(err, ErrDryRun) {
		err = nil
	}
	if err == nil && !dryRun {
		s.deps.Log.InfoContext(ctx, "webhook replayed", slog.String("log_id", logID.String()),
			slog.String("event_id", event.ID),
			slog.String("admin_id", httpapi.CallerOf(ctx).ID.String()))
	}
	return response, err
}

// replayable reads a log whose body is a gateway's authenticated event.
func (s *Webhooks) replayable(ctx context.Context, id objectid.ID) (paymentsdb.WebhookLogGetRow, gateway.Event, error) {
	log, err := s.db.WebhookLogGet(ctx, s.deps.Pool, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return log, gateway.Event{}, fault.NotFound("Webhook log")
	}
	if err != nil {
		return log, gateway.Event{}, err
	}
	gw, configured := s.deps.Gateways[log.Gateway]
	switch {
	case !log.SignatureValid:
		return log, gateway.Event{}, fault.Conflict("The call was not authenticated; it cannot be applied.")
	case log.EventID == nil || strings.HasPrefix(nullable.Value(log.EventType), "ADMIN."):
		return log, gateway.Event{}, fault.Conflict("The log holds no event of a gateway.")
	case !configured:
		return log, gateway.Event{}, fault.Conflict("The gateway is not configured.")
	}
	event, err := readStored(gw, log.Payload, log.ID)
	if err != nil {
		return log, gateway.Event{}, fault.Conflict("The log holds no event that can be read.")
	}
	return log, event, nil
}

// readStored reads an event from its log, whose id holds the second in which it came.
func readStored(gateway gateway.Adapter, payload []byte, log objectid.ID) (gateway.Event, error) {
	e, err := gateway.ReadEvent(payload)
	e.Gateway, e.LogID = gateway.Name(), log
	e.ReceivedAt(log.Time().Add(time.Second))
	return e, err
}

// holdEventTx holds the event against everybody else who applies it; an event
// that could not be read when it came is claimed now.
func (s *Webhooks) holdEventTx(ctx context.Context, tx pgx.Tx, e gateway.Event) error {
	at := s.deps.Clock.Now()
	_, err := s.db.ProcessedEventClaim(ctx, tx, paymentsdb.ProcessedEventClaimParams{
		Gateway: e.Gateway, EventID: e.ID, LogID: e.LogID, Subjects: subjectsOf(e), EventAt: e.CreatedAt, At: at,
	})
	if err != nil {
		return fmt.Errorf("claim event: %w", err)
	}
	_, err = s.db.ProcessedEventHold(ctx, tx, paymentsdb.ProcessedEventHoldParams{Gateway: e.Gateway, EventID: e.ID})
	return err
}

// rowsWrittenTx reads the connection's own counters of rows, which may hold
// earlier transactions too: the difference of two readings is what counts.
func rowsWrittenTx(ctx context.Context, tx pgx.Tx) (map[string]tableChange, error) {
	rows, err := tx.Query(ctx, `SELECT schemaname || '.' || relname, n_tup_ins, n_tup_upd, n_tup_del
		FROM pg_stat_xact_user_tables WHERE n_tup_ins + n_tup_upd + n_tup_del > 0 ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[tableChange])
	written := map[string]tableChange{}
	for _, c := range all {
		written[c.Table] = c
	}
	return written, err
}

// changesBetween is what was written between two readings, by table.
func changesBetween(before, after map[string]tableChange) []tableChange {
	changes := []tableChange{}
	for table, now := range after {
		was := before[table]
		c := tableChange{
			Table: table, Inserted: now.Inserted - was.Inserted, Updated: now.Updated - was.Updated,
			Deleted: now.Deleted - was.Deleted,
		}
		if c.Inserted != 0 || c.Updated != 0 || c.Deleted != 0 {
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, func(a, b tableChange) int { return cmp.Compare(a.Table, b.Table) })
	return changes
}
