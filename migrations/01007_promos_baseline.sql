-- +goose Up
CREATE SCHEMA promos;
COMMENT ON SCHEMA promos IS 'Promo codes, their bundles, and who has redeemed them.';

CREATE TABLE promos.promo_codes (
    id                         platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    code                       text COLLATE "C" NOT NULL,
    title                      text COLLATE "C" NOT NULL,
    subtitle                   text COLLATE "C",
    description                text COLLATE "C",
    code_type                  text COLLATE "C" NOT NULL,
    discount_first_month_cents bigint,
    bonus_tickets              integer,
    event_id                   platform.object_id,
    target_customer_ids        text[] NOT NULL DEFAULT '{}',
    children_code_ids          text[] NOT NULL DEFAULT '{}',
    event_date                 timestamptz,
    valid_from                 timestamptz,
    valid_until                timestamptz,
    image_id                   platform.object_id,
    is_active                  boolean NOT NULL DEFAULT true,
    document_created_by_id     platform.object_id,
    register_date              timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    register_update_date       timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    search                     tsvector GENERATED ALWAYS AS (
        platform.search_vector(ARRAY[code, title], 'A') || platform.search_vector(ARRAY[subtitle, description], 'C')) STORED,
    CONSTRAINT promo_codes_code_unique UNIQUE (code),
    CONSTRAINT promo_codes_code_upper_case CHECK (code ~ '^[A-Z0-9]{6}$'),
    CONSTRAINT promo_codes_title_length CHECK (char_length(title) BETWEEN 1 AND 200),
    CONSTRAINT promo_codes_type_known CHECK (code_type IN ('promo', 'ticket')),
    CONSTRAINT promo_codes_discount_of_promo CHECK (discount_first_month_cents IS NULL OR code_type = 'promo' AND discount_first_month_cents >= 0),
    CONSTRAINT promo_codes_bonus_of_ticket CHECK (bonus_tickets IS NULL OR code_type = 'ticket' AND bonus_tickets >= 1),
    CONSTRAINT promo_codes_event_of_ticket CHECK (code_type <> 'ticket' OR event_id IS NOT NULL),
    CONSTRAINT promo_codes_children_of_promo CHECK (children_code_ids = '{}' OR code_type = 'promo'),
    CONSTRAINT promo_codes_window CHECK (valid_until >= valid_from),
    CONSTRAINT promo_codes_discount_first_month_bounded CHECK (discount_first_month_cents <= 100000000)
);
COMMENT ON TABLE promos.promo_codes IS 'Promo codes: promo lowers the first month of a subscription and may bundle other codes, ticket gives tickets to an event.';
COMMENT ON COLUMN promos.promo_codes.discount_first_month_cents IS 'What the first month costs; null: a bundle alone.';
COMMENT ON COLUMN promos.promo_codes.bonus_tickets IS 'Tickets that one redemption makes; null is 1.';
COMMENT ON COLUMN promos.promo_codes.event_id IS 'No foreign key: an event without tickets may be deleted, its code then counts as one whose event is over.';
COMMENT ON COLUMN promos.promo_codes.target_customer_ids IS 'Customers who are given a ticket when the code is made, and who alone see it in their list.';
COMMENT ON COLUMN promos.promo_codes.children_code_ids IS 'Codes redeemed along with this one. Never leads back to itself.';
COMMENT ON COLUMN promos.promo_codes.event_date IS 'The code is listed until then.';
CREATE INDEX promo_codes_children ON promos.promo_codes USING gin (children_code_ids);
CREATE INDEX promo_codes_targets ON promos.promo_codes USING gin (target_customer_ids);
CREATE INDEX promo_codes_search ON promos.promo_codes USING gin (search);
CREATE INDEX promo_codes_by_event ON promos.promo_codes (event_id) WHERE event_id IS NOT NULL;

CREATE TABLE promos.redemptions (
    id              platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    promo_code_id   platform.object_id NOT NULL,
    customer_id     platform.object_id NOT NULL,
    code            text COLLATE "C" NOT NULL,
    code_type       text COLLATE "C" NOT NULL,
    origin          text COLLATE "C" NOT NULL,
    tickets         integer NOT NULL DEFAULT 0,
    subscription_id platform.object_id,
    paid_at         timestamptz,
    redeemed_at     timestamptz,
    created_at      timestamptz NOT NULL,
    CONSTRAINT redemptions_once_a_customer UNIQUE (promo_code_id, customer_id),
    CONSTRAINT redemptions_origin_known CHECK (origin IN ('target', 'redeem', 'bundle', 'subscription')),
    CONSTRAINT redemptions_held_or_redeemed CHECK (redeemed_at IS NOT NULL OR subscription_id IS NOT NULL),
    CONSTRAINT redemptions_paid_is_redeemed CHECK (paid_at IS NULL OR redeemed_at IS NOT NULL AND subscription_id IS NOT NULL)
);
COMMENT ON TABLE promos.redemptions IS 'One row a customer and code: held by a pending subscription, or redeemed. It outlives the code, which may be deleted.';
COMMENT ON COLUMN promos.redemptions.promo_code_id IS 'No foreign key: what was redeemed stays when the code is deleted.';
COMMENT ON COLUMN promos.redemptions.code IS 'As it was then.';
COMMENT ON COLUMN promos.redemptions.origin IS 'target (given at creation), redeem (by the customer), bundle (with a code that holds it), subscription (with a subscription).';
COMMENT ON COLUMN promos.redemptions.tickets IS 'Tickets that it made.';
COMMENT ON COLUMN promos.redemptions.subscription_id IS 'The subscription whose first month it lowers; null for none.';
COMMENT ON COLUMN promos.redemptions.paid_at IS 'When that subscription was paid. From then on no other may have the code.';
COMMENT ON COLUMN promos.redemptions.redeemed_at IS 'Null while a pending subscription only holds the code.';
CREATE INDEX redemptions_by_customer ON promos.redemptions (customer_id, redeemed_at DESC);
CREATE INDEX redemptions_by_subscription ON promos.redemptions (subscription_id) WHERE subscription_id IS NOT NULL;

-- +goose Down
DROP SCHEMA promos CASCADE;
