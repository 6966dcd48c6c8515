-- name: SeasonListBySlugs :many
-- SeasonListBySlugs returns the ids of those that exist.
SELECT id, slug FROM catalog.seasons WHERE slug = ANY(@slugs::text[]);
