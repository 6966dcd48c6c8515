-- +goose Up
CREATE SCHEMA subscriptions;
COMMENT ON SCHEMA subscriptions IS 'Plans, subscriptions, and the history of their states.';

CREATE TABLE subscriptions.plans (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    plan_id                text COLLATE "C" NOT NULL,
    name                   text COLLATE "C" NOT NULL,
    description            text COLLATE "C",
    amount_cents           bigint NOT NULL,
    interval_unit          text COLLATE "C" NOT NULL DEFAULT 'MONTH',
    trial_enabled          boolean NOT NULL DEFAULT false,
    trial_days             integer NOT NULL DEFAULT 0,
    tier                   integer NOT NULL DEFAULT 1,
    is_active              boolean NOT NULL DEFAULT true,
    gwb_product_id         text COLLATE "C",
    gwb_price_id           text COLLATE "C",
    gwb_price_amount_cents bigint,
    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL,
    register_update_date   timestamptz NOT NULL,
    CONSTRAINT plans_plan_id_unique UNIQUE (plan_id),
    CONSTRAINT plans_plan_id_form CHECK (plan_id ~ '^[a-z0-9_-]{3,50}$'),
    CONSTRAINT plans_amount_not_negative CHECK (amount_cents >= 0),
    CONSTRAINT plans_interval_unit_known CHECK (interval_unit = 'MONTH'),
    CONSTRAINT plans_trial_days_range CHECK (trial_days BETWEEN 0 AND 730),
    CONSTRAINT plans_tier_positive CHECK (tier >= 1)
);
COMMENT ON TABLE subscriptions.plans IS 'What can be subscribed to. plan_id never changes; a changed amount leaves sold subscriptions as they are.';
COMMENT ON COLUMN subscriptions.plans.amount_cents IS 'Price of one month.';
COMMENT ON COLUMN subscriptions.plans.tier IS '1 basic, 2 plus, 3 premium.';
COMMENT ON COLUMN subscriptions.plans.gwb_price_amount_cents IS 'The amount that gwb_price_id stands for: a price cannot change at gateway B, so another amount needs another price.';

CREATE INDEX plans_by_update ON subscriptions.plans (register_update_date DESC, id);

-- +goose Down
DROP TABLE subscriptions.plans;
DROP SCHEMA subscriptions;
