-- +goose Up
-- Prices are R$ 1,000,000.00 at most, and what is charged at once a thousand times that.
-- A row from before that is beyond its bound stays until somebody changes it.
ALTER TABLE tickets.events ADD CONSTRAINT events_ticket_value_bounded CHECK (ticket_value_cents <= 100000000) NOT VALID;
ALTER TABLE tickets.orders ADD CONSTRAINT orders_unit_price_bounded CHECK (unit_price_cents <= 100000000) NOT VALID;
ALTER TABLE tickets.orders ADD CONSTRAINT orders_total_bounded CHECK (total_cents <= 100000000000) NOT VALID;
-- +goose StatementBegin
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM tickets.events WHERE ticket_value_cents > 100000000) THEN
        ALTER TABLE tickets.events VALIDATE CONSTRAINT events_ticket_value_bounded;
    END IF;
    IF NOT EXISTS (SELECT FROM tickets.orders WHERE unit_price_cents > 100000000) THEN
        ALTER TABLE tickets.orders VALIDATE CONSTRAINT orders_unit_price_bounded;
    END IF;
    IF NOT EXISTS (SELECT FROM tickets.orders WHERE total_cents > 100000000000) THEN
        ALTER TABLE tickets.orders VALIDATE CONSTRAINT orders_total_bounded;
    END IF;
END $$;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE tickets.orders DROP CONSTRAINT orders_total_bounded;
ALTER TABLE tickets.orders DROP CONSTRAINT orders_unit_price_bounded;
ALTER TABLE tickets.events DROP CONSTRAINT events_ticket_value_bounded;
