-- +goose Up
CREATE TABLE accounts.views (
    id                   platform.object_id PRIMARY KEY,
    owner_id             platform.object_id NOT NULL,
    name                 text COLLATE "C" NOT NULL,
    path                 text COLLATE "C" NOT NULL,
    query                text COLLATE "C" NOT NULL,
    sort                 text COLLATE "C" NOT NULL,
    columns              text[] COLLATE "C" NOT NULL,
    audience             text COLLATE "C" NOT NULL,
    profile_id           platform.object_id,
    register_date        timestamptz NOT NULL,
    register_update_date timestamptz NOT NULL,
    CONSTRAINT views_owner_exists FOREIGN KEY (owner_id) REFERENCES accounts.users (id) ON DELETE CASCADE,
    CONSTRAINT views_profile_exists FOREIGN KEY (profile_id) REFERENCES accounts.users_type (id) ON DELETE CASCADE,
    CONSTRAINT views_name_length CHECK (length(name) BETWEEN 1 AND 80),
    CONSTRAINT views_texts_bounded CHECK (length(path) <= 200 AND length(query) <= 8000 AND length(sort) <= 1000),
    CONSTRAINT views_columns_few CHECK (cardinality(columns) <= 60),
    CONSTRAINT views_audience_known CHECK (audience IN ('me', 'profile', 'all')),
    CONSTRAINT views_profile_is_an_audience CHECK ((profile_id IS NOT NULL) = (audience = 'profile'))
);
COMMENT ON TABLE accounts.views IS 'Lists as staff want to see them again: filter, sort and columns under a name, for themselves, for a profile or for all.';
CREATE INDEX views_by_path ON accounts.views (path, name);
CREATE INDEX views_by_owner ON accounts.views (owner_id);
CREATE INDEX views_by_profile ON accounts.views (profile_id) WHERE profile_id IS NOT NULL;

-- +goose Down
DROP TABLE accounts.views;
