-- name: ChangeInsert :exec
INSERT INTO settings.changes (setting, from_value, to_value, changed_by, changed_at)
VALUES (@setting, sqlc.narg('from_value'), sqlc.narg('to_value'), @changed_by, @changed_at);
