-- name: DatabaseMarkAccept :exec
-- DatabaseMarkAccept says that this database is the one to work on.
INSERT INTO payments.database_marks (mark, noted_at) VALUES (payments.database_mark(), @at)
ON CONFLICT (only_one) DO UPDATE SET mark = excluded.mark, noted_at = excluded.noted_at;

-- name: DatabaseMarkHolds :one
-- DatabaseMarkHolds reports whether this is the database that was noted.
SELECT (mark = payments.database_mark())::boolean FROM payments.database_marks;

-- name: DatabaseMarkNote :exec
-- DatabaseMarkNote notes the database when none is noted yet: a new one.
INSERT INTO payments.database_marks (mark, noted_at) VALUES (payments.database_mark(), @at)
ON CONFLICT DO NOTHING;
