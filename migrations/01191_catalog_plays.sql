-- +goose Up
-- A play is written every 30 seconds while somebody watches: no index names seen_at, and half of a page is free for it.
CREATE TABLE catalog.plays (
    id platform.object_id NOT NULL,
    user_id platform.object_id NOT NULL,
    place integer NOT NULL,
    video_id platform.object_id NOT NULL,
    session_id platform.object_id,
    device text NOT NULL COLLATE "C",
    started_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    ended_at timestamptz,
    ended_play_id platform.object_id,
    CONSTRAINT plays_pkey PRIMARY KEY (id),
    CONSTRAINT plays_place_once UNIQUE (user_id, place),
    CONSTRAINT plays_place_positive CHECK (place >= 1),
    CONSTRAINT plays_device_length CHECK (length(device) <= 300),
    CONSTRAINT plays_seen_after_start CHECK (seen_at >= started_at)
) WITH (fillfactor = 50);
COMMENT ON TABLE catalog.plays IS 'Where each user plays a video, or did last: a row for each of their places. One that is over is taken by the next, so that rows do not grow with time.';
COMMENT ON COLUMN catalog.plays.place IS 'Counted from 1, the lowest that is free: two that begin at once cannot both take the last that the plan allows.';
COMMENT ON COLUMN catalog.plays.session_id IS 'The sign-in whose token asked for the stream; null for a token without one.';
COMMENT ON COLUMN catalog.plays.device IS 'What the player called itself (User-Agent), cut to 300 characters.';
COMMENT ON COLUMN catalog.plays.seen_at IS 'When the player was last heard of. After 90 seconds without a word the play is over.';
COMMENT ON COLUMN catalog.plays.ended_at IS 'When its user ended it from anywhere; null while it goes on, and of one that went silent.';
COMMENT ON COLUMN catalog.plays.ended_play_id IS 'The play that its user ended and whose place this one took: its player still asks why it ended.';

-- +goose Down
DROP TABLE catalog.plays;
