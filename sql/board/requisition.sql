-- name: RequisitionExists :one
SELECT EXISTS (SELECT 1 FROM board.requisitions WHERE id = @id);

-- RequisitionHold locks cards against every other change, in the order of their
-- ids, so that two of them cannot wait for each other.
-- name: RequisitionHold :exec
SELECT 1 FROM board.requisitions WHERE id = ANY (@ids::text[]) ORDER BY id FOR UPDATE;

-- RequisitionTouch dates a change of what hangs on the card, and so locks it. A
-- trigger keeps the date rising.
-- name: RequisitionTouch :execrows
UPDATE board.requisitions SET register_update_date = @now WHERE id = @id;
