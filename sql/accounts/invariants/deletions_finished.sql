-- No deletion of a customer is unfinished for a day.
SELECT customer_id AS id, 'deleted at ' || deleted_at AS detail
FROM accounts.deletions WHERE erased_at IS NULL AND deleted_at < $1::timestamptz - interval '1 day'
