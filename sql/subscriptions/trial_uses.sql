-- TrialBegin notes that the trial of a subscription has begun.
-- name: TrialBegin :execrows
UPDATE subscriptions.trial_uses SET began_at = @now WHERE subscription_id = @subscription_id AND began_at IS NULL;

-- TrialClaim takes the trial of a tax id for a subscription; no row when it was had, or
-- another subscription that waits may still have it.
-- name: TrialClaim :execrows
INSERT INTO subscriptions.trial_uses AS t (tax_id_mac, subscription_id, claimed_at) VALUES (@tax_id_mac, @subscription_id, @now)
ON CONFLICT (tax_id_mac) DO UPDATE SET subscription_id = excluded.subscription_id, claimed_at = excluded.claimed_at, began_at = NULL
WHERE t.began_at <= @forgotten
   OR t.began_at IS NULL AND NOT EXISTS (SELECT 1 FROM subscriptions.subscriptions s WHERE s.id = t.subscription_id AND s.status = 'pending');

-- name: TrialDeleteOld :execrows
DELETE FROM subscriptions.trial_uses WHERE coalesce(began_at, claimed_at) <= @forgotten;

-- TrialForgetOwner keeps the uses of a customer who is deleted, and not whose they were.
-- name: TrialForgetOwner :exec
UPDATE subscriptions.trial_uses t SET subscription_id = NULL
FROM subscriptions.subscriptions s WHERE s.id = t.subscription_id AND s.customer_id = @customer_id AND t.began_at IS NOT NULL;

-- name: TrialListOf :many
SELECT t.claimed_at, t.began_at FROM subscriptions.trial_uses t LEFT JOIN subscriptions.subscriptions s ON s.id = t.subscription_id
WHERE s.customer_id = @customer_id OR t.tax_id_mac = @tax_id_mac ORDER BY t.claimed_at;

-- TrialInsert notes a trial that began without a claim: of an earlier version.
-- name: TrialInsert :exec
INSERT INTO subscriptions.trial_uses (tax_id_mac, claimed_at, began_at) VALUES (@tax_id_mac, @began_at, @began_at)
ON CONFLICT (tax_id_mac) DO NOTHING;
