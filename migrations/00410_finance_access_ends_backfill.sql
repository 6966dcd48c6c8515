-- +goose Up
-- The rollups' migration took the beginning of access for its end where a
-- subscription has no expires_at: greatest() passes over nulls. Such rows go, and
-- the figures are counted anew.
-- +goose StatementBegin
DO $$
BEGIN
    DELETE FROM finance.access_ends a
    USING subscriptions.transitions t, subscriptions.subscriptions s
    WHERE t.id = a.transition_id AND s.id = t.subscription_id AND s.expires_at IS NULL
      AND a.ended_at = (SELECT b.at FROM subscriptions.transitions b
        WHERE b.subscription_id = t.subscription_id AND b.to_status = 'active' AND b.id < t.id ORDER BY b.id DESC LIMIT 1);
    IF FOUND THEN
        PERFORM finance.rebuild();
    END IF;
END
$$;
-- +goose StatementEnd

-- +goose Down
-- Nothing to take back.
