-- name: VideoListBySlugs :many
-- VideoListBySlugs returns the ids of those that exist.
SELECT id, slug FROM catalog.videos WHERE slug = ANY(@slugs::text[]);
