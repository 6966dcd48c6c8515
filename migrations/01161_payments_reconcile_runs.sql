-- +goose Up
-- What reconciliation did is kept: a row a run, and a row a difference that it found. Both go as the log of webhooks does.
CREATE TABLE payments.reconcile_runs (
    id platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    started_by text COLLATE "C" NOT NULL CONSTRAINT reconcile_runs_started_by_known CHECK (started_by IN ('schedule', 'command')),
    starter text COLLATE "C" CONSTRAINT reconcile_runs_starter_bounded CHECK (length(starter) BETWEEN 1 AND 200),
    dry_run boolean NOT NULL,
    gateways text[] COLLATE "C" NOT NULL CONSTRAINT reconcile_runs_gateways_known CHECK (gateways <@ '{gwa,gwb}'),
    since timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    ended_at timestamptz CONSTRAINT reconcile_runs_end_follows_start CHECK (ended_at >= started_at),
    checked integer NOT NULL DEFAULT 0,
    found integer NOT NULL DEFAULT 0,
    repaired integer NOT NULL DEFAULT 0,
    not_repaired integer NOT NULL DEFAULT 0,
    failed integer NOT NULL DEFAULT 0,
    updated_at timestamptz NOT NULL,
    CONSTRAINT reconcile_runs_counts_bounded CHECK (checked >= 0 AND failed >= 0 AND repaired >= 0 AND not_repaired >= 0
        AND found = repaired + not_repaired)
);
CREATE INDEX reconcile_runs_by_start ON payments.reconcile_runs (started_at DESC, id DESC);
COMMENT ON TABLE payments.reconcile_runs IS 'One row a reconciliation with the gateways, by night or by command.';
COMMENT ON COLUMN payments.reconcile_runs.started_by IS 'schedule: the nightly job; command: marquee reconcile.';
COMMENT ON COLUMN payments.reconcile_runs.starter IS 'Of a command: the account and the machine that ran it.';
COMMENT ON COLUMN payments.reconcile_runs.since IS 'How far back it looked.';
COMMENT ON COLUMN payments.reconcile_runs.seen_at IS 'When the run was last known to live, by the clock of the database: one that died is told by it.';
COMMENT ON COLUMN payments.reconcile_runs.ended_at IS 'When it came to its end, also with failures; null while it runs, and of one that died.';
COMMENT ON COLUMN payments.reconcile_runs.checked IS 'Events, payments, refunds, disputes and subscriptions that were read at the gateways.';
COMMENT ON COLUMN payments.reconcile_runs.not_repaired IS 'Found and left as it is: a dry run, of nothing here, or without anything to change.';
COMMENT ON COLUMN payments.reconcile_runs.failed IS 'What could not be read or applied.';

CREATE TABLE payments.reconcile_findings (
    id platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    run_id platform.object_id NOT NULL CONSTRAINT reconcile_findings_of_run REFERENCES payments.reconcile_runs ON DELETE CASCADE,
    gateway text COLLATE "C" NOT NULL CONSTRAINT reconcile_findings_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    kind text COLLATE "C" NOT NULL CONSTRAINT reconcile_findings_kind_known CHECK (kind IN ('missed_event', 'missed_payment', 'missed_refund',
        'missed_dispute', 'missed_failure', 'unshown_refund', 'unshown_dispute', 'unshown_payment', 'ended_subscription', 'stray_recurrence')),
    verdict text COLLATE "C" NOT NULL CONSTRAINT reconcile_findings_verdict_known CHECK (verdict IN ('repaired', 'repairable', 'unknown', 'unchanged', 'failed')),
    gateway_object_id text COLLATE "C" NOT NULL,
    record text COLLATE "C" CONSTRAINT reconcile_findings_record_known CHECK (record IN ('subscription', 'order')),
    local_id platform.object_id,
    amount_cents bigint CONSTRAINT reconcile_findings_amount_bounded CHECK (amount_cents BETWEEN 0 AND 100000000000),
    was jsonb,
    became jsonb,
    detail text COLLATE "C",
    found_at timestamptz NOT NULL
);
CREATE INDEX reconcile_findings_by_run ON payments.reconcile_findings (run_id, id);
CREATE INDEX reconcile_findings_by_time ON payments.reconcile_findings (found_at DESC, id DESC);
COMMENT ON TABLE payments.reconcile_findings IS 'One row a difference that a reconciliation found, and what it did about it.';
COMMENT ON COLUMN payments.reconcile_findings.gateway_object_id IS 'The gateway''s id: of the event, payment, refunded payment, dispute or subscription.';
COMMENT ON COLUMN payments.reconcile_findings.local_id IS 'The subscription or order, where it is known; other systems'' too, of what is of nothing here.';
COMMENT ON COLUMN payments.reconcile_findings.was IS 'How the record and its money stood before; null where nothing here is meant.';
COMMENT ON COLUMN payments.reconcile_findings.became IS 'How they stood right after.';

-- +goose Down
DROP TABLE payments.reconcile_findings, payments.reconcile_runs;
