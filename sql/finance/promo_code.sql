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
