-- +goose Up
-- A price that a move leaves is bounded as prices are, and what a subscription was given
-- back as what is charged at once. A row from before that is beyond its bound stays until
-- somebody changes it.
ALTER TABLE subscriptions.subscriptions ADD CONSTRAINT subscriptions_refunded_bounded CHECK (total_refunded_cents <= 100000000000) NOT VALID;
ALTER TABLE subscriptions.plan_moves ADD CONSTRAINT plan_moves_price_bounded CHECK (from_cents <= 100000000) NOT VALID;
-- +goose StatementBegin
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM subscriptions.subscriptions WHERE total_refunded_cents > 100000000000) THEN
        ALTER TABLE subscriptions.subscriptions VALIDATE CONSTRAINT subscriptions_refunded_bounded;
    END IF;
    IF NOT EXISTS (SELECT FROM subscriptions.plan_moves WHERE from_cents > 100000000) THEN
        ALTER TABLE subscriptions.plan_moves VALIDATE CONSTRAINT plan_moves_price_bounded;
    END IF;
END $$;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE subscriptions.plan_moves DROP CONSTRAINT plan_moves_price_bounded;
ALTER TABLE subscriptions.subscriptions DROP CONSTRAINT subscriptions_refunded_bounded;
