-- +goose Up
CREATE TABLE platform.bulk_acts (
    id         platform.object_id PRIMARY KEY,
    act        text COLLATE "C" NOT NULL,
    query      text COLLATE "C" NOT NULL,
    arguments  jsonb NOT NULL,
    actor_id   platform.object_id NOT NULL,
    claims     jsonb NOT NULL,
    state      text COLLATE "C" NOT NULL,
    total      integer NOT NULL,
    created_at timestamptz NOT NULL,
    ended_at   timestamptz,
    CONSTRAINT bulk_acts_state_known CHECK (state IN ('running', 'done', 'stopped')),
    CONSTRAINT bulk_acts_total_bounded CHECK (total BETWEEN 0 AND 100000),
    CONSTRAINT bulk_acts_ended_when_over CHECK ((ended_at IS NOT NULL) = (state <> 'running')),
    CONSTRAINT bulk_acts_arguments_are_object CHECK (jsonb_typeof(arguments) = 'object')
);
COMMENT ON TABLE platform.bulk_acts IS 'What staff do to all records of a filter: a job calls the API for each, as whoever asked for it.';
COMMENT ON COLUMN platform.bulk_acts.claims IS 'What the token said with which it was asked for, no token: its session and rights are read anew for each record.';
COMMENT ON COLUMN platform.bulk_acts.total IS 'How many records the filter matched when it was confirmed; these and no others.';
CREATE INDEX bulk_acts_by_actor ON platform.bulk_acts (actor_id, created_at DESC);
CREATE INDEX bulk_acts_by_end ON platform.bulk_acts (ended_at);

CREATE TABLE platform.bulk_rows (
    bulk_id   platform.object_id NOT NULL,
    position  integer NOT NULL,
    record_id text COLLATE "C" NOT NULL,
    outcome   text COLLATE "C",
    reason    text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (bulk_id, position),
    CONSTRAINT bulk_rows_act_exists FOREIGN KEY (bulk_id) REFERENCES platform.bulk_acts (id) ON DELETE CASCADE,
    CONSTRAINT bulk_rows_outcome_known CHECK (outcome IN ('started', 'done', 'skipped', 'failed', 'unknown'))
);
COMMENT ON TABLE platform.bulk_rows IS 'The records of a bulk act, with what became of each. Null: not yet begun; started: the call is under way, or was cut off; unknown: it was cut off, and may not be made again.';
CREATE INDEX bulk_rows_open ON platform.bulk_rows (bulk_id, position) WHERE outcome IS NULL OR outcome = 'started';

-- +goose Down
DROP TABLE platform.bulk_rows;
DROP TABLE platform.bulk_acts;
