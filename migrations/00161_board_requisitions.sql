-- +goose Up
CREATE TABLE board.requisitions (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    name                   text COLLATE "C" NOT NULL,
    status_id              platform.object_id NOT NULL,
    description            text[] COLLATE "C" NOT NULL DEFAULT '{}',
    priority               text COLLATE "C" NOT NULL DEFAULT 'medium',
    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    register_update_date   timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    CONSTRAINT requisitions_status_known FOREIGN KEY (status_id) REFERENCES board.requisition_status (id),
    CONSTRAINT requisitions_name_length CHECK (char_length(name) BETWEEN 1 AND 200),
    CONSTRAINT requisitions_priority_length CHECK (char_length(priority) <= 50)
);
COMMENT ON TABLE board.requisitions IS 'Cards of the board.';
COMMENT ON COLUMN board.requisitions.description IS 'Paragraphs, in order.';
COMMENT ON COLUMN board.requisitions.priority IS 'Free text; by convention low, medium, high or urgent.';

CREATE INDEX requisitions_by_update ON board.requisitions (register_update_date DESC, id);
CREATE INDEX requisitions_by_status ON board.requisitions (status_id, register_update_date DESC, id);

-- +goose StatementBegin
CREATE FUNCTION board.advance_update_date() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- +goose Down
DROP TABLE board.requisitions;
DROP FUNCTION board.advance_update_date();
