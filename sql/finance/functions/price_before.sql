CREATE OR REPLACE FUNCTION finance.price_before(subscription text, transition bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
SELECT coalesce(
    (SELECT c.to_cents FROM finance.price_changes c WHERE c.subscription_id = subscription AND c.transition_id < transition ORDER BY c.id DESC LIMIT 1),
    (SELECT c.from_cents FROM finance.price_changes c WHERE c.subscription_id = subscription ORDER BY c.id LIMIT 1),
    (SELECT s.price_cents FROM subscriptions.subscriptions s WHERE s.id = subscription))
$$;
COMMENT ON FUNCTION finance.price_before(text, bigint) IS 'The price a month of a subscription, cents, as it stood when a transition was written.';
