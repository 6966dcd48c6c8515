-- name: SlugList :many
-- SlugList returns the ids of all records whose slug is among those given, with
-- the collection each belongs to.
SELECT 'categories'::text AS collection, id, slug FROM catalog.categories WHERE slug = ANY(@slugs::text[])
UNION ALL
SELECT 'tags', id, slug FROM catalog.tags WHERE slug = ANY(@slugs::text[])
UNION ALL
SELECT 'seasons', id, slug FROM catalog.seasons WHERE slug = ANY(@slugs::text[])
UNION ALL
SELECT 'videos', id, slug FROM catalog.videos WHERE slug = ANY(@slugs::text[]);
