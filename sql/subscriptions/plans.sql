-- name: PlanFind :one
-- By plan_id or by id; where a plan_id looks like another plan's id, the plan_id counts.
SELECT * FROM subscriptions.plans
WHERE plan_id = @key::text OR id = @key::text
ORDER BY plan_id = @key::text DESC
LIMIT 1;

-- name: PlanGetByPlanID :one
SELECT * FROM subscriptions.plans WHERE plan_id = @plan_id;

-- name: PlanInsertIfNew :exec
-- A plan that is there already stays as it is.
INSERT INTO subscriptions.plans (id, plan_id, name, description, amount_cents, interval_unit, trial_enabled, trial_days, tier, max_streams, register_date, register_update_date)
VALUES (@id, @plan_id, @name, @description, @amount_cents, 'MONTH', @trial_enabled, @trial_days, @tier, @max_streams, @now, @now)
ON CONFLICT ON CONSTRAINT plans_plan_id_unique DO NOTHING;

-- name: PlanLock :exec
SELECT id FROM subscriptions.plans WHERE id = @id FOR NO KEY UPDATE;

-- name: PlanUpdateActive :exec
UPDATE subscriptions.plans
SET is_active = @is_active, register_update_date = @now
WHERE id = @id AND is_active <> @is_active;

-- name: PlanUpdatePrice :exec
-- The guard on the amount keeps a slow synchronisation from labelling a price
-- with an amount that the plan no longer has.
UPDATE subscriptions.plans
SET gwb_product_id = @gwb_product_id, gwb_price_id = @gwb_price_id, gwb_price_amount_cents = @amount_cents
WHERE id = @id AND amount_cents = @amount_cents;
