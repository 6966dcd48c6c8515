-- +goose Up
ALTER TABLE board.requisitions ADD COLUMN search tsvector GENERATED ALWAYS AS (
    platform.search_vector(ARRAY[name], 'A')
    || platform.search_vector(description, 'B')
    || platform.search_vector(ARRAY[priority], 'C')
) STORED;
COMMENT ON COLUMN board.requisitions.search IS 'What GET /search/requisitions finds a card by: name before description, this before priority.';

CREATE INDEX requisitions_search ON board.requisitions USING gin (search);

-- +goose Down
ALTER TABLE board.requisitions DROP COLUMN search;
