-- +goose Up
COMMENT ON COLUMN tickets.orders.state IS 'What holds here: reserved (places held, money open), paid, released (places given back unpaid), refund_due (money came and no place was left), refunded, lost (a dispute took its money). The contract''s status is always pending (docs/contract/states.md, Orders).';

-- +goose Down
COMMENT ON COLUMN tickets.orders.state IS 'What holds here: reserved (places held, money open), paid, released (places given back unpaid), refund_due (money came and no place was left), refunded, lost (a dispute took its money). The specification''s status is always pending.';
