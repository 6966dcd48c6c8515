-- name: TagListBySlugs :many
-- TagListBySlugs returns the ids of those that exist.
SELECT id, slug FROM catalog.tags WHERE slug = ANY(@slugs::text[]);
