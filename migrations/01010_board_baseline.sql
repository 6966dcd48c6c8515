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

CREATE TABLE board.requisitions (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    name                   text COLLATE "C" NOT NULL,
    status_id              platform.object_id NOT NULL,
    description            text[] COLLATE "C" NOT NULL DEFAULT '{}',
    priority               text COLLATE "C" NOT NULL DEFAULT 'medium',
    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    register_update_date   timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    search                 tsvector GENERATED ALWAYS AS (
        platform.search_vector(ARRAY[name], 'A')
        || platform.search_vector(description, 'B')
        || platform.search_vector(ARRAY[priority], 'C')
    ) STORED,
    CONSTRAINT requisitions_status_known FOREIGN KEY (status_id) REFERENCES board.requisition_status (id),
    CONSTRAINT requisitions_name_length CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT requisitions_priority_length CHECK (char_length(priority) <= 50)
);
COMMENT ON TABLE board.requisitions IS 'Cards of the board.';
COMMENT ON COLUMN board.requisitions.description IS 'Paragraphs, in order.';
COMMENT ON COLUMN board.requisitions.priority IS 'Free text; by convention low, medium, high or urgent.';
COMMENT ON COLUMN board.requisitions.search IS 'What GET /search/requisitions finds a card by: name before description, this before priority.';
CREATE INDEX requisitions_by_update ON board.requisitions (register_update_date DESC, id);
CREATE INDEX requisitions_by_status ON board.requisitions (status_id, register_update_date DESC, id);
CREATE INDEX requisitions_search ON board.requisitions USING gin (search);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION board.advance_update_date() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.register_update_date := greatest(NEW.register_update_date, OLD.register_update_date + interval '1 millisecond');
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION board.advance_update_date() IS
    'A change takes its instant before it waits for the card, so it may bring one that is older than the change it waited for. The date of a card rises with every change all the same.';
CREATE TRIGGER requisitions_update_date BEFORE UPDATE ON board.requisitions
    FOR EACH ROW EXECUTE FUNCTION board.advance_update_date();

CREATE TABLE board.attachments (
    file_id        platform.object_id PRIMARY KEY,
    requisition_id platform.object_id NOT NULL,
    filename       text COLLATE "C" NOT NULL,
    content_type   text COLLATE "C" NOT NULL,
    size           bigint NOT NULL,
    attached_at    timestamptz NOT NULL,
    CONSTRAINT attachments_file_exists FOREIGN KEY (file_id) REFERENCES files.files (id) ON DELETE CASCADE,
    CONSTRAINT attachments_requisition_exists FOREIGN KEY (requisition_id) REFERENCES board.requisitions (id) ON DELETE CASCADE,
    CONSTRAINT attachments_size_not_negative CHECK (size >= 0)
);
COMMENT ON TABLE board.attachments IS 'Which stored files hang on which card. A file without a row here belongs to no card.';
COMMENT ON COLUMN board.attachments.filename IS 'As in files.files, whose rows never change: cards are listed and filtered by it.';
COMMENT ON COLUMN board.attachments.content_type IS 'As in files.files.';
COMMENT ON COLUMN board.attachments.size IS 'Bytes, as in files.files.';
CREATE INDEX attachments_by_requisition ON board.attachments (requisition_id, attached_at, file_id);

-- +goose Down
DROP SCHEMA board CASCADE;
