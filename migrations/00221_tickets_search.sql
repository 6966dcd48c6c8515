-- +goose Up
ALTER TABLE tickets.events ADD COLUMN search tsvector GENERATED ALWAYS AS (
    platform.search_vector(ARRAY[code, title], 'A')
    || platform.search_vector(ARRAY[location], 'B')
    || platform.search_vector(ARRAY[description], 'C')
) STORED;
COMMENT ON COLUMN tickets.events.search IS 'What GET /search/events finds an event by: code and title before the place, this before the description.';
CREATE INDEX events_search ON tickets.events USING gin (search);

ALTER TABLE tickets.tickets ADD COLUMN search tsvector GENERATED ALWAYS AS (
    platform.search_vector(ARRAY[title, promo_code], 'A')
    || CASE WHEN description IS NULL THEN ''::tsvector ELSE platform.search_vector(ARRAY[description], 'C') END
) STORED;
COMMENT ON COLUMN tickets.tickets.search IS 'What GET /search/tickets finds a ticket by: title and promo code before the description. People are found by /search/customers, and their tickets by customer_id.';
CREATE INDEX tickets_search ON tickets.tickets USING gin (search);

-- +goose Down
ALTER TABLE tickets.tickets DROP COLUMN search;
ALTER TABLE tickets.events DROP COLUMN search;
