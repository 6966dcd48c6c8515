-- name: CustomerNoteList :many
SELECT text, pinned, register_date, register_update_date FROM accounts.customer_notes
WHERE customer_id = @customer_id ORDER BY register_date, id;

-- name: CustomerNoteDeleteAll :exec
DELETE FROM accounts.customer_notes WHERE customer_id = @customer_id;
