-- name: ImportNameList :many
-- ImportNameList returns which categories, tags and seasons bear the names.
SELECT 'category'::text AS kind, id, name FROM catalog.categories WHERE name = ANY(@categories::text[])
UNION ALL
SELECT 'tag', id, name FROM catalog.tags WHERE name = ANY(@tags::text[])
UNION ALL
SELECT 'season', id, name FROM catalog.seasons WHERE name = ANY(@seasons::text[]);

-- name: ImportRowInsert :exec
INSERT INTO catalog.import_rows (import_id, position, line, outcome, record_id, title, record, changes, errors)
SELECT @import_id, r.position, r.line, r.outcome, NULLIF(r.record_id, ''), r.title, r.record,
    coalesce((SELECT array_agg(c) FROM jsonb_array_elements_text(r.changes) c), '{}'), r.errors
FROM jsonb_to_recordset(@rows::jsonb) r (position integer, line integer, outcome text, record_id text, title text,
    record jsonb, changes jsonb, errors jsonb);

-- name: ImportRowList :many
-- ImportRowList returns lines in their order, behind a position; of one outcome unless that is empty.
SELECT position, line, outcome, record_id, title, changes, errors FROM catalog.import_rows
WHERE import_id = @import_id AND position > @after AND (@outcome::text = '' OR outcome = @outcome)
ORDER BY position LIMIT @qty;

-- name: ImportRowListToWrite :many
-- ImportRowListToWrite returns what is to be written of one kind, behind a position.
SELECT position, line, record FROM catalog.import_rows
WHERE import_id = @import_id AND outcome = @outcome AND position > @after ORDER BY position LIMIT @qty;

-- name: ImportRowSetMade :exec
-- ImportRowSetMade says which records lines made, by their positions.
UPDATE catalog.import_rows r SET record_id = made.id
FROM jsonb_to_recordset(@made::jsonb) made (position integer, id text)
WHERE r.import_id = @import_id AND r.position = made.position;
