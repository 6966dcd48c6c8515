-- BoardStateGet sums up all cards and columns in one snapshot: any change of one makes another state, whichever of two
-- transactions commits first. A change of a card, of its attachments too, raises its date.
-- name: BoardStateGet :one
SELECT r.n AS requisitions, c.n AS columns, md5(concat_ws(' ', r.n, r.sum, c.n, c.sum)) AS state
FROM (
    SELECT count(*) AS n, sum(hashtextextended(concat_ws(' ', t.id, t.status_id, t.register_update_date), 0)) AS sum FROM board.requisitions t
) r CROSS JOIN (
    SELECT count(*) AS n, sum(hashtextextended(concat_ws(' ', s.id, s.name, s.index, s.color, s.register_update_date), 0)) AS sum FROM board.requisition_status s
) c;

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
