-- name: CodeCountVisible :one
SELECT count(*) FROM promos.promo_codes c
WHERE c.is_active AND (c.event_date IS NULL OR c.event_date >= @now) AND (c.target_customer_ids = '{}' OR c.target_customer_ids @> ARRAY[@customer_id::text]);

-- name: CodeListCycles :many
-- Of the codes, those that their own bundle leads back to.
WITH RECURSIVE reached AS (
    SELECT c.id::text AS root, unnest(c.children_code_ids) AS child FROM promos.promo_codes c WHERE c.id = ANY(@ids::text[])
    UNION
    SELECT r.root, unnest(c.children_code_ids) FROM reached r JOIN promos.promo_codes c ON c.id = r.child
)
SELECT DISTINCT root::text AS id FROM reached WHERE child = root;

-- name: CodeListDescendants :many
-- Everything that a bundle holds, through all levels, by event, so that events
-- are locked in one order.
WITH RECURSIVE reached AS (
    SELECT unnest(c.children_code_ids) AS child FROM promos.promo_codes c WHERE c.id = @id
    UNION
    SELECT unnest(c.children_code_ids) FROM reached r JOIN promos.promo_codes c ON c.id = r.child
)
SELECT c.* FROM promos.promo_codes c WHERE c.id IN (SELECT child FROM reached) AND c.id <> @id ORDER BY c.event_id, c.id;

-- name: CodeDropFromBundles :exec
-- Takes a deleted code out of the bundles that hold it.
UPDATE promos.promo_codes SET children_code_ids = array_remove(children_code_ids, @id::text) WHERE children_code_ids @> ARRAY[@id::text];

-- name: CodeDropTarget :exec
UPDATE promos.promo_codes SET target_customer_ids = array_remove(target_customer_ids, @customer_id::text) WHERE target_customer_ids @> ARRAY[@customer_id::text];

-- name: CodeExists :one
SELECT EXISTS (SELECT 1 FROM promos.promo_codes WHERE id = @id);

-- name: CodeGet :one
SELECT * FROM promos.promo_codes WHERE id = @id;

-- name: CodeGetByCode :one
SELECT * FROM promos.promo_codes WHERE code = @code;

-- name: CodeList :many
SELECT * FROM promos.promo_codes WHERE id = ANY(@ids::text[]) ORDER BY id;

-- name: CodeListActive :many
SELECT * FROM promos.promo_codes WHERE id = ANY(@ids::text[]) AND is_active ORDER BY id;

-- name: CodeListImages :many
SELECT image_id::text AS image_id FROM promos.promo_codes WHERE image_id = ANY(@ids::text[]);

-- name: CodeListTaken :many
SELECT code FROM promos.promo_codes WHERE code = ANY(@codes::text[]);

-- name: CodeListVisible :many
-- What a customer may see: the visibility rule, without targets or targeted at them.
SELECT sqlc.embed(c), r.redeemed_at FROM promos.promo_codes c
LEFT JOIN promos.redemptions r ON r.promo_code_id = c.id AND r.customer_id = @customer_id
WHERE c.is_active AND (c.event_date IS NULL OR c.event_date >= @now) AND (c.target_customer_ids = '{}' OR c.target_customer_ids @> ARRAY[@target::text])
ORDER BY c.register_date DESC, c.id LIMIT sqlc.arg('size')::int OFFSET sqlc.arg('start')::int;

-- name: CodeLock :one
SELECT * FROM promos.promo_codes WHERE id = @id FOR NO KEY UPDATE;

-- name: CodeLockBundles :exec
-- Bundles change one after the other, so that two changes at once cannot close a
-- cycle between them.
SELECT pg_advisory_xact_lock(hashtextextended('promos.bundles', 0));

-- name: CodeSetImage :exec
UPDATE promos.promo_codes SET image_id = sqlc.narg('image_id'), register_update_date = @now WHERE id = @id;

-- name: CodeStatsGet :one
-- Expired: past its window, whether it is switched on or not.
SELECT count(*)::int AS total, count(*) FILTER (WHERE is_active AND (valid_until IS NULL OR valid_until >= @now))::int AS active,
    count(*) FILTER (WHERE valid_until < @now)::int AS expired,
    count(*) FILTER (WHERE code_type = 'promo')::int AS promo, count(*) FILTER (WHERE code_type = 'ticket')::int AS ticket
FROM promos.promo_codes;
