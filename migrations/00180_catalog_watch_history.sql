-- +goose Up
CREATE TABLE catalog.watch_history (
    user_id    platform.object_id NOT NULL,
    video_id   platform.object_id NOT NULL,
    timeline   double precision NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, video_id),
    CONSTRAINT watch_history_video_known FOREIGN KEY (video_id) REFERENCES catalog.videos (id) ON DELETE CASCADE,
    CONSTRAINT watch_history_timeline_finite CHECK (timeline >= 0 AND timeline < 'Infinity')
);
COMMENT ON TABLE catalog.watch_history IS 'How far each user has watched each video.';
COMMENT ON COLUMN catalog.watch_history.user_id IS 'A customer or an admin; rows of a deleted customer are erased with his personal data.';
COMMENT ON COLUMN catalog.watch_history.timeline IS 'Seconds from the start. NaN counts as greater than Infinity and is refused with it.';

CREATE INDEX watch_history_newest ON catalog.watch_history (user_id, updated_at DESC, video_id);
CREATE INDEX watch_history_by_video ON catalog.watch_history (video_id);

-- +goose Down
DROP TABLE catalog.watch_history;
