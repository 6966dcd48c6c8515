-- +goose Up
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
DROP TABLE promos.redemptions;
