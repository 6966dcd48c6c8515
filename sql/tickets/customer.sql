-- name: CustomerForget :exec
UPDATE tickets.customers SET name = '', email = '' WHERE id = @id;

-- name: CustomerHasGuestOrders :one
SELECT EXISTS (SELECT FROM tickets.orders WHERE customer_id = @id AND without_login);

-- name: CustomerKeepMany :exec
-- In the order of ids, so that two statements at once cannot deadlock. Who is
-- known by that name already is not locked.
INSERT INTO tickets.customers (id, name, email)
SELECT c.id, c.name, c.email FROM (SELECT unnest(@ids::text[]) AS id, unnest(@names::text[]) AS name, unnest(@emails::text[]) AS email) c
WHERE NOT EXISTS (SELECT 1 FROM tickets.customers k WHERE k.id = c.id AND k.name = c.name AND k.email = c.email)
ORDER BY c.id
ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email
WHERE (customers.name, customers.email) IS DISTINCT FROM (excluded.name, excluded.email);

-- name: CustomerListWithPurchases :many
SELECT c.id FROM tickets.customers c WHERE c.id = ANY(@ids::text[]) ORDER BY c.id;

-- name: CustomerUpdate :exec
UPDATE tickets.customers SET name = @name, email = @email WHERE id = @id AND (name, email) IS DISTINCT FROM (@name, @email);
