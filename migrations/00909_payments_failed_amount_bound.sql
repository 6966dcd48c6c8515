-- +goose Up
-- As of payments themselves. A row from before that is beyond its bound stays until
-- somebody changes it.
ALTER TABLE payments.failed_attempts ADD CONSTRAINT failed_attempts_amount_bounded CHECK (amount_cents <= 100000000000) NOT VALID;
-- +goose StatementBegin
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM payments.failed_attempts WHERE amount_cents > 100000000000) THEN
        ALTER TABLE payments.failed_attempts VALIDATE CONSTRAINT failed_attempts_amount_bounded;
    END IF;
END $$;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE payments.failed_attempts DROP CONSTRAINT failed_attempts_amount_bounded;
