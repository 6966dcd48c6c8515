-- name: DeclineCount :one
-- Recent declines of each subject.
SELECT count(*) FILTER (WHERE subject = 'address' AND mac = @address_mac)::int AS address,
       count(*) FILTER (WHERE subject = 'card' AND mac = @card_mac)::int AS card,
       count(*) FILTER (WHERE subject = 'buyer' AND mac = @buyer_mac)::int AS buyer
FROM tickets.declines
WHERE at > @since AND ((subject = 'address' AND mac = @address_mac) OR (subject = 'card' AND mac = @card_mac) OR (subject = 'buyer' AND mac = @buyer_mac));

-- name: DeclineCountMany :many
-- Recent declines of the subjects of several payments, each by its place among them.
SELECT p.place::int AS place,
    (SELECT count(*) FROM tickets.declines d WHERE d.subject = 'address' AND d.mac = p.address_mac AND d.at > @since)::int AS address,
    (SELECT count(*) FROM tickets.declines d WHERE d.subject = 'card' AND d.mac = p.card_mac AND d.at > @since)::int AS card,
    (SELECT count(*) FROM tickets.declines d WHERE d.subject = 'buyer' AND d.mac = p.buyer_mac AND d.at > @since)::int AS buyer
FROM (SELECT unnest(@places::int[]) AS place, unnest(@address_macs::bytea[]) AS address_mac,
    unnest(@card_macs::bytea[]) AS card_mac, unnest(@buyer_macs::bytea[]) AS buyer_mac) p;

-- name: DeclineDeleteOld :execrows
DELETE FROM tickets.declines WHERE at <= @before;

-- name: DeclineInsert :exec
INSERT INTO tickets.declines (subject, mac, at)
VALUES ('address', @address_mac, @at), ('card', @card_mac, @at), ('buyer', @buyer_mac, @at);
