-- name: AttachmentDelete :execrows
DELETE FROM board.attachments WHERE file_id = @file_id AND requisition_id = @requisition_id;

-- name: AttachmentExists :one
SELECT EXISTS (SELECT 1 FROM board.attachments WHERE file_id = @file_id);

-- name: AttachmentInsert :exec
INSERT INTO board.attachments (file_id, requisition_id, filename, content_type, size, attached_at)
VALUES (@file_id, @requisition_id, @filename, @content_type, @size, @attached_at);

-- AttachmentListKnown returns those of the files that hang on a card.
-- name: AttachmentListKnown :many
SELECT file_id FROM board.attachments WHERE file_id = ANY (@file_ids::text[]);
