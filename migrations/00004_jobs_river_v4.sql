-- River's own migration 4 (pending_and_more), on schema jobs.
-- +goose Up
-- +goose StatementBegin
-- The args column never had a NOT NULL constraint or default value at the
-- database level, though we tried to ensure one at the application level.
ALTER TABLE jobs.river_job ALTER COLUMN args SET DEFAULT '{}';
UPDATE jobs.river_job SET args = '{}' WHERE args IS NULL;
ALTER TABLE jobs.river_job ALTER COLUMN args SET NOT NULL;
ALTER TABLE jobs.river_job ALTER COLUMN args DROP DEFAULT;

-- The metadata column never had a NOT NULL constraint or default value at the
-- database level, though we tried to ensure one at the application level.
ALTER TABLE jobs.river_job ALTER COLUMN metadata SET DEFAULT '{}';
UPDATE jobs.river_job SET metadata = '{}' WHERE metadata IS NULL;
ALTER TABLE jobs.river_job ALTER COLUMN metadata SET NOT NULL;

-- The 'pending' job state will be used for upcoming functionality:
ALTER TYPE jobs.river_job_state ADD VALUE IF NOT EXISTS 'pending' AFTER 'discarded';

ALTER TABLE jobs.river_job DROP CONSTRAINT finalized_or_finalized_at_null;
ALTER TABLE jobs.river_job ADD CONSTRAINT finalized_or_finalized_at_null CHECK (
    (finalized_at IS NULL AND state NOT IN ('cancelled', 'completed', 'discarded')) OR
    (finalized_at IS NOT NULL AND state IN ('cancelled', 'completed', 'discarded'))
);

DROP TRIGGER river_notify ON jobs.river_job;
DROP FUNCTION jobs.river_job_notify;

--
-- Create table `river_queue`.
--

CREATE TABLE jobs.river_queue (
    name text PRIMARY KEY NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    metadata jsonb NOT NULL DEFAULT '{}' ::jsonb,
    paused_at timestamptz,
    updated_at timestamptz NOT NULL
);

--
-- Alter `river_leader` to add a default value of 'default` to `name`.
--

ALTER TABLE jobs.river_leader
    ALTER COLUMN name SET DEFAULT 'default',
    DROP CONSTRAINT name_length,
    ADD CONSTRAINT name_length CHECK (name = 'default');
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
ALTER TABLE jobs.river_job ALTER COLUMN args DROP NOT NULL;

ALTER TABLE jobs.river_job ALTER COLUMN metadata DROP NOT NULL;
ALTER TABLE jobs.river_job ALTER COLUMN metadata DROP DEFAULT;

-- It is not possible to safely remove 'pending' from the river_job_state enum,
-- so leave it in place.

ALTER TABLE jobs.river_job DROP CONSTRAINT finalized_or_finalized_at_null;
ALTER TABLE jobs.river_job ADD CONSTRAINT finalized_or_finalized_at_null CHECK (
  (state IN ('cancelled', 'completed', 'discarded') AND finalized_at IS NOT NULL) OR finalized_at IS NULL
);

CREATE OR REPLACE FUNCTION jobs.river_job_notify()
  RETURNS TRIGGER
  AS $$
DECLARE
  payload json;
BEGIN
  IF NEW.state = 'available' THEN
    -- Notify will coalesce duplicate notifications within a transaction, so
    -- keep these payloads generalized:
    payload = json_build_object('queue', NEW.queue);
    PERFORM
      pg_notify('river_insert', payload::text);
  END IF;
  RETURN NULL;
END;
$$
LANGUAGE plpgsql;

CREATE TRIGGER river_notify
  AFTER INSERT ON jobs.river_job
  FOR EACH ROW
  EXECUTE PROCEDURE jobs.river_job_notify();

DROP TABLE jobs.river_queue;

ALTER TABLE jobs.river_leader
    ALTER COLUMN name DROP DEFAULT,
    DROP CONSTRAINT name_length,
    ADD CONSTRAINT name_length CHECK (char_length(name) > 0 AND char_length(name) < 128);
-- +goose StatementEnd
