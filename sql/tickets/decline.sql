-- name: DeclineCount :one
-- Recent declines of each subject, and those with the payments that are under way.
SELECT count(*) FILTER (WHERE subject = 'address' AND mac = @address_mac AND order_id IS NULL)::int AS address,
       count(*) FILTER (WHERE subject = 'card' AND mac = @card_mac AND order_id IS NULL)::int AS card,
       count(*) FILTER (WHERE subject = 'buyer' AND mac = @buyer_mac AND order_id IS NULL)::int AS buyer,
       count(*) FILTER (WHERE subject = 'address' AND mac = @address_mac)::int AS address_tried,
       count(*) FILTER (WHERE subject = 'card' AND mac = @card_mac)::int AS card_tried,
       count(*) FILTER (WHERE subject = 'buyer' AND mac = @buyer_mac)::int AS buyer_tried
FROM tickets.declines
WHERE at > @since AND ((subject = 'address' AND mac = @address_mac) OR (subject = 'card' AND mac = @card_mac) OR (subject = 'buyer' AND mac = @buyer_mac));

-- name: DeclineDeleteOld :execrows
DELETE FROM tickets.declines WHERE at <= @before;

-- name: DeclineDrop :exec
-- What was under way was no decline.
DELETE FROM tickets.declines WHERE order_id = @order_id::text;

-- name: DeclineKeep :exec
-- What was under way was declined.
UPDATE tickets.declines SET order_id = NULL WHERE order_id = @order_id::text;
