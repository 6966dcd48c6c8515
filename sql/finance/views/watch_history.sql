CREATE OR REPLACE VIEW finance.watch_history AS
SELECT w.user_id AS customer_id, w.video_id, w.updated_at AS watched_at
FROM catalog.watch_history w
JOIN accounts.users u ON u.id = w.user_id AND u.user_type = 'customer';
COMMENT ON VIEW finance.watch_history IS 'Videos that customers have begun, one row each and video. Source: catalog.watch_history.';
COMMENT ON COLUMN finance.watch_history.customer_id IS 'The customer (finance.customers).';
COMMENT ON COLUMN finance.watch_history.video_id IS 'The video.';
COMMENT ON COLUMN finance.watch_history.watched_at IS 'When they last watched it, UTC.';
