-- name: CustomerForget :exec
UPDATE tickets.customers SET name = '', email = '' WHERE id = @id;

-- name: CustomerGet :one
SELECT * FROM tickets.customers WHERE id = @id;

-- name: CustomerHasGuestOrders :one
SELECT EXISTS (SELECT FROM tickets.orders WHERE customer_id = @id AND without_login);

-- name: CustomerKeepMany :exec
-- In the order of ids, so that two statements at once cannot deadlock. Who is
-- known by that name already is not locked. The lists pass a subquery, as those of OrderReserve.
WITH lists AS MATERIALIZED (SELECT @ids::text[] AS ids, @names::text[] AS names, @emails::text[] AS emails)
INSERT INTO tickets.customers (id, name, email)
SELECT c.id, c.name, c.email FROM (SELECT unnest(l.ids) AS id, unnest(l.names) AS name, unnest(l.emails) AS email FROM lists l) c
WHERE NOT EXISTS (SELECT 1 FROM tickets.customers k WHERE k.id = c.id AND k.name = c.name AND k.email = c.email)
ORDER BY c.id
ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email
WHERE (customers.name, customers.email) IS DISTINCT FROM (excluded.name, excluded.email);

-- name: CustomerListWithPurchases :many
SELECT c.id FROM tickets.customers c WHERE c.id = ANY(@ids::text[]) ORDER BY c.id;

-- name: CustomerUpdate :exec
UPDATE tickets.customers SET name = @name, email = @email WHERE id = @id AND (name, email) IS DISTINCT FROM (@name, @email);
