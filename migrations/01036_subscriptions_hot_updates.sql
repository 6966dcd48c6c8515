-- +goose Up
-- A renewal notes that its row has changed, and stands in no index by that any more: so the new version stays in the page
-- of the old one, and no index is written. Those who ask for the newest changes first sort what they find; the few that
-- are to be stopped are as quickly found by a list without an order.
DROP INDEX subscriptions.subscriptions_by_update;
DROP INDEX subscriptions.subscriptions_open_stops;
CREATE INDEX subscriptions_open_stops ON subscriptions.subscriptions USING btree (id) WHERE (cancel_at_period_end
    AND (gateway_deleted_at IS NULL) AND (gateway = 'gwa'::text) AND (status = ANY (ARRAY['active'::text, 'suspended'::text])));
COMMENT ON INDEX subscriptions.subscriptions_open_stops IS 'Recurrences that have still to be stopped at gateway A: those that are, and PIX periods that were paid once.';

-- Room for it.
ALTER TABLE subscriptions.subscriptions SET (fillfactor = 80);

-- +goose Down
ALTER TABLE subscriptions.subscriptions RESET (fillfactor);
DROP INDEX subscriptions.subscriptions_open_stops;
CREATE INDEX subscriptions_open_stops ON subscriptions.subscriptions (register_update_date) WHERE (cancel_at_period_end
    AND (gateway_deleted_at IS NULL) AND (gateway = 'gwa'::text) AND (status = ANY (ARRAY['active'::text, 'suspended'::text])));
COMMENT ON INDEX subscriptions.subscriptions_open_stops IS 'Recurrences that have still to be stopped at gateway A: those that are, and PIX periods that were paid once.';
CREATE INDEX subscriptions_by_update ON subscriptions.subscriptions (register_update_date DESC, id);
