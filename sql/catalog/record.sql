-- name: RecordList :many
-- RecordList returns those of the ids that are records of the catalogue, with
-- their kind.
SELECT 'video'::text AS kind, id FROM catalog.videos WHERE id = ANY(@ids::text[])
UNION ALL
SELECT 'category', id FROM catalog.categories WHERE id = ANY(@ids::text[])
UNION ALL
SELECT 'tag', id FROM catalog.tags WHERE id = ANY(@ids::text[])
UNION ALL
SELECT 'season', id FROM catalog.seasons WHERE id = ANY(@ids::text[]);
