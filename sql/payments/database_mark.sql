-- name: DatabaseMarkAccept :exec
-- DatabaseMarkAccept says that this database is the one to work on.
INSERT INTO payments.database_marks (mark, noted_at) VALUES (payments.database_mark(), @at)
ON CONFLICT (only_one) DO UPDATE SET mark = excluded.mark, noted_at = excluded.noted_at
WHERE database_marks.mark <> excluded.mark;

-- name: DatabaseMarkHolds :one
-- DatabaseMarkHolds reports whether this is the database that was noted; where none is, it is not.
SELECT coalesce((SELECT mark = payments.database_mark() FROM payments.database_marks), false)::boolean;

-- name: DatabaseMarkHoldsSince :one
-- DatabaseMarkHoldsSince reports whether this is the database that was noted, and already was at that time.
SELECT coalesce((SELECT mark = payments.database_mark() AND noted_at <= sqlc.narg('at')::timestamptz FROM payments.database_marks), false)::boolean;
