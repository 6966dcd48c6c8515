-- LoginGetOwner returns the id of the user whose username or e-mail it is, whatever its
-- case, or an empty text. It gives one short row either way, and reads no user: what
-- it costs does not tell whether there is one.
-- name: LoginGetOwner :one
SELECT coalesce((SELECT l.user_id::text FROM accounts.logins l WHERE l.login = accounts.fold(@login)), '')::text AS user_id;

-- UserGetForLogin is UserGetByLogin, and tells whether they have a second factor.
-- name: UserGetForLogin :one
SELECT sqlc.embed(u), EXISTS (
    SELECT 1 FROM accounts.totp t WHERE t.user_id = u.id AND t.confirmed_at IS NOT NULL
)::boolean AS has_totp
FROM accounts.logins l JOIN accounts.users u ON u.id = l.user_id
WHERE l.login = accounts.fold(@login);

-- UserGetByLogin finds the user whose username or e-mail it is, whatever its case.
-- name: UserGetByLogin :one
SELECT u.* FROM accounts.logins l JOIN accounts.users u ON u.id = l.user_id
WHERE l.login = accounts.fold(@login);

-- name: UserClearCurrentSubscription :execrows
UPDATE accounts.users SET current_subscription_id = NULL, updated_at = @now
WHERE id = @id AND current_subscription_id = @subscription_id;

-- name: UserGet :one
SELECT * FROM accounts.users WHERE id = @id AND deleted_at IS NULL;

-- name: UserGetCustomer :one
SELECT * FROM accounts.users WHERE id = @id AND user_type = 'customer' AND deleted_at IS NULL;

-- UserHoldCustomer is UserLockCustomer for those who need the lock alone.
-- name: UserHoldCustomer :execrows
SELECT 1 FROM accounts.users WHERE id = @id AND user_type = 'customer' AND deleted_at IS NULL FOR NO KEY UPDATE;

-- name: UserInsert :one
INSERT INTO accounts.users (id, user_type, username, email, password_hash, is_root, type_user, name, full_name, tax_id, phone,
    nationality, address, language, email_verified, email_verified_at, promo_code_used, promo_code_id, created_at, updated_at)
VALUES (@id, @user_type, @username, @email, @password_hash, @is_root, @type_user, sqlc.narg('name'), sqlc.narg('full_name'),
    sqlc.narg('tax_id'), sqlc.narg('phone'), @nationality, sqlc.narg('address'), @language, @email_verified,
    sqlc.narg('email_verified_at'), sqlc.narg('promo_code_used'), sqlc.narg('promo_code_id'), @created_at, @created_at)
RETURNING *;

-- name: UserListCustomers :many
SELECT * FROM accounts.users WHERE id = ANY(@ids::text[]) AND user_type = 'customer' AND deleted_at IS NULL;

-- UserLockCustomer lets rows that refer to the customer be inserted meanwhile.
-- name: UserLockCustomer :one
SELECT * FROM accounts.users WHERE id = @id AND user_type = 'customer' AND deleted_at IS NULL FOR NO KEY UPDATE;

-- UserLoginExists tells of one that is held for who may get it back, too.
-- name: UserLoginExists :one
SELECT (EXISTS (SELECT 1 FROM accounts.logins WHERE login = accounts.fold(@login)) OR accounts.login_reserved(accounts.fold(@login), @user_id::text))::boolean;

-- UserMarkTrialUsed records the customer's one trial; no row when it is used already.
-- name: UserMarkTrialUsed :execrows
UPDATE accounts.users SET trial_used_at = @now, updated_at = @now WHERE id = @id AND trial_used_at IS NULL;

-- UserRehash replaces a hash made with older parameters, unless the password
-- was changed meanwhile.
-- name: UserRehash :exec
UPDATE accounts.users SET password_hash = @new_hash WHERE id = @id AND password_hash = @old_hash::text;

-- name: UserSetCurrentSubscription :execrows
UPDATE accounts.users SET current_subscription_id = @subscription_id, updated_at = @now
WHERE id = @id AND user_type = 'customer' AND deleted_at IS NULL;

-- UserSetGatewayCustomer keeps an id that is there already: two first
-- subscriptions at once must end with one.
-- name: UserSetGatewayCustomer :one
UPDATE accounts.users SET
    gwa_customer_id = CASE WHEN @gateway::text = 'gwa' THEN COALESCE(gwa_customer_id, @gateway_id) ELSE gwa_customer_id END,
    gwb_customer_id = CASE WHEN @gateway = 'gwb' THEN COALESCE(gwb_customer_id, @gateway_id) ELSE gwb_customer_id END,
    updated_at = @now
WHERE id = @id AND user_type = 'customer'
RETURNING COALESCE(CASE WHEN @gateway = 'gwa' THEN gwa_customer_id ELSE gwb_customer_id END, '')::text AS gateway_customer_id;

-- name: UserSetTaxID :execrows
UPDATE accounts.users SET tax_id = @tax_id, updated_at = @now
WHERE id = @id AND user_type = 'customer' AND deleted_at IS NULL;

-- name: UserTaxIDExists :one
SELECT EXISTS (SELECT 1 FROM accounts.users WHERE user_type = 'customer' AND deleted_at IS NULL AND tax_id = @tax_id);

-- name: UserUpdateCaller :one
UPDATE accounts.users SET
    username = @username, full_name = @full_name, tax_id = sqlc.narg('tax_id'), phone = sqlc.narg('phone'),
    address = sqlc.narg('address'), avatar_id = sqlc.narg('avatar_id'), my_list = @my_list, updated_at = @now
WHERE id = @id
RETURNING *;

-- name: UserVerifyEmail :one
UPDATE accounts.users SET email_verified = true, email_verified_at = @now, updated_at = @now
WHERE id = @id AND NOT email_verified AND deleted_at IS NULL
RETURNING *;

-- name: UserGetByGatewayCustomer :one
-- UserGetByGatewayCustomer finds whose id at a gateway it is; who is deleted has none.
SELECT id FROM accounts.users
WHERE @gateway::text = 'gwa' AND gwa_customer_id = @gateway_id::text OR @gateway::text = 'gwb' AND gwb_customer_id = @gateway_id::text
LIMIT 1;

-- UserListTrials lists customers who have begun their trial since, in the order of their ids.
-- name: UserListTrials :many
SELECT id, tax_id::text AS tax_id, trial_used_at::timestamptz AS trial_used_at FROM accounts.users
WHERE user_type = 'customer' AND deleted_at IS NULL AND tax_id IS NOT NULL AND trial_used_at > @since AND id > @after::text
ORDER BY id LIMIT @page_size;
