-- +goose Up
ALTER TABLE subscriptions.subscriptions
    ADD COLUMN anchor_day integer,
    ADD CONSTRAINT subscriptions_anchor_day_of_month CHECK (anchor_day BETWEEN 1 AND 31);
COMMENT ON COLUMN subscriptions.subscriptions.anchor_day IS 'Day of the month, in REPORT_TZ, on which periods begin; in a shorter month its last day stands in. Null until the first period is known, and in rows of older versions.';

-- What runs keeps the day on which it began, unless its present date has moved off
-- that day. Days are those of the default of REPORT_TZ: a migration does not know
-- the setting.
-- +goose StatementBegin
WITH dates AS (
    SELECT id, coalesce(next_billing_date, expires_at) AT TIME ZONE 'America/Sao_Paulo' AS present,
        CASE WHEN payment_method = 'credit_card' THEN register_date + make_interval(days => CASE WHEN first_amount_cents IS NOT NULL THEN 30 ELSE trial_days END)
            ELSE coalesce(started_at, register_date) END AT TIME ZONE 'America/Sao_Paulo' AS begun
    FROM subscriptions.subscriptions WHERE status IN ('active', 'pending', 'suspended')
), days AS (
    SELECT id, extract(day FROM begun)::integer AS begun, extract(day FROM present)::integer AS present,
        extract(day FROM date_trunc('month', present) + interval '1 month - 1 day')::integer AS last
    FROM dates
)
UPDATE subscriptions.subscriptions s
SET anchor_day = CASE WHEN d.present IS NULL OR d.present = least(d.begun, d.last) THEN d.begun ELSE d.present END
FROM days d WHERE d.id = s.id;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE subscriptions.subscriptions DROP COLUMN anchor_day;
