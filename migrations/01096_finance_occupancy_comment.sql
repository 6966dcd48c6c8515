-- +goose Up
COMMENT ON COLUMN finance.events.occupancy_pct IS 'tickets_live / capacity x 100, two decimals; 0 for unlimited, and of a called off event.';

-- +goose Down
COMMENT ON COLUMN finance.events.occupancy_pct IS 'tickets_live / capacity x 100, two decimals; 0 for unlimited.';
