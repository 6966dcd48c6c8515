package bulk

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// The states of a bulk act.
const (
	stateRunning = "running"
	stateDone    = "done"
	stateStopped = "stopped"
)

// The outcomes of a record.
const (
	outcomeStarted = "started"
	outcomeDone    = "done"
	outcomeSkipped = "skipped"
	outcomeFailed  = "failed"
	outcomeUnknown = "unknown"
)

// retention is how long what has ended is known.
const retention = 30 * 24 * time.Hour

// stored is a row of platform.bulk_acts with its counts.
type stored struct {
	ID        objectid.ID
	Act       string
	Query     string
	Arguments json.RawMessage
	ActorID   objectid.ID
	Claims    httpapi.Claims
	State     string
	Total     int
	CreatedAt time.Time
	EndedAt   *time.Time
	Counts    counts
}

type counts struct{ Done, Skipped, Failed, Unknown int }

const selectActs = `
SELECT a.id, a.act, a.query, a.arguments, a.actor_id, a.claims, a.state, a.total, a.created_at, a.ended_at,
    c.done, c.skipped, c.failed, c.unknown
FROM platform.bulk_acts a
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE outcome = 'done') AS done, count(*) FILTER (WHERE outcome = 'skipped') AS skipped,
        count(*) FILTER (WHERE outcome = 'failed') AS failed, count(*) FILTER (WHERE outcome = 'unknown') AS unknown
    FROM platform.bulk_rows r WHERE r.bulk_id = a.id
) c `

func scanAct(row pgx.CollectableRow) (s stored, err error) {
	err = row.Scan(&s.ID, &s.Act, &s.Query, &s.Arguments, &s.ActorID, &s.Claims, &s.State, &s.Total,
		&s.CreatedAt, &s.EndedAt, &s.Counts.Done, &s.Counts.Skipped, &s.Counts.Failed, &s.Counts.Unknown)
	return s, err
}

// get reads a bulk act; pgx.ErrNoRows where there is none.
func get(ctx context.Context, db postgres.DB, id objectid.ID) (stored, error) {
	rows, err := db.Query(ctx, selectActs+"WHERE a.id = $1", id)
	if err != nil {
		return stored{}, fmt.Errorf("read bulk act: %w", err)
	}
	return pgx.CollectExactlyOneRow(rows, scanAct)
}

// list reads the last ones of somebody; of everybody for the empty id.
func list(ctx context.Context, db postgres.DB, actor objectid.ID) ([]stored, error) {
	rows, err := db.Query(ctx, selectActs+"WHERE $1::text = '' OR a.actor_id = $1 ORDER BY a.created_at DESC LIMIT 50", actor)
	if err != nil {
		return nil, fmt.Errorf("list bulk acts: %w", err)
	}
	return pgx.CollectRows(rows, scanAct)
}

// listOf reads those of the ids that there are.
func listOf(ctx context.Context, db postgres.DB, ids []string) ([]stored, error) {
	rows, err := db.Query(ctx, selectActs+"WHERE a.id = ANY ($1::text[])", ids)
	if err != nil {
		return nil, fmt.Errorf("list bulk acts: %w", err)
	}
	return pgx.CollectRows(rows, scanAct)
}

// insertTx writes a bulk act with the ids that a statement selects, at most one more than most; how many they are.
func insertTx(ctx context.Context, tx pgx.Tx, s stored, ids string, args []any) (int, error) {
	claims, err := json.Marshal(s.Claims)
	if err != nil {
		return 0, fmt.Errorf("write claims: %w", err)
	}
	// Texts: a pooler that knows no prepared statements leaves their types to Postgres.
	_, err = tx.Exec(ctx, `INSERT INTO platform.bulk_acts (id, act, query, arguments, actor_id, claims, state, total, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, 'running', 0, $7)`, s.ID, s.Act, s.Query, string(s.Arguments), s.ActorID,
		string(claims), s.CreatedAt)
	if err != nil {
		return 0, fmt.Errorf("write bulk act: %w", err)
	}
	n := len(args)
	tag, err := tx.Exec(ctx, fmt.Sprintf(`INSERT INTO platform.bulk_rows (bulk_id, position, record_id)
		SELECT $%d, row_number() OVER (ORDER BY m.id), m.id FROM (%s LIMIT %d) m`, n+1, ids, most+1),
		append(append([]any{pgx.QueryExecModeExec}, args...), s.ID)...)
	if err != nil {
		return 0, fmt.Errorf("write records of bulk act: %w", err)
	}
	total := int(tag.RowsAffected())
	if total > most {
		return total, nil
	}
	_, err = tx.Exec(ctx, "UPDATE platform.bulk_acts SET total = $2 WHERE id = $1", s.ID, total)
	if err != nil {
		return 0, fmt.Errorf("write bulk act: %w", err)
	}
	return total, nil
}

// row is a record of a bulk act.
type row struct {
	Position int
	RecordID string
	Outcome  *string
	Reason   string
}

// next is the first record that is not over; pgx.ErrNoRows where none is left, or the act has ended.
func next(ctx context.Context, db postgres.DB, id objectid.ID) (r row, err error) {
	err = db.QueryRow(ctx, `SELECT r.position, r.record_id, r.outcome FROM platform.bulk_rows r
		JOIN platform.bulk_acts a ON a.id = r.bulk_id
		WHERE r.bulk_id = $1 AND (r.outcome IS NULL OR r.outcome = 'started') AND a.state = 'running'
		ORDER BY r.position LIMIT 1`, id).Scan(&r.Position, &r.RecordID, &r.Outcome)
	return r, err
}

// set writes what became of a record.
func set(ctx context.Context, db postgres.DB, id objectid.ID, position int, outcome, reason string) error {
	_, err := db.Exec(ctx, "UPDATE platform.bulk_rows SET outcome = $3, reason = $4 WHERE bulk_id = $1 AND position = $2",
		id, position, outcome, reason)
	if err != nil {
		return fmt.Errorf("write what became of a record: %w", err)
	}
	return nil
}

// end moves a running act to a last state; false where it has ended.
func end(ctx context.Context, db postgres.DB, id objectid.ID, state string, now time.Time) (bool, error) {
	tag, err := db.Exec(ctx,
		"UPDATE platform.bulk_acts SET state = $2, ended_at = $3 WHERE id = $1 AND state = 'running'", id, state, now)
	if err != nil {
		return false, fmt.Errorf("end bulk act: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// rowsAfter reads records in their order, behind a position; of one outcome unless that is empty.
func rowsAfter(ctx context.Context, db postgres.DB, id objectid.ID, outcome string, after, qty int) ([]row, error) {
	rows, err := db.Query(ctx, `SELECT position, record_id, outcome, reason FROM platform.bulk_rows
		WHERE bulk_id = $1 AND position > $2 AND ($3 = '' OR outcome = $3) ORDER BY position LIMIT $4`, id, after, outcome, qty)
	if err != nil {
		return nil, fmt.Errorf("read records of bulk act: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[row])
}
