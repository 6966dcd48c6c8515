-- +goose Up
CREATE TABLE subscriptions.stray_recurrences (
    gateway       text NOT NULL,
    recurrence_id text NOT NULL,
    reference     platform.object_id NOT NULL,
    payment_id    text NOT NULL,
    held          boolean NOT NULL,
    found_at      timestamptz NOT NULL,
    confirmed_at  timestamptz,
    told_at       timestamptz,
    outcome       text,
    ended_at      timestamptz,
    PRIMARY KEY (gateway, recurrence_id),
    CONSTRAINT stray_recurrences_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT stray_recurrences_outcome_known CHECK (outcome IN ('ended', 'owned', 'kept')),
    CONSTRAINT stray_recurrences_ends_with_outcome CHECK ((outcome IS NULL) = (ended_at IS NULL))
);
COMMENT ON TABLE subscriptions.stray_recurrences IS 'Recurrences that charge at a gateway, name an id of ours and are no subscription''s here, as after a restore of an older database.';
COMMENT ON COLUMN subscriptions.stray_recurrences.reference IS 'The id of ours that it names; no row has it.';
COMMENT ON COLUMN subscriptions.stray_recurrences.payment_id IS 'The charge that told of it; it stands on the list of unapplied payments.';
COMMENT ON COLUMN subscriptions.stray_recurrences.held IS 'Found after a restore: ended only once it is confirmed.';
COMMENT ON COLUMN subscriptions.stray_recurrences.confirmed_at IS 'When a run of marquee reconcile --apply said that it is to end, which it had been listed for before.';
COMMENT ON COLUMN subscriptions.stray_recurrences.told_at IS 'When the operators were told that it waits.';
COMMENT ON COLUMN subscriptions.stray_recurrences.outcome IS 'ended: at the gateway; owned: a subscription has it by now; kept: an admin has kept its charge.';
CREATE INDEX stray_recurrences_open ON subscriptions.stray_recurrences (found_at) WHERE ended_at IS NULL;

-- +goose Down
DROP TABLE subscriptions.stray_recurrences;
