-- name: DeclineCount :one
-- Recent declines of each subject.
SELECT count(*) FILTER (WHERE subject = 'address' AND mac = @address_mac)::int AS address,
       count(*) FILTER (WHERE subject = 'card' AND mac = @card_mac)::int AS card,
       count(*) FILTER (WHERE subject = 'buyer' AND mac = @buyer_mac)::int AS buyer
FROM tickets.declines
WHERE at > @since AND ((subject = 'address' AND mac = @address_mac) OR (subject = 'card' AND mac = @card_mac) OR (subject = 'buyer' AND mac = @buyer_mac));

-- name: DeclineDeleteOld :execrows
DELETE FROM tickets.declines WHERE at <= @before;

-- name: DeclineInsert :exec
INSERT INTO tickets.declines (subject, mac, at)
VALUES ('address', @address_mac, @at), ('card', @card_mac, @at), ('buyer', @buyer_mac, @at);
