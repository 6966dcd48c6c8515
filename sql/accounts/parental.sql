-- name: ParentalTryClear :exec
DELETE FROM accounts.parental_tries WHERE user_id = @user_id;

-- ParentalTryTake counts a try before it is compared, so that no more run beside each other than may; no row when none
-- is left. The first after a quiet time begins anew.
-- name: ParentalTryTake :one
INSERT INTO accounts.parental_tries AS t (user_id, tries, tried_at) VALUES (@user_id, 1, @now)
ON CONFLICT (user_id) DO UPDATE SET
    tries = CASE WHEN t.tried_at <= @forget_before THEN 1 ELSE t.tries + 1 END, tried_at = @now
    WHERE t.tries < @allowed::int OR t.tried_at <= @forget_before
RETURNING (SELECT u.parental_pin_mac FROM accounts.users u WHERE u.id = @user_id);

-- name: ParentalTryGet :one
SELECT tried_at FROM accounts.parental_tries WHERE user_id = @user_id;

-- name: UserUpdateParental :one
UPDATE accounts.users SET max_age_rating = sqlc.narg('max_age_rating'), parental_pin_mac = sqlc.narg('parental_pin_mac'), updated_at = @now
WHERE id = @id
RETURNING *;
