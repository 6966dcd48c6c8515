-- Each move of a subscription begins where the one before it ended, the first with nothing.
SELECT subscription_id AS id, 'move ' || move || ' begins at ' || coalesce(from_status, 'nothing') || ' after ' || coalesce(previous, 'nothing') AS detail
FROM (
    SELECT subscription_id, id AS move, from_status, lag(to_status) OVER (PARTITION BY subscription_id ORDER BY id) AS previous
    FROM subscriptions.transitions
) h
WHERE from_status IS DISTINCT FROM previous
