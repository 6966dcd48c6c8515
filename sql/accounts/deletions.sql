-- name: DeletionMarkErased :execrows
UPDATE accounts.deletions SET erased_at = @now WHERE customer_id = @customer_id AND erased_at IS NULL;

-- name: DeletionGet :one
SELECT * FROM accounts.deletions WHERE customer_id = @customer_id;

-- name: DeletionInsert :exec
INSERT INTO accounts.deletions (customer_id, deleted_by, deleted_at) VALUES (@customer_id, sqlc.narg('deleted_by'), @now);

-- DeletionListOpen lists those whose erasing is under way, oldest first.
-- name: DeletionListOpen :many
SELECT customer_id FROM accounts.deletions WHERE erased_at IS NULL ORDER BY deleted_at LIMIT 500;

-- CustomerClose ends every access of the customer and frees their logins; a trigger does the latter.
-- name: CustomerClose :execrows
UPDATE accounts.users SET deleted_at = @now, tokens_valid_after = @tokens_valid_after, kept_token_id = NULL, kept_token_since = NULL,
    password_hash = NULL, updated_at = @now
WHERE id = @id AND user_type = 'customer' AND deleted_at IS NULL;

-- CustomerErase leaves a tombstone: an id that money records can point to.
-- name: CustomerErase :execrows
UPDATE accounts.users SET
    username = '', email = '', name = NULL, full_name = NULL, tax_id = NULL, phone = NULL, nationality = '', address = NULL,
    my_list = '{}', labels = '{}', avatar_id = NULL, language = 'pt', email_verified = false, email_verified_at = NULL, enable = false,
    password_reset_required = false, current_subscription_id = NULL, trial_used_at = NULL, promo_code_used = NULL,
    promo_code_id = NULL, gwa_customer_id = NULL, gwb_customer_id = NULL, max_age_rating = NULL, parental_pin_mac = NULL,
    updated_at = @now
WHERE id = @id AND deleted_at IS NOT NULL;

-- CustomerListUnverified lists customers who signed up to verify at once and never did.
-- name: CustomerListUnverified :many
SELECT id FROM accounts.users
WHERE NOT email_verified AND NOT verify_later AND user_type = 'customer' AND deleted_at IS NULL
  AND NOT password_reset_required AND document_created_by_id IS NULL
  AND created_at < @before AND id > @after::text
ORDER BY id LIMIT @page_size;
