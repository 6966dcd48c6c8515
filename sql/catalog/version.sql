-- name: VersionLock :one
-- VersionLock makes other writers of the catalogue wait for the end of the
-- transaction.
SELECT number FROM catalog.version FOR UPDATE;
