-- name: CustomerForget :exec
UPDATE tickets.customers SET name = '', email = '' WHERE id = @id;

-- name: CustomerKeep :exec
INSERT INTO tickets.customers (id, name, email) VALUES (@id, @name, @email)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email
WHERE (customers.name, customers.email) IS DISTINCT FROM (excluded.name, excluded.email);

-- name: CustomerKeepMany :exec
-- In the order of ids, so that two statements at once cannot deadlock.
INSERT INTO tickets.customers (id, name, email)
SELECT c.id, c.name, c.email FROM (SELECT unnest(@ids::text[]) AS id, unnest(@names::text[]) AS name, unnest(@emails::text[]) AS email) c ORDER BY c.id
ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email
WHERE (customers.name, customers.email) IS DISTINCT FROM (excluded.name, excluded.email);

-- name: CustomerListWithPurchases :many
SELECT c.id FROM tickets.customers c WHERE c.id = ANY(@ids::text[]) ORDER BY c.id;

-- name: CustomerUpdate :exec
UPDATE tickets.customers SET name = @name, email = @email WHERE id = @id AND (name, email) IS DISTINCT FROM (@name, @email);
