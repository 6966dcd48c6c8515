-- name: CategoryListBySlugs :many
-- CategoryListBySlugs returns the ids of those that exist.
SELECT id, slug FROM catalog.categories WHERE slug = ANY(@slugs::text[]);
