-- name: PlatformGet :one
SELECT * FROM settings.platform;

-- PlatformLock reads the settings and keeps other changes waiting until the
-- transaction ends, so that the history tells what each change replaced.
-- name: PlatformLock :one
SELECT * FROM settings.platform FOR UPDATE;

-- name: PlatformUpdate :exec
UPDATE settings.platform SET
    default_payment_gateway = @default_payment_gateway,
    pix_billing_mode = @pix_billing_mode,
    pix_subscription_mode = @pix_subscription_mode,
    client_version = @client_version,
    min_version = sqlc.narg('min_version');
