-- +goose Up
CREATE SCHEMA settings;
COMMENT ON SCHEMA settings IS 'What administrators choose for the whole platform, and who chose it when.';

CREATE TABLE settings.platform (
    only_row                boolean PRIMARY KEY DEFAULT true,
    default_payment_gateway text COLLATE "C" NOT NULL DEFAULT 'gwa',
    pix_billing_mode        text COLLATE "C" NOT NULL DEFAULT 'monthly',
    pix_subscription_mode   text COLLATE "C" NOT NULL DEFAULT 'manual',
    client_version          text COLLATE "C" NOT NULL DEFAULT '1.0.0',
    min_version             text COLLATE "C",
    CONSTRAINT platform_one_row CHECK (only_row),
    CONSTRAINT platform_gateway_known CHECK (default_payment_gateway IN ('gwa', 'gwb')),
    CONSTRAINT platform_pix_billing_mode_known CHECK (pix_billing_mode IN ('monthly', 'quarterly', 'semiannually', 'yearly')),
    CONSTRAINT platform_pix_subscription_mode_known CHECK (pix_subscription_mode IN ('manual', 'recurring')),
    CONSTRAINT platform_min_version_not_above CHECK (
        string_to_array(substring(min_version FROM '^[0-9]+\.[0-9]+\.[0-9]+'), '.')::int[]
        <= string_to_array(substring(client_version FROM '^[0-9]+\.[0-9]+\.[0-9]+'), '.')::int[])
);
COMMENT ON TABLE settings.platform IS 'One row, one column a setting.';
COMMENT ON COLUMN settings.platform.default_payment_gateway IS 'A preference shown to clients; both gateways stay available.';
COMMENT ON COLUMN settings.platform.pix_billing_mode IS 'How many months one PIX payment buys: 1, 3, 6 or 12. A change affects new subscriptions only.';
COMMENT ON COLUMN settings.platform.client_version IS 'The client version that goes with this service, as semver; an update gate of the clients.';
COMMENT ON COLUMN settings.platform.min_version IS 'Clients below have to update. Null: none has to.';

INSERT INTO settings.platform DEFAULT VALUES;

CREATE TABLE settings.changes (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    setting    text COLLATE "C" NOT NULL,
    from_value text,
    to_value   text,
    changed_by platform.object_id NOT NULL,
    changed_at timestamptz NOT NULL
);
COMMENT ON TABLE settings.changes IS 'Append-only: every change of a setting.';
COMMENT ON COLUMN settings.changes.changed_by IS 'The admin. No foreign key: users belong to an upper module.';

-- +goose Down
DROP SCHEMA settings CASCADE;
