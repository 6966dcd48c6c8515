-- +goose Up
CREATE TABLE catalog.imports (
    id         platform.object_id PRIMARY KEY,
    filename   text COLLATE "C" NOT NULL,
    delimiter  text COLLATE "C" NOT NULL,
    actor_id   platform.object_id NOT NULL,
    claims     jsonb,
    state      text COLLATE "C" NOT NULL DEFAULT 'checked',
    total      integer NOT NULL,
    creates    integer NOT NULL,
    updates    integer NOT NULL,
    invalid    integer NOT NULL,
    written    integer NOT NULL DEFAULT 0,
    attempts   integer NOT NULL DEFAULT 0,
    error      text COLLATE "C" NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL,
    started_at timestamptz,
    ended_at   timestamptz,
    CONSTRAINT imports_state_known CHECK (state IN ('checked', 'running', 'done', 'stopped', 'failed')),
    CONSTRAINT imports_counts_bounded CHECK (
        total BETWEEN 1 AND 20000 AND creates >= 0 AND updates >= 0 AND invalid >= 0
        AND creates + updates + invalid <= total AND written BETWEEN 0 AND creates + updates),
    CONSTRAINT imports_started_by_somebody CHECK ((started_at IS NULL) = (claims IS NULL)),
    CONSTRAINT imports_started_when_run CHECK (started_at IS NOT NULL OR state IN ('checked', 'stopped')),
    CONSTRAINT imports_started_without_errors CHECK (started_at IS NULL OR invalid = 0),
    CONSTRAINT imports_ended_when_over CHECK ((ended_at IS NOT NULL) = (state IN ('done', 'stopped', 'failed'))),
    CONSTRAINT imports_done_when_written CHECK (state <> 'done' OR written = creates + updates)
);
COMMENT ON TABLE catalog.imports IS 'Files of videos, checked against the catalogue; a job writes all of one in a single transaction, or nothing.';
COMMENT ON COLUMN catalog.imports.claims IS 'What the token said with which it was started, no token: rights are read anew when it runs.';
COMMENT ON COLUMN catalog.imports.state IS 'checked: nothing is written; running: a job writes it; the others are its ends.';
COMMENT ON COLUMN catalog.imports.written IS 'Records that the transaction under way holds; of one that is done, that are written.';
CREATE INDEX imports_by_actor ON catalog.imports (actor_id, created_at DESC);
CREATE INDEX imports_running ON catalog.imports (id) WHERE state = 'running';

CREATE TABLE catalog.import_rows (
    import_id platform.object_id NOT NULL,
    position  integer NOT NULL,
    line      integer NOT NULL,
    outcome   text COLLATE "C" NOT NULL,
    record_id platform.object_id,
    title     text COLLATE "C" NOT NULL,
    record    jsonb,
    changes   text[] COLLATE "C" NOT NULL,
    errors    jsonb NOT NULL,
    PRIMARY KEY (import_id, position),
    CONSTRAINT import_rows_import_exists FOREIGN KEY (import_id) REFERENCES catalog.imports (id) ON DELETE CASCADE,
    CONSTRAINT import_rows_outcome_known CHECK (outcome IN ('create', 'update', 'unchanged', 'invalid')),
    CONSTRAINT import_rows_record_where_written CHECK ((record IS NOT NULL) = (outcome IN ('create', 'update'))),
    CONSTRAINT import_rows_errors_where_invalid CHECK ((jsonb_array_length(errors) > 0) = (outcome = 'invalid'))
);
COMMENT ON TABLE catalog.import_rows IS 'The lines of a file with what they would make or change, or what is wrong with them.';
COMMENT ON COLUMN catalog.import_rows.record_id IS 'Of a new record, once it is written.';

-- +goose Down
DROP TABLE catalog.import_rows;
DROP TABLE catalog.imports;
