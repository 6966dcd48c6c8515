-- +goose Up
-- The deadline to answer a dispute. Of disputes that wait already it is read from the log of the event that opened them.
ALTER TABLE payments.disputes
    ADD COLUMN evidence_due_at timestamptz,
    ADD COLUMN evidence_sent boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN payments.disputes.evidence_due_at IS 'Until when the gateway takes an answer to it; null where the gateway tells none, or takes none.';
COMMENT ON COLUMN payments.disputes.evidence_sent IS 'The gateway says that it was answered.';
UPDATE payments.disputes d SET evidence_due_at = to_timestamp((l.payload #>> '{data,object,evidence_details,due_by}')::bigint)
FROM payments.webhook_logs l
WHERE d.gateway = 'gwb' AND d.state IN ('inquiry', 'open') AND l.gateway = 'gwb' AND l.event_id = d.event_id AND l.signature_valid
    AND l.payload #>> '{data,object,evidence_details,due_by}' ~ '^[1-9][0-9]{8,10}$';
CREATE INDEX disputes_to_answer ON payments.disputes (evidence_due_at, opened_at, id) WHERE state IN ('inquiry', 'open');
COMMENT ON INDEX payments.disputes_to_answer IS 'What is due first of those that are not decided.';

-- +goose Down
DROP INDEX payments.disputes_to_answer;
ALTER TABLE payments.disputes DROP COLUMN evidence_sent, DROP COLUMN evidence_due_at;
