CREATE OR REPLACE VIEW finance.promo_codes AS
SELECT c.id AS promo_code_id, c.title, c.code_type, c.event_id, c.discount_first_month_cents AS first_month_cents, c.bonus_tickets, c.is_active,
    c.is_active AND (c.valid_until IS NULL OR c.valid_until > finance.now()) AS is_usable, c.valid_from, c.valid_until, c.register_date AS created_at,
    r.redemptions, r.paid AS paid_redemptions, r.tickets AS tickets_generated, r.first_at AS first_redeemed_at, r.last_at AS last_redeemed_at,
    c.children_code_ids
FROM promos.promo_codes c
CROSS JOIN LATERAL (
    SELECT count(*) AS redemptions, count(*) FILTER (WHERE x.paid_at IS NOT NULL) AS paid, coalesce(sum(x.tickets), 0)::bigint AS tickets,
        min(x.redeemed_at) AS first_at, max(x.redeemed_at) AS last_at
    FROM promos.redemptions x WHERE x.promo_code_id = c.id AND x.redeemed_at IS NOT NULL) r;
COMMENT ON VIEW finance.promo_codes IS 'Promo codes and what came of them, one row each, without the texts that redeem them. Source: promos.promo_codes, promos.redemptions.';
COMMENT ON COLUMN finance.promo_codes.promo_code_id IS 'Key.';
COMMENT ON COLUMN finance.promo_codes.title IS 'Title.';
COMMENT ON COLUMN finance.promo_codes.code_type IS 'promo (lowers the first month) or ticket (gives tickets).';
COMMENT ON COLUMN finance.promo_codes.event_id IS 'The event whose tickets it gives; null for promo.';
COMMENT ON COLUMN finance.promo_codes.first_month_cents IS 'What the first month costs with it, cents; null for none.';
COMMENT ON COLUMN finance.promo_codes.bonus_tickets IS 'Tickets of one redemption; null is 1.';
COMMENT ON COLUMN finance.promo_codes.is_active IS 'Switched on.';
COMMENT ON COLUMN finance.promo_codes.is_usable IS 'Switched on and its window not over.';
COMMENT ON COLUMN finance.promo_codes.valid_from IS 'Beginning of its window; null for none.';
COMMENT ON COLUMN finance.promo_codes.valid_until IS 'End of its window; null for none.';
COMMENT ON COLUMN finance.promo_codes.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.promo_codes.redemptions IS 'Redemptions.';
COMMENT ON COLUMN finance.promo_codes.paid_redemptions IS 'Redemptions whose subscription was paid.';
COMMENT ON COLUMN finance.promo_codes.tickets_generated IS 'Tickets that its redemptions made.';
COMMENT ON COLUMN finance.promo_codes.first_redeemed_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.promo_codes.last_redeemed_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.promo_codes.children_code_ids IS 'Codes that are redeemed along with it (promo_code_id).';
