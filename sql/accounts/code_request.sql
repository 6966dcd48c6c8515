-- CodeRequestClaim takes the address's turn; no row when its last one is younger
-- than the cooldown.
-- name: CodeRequestClaim :one
INSERT INTO accounts.code_requests (address_mac, purpose, requested_at)
VALUES (@address_mac, @purpose, @now)
ON CONFLICT ON CONSTRAINT code_requests_one_per_address DO UPDATE SET requested_at = excluded.requested_at
WHERE code_requests.requested_at <= @free_before
RETURNING requested_at;

-- name: CodeRequestDeleteOld :execrows
DELETE FROM accounts.code_requests WHERE requested_at <= @before;

-- name: CodeRequestGet :one
SELECT requested_at FROM accounts.code_requests WHERE address_mac = @address_mac AND purpose = @purpose;
