-- +goose Up
CREATE TABLE finance.exports (
    id           platform.object_id PRIMARY KEY,
    requested_by platform.object_id NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    format       text COLLATE "C" NOT NULL,
    parameters   jsonb NOT NULL,
    filename     text COLLATE "C" NOT NULL,
    status       text COLLATE "C" NOT NULL DEFAULT 'queued',
    attempt      integer NOT NULL DEFAULT 0,
    lease_until  timestamptz,
    rows_total   bigint,
    rows_written bigint NOT NULL DEFAULT 0,
    size         bigint,
    error        text,
    created_at   timestamptz NOT NULL,
    started_at   timestamptz,
    finished_at  timestamptz,
    expires_at   timestamptz,
    CONSTRAINT exports_kind_known CHECK (kind IN ('finance', 'events', 'customers')),
    CONSTRAINT exports_format_known CHECK (format IN ('xlsx', 'csv', 'json')),
    CONSTRAINT exports_status_known CHECK (status IN ('queued', 'running', 'done', 'failed')),
    CONSTRAINT exports_running_is_leased CHECK ((status = 'running') = (lease_until IS NOT NULL)),
    CONSTRAINT exports_ended_has_end CHECK ((status IN ('done', 'failed')) = (finished_at IS NOT NULL AND expires_at IS NOT NULL)),
    CONSTRAINT exports_done_has_size CHECK ((status = 'done') = (size IS NOT NULL)),
    CONSTRAINT exports_failed_says_why CHECK ((status = 'failed') = (error IS NOT NULL))
);
COMMENT ON TABLE finance.exports IS 'Files that a job writes because they are long or because the admin asked for it so. Deleting a row stops its job and removes its bytes.';
COMMENT ON COLUMN finance.exports.requested_by IS 'The admin who asked; he and root alone see it. No foreign key: it is gone within days.';
COMMENT ON COLUMN finance.exports.kind IS 'finance, events or customers: what the file is of.';
COMMENT ON COLUMN finance.exports.parameters IS 'What was asked for, as the module''s exportRequest.';
COMMENT ON COLUMN finance.exports.attempt IS 'How often a worker has begun. Chunks carry it, so that a worker who lost his lease adds nothing to the next one''s file.';
COMMENT ON COLUMN finance.exports.lease_until IS 'Until when the worker has said he will speak again; after it the export is begun anew.';
COMMENT ON COLUMN finance.exports.rows_total IS 'Counted by the job before it writes; null until then.';
COMMENT ON COLUMN finance.exports.size IS 'Bytes of the whole file.';
COMMENT ON COLUMN finance.exports.error IS 'A sentence for the admin; the cause is in the log.';
COMMENT ON COLUMN finance.exports.expires_at IS 'When file and row are removed.';
CREATE UNIQUE INDEX exports_asked_once ON finance.exports (requested_by, kind, md5(parameters::text)) WHERE status IN ('queued', 'running');
COMMENT ON INDEX finance.exports_asked_once IS 'Asking again for what is being written leads to the same export.';
CREATE INDEX exports_leased ON finance.exports (lease_until) WHERE status = 'running';
CREATE INDEX exports_by_expiry ON finance.exports (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE finance.export_chunks (
    export_id platform.object_id NOT NULL,
    attempt   integer NOT NULL,
    n         integer NOT NULL,
    data      bytea NOT NULL,
    CONSTRAINT export_chunks_one_per_place PRIMARY KEY (export_id, attempt, n),
    CONSTRAINT export_chunks_export_exists FOREIGN KEY (export_id) REFERENCES finance.exports (id) ON DELETE CASCADE,
    CONSTRAINT export_chunks_place_not_negative CHECK (n >= 0),
    CONSTRAINT export_chunks_hold_bytes CHECK (octet_length(data) BETWEEN 1 AND 262144)
);
ALTER TABLE finance.export_chunks ALTER COLUMN data SET STORAGE EXTERNAL;
COMMENT ON TABLE finance.export_chunks IS 'The bytes of exports in pieces of 262,144, the last one shorter. Not compressed again: workbooks and zips are.';
COMMENT ON COLUMN finance.export_chunks.n IS 'Place of the piece, from 0 without gaps.';

-- +goose Down
DROP TABLE finance.export_chunks;
DROP TABLE finance.exports;
