-- name: VersionGet :one
-- VersionGet returns the number that every write to the catalogue moves on.
SELECT number FROM catalog.version;
