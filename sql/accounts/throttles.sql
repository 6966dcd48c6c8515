-- name: QuotaDeleteOld :execrows
DELETE FROM accounts.quotas WHERE window_start < @before;

-- QuotaTake takes one of the window's; no row when all are taken.
-- name: QuotaTake :one
INSERT INTO accounts.quotas (subject_mac, window_start, used) VALUES (@subject_mac, @window_start, 1)
ON CONFLICT ON CONSTRAINT quotas_one_per_window DO UPDATE SET used = quotas.used + 1 WHERE quotas.used < @allowed::int
RETURNING used;

-- name: ThrottleClear :exec
DELETE FROM accounts.throttles WHERE subject_mac = @subject_mac;

-- name: ThrottleDeleteOld :execrows
DELETE FROM accounts.throttles WHERE failed_at < @before;

-- ThrottleFail counts a failure; the first after a quiet time begins anew.
-- name: ThrottleFail :exec
INSERT INTO accounts.throttles AS t (subject_mac, scope, failures, failed_at)
VALUES (@subject_mac, @scope, 1, @now)
ON CONFLICT (subject_mac) DO UPDATE SET
    failures = CASE WHEN t.failed_at < @forget_before THEN 1 ELSE t.failures + 1 END, failed_at = excluded.failed_at;

-- name: ThrottleList :many
SELECT subject_mac, failures, failed_at FROM accounts.throttles WHERE subject_mac = ANY (@subject_macs::bytea[]);
