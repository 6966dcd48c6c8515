CREATE OR REPLACE FUNCTION subscriptions.note_order_move() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    moved jsonb := to_jsonb(NEW);
    of text := CASE TG_ARGV[0] WHEN 'debit_retry' THEN concat_ws('/', moved->>'cycle', moved->>'retry_date') ELSE moved->>'id' END;
BEGIN
    IF NEW.state IS DISTINCT FROM (
        SELECT t.to_state FROM subscriptions.order_transitions t
        WHERE t.subscription_id = NEW.subscription_id AND t.kind = TG_ARGV[0] AND t.item = of ORDER BY t.id DESC LIMIT 1)
    THEN
        INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, from_state, to_state, action)
        VALUES (NEW.subscription_id, TG_ARGV[0], of, now(), OLD.state, NEW.state, 'not_recorded');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION subscriptions.note_order_move() IS 'Keeps the history of an order beside a subscription unbroken where a statement moves it without: of the release before, or at psql. What the statement itself has written it sees. Its argument is the kind.';
