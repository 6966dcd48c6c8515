-- +goose Up
CREATE SCHEMA files;
COMMENT ON SCHEMA files IS 'Stored files and the tokens that open them.';

CREATE TABLE files.archive_tokens (
    token_hash text COLLATE "C" PRIMARY KEY,
    user_id    platform.object_id NOT NULL,
    issued_at  timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT archive_tokens_hash_form CHECK (token_hash ~ '^[0-9a-f]{64}$'),
    CONSTRAINT archive_tokens_expire_after_issue CHECK (expires_at > issued_at)
);
COMMENT ON TABLE files.archive_tokens IS 'Session tokens that open stored files without an Authorization header. Several of one user live side by side until they expire.';
COMMENT ON COLUMN files.archive_tokens.token_hash IS 'Hex SHA-256 of the token, which is 32 random bytes and stands nowhere.';
COMMENT ON COLUMN files.archive_tokens.user_id IS 'No foreign key: users belong to an upper module.';
CREATE INDEX archive_tokens_by_expiry ON files.archive_tokens (expires_at);

CREATE TABLE files.contents (
    id          platform.object_id PRIMARY KEY,
    received_at timestamptz NOT NULL
);
COMMENT ON TABLE files.contents IS 'The bytes of a file, received before anybody keeps them: a slow client never holds a transaction open. Deleting a row deletes its chunks and its file. Those that nobody keeps are swept.';
CREATE INDEX contents_by_age ON files.contents (received_at);

CREATE TABLE files.chunks (
    content_id platform.object_id NOT NULL,
    n          integer NOT NULL,
    data       bytea NOT NULL,
    CONSTRAINT chunks_one_per_place PRIMARY KEY (content_id, n),
    CONSTRAINT chunks_content_exists FOREIGN KEY (content_id) REFERENCES files.contents (id) ON DELETE CASCADE,
    CONSTRAINT chunks_place_not_negative CHECK (n >= 0),
    CONSTRAINT chunks_hold_bytes CHECK (octet_length(data) BETWEEN 1 AND 262144)
);
COMMENT ON TABLE files.chunks IS 'Bytes in pieces of 262,144, the last one shorter. Stored uncompressed: most files are compressed already.';
COMMENT ON COLUMN files.chunks.n IS 'Place of the piece, from 0 without gaps.';
ALTER TABLE files.chunks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE files.files (
    id           platform.object_id PRIMARY KEY,
    purpose      text COLLATE "C" NOT NULL,
    visibility   text COLLATE "C" NOT NULL,
    owner_kind   text COLLATE "C" NOT NULL,
    owner_id     platform.object_id NOT NULL,
    reader_id    platform.object_id,
    filename     text NOT NULL,
    content_type text COLLATE "C" NOT NULL,
    size         bigint NOT NULL,
    sha256       text COLLATE "C" NOT NULL,
    created_by   platform.object_id,
    created_at   timestamptz NOT NULL,
    CONSTRAINT files_content_exists FOREIGN KEY (id) REFERENCES files.contents (id) ON DELETE CASCADE,
    CONSTRAINT files_purpose_known CHECK (purpose IN ('avatar', 'event_image', 'promo_image', 'attachment', 'record')),
    CONSTRAINT files_visibility_fits_purpose CHECK (CASE purpose
        WHEN 'attachment' THEN visibility = 'board'
        WHEN 'record' THEN visibility IN ('members', 'private')
        ELSE visibility = 'public' END),
    CONSTRAINT files_reader_of_private CHECK (reader_id IS NULL OR visibility = 'private'),
    CONSTRAINT files_owner_kind_form CHECK (owner_kind ~ '^[a-z_]{1,40}$'),
    CONSTRAINT files_filename_fits CHECK (octet_length(filename) BETWEEN 1 AND 255),
    CONSTRAINT files_content_type_fits CHECK (octet_length(content_type) BETWEEN 1 AND 255),
    CONSTRAINT files_size_not_negative CHECK (size >= 0),
    CONSTRAINT files_sha256_form CHECK (sha256 ~ '^[0-9a-f]{64}$')
);
COMMENT ON TABLE files.files IS 'Stored files: what each is for and which record it belongs to.';
COMMENT ON COLUMN files.files.id IS 'The file id of the API, and the id of its content.';
COMMENT ON COLUMN files.files.visibility IS 'public: anyone with its address. members: every signed-in user. private: admins and the reader. board: admins who may download attachments.';
COMMENT ON COLUMN files.files.owner_kind IS 'What record it belongs to, such as user, video, event, requisition.';
COMMENT ON COLUMN files.files.owner_id IS 'No foreign key: records belong to upper modules, which delete their files with them; a daily job removes what was left.';
COMMENT ON COLUMN files.files.reader_id IS 'The customer who may read a private file; null: admins alone.';
COMMENT ON COLUMN files.files.content_type IS 'By content for the images and PDF that are shown inline, else as the client said.';
COMMENT ON COLUMN files.files.sha256 IS 'Hex, of the bytes; the entity tag.';
COMMENT ON COLUMN files.files.created_by IS 'The user who uploaded it.';
CREATE INDEX files_by_owner ON files.files (owner_kind, owner_id, created_at, id);
CREATE INDEX files_by_age ON files.files (created_at);

-- +goose Down
DROP SCHEMA files CASCADE;
