-- +goose Up
CREATE INDEX users_search ON accounts.users USING gin ((
    platform.search_vector(ARRAY[full_name, name], 'A')
    || platform.search_vector(ARRAY[username, email, tax_id, phone], 'B')
)) WHERE deleted_at IS NULL;
COMMENT ON INDEX accounts.users_search IS 'What GET /search/users and /search/customers find people by: names before logins and numbers. An index alone, so that nothing of it outlives the row.';

-- +goose Down
DROP INDEX accounts.users_search;
