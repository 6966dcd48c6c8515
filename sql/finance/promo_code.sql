-- name: PromoCodeDetailGet :one
-- A code's redemptions by day, and its family: every code that it holds or is held by, through all levels.
WITH RECURSIVE family AS (
    SELECT c.promo_code_id, c.children_code_ids FROM finance.promo_codes c WHERE c.promo_code_id = @promo_code_id
    UNION
    SELECT k.promo_code_id, k.children_code_ids FROM family f
    JOIN finance.promo_codes k ON k.promo_code_id = ANY(f.children_code_ids) OR k.children_code_ids @> ARRAY[f.promo_code_id::text]
)
SELECT json_build_object(
    '_id', e.promo_code_id,
    'by_day', (
        SELECT coalesce(json_agg(json_build_object('day', d.day, 'redemptions', d.redemptions, 'paid', d.paid, 'tickets', d.tickets) ORDER BY d.day), '[]')
        FROM (
            SELECT r.redeemed_on AS day, count(*) AS redemptions, count(r.paid_at) AS paid, sum(r.tickets) AS tickets
            FROM finance.promo_redemptions r WHERE r.promo_code_id = e.promo_code_id
            GROUP BY r.redeemed_on ORDER BY r.redeemed_on DESC LIMIT 1000) d),
    'family', (
        SELECT coalesce(json_agg(json_build_object(
            '_id', c.promo_code_id, 'code', n.code, 'title', c.title, 'code_type', c.code_type, 'is_active', c.is_active, 'redemptions', c.redemptions,
            'tickets_generated', c.tickets_generated, 'children_code_ids', c.children_code_ids
        ) ORDER BY n.code), '[]')
        FROM (SELECT f.promo_code_id FROM family f ORDER BY f.promo_code_id <> e.promo_code_id, f.promo_code_id LIMIT 500) m
        JOIN finance.promo_codes c ON c.promo_code_id = m.promo_code_id
        JOIN finance.promo_codes_personal n ON n.promo_code_id = c.promo_code_id)
)::json AS report
FROM finance.promo_codes e
WHERE e.promo_code_id = @promo_code_id;

-- name: PromoPerformanceGet :one
SELECT json_build_object(
    'total_promo_codes', sum(k.total), 'active_promo_codes', sum(k.active), 'total_tickets_from_promos', sum(k.tickets),
    'by_type', json_object_agg(k.code_type, json_build_object('total', k.total, 'active', k.active, 'tickets_generated', k.tickets)),
    'top_codes', (
        SELECT coalesce(json_agg(json_build_object(
            'code', n.code, 'code_type', c.code_type, 'title', c.title, 'tickets_generated', c.tickets_generated, 'is_active', c.is_active
        ) ORDER BY c.tickets_generated DESC, n.code), '[]')
        FROM (SELECT * FROM finance.promo_codes ORDER BY tickets_generated DESC, promo_code_id LIMIT 10) c
        JOIN finance.promo_codes_personal n ON n.promo_code_id = c.promo_code_id)
)::json AS report
FROM (
    SELECT t.code_type,
        (SELECT count(*) FROM finance.promo_codes c WHERE c.code_type = t.code_type) AS total,
        (SELECT count(*) FROM finance.promo_codes c WHERE c.code_type = t.code_type AND c.is_usable) AS active,
        (SELECT coalesce(sum(r.tickets), 0)::bigint FROM finance.promo_redemptions r WHERE r.code_type = t.code_type) AS tickets
    FROM (SELECT 'promo'::text AS code_type UNION ALL SELECT 'ticket'::text) t
) k;
