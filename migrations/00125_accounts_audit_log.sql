-- +goose Up
CREATE TABLE accounts.audit_log (
    id         platform.object_id PRIMARY KEY,
    at         timestamptz NOT NULL,
    actor_id   platform.object_id,
    actor_name text COLLATE "C" NOT NULL,
    action     text COLLATE "C" NOT NULL,
    path       text COLLATE "C" NOT NULL,
    resource   text COLLATE "C" NOT NULL,
    record_id  platform.object_id,
    before     jsonb,
    after      jsonb,
    request_id text COLLATE "C" NOT NULL,
    erased_at  timestamptz,
    CONSTRAINT audit_log_action_present CHECK (action <> '' AND resource <> ''),
    CONSTRAINT audit_log_before_is_object CHECK (jsonb_typeof(before) = 'object'),
    CONSTRAINT audit_log_after_is_object CHECK (jsonb_typeof(after) = 'object')
);
COMMENT ON TABLE accounts.audit_log IS 'What admins changed, append-only: who, by which route, which record, and its fields before and after.';
COMMENT ON COLUMN accounts.audit_log.actor_id IS 'No foreign key: the trail outlives users. Null: the service itself.';
COMMENT ON COLUMN accounts.audit_log.actor_name IS 'Username at that time.';
COMMENT ON COLUMN accounts.audit_log.action IS 'Handler name, as in GET /routes.';
COMMENT ON COLUMN accounts.audit_log.resource IS 'Collection as in its path, such as users.';
COMMENT ON COLUMN accounts.audit_log.before IS 'Null for a record that was made. Of a change, only the fields that differ; secrets never.';
COMMENT ON COLUMN accounts.audit_log.after IS 'Null for a record that was deleted.';
COMMENT ON COLUMN accounts.audit_log.erased_at IS 'When the values were taken out, because the person they speak of was deleted.';

CREATE INDEX audit_log_by_instant ON accounts.audit_log (at DESC, id);
CREATE INDEX audit_log_by_record ON accounts.audit_log (record_id, at DESC, id);
CREATE INDEX audit_log_by_actor ON accounts.audit_log (actor_id, at DESC, id);

-- +goose StatementBegin
CREATE FUNCTION accounts.erased(fields jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(jsonb_object_agg(key, CASE WHEN jsonb_typeof(value) IN ('boolean', 'null') THEN value ELSE '"[erased]"' END), '{}')
    FROM jsonb_each(fields)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.erased(jsonb) IS 'The fields without what they held, but for yes and no.';

-- +goose StatementBegin
CREATE FUNCTION accounts.keep_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL
           AND to_jsonb(NEW) - 'erased_at' = (to_jsonb(OLD) - 'erased_at') ||
               jsonb_build_object('before', accounts.erased(OLD.before), 'after', accounts.erased(OLD.after))
        THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'accounts.audit_log is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.keep_audit_log() IS 'Keeps the trail append-only, also against people at psql; erasing the values of a deleted person is the one change.';

CREATE TRIGGER audit_log_rows_stay BEFORE UPDATE OR DELETE ON accounts.audit_log
    FOR EACH ROW EXECUTE FUNCTION accounts.keep_audit_log();
CREATE TRIGGER audit_log_stays BEFORE TRUNCATE ON accounts.audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION accounts.keep_audit_log();

-- +goose Down
DROP TABLE accounts.audit_log;
DROP FUNCTION accounts.keep_audit_log();
DROP FUNCTION accounts.erased(jsonb);
