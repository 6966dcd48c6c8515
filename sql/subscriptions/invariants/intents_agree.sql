-- A subscription waits for the outcome of a call exactly while an intent of it is open; a pause, a move to a plan or of a charge that the gateway has not confirmed has one.
SELECT s.id AS id, 'no intent is open, and it waits for one since ' || s.register_date AS detail
FROM subscriptions.subscriptions s
WHERE s.intent_open AND s.register_date < $1::timestamptz - interval '15 minutes'
  AND NOT EXISTS (SELECT 1 FROM payments.intents i WHERE i.subject_id = s.id AND i.kind = 'subscription' AND i.state = 'open')
UNION ALL
SELECT i.subject_id, 'intent ' || i.id || ' is open, and the subscription waits for none'
FROM payments.intents i LEFT JOIN subscriptions.subscriptions s ON s.id = i.subject_id
WHERE i.state = 'open' AND i.kind = 'subscription' AND s.intent_open IS NOT TRUE
UNION ALL
SELECT m.id, 'no intent is open, and the move of subscription ' || m.subscription_id || ' to ' || m.plan_id || ' is'
FROM subscriptions.plan_moves m
WHERE m.state = 'open' AND m.register_date < $1::timestamptz - interval '15 minutes'
  AND NOT EXISTS (SELECT FROM payments.intents i WHERE i.subject_id = m.id AND i.kind = 'plan_move' AND i.state = 'open')
UNION ALL
SELECT p.id, 'no intent is open, and the pause of subscription ' || p.subscription_id || ' is ' || p.state
FROM subscriptions.pauses p
WHERE p.state IN ('pausing', 'resuming') AND p.register_date < $1::timestamptz - interval '15 minutes'
  AND NOT EXISTS (SELECT FROM payments.intents i WHERE i.subject_id = p.id AND i.kind = 'pause' AND i.state = 'open')
UNION ALL
SELECT m.id, 'no intent is open, and the move of the next charge of subscription ' || m.subscription_id || ' is'
FROM subscriptions.charge_moves m
WHERE m.state = 'open' AND m.register_date < $1::timestamptz - interval '15 minutes'
  AND NOT EXISTS (SELECT FROM payments.intents i WHERE i.subject_id = m.id AND i.kind = 'charge_move' AND i.state = 'open')
