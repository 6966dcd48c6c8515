-- StatusHoldForUse returns those of the columns that there are, and keeps them
-- from being deleted until the cards that get them are written.
-- name: StatusHoldForUse :many
SELECT id FROM board.requisition_status WHERE id = ANY (@ids::text[]) ORDER BY id FOR KEY SHARE;

-- StatusHoldForWrite locks columns against cards that are about to enter them, in
-- the order of their ids.
-- name: StatusHoldForWrite :exec
SELECT 1 FROM board.requisition_status WHERE id = ANY (@ids::text[]) ORDER BY id FOR UPDATE;
