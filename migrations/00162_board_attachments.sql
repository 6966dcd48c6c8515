-- +goose Up
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
DROP TABLE board.attachments;
