-- +goose Up
CREATE SCHEMA board;
COMMENT ON SCHEMA board IS 'The staff''s request board: columns, cards and their attachments.';

CREATE TABLE board.requisition_status (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    name                   text COLLATE "C" NOT NULL,
    index                  integer,
    color                  text COLLATE "C",
    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    register_update_date   timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    CONSTRAINT requisition_status_name_unique UNIQUE (name),
    CONSTRAINT requisition_status_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    CONSTRAINT requisition_status_color_form CHECK (color ~ '^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$')
);
COMMENT ON TABLE board.requisition_status IS 'Columns of the board; a card is in exactly one.';
COMMENT ON COLUMN board.requisition_status.index IS 'Place among the columns, from the left; null stands at the end.';
COMMENT ON COLUMN board.requisition_status.color IS '#RGB, #RRGGBB or #RRGGBBAA.';

-- +goose Down
DROP TABLE board.requisition_status;
DROP SCHEMA board;
