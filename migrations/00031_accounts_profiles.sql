-- +goose Up
CREATE TABLE accounts.users_type (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    name                   text COLLATE "C" NOT NULL,
    view                   text[] NOT NULL DEFAULT '{}',
    "create"               text[] NOT NULL DEFAULT '{}',
    "update"               text[] NOT NULL DEFAULT '{}',
    "delete"               text[] NOT NULL DEFAULT '{}',
    document_created_by_id platform.object_id,
    created_at             timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL,
    CONSTRAINT users_type_name_unique UNIQUE (name),
    CONSTRAINT users_type_name_length CHECK (length(name) BETWEEN 1 AND 100)
);
COMMENT ON TABLE accounts.users_type IS 'Profiles: lists of handler names that an admin who carries the profile may call.';
COMMENT ON COLUMN accounts.users_type.view IS 'Handler names. Which of the four lists holds a name is for people; any of them permits it.';

INSERT INTO accounts.users_type (id, name, view, "create", "update", "delete", created_at, updated_at)
VALUES ('000000000000000000000001', 'Requisitions',
    '{requisition_get,requisition_status_get,requisition_file_download}',
    '{requisition_post,requisition_status_post,requisition_file_upload}',
    '{requisition_put,requisition_status_put}',
    '{requisition_delete,requisition_status_delete,requisition_file_delete}',
    date_trunc('milliseconds', now()), date_trunc('milliseconds', now()));

-- +goose Down
DROP TABLE accounts.users_type;
