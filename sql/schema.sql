-- What the migrations make, by pg_dump 15, to be read. make generate writes it.

CREATE SCHEMA accounts;

COMMENT ON SCHEMA accounts IS 'Users (admins and customers), their profiles, logins and e-mailed codes.';

CREATE SCHEMA board;

COMMENT ON SCHEMA board IS 'The staff''s request board: columns, cards and their attachments.';

CREATE SCHEMA catalog;

COMMENT ON SCHEMA catalog IS 'Videos with their categories, tags and seasons.';

CREATE SCHEMA files;

COMMENT ON SCHEMA files IS 'Stored files and the tokens that open them.';

CREATE SCHEMA finance;

COMMENT ON SCHEMA finance IS 'Figures: one set of views for the API, the exports and analysts. Formulas: docs/analysts.md and GET /api/v1/admin/finance/definitions. Money in integer cents, days and months in the report time zone.';

CREATE SCHEMA finance_internal;

COMMENT ON SCHEMA finance_internal IS 'The machinery of the views in schema finance: views named …_scan, …_unfolded and …_parts. Nobody but the owner has a right here.';

CREATE SCHEMA jobs;

COMMENT ON SCHEMA jobs IS 'River''s tables, written by River alone but for jobs of dead workers, and jobs.workers.';

CREATE SCHEMA payments;

COMMENT ON SCHEMA payments IS 'Money as the gateways tell it: settled payments, failed attempts, webhook log, processed events.';

CREATE SCHEMA platform;

COMMENT ON SCHEMA platform IS 'What every module shares: the id domain, small functions, and tables that belong to no module.';

CREATE SCHEMA promos;

COMMENT ON SCHEMA promos IS 'Promo codes, their bundles, and who has redeemed them.';

CREATE SCHEMA settings;

COMMENT ON SCHEMA settings IS 'What administrators choose for the whole platform, and who chose it when.';

CREATE SCHEMA subscriptions;

COMMENT ON SCHEMA subscriptions IS 'Plans, subscriptions, and the history of their states.';

CREATE SCHEMA tickets;

COMMENT ON SCHEMA tickets IS 'Events, their tickets, the orders of the ticket store, check-in.';

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

CREATE TYPE jobs.river_job_state AS ENUM (
    'available',
    'cancelled',
    'completed',
    'discarded',
    'pending',
    'retryable',
    'running',
    'scheduled'
);

CREATE DOMAIN platform.object_id AS text COLLATE pg_catalog."C"
	CONSTRAINT object_id_form CHECK ((VALUE ~ '^[0-9a-f]{24}$'::text));

COMMENT ON DOMAIN platform.object_id IS '24 lower-case hex digits: 4 bytes of unix seconds, 5 random bytes, 3 bytes of a counter.';

CREATE FUNCTION accounts.caller(user_id platform.object_id, issued_at timestamp with time zone, token_id text) RETURNS TABLE(username text, user_type text, is_root boolean, profiles text[], handlers text[])
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    SELECT username, user_type, is_root, profiles, handlers FROM accounts.caller($1, $2, $3, '')
$_$;

COMMENT ON FUNCTION accounts.caller(user_id platform.object_id, issued_at timestamp with time zone, token_id text) IS 'Published: caller of a token without a session, as programs of before sessions ask for it.';

CREATE FUNCTION accounts.caller(user_id platform.object_id, issued_at timestamp with time zone, token_id text, session_id text) RETURNS TABLE(username text, user_type text, is_root boolean, profiles text[], handlers text[])
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    SELECT u.username, u.user_type, u.is_root, u.type_user,
           CASE WHEN u.type_user = '{}' THEN '{}' ELSE accounts.rights_of(u.type_user) END
    FROM accounts.users u
    WHERE u.id = $1 AND u.enable AND u.deleted_at IS NULL
      AND (u.tokens_valid_after IS NULL OR $2 >= u.tokens_valid_after
           OR (u.kept_token_id = $3 AND u.kept_token_since = u.tokens_valid_after))
      AND NOT EXISTS (SELECT 1 FROM accounts.sessions s WHERE s.id = $4 AND s.ended_at IS NOT NULL
                      OFFSET 0) -- which holds the planner to the index, however many callers it expects
$_$;

COMMENT ON FUNCTION accounts.caller(user_id platform.object_id, issued_at timestamp with time zone, token_id text, session_id text) IS 'Published: the user behind a token, live, with the handler names that their profiles hold. No row when they are deleted or disabled, when tokens of that age were ended, or when its session was. token_id is empty for archive tokens, session_id for tokens without a session.';

CREATE FUNCTION accounts.drop_skeletons() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM accounts.username_skeletons WHERE user_id = NEW.id AND (username <> NEW.username OR NEW.deleted_at IS NOT NULL);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION accounts.drop_skeletons() IS 'A name that is not the user''s any more, or of a deleted user, bars nobody from one that reads like it.';

CREATE FUNCTION accounts.erased(fields jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT coalesce(jsonb_object_agg(key, CASE WHEN jsonb_typeof(value) IN ('boolean', 'null') THEN value ELSE '"[erased]"' END), '{}')
    FROM jsonb_each(fields)
$$;

COMMENT ON FUNCTION accounts.erased(fields jsonb) IS 'The fields without what they held, but for yes and no.';

CREATE FUNCTION accounts.fold(login text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT lower(normalize(login, NFKC) COLLATE "default")
$$;

COMMENT ON FUNCTION accounts.fold(login text) IS 'The form in which usernames and e-mails are compared: without case and without look-alike forms of one character.';

CREATE FUNCTION accounts.has_customer(customer_id platform.object_id) RETURNS TABLE(has_customer boolean)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    SELECT EXISTS (SELECT 1 FROM accounts.users u WHERE u.id = $1 AND u.user_type = 'customer' AND u.deleted_at IS NULL)
$_$;

COMMENT ON FUNCTION accounts.has_customer(customer_id platform.object_id) IS 'Published: whether there is such a customer, who has not deleted the account. One row.';

CREATE FUNCTION accounts.hold_roots() RETURNS void
    LANGUAGE sql
    AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('accounts.roots', 0))
$$;

COMMENT ON FUNCTION accounts.hold_roots() IS 'Until the transaction ends, nobody else counts the root users: without it two could each leave the other as the last one.';

CREATE FUNCTION accounts.keep_audit_log() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL
           AND to_jsonb(NEW) - 'erased_at' = (to_jsonb(OLD) - 'erased_at') ||
               jsonb_build_object('before', accounts.erased(OLD.before), 'after', accounts.erased(OLD.after))
        THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'accounts.audit_log is append-only' USING ERRCODE = 'restrict_violation';
END
$$;

COMMENT ON FUNCTION accounts.keep_audit_log() IS 'Keeps the trail append-only, also against people at psql; erasing the values of a deleted person is the one change.';

CREATE FUNCTION accounts.keep_logins() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM accounts.logins
    WHERE user_id = NEW.id
      AND (NEW.deleted_at IS NOT NULL OR login NOT IN (accounts.fold(NEW.username), accounts.fold(NEW.email)));
    IF NEW.deleted_at IS NULL THEN
        INSERT INTO accounts.logins (login, user_id)
        SELECT DISTINCT l, NEW.id FROM unnest(ARRAY[accounts.fold(NEW.username), accounts.fold(NEW.email)]) l
        WHERE NOT EXISTS (SELECT 1 FROM accounts.logins own WHERE own.login = l AND own.user_id = NEW.id);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION accounts.keep_logins() IS 'Maintains accounts.logins: every name by which a user is found, while the user is not deleted.';

CREATE FUNCTION accounts.lock_customer(customer_id platform.object_id) RETURNS boolean
    LANGUAGE plpgsql
    AS $_$
BEGIN
    PERFORM 1 FROM accounts.users u WHERE u.id = $1 AND u.user_type = 'customer' AND u.deleted_at IS NULL FOR NO KEY UPDATE;
    RETURN FOUND;
END
$_$;

COMMENT ON FUNCTION accounts.lock_customer(customer_id platform.object_id) IS 'Published: locks a customer until the transaction ends, and tells whether there is such a one, who has not deleted the account.';

CREATE FUNCTION accounts.login_held(wanted text, wanted_by text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT accounts.login_reserved(wanted, wanted_by)
$$;

COMMENT ON FUNCTION accounts.login_held(wanted text, wanted_by text) IS 'accounts.login_reserved by the name that the release before calls; goes with the next one.';

CREATE FUNCTION accounts.login_reserved(wanted text, wanted_by text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT EXISTS (
        SELECT 1 FROM accounts.email_changes c
        WHERE c.old_email = wanted AND c.user_id <> wanted_by AND c.changed_at IS NOT NULL AND c.undone_at IS NULL AND c.expires_at > now())
$$;

COMMENT ON FUNCTION accounts.login_reserved(wanted text, wanted_by text) IS 'Whether somebody else may still get this address back: until then nobody takes it, so that an undo cannot be barred.';

CREATE FUNCTION accounts.max_age_rating(user_id platform.object_id) RETURNS TABLE(max_age_rating text)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    SELECT (SELECT u.max_age_rating FROM accounts.users u WHERE u.id = $1)
$_$;

COMMENT ON FUNCTION accounts.max_age_rating(user_id platform.object_id) IS 'Published: the highest age_rating that plays for the user without their PIN; null is no limit. One row.';

CREATE FUNCTION accounts.prove_signup() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.unproved_signup := false;
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION accounts.prove_signup() IS 'The first proof of the address: users.unproved_signup ends with it.';

CREATE FUNCTION accounts.refuse_reserved_login() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF accounts.login_reserved(NEW.login, NEW.user_id) THEN
        RAISE unique_violation USING CONSTRAINT = 'logins_of_one_user', TABLE = 'logins', SCHEMA = 'accounts',
            MESSAGE = 'a login is reserved for whoever may get it back', DETAIL = 'Key (login)=(' || NEW.login || ') already exists.';
    END IF;
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION accounts.refuse_reserved_login() IS 'A login that somebody else may still get back is as good as taken.';

CREATE FUNCTION accounts.rights_of(profiles text[]) RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    SELECT ARRAY(
        SELECT DISTINCT h FROM accounts.users_type p
        CROSS JOIN LATERAL (
            SELECT unnest(p.view), '_(get|download)$'
            UNION ALL SELECT unnest(p."create"), '_(post|upload)$'
            UNION ALL SELECT unnest(p."update"), '_put$'
            UNION ALL SELECT unnest(p."delete"), '_delete$'
        ) listed (h, own)
        WHERE p.id = ANY (profiles) AND h ~ own)
$_$;

COMMENT ON FUNCTION accounts.rights_of(profiles text[]) IS 'The handler names that an admin with these profiles may call. A name counts only in its own list, which its ending tells: requisition_post under view grants nothing.';

CREATE FUNCTION accounts.try_lock_customer(customer_id platform.object_id) RETURNS boolean
    LANGUAGE plpgsql
    AS $_$
BEGIN
    PERFORM 1 FROM accounts.users u WHERE u.id = $1 AND u.user_type = 'customer' AND u.deleted_at IS NULL FOR NO KEY UPDATE SKIP LOCKED;
    RETURN FOUND;
END
$_$;

COMMENT ON FUNCTION accounts.try_lock_customer(customer_id platform.object_id) IS 'Published: locks a customer until the transaction ends, and tells whether it did: not one whom somebody else holds, nor one who has deleted the account.';

CREATE FUNCTION board.advance_update_date() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.register_update_date := greatest(NEW.register_update_date, OLD.register_update_date + interval '1 millisecond');
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION board.advance_update_date() IS 'A change takes its instant before it waits for the card, so it may bring one that is older than the change it waited for. The date of a card rises with every change all the same.';

CREATE FUNCTION catalog.advance_version() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE catalog.version SET number = number + 1, changed_in = pg_current_xact_id()
    WHERE changed_in IS DISTINCT FROM pg_current_xact_id();
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION catalog.advance_version() IS 'Runs before each writing statement, whoever sends it. The row lock it takes lets one transaction at a time write to the catalogue, so computed names and checks of what is in use cannot race.';

CREATE FUNCTION catalog.fill_video_names() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.category_name := coalesce((
        SELECT array_agg(c.name ORDER BY given.place)
        FROM unnest(NEW.category_id) WITH ORDINALITY given(id, place) JOIN catalog.categories c ON c.id = given.id), '{}');
    IF cardinality(NEW.category_name) <> cardinality(NEW.category_id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'unknown category', CONSTRAINT = 'videos_category_id_known';
    END IF;
    NEW.tags_name := coalesce((
        SELECT array_agg(g.name ORDER BY given.place)
        FROM unnest(NEW.tags_id) WITH ORDINALITY given(id, place) JOIN catalog.tags g ON g.id = given.id), '{}');
    IF cardinality(NEW.tags_name) <> cardinality(NEW.tags_id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'unknown tag', CONSTRAINT = 'videos_tags_id_known';
    END IF;
    NEW.season_name := (SELECT s.name FROM catalog.seasons s WHERE s.id = NEW.season_id);
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION catalog.fill_video_names() IS 'Computes the names of a video''s categories, tags and season, and refuses unknown ids.';

CREATE FUNCTION catalog.refuse_while_used() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE used boolean;
BEGIN
    IF TG_TABLE_NAME = 'categories' THEN
        used := EXISTS (SELECT 1 FROM catalog.videos WHERE category_id @> ARRAY[OLD.id::text]);
    ELSE
        used := EXISTS (SELECT 1 FROM catalog.videos WHERE tags_id @> ARRAY[OLD.id::text]);
    END IF;
    IF used THEN
        RAISE foreign_key_violation USING MESSAGE = TG_TABLE_NAME || ' still in use', CONSTRAINT = TG_TABLE_NAME || '_in_use';
    END IF;
    RETURN OLD;
END
$$;

COMMENT ON FUNCTION catalog.refuse_while_used() IS 'What a foreign key would do, for id lists: no category or tag goes while a video names it.';

CREATE FUNCTION catalog.rename_in_videos() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- Setting a column to itself makes fill_video_names run.
    IF TG_TABLE_NAME = 'categories' THEN
        UPDATE catalog.videos SET category_id = category_id WHERE category_id @> ARRAY[NEW.id::text];
    ELSIF TG_TABLE_NAME = 'tags' THEN
        UPDATE catalog.videos SET tags_id = tags_id WHERE tags_id @> ARRAY[NEW.id::text];
    ELSE
        UPDATE catalog.videos SET season_id = season_id WHERE season_id = NEW.id;
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION catalog.rename_in_videos() IS 'Carries a new name to the videos that show it. Their register_update_date stays: nobody edited them.';

CREATE FUNCTION catalog.version() RETURNS TABLE(number bigint)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT v.number FROM catalog.version v
$$;

COMMENT ON FUNCTION catalog.version() IS 'Published: the version of the catalogue. One row. A page that was made at this version is the present one.';

CREATE FUNCTION files.issue_archive_token(token_hash text, user_id platform.object_id, session_id platform.object_id, issued_at timestamp with time zone, expires_at timestamp with time zone) RETURNS void
    LANGUAGE sql
    AS $_$
    INSERT INTO files.archive_tokens (token_hash, user_id, session_id, issued_at, expires_at) VALUES ($1, $2, $3, $4, $5)
$_$;

COMMENT ON FUNCTION files.issue_archive_token(token_hash text, user_id platform.object_id, session_id platform.object_id, issued_at timestamp with time zone, expires_at timestamp with time zone) IS 'Published: writes an archive token, whose hash alone is given.';

CREATE FUNCTION finance.customer_timeline(customer text, kind text, skip integer, qty integer) RETURNS json
    LANGUAGE sql STABLE
    AS $_$
    WITH moment AS (
        SELECT who.created_at AS at, 'signup' AS type, 'Signed up.' AS summary, '{}'::jsonb AS details FROM finance.customer_profiles_personal who WHERE who.customer_id = $1
        UNION ALL
        SELECT who.email_verified_at, 'email_verified', 'E-mail address verified.', '{}' FROM finance.customer_profiles_personal who
        WHERE who.customer_id = $1 AND who.email_verified_at IS NOT NULL
        UNION ALL
        (SELECT t.at, 'subscription',
            'Subscription to ' || s.plan_name || CASE WHEN t.from_status IS NULL THEN ' began as ' ELSE ' went from ' || t.from_status || ' to ' END
            || t.to_status || ' (' || replace(t.reason, '_', ' ') || ').',
            jsonb_build_object('plan_name', s.plan_name, 'from_status', t.from_status, 'to_status', t.to_status, 'reason', t.reason)
         FROM finance.subscriptions s JOIN finance.transitions t ON t.subscription_id = s.subscription_id
         WHERE s.customer_id = $1 ORDER BY t.at DESC LIMIT $3 + $4 + 1)
        UNION ALL
        (SELECT p.settled_at, 'payment',
            'Paid R$ ' || to_char(p.amount_cents / 100.0, 'FM999999999990.00') || ' for ' || CASE p.purpose WHEN 'order' THEN 'a ticket order' WHEN 'customer' THEN 'nothing that is known here' ELSE 'a ' || p.purpose END
            || ' by ' || replace(p.payment_method, '_', ' ') || ' at ' || p.gateway || '.',
            jsonb_build_object('amount', p.amount_cents, 'purpose', p.purpose, 'payment_method', p.payment_method, 'gateway', p.gateway)
         FROM (SELECT * FROM finance.payments x WHERE x.customer_id = $1 ORDER BY x.settled_at DESC LIMIT $3 + $4 + 1) p)
        UNION ALL
        (SELECT f.failed_at, 'payment_failed',
            'A payment of R$ ' || to_char(f.amount_cents / 100.0, 'FM999999999990.00') || ' failed at ' || f.gateway || '.',
            jsonb_build_object('amount', f.amount_cents, 'gateway', f.gateway)
         FROM (SELECT * FROM finance.customer_failures x WHERE x.customer_id = $1 ORDER BY x.failed_at DESC LIMIT $3 + $4 + 1) f)
        UNION ALL
        (SELECT coalesce(r.refunded_at, r.requested_at), 'refund',
            'A refund of R$ ' || to_char(r.amount_cents / 100.0, 'FM999999999990.00') || CASE r.status
                WHEN 'done' THEN ' was given back.' WHEN 'failed' THEN ' failed.' ELSE ' is under way.' END,
            jsonb_build_object('amount', r.amount_cents, 'gateway', r.gateway, 'refund_status', r.status)
         FROM (SELECT * FROM finance.refunds x WHERE x.customer_id = $1 ORDER BY coalesce(x.refunded_at, x.requested_at) DESC LIMIT $3 + $4 + 1) r)
        UNION ALL
        (SELECT c.at, 'chargeback', CASE c.kind
            WHEN 'taken' THEN 'A dispute took R$ ' || to_char(c.amount_cents / 100.0, 'FM999999999990.00') || '.'
            ELSE 'A dispute was won: R$ ' || to_char(-c.amount_cents / 100.0, 'FM999999999990.00') || ' came back.' END,
            jsonb_build_object('amount', c.amount_cents, 'gateway', c.gateway)
         FROM (SELECT * FROM finance.chargebacks x WHERE x.customer_id = $1 ORDER BY x.at DESC LIMIT $3 + $4 + 1) c)
        UNION ALL
        (SELECT o.created_at, 'order',
            'Ordered ' || o.quantity || ' for ' || o.event_title || ', R$ ' || to_char(o.total_cents / 100.0, 'FM999999999990.00') || '.',
            jsonb_build_object('amount', o.total_cents, 'quantity', o.quantity, 'event_title', o.event_title)
         FROM finance.orders o WHERE o.customer_id = $1 ORDER BY o.created_at DESC LIMIT $3 + $4 + 1)
        UNION ALL
        (SELECT t.consumed_at, 'ticket', 'Used a ticket for ' || e.title || '.', jsonb_build_object('event_title', e.title)
         FROM (
            SELECT * FROM finance.tickets x WHERE x.customer_id = $1 AND x.consumed_at IS NOT NULL ORDER BY x.consumed_at DESC LIMIT $3 + $4 + 1) t
         JOIN finance.events e ON e.event_id = t.event_id)
        UNION ALL
        (SELECT r.redeemed_at, 'promo_code', 'Redeemed the promo code ' || n.code || '.', jsonb_build_object('promo_code', n.code)
         FROM (SELECT * FROM finance.promo_redemptions x WHERE x.customer_id = $1 ORDER BY x.redeemed_at DESC LIMIT $3 + $4 + 1) r
         JOIN finance.promo_redemptions_personal n ON n.redemption_id = r.redemption_id)
    ), page AS (
        SELECT m.*, row_number() OVER (ORDER BY m.at DESC, m.type, m.summary) AS place
        FROM (SELECT * FROM moment WHERE $2 = '' OR type = $2 ORDER BY at DESC, type, summary LIMIT $4 + 1 OFFSET $3) m
    )
    SELECT json_build_object(
        'timeline', coalesce(json_agg(jsonb_build_object('at', platform.json_time(p.at), 'type', p.type, 'summary', p.summary) || jsonb_strip_nulls(p.details)
            ORDER BY p.place) FILTER (WHERE p.place <= $4), '[]'),
        'more', count(*) > $4)
    FROM page p
$_$;

COMMENT ON FUNCTION finance.customer_timeline(customer text, kind text, skip integer, qty integer) IS 'What happened to a customer, in sentences and in what these say, the newest first: qty of one type, or of all where it is empty, behind the first skip, and whether there are more. Each type is read by an index. It reads …_personal views with the caller''s rights.';

CREATE FUNCTION finance.exit_reason(reason text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE
        WHEN reason IN ('payment_failure', 'customer_cancelled', 'admin_cancelled', 'chargeback', 'expired') THEN reason
        WHEN reason = 'withdrawn' THEN 'customer_cancelled'
        WHEN reason IN ('replaced', 'gateway_status', 'payment_declined', 'nothing_at_gateway', 'abandoned', 'pix_unpaid') THEN 'payment_failure'
        ELSE 'admin_cancelled'
    END
$$;

COMMENT ON FUNCTION finance.exit_reason(reason text) IS 'The one of the five reasons of churn under which a move out of active counts. withdrawn counts under customer_cancelled. What waits for a payment that has not come is payment_failure, also a renewal that is not paid (yet); a word that is none of ours, gone_at_gateway among them, was somebody''s hand: admin_cancelled.';

CREATE FUNCTION finance.figure_differences() RETURNS TABLE(rollup text, key text, figure text, kept bigint, counted bigint)
    LANGUAGE sql STABLE
    AS $$
SELECT 'daily'::text AS rollup, coalesce(k.day, c.day)::text AS key, v.figure, v.kept, v.counted
FROM finance.daily k FULL JOIN finance_internal.daily_scan c ON c.day = k.day
CROSS JOIN LATERAL (
    SELECT 'gross_gwa_cents'::text AS figure, coalesce(k.gross_gwa_cents, 0) AS kept, coalesce(c.gross_gwa_cents, 0) AS counted
    UNION ALL SELECT 'gross_gwb_cents', coalesce(k.gross_gwb_cents, 0), coalesce(c.gross_gwb_cents, 0)
    UNION ALL SELECT 'payments', coalesce(k.payments, 0), coalesce(c.payments, 0)
    UNION ALL SELECT 'failed_attempts', coalesce(k.failed_attempts, 0), coalesce(c.failed_attempts, 0)
    UNION ALL SELECT 'refunds_cents', coalesce(k.refunds_cents, 0), coalesce(c.refunds_cents, 0)
    UNION ALL SELECT 'chargebacks_cents', coalesce(k.chargebacks_cents, 0), coalesce(c.chargebacks_cents, 0)
    UNION ALL SELECT 'entries', coalesce(k.entries, 0), coalesce(c.entries, 0)
    UNION ALL SELECT 'exits_payment_failure', coalesce(k.exits_payment_failure, 0), coalesce(c.exits_payment_failure, 0)
    UNION ALL SELECT 'exits_customer_cancelled', coalesce(k.exits_customer_cancelled, 0), coalesce(c.exits_customer_cancelled, 0)
    UNION ALL SELECT 'exits_admin_cancelled', coalesce(k.exits_admin_cancelled, 0), coalesce(c.exits_admin_cancelled, 0)
    UNION ALL SELECT 'exits_chargeback', coalesce(k.exits_chargeback, 0), coalesce(c.exits_chargeback, 0)
    UNION ALL SELECT 'exits_expired', coalesce(k.exits_expired, 0), coalesce(c.exits_expired, 0)
    UNION ALL SELECT 'returned_in_day', coalesce(k.returned_in_day, 0), coalesce(c.returned_in_day, 0)
    UNION ALL SELECT 'returned_in_month_payment_failure', coalesce(k.returned_in_month_payment_failure, 0), coalesce(c.returned_in_month_payment_failure, 0)
    UNION ALL SELECT 'returned_in_month_customer_cancelled', coalesce(k.returned_in_month_customer_cancelled, 0), coalesce(c.returned_in_month_customer_cancelled, 0)
    UNION ALL SELECT 'returned_in_month_admin_cancelled', coalesce(k.returned_in_month_admin_cancelled, 0), coalesce(c.returned_in_month_admin_cancelled, 0)
    UNION ALL SELECT 'returned_in_month_chargeback', coalesce(k.returned_in_month_chargeback, 0), coalesce(c.returned_in_month_chargeback, 0)
    UNION ALL SELECT 'returned_in_month_expired', coalesce(k.returned_in_month_expired, 0), coalesce(c.returned_in_month_expired, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'returns', coalesce(k.day, c.day)::text || ' after ' || coalesce(k.left_day, c.left_day)::text, 'returns', coalesce(k.returns, 0), coalesce(c.returns, 0)
FROM finance.returns k FULL JOIN finance_internal.return_scan c ON c.day = k.day AND c.left_day = k.left_day
WHERE coalesce(k.returns, 0) <> coalesce(c.returns, 0)
UNION ALL
SELECT 'standing', concat_ws(' ', coalesce(k.gateway, c.gateway), coalesce(k.payment_method, c.payment_method), coalesce(k.plan_id, c.plan_id)), v.figure, v.kept, v.counted
FROM finance.standing k FULL JOIN finance_internal.standing_scan c ON c.gateway = k.gateway AND c.payment_method = k.payment_method AND c.plan_id = k.plan_id
CROSS JOIN LATERAL (
    SELECT 'active'::text AS figure, coalesce(k.active, 0) AS kept, coalesce(c.active, 0) AS counted
    UNION ALL SELECT 'mrr_cents', coalesce(k.mrr_cents, 0), coalesce(c.mrr_cents, 0)
    UNION ALL SELECT 'trials', coalesce(k.trials, 0), coalesce(c.trials, 0)
    UNION ALL SELECT 'trial_mrr_cents', coalesce(k.trial_mrr_cents, 0), coalesce(c.trial_mrr_cents, 0)
    UNION ALL SELECT 'overdue', coalesce(k.overdue, 0), coalesce(c.overdue, 0)
    UNION ALL SELECT 'at_risk_cents', coalesce(k.at_risk_cents, 0), coalesce(c.at_risk_cents, 0)
    UNION ALL SELECT 'customers', coalesce(k.customers, 0), coalesce(c.customers, 0)
) v
WHERE v.kept <> v.counted
$$;

COMMENT ON FUNCTION finance.figure_differences() IS 'The part of finance.rollup_differences for figures by day and present figures.';

CREATE FUNCTION finance.fold(at_most integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    folded bigint;
    more bigint;
BEGIN
    -- Whoever folds, folds alone; the figures are right meanwhile, folded or not.
    IF NOT pg_try_advisory_xact_lock(hashtextextended('finance.fold', 0)) THEN
        RETURN 0;
    END IF;
    WITH gone AS (
        DELETE FROM finance.daily_deltas WHERE id IN (SELECT id FROM finance.daily_deltas ORDER BY id LIMIT at_most) RETURNING *
    ), days AS (
        INSERT INTO finance.daily_rollup AS r (day,
            gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
            exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
            returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired)
        SELECT (d.at AT TIME ZONE z.report_tz)::date AS day,
            coalesce(sum(d.gross_gwa_cents), 0)::bigint AS gross_gwa_cents,
            coalesce(sum(d.gross_gwb_cents), 0)::bigint AS gross_gwb_cents,
            coalesce(sum(d.payments), 0)::bigint AS payments,
            coalesce(sum(d.failed_attempts), 0)::bigint AS failed_attempts,
            coalesce(sum(d.refunds_cents), 0)::bigint AS refunds_cents,
            coalesce(sum(d.chargebacks_cents), 0)::bigint AS chargebacks_cents,
            coalesce(sum(d.entries), 0)::bigint AS entries,
            coalesce(sum(d.exits) FILTER (WHERE d.reason = 'payment_failure'), 0)::bigint AS exits_payment_failure,
            coalesce(sum(d.exits) FILTER (WHERE d.reason = 'customer_cancelled'), 0)::bigint AS exits_customer_cancelled,
            coalesce(sum(d.exits) FILTER (WHERE d.reason = 'admin_cancelled'), 0)::bigint AS exits_admin_cancelled,
            coalesce(sum(d.exits) FILTER (WHERE d.reason = 'chargeback'), 0)::bigint AS exits_chargeback,
            coalesce(sum(d.exits) FILTER (WHERE d.reason = 'expired'), 0)::bigint AS exits_expired,
            coalesce(sum(d.entries) FILTER (WHERE (d.left_at AT TIME ZONE z.report_tz)::date = (d.at AT TIME ZONE z.report_tz)::date), 0)::bigint AS returned_in_day,
            coalesce(sum(d.entries) FILTER (WHERE d.reason = 'payment_failure' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_payment_failure,
            coalesce(sum(d.entries) FILTER (WHERE d.reason = 'customer_cancelled' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_customer_cancelled,
            coalesce(sum(d.entries) FILTER (WHERE d.reason = 'admin_cancelled' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_admin_cancelled,
            coalesce(sum(d.entries) FILTER (WHERE d.reason = 'chargeback' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_chargeback,
            coalesce(sum(d.entries) FILTER (WHERE d.reason = 'expired' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_expired
        FROM gone d CROSS JOIN finance.settings z
        GROUP BY 1
        ON CONFLICT (day) DO UPDATE SET
            gross_gwa_cents = r.gross_gwa_cents + excluded.gross_gwa_cents,
            gross_gwb_cents = r.gross_gwb_cents + excluded.gross_gwb_cents,
            payments = r.payments + excluded.payments,
            failed_attempts = r.failed_attempts + excluded.failed_attempts,
            refunds_cents = r.refunds_cents + excluded.refunds_cents,
            chargebacks_cents = r.chargebacks_cents + excluded.chargebacks_cents,
            entries = r.entries + excluded.entries,
            exits_payment_failure = r.exits_payment_failure + excluded.exits_payment_failure,
            exits_customer_cancelled = r.exits_customer_cancelled + excluded.exits_customer_cancelled,
            exits_admin_cancelled = r.exits_admin_cancelled + excluded.exits_admin_cancelled,
            exits_chargeback = r.exits_chargeback + excluded.exits_chargeback,
            exits_expired = r.exits_expired + excluded.exits_expired,
            returned_in_day = r.returned_in_day + excluded.returned_in_day,
            returned_in_month_payment_failure = r.returned_in_month_payment_failure + excluded.returned_in_month_payment_failure,
            returned_in_month_customer_cancelled = r.returned_in_month_customer_cancelled + excluded.returned_in_month_customer_cancelled,
            returned_in_month_admin_cancelled = r.returned_in_month_admin_cancelled + excluded.returned_in_month_admin_cancelled,
            returned_in_month_chargeback = r.returned_in_month_chargeback + excluded.returned_in_month_chargeback,
            returned_in_month_expired = r.returned_in_month_expired + excluded.returned_in_month_expired
    ), returned AS (
        INSERT INTO finance.return_rollup AS r (day, left_day, returns)
        SELECT (d.at AT TIME ZONE z.report_tz)::date, (d.left_at AT TIME ZONE z.report_tz)::date, sum(d.entries)
        FROM gone d CROSS JOIN finance.settings z WHERE d.left_at IS NOT NULL
        GROUP BY 1, 2
        ON CONFLICT (day, left_day) DO UPDATE SET returns = r.returns + excluded.returns
    ), cohorts AS (
        INSERT INTO finance.cohort_rollup AS r (cohort_month, month, customers, change)
        SELECT finance.month_of(d.first_at, z.report_tz), finance.month_of(d.at, z.report_tz), sum(d.firsts), sum(d.entries - d.exits)
        FROM gone d CROSS JOIN finance.settings z WHERE d.first_at IS NOT NULL
        GROUP BY 1, 2
        ON CONFLICT (cohort_month, month) DO UPDATE SET customers = r.customers + excluded.customers, change = r.change + excluded.change
    )
    SELECT count(*) INTO folded FROM gone;
    WITH gone AS (
        DELETE FROM finance.standing_deltas WHERE id IN (SELECT id FROM finance.standing_deltas ORDER BY id LIMIT at_most) RETURNING *
    ), present AS (
        INSERT INTO finance.standing_rollup AS r (gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers)
        SELECT d.gateway, d.payment_method, d.plan_id, sum(d.active), sum(d.mrr_cents), sum(d.trials), sum(d.trial_mrr_cents), sum(d.overdue), sum(d.at_risk_cents), sum(d.customers)
        FROM gone d
        GROUP BY d.gateway, d.payment_method, d.plan_id
        ON CONFLICT (gateway, payment_method, plan_id) DO UPDATE SET
            active = r.active + excluded.active,
            mrr_cents = r.mrr_cents + excluded.mrr_cents,
            trials = r.trials + excluded.trials,
            trial_mrr_cents = r.trial_mrr_cents + excluded.trial_mrr_cents,
            overdue = r.overdue + excluded.overdue,
            at_risk_cents = r.at_risk_cents + excluded.at_risk_cents,
            customers = r.customers + excluded.customers
    )
    SELECT count(*) INTO more FROM gone;
    folded := folded + more;
    WITH gone AS (
        DELETE FROM finance.mrr_deltas WHERE id IN (SELECT id FROM finance.mrr_deltas ORDER BY id LIMIT at_most) RETURNING *
    ), months AS (
        INSERT INTO finance.mrr_rollup AS r (month, new_cents, expansion_cents, reactivation_cents, contraction_cents, churn_cents)
        SELECT finance.month_of(d.at, z.report_tz), sum(d.new_cents),
            sum(d.expansion_cents + CASE WHEN x.in_month THEN greatest(d.reactivation_cents - d.left_cents, 0) ELSE 0 END),
            sum(CASE WHEN x.in_month THEN 0 ELSE d.reactivation_cents END),
            sum(d.contraction_cents + CASE WHEN x.in_month THEN greatest(d.left_cents - d.reactivation_cents, 0) ELSE 0 END),
            sum(d.churn_cents - CASE WHEN x.in_month THEN d.left_cents ELSE 0 END)
        FROM gone d CROSS JOIN finance.settings z
        CROSS JOIN LATERAL (SELECT finance.month_of(d.left_at, z.report_tz) = finance.month_of(d.at, z.report_tz) AS in_month) x
        GROUP BY 1
        ON CONFLICT (month) DO UPDATE SET
            new_cents = r.new_cents + excluded.new_cents,
            expansion_cents = r.expansion_cents + excluded.expansion_cents,
            reactivation_cents = r.reactivation_cents + excluded.reactivation_cents,
            contraction_cents = r.contraction_cents + excluded.contraction_cents,
            churn_cents = r.churn_cents + excluded.churn_cents
    )
    SELECT count(*) INTO more FROM gone;
    RETURN folded + more;
END
$$;

COMMENT ON FUNCTION finance.fold(at_most integer) IS 'Moves the oldest deltas, at most so many of each kind, into the rollups, and returns how many there were; 0 also while somebody else folds. No figure changes by it.';

CREATE FUNCTION finance.grant_analysts() RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    role text;
    report text;
BEGIN
    FOREACH role IN ARRAY ARRAY['marquee_analyst', 'marquee_analyst_personal'] LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role);
        EXECUTE format('GRANT USAGE ON SCHEMA finance TO %I', role);
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA finance_internal FROM %I', role);
        EXECUTE format('REVOKE ALL ON SCHEMA finance_internal FROM %I', role);
        FOR report IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'finance'::regnamespace AND c.relkind = 'v' LOOP
            IF role = 'marquee_analyst_personal' OR report NOT LIKE '%\_personal' THEN
                EXECUTE format('GRANT SELECT ON finance.%I TO %I', report, role);
            END IF;
        END LOOP;
    END LOOP;
END
$$;

COMMENT ON FUNCTION finance.grant_analysts() IS 'Lets marquee_analyst read every view of this schema but those named …_personal, and marquee_analyst_personal these too. What no analyst reads lies in schema finance_internal. Run by each migration that makes a view, and by an administrator who made the roles themselves.';

CREATE FUNCTION finance.keep_due(id text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO finance.dues (subscription_id, next_billing_date, otherwise_on)
    SELECT c.subscription_id, c.next_billing_date, c.otherwise_on FROM finance_internal.due_scan c WHERE c.subscription_id = id
    ON CONFLICT (subscription_id) DO UPDATE SET next_billing_date = excluded.next_billing_date, otherwise_on = excluded.otherwise_on;
    IF NOT FOUND THEN
        DELETE FROM finance.dues d WHERE d.subscription_id = id;
    END IF;
END
$$;

COMMENT ON FUNCTION finance.keep_due(id text) IS 'Writes down since when a subscription is due, or that it is not overdue.';

CREATE FUNCTION finance.microseconds(since timestamp with time zone, until timestamp with time zone) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$SELECT greatest((date_part('epoch', until - since) * 1000000)::bigint, 0)$$;

COMMENT ON FUNCTION finance.microseconds(since timestamp with time zone, until timestamp with time zone) IS 'Length of a period of access, at least 0.';

CREATE FUNCTION finance.month_of(at timestamp with time zone, zone text) RETURNS date
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$SELECT date_trunc('month', at AT TIME ZONE zone)::date$$;

COMMENT ON FUNCTION finance.month_of(at timestamp with time zone, zone text) IS 'First day of the month in which an instant lies, in a time zone.';

CREATE FUNCTION finance.now() RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT coalesce(nullif(current_setting('finance.now', true), '')::timestamptz, now())
$$;

COMMENT ON FUNCTION finance.now() IS 'The instant as of which expiry and age are judged: the session''s setting finance.now (the service gives its clock that way), else the transaction''s start. It moves no rows: it is no time machine.';

CREATE FUNCTION finance.price_before(subscription text, transition bigint) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
SELECT coalesce(
    (SELECT c.to_cents FROM finance.price_changes c WHERE c.subscription_id = subscription AND c.transition_id < transition ORDER BY c.id DESC LIMIT 1),
    (SELECT c.from_cents FROM finance.price_changes c WHERE c.subscription_id = subscription ORDER BY c.id LIMIT 1),
    (SELECT s.price_cents FROM subscriptions.subscriptions s WHERE s.id = subscription))
$$;

COMMENT ON FUNCTION finance.price_before(subscription text, transition bigint) IS 'The price a month of a subscription, cents, as it stood when a transition was written.';

CREATE TABLE finance.access_ends (
    transition_id bigint NOT NULL,
    ended_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE finance.access_ends IS 'When access really stopped, for moves out of active that were written later than that: the job that closes an expired subscription may be late, and expires_at may move afterwards. Append-only.';

COMMENT ON COLUMN finance.access_ends.ended_at IS 'The expires_at that had passed, yet never before the access began.';

CREATE TABLE finance.settings (
    only_row boolean DEFAULT true NOT NULL,
    report_tz text DEFAULT 'America/Sao_Paulo'::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT settings_one_row CHECK (only_row)
);

COMMENT ON TABLE finance.settings IS 'One row: what every view has to know. Written by the service at start, from its configuration.';

COMMENT ON COLUMN finance.settings.report_tz IS 'Time zone of days and months, the configuration''s REPORT_TZ. Changed by finance.use_report_tz alone, since the rollups are kept by day.';

CREATE TABLE subscriptions.subscriptions (
    id platform.object_id NOT NULL,
    customer_id platform.object_id NOT NULL,
    plan_id text NOT NULL COLLATE pg_catalog."C",
    gateway text NOT NULL COLLATE pg_catalog."C",
    payment_method text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    price_cents bigint NOT NULL,
    period_months integer NOT NULL,
    trial_days integer DEFAULT 0 NOT NULL,
    gwa_subscription_id text COLLATE pg_catalog."C",
    gwa_customer_id text COLLATE pg_catalog."C",
    gwa_pix_auth_id text COLLATE pg_catalog."C",
    gwb_subscription_id text COLLATE pg_catalog."C",
    gwb_customer_id text COLLATE pg_catalog."C",
    gwb_price_id text COLLATE pg_catalog."C",
    pix_payment_id text COLLATE pg_catalog."C",
    pix_payload text COLLATE pg_catalog."C",
    pix_image text COLLATE pg_catalog."C",
    pix_expires_at timestamp with time zone,
    started_at timestamp with time zone,
    next_billing_date timestamp with time zone,
    last_payment_at timestamp with time zone,
    expires_at timestamp with time zone,
    ended_at timestamp with time zone,
    gateway_deleted_at timestamp with time zone,
    cancel_at_period_end boolean DEFAULT false NOT NULL,
    payment_failures integer DEFAULT 0 NOT NULL,
    total_refunded_cents bigint DEFAULT 0 NOT NULL,
    has_chargeback boolean DEFAULT false NOT NULL,
    intent_open boolean NOT NULL,
    recovery_tries integer DEFAULT 0 NOT NULL,
    recovery_at timestamp with time zone,
    last_event_at timestamp with time zone,
    last_event_id text COLLATE pg_catalog."C",
    last_paid_invoice_id text COLLATE pg_catalog."C",
    document_created_by_id platform.object_id,
    register_date timestamp with time zone NOT NULL,
    register_update_date timestamp with time zone NOT NULL,
    pix_automatic boolean DEFAULT false NOT NULL,
    pix_conciliation_id text COLLATE pg_catalog."C",
    promo_code text COLLATE pg_catalog."C",
    first_amount_cents bigint,
    gateway_ended_at timestamp with time zone,
    anchor_day integer,
    renews_id platform.object_id,
    starts_at timestamp with time zone,
    gateway_end_open_since timestamp with time zone,
    period_end_told_at timestamp with time zone,
    period_end_tells integer DEFAULT 0 NOT NULL,
    period_end_look_at timestamp with time zone,
    CONSTRAINT subscriptions_anchor_day_of_month CHECK (((anchor_day >= 1) AND (anchor_day <= 31))),
    CONSTRAINT subscriptions_automatic_is_pix CHECK (((NOT pix_automatic) OR (payment_method = 'pix'::text))),
    CONSTRAINT subscriptions_ended_when_terminal CHECK (((ended_at IS NOT NULL) = (status = ANY (ARRAY['cancelled'::text, 'expired'::text])))),
    CONSTRAINT subscriptions_failures_not_negative CHECK ((payment_failures >= 0)),
    CONSTRAINT subscriptions_first_amount_bounded CHECK ((first_amount_cents <= '100000000000'::bigint)),
    CONSTRAINT subscriptions_first_amount_not_negative CHECK ((first_amount_cents >= 0)),
    CONSTRAINT subscriptions_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT subscriptions_payment_method_known CHECK ((payment_method = ANY (ARRAY['credit_card'::text, 'pix'::text, 'boleto'::text]))),
    CONSTRAINT subscriptions_period_positive CHECK ((period_months >= 1)),
    CONSTRAINT subscriptions_price_bounded CHECK ((price_cents <= 100000000)),
    CONSTRAINT subscriptions_price_not_negative CHECK ((price_cents >= 0)),
    CONSTRAINT subscriptions_refunded_bounded CHECK ((total_refunded_cents <= '100000000000'::bigint)),
    CONSTRAINT subscriptions_refunded_not_negative CHECK ((total_refunded_cents >= 0)),
    CONSTRAINT subscriptions_renews_another CHECK (((renews_id)::text <> (id)::text)),
    CONSTRAINT subscriptions_start_is_of_a_renewal CHECK (((starts_at IS NULL) OR (renews_id IS NOT NULL))),
    CONSTRAINT subscriptions_status_known CHECK ((status = ANY (ARRAY['active'::text, 'pending'::text, 'suspended'::text, 'cancelled'::text, 'expired'::text]))),
    CONSTRAINT subscriptions_trial_days_not_negative CHECK ((trial_days >= 0))
)
WITH (fillfactor='90');

COMMENT ON TABLE subscriptions.subscriptions IS 'One row a request to subscribe, written before the gateway is called.';

COMMENT ON COLUMN subscriptions.subscriptions.customer_id IS 'Kept without a foreign key: the record of what was sold outlives the customer.';

COMMENT ON COLUMN subscriptions.subscriptions.price_cents IS 'Price of one month as it was sold; a later change of the plan does not move it.';

COMMENT ON COLUMN subscriptions.subscriptions.period_months IS 'Months that one payment buys: 1 by card, the configured period by PIX.';

COMMENT ON COLUMN subscriptions.subscriptions.trial_days IS 'Free days that this subscription began with; 0 without a trial.';

COMMENT ON COLUMN subscriptions.subscriptions.pix_payment_id IS 'The PIX payment at the gateway (gateway A: pay_, gateway B: pi_).';

COMMENT ON COLUMN subscriptions.subscriptions.pix_image IS 'PNG of the QR code in base64, without a data: prefix.';

COMMENT ON COLUMN subscriptions.subscriptions.expires_at IS 'End of access. Null while a recurrence runs.';

COMMENT ON COLUMN subscriptions.subscriptions.ended_at IS 'When it became cancelled or expired.';

COMMENT ON COLUMN subscriptions.subscriptions.gateway_deleted_at IS 'Set when the gateway deleted a subscription whose paid period is still running.';

COMMENT ON COLUMN subscriptions.subscriptions.payment_failures IS 'Failures in a row; a payment resets it.';

COMMENT ON COLUMN subscriptions.subscriptions.total_refunded_cents IS 'Sum of the refund ledger, rewritten with each refund, never incremented from an event.';

COMMENT ON COLUMN subscriptions.subscriptions.intent_open IS 'The gateway was or is being asked and its answer is not written here yet.';

COMMENT ON COLUMN subscriptions.subscriptions.recovery_tries IS 'Of the release before; goes with the next one.';

COMMENT ON COLUMN subscriptions.subscriptions.recovery_at IS 'Of the release before; goes with the next one, as its index does.';

COMMENT ON COLUMN subscriptions.subscriptions.last_event_at IS 'The gateway''s instant of the newest status event applied, at most that of its coming; older ones are ignored.';

COMMENT ON COLUMN subscriptions.subscriptions.last_paid_invoice_id IS 'Newest invoice known to be paid; a failure of it that comes late does not count.';

COMMENT ON COLUMN subscriptions.subscriptions.pix_automatic IS 'The payer authorizes debits: a job makes each one.';

COMMENT ON COLUMN subscriptions.subscriptions.pix_conciliation_id IS 'Id of the first code of an automatic PIX: the only thing by which its payment is known.';

COMMENT ON COLUMN subscriptions.subscriptions.promo_code IS 'The code that lowers the first payment.';

COMMENT ON COLUMN subscriptions.subscriptions.first_amount_cents IS 'What the first payment costs when a promo code lowers it; null without one.';

COMMENT ON COLUMN subscriptions.subscriptions.gateway_ended_at IS 'When the gateway confirmed that nothing of an ended subscription runs there.';

COMMENT ON COLUMN subscriptions.subscriptions.anchor_day IS 'Day of the month, in REPORT_TZ, on which periods begin; in a shorter month its last day stands in. Null until the first period is known, and in rows of older versions.';

COMMENT ON COLUMN subscriptions.subscriptions.renews_id IS 'The subscription beside which this one waits, as pending, until the gateway took its card; then one transaction replaces that by this.';

COMMENT ON COLUMN subscriptions.subscriptions.starts_at IS 'End of the paid time of the renewed one, at which the recurrence charges first. Null: at once.';

COMMENT ON COLUMN subscriptions.subscriptions.gateway_end_open_since IS 'Set when a subscription is opened again, for one period, whose recurrence was to end and whose gateway had not confirmed that: what runs there is still to be ended. Null once gateway_deleted_at says that it is.';

COMMENT ON COLUMN subscriptions.subscriptions.period_end_told_at IS 'When a call of ours last told gateway B whether the subscription ends with its period, by our clock. An event of before says nothing about cancel_at_period_end by itself.';

COMMENT ON COLUMN subscriptions.subscriptions.period_end_tells IS 'How many such calls were answered: two that overlap see it, and have the gateway read.';

COMMENT ON COLUMN subscriptions.subscriptions.period_end_look_at IS 'From when on gateway B is to be read, to hold cancel_at_period_end against what stands there; null when that was done.';

CREATE TABLE subscriptions.transitions (
    id bigint NOT NULL,
    subscription_id platform.object_id NOT NULL,
    customer_id platform.object_id NOT NULL,
    at timestamp with time zone NOT NULL,
    from_status text COLLATE pg_catalog."C",
    to_status text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    actor_id platform.object_id,
    event_id text COLLATE pg_catalog."C",
    CONSTRAINT transitions_from_known CHECK ((from_status = ANY (ARRAY['active'::text, 'pending'::text, 'suspended'::text, 'cancelled'::text, 'expired'::text]))),
    CONSTRAINT transitions_moves CHECK (((from_status IS DISTINCT FROM to_status) OR (reason = 'withdrawn'::text))),
    CONSTRAINT transitions_to_known CHECK ((to_status = ANY (ARRAY['active'::text, 'pending'::text, 'suspended'::text, 'cancelled'::text, 'expired'::text])))
);

COMMENT ON TABLE subscriptions.transitions IS 'Every change of a subscription''s status, append-only; churn is counted from here.';

COMMENT ON COLUMN subscriptions.transitions.from_status IS 'Null for the row that began the subscription.';

COMMENT ON COLUMN subscriptions.transitions.source IS 'What moved it: subscribe, webhook, recovery, live_read, job, customer or admin.';

COMMENT ON COLUMN subscriptions.transitions.actor_id IS 'The user who asked for it; null for gateways and jobs.';

COMMENT ON COLUMN subscriptions.transitions.event_id IS 'The gateway''s event, when one moved it.';

COMMENT ON CONSTRAINT transitions_moves ON subscriptions.transitions IS 'A withdrawal from what has ended already leaves the status as it is.';

CREATE VIEW finance.movements AS
 SELECT m.movement_id,
    m.customer_id,
    m.subscription_id,
    m.kind,
    m.at,
    ((m.at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS day,
        CASE
            WHEN (m.kind = 'exit'::text) THEN finance.exit_reason(m.reason)
            ELSE NULL::text
        END AS reason,
        CASE m.kind
            WHEN 'entry'::text THEN COALESCE((m.by_renewal AND (m.before_reason = 'replaced'::text) AND (m.before_subscription <> m.subscription_id)), false)
            ELSE COALESCE(((m.reason = 'replaced'::text) AND m.after_by_renewal AND (m.after_subscription <> m.subscription_id)), false)
        END AS is_renewal,
        CASE
            WHEN ((m.kind = 'entry'::text) AND (m.before_subscription = m.subscription_id)) THEN m.before_at
            ELSE NULL::timestamp with time zone
        END AS left_at,
        CASE
            WHEN ((m.kind = 'entry'::text) AND (m.before_subscription = m.subscription_id)) THEN finance.exit_reason(m.before_reason)
            ELSE NULL::text
        END AS left_reason,
        CASE
            WHEN ((m.kind = 'exit'::text) AND (m.after_subscription = m.subscription_id)) THEN m.after_at
            ELSE NULL::timestamp with time zone
        END AS returned_at,
    m.after_at AS next_at
   FROM ( SELECT r.movement_id,
            r.customer_id,
            r.subscription_id,
            r.kind,
            r.at,
            r.reason,
            r.by_renewal,
            lag(r.subscription_id) OVER w AS before_subscription,
            lag(r.reason) OVER w AS before_reason,
            lag(r.at) OVER w AS before_at,
            lead(r.subscription_id) OVER w AS after_subscription,
            lead(r.by_renewal) OVER w AS after_by_renewal,
            lead(r.at) OVER w AS after_at
           FROM ( SELECT t.id AS movement_id,
                    (t.customer_id)::text AS customer_id,
                    (t.subscription_id)::text AS subscription_id,
                        CASE
                            WHEN (t.to_status = 'active'::text) THEN 'entry'::text
                            ELSE 'exit'::text
                        END AS kind,
                    COALESCE(a.ended_at, t.at) AS at,
                    t.reason,
                    (b.subscription_id IS NOT NULL) AS by_renewal
                   FROM ((subscriptions.transitions t
                     LEFT JOIN finance.access_ends a ON ((a.transition_id = t.id)))
                     LEFT JOIN subscriptions.transitions b ON ((((b.subscription_id)::text = (t.subscription_id)::text) AND (b.reason = 'renewed'::text) AND (b.from_status IS NULL))))
                  WHERE (((t.to_status = 'active'::text) OR (t.from_status = 'active'::text)) AND (t.reason <> 'chargeback_withdrawn'::text) AND (NOT ((t.from_status = 'active'::text) AND (EXISTS ( SELECT
                           FROM subscriptions.transitions v
                          WHERE (((v.subscription_id)::text = (t.subscription_id)::text) AND (v.reason = 'chargeback_withdrawn'::text) AND (v.id > t.id) AND (NOT (EXISTS ( SELECT
                                   FROM subscriptions.transitions n
                                  WHERE (((n.subscription_id)::text = (t.subscription_id)::text) AND (n.id > t.id) AND (n.id < v.id)))))))))))
                UNION ALL
                 SELECT '9223372036854775807'::bigint,
                    (s.customer_id)::text AS customer_id,
                    (s.id)::text AS id,
                    'exit'::text,
                    GREATEST(s.expires_at, e.at) AS "greatest",
                        CASE
                            WHEN s.cancel_at_period_end THEN 'customer_cancelled'::text
                            ELSE 'expired'::text
                        END AS "case",
                    false
                   FROM (subscriptions.subscriptions s
                     JOIN LATERAL ( SELECT t.at
                           FROM subscriptions.transitions t
                          WHERE (((t.subscription_id)::text = (s.id)::text) AND (t.to_status = 'active'::text))
                          ORDER BY t.id DESC
                         LIMIT 1) e ON (true))
                  WHERE ((s.status = 'active'::text) AND (s.expires_at IS NOT NULL) AND (s.expires_at <= finance.now()))) r
          WINDOW w AS (PARTITION BY r.customer_id ORDER BY r.movement_id)) m;

COMMENT ON VIEW finance.movements IS 'Every beginning and end of a customers access, one row each, alternating for each customer; but for what a chargeback entered by mistake ended and its withdrawal began again. Source: subscriptions.transitions into and out of active, finance.access_ends, and subscriptions whose expires_at has passed while their row is still active.';

COMMENT ON COLUMN finance.movements.movement_id IS 'Order in time: the id of the transition; 9223372036854775807 for access that has ended by its date while the row is not closed yet.';

COMMENT ON COLUMN finance.movements.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.movements.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance.movements.kind IS 'entry (access begins) or exit (access stops).';

COMMENT ON COLUMN finance.movements.at IS 'When access began or stopped, UTC: an expired one stops at its expires_at, however late its row is closed.';

COMMENT ON COLUMN finance.movements.day IS 'Day of at in the report time zone.';

COMMENT ON COLUMN finance.movements.reason IS 'Of exits: payment_failure, customer_cancelled, admin_cancelled, chargeback or expired; null for entries.';

COMMENT ON COLUMN finance.movements.is_renewal IS 'The exit of a subscription replaced by a renewal that was paid, or the entry of that renewal: neither is counted.';

COMMENT ON COLUMN finance.movements.left_at IS 'Of the entry of a subscription that comes back: when its access had stopped; null for others.';

COMMENT ON COLUMN finance.movements.left_reason IS 'Why it had stopped.';

COMMENT ON COLUMN finance.movements.returned_at IS 'Of an exit whose subscription came back: when; null for others.';

COMMENT ON COLUMN finance.movements.next_at IS 'The customer''s next movement; null for their last.';

CREATE TABLE finance.price_changes (
    id bigint NOT NULL,
    subscription_id platform.object_id NOT NULL,
    at timestamp with time zone NOT NULL,
    transition_id bigint NOT NULL,
    from_cents bigint NOT NULL,
    to_cents bigint NOT NULL,
    CONSTRAINT price_changes_from_not_negative CHECK ((from_cents >= 0)),
    CONSTRAINT price_changes_to_not_negative CHECK ((to_cents >= 0))
);

COMMENT ON TABLE finance.price_changes IS 'Every other price of a subscription, append-only, written by the trigger of its row in the same transaction. Before it began there is what plan moves say; a change that none says happened before the first activation.';

COMMENT ON COLUMN finance.price_changes.at IS 'When it counts: register_update_date of the row, or the end of its access by its date when that was earlier.';

COMMENT ON COLUMN finance.price_changes.transition_id IS 'The last transition of the subscription before it; 0 for none. Orders changes of prices and states.';

CREATE VIEW finance_internal.mrr_changes AS
 SELECT finance.month_of(c.at, c.report_tz) AS month,
    c.at,
    c.kind,
    c.customer_id,
    c.subscription_id,
    c.reason,
    c.before_cents,
    c.after_cents,
    (c.after_cents - c.before_cents) AS change_cents
   FROM ( SELECT v.at,
            z.report_tz,
            v.customer_id,
            v.subscription_id,
                CASE
                    WHEN (v.change = 'exit'::text) THEN v.reason
                    ELSE NULL::text
                END AS reason,
                CASE
                    WHEN (v.change = 'exit'::text) THEN 'churn'::text
                    WHEN (v.change = 'new'::text) THEN 'new'::text
                    WHEN ((v.change = 'return'::text) AND (x.in_month IS NOT TRUE)) THEN 'reactivation'::text
                    WHEN (v.after_cents > v.before_cents) THEN 'expansion'::text
                    ELSE 'contraction'::text
                END AS kind,
                CASE
                    WHEN ((v.change = 'new'::text) OR ((v.change = 'return'::text) AND (x.in_month IS NOT TRUE))) THEN (0)::bigint
                    ELSE v.before_cents
                END AS before_cents,
            v.after_cents
           FROM ((( SELECT m.customer_id,
                    m.subscription_id,
                    m.at,
                    m.reason,
                    m.left_at,
                    m.returned_at,
                        CASE
                            WHEN (m.kind = 'exit'::text) THEN m.cents
                            ELSE lag(m.cents) OVER w
                        END AS before_cents,
                        CASE
                            WHEN (m.kind = 'exit'::text) THEN (0)::bigint
                            ELSE m.cents
                        END AS after_cents,
                        CASE
                            WHEN ((m.kind = 'exit'::text) AND m.is_renewal) THEN 'none'::text
                            WHEN (m.kind = 'exit'::text) THEN 'exit'::text
                            WHEN m.is_renewal THEN 'price'::text
                            WHEN (row_number() OVER w = 1) THEN 'new'::text
                            ELSE 'return'::text
                        END AS change
                   FROM ( SELECT p.customer_id,
                            p.subscription_id,
                            p.movement_id,
                            p.kind,
                            p.at,
                            p.reason,
                            p.is_renewal,
                            p.left_at,
                            p.returned_at,
                                CASE
                                    WHEN (EXISTS ( SELECT
                                       FROM finance.price_changes k
                                      WHERE ((k.subscription_id)::text = p.subscription_id))) THEN finance.price_before(p.subscription_id, p.movement_id)
                                    ELSE s.price_cents
                                END AS cents
                           FROM (finance.movements p
                             JOIN subscriptions.subscriptions s ON (((s.id)::text = p.subscription_id)))) m
                  WINDOW w AS (PARTITION BY m.customer_id ORDER BY m.movement_id)
                UNION ALL
                 SELECT (s.customer_id)::text AS customer_id,
                    (s.id)::text AS id,
                    k.at,
                    NULL::text,
                    NULL::timestamp with time zone,
                    NULL::timestamp with time zone,
                    k.from_cents,
                    k.to_cents,
                    'price'::text
                   FROM ((finance.price_changes k
                     JOIN subscriptions.subscriptions s ON (((s.id)::text = (k.subscription_id)::text)))
                     CROSS JOIN LATERAL ( SELECT p.kind
                           FROM finance.movements p
                          WHERE ((p.customer_id = (s.customer_id)::text) AND (p.subscription_id = (s.id)::text) AND (p.movement_id <= k.transition_id))
                          ORDER BY p.movement_id DESC
                         LIMIT 1) q)
                  WHERE (q.kind = 'entry'::text)) v
             CROSS JOIN finance.settings z)
             CROSS JOIN LATERAL ( SELECT (finance.month_of(COALESCE(v.left_at, v.returned_at), z.report_tz) = finance.month_of(v.at, z.report_tz)) AS in_month) x)
          WHERE ((v.change = 'new'::text) OR ((v.change = 'exit'::text) AND (x.in_month IS NOT TRUE)) OR ((v.change = 'return'::text) AND (x.in_month IS NOT TRUE)) OR ((v.change = ANY (ARRAY['price'::text, 'return'::text])) AND (v.before_cents <> v.after_cents)))) c;

COMMENT ON VIEW finance_internal.mrr_changes IS 'Every change of MRR, one row each: by month and kind they add up to finance.mrr_movements, to the cent. A subscription that returns within the month of its exit has neither the exit nor the return, but the difference of its price. Of some months read finance.mrr_changes_between, of few customers this. Source: finance.movements and finance.price_changes.';

COMMENT ON COLUMN finance_internal.mrr_changes.month IS 'First day of the month of at, in the report time zone.';

COMMENT ON COLUMN finance_internal.mrr_changes.at IS 'When it counts, UTC: access begun or stopped, or another price.';

COMMENT ON COLUMN finance_internal.mrr_changes.kind IS 'new, expansion, reactivation, contraction or churn.';

COMMENT ON COLUMN finance_internal.mrr_changes.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance_internal.mrr_changes.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance_internal.mrr_changes.reason IS 'Of churn: payment_failure, customer_cancelled, admin_cancelled, chargeback or expired; null for others.';

COMMENT ON COLUMN finance_internal.mrr_changes.before_cents IS 'Price a month before it, cents; 0 of new and reactivation.';

COMMENT ON COLUMN finance_internal.mrr_changes.after_cents IS 'Price a month after it, cents; 0 of churn.';

COMMENT ON COLUMN finance_internal.mrr_changes.change_cents IS 'What it added to MRR, cents; negative of contraction and churn.';

CREATE FUNCTION finance.mrr_changes_between(first_month date, last_month date) RETURNS SETOF finance_internal.mrr_changes
    LANGUAGE plpgsql STABLE
    SET jit TO 'off'
    SET work_mem TO '32MB'
    AS $$
DECLARE
    starts timestamptz;
    ends timestamptz;
    who text[];
BEGIN
    SELECT first_month::timestamp AT TIME ZONE z.report_tz, (last_month + interval '1 month') AT TIME ZONE z.report_tz INTO starts, ends
    FROM finance.settings z;
    SELECT array_agg(w.customer_id) INTO who FROM (
        SELECT t.customer_id::text AS customer_id FROM subscriptions.transitions t
        WHERE t.at >= starts AND t.at < ends AND (t.from_status = 'active' OR t.to_status = 'active')
        UNION
        SELECT t.customer_id::text FROM finance.access_ends a JOIN subscriptions.transitions t ON t.id = a.transition_id
        WHERE a.ended_at >= starts AND a.ended_at < ends
        UNION
        SELECT s.customer_id::text FROM subscriptions.subscriptions s
        WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now() AND s.expires_at < ends
        UNION
        SELECT s.customer_id::text FROM finance.price_changes k JOIN subscriptions.subscriptions s ON s.id = k.subscription_id
        WHERE k.at >= starts AND k.at < ends
    ) w;
    RETURN QUERY SELECT v.* FROM finance_internal.mrr_changes v WHERE v.customer_id = ANY (who) AND v.month >= first_month AND v.month <= last_month;
END
$$;

COMMENT ON FUNCTION finance.mrr_changes_between(first_month date, last_month date) IS 'The rows of finance_internal.mrr_changes of some months, both given by their first day and included.';

CREATE FUNCTION finance.note_customer() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    change integer := 0;
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.user_type = 'customer' AND NEW.deleted_at IS NULL THEN
        change := 1;
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.user_type = 'customer' AND OLD.deleted_at IS NULL THEN
        change := change - 1;
    END IF;
    IF change <> 0 THEN
        INSERT INTO finance.standing_deltas (gateway, payment_method, plan_id, customers) VALUES ('', '', '', change);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION finance.note_customer() IS 'Counts customers that are not deleted.';

CREATE FUNCTION finance.note_dispute() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' THEN
        IF OLD.state IN ('open', 'won', 'lost') THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (OLD.opened_at, -OLD.amount_cents);
        END IF;
        IF OLD.state = 'won' THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (OLD.closed_at, OLD.amount_cents);
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' THEN
        IF NEW.state IN ('open', 'won', 'lost') THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (NEW.opened_at, NEW.amount_cents);
        END IF;
        IF NEW.state = 'won' THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (NEW.closed_at, -NEW.amount_cents);
        END IF;
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION finance.note_dispute() IS 'Writes what a change of payments.disputes means for the figures by day.';

CREATE FUNCTION finance.note_due() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM finance.keep_due(coalesce(NEW.id, OLD.id));
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION finance.note_due() IS 'Keeps finance.dues when subscriptions change.';

CREATE FUNCTION finance.note_failed_attempt() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, failed_attempts) VALUES (OLD.failed_at, -1);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, failed_attempts) VALUES (NEW.failed_at, 1);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION finance.note_failed_attempt() IS 'Writes what a change of payments.failed_attempts means for the figures by day.';

CREATE FUNCTION finance.note_failure_due() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    subject text;
BEGIN
    FOR subject IN SELECT DISTINCT x.id FROM (VALUES (NEW.purpose, NEW.local_id), (OLD.purpose, OLD.local_id)) AS x (purpose, id) WHERE x.purpose = 'subscription' LOOP
        -- Whoever changes the subscription meanwhile sees the failure, or is seen here.
        PERFORM FROM subscriptions.subscriptions s WHERE s.id = subject FOR NO KEY UPDATE;
        IF FOUND THEN
            PERFORM finance.keep_due(subject);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION finance.note_failure_due() IS 'Keeps finance.dues when failed attempts are told of; NEW or OLD is all null where there is none. It holds the subscription''s row, as whoever records a failure does.';

CREATE FUNCTION finance.note_mrr() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    price bigint := finance.price_before(NEW.subscription_id, NEW.id);
    before record;
BEGIN
    IF NEW.from_status = 'active' THEN
        INSERT INTO finance.mrr_deltas (at, churn_cents)
        VALUES (coalesce((SELECT a.ended_at FROM finance.access_ends a WHERE a.transition_id = NEW.id), NEW.at), price);
        RETURN NULL;
    END IF;
    SELECT t.id, t.subscription_id, t.reason, coalesce(a.ended_at, t.at) AS at, finance.price_before(t.subscription_id, t.id) AS price INTO before
    FROM subscriptions.transitions t LEFT JOIN finance.access_ends a ON a.transition_id = t.id
    WHERE t.customer_id = NEW.customer_id AND t.id < NEW.id AND (t.from_status = 'active' OR t.to_status = 'active')
    ORDER BY t.id DESC LIMIT 1;
    IF NEW.reason = 'chargeback_withdrawn' THEN
        INSERT INTO finance.mrr_deltas (at, churn_cents) VALUES (before.at, -before.price);
        INSERT INTO finance.mrr_deltas (at, expansion_cents, contraction_cents)
        SELECT c.at, greatest(c.to_cents - c.from_cents, 0), greatest(c.from_cents - c.to_cents, 0)
        FROM finance.price_changes c WHERE c.subscription_id = NEW.subscription_id AND c.transition_id >= before.id;
    ELSIF before.id IS NULL THEN
        INSERT INTO finance.mrr_deltas (at, new_cents) VALUES (NEW.at, price);
    ELSIF before.subscription_id = NEW.subscription_id THEN
        INSERT INTO finance.mrr_deltas (at, left_at, left_cents, reactivation_cents) VALUES (NEW.at, before.at, before.price, price);
    ELSIF before.reason = 'replaced' AND EXISTS (
        SELECT FROM subscriptions.transitions b WHERE b.subscription_id = NEW.subscription_id AND b.reason = 'renewed' AND b.from_status IS NULL)
    THEN
        INSERT INTO finance.mrr_deltas (at, churn_cents) VALUES (before.at, -before.price);
        IF price <> before.price THEN
            INSERT INTO finance.mrr_deltas (at, expansion_cents, contraction_cents)
            VALUES (NEW.at, greatest(price - before.price, 0), greatest(before.price - price, 0));
        END IF;
    ELSE
        INSERT INTO finance.mrr_deltas (at, reactivation_cents) VALUES (NEW.at, price);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION finance.note_mrr() IS 'Writes what a move into or out of active means for the movements of MRR; finance_internal.mrr_scan says the same of all rows. A renewal that is paid undoes the churn of what it replaced, and a chargeback that is withdrawn the churn that it was. Runs after finance.note_transition, which says when access ended.';

CREATE FUNCTION finance.note_payment() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, gross_gwa_cents, gross_gwb_cents, payments)
        VALUES (OLD.settled_at, CASE OLD.gateway WHEN 'gwa' THEN -OLD.amount_cents ELSE 0 END, CASE OLD.gateway WHEN 'gwb' THEN -OLD.amount_cents ELSE 0 END, -1);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, gross_gwa_cents, gross_gwb_cents, payments)
        VALUES (NEW.settled_at, CASE NEW.gateway WHEN 'gwa' THEN NEW.amount_cents ELSE 0 END, CASE NEW.gateway WHEN 'gwb' THEN NEW.amount_cents ELSE 0 END, 1);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION finance.note_payment() IS 'Writes what a change of payments.payments means for the figures by day.';

CREATE FUNCTION finance.note_price() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    changed timestamptz := least(NEW.register_update_date, CASE WHEN OLD.status = 'active' THEN OLD.expires_at END);
BEGIN
    INSERT INTO finance.price_changes (subscription_id, at, transition_id, from_cents, to_cents)
    SELECT NEW.id, changed, coalesce(max(t.id), 0), OLD.price_cents, NEW.price_cents
    FROM subscriptions.transitions t WHERE t.subscription_id = NEW.id;
    IF OLD.status = 'active' THEN
        INSERT INTO finance.mrr_deltas (at, expansion_cents, contraction_cents)
        VALUES (changed, greatest(NEW.price_cents - OLD.price_cents, 0), greatest(OLD.price_cents - NEW.price_cents, 0));
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION finance.note_price() IS 'Keeps another price of a subscription, and what it means for MRR while it is active: after its access has ended by its date, at that date.';

CREATE FUNCTION finance.note_refund() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' AND OLD.status = 'done' THEN
        INSERT INTO finance.daily_deltas (at, refunds_cents) VALUES (OLD.refunded_at, -OLD.amount_cents);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' AND NEW.status = 'done' THEN
        INSERT INTO finance.daily_deltas (at, refunds_cents) VALUES (NEW.refunded_at, NEW.amount_cents);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION finance.note_refund() IS 'Writes what a change of payments.refunds means for the figures by day.';

CREATE FUNCTION finance.note_subscription() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO finance.standing_deltas (gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents)
    SELECT c.gateway, c.payment_method, c.plan_id, sum(c.sign * c.active), sum(c.sign * c.active * c.price_cents), sum(c.sign * c.trial),
        sum(c.sign * c.trial * c.price_cents), sum(c.sign * c.overdue), sum(c.sign * c.overdue * c.price_cents)
    FROM (
        SELECT s.sign, s.gateway, s.payment_method, s.plan_id, s.price_cents,
            (s.status = 'active')::int AS active,
            (s.status = 'active' AND s.trial_days > 0 AND s.last_payment_at IS NULL)::int AS trial,
            ((s.payment_failures > 0 OR s.status = 'suspended') AND s.status NOT IN ('cancelled', 'expired'))::int AS overdue
        FROM (VALUES
            (1, NEW.gateway, NEW.payment_method, NEW.plan_id, NEW.price_cents, NEW.status, NEW.trial_days, NEW.last_payment_at, NEW.payment_failures),
            (-1, OLD.gateway, OLD.payment_method, OLD.plan_id, OLD.price_cents, OLD.status, OLD.trial_days, OLD.last_payment_at, OLD.payment_failures)
        ) AS s (sign, gateway, payment_method, plan_id, price_cents, status, trial_days, last_payment_at, payment_failures)
        WHERE s.gateway IS NOT NULL
    ) c
    GROUP BY c.gateway, c.payment_method, c.plan_id
    HAVING sum(c.sign * c.active) <> 0 OR sum(c.sign * c.active * c.price_cents) <> 0 OR sum(c.sign * c.trial) <> 0
        OR sum(c.sign * c.trial * c.price_cents) <> 0 OR sum(c.sign * c.overdue) <> 0 OR sum(c.sign * c.overdue * c.price_cents) <> 0;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION finance.note_subscription() IS 'Writes what a change of subscriptions.subscriptions means for the present figures. NEW or OLD is all null where there is none.';

CREATE FUNCTION finance.note_transition() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    ended timestamptz;
    first_entry timestamptz;
    before record;
BEGIN
    SELECT t.at INTO first_entry FROM subscriptions.transitions t
    WHERE t.customer_id = NEW.customer_id AND t.to_status = 'active' AND t.id <= NEW.id ORDER BY t.id LIMIT 1;
    IF NEW.from_status = 'active' THEN
        SELECT greatest(s.expires_at, e.at) INTO ended
        FROM subscriptions.subscriptions s
        JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t
            WHERE t.subscription_id = s.id AND t.to_status = 'active' AND t.id < NEW.id ORDER BY t.id DESC LIMIT 1) e ON true
        WHERE s.id = NEW.subscription_id AND s.expires_at < NEW.at;
        IF ended < NEW.at THEN
            INSERT INTO finance.access_ends (transition_id, ended_at) VALUES (NEW.id, ended);
        END IF;
        ended := least(ended, NEW.at);
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (ended, first_entry, finance.exit_reason(NEW.reason), 1);
        UPDATE finance.customer_access a
        SET closed_us = a.closed_us + finance.microseconds(a.open_at, ended), last_until = greatest(a.last_until, ended), open_at = NULL
        WHERE a.customer_id = NEW.customer_id AND a.open_at IS NOT NULL;
        RETURN NULL;
    END IF;
    IF NEW.reason = 'chargeback_withdrawn' THEN
        SELECT coalesce(a.ended_at, t.at) AS at, t.reason INTO before
        FROM subscriptions.transitions t LEFT JOIN finance.access_ends a ON a.transition_id = t.id
        WHERE t.subscription_id = NEW.subscription_id AND t.id < NEW.id ORDER BY t.id DESC LIMIT 1;
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (before.at, first_entry, finance.exit_reason(before.reason), -1);
        UPDATE finance.customer_access a SET closed_us = c.closed_us, last_until = c.last_until, open_at = c.open_at
        FROM (
            SELECT coalesce(sum(finance.microseconds(p.at, p.next_at)) FILTER (WHERE p.closed), 0)::bigint AS closed_us,
                max(p.next_at) FILTER (WHERE p.closed) AS last_until, max(p.at) FILTER (WHERE NOT p.closed) AS open_at
            FROM (
                SELECT m.kind, m.at, m.next_at, lead(m.movement_id) OVER (ORDER BY m.movement_id) < 9223372036854775807 IS TRUE AS closed
                FROM finance.movements m WHERE m.customer_id = NEW.customer_id
            ) p
            WHERE p.kind = 'entry'
        ) c
        WHERE a.customer_id = NEW.customer_id;
        RETURN NULL;
    END IF;
    INSERT INTO finance.customer_access AS a (customer_id, first_at, open_at) VALUES (NEW.customer_id, NEW.at, NEW.at)
    ON CONFLICT (customer_id) DO UPDATE
    SET closed_us = a.closed_us + CASE WHEN a.open_at IS NULL THEN 0 ELSE finance.microseconds(a.open_at, NEW.at) END,
        last_until = CASE WHEN a.open_at IS NULL THEN a.last_until ELSE greatest(a.last_until, NEW.at) END,
        first_at = least(a.first_at, NEW.at), open_at = NEW.at;
    SELECT t.subscription_id, t.reason, coalesce(a.ended_at, t.at) AS at INTO before
    FROM subscriptions.transitions t LEFT JOIN finance.access_ends a ON a.transition_id = t.id
    WHERE t.customer_id = NEW.customer_id AND t.id < NEW.id AND (t.from_status = 'active' OR t.to_status = 'active')
    ORDER BY t.id DESC LIMIT 1;
    IF before.subscription_id = NEW.subscription_id THEN
        INSERT INTO finance.daily_deltas (at, first_at, left_at, reason, entries) VALUES (NEW.at, first_entry, before.at, finance.exit_reason(before.reason), 1);
    ELSIF before.reason = 'replaced' AND EXISTS (
        SELECT FROM subscriptions.transitions b WHERE b.subscription_id = NEW.subscription_id AND b.reason = 'renewed' AND b.from_status IS NULL)
    THEN
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (before.at, first_entry, finance.exit_reason(before.reason), -1);
    ELSE
        INSERT INTO finance.daily_deltas (at, first_at, entries, firsts) VALUES (NEW.at, first_entry, 1, (before.subscription_id IS NULL)::int);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION finance.note_transition() IS 'Writes what a move into or out of active means for the figures by day; finance.movements says the same of all rows. A renewal that is paid undoes the exit of what it replaced, and a chargeback that is withdrawn the exit that it was.';

CREATE FUNCTION finance.rebuild() RETURNS void
    LANGUAGE plpgsql
    SET work_mem TO '128MB'
    AS $$
BEGIN
    PERFORM finance.rebuild_figures();
    PERFORM finance.rebuild_mrr();
    INSERT INTO finance.cohort_rollup AS r (cohort_month, month, customers, change)
    SELECT f.cohort_month, f.month, sum(f.customers), sum(f.change)
    FROM (
        SELECT c.cohort_month, c.month, c.customers, c.change FROM finance_internal.cohort_scan c
        UNION ALL
        SELECT k.cohort_month, k.month, -k.customers, -k.change FROM finance.cohort_months k
    ) f
    GROUP BY f.cohort_month, f.month
    HAVING sum(f.customers) <> 0 OR sum(f.change) <> 0
    ON CONFLICT (cohort_month, month) DO UPDATE SET customers = r.customers + excluded.customers, change = r.change + excluded.change;
    -- Rows and not differences: moves under way wait for the end, and then begin from what is written here.
    LOCK TABLE finance.customer_access IN SHARE ROW EXCLUSIVE MODE;
    CREATE TEMPORARY TABLE access_counted ON COMMIT DROP AS
    SELECT p.customer_id, min(p.at) AS first_at, coalesce(sum(finance.microseconds(p.at, p.next_at)) FILTER (WHERE p.closed), 0)::bigint AS closed_us,
        max(p.next_at) FILTER (WHERE p.closed) AS last_until, max(p.at) FILTER (WHERE NOT p.closed) AS open_at
    FROM (
        SELECT m.customer_id, m.kind, m.at, m.next_at, lead(m.movement_id) OVER (PARTITION BY m.customer_id ORDER BY m.movement_id) < 9223372036854775807 IS TRUE AS closed
        FROM finance.movements m
    ) p
    WHERE p.kind = 'entry'
    GROUP BY p.customer_id;
    DELETE FROM finance.customer_access a WHERE NOT EXISTS (SELECT FROM access_counted c WHERE c.customer_id = a.customer_id);
    INSERT INTO finance.customer_access AS a (customer_id, first_at, closed_us, last_until, open_at)
    SELECT c.customer_id, c.first_at, c.closed_us, c.last_until, c.open_at FROM access_counted c
    ON CONFLICT (customer_id) DO UPDATE
    SET first_at = excluded.first_at, closed_us = excluded.closed_us, last_until = excluded.last_until, open_at = excluded.open_at
    WHERE (a.first_at, a.closed_us, a.last_until, a.open_at) IS DISTINCT FROM (excluded.first_at, excluded.closed_us, excluded.last_until, excluded.open_at);
    DROP TABLE access_counted;
    LOCK TABLE finance.dues IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM finance.dues d WHERE NOT EXISTS (SELECT FROM finance_internal.due_scan c WHERE c.subscription_id = d.subscription_id);
    INSERT INTO finance.dues AS d (subscription_id, next_billing_date, otherwise_on)
    SELECT c.subscription_id, c.next_billing_date, c.otherwise_on FROM finance_internal.due_scan c
    ON CONFLICT (subscription_id) DO UPDATE SET next_billing_date = excluded.next_billing_date, otherwise_on = excluded.otherwise_on
    WHERE (d.next_billing_date, d.otherwise_on) IS DISTINCT FROM (excluded.next_billing_date, excluded.otherwise_on);
END
$$;

COMMENT ON FUNCTION finance.rebuild() IS 'Makes what is kept equal the scan: after rows were loaded with the triggers off, or when a check found differences. Reads every ledger whole; figures stay readable meanwhile, moves of subscriptions wait at the end.';

CREATE FUNCTION finance.rebuild_figures() RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- By differences and not anew: transactions under way keep their deltas, and
    -- each statement compares what one snapshot holds.
    PERFORM pg_advisory_xact_lock(hashtextextended('finance.fold', 0));
    INSERT INTO finance.daily_rollup AS r (day,
        gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
        exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
        returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired)
    SELECT f.day,
        sum(f.sign * f.gross_gwa_cents), sum(f.sign * f.gross_gwb_cents), sum(f.sign * f.payments), sum(f.sign * f.failed_attempts),
        sum(f.sign * f.refunds_cents), sum(f.sign * f.chargebacks_cents), sum(f.sign * f.entries), sum(f.sign * f.exits_payment_failure),
        sum(f.sign * f.exits_customer_cancelled), sum(f.sign * f.exits_admin_cancelled), sum(f.sign * f.exits_chargeback), sum(f.sign * f.exits_expired),
        sum(f.sign * f.returned_in_day), sum(f.sign * f.returned_in_month_payment_failure), sum(f.sign * f.returned_in_month_customer_cancelled),
        sum(f.sign * f.returned_in_month_admin_cancelled), sum(f.sign * f.returned_in_month_chargeback), sum(f.sign * f.returned_in_month_expired)
    FROM (
        SELECT 1 AS sign, c.* FROM finance_internal.daily_scan c
        UNION ALL
        SELECT -1, k.* FROM finance.daily k
    ) f
    GROUP BY f.day
    ON CONFLICT (day) DO UPDATE SET
        gross_gwa_cents = r.gross_gwa_cents + excluded.gross_gwa_cents,
        gross_gwb_cents = r.gross_gwb_cents + excluded.gross_gwb_cents,
        payments = r.payments + excluded.payments,
        failed_attempts = r.failed_attempts + excluded.failed_attempts,
        refunds_cents = r.refunds_cents + excluded.refunds_cents,
        chargebacks_cents = r.chargebacks_cents + excluded.chargebacks_cents,
        entries = r.entries + excluded.entries,
        exits_payment_failure = r.exits_payment_failure + excluded.exits_payment_failure,
        exits_customer_cancelled = r.exits_customer_cancelled + excluded.exits_customer_cancelled,
        exits_admin_cancelled = r.exits_admin_cancelled + excluded.exits_admin_cancelled,
        exits_chargeback = r.exits_chargeback + excluded.exits_chargeback,
        exits_expired = r.exits_expired + excluded.exits_expired,
        returned_in_day = r.returned_in_day + excluded.returned_in_day,
        returned_in_month_payment_failure = r.returned_in_month_payment_failure + excluded.returned_in_month_payment_failure,
        returned_in_month_customer_cancelled = r.returned_in_month_customer_cancelled + excluded.returned_in_month_customer_cancelled,
        returned_in_month_admin_cancelled = r.returned_in_month_admin_cancelled + excluded.returned_in_month_admin_cancelled,
        returned_in_month_chargeback = r.returned_in_month_chargeback + excluded.returned_in_month_chargeback,
        returned_in_month_expired = r.returned_in_month_expired + excluded.returned_in_month_expired;
    INSERT INTO finance.return_rollup AS r (day, left_day, returns)
    SELECT f.day, f.left_day, sum(f.returns)
    FROM (
        SELECT c.day, c.left_day, c.returns FROM finance_internal.return_scan c
        UNION ALL
        SELECT k.day, k.left_day, -k.returns FROM finance.returns k
    ) f
    GROUP BY f.day, f.left_day
    ON CONFLICT (day, left_day) DO UPDATE SET returns = r.returns + excluded.returns;
    INSERT INTO finance.standing_rollup AS r (gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers)
    SELECT f.gateway, f.payment_method, f.plan_id, sum(f.sign * f.active), sum(f.sign * f.mrr_cents), sum(f.sign * f.trials), sum(f.sign * f.trial_mrr_cents), sum(f.sign * f.overdue), sum(f.sign * f.at_risk_cents), sum(f.sign * f.customers)
    FROM (
        SELECT 1 AS sign, c.* FROM finance_internal.standing_scan c
        UNION ALL
        SELECT -1, k.* FROM finance.standing k
    ) f
    GROUP BY f.gateway, f.payment_method, f.plan_id
    ON CONFLICT (gateway, payment_method, plan_id) DO UPDATE SET
        active = r.active + excluded.active,
        mrr_cents = r.mrr_cents + excluded.mrr_cents,
        trials = r.trials + excluded.trials,
        trial_mrr_cents = r.trial_mrr_cents + excluded.trial_mrr_cents,
        overdue = r.overdue + excluded.overdue,
        at_risk_cents = r.at_risk_cents + excluded.at_risk_cents,
        customers = r.customers + excluded.customers;
END
$$;

COMMENT ON FUNCTION finance.rebuild_figures() IS 'The part of finance.rebuild for figures by day and present figures.';

CREATE FUNCTION finance.rebuild_mrr() RETURNS void
    LANGUAGE plpgsql
    SET work_mem TO '128MB'
    AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('finance.fold', 0));
    INSERT INTO finance.mrr_rollup AS r (month, new_cents, expansion_cents, reactivation_cents, contraction_cents, churn_cents)
    SELECT f.month, sum(f.sign * f.new_cents), sum(f.sign * f.expansion_cents), sum(f.sign * f.reactivation_cents), sum(f.sign * f.contraction_cents),
        sum(f.sign * f.churn_cents)
    FROM (
        SELECT 1 AS sign, c.* FROM finance_internal.mrr_scan c
        UNION ALL
        SELECT -1, k.* FROM finance_internal.mrr_months k
    ) f
    GROUP BY f.month
    ON CONFLICT (month) DO UPDATE SET
        new_cents = r.new_cents + excluded.new_cents,
        expansion_cents = r.expansion_cents + excluded.expansion_cents,
        reactivation_cents = r.reactivation_cents + excluded.reactivation_cents,
        contraction_cents = r.contraction_cents + excluded.contraction_cents,
        churn_cents = r.churn_cents + excluded.churn_cents;
END
$$;

COMMENT ON FUNCTION finance.rebuild_mrr() IS 'The part of finance.rebuild for the movements of MRR: by differences, so that transactions under way keep their deltas.';

CREATE FUNCTION finance.rollup_differences() RETURNS TABLE(rollup text, key text, figure text, kept bigint, counted bigint)
    LANGUAGE sql STABLE
    SET work_mem TO '128MB'
    AS $$
SELECT * FROM finance.figure_differences()
UNION ALL
SELECT 'cohorts', coalesce(k.cohort_month, c.cohort_month) || ' in ' || coalesce(k.month, c.month), v.figure, v.kept, v.counted
FROM finance.cohort_months k FULL JOIN finance_internal.cohort_scan c ON c.cohort_month = k.cohort_month AND c.month = k.month
CROSS JOIN LATERAL (
    SELECT 'customers'::text AS figure, coalesce(k.customers, 0) AS kept, coalesce(c.customers, 0) AS counted
    UNION ALL SELECT 'change', coalesce(k.change, 0), coalesce(c.change, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'mrr', coalesce(k.month, c.month)::text, v.figure, v.kept, v.counted
FROM finance_internal.mrr_months k FULL JOIN finance_internal.mrr_scan c ON c.month = k.month
CROSS JOIN LATERAL (
    SELECT 'new_cents'::text AS figure, coalesce(k.new_cents, 0) AS kept, coalesce(c.new_cents, 0) AS counted
    UNION ALL SELECT 'expansion_cents', coalesce(k.expansion_cents, 0), coalesce(c.expansion_cents, 0)
    UNION ALL SELECT 'reactivation_cents', coalesce(k.reactivation_cents, 0), coalesce(c.reactivation_cents, 0)
    UNION ALL SELECT 'contraction_cents', coalesce(k.contraction_cents, 0), coalesce(c.contraction_cents, 0)
    UNION ALL SELECT 'churn_cents', coalesce(k.churn_cents, 0), coalesce(c.churn_cents, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'tenure', coalesce(k.customer_id, c.customer_id), 'access_days', k.access_days, c.access_days
FROM finance.tenure k FULL JOIN finance_internal.tenure_scan c ON c.customer_id = k.customer_id
WHERE (k.first_access_at, k.last_access_at, k.is_active, k.access_days) IS DISTINCT FROM (c.first_access_at, c.last_access_at, c.is_active, c.access_days)
UNION ALL
SELECT 'dues', coalesce(k.subscription_id, c.subscription_id), 'otherwise_on', k.otherwise_on - date '2000-01-01', c.otherwise_on - date '2000-01-01'
FROM (SELECT d.subscription_id, d.next_billing_date, nullif(d.otherwise_on, 'infinity') AS otherwise_on FROM finance.dues d) k
FULL JOIN (SELECT d.subscription_id, d.next_billing_date, nullif(d.otherwise_on, 'infinity') AS otherwise_on FROM finance_internal.due_scan d) c ON c.subscription_id = k.subscription_id
WHERE (k.subscription_id, k.next_billing_date, k.otherwise_on) IS DISTINCT FROM (c.subscription_id, c.next_billing_date, c.otherwise_on)
$$;

COMMENT ON FUNCTION finance.rollup_differences() IS 'Where what is kept differs from the scan, by rollup (daily, returns, standing, cohorts, mrr, tenure, dues), row and column: what is kept and what the ledgers say. Empty at any moment; slow.';

CREATE FUNCTION finance.use_report_tz(zone text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF (SELECT report_tz FROM finance.settings) = zone THEN
        RETURN false;
    END IF;
    PERFORM now() AT TIME ZONE zone; -- an unknown zone is refused here
    PERFORM pg_advisory_xact_lock(hashtextextended('finance.fold', 0));
    UPDATE finance.settings SET report_tz = zone;
    DELETE FROM finance.daily_rollup;
    DELETE FROM finance.return_rollup;
    DELETE FROM finance.cohort_rollup;
    DELETE FROM finance.mrr_rollup;
    PERFORM finance.rebuild();
    RETURN true;
END
$$;

COMMENT ON FUNCTION finance.use_report_tz(zone text) IS 'Changes the time zone of days and months and counts the rollups anew under it; true when it was another.';

CREATE FUNCTION jobs.river_job_state_in_bitmask(bitmask bit, state jobs.river_job_state) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT CASE state
        WHEN 'available' THEN get_bit(bitmask, 7)
        WHEN 'cancelled' THEN get_bit(bitmask, 6)
        WHEN 'completed' THEN get_bit(bitmask, 5)
        WHEN 'discarded' THEN get_bit(bitmask, 4)
        WHEN 'pending'   THEN get_bit(bitmask, 3)
        WHEN 'retryable' THEN get_bit(bitmask, 2)
        WHEN 'running'   THEN get_bit(bitmask, 1)
        WHEN 'scheduled' THEN get_bit(bitmask, 0)
        ELSE 0
    END = 1;
$$;

CREATE FUNCTION payments.absent(gateway text, payment_id text, purpose text, local_id platform.object_id) RETURNS TABLE(payment boolean, others boolean, failures boolean)
    LANGUAGE plpgsql ROWS 1
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $_$
BEGIN
    -- An argument that is an id gives all of them its collation, by which no index of the columns beside it could be read.
    RETURN QUERY SELECT count(*) = 0, count(*) FILTER (WHERE NOT (p.purpose = $3 AND p.local_id = $4)) = 0,
        NOT EXISTS (SELECT 1 FROM payments.failed_attempts f WHERE f.purpose = $3 COLLATE "default" AND f.local_id = $4)
    FROM payments.payments p
    WHERE p.gateway = $1 COLLATE "default"
        AND (p.gateway_payment_id = $2 COLLATE "default" OR p.payment_intent_id = $2 COLLATE "default");
END
$_$;

COMMENT ON FUNCTION payments.absent(gateway text, payment_id text, purpose text, local_id platform.object_id) IS 'Published for programs of before payments.absent_since: what the ledger has none of: a payment with the id, one with it that is for something else, a failed attempt of the subscription or order. One row. VOLATILE, so that it sees what was committed while the calling statement took its locks.';

CREATE FUNCTION payments.absent_since(gateway text, payment_id text, purpose text, local_id platform.object_id, since timestamp with time zone) RETURNS TABLE(payment boolean, others boolean, failures boolean)
    LANGUAGE plpgsql ROWS 1
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $_$
BEGIN
    -- An argument that is an id gives all of them its collation, by which no index of the columns beside it could be read.
    RETURN QUERY SELECT count(*) = 0, count(*) FILTER (WHERE NOT (p.purpose = $3 AND p.local_id = $4)) = 0,
        NOT EXISTS (SELECT 1 FROM payments.failed_attempts f WHERE f.purpose = $3 COLLATE "default" AND f.local_id = $4
            AND f.failed_at > $5)
    FROM payments.payments p
    WHERE p.gateway = $1 COLLATE "default"
        AND (p.gateway_payment_id = $2 COLLATE "default" OR p.payment_intent_id = $2 COLLATE "default");
END
$_$;

COMMENT ON FUNCTION payments.absent_since(gateway text, payment_id text, purpose text, local_id platform.object_id, since timestamp with time zone) IS 'Published: what the ledger has none of: a payment with the id, one with it that is for something else, a failed attempt of the subscription or order after the instant. One row. VOLATILE, so that it sees what was committed while the calling statement took its locks.';

CREATE FUNCTION payments.add_webhook_log_months(since timestamp with time zone, months integer) RETURNS integer
    LANGUAGE plpgsql
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '2s'
    AS $$
DECLARE
    lower timestamptz;
    upper timestamptz;
    name  text;
    added integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('payments.webhook_logs'));
    FOR n IN 0 .. months - 1 LOOP
        lower := date_trunc('month', since) + make_interval(months => n);
        upper := lower + interval '1 month';
        name := 'webhook_logs_' || to_char(lower, 'YYYY_MM');
        -- A month that has begun in the rest stays there: moving it would hold up calls.
        CONTINUE WHEN EXISTS (SELECT 1 FROM payments.webhook_log_months m WHERE m.ends_at > lower AND (m.begins_at IS NULL OR m.begins_at < upper))
            OR EXISTS (SELECT 1 FROM payments.webhook_logs_rest r WHERE r.received_at >= lower AND r.received_at < upper);
        EXECUTE format('CREATE TABLE payments.%I (LIKE payments.webhook_logs INCLUDING ALL)', name);
        EXECUTE format('ALTER TABLE payments.webhook_logs ATTACH PARTITION payments.%I FOR VALUES FROM (%L) TO (%L)', name, lower, upper);
        added := added + 1;
    END LOOP;
    RETURN added;
END $$;

COMMENT ON FUNCTION payments.add_webhook_log_months(since timestamp with time zone, months integer) IS 'Makes the missing partitions of so many months (UTC), and tells how many it made.';

CREATE FUNCTION payments.database_mark() RETURNS text
    LANGUAGE sql STABLE
    AS $$
    SELECT (pg_control_system()).system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || d.oid
    FROM pg_database d WHERE d.datname = current_database()
$$;

COMMENT ON FUNCTION payments.database_mark() IS 'What tells this database from a copy or an earlier state of it: the cluster, its timeline (a recovery from a backup and a failover begin a new one), and the database in it.';

CREATE FUNCTION payments.drop_webhook_log_month(before timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '2s'
    AS $$
DECLARE
    old text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('payments.webhook_logs'));
    SELECT m.partition INTO old FROM payments.webhook_log_months m WHERE m.ends_at <= before ORDER BY m.ends_at LIMIT 1;
    IF old IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format('ALTER TABLE payments.webhook_logs DETACH PARTITION payments.%I', old);
    EXECUTE format('INSERT INTO payments.webhook_logs SELECT l.* FROM payments.processed_events e JOIN payments.%I l USING (gateway, event_id)
        WHERE e.state IN (''queued'', ''waiting'') AND l.signature_valid', old);
    EXECUTE format('DROP TABLE payments.%I', old);
    RETURN old;
END $$;

COMMENT ON FUNCTION payments.drop_webhook_log_month(before timestamp with time zone) IS 'Drops the oldest partition that ends by the instant, logs of events not applied yet kept, and tells its name; null when there is none.';

CREATE FUNCTION payments.event_charge(payload jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    -- No longer than an index takes.
    SELECT left(CASE WHEN payload #>> '{data,object,object}' = 'charge' THEN payload #>> '{data,object,id}'
        ELSE coalesce(payload #>> '{data,object,latest_charge}', payload #>> '{data,object,charge}') END, 200)
$$;

COMMENT ON FUNCTION payments.event_charge(payload jsonb) IS 'The charge (ch_…) of gateway B that an event is about or names, out of its body; null when it names none.';

CREATE FUNCTION payments.event_object(payload jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    -- No longer than an index takes.
    SELECT left(coalesce(payload #>> '{data,object,id}', payload #>> '{payment,id}', payload #>> '{subscription,id}',
        payload #>> '{authorization,id}', payload #>> '{pixAutomaticAuthorization,id}'), 200)
$$;

COMMENT ON FUNCTION payments.event_object(payload jsonb) IS 'The gateway''s id of what an event is about, out of its body: a payment, an invoice, a charge, a subscription, an authorization. Null when it names none.';

CREATE FUNCTION payments.note_dispute_move() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.state IS DISTINCT FROM (SELECT t.to_state FROM payments.dispute_transitions t WHERE t.dispute_id = NEW.id ORDER BY t.id DESC LIMIT 1) THEN
        INSERT INTO payments.dispute_transitions (dispute_id, at, from_state, to_state, action)
        VALUES (NEW.id, NEW.updated_at, OLD.state, NEW.state, 'not_recorded');
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION payments.note_dispute_move() IS 'Keeps the history of a dispute unbroken where a statement moves it without: of the release before, or at psql. What the statement itself has written it sees.';

CREATE FUNCTION payments.note_refund_move() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.status IS DISTINCT FROM (SELECT t.to_state FROM payments.refund_transitions t WHERE t.refund_id = NEW.id ORDER BY t.id DESC LIMIT 1) THEN
        INSERT INTO payments.refund_transitions (refund_id, at, from_state, to_state, action)
        VALUES (NEW.id, NEW.updated_at, OLD.status, NEW.status, 'not_recorded');
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION payments.note_refund_move() IS 'Keeps the history of a refund unbroken where a statement moves it without: of the release before, or at psql. What the statement itself has written it sees.';

CREATE FUNCTION payments.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'payments.% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

COMMENT ON FUNCTION payments.refuse_change() IS 'Keeps a history append-only, also against people at psql.';

CREATE FUNCTION platform.json_time(t timestamp with time zone) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

COMMENT ON FUNCTION platform.json_time(t timestamp with time zone) IS 'The form in which the API shows instants: RFC 3339 UTC with milliseconds and Z.';

CREATE FUNCTION platform.new_object_id() RETURNS platform.object_id
    LANGUAGE sql
    AS $$
    SELECT (lpad(to_hex(extract(epoch FROM clock_timestamp())::bigint), 8, '0')
         || substr(md5(random()::text || clock_timestamp()::text), 1, 10)
         || lpad(to_hex(nextval('platform.object_id_counter')), 6, '0'))::platform.object_id
$$;

COMMENT ON FUNCTION platform.new_object_id() IS 'An id for people who insert rows by hand; the server makes its own.';

CREATE FUNCTION platform.search_query(words text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
    SELECT plainto_tsquery('pg_catalog.portuguese', platform.search_stems(q.parts[1]))
        && (plainto_tsquery('pg_catalog.portuguese', platform.search_stems(q.parts[2]))
            || to_tsquery('pg_catalog.simple', '''' || q.parts[2] || ''':*'))
    FROM (SELECT regexp_match(platform.search_words(words), '^(.*?)(\S+)\s*$')) q(parts)
$_$;

COMMENT ON FUNCTION platform.search_query(words text) IS 'The query that search_vector answers: every word by its stem, the last one also as a prefix. Null, which nothing matches, when there is no word.';

CREATE FUNCTION platform.search_stems(words text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT regexp_replace(regexp_replace(words, 'c(ao|oes)\M', 'ção', 'g'), '([a-z])(ao|oes)\M', '\1ão', 'g')
$$;

COMMENT ON FUNCTION platform.search_stems(words text) IS 'Gives the words of search_words back the endings that the Portuguese stemmer knows by their accents, and makes their plural singular: cancoes and cancao become canção.';

CREATE FUNCTION platform.search_vector(texts text[], weight "char") RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
DECLARE words text := platform.search_words(array_to_string(texts, ' '));
BEGIN
    RETURN setweight(to_tsvector('pg_catalog.simple', words) || to_tsvector('pg_catalog.portuguese', platform.search_stems(words)), weight);
END
$$;

COMMENT ON FUNCTION platform.search_vector(texts text[], weight "char") IS 'What a record is found by: the words of its texts as they are, for prefixes, and their stems. Nulls are left out. Weight A counts most, D least; concatenate one vector a weight and index it with GIN.';

CREATE FUNCTION platform.search_words(words text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT regexp_replace(lower(regexp_replace(normalize(words COLLATE "C", NFD), U&'[\0300-\036F]+', '', 'g')), '[!-/:-@[-`{-~]+', ' ', 'g')
$$;

COMMENT ON FUNCTION platform.search_words(words text) IS 'Words as the full text search compares them: without accents, lower case, ASCII punctuation as blanks. In no need of the extension unaccent, and the same under every locale.';

CREATE FUNCTION subscriptions.absent(subscription_id platform.object_id, gateway text, payment_id text, reference text) RETURNS TABLE(charge boolean, pauses boolean, charge_moves boolean)
    LANGUAGE plpgsql ROWS 1
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $_$
BEGIN
    RETURN QUERY SELECT
        NOT EXISTS (SELECT FROM subscriptions.renewal_charges c
            WHERE c.id = $4 COLLATE "C" OR c.gateway = $2 COLLATE "C" AND c.gateway_payment_id = $3 COLLATE "C"),
        NOT EXISTS (SELECT FROM subscriptions.pauses p WHERE p.subscription_id = $1),
        NOT EXISTS (SELECT FROM subscriptions.charge_moves m WHERE m.subscription_id = $1);
END
$_$;

COMMENT ON FUNCTION subscriptions.absent(subscription_id platform.object_id, gateway text, payment_id text, reference text) IS 'What a subscription has none of: a renewal charge with our own id or the payment, a pause, an extension''s charge move. One row. VOLATILE, as payments.absent is.';

CREATE FUNCTION subscriptions.has_access(customer_id platform.object_id, at timestamp with time zone) RETURNS TABLE(has_access boolean)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    SELECT EXISTS (
        SELECT 1 FROM subscriptions.subscriptions s
        WHERE s.customer_id = $1 AND s.status = 'active' AND (s.expires_at IS NULL OR s.expires_at > $2)
        OFFSET 0) -- which holds the planner to the index of the customer, however many it expects to be asked for
$_$;

COMMENT ON FUNCTION subscriptions.has_access(customer_id platform.object_id, at timestamp with time zone) IS 'Published: whether the customer may watch then. One row. The date is looked at itself, so that a late expiry job grants nothing.';

CREATE FUNCTION subscriptions.max_streams(customer_id platform.object_id, at timestamp with time zone) RETURNS TABLE(max_streams integer)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    SELECT (SELECT p.max_streams
            FROM subscriptions.subscriptions s JOIN subscriptions.plans p ON p.plan_id = s.plan_id
            WHERE s.customer_id = $1 AND s.status = 'active' AND (s.expires_at IS NULL OR s.expires_at > $2)) -- one is live
$_$;

COMMENT ON FUNCTION subscriptions.max_streams(customer_id platform.object_id, at timestamp with time zone) IS 'Published: on how many devices at once the customer may watch then, by the plan of what gives them access; null is no limit. One row.';

CREATE FUNCTION subscriptions.note_order_move() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION subscriptions.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'subscriptions.% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

COMMENT ON FUNCTION subscriptions.refuse_change() IS 'Keeps a history append-only, also against people at psql.';

CREATE FUNCTION tickets.account_added() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(n), array_agg(u), array_agg(g)) FROM (
        SELECT event_id, count(*) FILTER (WHERE holds_place) AS n, count(*) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL) AS u,
            count(*) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL AND (without_login OR unproved)) AS g
        FROM added GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT id, event_id, register_update_date, NULL, status, reason, actor_id FROM added;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION tickets.account_added() IS 'Counts new tickets and begins their history.';

CREATE FUNCTION tickets.account_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(n), array_agg(u), array_agg(g)) FROM (
        SELECT event_id, coalesce(sum(sign) FILTER (WHERE holds_place), 0)::bigint AS n,
            coalesce(sum(sign) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL), 0)::bigint AS u,
            coalesce(sum(sign) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL AND (without_login OR unproved)), 0)::bigint AS g
        FROM (
            SELECT event_id, holds_place, status, order_id, without_login, unproved, 1 AS sign FROM after_change
            UNION ALL SELECT event_id, holds_place, status, order_id, without_login, unproved, -1 FROM before_change) both_sides
        GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT a.id, a.event_id, a.register_update_date, b.status, a.status, a.reason, a.actor_id
    FROM after_change a JOIN before_change b ON b.id = a.id WHERE a.status <> b.status;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION tickets.account_changed() IS 'Keeps counters and history when tickets move.';

CREATE FUNCTION tickets.account_removed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(-n), array_agg(-u), array_agg(-g)) FROM (
        SELECT event_id, count(*) FILTER (WHERE holds_place) AS n, count(*) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL) AS u,
            count(*) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL AND (without_login OR unproved)) AS g
        FROM removed GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT id, event_id, date_trunc('milliseconds', clock_timestamp()), status, 'deleted', 'deleted', NULL FROM removed;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION tickets.account_removed() IS 'Takes deleted tickets out of the counters and notes them as revoked.';

CREATE FUNCTION tickets.blocked(status text, refund_id text, disputed_at timestamp with time zone, cancelled_at timestamp with time zone) RETURNS text
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN (status <> ALL (ARRAY['pending'::text, 'available'::text])) THEN NULL::text WHEN (refund_id IS NOT NULL) THEN 'refund_requested'::text WHEN (cancelled_at IS NOT NULL) THEN 'event_cancelled'::text WHEN (disputed_at IS NOT NULL) THEN 'payment_disputed'::text ELSE NULL::text END;

COMMENT ON FUNCTION tickets.blocked(status text, refund_id text, disputed_at timestamp with time zone, cancelled_at timestamp with time zone) IS 'Why a ticket that is neither used nor expired opens no door: by its own status and refund_id, its order''s disputed_at, its event''s cancelled_at. Null when nothing blocks it.';

CREATE FUNCTION tickets.count_places(events text[], changes bigint[], unpaid bigint[], guests bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE change record;
BEGIN
    -- In the order of ids, so that two statements over the same events cannot deadlock.
    FOR change IN SELECT event, n, u, g FROM unnest(events, changes, unpaid, guests) AS c(event, n, u, g) WHERE (n, u, g) <> (0, 0, 0) ORDER BY event LOOP
        UPDATE tickets.events SET tickets_issued = tickets_issued + change.n, places_unpaid = places_unpaid + change.u,
            places_unpaid_guests = places_unpaid_guests + change.g
        WHERE id = change.event;
    END LOOP;
END
$$;

COMMENT ON FUNCTION tickets.count_places(events text[], changes bigint[], unpaid bigint[], guests bigint[]) IS 'Adds to the counters of events, each named once: places held, of these unpaid, of these guests''.';

CREATE FUNCTION tickets.declines_taken(addresses bytea[], cards bytea[], buyers bytea[], since timestamp with time zone, wait boolean) RETURNS integer[]
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE subject bigint;
BEGIN
    -- In one order, so that two who count the same subjects cannot deadlock.
    FOR subject IN
        SELECT DISTINCT hashtextextended('tickets.declines/' || s.name || '/' || encode(s.mac, 'hex'), 0)
        FROM unnest(addresses, cards, buyers) AS p(address, card, buyer)
        CROSS JOIN LATERAL (VALUES ('address', p.address), ('card', p.card), ('buyer', p.buyer)) AS s(name, mac) ORDER BY 1
    LOOP
        IF wait THEN
            PERFORM pg_advisory_xact_lock(subject);
        ELSIF NOT pg_try_advisory_xact_lock(subject) THEN
            RETURN NULL;
        END IF;
    END LOOP;
    RETURN (
        SELECT array_agg(x.n::integer ORDER BY p.place, s.kind, x.what)
        FROM unnest(addresses, cards, buyers) WITH ORDINALITY AS p(address, card, buyer, place)
        CROSS JOIN LATERAL (VALUES (1, 'address', p.address), (2, 'card', p.card), (3, 'buyer', p.buyer)) AS s(kind, name, mac)
        CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE d.order_id IS NULL) AS declined, count(*) AS tried
            FROM tickets.declines d WHERE d.subject = s.name AND d.mac = s.mac AND d.at > since) c
        CROSS JOIN LATERAL (VALUES (1, c.declined), (2, c.tried)) AS x(what, n));
END
$$;

COMMENT ON FUNCTION tickets.declines_taken(addresses bytea[], cards bytea[], buyers bytea[], since timestamp with time zone, wait boolean) IS 'Two numbers for each address, card and buyer of each payment, in this order: recent declines, and those with the payments that are under way. Until the transaction ends nobody else counts any of them: whoever may not wait for that gets null. VOLATILE, so that it sees what was committed while it waited, here or for the lock of an event.';

CREATE FUNCTION tickets.ends_at(event_date timestamp with time zone, event_end_date timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT coalesce(event_end_date, event_date + interval '3 hours')
$$;

COMMENT ON FUNCTION tickets.ends_at(event_date timestamp with time zone, event_end_date timestamp with time zone) IS 'The end rule: the end, else three hours after the start. An event is over from that instant on, for listing, purchase, ticket expiry and promo codes alike.';

CREATE FUNCTION tickets.held_by(event text, customers text[], tax_ids bytea[], emails bytea[], addresses bytea[]) RETURNS integer[]
    LANGUAGE sql
    AS $$
    SELECT tickets.places_taken(event, customers, tax_ids, emails, addresses)
$$;

COMMENT ON FUNCTION tickets.held_by(event text, customers text[], tax_ids bytea[], emails bytea[], addresses bytea[]) IS 'tickets.places_taken by the name that the release before calls; goes with the next one.';

CREATE FUNCTION tickets.keep_deleted_order() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO tickets.deleted_orders (id, customer_id, gateway, gateway_payment_id)
    VALUES (OLD.id, OLD.customer_id, OLD.gateway, OLD.gateway_payment_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION tickets.keep_deleted_order() IS 'Keeps what a gateway calls an order by, whoever deletes it.';

CREATE FUNCTION tickets.keep_ended_dispute() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO tickets.past_blocks (order_id, reason, since, until) VALUES (OLD.id, 'payment_disputed', OLD.disputed_at, NEW.updated_at);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION tickets.keep_ended_dispute() IS 'Keeps from when to when a dispute blocked an order''s tickets, whoever notes its end.';

CREATE FUNCTION tickets.keep_ended_request() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO tickets.past_blocks (order_id, ticket_id, reason, since, until)
    VALUES (OLD.order_id, OLD.id, 'refund_requested', OLD.refund_asked_at, NEW.register_update_date);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION tickets.keep_ended_request() IS 'Keeps from when to when a refund that came to nothing blocked a ticket, whoever notes its end.';

CREATE FUNCTION tickets.note_order_move() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO tickets.order_transitions (order_id, at, from_state, to_state, reason)
    VALUES (NEW.id, NEW.updated_at, OLD.state, NEW.state, 'not_recorded');
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION tickets.note_order_move() IS 'Keeps the history of an order unbroken where a statement moves it without: of the release before, or at psql.';

CREATE FUNCTION tickets.places_taken(event text, customers text[], tax_ids bytea[], emails bytea[], addresses bytea[]) RETURNS integer[]
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
BEGIN
    RETURN (
        WITH orders AS (
            SELECT 1 AS kind, s.n, h.unpaid, h.taken FROM unnest(customers) WITH ORDINALITY AS s(subject, n) CROSS JOIN LATERAL (
                SELECT sum(quantity) FILTER (WHERE state = 'reserved') AS unpaid, sum(quantity) FILTER (WHERE state IN ('reserved', 'paid')) AS taken
                FROM tickets.orders WHERE event_id = event AND customer_id = s.subject) h
            UNION ALL SELECT 2, s.n, h.unpaid, h.taken FROM unnest(tax_ids) WITH ORDINALITY AS s(subject, n) CROSS JOIN LATERAL (
                SELECT sum(quantity) FILTER (WHERE state = 'reserved') AS unpaid, sum(quantity) FILTER (WHERE state IN ('reserved', 'paid')) AS taken
                FROM tickets.orders WHERE tax_id_mac = s.subject) h
            UNION ALL SELECT 3, s.n, h.unpaid, h.taken FROM unnest(emails) WITH ORDINALITY AS s(subject, n) CROSS JOIN LATERAL (
                SELECT sum(quantity) FILTER (WHERE state = 'reserved') AS unpaid, sum(quantity) FILTER (WHERE state IN ('reserved', 'paid')) AS taken
                FROM tickets.orders WHERE email_mac = s.subject) h
            UNION ALL SELECT 4, s.n, h.unpaid, h.taken FROM unnest(addresses) WITH ORDINALITY AS s(subject, n) CROSS JOIN LATERAL (
                SELECT sum(quantity) FILTER (WHERE state = 'reserved') AS unpaid, sum(quantity) FILTER (WHERE state IN ('reserved', 'paid')) AS taken
                FROM tickets.orders WHERE address_mac = s.subject) h
        )
        SELECT array_agg(coalesce(x.places, 0)::integer ORDER BY kind, n, x.what)
        FROM orders CROSS JOIN LATERAL (VALUES (1, unpaid), (2, taken)) AS x(what, places));
END
$$;

COMMENT ON FUNCTION tickets.places_taken(event text, customers text[], tax_ids bytea[], emails bytea[], addresses bytea[]) IS 'Two numbers for each customer, tax id, e-mail and address, in this order: their unpaid places of the event, and those with the paid ones. The MACs are of the event. VOLATILE, so that it sees what was committed while the calling statement waited for the lock of the event.';

CREATE FUNCTION tickets.refuse_beyond_capacity() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.tickets_issued > NEW.capacity THEN
        RAISE check_violation USING MESSAGE = 'no place left', CONSTRAINT = 'events_capacity_respected';
    END IF;
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION tickets.refuse_beyond_capacity() IS 'No ticket beyond the capacity. A trigger and no CHECK, because the capacity itself may be lowered below what is issued.';

CREATE FUNCTION tickets.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'tickets.% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

COMMENT ON FUNCTION tickets.refuse_change() IS 'Keeps a history append-only, also against people at psql.';

CREATE FUNCTION tickets.settle_status() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.status = 'consumed' THEN
        NEW.consumed_at := coalesce(NEW.consumed_at, NEW.register_update_date);
    ELSE
        NEW.consumed_at := NULL;
        NEW.consume_nonce := NULL;
    END IF;
    IF NEW.status <> 'expired' THEN
        NEW.holds_place := true;
    ELSIF OLD.status = 'pending' OR NEW.refunded_at IS NOT NULL
        OR EXISTS (SELECT FROM tickets.orders o WHERE o.id = NEW.order_id AND o.state IN ('refunded', 'refund_due', 'lost')) THEN
        NEW.holds_place := false;
    END IF;
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION tickets.settle_status() IS 'What follows from a new status, whoever sets it: the instant of consumption, and the place, which a ticket gives back that expires unpaid, or whose money is gone.';

CREATE TABLE accounts.audit_log (
    id platform.object_id NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_id platform.object_id,
    actor_name text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C",
    resource text NOT NULL COLLATE pg_catalog."C",
    record_id platform.object_id,
    before jsonb,
    after jsonb,
    request_id text NOT NULL COLLATE pg_catalog."C",
    erased_at timestamp with time zone,
    CONSTRAINT audit_log_action_present CHECK (((action <> ''::text) AND (resource <> ''::text))),
    CONSTRAINT audit_log_after_is_object CHECK ((jsonb_typeof(after) = 'object'::text)),
    CONSTRAINT audit_log_before_is_object CHECK ((jsonb_typeof(before) = 'object'::text))
);

COMMENT ON TABLE accounts.audit_log IS 'What admins changed, append-only: who, by which route, which record, and its fields before and after.';

COMMENT ON COLUMN accounts.audit_log.actor_id IS 'No foreign key: the trail outlives users. Null: the service itself.';

COMMENT ON COLUMN accounts.audit_log.actor_name IS 'Username at that time.';

COMMENT ON COLUMN accounts.audit_log.action IS 'Handler name, as in GET /routes.';

COMMENT ON COLUMN accounts.audit_log.resource IS 'Collection as in its path, such as users.';

COMMENT ON COLUMN accounts.audit_log.before IS 'Null for a record that was made. Of a change, only the fields that differ; secrets never.';

COMMENT ON COLUMN accounts.audit_log.after IS 'Null for a record that was deleted.';

COMMENT ON COLUMN accounts.audit_log.erased_at IS 'When the values were taken out, because the person they speak of was deleted.';

CREATE TABLE accounts.code_requests (
    address_mac bytea NOT NULL,
    purpose text NOT NULL COLLATE pg_catalog."C",
    requested_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE accounts.code_requests IS 'When an address last asked for a code, whether or not it has an account: the cooldown must not tell which. Old rows are swept.';

COMMENT ON COLUMN accounts.code_requests.address_mac IS 'HMAC-SHA-256 of the folded address: strangers'' addresses are not kept.';

CREATE TABLE accounts.codes (
    id platform.object_id NOT NULL,
    user_id platform.object_id NOT NULL,
    purpose text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    code_mac bytea NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT codes_attempts_not_negative CHECK ((attempts >= 0)),
    CONSTRAINT codes_purpose_known CHECK ((purpose = ANY (ARRAY['verification'::text, 'reset'::text, 'email_change'::text])))
);

COMMENT ON TABLE accounts.codes IS 'The live 6-digit code of a user and purpose; a new one overwrites the old. The digits stand nowhere: they are an HMAC of the id under a server key.';

COMMENT ON COLUMN accounts.codes.address IS 'Where the code is mailed; for email_change the new address.';

COMMENT ON COLUMN accounts.codes.code_mac IS 'HMAC-SHA-256 of id and digits under another server key: the plain hash of six digits is reversed at once.';

COMMENT ON COLUMN accounts.codes.attempts IS 'Codes tried, right or wrong.';

CREATE TABLE accounts.customer_notes (
    id platform.object_id NOT NULL,
    customer_id platform.object_id NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C",
    pinned boolean NOT NULL,
    document_created_by_id platform.object_id,
    register_date timestamp with time zone NOT NULL,
    register_update_date timestamp with time zone NOT NULL,
    CONSTRAINT customer_notes_text_length CHECK (((length(text) >= 1) AND (length(text) <= 4000)))
);

COMMENT ON TABLE accounts.customer_notes IS 'What staff write down about a customer. No route shows it to them; the export of their data holds it, and it goes with their account.';

CREATE TABLE accounts.deletions (
    customer_id platform.object_id NOT NULL,
    deleted_by platform.object_id,
    deleted_at timestamp with time zone NOT NULL,
    erased_at timestamp with time zone
);

COMMENT ON TABLE accounts.deletions IS 'Customers who were deleted: closed at once, erased when the gateways have confirmed that nothing is charged any more.';

COMMENT ON COLUMN accounts.deletions.deleted_by IS 'The customer or an admin; null for the job that removes unverified accounts.';

COMMENT ON COLUMN accounts.deletions.erased_at IS 'When their personal data were removed; null while a gateway still has to confirm.';

CREATE TABLE accounts.email_changes (
    id platform.object_id NOT NULL,
    user_id platform.object_id NOT NULL,
    old_email text NOT NULL COLLATE pg_catalog."C",
    old_username text NOT NULL COLLATE pg_catalog."C",
    old_unproved boolean NOT NULL,
    new_email text NOT NULL COLLATE pg_catalog."C",
    requested_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone,
    undone_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE accounts.email_changes IS 'Changes of an address that its owner is told of, and may undo by the link in that mail until expires_at. The link''s token is derived from the id and a server key: no row and no job holds it. Rows go with their time and with the account.';

COMMENT ON COLUMN accounts.email_changes.old_unproved IS 'users.unproved_signup before the change.';

COMMENT ON COLUMN accounts.email_changes.changed_at IS 'Null while it is asked for and not confirmed.';

COMMENT ON COLUMN accounts.email_changes.undone_at IS 'When a link was used: of this change, or of an earlier one of the same user.';

CREATE UNLOGGED TABLE accounts.last_writes (
    user_id platform.object_id NOT NULL,
    at timestamp with time zone NOT NULL
)
WITH (fillfactor='70');

COMMENT ON TABLE accounts.last_writes IS 'Who called a route that writes within the last hour, where there are replicas: what they list is not older. Not logged, since only the primary is asked, and a crash may forget it.';

COMMENT ON COLUMN accounts.last_writes.at IS 'When such a request last began, by the clock of the database''s machine; noted again while one takes long.';

CREATE TABLE accounts.logins (
    login text NOT NULL COLLATE pg_catalog."C",
    user_id platform.object_id NOT NULL
);

COMMENT ON TABLE accounts.logins IS 'Every username and e-mail of the users that are not deleted, folded: one name space, so that nobody''s username is somebody else''s e-mail. Kept by a trigger of accounts.users.';

CREATE TABLE accounts.parental_tries (
    user_id platform.object_id NOT NULL,
    tries integer NOT NULL,
    tried_at timestamp with time zone NOT NULL,
    CONSTRAINT parental_tries_positive CHECK ((tries >= 1))
);

COMMENT ON TABLE accounts.parental_tries IS 'Tries of a PIN in a row, each counted before it is compared; the row goes with the first that is right.';

CREATE TABLE accounts.passkey_challenges (
    challenge_hash text NOT NULL COLLATE pg_catalog."C",
    user_id platform.object_id,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT passkey_challenges_hash_form CHECK ((challenge_hash ~ '^[0-9a-f]{64}$'::text))
);

COMMENT ON TABLE accounts.passkey_challenges IS 'What authenticators were given to sign, each once: a row goes when its answer comes.';

COMMENT ON COLUMN accounts.passkey_challenges.challenge_hash IS 'Hex SHA-256 of the challenge, which is 32 random bytes.';

COMMENT ON COLUMN accounts.passkey_challenges.user_id IS 'Who registers a passkey; null for a sign-in, whose user is not known yet.';

CREATE TABLE accounts.passkeys (
    id platform.object_id NOT NULL,
    user_id platform.object_id NOT NULL,
    credential_id bytea NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    backup_eligible boolean NOT NULL,
    backed_up boolean NOT NULL,
    transports text[] NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT passkeys_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT passkeys_sign_count_not_negative CHECK ((sign_count >= 0))
);

COMMENT ON TABLE accounts.passkeys IS 'With what users sign in without a password (WebAuthn). Nothing of it is secret: the private key never leaves the authenticator.';

COMMENT ON COLUMN accounts.passkeys.public_key IS 'As the authenticator gave it, in the form of COSE.';

COMMENT ON COLUMN accounts.passkeys.sign_count IS 'How often the authenticator says that it has signed. It has to rise with each use, or stay 0 of those that do not count: else there is a copy of it.';

COMMENT ON COLUMN accounts.passkeys.backup_eligible IS 'Whether it may be copied to other devices of its owner, as passkeys of phones are; it never changes.';

CREATE TABLE accounts.quotas (
    subject_mac bytea NOT NULL,
    window_start timestamp with time zone NOT NULL,
    used integer NOT NULL,
    CONSTRAINT quotas_used_positive CHECK ((used > 0))
);

COMMENT ON TABLE accounts.quotas IS 'What was used of a bounded number a window of time: code mails a day and recipient, questions to gateways a minute. Old windows are swept.';

COMMENT ON COLUMN accounts.quotas.subject_mac IS 'HMAC-SHA-256 of the kind and whom it concerns.';

CREATE TABLE accounts.recovery_codes (
    user_id platform.object_id NOT NULL,
    code_mac bytea NOT NULL
);

COMMENT ON TABLE accounts.recovery_codes IS 'What stands in for the authenticator, each once: a row goes when its code is used.';

COMMENT ON COLUMN accounts.recovery_codes.code_mac IS 'HMAC-SHA-256 of user and code under a key of the server.';

CREATE TABLE accounts.sessions (
    id platform.object_id NOT NULL,
    user_id platform.object_id NOT NULL,
    method text NOT NULL COLLATE pg_catalog."C",
    second_factor boolean NOT NULL,
    device text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    started_at timestamp with time zone NOT NULL,
    refreshed_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    signed_out boolean DEFAULT false NOT NULL,
    CONSTRAINT sessions_device_length CHECK ((length(device) <= 300)),
    CONSTRAINT sessions_expire_after_refresh CHECK ((expires_at > refreshed_at)),
    CONSTRAINT sessions_method_known CHECK ((method = ANY (ARRAY['login'::text, 'totp'::text, 'recovery_code'::text, 'passkey'::text, 'signup'::text, 'earlier'::text]))),
    CONSTRAINT sessions_signed_out_when_ended CHECK (((ended_at IS NOT NULL) OR (NOT signed_out)))
);

COMMENT ON TABLE accounts.sessions IS 'A row a sign-in, for people to see and to end. Tokens name theirs in the claim sid; a row that is not there, or not ended, refuses none. Rows go with their time and with the account.';

COMMENT ON COLUMN accounts.sessions.method IS 'By what somebody signed in; login: name and password; earlier: by a token of before sessions, which was refreshed.';

COMMENT ON COLUMN accounts.sessions.second_factor IS 'Signed in with more than a password, or a second factor was confirmed in it.';

COMMENT ON COLUMN accounts.sessions.device IS 'User-Agent of the last sign-in or refresh, cut to 300 characters.';

COMMENT ON COLUMN accounts.sessions.address IS 'Client address of the same.';

COMMENT ON COLUMN accounts.sessions.refreshed_at IS 'When its last tokens were issued. Before users.tokens_valid_after: they are over, and the session with them.';

COMMENT ON COLUMN accounts.sessions.expires_at IS 'When the last of its tokens ends, of one that was ended an hour later: for what was being issued.';

COMMENT ON COLUMN accounts.sessions.ended_at IS 'When somebody ended it: its tokens are refused.';

COMMENT ON COLUMN accounts.sessions.signed_out IS 'It ended itself, with a token of its own; false where another session or root ended it. What was begun in it goes on after the first alone.';

CREATE TABLE accounts.throttles (
    subject_mac bytea NOT NULL,
    scope text NOT NULL COLLATE pg_catalog."C",
    failures integer NOT NULL,
    failed_at timestamp with time zone NOT NULL,
    CONSTRAINT throttles_failures_positive CHECK ((failures > 0))
);

COMMENT ON TABLE accounts.throttles IS 'Failed logins and wrong codes by account and by client address, from which the wait before the next attempt follows. A success or a quiet time removes a row.';

COMMENT ON COLUMN accounts.throttles.subject_mac IS 'HMAC-SHA-256 of scope and subject: neither addresses nor mistyped logins are kept.';

COMMENT ON COLUMN accounts.throttles.failures IS 'In a row, without a quiet time between them.';

CREATE TABLE accounts.totp (
    user_id platform.object_id NOT NULL,
    secret bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    last_step bigint DEFAULT 0 NOT NULL,
    CONSTRAINT totp_last_step_not_negative CHECK ((last_step >= 0))
);

COMMENT ON TABLE accounts.totp IS 'The second factor of users who want one: what their authenticator counts with (RFC 6238).';

COMMENT ON COLUMN accounts.totp.secret IS 'Sealed with AES-256-GCM under a key derived from FILE_KEY, and bound to the user.';

COMMENT ON COLUMN accounts.totp.confirmed_at IS 'When a first code proved that the authenticator has the secret. Null: it is being set up, and asked for nowhere.';

COMMENT ON COLUMN accounts.totp.last_step IS 'The step of 30 seconds, since 1970, whose code was used last: neither it nor an earlier one is taken again.';

CREATE TABLE accounts.username_skeletons (
    user_id platform.object_id NOT NULL,
    skeleton text NOT NULL COLLATE pg_catalog."C",
    username text NOT NULL COLLATE pg_catalog."C",
    shared boolean NOT NULL
);

COMMENT ON TABLE accounts.username_skeletons IS 'What usernames look like (UTS 39 skeletons, without case), so that nobody takes a name that reads like somebody else''s. Usernames that are the user''s own e-mail have none. A job fills what is missing; a trigger removes what no longer holds.';

COMMENT ON COLUMN accounts.username_skeletons.username IS 'The name that looks so: taken before it is written to the user.';

COMMENT ON COLUMN accounts.username_skeletons.shared IS 'Two users had names that read alike before such names were refused: both keep them.';

CREATE TABLE accounts.users (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    user_type text NOT NULL COLLATE pg_catalog."C",
    username text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL COLLATE pg_catalog."C",
    password_hash text COLLATE pg_catalog."C",
    password_reset_required boolean DEFAULT false NOT NULL,
    enable boolean DEFAULT true NOT NULL,
    is_root boolean DEFAULT false NOT NULL,
    type_user text[] DEFAULT '{}'::text[] NOT NULL,
    name text COLLATE pg_catalog."C",
    full_name text COLLATE pg_catalog."C",
    tax_id text COLLATE pg_catalog."C",
    phone text COLLATE pg_catalog."C",
    nationality text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    address jsonb,
    my_list text[] DEFAULT '{}'::text[] NOT NULL,
    avatar_id platform.object_id,
    language text DEFAULT 'pt'::text NOT NULL COLLATE pg_catalog."C",
    email_verified boolean DEFAULT false NOT NULL,
    email_verified_at timestamp with time zone,
    current_subscription_id platform.object_id,
    trial_used_at timestamp with time zone,
    promo_code_used text COLLATE pg_catalog."C",
    promo_code_id platform.object_id,
    gwa_customer_id text COLLATE pg_catalog."C",
    gwb_customer_id text COLLATE pg_catalog."C",
    tokens_valid_after timestamp with time zone,
    deleted_at timestamp with time zone,
    document_created_by_id platform.object_id,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    kept_token_id text COLLATE pg_catalog."C",
    kept_token_since timestamp with time zone,
    verify_later boolean DEFAULT false NOT NULL,
    unproved_signup boolean DEFAULT false NOT NULL,
    labels text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    max_age_rating text COLLATE pg_catalog."C",
    parental_pin_mac bytea,
    CONSTRAINT users_address_is_object CHECK ((jsonb_typeof(address) = 'object'::text)),
    CONSTRAINT users_age_limit_has_pin CHECK (((max_age_rating IS NULL) = (parental_pin_mac IS NULL))),
    CONSTRAINT users_customers_hold_no_rights CHECK (((user_type = 'admin'::text) OR ((NOT is_root) AND (type_user = '{}'::text[])))),
    CONSTRAINT users_email_lower_case CHECK ((email = lower(email))),
    CONSTRAINT users_labels_few CHECK ((cardinality(labels) <= 20)),
    CONSTRAINT users_login_present CHECK (((deleted_at IS NOT NULL) OR ((username <> ''::text) AND (email <> ''::text)))),
    CONSTRAINT users_max_age_rating_known CHECK ((max_age_rating = ANY (ARRAY['L'::text, '10'::text, '12'::text, '14'::text, '16'::text, '18'::text]))),
    CONSTRAINT users_password_is_hashed CHECK ((password_hash ~ '^\$(argon2id|2[abxy]?)\$'::text)),
    CONSTRAINT users_phone_form CHECK ((phone ~ '^\+?[0-9]{10,15}$'::text)),
    CONSTRAINT users_tax_id_form CHECK ((tax_id ~ '^([0-9]{11}|[0-9A-Z]{12}[0-9]{2})$'::text)),
    CONSTRAINT users_type_known CHECK ((user_type = ANY (ARRAY['admin'::text, 'customer'::text]))),
    CONSTRAINT users_username_no_foreign_address CHECK (((deleted_at IS NOT NULL) OR (POSITION(('@'::text) IN (username)) = 0) OR (lower(username) = email))),
    CONSTRAINT users_verified_has_instant CHECK (((NOT email_verified) OR (email_verified_at IS NOT NULL)))
);

COMMENT ON TABLE accounts.users IS 'Admins and customers. A deleted user stays as a tombstone, since money records point to it.';

COMMENT ON COLUMN accounts.users.password_hash IS 'PHC text of argon2id, or bcrypt for imported users until their next login. Null: no password that a person knows.';

COMMENT ON COLUMN accounts.users.type_user IS 'Ids of accounts.users_type, the profiles of an admin.';

COMMENT ON COLUMN accounts.users.name IS 'Display name of an admin.';

COMMENT ON COLUMN accounts.users.nationality IS 'ISO 3166-1, 2 or 3 letters; empty when not told.';

COMMENT ON COLUMN accounts.users.address IS 'street, number, complement, locality, city, region_code, country, postal_code: all texts.';

COMMENT ON COLUMN accounts.users.language IS 'The language of mails, as in web/mail.';

COMMENT ON COLUMN accounts.users.current_subscription_id IS 'No foreign key: subscriptions belong to an upper module.';

COMMENT ON COLUMN accounts.users.trial_used_at IS 'When the one trial of this customer began.';

COMMENT ON COLUMN accounts.users.promo_code_id IS 'The promo code given at signup. No foreign key: upper module.';

COMMENT ON COLUMN accounts.users.tokens_valid_after IS 'Tokens issued before are over.';

COMMENT ON COLUMN accounts.users.document_created_by_id IS 'The admin who made the account; null when its owner did.';

COMMENT ON COLUMN accounts.users.created_at IS 'Shown as created_at and as register_date; updated_at likewise.';

COMMENT ON COLUMN accounts.users.kept_token_id IS 'Id of the one access token that stays good although it is older than tokens_valid_after: the one that changed its owner''s password.';

COMMENT ON COLUMN accounts.users.kept_token_since IS 'The tokens_valid_after that the kept token outlives. Any later ending of tokens ends it too.';

COMMENT ON COLUMN accounts.users.verify_later IS 'Signed up with verify_email_now false: may buy before verifying, so it is not removed for being unverified.';

COMMENT ON COLUMN accounts.users.unproved_signup IS 'Made by signup, and nobody has proved the address yet: a reset that does so empties what the maker wrote, who may be somebody else. A trigger clears it with the first proof.';

COMMENT ON COLUMN accounts.users.labels IS 'Words by which staff sort customers; as notes, in the export alone.';

COMMENT ON COLUMN accounts.users.max_age_rating IS 'The highest age_rating that plays without the PIN; null is no limit.';

COMMENT ON COLUMN accounts.users.parental_pin_mac IS 'HMAC of the PIN under a key of its own: four digits would be found from any hash without one.';

CREATE TABLE accounts.users_type (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    view text[] DEFAULT '{}'::text[] NOT NULL,
    "create" text[] DEFAULT '{}'::text[] NOT NULL,
    update text[] DEFAULT '{}'::text[] NOT NULL,
    delete text[] DEFAULT '{}'::text[] NOT NULL,
    document_created_by_id platform.object_id,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT users_type_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100)))
);

COMMENT ON TABLE accounts.users_type IS 'Profiles: lists of handler names that an admin who carries the profile may call.';

COMMENT ON COLUMN accounts.users_type.view IS 'Handler names. Which of the four lists holds a name is for people; any of them permits it.';

CREATE TABLE accounts.views (
    id platform.object_id NOT NULL,
    owner_id platform.object_id NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C",
    query text NOT NULL COLLATE pg_catalog."C",
    sort text NOT NULL COLLATE pg_catalog."C",
    columns text[] NOT NULL COLLATE pg_catalog."C",
    audience text NOT NULL COLLATE pg_catalog."C",
    profile_id platform.object_id,
    register_date timestamp with time zone NOT NULL,
    register_update_date timestamp with time zone NOT NULL,
    CONSTRAINT views_audience_known CHECK ((audience = ANY (ARRAY['me'::text, 'profile'::text, 'all'::text]))),
    CONSTRAINT views_columns_few CHECK ((cardinality(columns) <= 60)),
    CONSTRAINT views_name_length CHECK (((length(name) >= 1) AND (length(name) <= 80))),
    CONSTRAINT views_profile_is_an_audience CHECK (((profile_id IS NOT NULL) = (audience = 'profile'::text))),
    CONSTRAINT views_texts_bounded CHECK (((length(path) <= 200) AND (length(query) <= 8000) AND (length(sort) <= 1000)))
);

COMMENT ON TABLE accounts.views IS 'Lists as staff want to see them again: filter, sort and columns under a name, for themselves, for a profile or for all.';

CREATE TABLE board.attachments (
    file_id platform.object_id NOT NULL,
    requisition_id platform.object_id NOT NULL,
    filename text NOT NULL COLLATE pg_catalog."C",
    content_type text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    attached_at timestamp with time zone NOT NULL,
    CONSTRAINT attachments_size_not_negative CHECK ((size >= 0))
);

COMMENT ON TABLE board.attachments IS 'Which stored files hang on which card. A file without a row here belongs to no card.';

COMMENT ON COLUMN board.attachments.filename IS 'As in files.files, whose rows never change: cards are listed and filtered by it.';

COMMENT ON COLUMN board.attachments.content_type IS 'As in files.files.';

COMMENT ON COLUMN board.attachments.size IS 'Bytes, as in files.files.';

CREATE TABLE board.requisition_status (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    index integer,
    color text COLLATE pg_catalog."C",
    document_created_by_id platform.object_id,
    register_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    register_update_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    CONSTRAINT requisition_status_color_form CHECK ((color ~ '^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$'::text)),
    CONSTRAINT requisition_status_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100)))
);

COMMENT ON TABLE board.requisition_status IS 'Columns of the board; a card is in exactly one.';

COMMENT ON COLUMN board.requisition_status.index IS 'Place among the columns, from the left; null stands at the end.';

COMMENT ON COLUMN board.requisition_status.color IS '#RGB, #RRGGBB or #RRGGBBAA.';

CREATE TABLE board.requisitions (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    status_id platform.object_id NOT NULL,
    description text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    priority text DEFAULT 'medium'::text NOT NULL COLLATE pg_catalog."C",
    document_created_by_id platform.object_id,
    register_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    register_update_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    search tsvector GENERATED ALWAYS AS (((platform.search_vector(ARRAY[name], 'A'::"char") || platform.search_vector(description, 'B'::"char")) || platform.search_vector(ARRAY[priority], 'C'::"char"))) STORED,
    CONSTRAINT requisitions_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
    CONSTRAINT requisitions_priority_length CHECK ((char_length(priority) <= 50))
);

COMMENT ON TABLE board.requisitions IS 'Cards of the board.';

COMMENT ON COLUMN board.requisitions.description IS 'Paragraphs, in order.';

COMMENT ON COLUMN board.requisitions.priority IS 'Free text; by convention low, medium, high or urgent.';

COMMENT ON COLUMN board.requisitions.search IS 'What GET /search/requisitions finds a card by: name before description, this before priority.';

CREATE TABLE catalog.categories (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    slug text NOT NULL COLLATE pg_catalog."C",
    document_created_by_id platform.object_id,
    register_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    register_update_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    CONSTRAINT categories_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
    CONSTRAINT categories_slug_form CHECK ((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text))
);

CREATE TABLE catalog.import_rows (
    import_id platform.object_id NOT NULL,
    "position" integer NOT NULL,
    line integer NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    record_id platform.object_id,
    title text NOT NULL COLLATE pg_catalog."C",
    record jsonb,
    changes text[] NOT NULL COLLATE pg_catalog."C",
    errors jsonb NOT NULL,
    CONSTRAINT import_rows_errors_where_invalid CHECK (((jsonb_array_length(errors) > 0) = (outcome = 'invalid'::text))),
    CONSTRAINT import_rows_outcome_known CHECK ((outcome = ANY (ARRAY['create'::text, 'update'::text, 'unchanged'::text, 'invalid'::text]))),
    CONSTRAINT import_rows_record_where_written CHECK (((record IS NOT NULL) = (outcome = ANY (ARRAY['create'::text, 'update'::text]))))
);

COMMENT ON TABLE catalog.import_rows IS 'The lines of a file with what they would make or change, or what is wrong with them.';

COMMENT ON COLUMN catalog.import_rows.record_id IS 'Of a new record, once it is written.';

CREATE TABLE catalog.imports (
    id platform.object_id NOT NULL,
    filename text NOT NULL COLLATE pg_catalog."C",
    delimiter text NOT NULL COLLATE pg_catalog."C",
    actor_id platform.object_id NOT NULL,
    claims jsonb,
    state text DEFAULT 'checked'::text NOT NULL COLLATE pg_catalog."C",
    total integer NOT NULL,
    creates integer NOT NULL,
    updates integer NOT NULL,
    invalid integer NOT NULL,
    written integer DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    error text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT imports_counts_bounded CHECK ((((total >= 1) AND (total <= 20000)) AND (creates >= 0) AND (updates >= 0) AND (invalid >= 0) AND (((creates + updates) + invalid) <= total) AND ((written >= 0) AND (written <= (creates + updates))))),
    CONSTRAINT imports_done_when_written CHECK (((state <> 'done'::text) OR (written = (creates + updates)))),
    CONSTRAINT imports_ended_when_over CHECK (((ended_at IS NOT NULL) = (state = ANY (ARRAY['done'::text, 'stopped'::text, 'failed'::text])))),
    CONSTRAINT imports_started_by_somebody CHECK (((started_at IS NULL) = (claims IS NULL))),
    CONSTRAINT imports_started_when_run CHECK (((started_at IS NOT NULL) OR (state = ANY (ARRAY['checked'::text, 'stopped'::text])))),
    CONSTRAINT imports_started_without_errors CHECK (((started_at IS NULL) OR (invalid = 0))),
    CONSTRAINT imports_state_known CHECK ((state = ANY (ARRAY['checked'::text, 'running'::text, 'done'::text, 'stopped'::text, 'failed'::text])))
);

COMMENT ON TABLE catalog.imports IS 'Files of videos, checked against the catalogue; a job writes all of one in a single transaction, or nothing.';

COMMENT ON COLUMN catalog.imports.claims IS 'What the token said with which it was started, no token: rights are read anew when it runs.';

COMMENT ON COLUMN catalog.imports.state IS 'checked: nothing is written; running: a job writes it; the others are its ends.';

COMMENT ON COLUMN catalog.imports.written IS 'Records that the transaction under way holds; of one that is done, that are written.';

CREATE TABLE catalog.plays (
    id platform.object_id NOT NULL,
    user_id platform.object_id NOT NULL,
    place integer NOT NULL,
    video_id platform.object_id NOT NULL,
    session_id platform.object_id,
    device text NOT NULL COLLATE pg_catalog."C",
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    ended_play_id platform.object_id,
    CONSTRAINT plays_device_length CHECK ((length(device) <= 300)),
    CONSTRAINT plays_place_positive CHECK ((place >= 1)),
    CONSTRAINT plays_seen_after_start CHECK ((seen_at >= started_at))
)
WITH (fillfactor='50');

COMMENT ON TABLE catalog.plays IS 'Where each user plays a video, or did last: a row for each of their places. One that is over is taken by the next, so that rows do not grow with time.';

COMMENT ON COLUMN catalog.plays.place IS 'Counted from 1, the lowest that is free: two that begin at once cannot both take the last that the plan allows.';

COMMENT ON COLUMN catalog.plays.session_id IS 'The sign-in whose token asked for the stream; null for a token without one.';

COMMENT ON COLUMN catalog.plays.device IS 'What the player called itself (User-Agent), cut to 300 characters.';

COMMENT ON COLUMN catalog.plays.seen_at IS 'When the player was last heard of. After 90 seconds without a word the play is over.';

COMMENT ON COLUMN catalog.plays.ended_at IS 'When its user ended it from anywhere; null while it goes on, and of one that went silent.';

COMMENT ON COLUMN catalog.plays.ended_play_id IS 'The play that its user ended and whose place this one took: its player still asks why it ended.';

CREATE TABLE catalog.seasons (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    slug text NOT NULL COLLATE pg_catalog."C",
    number integer,
    description text COLLATE pg_catalog."C",
    document_created_by_id platform.object_id,
    register_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    register_update_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    CONSTRAINT seasons_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
    CONSTRAINT seasons_slug_form CHECK ((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text))
);

COMMENT ON COLUMN catalog.seasons.number IS 'Place among the seasons of a series.';

CREATE TABLE catalog.tags (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    slug text NOT NULL COLLATE pg_catalog."C",
    document_created_by_id platform.object_id,
    register_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    register_update_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    CONSTRAINT tags_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 100))),
    CONSTRAINT tags_slug_form CHECK ((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text))
);

CREATE TABLE catalog.version (
    only_row boolean DEFAULT true NOT NULL,
    number bigint NOT NULL,
    changed_in xid8,
    CONSTRAINT version_one_row CHECK (only_row)
);

COMMENT ON TABLE catalog.version IS 'One row whose number grows with every transaction that writes to the catalogue. Answers kept in memory are keyed by it.';

COMMENT ON COLUMN catalog.version.changed_in IS 'The transaction that made this number, so that one transaction counts once.';

CREATE TABLE catalog.videos (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    title text NOT NULL COLLATE pg_catalog."C",
    slug text NOT NULL COLLATE pg_catalog."C",
    video_id text NOT NULL COLLATE pg_catalog."C",
    description text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    author text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    duration integer NOT NULL,
    release_date timestamp with time zone NOT NULL,
    expiration_date timestamp with time zone,
    category_id text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    category_name text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    tags_id text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    tags_name text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    tags text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    season_id platform.object_id,
    season_name text COLLATE pg_catalog."C",
    season_number integer,
    episode_number integer,
    thumbnail_horizontal platform.object_id,
    thumbnail_horizontal_name_less platform.object_id,
    thumbnail_vertical platform.object_id,
    thumbnail_vertical_name_less platform.object_id,
    enable boolean DEFAULT true NOT NULL,
    main_highlight boolean DEFAULT false NOT NULL,
    section_highlight boolean DEFAULT false NOT NULL,
    is_show_in_slide_carousel boolean DEFAULT false NOT NULL,
    video_gridfs_id platform.object_id,
    legacy_id text COLLATE pg_catalog."C",
    document_created_by_id platform.object_id,
    register_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    register_update_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    search tsvector GENERATED ALWAYS AS (((platform.search_vector(ARRAY[title], 'A'::"char") || platform.search_vector((((ARRAY[author, season_name] || category_name) || tags_name) || tags), 'B'::"char")) || platform.search_vector(ARRAY[description], 'C'::"char"))) STORED,
    age_rating text COLLATE pg_catalog."C",
    rating_reasons text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT videos_age_rating_known CHECK ((age_rating = ANY (ARRAY['L'::text, '10'::text, '12'::text, '14'::text, '16'::text, '18'::text]))),
    CONSTRAINT videos_duration_not_negative CHECK ((duration >= 0)),
    CONSTRAINT videos_episode_number_positive CHECK ((episode_number >= 1)),
    CONSTRAINT videos_rating_reasons_few CHECK ((cardinality(rating_reasons) <= 20)),
    CONSTRAINT videos_slug_form CHECK ((slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'::text)),
    CONSTRAINT videos_title_length CHECK (((char_length(title) >= 1) AND (char_length(title) <= 200)))
);

COMMENT ON TABLE catalog.videos IS 'The catalogue. Thumbnails are ids of stored files, which outlive the video until they are deleted on their own.';

COMMENT ON COLUMN catalog.videos.video_id IS 'Address of the video at its external host; no id of ours.';

COMMENT ON COLUMN catalog.videos.duration IS 'Minutes.';

COMMENT ON COLUMN catalog.videos.category_id IS 'Ids of catalog.categories, in the order given; a trigger holds them to existing ones.';

COMMENT ON COLUMN catalog.videos.category_name IS 'Names of category_id in its order, kept by a trigger so that filters on them need no join.';

COMMENT ON COLUMN catalog.videos.tags_id IS 'Ids of catalog.tags.';

COMMENT ON COLUMN catalog.videos.tags_name IS 'Names of tags_id, kept by a trigger.';

COMMENT ON COLUMN catalog.videos.tags IS 'Free words; nothing to do with catalog.tags.';

COMMENT ON COLUMN catalog.videos.season_name IS 'Name of season_id, kept by a trigger.';

COMMENT ON COLUMN catalog.videos.enable IS 'Published.';

COMMENT ON COLUMN catalog.videos.video_gridfs_id IS 'Storage id in the system that the video was imported from.';

COMMENT ON COLUMN catalog.videos.legacy_id IS 'Id in an older system.';

COMMENT ON COLUMN catalog.videos.search IS 'What GET /search/videos finds a video by: title before author, groups and tags, these before the description.';

COMMENT ON COLUMN catalog.videos.age_rating IS 'Classificação indicativa: L (for everybody), or the years from which it is meant; null is not rated.';

COMMENT ON COLUMN catalog.videos.rating_reasons IS 'What the rating is for, such as violence; words as the classification has them.';

CREATE TABLE catalog.watch_history (
    user_id platform.object_id NOT NULL,
    video_id platform.object_id NOT NULL,
    timeline double precision NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT watch_history_timeline_finite CHECK (((timeline >= (0)::double precision) AND (timeline < 'Infinity'::double precision)))
);

COMMENT ON TABLE catalog.watch_history IS 'How far each user has watched each video.';

COMMENT ON COLUMN catalog.watch_history.user_id IS 'A customer or an admin; rows of a deleted customer are erased with their personal data.';

COMMENT ON COLUMN catalog.watch_history.timeline IS 'Seconds from the start. NaN counts as greater than Infinity and is refused with it.';

CREATE TABLE files.archive_tokens (
    token_hash text NOT NULL COLLATE pg_catalog."C",
    user_id platform.object_id NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    session_id platform.object_id,
    CONSTRAINT archive_tokens_expire_after_issue CHECK ((expires_at > issued_at)),
    CONSTRAINT archive_tokens_hash_form CHECK ((token_hash ~ '^[0-9a-f]{64}$'::text))
);

COMMENT ON TABLE files.archive_tokens IS 'Session tokens that open stored files without an Authorization header. Several of one user live side by side until they expire.';

COMMENT ON COLUMN files.archive_tokens.token_hash IS 'Hex SHA-256 of the token, which is 32 random bytes and stands nowhere.';

COMMENT ON COLUMN files.archive_tokens.user_id IS 'No foreign key: users belong to an upper module.';

COMMENT ON COLUMN files.archive_tokens.session_id IS 'The session in which it was made, which ends it too. No foreign key: sessions belong to an upper module. Null: made without one.';

CREATE TABLE files.chunks (
    content_id platform.object_id NOT NULL,
    n integer NOT NULL,
    data bytea NOT NULL,
    CONSTRAINT chunks_hold_bytes CHECK (((octet_length(data) >= 1) AND (octet_length(data) <= 262144))),
    CONSTRAINT chunks_place_not_negative CHECK ((n >= 0))
);
ALTER TABLE ONLY files.chunks ALTER COLUMN data SET STORAGE EXTERNAL;

COMMENT ON TABLE files.chunks IS 'Bytes in pieces of 262,144, the last one shorter. Stored uncompressed: most files are compressed already.';

COMMENT ON COLUMN files.chunks.n IS 'Place of the piece, from 0 without gaps.';

CREATE TABLE files.contents (
    id platform.object_id NOT NULL,
    received_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE files.contents IS 'The bytes of a file, received before anybody keeps them: a slow client never holds a transaction open. Deleting a row deletes its chunks and its file. Those that nobody keeps are swept.';

CREATE TABLE files.files (
    id platform.object_id NOT NULL,
    purpose text NOT NULL COLLATE pg_catalog."C",
    visibility text NOT NULL COLLATE pg_catalog."C",
    owner_kind text NOT NULL COLLATE pg_catalog."C",
    owner_id platform.object_id NOT NULL,
    reader_id platform.object_id,
    filename text NOT NULL,
    content_type text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    sha256 text NOT NULL COLLATE pg_catalog."C",
    created_by platform.object_id,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT files_content_type_fits CHECK (((octet_length(content_type) >= 1) AND (octet_length(content_type) <= 255))),
    CONSTRAINT files_filename_fits CHECK (((octet_length(filename) >= 1) AND (octet_length(filename) <= 255))),
    CONSTRAINT files_owner_kind_form CHECK ((owner_kind ~ '^[a-z_]{1,40}$'::text)),
    CONSTRAINT files_purpose_known CHECK ((purpose = ANY (ARRAY['avatar'::text, 'event_image'::text, 'promo_image'::text, 'attachment'::text, 'record'::text]))),
    CONSTRAINT files_reader_of_private CHECK (((reader_id IS NULL) OR (visibility = 'private'::text))),
    CONSTRAINT files_sha256_form CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT files_size_not_negative CHECK ((size >= 0)),
    CONSTRAINT files_visibility_fits_purpose CHECK (
CASE purpose
    WHEN 'attachment'::text THEN (visibility = 'board'::text)
    WHEN 'record'::text THEN (visibility = ANY (ARRAY['members'::text, 'private'::text]))
    ELSE (visibility = 'public'::text)
END)
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

CREATE VIEW finance.access_periods AS
 SELECT p.customer_id,
    p.subscription_id,
    p.at AS from_at,
    p.next_at AS until_at
   FROM finance.movements p
  WHERE (p.kind = 'entry'::text);

COMMENT ON VIEW finance.access_periods IS 'Time with access, one row a subscription and stretch; the two sides of a renewal are two rows. Source: finance.movements.';

COMMENT ON COLUMN finance.access_periods.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.access_periods.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance.access_periods.from_at IS 'Beginning, UTC.';

COMMENT ON COLUMN finance.access_periods.until_at IS 'End, UTC; null while it lasts.';

CREATE TABLE payments.refunds (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    gateway text,
    payment_ref text NOT NULL,
    gateway_refund_id text,
    purpose text NOT NULL,
    local_id platform.object_id NOT NULL,
    customer_id platform.object_id NOT NULL,
    amount_cents bigint NOT NULL,
    status text NOT NULL,
    source text NOT NULL,
    event_id text NOT NULL,
    event_type text NOT NULL,
    reason text,
    admin text,
    admin_id platform.object_id,
    failure text,
    requested_at timestamp with time zone NOT NULL,
    refunded_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    kind text DEFAULT 'refund'::text NOT NULL,
    CONSTRAINT refunds_amount_bounded CHECK ((amount_cents <= '100000000000'::bigint)),
    CONSTRAINT refunds_amount_positive CHECK (((amount_cents > 0) OR ((kind = 'by_hand'::text) AND (amount_cents = 0)))),
    CONSTRAINT refunds_by_hand_has_no_gateway CHECK (((kind = 'by_hand'::text) = (gateway IS NULL))),
    CONSTRAINT refunds_by_hand_is_done CHECK (((kind <> 'by_hand'::text) OR ((status = 'done'::text) AND (source = 'admin'::text) AND (purpose = 'order'::text) AND (payment_ref = (local_id)::text)))),
    CONSTRAINT refunds_done_has_time CHECK (((status <> 'done'::text) OR (refunded_at IS NOT NULL))),
    CONSTRAINT refunds_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT refunds_kind_known CHECK ((kind = ANY (ARRAY['refund'::text, 'med'::text, 'by_hand'::text]))),
    CONSTRAINT refunds_purpose_known CHECK (((purpose = ANY (ARRAY['subscription'::text, 'order'::text])) OR ((purpose = 'customer'::text) AND ((local_id)::text = (customer_id)::text)))),
    CONSTRAINT refunds_source_known CHECK ((source = ANY (ARRAY['admin'::text, 'platform'::text, 'gateway'::text]))),
    CONSTRAINT refunds_status_known CHECK ((status = ANY (ARRAY['requested'::text, 'pending'::text, 'done'::text, 'failed'::text])))
);

COMMENT ON TABLE payments.refunds IS 'The ledger of money given back: the done rows of a payment add up to what its gateway says.';

COMMENT ON COLUMN payments.refunds.gateway IS 'Null of what was handed back at the box office.';

COMMENT ON COLUMN payments.refunds.payment_ref IS 'Gateway A: pay_…. Gateway B: the payment intent pi_…, which its refunds and disputes name, else the charge. Handed back at the box office: the id of the order.';

COMMENT ON COLUMN payments.refunds.gateway_refund_id IS 'Gateway B re_…, once known; gateway A gives refunds no id.';

COMMENT ON COLUMN payments.refunds.status IS 'requested: committed before the gateway is asked; pending: it is at it; done: the money counts as given back.';

COMMENT ON COLUMN payments.refunds.source IS 'admin: asked for here by an admin; platform: asked for here by itself, or because a customer withdrew; gateway: learned from the gateway.';

COMMENT ON COLUMN payments.refunds.event_id IS 'REFUND-<local id>-<unix milliseconds> of a refund asked for here, else the gateway''s event id.';

COMMENT ON COLUMN payments.refunds.kind IS 'refund; med: of a PIX, and nobody here asked for it: the payer''s bank took it back. A whole PIX of a subscription that was taken back stands in payments.disputes instead. by_hand: staff handed it back at the box office; 0 cents of a courtesy.';

CREATE TABLE tickets.orders (
    id platform.object_id NOT NULL,
    customer_id platform.object_id NOT NULL,
    event_id platform.object_id NOT NULL,
    quantity integer NOT NULL,
    unit_price_cents bigint NOT NULL,
    total_cents bigint NOT NULL,
    gateway text COLLATE pg_catalog."C",
    payment_method text COLLATE pg_catalog."C",
    gateway_payment_id text COLLATE pg_catalog."C",
    gateway_customer_id text COLLATE pg_catalog."C",
    payment_status text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    without_login boolean DEFAULT false NOT NULL,
    pix_payload text COLLATE pg_catalog."C",
    pix_image text COLLATE pg_catalog."C",
    hold_until timestamp with time zone,
    paid_at timestamp with time zone,
    intent_open boolean NOT NULL,
    recovery_tries integer DEFAULT 0 NOT NULL,
    recovery_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    tax_id_mac bytea,
    email_mac bytea,
    address_mac bytea,
    disputed_at timestamp with time zone,
    sold_by_id platform.object_id,
    sold_by text COLLATE pg_catalog."C",
    note text COLLATE pg_catalog."C",
    buyer_phone text COLLATE pg_catalog."C",
    moves integer DEFAULT 0 NOT NULL,
    CONSTRAINT orders_box_office_has_no_gateway CHECK (((sold_by_id IS NULL) OR ((gateway IS NULL) AND (gateway_payment_id IS NULL) AND (NOT intent_open) AND (state = ANY (ARRAY['paid'::text, 'refunded'::text])) AND (payment_method IS NOT NULL) AND (payment_method = ANY (ARRAY['cash'::text, 'card_machine'::text, 'courtesy'::text]))))),
    CONSTRAINT orders_box_office_has_seller CHECK (((sold_by_id IS NULL) = (sold_by IS NULL))),
    CONSTRAINT orders_courtesy_has_reason CHECK (((payment_method <> 'courtesy'::text) OR (char_length(note) >= 5))),
    CONSTRAINT orders_courtesy_is_free CHECK (((sold_by_id IS NULL) OR ((payment_method = 'courtesy'::text) = (total_cents = 0)))),
    CONSTRAINT orders_free_has_no_gateway CHECK (((sold_by_id IS NOT NULL) OR (((gateway IS NULL) = (total_cents = 0)) AND ((payment_method IS NULL) = (gateway IS NULL)) AND ((payment_method IS NULL) OR (payment_method = ANY (ARRAY['credit_card'::text, 'pix'::text])))))),
    CONSTRAINT orders_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT orders_note_length CHECK ((char_length(note) <= 500)),
    CONSTRAINT orders_payment_method_known CHECK ((payment_method = ANY (ARRAY['credit_card'::text, 'pix'::text, 'cash'::text, 'card_machine'::text, 'courtesy'::text]))),
    CONSTRAINT orders_quantity_positive CHECK ((quantity >= 1)),
    CONSTRAINT orders_reserved_is_held CHECK (((state <> 'reserved'::text) OR (hold_until IS NOT NULL))),
    CONSTRAINT orders_state_known CHECK ((state = ANY (ARRAY['reserved'::text, 'paid'::text, 'released'::text, 'refund_due'::text, 'refunded'::text, 'lost'::text]))),
    CONSTRAINT orders_total_bounded CHECK ((total_cents <= '100000000000'::bigint)),
    CONSTRAINT orders_total_is_product CHECK (((total_cents = (unit_price_cents * quantity)) AND (unit_price_cents >= 0))),
    CONSTRAINT orders_unit_price_bounded CHECK ((unit_price_cents <= 100000000))
);

COMMENT ON TABLE tickets.orders IS 'One row a purchase, written with its places before the gateway is called.';

COMMENT ON COLUMN tickets.orders.customer_id IS 'Kept without a foreign key: the record of what was sold outlives the customer.';

COMMENT ON COLUMN tickets.orders.unit_price_cents IS 'Price of one ticket as it was sold.';

COMMENT ON COLUMN tickets.orders.payment_status IS 'The gateway''s own word, such as CONFIRMED, RECEIVED, PENDING, succeeded, requires_action, canceled. CONFIRMED for free orders, CHARGEBACK_LOST when a dispute took the money.';

COMMENT ON COLUMN tickets.orders.state IS 'What holds here: reserved (places held, money open), paid, released (places given back unpaid), refund_due (money came and no place was left), refunded, lost (a dispute took its money). The contract''s status is always pending (docs/contract/states.md, Orders).';

COMMENT ON COLUMN tickets.orders.without_login IS 'Bought as a guest: hidden from the account until its address is verified.';

COMMENT ON COLUMN tickets.orders.hold_until IS 'When unpaid places are given back.';

COMMENT ON COLUMN tickets.orders.intent_open IS 'The gateway was or is being asked and its answer is not written here yet.';

COMMENT ON COLUMN tickets.orders.recovery_tries IS 'Of the release before; goes with the next one.';

COMMENT ON COLUMN tickets.orders.recovery_at IS 'Of the release before; goes with the next one, as its index does.';

COMMENT ON COLUMN tickets.orders.tax_id_mac IS 'Whose tax id holds the places: an HMAC of it and the event under a server key. While the order is reserved or paid and its event is not over.';

COMMENT ON COLUMN tickets.orders.email_mac IS 'The same of the e-mail.';

COMMENT ON COLUMN tickets.orders.address_mac IS 'The same of the client''s network, the IPv4 address or the /64 of an IPv6 address. While the order is reserved.';

COMMENT ON COLUMN tickets.orders.disputed_at IS 'Since when, by our clock, an open dispute of its own payment blocks its tickets. Null while none is open.';

COMMENT ON COLUMN tickets.orders.sold_by_id IS 'Of an order of the box office, the admin who sold it; null of one of the store.';

COMMENT ON COLUMN tickets.orders.sold_by IS 'Their username of that time.';

COMMENT ON COLUMN tickets.orders.note IS 'What the box office wrote at the sale; why a courtesy was given.';

COMMENT ON COLUMN tickets.orders.buyer_phone IS 'Of an order of the box office, where the buyer gave one. Name and e-mail stand in tickets.customers, under an id that no account has.';

COMMENT ON COLUMN tickets.orders.moves IS 'How many of its moves have written their history themselves. A move that leaves it as it is has it written by the triggers orders_begin_unnoted and orders_move_unnoted.';

CREATE TABLE tickets.tickets (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    event_id platform.object_id NOT NULL,
    customer_id platform.object_id NOT NULL,
    order_id platform.object_id,
    title text NOT NULL COLLATE pg_catalog."C",
    description text COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    holds_place boolean DEFAULT true NOT NULL,
    reason text NOT NULL COLLATE pg_catalog."C",
    actor_id platform.object_id,
    without_login boolean DEFAULT false NOT NULL,
    promo_code_id platform.object_id,
    promo_code text COLLATE pg_catalog."C",
    consumed_at timestamp with time zone,
    consume_nonce text COLLATE pg_catalog."C",
    image_id platform.object_id,
    document_created_by_id platform.object_id,
    register_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    register_update_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    search tsvector GENERATED ALWAYS AS ((platform.search_vector(ARRAY[title, promo_code], 'A'::"char") ||
CASE
    WHEN (description IS NULL) THEN ''::tsvector
    ELSE platform.search_vector(ARRAY[description], 'C'::"char")
END)) STORED,
    unproved boolean DEFAULT false NOT NULL,
    refund_id platform.object_id,
    refund_asked_at timestamp with time zone,
    refunded_at timestamp with time zone,
    CONSTRAINT tickets_consumed_has_instant CHECK (((status = 'consumed'::text) = (consumed_at IS NOT NULL))),
    CONSTRAINT tickets_only_expired_give_back CHECK ((holds_place OR (status = 'expired'::text))),
    CONSTRAINT tickets_refund_has_instant CHECK (((refund_id IS NULL) = (refund_asked_at IS NULL))),
    CONSTRAINT tickets_refunded_by_refund CHECK (((refunded_at IS NULL) OR (refund_id IS NOT NULL))),
    CONSTRAINT tickets_status_known CHECK ((status = ANY (ARRAY['pending'::text, 'available'::text, 'consumed'::text, 'expired'::text]))),
    CONSTRAINT tickets_title_length CHECK (((char_length(title) >= 1) AND (char_length(title) <= 200)))
);

COMMENT ON TABLE tickets.tickets IS 'Tickets, whoever issued them: an order, a promo code (promo_code_id), or an admin.';

COMMENT ON COLUMN tickets.tickets.holds_place IS 'Counts in the event''s tickets_issued. False once it expired unpaid, or its money went back or was lost to a dispute while it was not used.';

COMMENT ON COLUMN tickets.tickets.reason IS 'Why it has its status; goes into tickets.transitions.';

COMMENT ON COLUMN tickets.tickets.actor_id IS 'Who moved it there; null for gateways and jobs.';

COMMENT ON COLUMN tickets.tickets.without_login IS 'As in its order.';

COMMENT ON COLUMN tickets.tickets.promo_code_id IS 'No foreign key: promo codes belong to an upper module.';

COMMENT ON COLUMN tickets.tickets.consume_nonce IS 'Told by the device that consumed it, so that it may repeat itself.';

COMMENT ON COLUMN tickets.tickets.search IS 'What GET /search/tickets finds a ticket by: title and promo code before the description. People are found by /search/customers, and their tickets by customer_id.';

COMMENT ON COLUMN tickets.tickets.unproved IS 'Taken in an order by somebody signed in whose e-mail nobody had proved then: while it is unpaid it counts as a guest''s.';

COMMENT ON COLUMN tickets.tickets.refund_id IS 'The refund that gives its share of the order''s money back, from the request on; null again when the refund failed. No foreign key: the ledger is of the module payments.';

COMMENT ON COLUMN tickets.tickets.refund_asked_at IS 'When refund_id was set: the ticket is good no more.';

COMMENT ON COLUMN tickets.tickets.refunded_at IS 'When refund_id was known to be done: its share is back. A consumed ticket keeps status and place.';

CREATE VIEW finance.box_office AS
 SELECT (o.id)::text AS entry_id,
    'sale'::text AS kind,
    o.event_id,
    o.id AS order_id,
    o.payment_method AS method,
    o.sold_by_id AS staff_id,
    o.paid_at AS at,
    ((o.paid_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS day,
    o.quantity AS tickets,
    o.total_cents AS amount_cents
   FROM tickets.orders o
  WHERE (o.sold_by_id IS NOT NULL)
UNION ALL
 SELECT (r.id)::text AS entry_id,
    'refund'::text AS kind,
    o.event_id,
    o.id AS order_id,
    o.payment_method AS method,
    r.admin_id AS staff_id,
    r.refunded_at AS at,
    ((r.refunded_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS day,
    (( SELECT count(*) AS count
           FROM tickets.tickets t
          WHERE (((t.order_id)::text = (o.id)::text) AND ((t.refund_id)::text = (r.id)::text))))::integer AS tickets,
    r.amount_cents
   FROM (tickets.orders o
     JOIN payments.refunds r ON (((r.purpose = 'order'::text) AND ((r.local_id)::text = (o.id)::text) AND (r.kind = 'by_hand'::text))))
  WHERE (o.sold_by_id IS NOT NULL);

COMMENT ON VIEW finance.box_office IS 'What the box office sold and handed back, one row each; the till of a day is sales minus refunds of the method. Source: tickets.orders, tickets.tickets, payments.refunds.';

COMMENT ON COLUMN finance.box_office.entry_id IS 'Key: of a sale the order, of a refund the refund.';

COMMENT ON COLUMN finance.box_office.kind IS 'sale or refund.';

COMMENT ON COLUMN finance.box_office.event_id IS 'The event (finance.events).';

COMMENT ON COLUMN finance.box_office.order_id IS 'The order (finance.orders).';

COMMENT ON COLUMN finance.box_office.method IS 'cash, card_machine or courtesy: how the order was paid, and is handed back.';

COMMENT ON COLUMN finance.box_office.staff_id IS 'Who sold it, or handed it back.';

COMMENT ON COLUMN finance.box_office.at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.box_office.day IS 'Day of it in the report time zone.';

COMMENT ON COLUMN finance.box_office.tickets IS 'Tickets sold, or given back.';

COMMENT ON COLUMN finance.box_office.amount_cents IS 'Taken, or handed back, cents; 0 of courtesies.';

CREATE VIEW finance.box_office_personal AS
 SELECT (o.id)::text AS entry_id,
    o.sold_by AS staff,
    o.note
   FROM tickets.orders o
  WHERE (o.sold_by_id IS NOT NULL)
UNION ALL
 SELECT (r.id)::text AS entry_id,
    r.admin AS staff,
    r.reason AS note
   FROM payments.refunds r
  WHERE (r.kind = 'by_hand'::text);

COMMENT ON VIEW finance.box_office_personal IS 'PERSONAL DATA: who sold and handed back at the box office, and what they wrote. Source: tickets.orders, payments.refunds.';

COMMENT ON COLUMN finance.box_office_personal.entry_id IS 'Key, as in finance.box_office.';

COMMENT ON COLUMN finance.box_office_personal.staff IS 'Username of that time.';

COMMENT ON COLUMN finance.box_office_personal.note IS 'Free text: why a courtesy was given, why a sale was taken back.';

CREATE TABLE payments.disputes (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    gateway text NOT NULL,
    gateway_dispute_id text NOT NULL,
    payment_ref text NOT NULL,
    purpose text NOT NULL,
    local_id platform.object_id NOT NULL,
    customer_id platform.object_id NOT NULL,
    amount_cents bigint NOT NULL,
    reason text,
    state text NOT NULL,
    native_status text NOT NULL,
    event_id text,
    opened_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    reported_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    kind text DEFAULT 'chargeback'::text NOT NULL,
    evidence_due_at timestamp with time zone,
    evidence_sent boolean DEFAULT false NOT NULL,
    CONSTRAINT disputes_amount_bounded CHECK ((amount_cents <= '100000000000'::bigint)),
    CONSTRAINT disputes_amount_not_negative CHECK ((amount_cents >= 0)),
    CONSTRAINT disputes_closed_has_time CHECK (((state = ANY (ARRAY['won'::text, 'lost'::text, 'dismissed'::text, 'withdrawn'::text])) = (closed_at IS NOT NULL))),
    CONSTRAINT disputes_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT disputes_kind_known CHECK ((kind = ANY (ARRAY['chargeback'::text, 'med'::text]))),
    CONSTRAINT disputes_purpose_known CHECK (((purpose = ANY (ARRAY['subscription'::text, 'order'::text])) OR ((purpose = 'customer'::text) AND ((local_id)::text = (customer_id)::text)))),
    CONSTRAINT disputes_state_known CHECK ((state = ANY (ARRAY['inquiry'::text, 'open'::text, 'won'::text, 'lost'::text, 'dismissed'::text, 'withdrawn'::text]))),
    CONSTRAINT disputes_withdrawn_by_hand CHECK (((state <> 'withdrawn'::text) OR (native_status = 'reported_by_admin'::text)))
);

COMMENT ON TABLE payments.disputes IS 'One row a dispute (chargeback) of a card payment, also those that an admin enters by hand.';

COMMENT ON COLUMN payments.disputes.gateway_dispute_id IS 'Gateway B du_…; gateway A gives none and the payment''s id stands for it; MANUAL-<id> of one entered by hand.';

COMMENT ON COLUMN payments.disputes.payment_ref IS 'As payments.refunds.payment_ref.';

COMMENT ON COLUMN payments.disputes.state IS 'inquiry: asked, no money taken; open: money taken; won: given back; lost; dismissed: an inquiry that came to nothing; withdrawn: an admin entered it by mistake, and it counts nowhere.';

COMMENT ON COLUMN payments.disputes.reported_at IS 'The gateway''s instant of the report that the row shows; an older one changes nothing.';

COMMENT ON COLUMN payments.disputes.kind IS 'chargeback: a card holder''s; med: the payer''s bank took a whole PIX of a subscription back (Mecanismo Especial de Devolução), opened and lost in one step.';

COMMENT ON COLUMN payments.disputes.evidence_due_at IS 'Until when the gateway takes an answer to it; null where the gateway tells none, or takes none.';

COMMENT ON COLUMN payments.disputes.evidence_sent IS 'The gateway says that it was answered.';

CREATE VIEW finance.disputes AS
 SELECT d.id AS dispute_id,
    d.gateway,
    d.gateway_dispute_id,
    d.payment_ref,
    d.purpose,
        CASE
            WHEN (d.purpose = 'subscription'::text) THEN (d.local_id)::text
            ELSE NULL::text
        END AS subscription_id,
        CASE
            WHEN (d.purpose = 'order'::text) THEN (d.local_id)::text
            ELSE NULL::text
        END AS order_id,
    d.customer_id,
    d.amount_cents,
    d.state,
        CASE
            WHEN (d.native_status <> 'reported_by_admin'::text) THEN d.reason
            ELSE NULL::text
        END AS reason,
    d.opened_at,
    ((d.opened_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS opened_on,
    d.closed_at,
    ((d.closed_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS closed_on,
    d.kind
   FROM payments.disputes d;

COMMENT ON VIEW finance.disputes IS 'Disputes (chargebacks), one row each. Source: payments.disputes.';

COMMENT ON COLUMN finance.disputes.dispute_id IS 'Key.';

COMMENT ON COLUMN finance.disputes.gateway IS 'gwa or gwb.';

COMMENT ON COLUMN finance.disputes.gateway_dispute_id IS 'The gateways id; CHARGEBACK-… of one that an admin entered.';

COMMENT ON COLUMN finance.disputes.payment_ref IS 'The gateways id of the payment concerned: gateway A pay_…, gateway B the payment intent pi_…, else the charge.';

COMMENT ON COLUMN finance.disputes.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';

COMMENT ON COLUMN finance.disputes.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance.disputes.order_id IS 'The ticket order (finance.orders); null when it is not about one.';

COMMENT ON COLUMN finance.disputes.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.disputes.amount_cents IS 'Disputed amount, cents.';

COMMENT ON COLUMN finance.disputes.state IS 'inquiry (asked, no money taken), open (money taken), won (given back), lost, dismissed (an inquiry that came to nothing), withdrawn (entered by an admin by mistake: it counts nowhere).';

COMMENT ON COLUMN finance.disputes.reason IS 'The gateways word; null for disputes entered by hand, whose text is free.';

COMMENT ON COLUMN finance.disputes.opened_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.disputes.opened_on IS 'Day of opened_at in the report time zone.';

COMMENT ON COLUMN finance.disputes.closed_at IS 'When it was decided; null while it is not.';

COMMENT ON COLUMN finance.disputes.closed_on IS 'Day of closed_at in the report time zone.';

COMMENT ON COLUMN finance.disputes.kind IS 'chargeback (of a card) or med (the payers bank took a PIX back).';

CREATE VIEW finance.chargebacks AS
 SELECT c.dispute_id,
    c.gateway,
    c.purpose,
    c.subscription_id,
    c.order_id,
    c.customer_id,
    c.kind,
    c.amount_cents,
    c.at,
    ((c.at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS day
   FROM ( SELECT d.dispute_id,
            d.gateway,
            d.purpose,
            d.subscription_id,
            d.order_id,
            d.customer_id,
            'taken'::text AS kind,
            d.amount_cents,
            d.opened_at AS at
           FROM finance.disputes d
          WHERE (d.state = ANY (ARRAY['open'::text, 'won'::text, 'lost'::text]))
        UNION ALL
         SELECT d.dispute_id,
            d.gateway,
            d.purpose,
            d.subscription_id,
            d.order_id,
            d.customer_id,
            'given_back'::text AS text,
            (- d.amount_cents),
            d.closed_at
           FROM finance.disputes d
          WHERE (d.state = 'won'::text)) c;

COMMENT ON VIEW finance.chargebacks IS 'Money moved by disputes, one row a movement: taken when a dispute opens, given back when it is won. Sums of amount_cents are chargebacks. Source: finance.disputes in the states open, won and lost.';

COMMENT ON COLUMN finance.chargebacks.dispute_id IS 'The dispute (finance.disputes).';

COMMENT ON COLUMN finance.chargebacks.gateway IS 'gwa or gwb.';

COMMENT ON COLUMN finance.chargebacks.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';

COMMENT ON COLUMN finance.chargebacks.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance.chargebacks.order_id IS 'The ticket order (finance.orders); null when it is not about one.';

COMMENT ON COLUMN finance.chargebacks.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.chargebacks.kind IS 'taken or given_back.';

COMMENT ON COLUMN finance.chargebacks.amount_cents IS 'Cents; negative when given back.';

COMMENT ON COLUMN finance.chargebacks.at IS 'opened_at when taken, closed_at when given back, UTC.';

COMMENT ON COLUMN finance.chargebacks.day IS 'Day of at in the report time zone.';

CREATE TABLE finance.checks (
    id bigint NOT NULL,
    checked_at timestamp with time zone NOT NULL,
    differences bigint NOT NULL,
    examples jsonb NOT NULL,
    took_ms bigint NOT NULL
);

COMMENT ON TABLE finance.checks IS 'Nightly comparisons of the rollups with the scan. Every row should say 0 differences.';

COMMENT ON COLUMN finance.checks.examples IS 'Up to 20 of the differences, as rows of finance.rollup_differences.';

ALTER TABLE finance.checks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME finance.checks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW finance.clock AS
 SELECT s.report_tz,
    finance.now() AS now,
    ((finance.now() AT TIME ZONE s.report_tz))::date AS today
   FROM finance.settings s;

COMMENT ON VIEW finance.clock IS 'One row: the time zone of reports, and what time it is in them.';

COMMENT ON COLUMN finance.clock.report_tz IS 'Time zone of days and months (REPORT_TZ).';

COMMENT ON COLUMN finance.clock.now IS 'The instant as of which expiry and age are judged.';

COMMENT ON COLUMN finance.clock.today IS 'The calendar day of that instant in the report time zone.';

CREATE TABLE finance.daily_deltas (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    left_at timestamp with time zone,
    reason text COLLATE pg_catalog."C",
    gross_gwa_cents bigint DEFAULT 0 NOT NULL,
    gross_gwb_cents bigint DEFAULT 0 NOT NULL,
    payments bigint DEFAULT 0 NOT NULL,
    failed_attempts bigint DEFAULT 0 NOT NULL,
    refunds_cents bigint DEFAULT 0 NOT NULL,
    chargebacks_cents bigint DEFAULT 0 NOT NULL,
    entries bigint DEFAULT 0 NOT NULL,
    exits bigint DEFAULT 0 NOT NULL,
    first_at timestamp with time zone,
    firsts bigint DEFAULT 0 NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='10000');

COMMENT ON TABLE finance.daily_deltas IS 'What transactions changed in the figures by day: inserted by triggers in the same transaction, never updated, taken out by finance.fold. Instants, not days, so that a change of the report time zone leaves them right.';

COMMENT ON COLUMN finance.daily_deltas.at IS 'When it counts.';

COMMENT ON COLUMN finance.daily_deltas.left_at IS 'Of the entry of a subscription that comes back: when its access had stopped.';

COMMENT ON COLUMN finance.daily_deltas.reason IS 'Of exits, and of such entries that of the exit: one of the five reasons.';

COMMENT ON COLUMN finance.daily_deltas.exits IS 'Negative: an exit that a renewal undid.';

COMMENT ON COLUMN finance.daily_deltas.first_at IS 'Of entries and exits: when the customer first had access. Null in what was written before there were cohorts here.';

COMMENT ON COLUMN finance.daily_deltas.firsts IS 'Of the entries, first ones of a customer.';

CREATE TABLE finance.daily_rollup (
    day date NOT NULL,
    gross_gwa_cents bigint DEFAULT 0 NOT NULL,
    gross_gwb_cents bigint DEFAULT 0 NOT NULL,
    payments bigint DEFAULT 0 NOT NULL,
    failed_attempts bigint DEFAULT 0 NOT NULL,
    refunds_cents bigint DEFAULT 0 NOT NULL,
    chargebacks_cents bigint DEFAULT 0 NOT NULL,
    entries bigint DEFAULT 0 NOT NULL,
    exits_payment_failure bigint DEFAULT 0 NOT NULL,
    exits_customer_cancelled bigint DEFAULT 0 NOT NULL,
    exits_admin_cancelled bigint DEFAULT 0 NOT NULL,
    exits_chargeback bigint DEFAULT 0 NOT NULL,
    exits_expired bigint DEFAULT 0 NOT NULL,
    returned_in_day bigint DEFAULT 0 NOT NULL,
    returned_in_month_payment_failure bigint DEFAULT 0 NOT NULL,
    returned_in_month_customer_cancelled bigint DEFAULT 0 NOT NULL,
    returned_in_month_admin_cancelled bigint DEFAULT 0 NOT NULL,
    returned_in_month_chargeback bigint DEFAULT 0 NOT NULL,
    returned_in_month_expired bigint DEFAULT 0 NOT NULL
);

COMMENT ON TABLE finance.daily_rollup IS 'Folded deltas, one row a day in the report time zone. Read finance.daily, which adds what is not folded yet.';

CREATE VIEW finance_internal.daily_unfolded AS
 SELECT ((d.at AT TIME ZONE z.report_tz))::date AS day,
    (COALESCE(sum(d.gross_gwa_cents), (0)::numeric))::bigint AS gross_gwa_cents,
    (COALESCE(sum(d.gross_gwb_cents), (0)::numeric))::bigint AS gross_gwb_cents,
    (COALESCE(sum(d.payments), (0)::numeric))::bigint AS payments,
    (COALESCE(sum(d.failed_attempts), (0)::numeric))::bigint AS failed_attempts,
    (COALESCE(sum(d.refunds_cents), (0)::numeric))::bigint AS refunds_cents,
    (COALESCE(sum(d.chargebacks_cents), (0)::numeric))::bigint AS chargebacks_cents,
    (COALESCE(sum(d.entries), (0)::numeric))::bigint AS entries,
    (COALESCE(sum(d.exits) FILTER (WHERE (d.reason = 'payment_failure'::text)), (0)::numeric))::bigint AS exits_payment_failure,
    (COALESCE(sum(d.exits) FILTER (WHERE (d.reason = 'customer_cancelled'::text)), (0)::numeric))::bigint AS exits_customer_cancelled,
    (COALESCE(sum(d.exits) FILTER (WHERE (d.reason = 'admin_cancelled'::text)), (0)::numeric))::bigint AS exits_admin_cancelled,
    (COALESCE(sum(d.exits) FILTER (WHERE (d.reason = 'chargeback'::text)), (0)::numeric))::bigint AS exits_chargeback,
    (COALESCE(sum(d.exits) FILTER (WHERE (d.reason = 'expired'::text)), (0)::numeric))::bigint AS exits_expired,
    (COALESCE(sum(d.entries) FILTER (WHERE (((d.left_at AT TIME ZONE z.report_tz))::date = ((d.at AT TIME ZONE z.report_tz))::date)), (0)::numeric))::bigint AS returned_in_day,
    (COALESCE(sum(d.entries) FILTER (WHERE ((d.reason = 'payment_failure'::text) AND (date_trunc('month'::text, (d.left_at AT TIME ZONE z.report_tz)) = date_trunc('month'::text, (d.at AT TIME ZONE z.report_tz))))), (0)::numeric))::bigint AS returned_in_month_payment_failure,
    (COALESCE(sum(d.entries) FILTER (WHERE ((d.reason = 'customer_cancelled'::text) AND (date_trunc('month'::text, (d.left_at AT TIME ZONE z.report_tz)) = date_trunc('month'::text, (d.at AT TIME ZONE z.report_tz))))), (0)::numeric))::bigint AS returned_in_month_customer_cancelled,
    (COALESCE(sum(d.entries) FILTER (WHERE ((d.reason = 'admin_cancelled'::text) AND (date_trunc('month'::text, (d.left_at AT TIME ZONE z.report_tz)) = date_trunc('month'::text, (d.at AT TIME ZONE z.report_tz))))), (0)::numeric))::bigint AS returned_in_month_admin_cancelled,
    (COALESCE(sum(d.entries) FILTER (WHERE ((d.reason = 'chargeback'::text) AND (date_trunc('month'::text, (d.left_at AT TIME ZONE z.report_tz)) = date_trunc('month'::text, (d.at AT TIME ZONE z.report_tz))))), (0)::numeric))::bigint AS returned_in_month_chargeback,
    (COALESCE(sum(d.entries) FILTER (WHERE ((d.reason = 'expired'::text) AND (date_trunc('month'::text, (d.left_at AT TIME ZONE z.report_tz)) = date_trunc('month'::text, (d.at AT TIME ZONE z.report_tz))))), (0)::numeric))::bigint AS returned_in_month_expired
   FROM (finance.daily_deltas d
     CROSS JOIN finance.settings z)
  GROUP BY (((d.at AT TIME ZONE z.report_tz))::date);

COMMENT ON VIEW finance_internal.daily_unfolded IS 'The part of finance.daily that is not folded yet.';

COMMENT ON COLUMN finance_internal.daily_unfolded.day IS 'Day in the report time zone.';

COMMENT ON COLUMN finance_internal.daily_unfolded.gross_gwa_cents IS 'Subscription payments settled on the day at gateway A, cents.';

COMMENT ON COLUMN finance_internal.daily_unfolded.gross_gwb_cents IS 'The same at gateway B.';

COMMENT ON COLUMN finance_internal.daily_unfolded.payments IS 'Their number: settled attempts.';

COMMENT ON COLUMN finance_internal.daily_unfolded.failed_attempts IS 'Failed attempts to take a subscription payment.';

COMMENT ON COLUMN finance_internal.daily_unfolded.refunds_cents IS 'Subscription payments given back, cents, by refunded_on.';

COMMENT ON COLUMN finance_internal.daily_unfolded.chargebacks_cents IS 'Taken by disputes less what won ones gave back, cents.';

COMMENT ON COLUMN finance_internal.daily_unfolded.entries IS 'Customers whose access began, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_unfolded.exits_payment_failure IS 'Customers whose access stopped by payment_failure, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_unfolded.exits_customer_cancelled IS 'Customers whose access stopped by customer_cancelled, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_unfolded.exits_admin_cancelled IS 'Customers whose access stopped by admin_cancelled, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_unfolded.exits_chargeback IS 'Customers whose access stopped by chargeback, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_unfolded.exits_expired IS 'Customers whose access stopped by expired, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_unfolded.returned_in_day IS 'Of the entries, those of subscriptions that had left on the same day.';

COMMENT ON COLUMN finance_internal.daily_unfolded.returned_in_month_payment_failure IS 'Of the entries, those of subscriptions that had left by payment_failure in the same month.';

COMMENT ON COLUMN finance_internal.daily_unfolded.returned_in_month_customer_cancelled IS 'Of the entries, those of subscriptions that had left by customer_cancelled in the same month.';

COMMENT ON COLUMN finance_internal.daily_unfolded.returned_in_month_admin_cancelled IS 'Of the entries, those of subscriptions that had left by admin_cancelled in the same month.';

COMMENT ON COLUMN finance_internal.daily_unfolded.returned_in_month_chargeback IS 'Of the entries, those of subscriptions that had left by chargeback in the same month.';

COMMENT ON COLUMN finance_internal.daily_unfolded.returned_in_month_expired IS 'Of the entries, those of subscriptions that had left by expired in the same month.';

CREATE VIEW finance_internal.daily_parts AS
 SELECT daily_rollup.day,
    daily_rollup.gross_gwa_cents,
    daily_rollup.gross_gwb_cents,
    daily_rollup.payments,
    daily_rollup.failed_attempts,
    daily_rollup.refunds_cents,
    daily_rollup.chargebacks_cents,
    daily_rollup.entries,
    daily_rollup.exits_payment_failure,
    daily_rollup.exits_customer_cancelled,
    daily_rollup.exits_admin_cancelled,
    daily_rollup.exits_chargeback,
    daily_rollup.exits_expired,
    daily_rollup.returned_in_day,
    daily_rollup.returned_in_month_payment_failure,
    daily_rollup.returned_in_month_customer_cancelled,
    daily_rollup.returned_in_month_admin_cancelled,
    daily_rollup.returned_in_month_chargeback,
    daily_rollup.returned_in_month_expired
   FROM finance.daily_rollup
UNION ALL
 SELECT daily_unfolded.day,
    daily_unfolded.gross_gwa_cents,
    daily_unfolded.gross_gwb_cents,
    daily_unfolded.payments,
    daily_unfolded.failed_attempts,
    daily_unfolded.refunds_cents,
    daily_unfolded.chargebacks_cents,
    daily_unfolded.entries,
    daily_unfolded.exits_payment_failure,
    daily_unfolded.exits_customer_cancelled,
    daily_unfolded.exits_admin_cancelled,
    daily_unfolded.exits_chargeback,
    daily_unfolded.exits_expired,
    daily_unfolded.returned_in_day,
    daily_unfolded.returned_in_month_payment_failure,
    daily_unfolded.returned_in_month_customer_cancelled,
    daily_unfolded.returned_in_month_admin_cancelled,
    daily_unfolded.returned_in_month_chargeback,
    daily_unfolded.returned_in_month_expired
   FROM finance_internal.daily_unfolded
UNION ALL
 SELECT ((GREATEST(s.expires_at, e.at) AT TIME ZONE z.report_tz))::date AS day,
    0 AS gross_gwa_cents,
    0 AS gross_gwb_cents,
    0 AS payments,
    0 AS failed_attempts,
    0 AS refunds_cents,
    0 AS chargebacks_cents,
    0 AS entries,
    0 AS exits_payment_failure,
        CASE
            WHEN s.cancel_at_period_end THEN 1
            ELSE 0
        END AS exits_customer_cancelled,
    0 AS exits_admin_cancelled,
    0 AS exits_chargeback,
        CASE
            WHEN s.cancel_at_period_end THEN 0
            ELSE 1
        END AS exits_expired,
    0 AS returned_in_day,
    0 AS returned_in_month_payment_failure,
    0 AS returned_in_month_customer_cancelled,
    0 AS returned_in_month_admin_cancelled,
    0 AS returned_in_month_chargeback,
    0 AS returned_in_month_expired
   FROM ((finance.settings z
     CROSS JOIN subscriptions.subscriptions s)
     JOIN LATERAL ( SELECT t.at
           FROM subscriptions.transitions t
          WHERE (((t.subscription_id)::text = (s.id)::text) AND (t.to_status = 'active'::text))
          ORDER BY t.id DESC
         LIMIT 1) e ON (true))
  WHERE ((s.status = 'active'::text) AND (s.expires_at IS NOT NULL) AND (s.expires_at <= finance.now()));

COMMENT ON VIEW finance_internal.daily_parts IS 'What finance.daily adds up: the rollup, what is not folded yet, and access that has ended by its date while its row is not closed; several rows a day. For sums over periods.';

COMMENT ON COLUMN finance_internal.daily_parts.day IS 'Day in the report time zone.';

COMMENT ON COLUMN finance_internal.daily_parts.gross_gwa_cents IS 'Subscription payments settled on the day at gateway A, cents.';

COMMENT ON COLUMN finance_internal.daily_parts.gross_gwb_cents IS 'The same at gateway B.';

COMMENT ON COLUMN finance_internal.daily_parts.payments IS 'Their number: settled attempts.';

COMMENT ON COLUMN finance_internal.daily_parts.failed_attempts IS 'Failed attempts to take a subscription payment.';

COMMENT ON COLUMN finance_internal.daily_parts.refunds_cents IS 'Subscription payments given back, cents, by refunded_on.';

COMMENT ON COLUMN finance_internal.daily_parts.chargebacks_cents IS 'Taken by disputes less what won ones gave back, cents.';

COMMENT ON COLUMN finance_internal.daily_parts.entries IS 'Customers whose access began, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_parts.exits_payment_failure IS 'Customers whose access stopped by payment_failure, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_parts.exits_customer_cancelled IS 'Customers whose access stopped by customer_cancelled, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_parts.exits_admin_cancelled IS 'Customers whose access stopped by admin_cancelled, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_parts.exits_chargeback IS 'Customers whose access stopped by chargeback, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_parts.exits_expired IS 'Customers whose access stopped by expired, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_parts.returned_in_day IS 'Of the entries, those of subscriptions that had left on the same day.';

COMMENT ON COLUMN finance_internal.daily_parts.returned_in_month_payment_failure IS 'Of the entries, those of subscriptions that had left by payment_failure in the same month.';

COMMENT ON COLUMN finance_internal.daily_parts.returned_in_month_customer_cancelled IS 'Of the entries, those of subscriptions that had left by customer_cancelled in the same month.';

COMMENT ON COLUMN finance_internal.daily_parts.returned_in_month_admin_cancelled IS 'Of the entries, those of subscriptions that had left by admin_cancelled in the same month.';

COMMENT ON COLUMN finance_internal.daily_parts.returned_in_month_chargeback IS 'Of the entries, those of subscriptions that had left by chargeback in the same month.';

COMMENT ON COLUMN finance_internal.daily_parts.returned_in_month_expired IS 'Of the entries, those of subscriptions that had left by expired in the same month.';

CREATE VIEW finance.churn_monthly AS
 SELECT m.month,
    (((sum((m.entries - m.exits)) OVER w - (m.entries)::numeric) + (m.exits)::numeric))::bigint AS active_start,
    (m.entries - m.returned) AS new_customers,
    (m.exits - m.returned) AS cancelled,
    (sum((m.entries - m.exits)) OVER w)::bigint AS active_end,
        CASE
            WHEN (((sum((m.entries - m.exits)) OVER w - (m.entries)::numeric) + (m.exits)::numeric) = (0)::numeric) THEN (0)::numeric
            ELSE round(((100.0 * ((m.exits - m.returned))::numeric) / ((sum((m.entries - m.exits)) OVER w - (m.entries)::numeric) + (m.exits)::numeric)), 2)
        END AS churn_rate,
    m.payment_failure,
    m.customer_cancelled,
    m.admin_cancelled,
    m.chargeback,
    m.expired
   FROM ( SELECT k.month,
            COALESCE(f.entries, (0)::bigint) AS entries,
            COALESCE(f.exits, (0)::bigint) AS exits,
            COALESCE(f.returned, (0)::bigint) AS returned,
            COALESCE(f.payment_failure, (0)::bigint) AS payment_failure,
            COALESCE(f.customer_cancelled, (0)::bigint) AS customer_cancelled,
            COALESCE(f.admin_cancelled, (0)::bigint) AS admin_cancelled,
            COALESCE(f.chargeback, (0)::bigint) AS chargeback,
            COALESCE(f.expired, (0)::bigint) AS expired
           FROM (( SELECT (g.month)::date AS month
                   FROM ((( SELECT min(b.day) AS first_day,
                            max(b.day) AS last_day
                           FROM finance_internal.daily_parts b) e
                     CROSS JOIN finance.clock c)
                     CROSS JOIN LATERAL generate_series(date_trunc('month'::text, (e.first_day)::timestamp without time zone), (GREATEST(c.today, e.last_day))::timestamp without time zone, '1 mon'::interval) g(month))) k
             LEFT JOIN ( SELECT (date_trunc('month'::text, (d.day)::timestamp without time zone))::date AS month,
                    (sum(d.entries))::bigint AS entries,
                    (sum(((((d.exits_payment_failure + d.exits_customer_cancelled) + d.exits_admin_cancelled) + d.exits_chargeback) + d.exits_expired)))::bigint AS exits,
                    (sum(((((d.returned_in_month_payment_failure + d.returned_in_month_customer_cancelled) + d.returned_in_month_admin_cancelled) + d.returned_in_month_chargeback) + d.returned_in_month_expired)))::bigint AS returned,
                    (sum((d.exits_payment_failure - d.returned_in_month_payment_failure)))::bigint AS payment_failure,
                    (sum((d.exits_customer_cancelled - d.returned_in_month_customer_cancelled)))::bigint AS customer_cancelled,
                    (sum((d.exits_admin_cancelled - d.returned_in_month_admin_cancelled)))::bigint AS admin_cancelled,
                    (sum((d.exits_chargeback - d.returned_in_month_chargeback)))::bigint AS chargeback,
                    (sum((d.exits_expired - d.returned_in_month_expired)))::bigint AS expired
                   FROM finance_internal.daily_parts d
                  GROUP BY ((date_trunc('month'::text, (d.day)::timestamp without time zone))::date)) f ON ((f.month = k.month)))) m
  WINDOW w AS (ORDER BY m.month);

COMMENT ON VIEW finance.churn_monthly IS 'Churn by month, one row for each month from the first on, exact at any moment; the unit is the customer. active_end = active_start + new_customers - cancelled in every row, and the five reasons add up to cancelled. Source: finance.daily.';

COMMENT ON COLUMN finance.churn_monthly.month IS 'First day of the month, in the report time zone.';

COMMENT ON COLUMN finance.churn_monthly.active_start IS 'Customers with access at its beginning.';

COMMENT ON COLUMN finance.churn_monthly.new_customers IS 'Customers who gained access, without those whose subscription had left in the same month.';

COMMENT ON COLUMN finance.churn_monthly.cancelled IS 'Customers who lost access, without those whose subscription came back in the same month. Somebody who joins and leaves counts in both.';

COMMENT ON COLUMN finance.churn_monthly.active_end IS 'Customers with access at its end; of the present month, now.';

COMMENT ON COLUMN finance.churn_monthly.churn_rate IS 'cancelled / active_start x 100, percent, two decimals; may exceed 100.';

COMMENT ON COLUMN finance.churn_monthly.payment_failure IS 'Of cancelled: a payment failed or never came.';

COMMENT ON COLUMN finance.churn_monthly.customer_cancelled IS 'Of cancelled: by the customer, at the moment when access stopped.';

COMMENT ON COLUMN finance.churn_monthly.admin_cancelled IS 'Of cancelled: by an admin or at the gateway''s console.';

COMMENT ON COLUMN finance.churn_monthly.chargeback IS 'Of cancelled: by a dispute.';

COMMENT ON COLUMN finance.churn_monthly.expired IS 'Of cancelled: the paid time ran out.';

CREATE TABLE finance.cohort_rollup (
    cohort_month date NOT NULL,
    month date NOT NULL,
    customers bigint DEFAULT 0 NOT NULL,
    change bigint DEFAULT 0 NOT NULL
);

COMMENT ON TABLE finance.cohort_rollup IS 'Folded deltas: by month of the first access, how many more customers of the cohort had access at the end of a month than at its beginning. Read finance.cohorts.';

COMMENT ON COLUMN finance.cohort_rollup.customers IS 'First accesses of the month: in rows of the cohort''s own month alone.';

CREATE VIEW finance.cohort_months AS
 SELECT f.cohort_month,
    f.month,
    (sum(f.customers))::bigint AS customers,
    (sum(f.change))::bigint AS change
   FROM ( SELECT r.cohort_month,
            r.month,
            r.customers,
            r.change
           FROM finance.cohort_rollup r
        UNION ALL
         SELECT finance.month_of(d.first_at, z.report_tz) AS month_of,
            finance.month_of(d.at, z.report_tz) AS month_of,
            d.firsts,
            (d.entries - d.exits)
           FROM (finance.daily_deltas d
             CROSS JOIN finance.settings z)
          WHERE (d.first_at IS NOT NULL)
        UNION ALL
         SELECT finance.month_of(b.at, z.report_tz) AS month_of,
            finance.month_of(x.ended_at, z.report_tz) AS month_of,
            0,
            '-1'::integer
           FROM ((finance.settings z
             CROSS JOIN ( SELECT s.customer_id,
                    GREATEST(s.expires_at, e.at) AS ended_at
                   FROM (subscriptions.subscriptions s
                     JOIN LATERAL ( SELECT t.at
                           FROM subscriptions.transitions t
                          WHERE (((t.subscription_id)::text = (s.id)::text) AND (t.to_status = 'active'::text))
                          ORDER BY t.id DESC
                         LIMIT 1) e ON (true))
                  WHERE ((s.status = 'active'::text) AND (s.expires_at IS NOT NULL) AND (s.expires_at <= finance.now()))) x)
             JOIN LATERAL ( SELECT t.at
                   FROM subscriptions.transitions t
                  WHERE (((t.customer_id)::text = (x.customer_id)::text) AND (t.to_status = 'active'::text))
                  ORDER BY t.id
                 LIMIT 1) b ON (true))) f
  GROUP BY f.cohort_month, f.month;

COMMENT ON VIEW finance.cohort_months IS 'Customers by the month in which they first had access, and how their number with access changed in each month; exact at any moment. Source: rollup, what is not folded yet, and access that has ended by its date.';

COMMENT ON COLUMN finance.cohort_months.cohort_month IS 'First day of the month of the first access, in the report time zone.';

COMMENT ON COLUMN finance.cohort_months.month IS 'First day of a month since.';

COMMENT ON COLUMN finance.cohort_months.customers IS 'First accesses: in the row of the cohort''s own month.';

COMMENT ON COLUMN finance.cohort_months.change IS 'Entries less exits of the month, renewals left out.';

CREATE VIEW finance.cohorts AS
 WITH moved AS MATERIALIZED (
         SELECT c_1.cohort_month,
            (((EXTRACT(year FROM age((c_1.month)::timestamp with time zone, (c_1.cohort_month)::timestamp with time zone)) * (12)::numeric) + EXTRACT(month FROM age((c_1.month)::timestamp with time zone, (c_1.cohort_month)::timestamp with time zone))))::integer AS months_since,
            c_1.customers,
            c_1.change
           FROM finance.cohort_months c_1
        ), sized AS (
         SELECT m.cohort_month,
            (sum(m.customers))::bigint AS customers
           FROM moved m
          GROUP BY m.cohort_month
         HAVING (sum(m.customers) > (0)::numeric)
        )
 SELECT c.cohort_month,
    c.months_since,
    c.customers,
    c.retained,
        CASE
            WHEN (c.customers = 0) THEN (0)::numeric
            ELSE round(((100.0 * (c.retained)::numeric) / (c.customers)::numeric), 2)
        END AS retained_pct
   FROM ( SELECT k.cohort_month,
            n.months_since,
            k.customers,
            (sum(COALESCE(x.change, (0)::bigint)) OVER (PARTITION BY k.cohort_month ORDER BY n.months_since))::bigint AS retained
           FROM (((sized k
             CROSS JOIN ( SELECT (date_trunc('month'::text, (c_1.today)::timestamp without time zone))::date AS month
                   FROM finance.clock c_1
                 OFFSET 0) p)
             CROSS JOIN LATERAL generate_series(0, (((EXTRACT(year FROM age((p.month)::timestamp with time zone, (k.cohort_month)::timestamp with time zone)) * (12)::numeric) + EXTRACT(month FROM age((p.month)::timestamp with time zone, (k.cohort_month)::timestamp with time zone))))::integer) n(months_since))
             LEFT JOIN moved x ON (((x.cohort_month = k.cohort_month) AND (x.months_since = n.months_since))))) c;

COMMENT ON VIEW finance.cohorts IS 'Retention: customers by the month in which they first had access, and how many of them have it at the end of each month since (of the present month: now). Exact at any moment. Source: finance.cohort_months.';

COMMENT ON COLUMN finance.cohorts.cohort_month IS 'First day of the month of the first access, in the report time zone.';

COMMENT ON COLUMN finance.cohorts.months_since IS '0 is that month itself.';

COMMENT ON COLUMN finance.cohorts.customers IS 'Customers of the cohort.';

COMMENT ON COLUMN finance.cohorts.retained IS 'Of them, those with access at the end of that month.';

COMMENT ON COLUMN finance.cohorts.retained_pct IS 'retained / customers x 100, percent, two decimals.';

CREATE TABLE finance.customer_access (
    customer_id platform.object_id NOT NULL,
    first_at timestamp with time zone NOT NULL,
    closed_us bigint DEFAULT 0 NOT NULL,
    last_until timestamp with time zone,
    open_at timestamp with time zone
);

COMMENT ON TABLE finance.customer_access IS 'How long each customer has had access, kept by the trigger of subscriptions.transitions in the transaction of each move. Read finance.tenure.';

COMMENT ON COLUMN finance.customer_access.closed_us IS 'Sum of the periods of access that have ended, microseconds.';

COMMENT ON COLUMN finance.customer_access.last_until IS 'The latest end of these.';

COMMENT ON COLUMN finance.customer_access.open_at IS 'When the present period began; null without access.';

CREATE TABLE payments.failed_attempts (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    gateway text NOT NULL,
    gateway_payment_id text NOT NULL,
    attempt integer NOT NULL,
    purpose text NOT NULL,
    local_id platform.object_id NOT NULL,
    amount_cents bigint NOT NULL,
    failed_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT failed_attempts_amount_bounded CHECK ((amount_cents <= '100000000000'::bigint)),
    CONSTRAINT failed_attempts_attempt_not_negative CHECK ((attempt >= 0)),
    CONSTRAINT failed_attempts_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT failed_attempts_purpose_known CHECK ((purpose = ANY (ARRAY['subscription'::text, 'order'::text])))
);

COMMENT ON TABLE payments.failed_attempts IS 'One row a failed attempt to take a payment, so that a failure reported by several events counts once.';

COMMENT ON COLUMN payments.failed_attempts.attempt IS 'Counted by the gateway from 1; 0 while the number has not been told.';

CREATE VIEW finance.customer_failures AS
 SELECT s.customer_id,
    f.id AS failed_attempt_id,
    f.purpose,
    f.gateway,
    f.amount_cents,
    f.failed_at
   FROM (subscriptions.subscriptions s
     JOIN payments.failed_attempts f ON (((f.purpose = 'subscription'::text) AND ((f.local_id)::text = (s.id)::text))))
UNION ALL
 SELECT o.customer_id,
    f.id AS failed_attempt_id,
    f.purpose,
    f.gateway,
    f.amount_cents,
    f.failed_at
   FROM (tickets.orders o
     JOIN payments.failed_attempts f ON (((f.purpose = 'order'::text) AND ((f.local_id)::text = (o.id)::text))));

COMMENT ON VIEW finance.customer_failures IS 'Failed attempts to take a payment, with the customer: those of one are found by index. Source: payments.failed_attempts, subscriptions.subscriptions, tickets.orders.';

COMMENT ON COLUMN finance.customer_failures.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.customer_failures.failed_attempt_id IS 'Key, as in finance.failed_attempts.';

COMMENT ON COLUMN finance.customer_failures.purpose IS 'subscription or order.';

COMMENT ON COLUMN finance.customer_failures.gateway IS 'gwa or gwb.';

COMMENT ON COLUMN finance.customer_failures.amount_cents IS 'What was to be paid, cents.';

COMMENT ON COLUMN finance.customer_failures.failed_at IS 'Instant, UTC.';

CREATE TABLE subscriptions.plans (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    plan_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    description text COLLATE pg_catalog."C",
    amount_cents bigint NOT NULL,
    interval_unit text DEFAULT 'MONTH'::text NOT NULL COLLATE pg_catalog."C",
    trial_enabled boolean DEFAULT false NOT NULL,
    trial_days integer DEFAULT 0 NOT NULL,
    tier integer DEFAULT 1 NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    gwb_product_id text COLLATE pg_catalog."C",
    gwb_price_id text COLLATE pg_catalog."C",
    gwb_price_amount_cents bigint,
    document_created_by_id platform.object_id,
    register_date timestamp with time zone NOT NULL,
    register_update_date timestamp with time zone NOT NULL,
    max_streams integer,
    CONSTRAINT plans_amount_bounded CHECK ((amount_cents <= 100000000)),
    CONSTRAINT plans_amount_not_negative CHECK ((amount_cents >= 0)),
    CONSTRAINT plans_gwb_price_amount_bounded CHECK ((gwb_price_amount_cents <= 100000000)),
    CONSTRAINT plans_interval_unit_known CHECK ((interval_unit = 'MONTH'::text)),
    CONSTRAINT plans_max_streams_range CHECK (((max_streams >= 1) AND (max_streams <= 100))),
    CONSTRAINT plans_plan_id_form CHECK ((plan_id ~ '^[a-z0-9_-]{3,50}$'::text)),
    CONSTRAINT plans_tier_positive CHECK ((tier >= 1)),
    CONSTRAINT plans_trial_days_range CHECK (((trial_days >= 0) AND (trial_days <= 730)))
);

COMMENT ON TABLE subscriptions.plans IS 'What can be subscribed to. plan_id never changes; a changed amount leaves sold subscriptions as they are.';

COMMENT ON COLUMN subscriptions.plans.amount_cents IS 'Price of one month.';

COMMENT ON COLUMN subscriptions.plans.tier IS '1 basic, 2 plus, 3 premium.';

COMMENT ON COLUMN subscriptions.plans.gwb_price_amount_cents IS 'The amount that gwb_price_id stands for: a price cannot change at gateway B, so another amount needs another price.';

COMMENT ON COLUMN subscriptions.plans.max_streams IS 'How many devices of a subscriber may play at once; null is no limit.';

CREATE VIEW finance.customer_list_personal AS
 SELECT u.id AS customer_id,
    u.user_type,
    u.username,
    u.email,
    COALESCE(u.full_name, ''::text) AS full_name,
    u.tax_id,
    u.phone,
    u.nationality,
    u.address,
    u.language,
    u.avatar_id,
    u.my_list,
    u.enable,
    u.email_verified,
    u.email_verified_at,
    u.current_subscription_id,
    u.password_reset_required,
    u.promo_code_used,
    u.promo_code_id,
    u.gwb_customer_id,
    u.document_created_by_id,
    u.created_at,
    u.updated_at,
    s.plan_id,
    p.name AS plan_name,
    s.gateway,
    s.payment_method,
    s.status AS subscription_status,
    s.price_cents,
    s.started_at,
    s.last_payment_at,
    s.next_billing_date,
    s.expires_at
   FROM ((accounts.users u
     LEFT JOIN subscriptions.subscriptions s ON (((s.id)::text = (u.current_subscription_id)::text)))
     LEFT JOIN subscriptions.plans p ON ((p.plan_id = s.plan_id)))
  WHERE ((u.user_type = 'customer'::text) AND (u.deleted_at IS NULL));

COMMENT ON VIEW finance.customer_list_personal IS 'PERSONAL DATA: customers who are not deleted, with their current subscription; what GET /customers shows and the export of customers filters by. Source: accounts.users, subscriptions.subscriptions, subscriptions.plans.';

COMMENT ON COLUMN finance.customer_list_personal.customer_id IS 'Key.';

COMMENT ON COLUMN finance.customer_list_personal.user_type IS 'customer.';

COMMENT ON COLUMN finance.customer_list_personal.username IS 'Login.';

COMMENT ON COLUMN finance.customer_list_personal.email IS 'Lower case.';

COMMENT ON COLUMN finance.customer_list_personal.full_name IS 'Empty when not told.';

COMMENT ON COLUMN finance.customer_list_personal.tax_id IS 'CPF (11) or CNPJ (14).';

COMMENT ON COLUMN finance.customer_list_personal.phone IS 'Plus sign, country code and number.';

COMMENT ON COLUMN finance.customer_list_personal.nationality IS 'ISO 3166-1; empty when not told.';

COMMENT ON COLUMN finance.customer_list_personal.address IS 'street, number, complement, locality, city, region_code, country, postal_code.';

COMMENT ON COLUMN finance.customer_list_personal.language IS 'Of mails.';

COMMENT ON COLUMN finance.customer_list_personal.avatar_id IS 'File id.';

COMMENT ON COLUMN finance.customer_list_personal.my_list IS 'Videos that the customer has marked.';

COMMENT ON COLUMN finance.customer_list_personal.enable IS 'False: they cannot log in.';

COMMENT ON COLUMN finance.customer_list_personal.email_verified IS 'Proved by a code.';

COMMENT ON COLUMN finance.customer_list_personal.email_verified_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.customer_list_personal.current_subscription_id IS 'The subscription whose columns stand here; null for none.';

COMMENT ON COLUMN finance.customer_list_personal.password_reset_required IS 'They are asked to choose a new password.';

COMMENT ON COLUMN finance.customer_list_personal.promo_code_used IS 'The promo code given at signup.';

COMMENT ON COLUMN finance.customer_list_personal.promo_code_id IS 'Its id.';

COMMENT ON COLUMN finance.customer_list_personal.gwb_customer_id IS 'The customer''s id at gateway B.';

COMMENT ON COLUMN finance.customer_list_personal.document_created_by_id IS 'The admin who made the account; null when its owner did.';

COMMENT ON COLUMN finance.customer_list_personal.created_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.customer_list_personal.updated_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.customer_list_personal.plan_id IS 'Plan of the current subscription.';

COMMENT ON COLUMN finance.customer_list_personal.plan_name IS 'Its name.';

COMMENT ON COLUMN finance.customer_list_personal.gateway IS 'gwa or gwb.';

COMMENT ON COLUMN finance.customer_list_personal.payment_method IS 'credit_card, pix or boleto.';

COMMENT ON COLUMN finance.customer_list_personal.subscription_status IS 'active, pending, suspended, cancelled or expired.';

COMMENT ON COLUMN finance.customer_list_personal.price_cents IS 'Price of one month as it was sold, cents.';

COMMENT ON COLUMN finance.customer_list_personal.started_at IS 'When it was first active, UTC.';

COMMENT ON COLUMN finance.customer_list_personal.last_payment_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.customer_list_personal.next_billing_date IS 'Instant, UTC.';

COMMENT ON COLUMN finance.customer_list_personal.expires_at IS 'End of access; null while a recurrence runs.';

CREATE VIEW finance.customer_logins_personal AS
 SELECT l.login,
    l.user_id AS customer_id
   FROM accounts.logins l;

COMMENT ON VIEW finance.customer_logins_personal IS 'PERSONAL DATA: whom a username or e-mail belongs to, by index. Source: accounts.logins.';

COMMENT ON COLUMN finance.customer_logins_personal.login IS 'Username or e-mail in the form in which they are compared: lower case, NFKC.';

COMMENT ON COLUMN finance.customer_logins_personal.customer_id IS 'Its user; an admin''s is in no view of customers.';

CREATE VIEW finance.customer_profiles_personal AS
 SELECT u.id AS customer_id,
    u.username,
    u.email,
    COALESCE(u.full_name, ''::text) AS full_name,
    u.tax_id,
    u.phone,
    u.nationality,
    u.address,
    u.enable AS is_enabled,
    u.email_verified,
    u.email_verified_at,
    u.current_subscription_id,
    u.promo_code_used,
    u.created_at,
    u.updated_at,
    u.labels
   FROM accounts.users u
  WHERE ((u.user_type = 'customer'::text) AND (u.deleted_at IS NULL));

COMMENT ON VIEW finance.customer_profiles_personal IS 'PERSONAL DATA: what staff may see of a customer, one row each who is not deleted. Source: accounts.users.';

COMMENT ON COLUMN finance.customer_profiles_personal.customer_id IS 'Key, as in finance.customers.';

COMMENT ON COLUMN finance.customer_profiles_personal.username IS 'Login name.';

COMMENT ON COLUMN finance.customer_profiles_personal.email IS 'E-mail, lower case.';

COMMENT ON COLUMN finance.customer_profiles_personal.full_name IS 'Name; empty when not told.';

COMMENT ON COLUMN finance.customer_profiles_personal.tax_id IS 'CPF or CNPJ without punctuation; null when not told.';

COMMENT ON COLUMN finance.customer_profiles_personal.phone IS 'Phone with country code; null when not told.';

COMMENT ON COLUMN finance.customer_profiles_personal.nationality IS 'ISO 3166-1; empty when not told.';

COMMENT ON COLUMN finance.customer_profiles_personal.address IS 'Object with street, number, complement, locality, city, region_code, country, postal_code; null when not told.';

COMMENT ON COLUMN finance.customer_profiles_personal.is_enabled IS 'May log in.';

COMMENT ON COLUMN finance.customer_profiles_personal.email_verified IS 'The address has been confirmed.';

COMMENT ON COLUMN finance.customer_profiles_personal.email_verified_at IS 'When, UTC.';

COMMENT ON COLUMN finance.customer_profiles_personal.current_subscription_id IS 'The subscription that opens the videos to them (finance.subscriptions); null for none.';

COMMENT ON COLUMN finance.customer_profiles_personal.promo_code_used IS 'The promo code given at signup.';

COMMENT ON COLUMN finance.customer_profiles_personal.created_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.customer_profiles_personal.updated_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.customer_profiles_personal.labels IS 'Words by which staff sort customers.';

CREATE VIEW finance.customers AS
 SELECT u.id AS customer_id,
    u.created_at,
    ((u.created_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS created_on,
    u.email_verified,
    u.enable AS is_enabled,
    u.trial_used_at,
    (u.deleted_at IS NOT NULL) AS is_deleted,
    u.deleted_at
   FROM accounts.users u
  WHERE (u.user_type = 'customer'::text);

COMMENT ON VIEW finance.customers IS 'Customers, one row each, also deleted ones, without personal data. Source: accounts.users.';

COMMENT ON COLUMN finance.customers.customer_id IS 'Key.';

COMMENT ON COLUMN finance.customers.created_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.customers.created_on IS 'Day of created_at in the report time zone.';

COMMENT ON COLUMN finance.customers.email_verified IS 'Has proved the address.';

COMMENT ON COLUMN finance.customers.is_enabled IS 'May log in.';

COMMENT ON COLUMN finance.customers.trial_used_at IS 'When their one trial began; null when they have had none.';

COMMENT ON COLUMN finance.customers.is_deleted IS 'Has no account any more; not among total_customers.';

COMMENT ON COLUMN finance.customers.deleted_at IS 'When the account was closed.';

CREATE VIEW finance.customers_personal AS
 SELECT u.id AS customer_id,
    u.username,
    u.email,
    u.full_name,
    u.tax_id,
    u.phone
   FROM accounts.users u
  WHERE (u.user_type = 'customer'::text);

COMMENT ON VIEW finance.customers_personal IS 'PERSONAL DATA: who the customers are. Empty texts of deleted ones. Source: accounts.users.';

COMMENT ON COLUMN finance.customers_personal.customer_id IS 'Key, as in finance.customers.';

COMMENT ON COLUMN finance.customers_personal.username IS 'Login name.';

COMMENT ON COLUMN finance.customers_personal.email IS 'E-mail address.';

COMMENT ON COLUMN finance.customers_personal.full_name IS 'Name.';

COMMENT ON COLUMN finance.customers_personal.tax_id IS 'CPF or CNPJ, without punctuation.';

COMMENT ON COLUMN finance.customers_personal.phone IS 'Telephone number.';

CREATE VIEW finance.daily AS
 SELECT f.day,
    (sum(f.gross_gwa_cents))::bigint AS gross_gwa_cents,
    (sum(f.gross_gwb_cents))::bigint AS gross_gwb_cents,
    (sum(f.payments))::bigint AS payments,
    (sum(f.failed_attempts))::bigint AS failed_attempts,
    (sum(f.refunds_cents))::bigint AS refunds_cents,
    (sum(f.chargebacks_cents))::bigint AS chargebacks_cents,
    (sum(f.entries))::bigint AS entries,
    (sum(f.exits_payment_failure))::bigint AS exits_payment_failure,
    (sum(f.exits_customer_cancelled))::bigint AS exits_customer_cancelled,
    (sum(f.exits_admin_cancelled))::bigint AS exits_admin_cancelled,
    (sum(f.exits_chargeback))::bigint AS exits_chargeback,
    (sum(f.exits_expired))::bigint AS exits_expired,
    (sum(f.returned_in_day))::bigint AS returned_in_day,
    (sum(f.returned_in_month_payment_failure))::bigint AS returned_in_month_payment_failure,
    (sum(f.returned_in_month_customer_cancelled))::bigint AS returned_in_month_customer_cancelled,
    (sum(f.returned_in_month_admin_cancelled))::bigint AS returned_in_month_admin_cancelled,
    (sum(f.returned_in_month_chargeback))::bigint AS returned_in_month_chargeback,
    (sum(f.returned_in_month_expired))::bigint AS returned_in_month_expired
   FROM finance_internal.daily_parts f
  GROUP BY f.day;

COMMENT ON VIEW finance.daily IS 'Figures by day, exact at any moment: the rollup, what is not folded yet, and access that has ended by its date while its row is not closed. Only days on which something happened.';

COMMENT ON COLUMN finance.daily.day IS 'Day in the report time zone.';

COMMENT ON COLUMN finance.daily.gross_gwa_cents IS 'Subscription payments settled on the day at gateway A, cents.';

COMMENT ON COLUMN finance.daily.gross_gwb_cents IS 'The same at gateway B.';

COMMENT ON COLUMN finance.daily.payments IS 'Their number: settled attempts.';

COMMENT ON COLUMN finance.daily.failed_attempts IS 'Failed attempts to take a subscription payment.';

COMMENT ON COLUMN finance.daily.refunds_cents IS 'Subscription payments given back, cents, by refunded_on.';

COMMENT ON COLUMN finance.daily.chargebacks_cents IS 'Taken by disputes less what won ones gave back, cents.';

COMMENT ON COLUMN finance.daily.entries IS 'Customers whose access began, renewals left out.';

COMMENT ON COLUMN finance.daily.exits_payment_failure IS 'Customers whose access stopped by payment_failure, renewals left out.';

COMMENT ON COLUMN finance.daily.exits_customer_cancelled IS 'Customers whose access stopped by customer_cancelled, renewals left out.';

COMMENT ON COLUMN finance.daily.exits_admin_cancelled IS 'Customers whose access stopped by admin_cancelled, renewals left out.';

COMMENT ON COLUMN finance.daily.exits_chargeback IS 'Customers whose access stopped by chargeback, renewals left out.';

COMMENT ON COLUMN finance.daily.exits_expired IS 'Customers whose access stopped by expired, renewals left out.';

COMMENT ON COLUMN finance.daily.returned_in_day IS 'Of the entries, those of subscriptions that had left on the same day.';

COMMENT ON COLUMN finance.daily.returned_in_month_payment_failure IS 'Of the entries, those of subscriptions that had left by payment_failure in the same month.';

COMMENT ON COLUMN finance.daily.returned_in_month_customer_cancelled IS 'Of the entries, those of subscriptions that had left by customer_cancelled in the same month.';

COMMENT ON COLUMN finance.daily.returned_in_month_admin_cancelled IS 'Of the entries, those of subscriptions that had left by admin_cancelled in the same month.';

COMMENT ON COLUMN finance.daily.returned_in_month_chargeback IS 'Of the entries, those of subscriptions that had left by chargeback in the same month.';

COMMENT ON COLUMN finance.daily.returned_in_month_expired IS 'Of the entries, those of subscriptions that had left by expired in the same month.';

ALTER TABLE finance.daily_deltas ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME finance.daily_deltas_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW finance.definitions AS
 SELECT 1 AS "position",
    'active subscriptions'::text AS figure,
    'status = ''active'' and (expires_at is null or in the future)'::text AS formula,
    'the same rule that opens the videos; suspended is not active; deleted at the gateway with paid time left is active'::text AS edges
UNION ALL
 SELECT 2 AS "position",
    'MRR'::text AS figure,
    'sum over active of the monthly price as it was when subscribed (snapshot, cents)'::text AS formula,
    'a yearly PIX counts once its monthly price, not the year; the first-month discount does not lower it; a later price change of the plan does not move old subscriptions; trials count and are also shown apart as trial_mrr'::text AS edges
UNION ALL
 SELECT 3 AS "position",
    'mrr_gwa, mrr_gwb'::text AS figure,
    'the same by gateway'::text AS formula,
    'add up to MRR exactly'::text AS edges
UNION ALL
 SELECT 4 AS "position",
    'ARR'::text AS figure,
    'MRR x 12'::text AS formula,
    ''::text AS edges
UNION ALL
 SELECT 5 AS "position",
    'average ticket'::text AS figure,
    'MRR / active, rounded'::text AS formula,
    ''::text AS edges
UNION ALL
 SELECT 6 AS "position",
    'overdue'::text AS figure,
    '(payment_failures > 0 or suspended) and status not cancelled or expired'::text AS formula,
    ''::text AS edges
UNION ALL
 SELECT 7 AS "position",
    'days_overdue'::text AS figure,
    'calendar days from the first due date that was missed in this run of failures (of the first failure, else last_payment_at plus the period, else next_billing_date when past), at least 0; it never falls while nothing is paid'::text AS formula,
    ''::text AS edges
UNION ALL
 SELECT 8 AS "position",
    'total_amount_at_risk'::text AS figure,
    'sum of the monthly prices of the overdue'::text AS formula,
    ''::text AS edges
UNION ALL
 SELECT 9 AS "position",
    'exits'::text AS figure,
    'transitions out of active that end access; unit is the customer; moment is when access stops, not when cancelling was asked'::text AS formula,
    'replacing a subscription by renewal is no exit; suspended and paid again within the period is no exit; someone who joins and leaves in the period counts in new and cancelled'::text AS edges
UNION ALL
 SELECT 10 AS "position",
    'churn of a month'::text AS figure,
    'cancelled / active_start x 100; active_end = active_start + new - cancelled holds in every row'::text AS formula,
    'may exceed 100'::text AS edges
UNION ALL
 SELECT 11 AS "position",
    'churn_rate_30d'::text AS figure,
    'exits in the last 30 days / active 30 days ago x 100'::text AS formula,
    ''::text AS edges
UNION ALL
 SELECT 12 AS "position",
    'by_reason'::text AS figure,
    'payment_failure, customer_cancelled, admin_cancelled, chargeback, expired'::text AS formula,
    'every exit has exactly one; gone_at_gateway (missing at the gateway, seen twice) counts under admin_cancelled'::text AS edges
UNION ALL
 SELECT 13 AS "position",
    'gross (series)'::text AS figure,
    'subscription payments settled in the bucket, by time of payment, once per gateway payment'::text AS formula,
    'cash basis: a yearly PIX is whole in its month; card CONFIRMED and, 32 days later, RECEIVED are one payment; ticket sales stay in the events dashboard'::text AS edges
UNION ALL
 SELECT 14 AS "position",
    'refunds, chargebacks (series)'::text AS figure,
    'by time of refund, of dispute'::text AS formula,
    'a won dispute counts back in its own bucket'::text AS edges
UNION ALL
 SELECT 15 AS "position",
    'net (series)'::text AS figure,
    'gross - refunds - chargebacks'::text AS formula,
    'may be negative'::text AS edges
UNION ALL
 SELECT 16 AS "position",
    'net_revenue_30d'::text AS figure,
    'MRR - refunds of the last 30 days'::text AS formula,
    'cash_net_30d is given beside it: gross - refunds - chargebacks of the same days'::text AS edges
UNION ALL
 SELECT 17 AS "position",
    'payment_success_rate'::text AS figure,
    'settled attempts / (settled + failed attempts) of the last 30 days x 100'::text AS formula,
    'an attempt is one (gateway, payment or invoice, attempt number); a PIX that merely ran out is no attempt'::text AS edges
UNION ALL
 SELECT 18 AS "position",
    'total_refunded, total_chargebacks'::text AS figure,
    'sums of the ledgers of subscriptions, all time, cents'::text AS formula,
    ''::text AS edges
UNION ALL
 SELECT 19 AS "position",
    'order revenue (events)'::text AS figure,
    'sum of total of paid orders (CONFIRMED, RECEIVED, succeeded) minus what was refunded of them, reais; none of a called off event'::text AS formula,
    'by time of payment; a whole refund or CHARGEBACK_LOST leaves 0'::text AS edges
UNION ALL
 SELECT 20 AS "position",
    'occupancy_pct'::text AS figure,
    'live tickets (pending, available, consumed) / capacity x 100'::text AS formula,
    '0 for unlimited; none of a called off event'::text AS edges
UNION ALL
 SELECT 21 AS "position",
    'tickets sold / promo'::text AS figure,
    'with an order / with a promo code and no order'::text AS formula,
    'not counting expired-unpaid'::text AS edges
UNION ALL
 SELECT 22 AS "position",
    'average order value; tickets per order'::text AS figure,
    'paid revenue / paid orders; tickets of paid orders / paid orders'::text AS formula,
    ''::text AS edges
UNION ALL
 SELECT 23 AS "position",
    'tenure'::text AS figure,
    'days with access of a customer who ever had it'::text AS formula,
    'until now for who has it'::text AS edges
UNION ALL
 SELECT 24 AS "position",
    'cohort'::text AS figure,
    'customers by the month in which they first gained access; retained: percent of them with access at the end of that and of each later month'::text AS formula,
    'of the present month, now'::text AS edges
UNION ALL
 SELECT 25 AS "position",
    'ltv'::text AS figure,
    'net (series) of all time / customers who ever had access, rounded'::text AS formula,
    ''::text AS edges
UNION ALL
 SELECT 26 AS "position",
    'reactivations'::text AS figure,
    'new of the months less the customers whose first access began in them'::text AS formula,
    ''::text AS edges
UNION ALL
 SELECT 27 AS "position",
    'upgrades'::text AS figure,
    'moves to a plan of a higher tier, by an admin or by subscribing anew'::text AS formula,
    ''::text AS edges
UNION ALL
 SELECT 28 AS "position",
    'failed payments; recovered'::text AS figure,
    'failed attempts of subscription payments; of these, followed by a settled payment of the subscription within 30 days'::text AS formula,
    ''::text AS edges
UNION ALL
 SELECT 29 AS "position",
    'movements of a month'::text AS figure,
    'opening MRR + new + expansion + reactivation - contraction - churn = closing MRR, to the cent, by customer'::text AS formula,
    'new: first activation ever of the customer; reactivation: a return after an exit; expansion, contraction: another price while active; a replacement by renewal is none, but for another price; a subscription that returns within the month of its exit is none, but for another price; a trial counts as MRR does'::text AS edges
UNION ALL
 SELECT 30 AS "position",
    'box office'::text AS figure,
    'sold: totals of its orders, when sold; refunded: what was handed back, when handed back; net: sold - refunded; by day of the report time zone, method and member of staff'::text AS formula,
    'its orders are orders as any: in order revenue, paid orders, averages, tickets sold, occupancy and sales by method, a courtesy as an order of 0; never in gross, refunds or net of subscriptions; a called off event changes nothing in what the till took'::text AS edges;

COMMENT ON VIEW finance.definitions IS 'What each figure means, one row a figure, also at GET /api/v1/admin/finance/definitions. Everywhere: money in integer cents, half-open intervals, days and months of the report time zone, a zero denominator gives 0, percentages rounded half up to two decimals.';

COMMENT ON COLUMN finance.definitions."position" IS 'Order of reading.';

COMMENT ON COLUMN finance.definitions.figure IS 'Name, as in the API.';

COMMENT ON COLUMN finance.definitions.formula IS 'How it is computed.';

COMMENT ON COLUMN finance.definitions.edges IS 'What holds at the edges; empty when there is nothing to say.';

CREATE TABLE finance.dues (
    subscription_id platform.object_id NOT NULL,
    next_billing_date timestamp with time zone,
    otherwise_on date NOT NULL
);

COMMENT ON TABLE finance.dues IS 'The overdue subscriptions, kept by triggers in the transaction of each change. Read finance.overdue.';

COMMENT ON COLUMN finance.dues.next_billing_date IS 'Due then, once it is past, where otherwise_on is infinity; else null.';

COMMENT ON COLUMN finance.dues.otherwise_on IS 'The day, in the report time zone, on which it is due otherwise: of the first failure of the run, else last_payment_at plus the period, else infinity.';

CREATE VIEW finance.entries AS
 SELECT m.movement_id,
    m.customer_id,
    m.subscription_id,
    m.at,
    m.day,
    (m.left_at IS NOT NULL) AS is_return,
    m.left_at,
    m.left_reason,
    ((m.left_at IS NULL) OR (((m.left_at AT TIME ZONE z.report_tz))::date <> m.day)) AS counts_in_day,
    ((m.left_at IS NULL) OR (date_trunc('month'::text, (m.left_at AT TIME ZONE z.report_tz)) <> date_trunc('month'::text, (m.at AT TIME ZONE z.report_tz)))) AS counts_in_month
   FROM (finance.movements m
     CROSS JOIN finance.settings z)
  WHERE ((m.kind = 'entry'::text) AND (NOT m.is_renewal));

COMMENT ON VIEW finance.entries IS 'Access gained, renewals left out. New of a month: rows where counts_in_month. Source: finance.movements.';

COMMENT ON COLUMN finance.entries.movement_id IS 'Order in time: the id of the transition; 9223372036854775807 for access that has ended by its date while the row is not closed yet.';

COMMENT ON COLUMN finance.entries.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.entries.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance.entries.at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.entries.day IS 'Day of at in the report time zone.';

COMMENT ON COLUMN finance.entries.is_return IS 'The subscription had access before and comes back.';

COMMENT ON COLUMN finance.entries.left_at IS 'When its access had stopped; null for others.';

COMMENT ON COLUMN finance.entries.left_reason IS 'Why it had stopped.';

COMMENT ON COLUMN finance.entries.counts_in_day IS 'Counts in the figures of its day: not the return of a subscription that left on the same day.';

COMMENT ON COLUMN finance.entries.counts_in_month IS 'Counts in the figures of its month: not the return of a subscription that left in the same month.';

CREATE TABLE tickets.events (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    code text COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    description text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    event_type text DEFAULT 'other'::text NOT NULL COLLATE pg_catalog."C",
    event_date timestamp with time zone NOT NULL,
    event_end_date timestamp with time zone,
    ends_at timestamp with time zone GENERATED ALWAYS AS (tickets.ends_at(event_date, event_end_date)) STORED NOT NULL,
    location text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    capacity integer,
    tickets_issued integer DEFAULT 0 NOT NULL,
    ticket_value_cents bigint,
    is_sale_box_office boolean DEFAULT false NOT NULL,
    image_id platform.object_id,
    is_active boolean DEFAULT true NOT NULL,
    document_created_by_id platform.object_id,
    register_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    register_update_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    search tsvector GENERATED ALWAYS AS (((platform.search_vector(ARRAY[code, title], 'A'::"char") || platform.search_vector(ARRAY[location], 'B'::"char")) || platform.search_vector(ARRAY[description], 'C'::"char"))) STORED,
    max_per_person integer,
    places_unpaid integer DEFAULT 0 NOT NULL,
    places_unpaid_guests integer DEFAULT 0 NOT NULL,
    cancelled_at timestamp with time zone,
    cancel_reason text COLLATE pg_catalog."C",
    cancel_refund text COLLATE pg_catalog."C",
    refund_until timestamp with time zone,
    told_event_date timestamp with time zone,
    told_ends_at timestamp with time zone,
    age_rating text COLLATE pg_catalog."C",
    rating_reasons text[] DEFAULT '{}'::text[] NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT events_age_rating_known CHECK ((age_rating = ANY (ARRAY['L'::text, '10'::text, '12'::text, '14'::text, '16'::text, '18'::text]))),
    CONSTRAINT events_cancel_refund_known CHECK ((cancel_refund = ANY (ARRAY['all'::text, 'on_request'::text]))),
    CONSTRAINT events_cancelled_is_closed CHECK (((cancelled_at IS NULL) OR (NOT is_active))),
    CONSTRAINT events_capacity_not_negative CHECK ((capacity >= 0)),
    CONSTRAINT events_code_upper_case CHECK ((code = upper(code))),
    CONSTRAINT events_description_length CHECK ((char_length(description) <= 1000)),
    CONSTRAINT events_end_after_start CHECK ((event_end_date >= event_date)),
    CONSTRAINT events_issued_not_negative CHECK ((tickets_issued >= 0)),
    CONSTRAINT events_max_per_person_positive CHECK ((max_per_person >= 1)),
    CONSTRAINT events_rating_reasons_few CHECK ((cardinality(rating_reasons) <= 20)),
    CONSTRAINT events_ticket_value_bounded CHECK ((ticket_value_cents <= 100000000)),
    CONSTRAINT events_title_length CHECK (((char_length(title) >= 1) AND (char_length(title) <= 200))),
    CONSTRAINT events_type_known CHECK ((event_type = ANY (ARRAY['movie_premiere'::text, 'lecture'::text, 'screening'::text, 'other'::text]))),
    CONSTRAINT events_value_not_negative CHECK ((ticket_value_cents >= 0))
)
WITH (fillfactor='50');

COMMENT ON TABLE tickets.events IS 'What tickets are for.';

COMMENT ON COLUMN tickets.events.ends_at IS 'By the end rule, tickets.ends_at.';

COMMENT ON COLUMN tickets.events.capacity IS 'Null is unlimited. It may be lowered below what is issued; then nothing more is issued.';

COMMENT ON COLUMN tickets.events.tickets_issued IS 'Tickets that hold a place, kept by the trigger tickets_account of tickets.tickets.';

COMMENT ON COLUMN tickets.events.ticket_value_cents IS 'Price of one ticket; null or 0 is free.';

COMMENT ON COLUMN tickets.events.is_sale_box_office IS 'Buyable in the store.';

COMMENT ON COLUMN tickets.events.image_id IS 'A file of purpose event_image. No foreign key: an image may be replaced before its event is edited.';

COMMENT ON COLUMN tickets.events.search IS 'What GET /search/events finds an event by: code and title before the place, this before the description.';

COMMENT ON COLUMN tickets.events.max_per_person IS 'Places that one person may have, paid for or held, by orders. Null is no limit.';

COMMENT ON COLUMN tickets.events.places_unpaid IS 'Of tickets_issued, those of orders that are not paid, kept by the trigger tickets_account of tickets.tickets. No CHECK: a wrong count must not keep money from being settled.';

COMMENT ON COLUMN tickets.events.places_unpaid_guests IS 'Of places_unpaid, those bought without a login, or by an account whose e-mail nobody had proved.';

COMMENT ON COLUMN tickets.events.cancelled_at IS 'When it was called off: its tickets are good no more.';

COMMENT ON COLUMN tickets.events.cancel_refund IS 'What becomes of the money of a called off event: all is given back, or what its holders ask for until refund_until. Null while it is not called off.';

COMMENT ON COLUMN tickets.events.refund_until IS 'Until when holders may give their orders back whatever the limits of withdrawal: since it was moved, or called off on request.';

COMMENT ON COLUMN tickets.events.told_event_date IS 'The start that holders know, while moves too small to be told differ from it. Null: event_date.';

COMMENT ON COLUMN tickets.events.told_ends_at IS 'The end that holders know, as told_event_date. Null: ends_at.';

COMMENT ON COLUMN tickets.events.age_rating IS 'Classificação indicativa: L (for everybody), or the years from which it is meant; null is not rated.';

COMMENT ON COLUMN tickets.events.rating_reasons IS 'What the rating is for, such as violence; words as the classification has them.';

CREATE VIEW finance.tickets AS
 SELECT t.id AS ticket_id,
    t.event_id,
    t.customer_id,
    t.order_id,
    t.promo_code_id,
    t.status,
    t.holds_place,
    ((t.status = ANY (ARRAY['pending'::text, 'available'::text, 'consumed'::text])) AND (e.cancelled_at IS NULL)) AS is_live,
    (t.holds_place AND (t.order_id IS NOT NULL) AND (e.cancelled_at IS NULL)) AS is_sold,
    (t.holds_place AND (t.order_id IS NULL) AND (t.promo_code_id IS NOT NULL) AND (e.cancelled_at IS NULL)) AS is_promo,
    t.register_date AS created_at,
    t.consumed_at,
    tickets.blocked(t.status, (t.refund_id)::text, o.disputed_at, e.cancelled_at) AS blocked,
    t.refunded_at
   FROM ((tickets.tickets t
     LEFT JOIN tickets.events e ON (((e.id)::text = (t.event_id)::text)))
     LEFT JOIN tickets.orders o ON (((o.id)::text = (t.order_id)::text)));

COMMENT ON VIEW finance.tickets IS 'Tickets, one row each. Source: tickets.tickets, tickets.events, tickets.orders.';

COMMENT ON COLUMN finance.tickets.ticket_id IS 'Key.';

COMMENT ON COLUMN finance.tickets.event_id IS 'The event (finance.events).';

COMMENT ON COLUMN finance.tickets.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.tickets.order_id IS 'The order that sold it; null for promo codes and gifts.';

COMMENT ON COLUMN finance.tickets.promo_code_id IS 'The promo code that made it; null for none.';

COMMENT ON COLUMN finance.tickets.status IS 'pending, available, consumed or expired.';

COMMENT ON COLUMN finance.tickets.holds_place IS 'False once it expired unpaid.';

COMMENT ON COLUMN finance.tickets.is_live IS 'pending, available or consumed, of an event that is not called off: counts in occupancy.';

COMMENT ON COLUMN finance.tickets.is_sold IS 'With an order, not expired unpaid, of an event that is not called off.';

COMMENT ON COLUMN finance.tickets.is_promo IS 'With a promo code and no order, likewise.';

COMMENT ON COLUMN finance.tickets.created_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.tickets.consumed_at IS 'When it was used at the door, UTC.';

COMMENT ON COLUMN finance.tickets.blocked IS 'Why it opens no door although its status holds: refund_requested, event_cancelled, payment_disputed; null when nothing blocks it.';

COMMENT ON COLUMN finance.tickets.refunded_at IS 'When its share of the orders money was given back, UTC.';

CREATE VIEW finance.events AS
 SELECT e.id AS event_id,
    e.title,
    e.event_type,
    e.event_date,
    e.ends_at,
    e.location,
    COALESCE(e.capacity, 0) AS capacity,
    e.is_active,
    e.is_sale_box_office AS is_on_sale,
    ((e.event_date > finance.now()) AND (e.cancelled_at IS NULL)) AS is_upcoming,
    COALESCE(e.ticket_value_cents, (0)::bigint) AS ticket_value_cents,
    t.live AS tickets_live,
    t.sold AS tickets_sold,
    t.promo AS tickets_promo,
    t.pending AS tickets_pending,
    t.available AS tickets_available,
    t.consumed AS tickets_consumed,
    t.expired AS tickets_expired,
    o.orders AS orders_count,
        CASE
            WHEN (e.cancelled_at IS NULL) THEN o.paid
            ELSE (0)::bigint
        END AS paid_orders,
        CASE
            WHEN (e.cancelled_at IS NULL) THEN GREATEST((o.revenue_cents - g.cents), (0)::bigint)
            ELSE (0)::bigint
        END AS revenue_cents,
        CASE
            WHEN (COALESCE(e.capacity, 0) = 0) THEN (0)::numeric
            ELSE round(((100.0 * (t.live)::numeric) / (e.capacity)::numeric), 2)
        END AS occupancy_pct,
    e.cancelled_at,
        CASE
            WHEN (e.cancelled_at IS NULL) THEN (0)::bigint
            ELSE GREATEST((o.revenue_cents - g.cents), (0)::bigint)
        END AS kept_cents
   FROM (((tickets.events e
     LEFT JOIN LATERAL ( SELECT count(*) FILTER (WHERE k.is_live) AS live,
            count(*) FILTER (WHERE k.is_sold) AS sold,
            count(*) FILTER (WHERE k.is_promo) AS promo,
            count(*) FILTER (WHERE (k.status = 'pending'::text)) AS pending,
            count(*) FILTER (WHERE (k.status = 'available'::text)) AS available,
            count(*) FILTER (WHERE (k.status = 'consumed'::text)) AS consumed,
            count(*) FILTER (WHERE (k.status = 'expired'::text)) AS expired
           FROM finance.tickets k
          WHERE ((k.event_id)::text = (e.id)::text)) t ON (true))
     LEFT JOIN LATERAL ( SELECT count(*) AS orders,
            count(*) FILTER (WHERE (b.payment_status = ANY (ARRAY['CONFIRMED'::text, 'RECEIVED'::text, 'succeeded'::text]))) AS paid,
            (COALESCE(sum(b.total_cents) FILTER (WHERE (b.payment_status = ANY (ARRAY['CONFIRMED'::text, 'RECEIVED'::text, 'succeeded'::text]))), (0)::numeric))::bigint AS revenue_cents
           FROM tickets.orders b
          WHERE ((b.event_id)::text = (e.id)::text)) o ON (true))
     LEFT JOIN LATERAL ( SELECT (COALESCE(sum(r.amount_cents), (0)::numeric))::bigint AS cents
           FROM (tickets.orders b
             JOIN payments.refunds r ON (((r.purpose = 'order'::text) AND ((r.local_id)::text = (b.id)::text) AND (r.payment_ref = COALESCE(b.gateway_payment_id, (b.id)::text)) AND (r.status = 'done'::text))))
          WHERE (((b.event_id)::text = (e.id)::text) AND (b.payment_status = ANY (ARRAY['CONFIRMED'::text, 'RECEIVED'::text, 'succeeded'::text])))) g ON (true));

COMMENT ON VIEW finance.events IS 'Events with their occupancy and revenue, one row each. Source: tickets.events, finance.tickets, tickets.orders, payments.refunds.';

COMMENT ON COLUMN finance.events.event_id IS 'Key.';

COMMENT ON COLUMN finance.events.title IS 'Title.';

COMMENT ON COLUMN finance.events.event_type IS 'movie_premiere, lecture, screening or other.';

COMMENT ON COLUMN finance.events.event_date IS 'Start, UTC.';

COMMENT ON COLUMN finance.events.ends_at IS 'End, UTC; three hours after the start when none was given.';

COMMENT ON COLUMN finance.events.location IS 'Place.';

COMMENT ON COLUMN finance.events.capacity IS 'Places; 0 is unlimited.';

COMMENT ON COLUMN finance.events.is_active IS 'Switched on.';

COMMENT ON COLUMN finance.events.is_on_sale IS 'Sold in the store.';

COMMENT ON COLUMN finance.events.is_upcoming IS 'Starts after finance.now(), and is not called off.';

COMMENT ON COLUMN finance.events.ticket_value_cents IS 'Price of one ticket, cents; 0 is free.';

COMMENT ON COLUMN finance.events.tickets_live IS 'Tickets pending, available or consumed.';

COMMENT ON COLUMN finance.events.tickets_sold IS 'Tickets with an order, not counting those that expired unpaid.';

COMMENT ON COLUMN finance.events.tickets_promo IS 'Tickets with a promo code and no order, likewise.';

COMMENT ON COLUMN finance.events.tickets_pending IS 'Tickets whose order is not paid yet.';

COMMENT ON COLUMN finance.events.tickets_available IS 'Tickets good to enter.';

COMMENT ON COLUMN finance.events.tickets_consumed IS 'Tickets used.';

COMMENT ON COLUMN finance.events.tickets_expired IS 'Tickets expired, paid or not.';

COMMENT ON COLUMN finance.events.orders_count IS 'Orders, paid or not.';

COMMENT ON COLUMN finance.events.paid_orders IS 'Paid orders.';

COMMENT ON COLUMN finance.events.revenue_cents IS 'Sum of total_cents of paid orders minus what was refunded of them, cents; 0 of a called off event.';

COMMENT ON COLUMN finance.events.occupancy_pct IS 'tickets_live / capacity x 100, two decimals; 0 for unlimited, and of a called off event.';

COMMENT ON COLUMN finance.events.cancelled_at IS 'When it was called off, UTC; none of its orders and tickets counts.';

COMMENT ON COLUMN finance.events.kept_cents IS 'Of a called off event: what of its paid orders is not given back, cents.';

CREATE VIEW finance.exits AS
 SELECT m.movement_id,
    m.customer_id,
    m.subscription_id,
    m.at,
    m.day,
    m.reason,
    m.returned_at,
    ((m.returned_at IS NULL) OR (((m.returned_at AT TIME ZONE z.report_tz))::date <> m.day)) AS counts_in_day,
    ((m.returned_at IS NULL) OR (date_trunc('month'::text, (m.returned_at AT TIME ZONE z.report_tz)) <> date_trunc('month'::text, (m.at AT TIME ZONE z.report_tz)))) AS counts_in_month
   FROM (finance.movements m
     CROSS JOIN finance.settings z)
  WHERE ((m.kind = 'exit'::text) AND (NOT m.is_renewal));

COMMENT ON VIEW finance.exits IS 'Access lost, renewals left out. Cancelled of a month: rows where counts_in_month. Source: finance.movements.';

COMMENT ON COLUMN finance.exits.movement_id IS 'Order in time: the id of the transition; 9223372036854775807 for access that has ended by its date while the row is not closed yet.';

COMMENT ON COLUMN finance.exits.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.exits.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance.exits.at IS 'When access stopped, UTC.';

COMMENT ON COLUMN finance.exits.day IS 'Day of at in the report time zone.';

COMMENT ON COLUMN finance.exits.reason IS 'Exactly one of payment_failure, customer_cancelled, admin_cancelled, chargeback, expired.';

COMMENT ON COLUMN finance.exits.returned_at IS 'When the same subscription came back; null while it has not.';

COMMENT ON COLUMN finance.exits.counts_in_day IS 'Counts in the figures of its day: it did not come back on the same day.';

COMMENT ON COLUMN finance.exits.counts_in_month IS 'Counts in the figures of its month: it did not come back in the same month.';

CREATE TABLE finance.export_chunks (
    export_id platform.object_id NOT NULL,
    attempt integer NOT NULL,
    n integer NOT NULL,
    data bytea NOT NULL,
    CONSTRAINT export_chunks_hold_bytes CHECK (((octet_length(data) >= 1) AND (octet_length(data) <= 262144))),
    CONSTRAINT export_chunks_place_not_negative CHECK ((n >= 0))
);
ALTER TABLE ONLY finance.export_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

COMMENT ON TABLE finance.export_chunks IS 'The bytes of exports in pieces of 262,144, the last one shorter. Not compressed again: workbooks and zips are.';

COMMENT ON COLUMN finance.export_chunks.n IS 'Place of the piece, from 0 without gaps.';

CREATE TABLE finance.exports (
    id platform.object_id NOT NULL,
    requested_by platform.object_id NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    format text NOT NULL COLLATE pg_catalog."C",
    parameters jsonb NOT NULL,
    filename text NOT NULL COLLATE pg_catalog."C",
    status text DEFAULT 'queued'::text NOT NULL COLLATE pg_catalog."C",
    attempt integer DEFAULT 0 NOT NULL,
    lease_until timestamp with time zone,
    rows_total bigint,
    rows_written bigint DEFAULT 0 NOT NULL,
    size bigint,
    error text,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    expires_at timestamp with time zone,
    CONSTRAINT exports_done_has_size CHECK (((status = 'done'::text) = (size IS NOT NULL))),
    CONSTRAINT exports_ended_has_end CHECK (((status = ANY (ARRAY['done'::text, 'failed'::text])) = ((finished_at IS NOT NULL) AND (expires_at IS NOT NULL)))),
    CONSTRAINT exports_failed_says_why CHECK (((status = 'failed'::text) = (error IS NOT NULL))),
    CONSTRAINT exports_format_known CHECK ((format = ANY (ARRAY['xlsx'::text, 'csv'::text, 'json'::text]))),
    CONSTRAINT exports_kind_known CHECK ((kind = ANY (ARRAY['finance'::text, 'events'::text, 'customers'::text]))),
    CONSTRAINT exports_running_is_leased CHECK (((status = 'running'::text) = (lease_until IS NOT NULL))),
    CONSTRAINT exports_status_known CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'failed'::text])))
);

COMMENT ON TABLE finance.exports IS 'Files that a job writes because they are long or because the admin asked for it so. Deleting a row stops its job and removes its bytes.';

COMMENT ON COLUMN finance.exports.requested_by IS 'The admin who asked; they and root alone see it. No foreign key: it is gone within days.';

COMMENT ON COLUMN finance.exports.kind IS 'finance, events or customers: what the file is of.';

COMMENT ON COLUMN finance.exports.parameters IS 'What was asked for, as the module''s exportRequest.';

COMMENT ON COLUMN finance.exports.attempt IS 'How often a worker has begun. Chunks carry it, so that a worker that lost the lease adds nothing to the next one''s file.';

COMMENT ON COLUMN finance.exports.lease_until IS 'Until when the worker has said that it will speak again; after it the export is begun anew.';

COMMENT ON COLUMN finance.exports.rows_total IS 'Counted by the job before it writes; null until then.';

COMMENT ON COLUMN finance.exports.size IS 'Bytes of the whole file.';

COMMENT ON COLUMN finance.exports.error IS 'A sentence for the admin; the cause is in the log.';

COMMENT ON COLUMN finance.exports.expires_at IS 'When file and row are removed.';

CREATE VIEW finance.failed_attempts AS
 SELECT f.id AS failed_attempt_id,
    f.gateway,
    f.gateway_payment_id,
    f.attempt,
    f.purpose,
        CASE
            WHEN (f.purpose = 'subscription'::text) THEN (f.local_id)::text
            ELSE NULL::text
        END AS subscription_id,
        CASE
            WHEN (f.purpose = 'order'::text) THEN (f.local_id)::text
            ELSE NULL::text
        END AS order_id,
    f.amount_cents,
    f.failed_at,
    ((f.failed_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS failed_on
   FROM payments.failed_attempts f;

COMMENT ON VIEW finance.failed_attempts IS 'Failed attempts to take a payment, one row a (gateway, payment or invoice, attempt number). A PIX that merely ran out is none. Source: payments.failed_attempts.';

COMMENT ON COLUMN finance.failed_attempts.failed_attempt_id IS 'Key.';

COMMENT ON COLUMN finance.failed_attempts.gateway IS 'gwa or gwb.';

COMMENT ON COLUMN finance.failed_attempts.gateway_payment_id IS 'The gateways id, for checking against its statements. Gateway A: pay_…. Gateway B: the invoice in_…, else the payment intent pi_….';

COMMENT ON COLUMN finance.failed_attempts.attempt IS 'Counted by the gateway from 1; 0 while the number has not been told.';

COMMENT ON COLUMN finance.failed_attempts.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';

COMMENT ON COLUMN finance.failed_attempts.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance.failed_attempts.order_id IS 'The ticket order (finance.orders); null when it is not about one.';

COMMENT ON COLUMN finance.failed_attempts.amount_cents IS 'What was to be paid, cents.';

COMMENT ON COLUMN finance.failed_attempts.failed_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.failed_attempts.failed_on IS 'Day of failed_at in the report time zone.';

CREATE TABLE finance.invariant_results (
    name text NOT NULL COLLATE pg_catalog."C",
    findings bigint NOT NULL,
    offenders jsonb NOT NULL,
    checked_at timestamp with time zone NOT NULL,
    CONSTRAINT invariant_results_findings_not_negative CHECK ((findings >= 0)),
    CONSTRAINT invariant_results_offenders_are_list CHECK ((jsonb_typeof(offenders) = 'array'::text))
);

COMMENT ON TABLE finance.invariant_results IS 'What the last check of the invariants found, one row an invariant; every process shows it as metrics.';

COMMENT ON COLUMN finance.invariant_results.name IS 'Of a file in sql/<module>/invariants.';

COMMENT ON COLUMN finance.invariant_results.offenders IS 'The first offenders, each with id and detail.';

CREATE TABLE finance.standing_deltas (
    id bigint NOT NULL,
    gateway text NOT NULL COLLATE pg_catalog."C",
    payment_method text NOT NULL COLLATE pg_catalog."C",
    plan_id text NOT NULL COLLATE pg_catalog."C",
    active bigint DEFAULT 0 NOT NULL,
    mrr_cents bigint DEFAULT 0 NOT NULL,
    trials bigint DEFAULT 0 NOT NULL,
    trial_mrr_cents bigint DEFAULT 0 NOT NULL,
    overdue bigint DEFAULT 0 NOT NULL,
    at_risk_cents bigint DEFAULT 0 NOT NULL,
    customers bigint DEFAULT 0 NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='10000');

COMMENT ON TABLE finance.standing_deltas IS 'What transactions changed in the present figures: inserted by triggers in the same transaction, never updated, taken out by finance.fold. By status alone: expiry by the date is judged when read.';

COMMENT ON COLUMN finance.standing_deltas.gateway IS 'Empty, as method and plan, in rows that count customers.';

CREATE TABLE finance.standing_rollup (
    gateway text NOT NULL COLLATE pg_catalog."C",
    payment_method text NOT NULL COLLATE pg_catalog."C",
    plan_id text NOT NULL COLLATE pg_catalog."C",
    active bigint DEFAULT 0 NOT NULL,
    mrr_cents bigint DEFAULT 0 NOT NULL,
    trials bigint DEFAULT 0 NOT NULL,
    trial_mrr_cents bigint DEFAULT 0 NOT NULL,
    overdue bigint DEFAULT 0 NOT NULL,
    at_risk_cents bigint DEFAULT 0 NOT NULL,
    customers bigint DEFAULT 0 NOT NULL
);

COMMENT ON TABLE finance.standing_rollup IS 'Folded deltas, one row a gateway, payment method and plan. Read finance.standing, which adds what is not folded yet and takes off what has expired.';

CREATE VIEW finance.standing AS
 SELECT f.gateway,
    f.payment_method,
    f.plan_id,
    (sum(f.active))::bigint AS active,
    (sum(f.mrr_cents))::bigint AS mrr_cents,
    (sum(f.trials))::bigint AS trials,
    (sum(f.trial_mrr_cents))::bigint AS trial_mrr_cents,
    (sum(f.overdue))::bigint AS overdue,
    (sum(f.at_risk_cents))::bigint AS at_risk_cents,
    (sum(f.customers))::bigint AS customers
   FROM ( SELECT standing_rollup.gateway,
            standing_rollup.payment_method,
            standing_rollup.plan_id,
            standing_rollup.active,
            standing_rollup.mrr_cents,
            standing_rollup.trials,
            standing_rollup.trial_mrr_cents,
            standing_rollup.overdue,
            standing_rollup.at_risk_cents,
            standing_rollup.customers
           FROM finance.standing_rollup
        UNION ALL
         SELECT standing_deltas.gateway,
            standing_deltas.payment_method,
            standing_deltas.plan_id,
            standing_deltas.active,
            standing_deltas.mrr_cents,
            standing_deltas.trials,
            standing_deltas.trial_mrr_cents,
            standing_deltas.overdue,
            standing_deltas.at_risk_cents,
            standing_deltas.customers
           FROM finance.standing_deltas
        UNION ALL
         SELECT s.gateway,
            s.payment_method,
            s.plan_id,
            '-1'::integer,
            (- s.price_cents),
            (- t.trial),
            ((- t.trial) * s.price_cents),
            0,
            0,
            0
           FROM (subscriptions.subscriptions s
             CROSS JOIN LATERAL ( SELECT (((s.trial_days > 0) AND (s.last_payment_at IS NULL)))::integer AS trial) t)
          WHERE ((s.status = 'active'::text) AND (s.expires_at IS NOT NULL) AND (s.expires_at <= finance.now()))) f
  GROUP BY f.gateway, f.payment_method, f.plan_id;

COMMENT ON VIEW finance.standing IS 'Present figures by gateway, payment method and plan, exact at any moment: the rollup, what is not folded yet, less what has expired by its date.';

COMMENT ON COLUMN finance.standing.gateway IS 'gwa or gwb; empty in the row that counts customers.';

COMMENT ON COLUMN finance.standing.payment_method IS 'credit_card, pix or boleto; empty likewise.';

COMMENT ON COLUMN finance.standing.plan_id IS 'The plan; empty likewise.';

COMMENT ON COLUMN finance.standing.active IS 'Active subscriptions as of finance.now().';

COMMENT ON COLUMN finance.standing.mrr_cents IS 'Sum of their monthly prices, cents.';

COMMENT ON COLUMN finance.standing.trials IS 'Of them, trials.';

COMMENT ON COLUMN finance.standing.trial_mrr_cents IS 'Monthly prices of the trials, cents; part of mrr_cents.';

COMMENT ON COLUMN finance.standing.overdue IS 'Overdue subscriptions.';

COMMENT ON COLUMN finance.standing.at_risk_cents IS 'Sum of their monthly prices, cents.';

COMMENT ON COLUMN finance.standing.customers IS 'Customers that are not deleted; in the row of empty texts alone.';

CREATE VIEW finance.mrr AS
 SELECT s.gateway,
    s.payment_method,
    s.plan_id,
    p.name AS plan_name,
    s.active AS active_subscriptions,
    s.mrr_cents,
    s.trials,
    s.trial_mrr_cents,
    s.overdue AS overdue_subscriptions,
    s.at_risk_cents
   FROM (finance.standing s
     JOIN subscriptions.plans p ON ((p.plan_id = s.plan_id)))
  WHERE ((s.active <> 0) OR (s.overdue <> 0));

COMMENT ON VIEW finance.mrr IS 'Present monthly recurring revenue, one row a gateway, payment method and plan; exact at any moment. A yearly PIX counts its monthly price once; the first-month discount does not lower it. Source: finance.standing.';

COMMENT ON COLUMN finance.mrr.gateway IS 'gwa or gwb.';

COMMENT ON COLUMN finance.mrr.payment_method IS 'credit_card, pix or boleto.';

COMMENT ON COLUMN finance.mrr.plan_id IS 'The plan.';

COMMENT ON COLUMN finance.mrr.plan_name IS 'Its present name.';

COMMENT ON COLUMN finance.mrr.active_subscriptions IS 'Active subscriptions, trials among them.';

COMMENT ON COLUMN finance.mrr.mrr_cents IS 'Sum of their monthly prices as they were sold, cents.';

COMMENT ON COLUMN finance.mrr.trials IS 'Of them, trials: nothing has been paid yet.';

COMMENT ON COLUMN finance.mrr.trial_mrr_cents IS 'Monthly prices of the trials, cents; part of mrr_cents.';

COMMENT ON COLUMN finance.mrr.overdue_subscriptions IS 'Overdue subscriptions, active or suspended.';

COMMENT ON COLUMN finance.mrr.at_risk_cents IS 'Sum of their monthly prices, cents.';

CREATE TABLE finance.mrr_deltas (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    left_at timestamp with time zone,
    left_cents bigint DEFAULT 0 NOT NULL,
    new_cents bigint DEFAULT 0 NOT NULL,
    expansion_cents bigint DEFAULT 0 NOT NULL,
    reactivation_cents bigint DEFAULT 0 NOT NULL,
    contraction_cents bigint DEFAULT 0 NOT NULL,
    churn_cents bigint DEFAULT 0 NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='10000');

COMMENT ON TABLE finance.mrr_deltas IS 'What transactions changed in the movements of MRR: inserted by triggers in the same transaction, never updated, taken out by finance.fold. Instants, not months, so that a change of the report time zone leaves them right.';

COMMENT ON COLUMN finance.mrr_deltas.at IS 'When it counts.';

COMMENT ON COLUMN finance.mrr_deltas.left_at IS 'Of a subscription that comes back: when its access had stopped. Within one month both are none, but for the other price.';

COMMENT ON COLUMN finance.mrr_deltas.left_cents IS 'Its price then.';

COMMENT ON COLUMN finance.mrr_deltas.churn_cents IS 'Negative: an exit that a renewal or a withdrawn chargeback undid.';

ALTER TABLE finance.mrr_deltas ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME finance.mrr_deltas_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE finance.mrr_rollup (
    month date NOT NULL,
    new_cents bigint DEFAULT 0 NOT NULL,
    expansion_cents bigint DEFAULT 0 NOT NULL,
    reactivation_cents bigint DEFAULT 0 NOT NULL,
    contraction_cents bigint DEFAULT 0 NOT NULL,
    churn_cents bigint DEFAULT 0 NOT NULL
);

COMMENT ON TABLE finance.mrr_rollup IS 'Folded deltas of MRR by month. Read finance.mrr_movements.';

CREATE VIEW finance_internal.mrr_months AS
 SELECT f.month,
    (sum(f.new_cents))::bigint AS new_cents,
    (sum(f.expansion_cents))::bigint AS expansion_cents,
    (sum(f.reactivation_cents))::bigint AS reactivation_cents,
    (sum(f.contraction_cents))::bigint AS contraction_cents,
    (sum(f.churn_cents))::bigint AS churn_cents
   FROM ( SELECT r.month,
            r.new_cents,
            r.expansion_cents,
            r.reactivation_cents,
            r.contraction_cents,
            r.churn_cents
           FROM finance.mrr_rollup r
        UNION ALL
         SELECT finance.month_of(d.at, z.report_tz) AS month_of,
            d.new_cents,
            (d.expansion_cents +
                CASE
                    WHEN x.in_month THEN GREATEST((d.reactivation_cents - d.left_cents), (0)::bigint)
                    ELSE (0)::bigint
                END),
                CASE
                    WHEN x.in_month THEN (0)::bigint
                    ELSE d.reactivation_cents
                END AS reactivation_cents,
            (d.contraction_cents +
                CASE
                    WHEN x.in_month THEN GREATEST((d.left_cents - d.reactivation_cents), (0)::bigint)
                    ELSE (0)::bigint
                END),
            (d.churn_cents -
                CASE
                    WHEN x.in_month THEN d.left_cents
                    ELSE (0)::bigint
                END)
           FROM ((finance.mrr_deltas d
             CROSS JOIN finance.settings z)
             CROSS JOIN LATERAL ( SELECT (finance.month_of(d.left_at, z.report_tz) = finance.month_of(d.at, z.report_tz)) AS in_month) x)
        UNION ALL
         SELECT finance.month_of(GREATEST(s.expires_at, e.at), z.report_tz) AS month_of,
            0,
            0,
            0,
            0,
            s.price_cents
           FROM ((subscriptions.subscriptions s
             CROSS JOIN finance.settings z)
             JOIN LATERAL ( SELECT t.at
                   FROM subscriptions.transitions t
                  WHERE (((t.subscription_id)::text = (s.id)::text) AND (t.to_status = 'active'::text))
                  ORDER BY t.id DESC
                 LIMIT 1) e ON (true))
          WHERE ((s.status = 'active'::text) AND (s.expires_at IS NOT NULL) AND (s.expires_at <= finance.now()))) f
  GROUP BY f.month;

COMMENT ON VIEW finance_internal.mrr_months IS 'Movements of MRR by month, exact at any moment: the rollup, what is not folded yet, and access that has ended by its date. Read finance.mrr_movements.';

COMMENT ON COLUMN finance_internal.mrr_months.month IS 'First day of the month, in the report time zone.';

COMMENT ON COLUMN finance_internal.mrr_months.new_cents IS 'First activations ever of customers, cents a month.';

COMMENT ON COLUMN finance_internal.mrr_months.expansion_cents IS 'Higher prices while active, cents.';

COMMENT ON COLUMN finance_internal.mrr_months.reactivation_cents IS 'Returns after an exit, cents.';

COMMENT ON COLUMN finance_internal.mrr_months.contraction_cents IS 'Lower prices while active, cents.';

COMMENT ON COLUMN finance_internal.mrr_months.churn_cents IS 'Exits, cents.';

CREATE VIEW finance.mrr_movements AS
 SELECT m.month,
    ((sum(m.change_cents) OVER w - (m.change_cents)::numeric))::bigint AS opening_cents,
    m.new_cents,
    m.expansion_cents,
    m.reactivation_cents,
    m.contraction_cents,
    m.churn_cents,
    (sum(m.change_cents) OVER w)::bigint AS closing_cents
   FROM ( SELECT k.month,
            COALESCE(f.new_cents, (0)::bigint) AS new_cents,
            COALESCE(f.expansion_cents, (0)::bigint) AS expansion_cents,
            COALESCE(f.reactivation_cents, (0)::bigint) AS reactivation_cents,
            COALESCE(f.contraction_cents, (0)::bigint) AS contraction_cents,
            COALESCE(f.churn_cents, (0)::bigint) AS churn_cents,
            COALESCE(((((f.new_cents + f.expansion_cents) + f.reactivation_cents) - f.contraction_cents) - f.churn_cents), (0)::bigint) AS change_cents
           FROM (( SELECT (g.month)::date AS month
                   FROM ((( SELECT min(b.month) AS first_month,
                            max(b.month) AS last_month
                           FROM finance_internal.mrr_months b) e
                     CROSS JOIN finance.clock c)
                     CROSS JOIN LATERAL generate_series((e.first_month)::timestamp without time zone, (GREATEST(c.today, e.last_month))::timestamp without time zone, '1 mon'::interval) g(month))) k
             LEFT JOIN finance_internal.mrr_months f ON ((f.month = k.month)))) m
  WINDOW w AS (ORDER BY m.month);

COMMENT ON VIEW finance.mrr_movements IS 'How monthly recurring revenue moved, one row for each month from the first on, exact at any moment, by customer: opening + new + expansion + reactivation - contraction - churn = closing in every row, and closing is the opening of the next. A return within the month of its exit is neither, but for the difference of its price. The month of access that begins and ends counts; a renewal counts only its other price. Source: what subscriptions.transitions and finance.price_changes add up to.';

COMMENT ON COLUMN finance.mrr_movements.month IS 'First day of the month, in the report time zone.';

COMMENT ON COLUMN finance.mrr_movements.opening_cents IS 'MRR at its beginning, cents.';

COMMENT ON COLUMN finance.mrr_movements.new_cents IS 'MRR of customers who were active for the first time ever, trials among them, cents.';

COMMENT ON COLUMN finance.mrr_movements.expansion_cents IS 'What higher prices of active customers added, cents.';

COMMENT ON COLUMN finance.mrr_movements.reactivation_cents IS 'MRR of customers who came back after an exit, cents.';

COMMENT ON COLUMN finance.mrr_movements.contraction_cents IS 'What lower prices of active customers took away, cents.';

COMMENT ON COLUMN finance.mrr_movements.churn_cents IS 'MRR of customers who left, as it was when they did, cents.';

COMMENT ON COLUMN finance.mrr_movements.closing_cents IS 'MRR at its end, cents; of the present month, now: mrr_cents of finance.overview.';

CREATE VIEW finance.orders AS
 SELECT o.id AS order_id,
    o.customer_id,
    o.event_id,
    e.title AS event_title,
    e.event_type,
    o.quantity,
    o.unit_price_cents,
    o.total_cents,
    o.gateway,
    o.payment_method,
    o.gateway_payment_id,
    o.payment_status,
    ((o.payment_status = ANY (ARRAY['CONFIRMED'::text, 'RECEIVED'::text, 'succeeded'::text])) AND (e.cancelled_at IS NULL)) AS is_paid,
    o.state,
    o.without_login,
    o.created_at,
    ((o.created_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS created_on,
    o.paid_at,
    ((o.paid_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS paid_on,
    o.disputed_at,
    (COALESCE(r.cents, (0)::numeric))::bigint AS refunded_cents,
    (
        CASE
            WHEN ((o.payment_status = ANY (ARRAY['CONFIRMED'::text, 'RECEIVED'::text, 'succeeded'::text])) AND (e.cancelled_at IS NULL)) THEN GREATEST(((o.total_cents)::numeric - COALESCE(r.cents, (0)::numeric)), (0)::numeric)
            ELSE (0)::numeric
        END)::bigint AS revenue_cents,
    e.cancelled_at AS event_cancelled_at,
    (
        CASE
            WHEN ((o.payment_status = ANY (ARRAY['CONFIRMED'::text, 'RECEIVED'::text, 'succeeded'::text])) AND (e.cancelled_at IS NOT NULL)) THEN GREATEST(((o.total_cents)::numeric - COALESCE(r.cents, (0)::numeric)), (0)::numeric)
            ELSE (0)::numeric
        END)::bigint AS kept_cents,
    o.sold_by_id,
    (o.sold_by_id IS NOT NULL) AS is_box_office
   FROM ((tickets.orders o
     JOIN tickets.events e ON (((e.id)::text = (o.event_id)::text)))
     LEFT JOIN ( SELECT refunds.local_id,
            refunds.payment_ref,
            sum(refunds.amount_cents) AS cents
           FROM payments.refunds
          WHERE ((refunds.purpose = 'order'::text) AND (refunds.status = 'done'::text))
          GROUP BY refunds.local_id, refunds.payment_ref) r ON ((((r.local_id)::text = (o.id)::text) AND (r.payment_ref = COALESCE(o.gateway_payment_id, (o.id)::text)))));

COMMENT ON VIEW finance.orders IS 'Orders of the ticket store and the box office, one row each. Order revenue is the sum of revenue_cents. Source: tickets.orders, payments.refunds.';

COMMENT ON COLUMN finance.orders.order_id IS 'Key.';

COMMENT ON COLUMN finance.orders.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.orders.event_id IS 'The event (finance.events).';

COMMENT ON COLUMN finance.orders.event_title IS 'The events title.';

COMMENT ON COLUMN finance.orders.event_type IS 'movie_premiere, lecture, screening or other.';

COMMENT ON COLUMN finance.orders.quantity IS 'Tickets.';

COMMENT ON COLUMN finance.orders.unit_price_cents IS 'Price of one ticket as sold, cents.';

COMMENT ON COLUMN finance.orders.total_cents IS 'Cents.';

COMMENT ON COLUMN finance.orders.gateway IS 'gwa or gwb; null for free orders and those of the box office.';

COMMENT ON COLUMN finance.orders.payment_method IS 'credit_card or pix; of the box office cash, card_machine or courtesy; null for free orders of the store.';

COMMENT ON COLUMN finance.orders.gateway_payment_id IS 'The gateways id of its payment.';

COMMENT ON COLUMN finance.orders.payment_status IS 'The gateways own word; CHARGEBACK_LOST when a dispute took the money.';

COMMENT ON COLUMN finance.orders.is_paid IS 'payment_status is CONFIRMED, RECEIVED or succeeded, and the event is not called off: an order that was refunded in full, or whose money a dispute took, has left.';

COMMENT ON COLUMN finance.orders.state IS 'reserved, paid, released, refund_due, refunded or lost (a dispute took its money).';

COMMENT ON COLUMN finance.orders.without_login IS 'Bought as a guest.';

COMMENT ON COLUMN finance.orders.created_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.orders.created_on IS 'Day of created_at in the report time zone.';

COMMENT ON COLUMN finance.orders.paid_at IS 'When it was paid, UTC.';

COMMENT ON COLUMN finance.orders.paid_on IS 'Day of paid_at in the report time zone.';

COMMENT ON COLUMN finance.orders.disputed_at IS 'Since when a dispute of its payment is open, UTC; null while none is.';

COMMENT ON COLUMN finance.orders.refunded_cents IS 'Given back of its own payment, or handed back at the box office, cents.';

COMMENT ON COLUMN finance.orders.revenue_cents IS 'total_cents minus refunded_cents where is_paid, else 0; cents.';

COMMENT ON COLUMN finance.orders.event_cancelled_at IS 'When its event was called off, UTC; null while it is not.';

COMMENT ON COLUMN finance.orders.kept_cents IS 'Of a called off event: total_cents minus refunded_cents, as long as it is here; cents. It is owed or was not asked for, and no revenue.';

COMMENT ON COLUMN finance.orders.sold_by_id IS 'Of the box office, the member of staff who sold it; null of the store.';

COMMENT ON COLUMN finance.orders.is_box_office IS 'Sold at the box office: paid at once, without a gateway.';

CREATE VIEW finance.subscriptions AS
 SELECT s.id AS subscription_id,
    s.customer_id,
    s.plan_id,
    p.name AS plan_name,
    p.tier,
    s.gateway,
    s.payment_method,
    s.pix_automatic,
    s.status,
    s.price_cents,
    s.period_months,
    s.trial_days,
    ((s.status = 'active'::text) AND ((s.expires_at IS NULL) OR (s.expires_at > finance.now()))) AS is_active,
    ((s.status = 'active'::text) AND ((s.expires_at IS NULL) OR (s.expires_at > finance.now())) AND (s.trial_days > 0) AND (s.last_payment_at IS NULL)) AS is_trial,
    (((s.payment_failures > 0) OR (s.status = 'suspended'::text)) AND (s.status <> ALL (ARRAY['cancelled'::text, 'expired'::text]))) AS is_overdue,
    s.payment_failures,
    s.has_chargeback,
    s.cancel_at_period_end,
    s.total_refunded_cents,
    (s.promo_code IS NOT NULL) AS has_promo_code,
    s.register_date AS created_at,
    ((s.register_date AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS created_on,
    s.started_at,
    s.last_payment_at,
    s.next_billing_date,
    s.expires_at,
    s.ended_at
   FROM (subscriptions.subscriptions s
     JOIN subscriptions.plans p ON ((p.plan_id = s.plan_id)));

COMMENT ON VIEW finance.subscriptions IS 'Subscriptions, one row each, as they stand. Source: subscriptions.subscriptions and plans.';

COMMENT ON COLUMN finance.subscriptions.subscription_id IS 'Key.';

COMMENT ON COLUMN finance.subscriptions.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.subscriptions.plan_id IS 'The plans text id (finance.plans).';

COMMENT ON COLUMN finance.subscriptions.plan_name IS 'The plans present name.';

COMMENT ON COLUMN finance.subscriptions.tier IS '1 basic, 2 plus, 3 premium.';

COMMENT ON COLUMN finance.subscriptions.gateway IS 'gwa or gwb.';

COMMENT ON COLUMN finance.subscriptions.payment_method IS 'credit_card, pix or boleto.';

COMMENT ON COLUMN finance.subscriptions.pix_automatic IS 'PIX that the payer has authorized once; each debit is ordered by us.';

COMMENT ON COLUMN finance.subscriptions.status IS 'active, pending, suspended, cancelled or expired. An active one may have run out: see is_active.';

COMMENT ON COLUMN finance.subscriptions.price_cents IS 'Price of one month in cents as it was sold; a later change of the plan does not move it.';

COMMENT ON COLUMN finance.subscriptions.period_months IS 'Months that one payment buys: 1 by card, the configured period by PIX.';

COMMENT ON COLUMN finance.subscriptions.trial_days IS 'Free days that it began with; 0 without a trial.';

COMMENT ON COLUMN finance.subscriptions.is_active IS 'Opens the videos: status active, and expires_at null or after finance.now(). Counts in active_subscriptions and MRR.';

COMMENT ON COLUMN finance.subscriptions.is_trial IS 'Active, began with free days and nothing has been paid yet. Counts in MRR, and apart in trial_mrr.';

COMMENT ON COLUMN finance.subscriptions.is_overdue IS '(payment_failures > 0 or status suspended) and status neither cancelled nor expired.';

COMMENT ON COLUMN finance.subscriptions.payment_failures IS 'Failed payments in a row; a payment resets it.';

COMMENT ON COLUMN finance.subscriptions.has_chargeback IS 'A dispute has closed it.';

COMMENT ON COLUMN finance.subscriptions.cancel_at_period_end IS 'Cancelled, with paid time left until expires_at.';

COMMENT ON COLUMN finance.subscriptions.total_refunded_cents IS 'Cents given back so far.';

COMMENT ON COLUMN finance.subscriptions.has_promo_code IS 'A promo code lowers its first payment.';

COMMENT ON COLUMN finance.subscriptions.created_at IS 'When it was ordered, UTC.';

COMMENT ON COLUMN finance.subscriptions.created_on IS 'Day of created_at in the report time zone.';

COMMENT ON COLUMN finance.subscriptions.started_at IS 'When it first became active; null while it never was.';

COMMENT ON COLUMN finance.subscriptions.last_payment_at IS 'Instant of the last payment, UTC.';

COMMENT ON COLUMN finance.subscriptions.next_billing_date IS 'When the next period begins and is charged; null while nothing recurs.';

COMMENT ON COLUMN finance.subscriptions.expires_at IS 'End of access; null while a recurrence runs.';

COMMENT ON COLUMN finance.subscriptions.ended_at IS 'When it became cancelled or expired.';

CREATE VIEW finance.overdue AS
 SELECT o.subscription_id,
    o.customer_id,
    o.plan_id,
    o.plan_name,
    o.gateway,
    o.payment_method,
    o.status AS subscription_status,
    o.price_cents AS amount_cents,
    o.payment_failures,
    o.last_payment_at,
    o.next_billing_date,
    o.due_on,
    GREATEST(COALESCE((o.today - o.due_on), 0), 0) AS days_overdue
   FROM ( SELECT s.subscription_id,
            s.customer_id,
            s.plan_id,
            s.plan_name,
            s.gateway,
            s.payment_method,
            s.status,
            s.price_cents,
            s.payment_failures,
            s.last_payment_at,
            s.next_billing_date,
            c.today,
                CASE
                    WHEN (d.next_billing_date < c.now) THEN ((d.next_billing_date AT TIME ZONE c.report_tz))::date
                    ELSE NULLIF(d.otherwise_on, 'infinity'::date)
                END AS due_on
           FROM ((finance.dues d
             CROSS JOIN ( SELECT k.now,
                    k.today,
                    k.report_tz
                   FROM finance.clock k
                 OFFSET 0) c)
             JOIN finance.subscriptions s ON (((s.subscription_id)::text = (d.subscription_id)::text)))) o;

COMMENT ON VIEW finance.overdue IS 'Overdue subscriptions, one row each: (payment_failures > 0 or suspended) and neither cancelled nor expired. total_amount_at_risk is the sum of amount_cents. Source: finance.subscriptions.';

COMMENT ON COLUMN finance.overdue.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance.overdue.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.overdue.plan_id IS 'The plans text id (finance.plans).';

COMMENT ON COLUMN finance.overdue.plan_name IS 'The plans present name.';

COMMENT ON COLUMN finance.overdue.gateway IS 'gwa or gwb.';

COMMENT ON COLUMN finance.overdue.payment_method IS 'credit_card, pix or boleto.';

COMMENT ON COLUMN finance.overdue.subscription_status IS 'Its status.';

COMMENT ON COLUMN finance.overdue.amount_cents IS 'Price of one month, cents.';

COMMENT ON COLUMN finance.overdue.payment_failures IS 'Failed payments in a row; a payment resets it.';

COMMENT ON COLUMN finance.overdue.last_payment_at IS 'Instant of the last payment, UTC.';

COMMENT ON COLUMN finance.overdue.next_billing_date IS 'When the next period begins and is charged; null while nothing recurs.';

COMMENT ON COLUMN finance.overdue.due_on IS 'First due day that was missed, in the report time zone: of the first failure since the last payment, else last_payment_at plus the period, else of next_billing_date when past; null when none is known.';

COMMENT ON COLUMN finance.overdue.days_overdue IS 'Calendar days from due_on to today, at least 0; it never falls while nothing is paid.';

CREATE TABLE finance.return_rollup (
    day date NOT NULL,
    left_day date NOT NULL,
    returns bigint DEFAULT 0 NOT NULL
);

COMMENT ON TABLE finance.return_rollup IS 'Folded deltas: subscriptions whose access came back on day and had stopped on left_day, so that both can be left out of any period that holds both. Read finance.returns.';

CREATE VIEW finance.returns AS
 SELECT f.day,
    f.left_day,
    (sum(f.returns))::bigint AS returns
   FROM ( SELECT r.day,
            r.left_day,
            r.returns
           FROM finance.return_rollup r
        UNION ALL
         SELECT ((d.at AT TIME ZONE z.report_tz))::date AS timezone,
            ((d.left_at AT TIME ZONE z.report_tz))::date AS timezone,
            d.entries
           FROM (finance.daily_deltas d
             CROSS JOIN finance.settings z)
          WHERE (d.left_at IS NOT NULL)) f
  GROUP BY f.day, f.left_day;

COMMENT ON VIEW finance.returns IS 'Subscriptions whose access came back, by day and by the day on which it had stopped: what is left out of a period that holds both. Exact at any moment.';

COMMENT ON COLUMN finance.returns.day IS 'Day of the return, in the report time zone.';

COMMENT ON COLUMN finance.returns.left_day IS 'Day on which access had stopped.';

COMMENT ON COLUMN finance.returns.returns IS 'Number.';

CREATE VIEW finance.overview AS
 SELECT n.mrr_cents,
    n.mrr_gwa_cents,
    n.mrr_gwb_cents,
    n.trial_mrr_cents,
    (n.mrr_cents * 12) AS arr_cents,
    (
        CASE
            WHEN (n.active = 0) THEN (0)::numeric
            ELSE round(((n.mrr_cents)::numeric / (n.active)::numeric))
        END)::bigint AS average_ticket_cents,
    n.active AS active_subscriptions,
    n.trials,
    n.customers AS total_customers,
    n.overdue AS overdue_count,
    n.at_risk_cents AS amount_at_risk_cents,
    (d.exits_30d - r.returns_30d) AS exits_30d,
    d.active_30d_ago,
        CASE
            WHEN (d.active_30d_ago = 0) THEN (0)::numeric
            ELSE round(((100.0 * ((d.exits_30d - r.returns_30d))::numeric) / (d.active_30d_ago)::numeric), 2)
        END AS churn_rate_30d,
    d.total_refunded_cents,
    d.total_chargebacks_cents,
    d.gross_30d_cents,
    d.refunds_30d_cents,
    d.chargebacks_30d_cents,
    (n.mrr_cents - d.refunds_30d_cents) AS net_revenue_30d_cents,
    ((d.gross_30d_cents - d.refunds_30d_cents) - d.chargebacks_30d_cents) AS cash_net_30d_cents,
    d.payments_30d,
    d.failed_attempts_30d,
        CASE
            WHEN ((d.payments_30d + d.failed_attempts_30d) = 0) THEN (0)::numeric
            ELSE round(((100.0 * (d.payments_30d)::numeric) / ((d.payments_30d + d.failed_attempts_30d))::numeric), 2)
        END AS payment_success_rate
   FROM ((( SELECT (COALESCE(sum(s.mrr_cents), (0)::numeric))::bigint AS mrr_cents,
            (COALESCE(sum(s.mrr_cents) FILTER (WHERE (s.gateway = 'gwa'::text)), (0)::numeric))::bigint AS mrr_gwa_cents,
            (COALESCE(sum(s.mrr_cents) FILTER (WHERE (s.gateway = 'gwb'::text)), (0)::numeric))::bigint AS mrr_gwb_cents,
            (COALESCE(sum(s.trial_mrr_cents), (0)::numeric))::bigint AS trial_mrr_cents,
            (COALESCE(sum(s.active), (0)::numeric))::bigint AS active,
            (COALESCE(sum(s.trials), (0)::numeric))::bigint AS trials,
            (COALESCE(sum(s.overdue), (0)::numeric))::bigint AS overdue,
            (COALESCE(sum(s.at_risk_cents), (0)::numeric))::bigint AS at_risk_cents,
            (COALESCE(sum(s.customers), (0)::numeric))::bigint AS customers
           FROM finance.standing s) n
     CROSS JOIN ( SELECT (COALESCE(sum(f.refunds_cents), (0)::numeric))::bigint AS total_refunded_cents,
            (COALESCE(sum(f.chargebacks_cents), (0)::numeric))::bigint AS total_chargebacks_cents,
            (COALESCE(sum((f.gross_gwa_cents + f.gross_gwb_cents)) FILTER (WHERE (f.day >= c.since)), (0)::numeric))::bigint AS gross_30d_cents,
            (COALESCE(sum(f.refunds_cents) FILTER (WHERE (f.day >= c.since)), (0)::numeric))::bigint AS refunds_30d_cents,
            (COALESCE(sum(f.chargebacks_cents) FILTER (WHERE (f.day >= c.since)), (0)::numeric))::bigint AS chargebacks_30d_cents,
            (COALESCE(sum(f.payments) FILTER (WHERE (f.day >= c.since)), (0)::numeric))::bigint AS payments_30d,
            (COALESCE(sum(f.failed_attempts) FILTER (WHERE (f.day >= c.since)), (0)::numeric))::bigint AS failed_attempts_30d,
            (COALESCE(sum(((((f.exits_payment_failure + f.exits_customer_cancelled) + f.exits_admin_cancelled) + f.exits_chargeback) + f.exits_expired)) FILTER (WHERE (f.day >= c.since)), (0)::numeric))::bigint AS exits_30d,
            (COALESCE(sum((((((f.entries - f.exits_payment_failure) - f.exits_customer_cancelled) - f.exits_admin_cancelled) - f.exits_chargeback) - f.exits_expired)) FILTER (WHERE (f.day < c.since)), (0)::numeric))::bigint AS active_30d_ago
           FROM (finance_internal.daily_parts f
             CROSS JOIN ( SELECT (k.today - 30) AS since
                   FROM finance.clock k
                 OFFSET 0) c)) d)
     CROSS JOIN ( SELECT (COALESCE(sum(b.returns), (0)::numeric))::bigint AS returns_30d
           FROM (finance.returns b
             CROSS JOIN ( SELECT (k.today - 30) AS since
                   FROM finance.clock k
                 OFFSET 0) c)
          WHERE ((b.day >= c.since) AND (b.left_day >= c.since))) r);

COMMENT ON VIEW finance.overview IS 'One row: the figures of GET /api/v1/admin/finance/overview, exact at any moment. The last 30 days begin at midnight of the day 30 days ago, in the report time zone, and end now. Source: finance.standing, finance.daily, finance.returns.';

COMMENT ON COLUMN finance.overview.mrr_cents IS 'Sum over active subscriptions of the monthly price as it was sold, cents.';

COMMENT ON COLUMN finance.overview.mrr_gwa_cents IS 'The part of gateway A, cents.';

COMMENT ON COLUMN finance.overview.mrr_gwb_cents IS 'The part of gateway B, cents.';

COMMENT ON COLUMN finance.overview.trial_mrr_cents IS 'The part of trials, cents.';

COMMENT ON COLUMN finance.overview.arr_cents IS 'mrr_cents x 12.';

COMMENT ON COLUMN finance.overview.average_ticket_cents IS 'mrr_cents / active_subscriptions, rounded half up, cents.';

COMMENT ON COLUMN finance.overview.active_subscriptions IS 'status active, and expires_at null or in the future.';

COMMENT ON COLUMN finance.overview.trials IS 'Of them, trials.';

COMMENT ON COLUMN finance.overview.total_customers IS 'Customers that are not deleted.';

COMMENT ON COLUMN finance.overview.overdue_count IS 'Subscriptions with payment_failures > 0 or suspended, neither cancelled nor expired.';

COMMENT ON COLUMN finance.overview.amount_at_risk_cents IS 'Sum of the monthly prices of the overdue, cents.';

COMMENT ON COLUMN finance.overview.exits_30d IS 'Customers whose access stopped in the last 30 days, without those whose subscription came back within them.';

COMMENT ON COLUMN finance.overview.active_30d_ago IS 'Active customers at the beginning of the last 30 days.';

COMMENT ON COLUMN finance.overview.churn_rate_30d IS 'exits_30d / active_30d_ago x 100, percent, two decimals.';

COMMENT ON COLUMN finance.overview.total_refunded_cents IS 'Refunds of subscriptions, all time, cents.';

COMMENT ON COLUMN finance.overview.total_chargebacks_cents IS 'Chargebacks of subscriptions less what won disputes gave back, all time, cents.';

COMMENT ON COLUMN finance.overview.gross_30d_cents IS 'Gross of the last 30 days, cents.';

COMMENT ON COLUMN finance.overview.refunds_30d_cents IS 'Refunds of the last 30 days, cents.';

COMMENT ON COLUMN finance.overview.chargebacks_30d_cents IS 'Chargebacks of the last 30 days, cents.';

COMMENT ON COLUMN finance.overview.net_revenue_30d_cents IS 'mrr_cents - refunds_30d_cents.';

COMMENT ON COLUMN finance.overview.cash_net_30d_cents IS 'gross_30d_cents - refunds_30d_cents - chargebacks_30d_cents.';

COMMENT ON COLUMN finance.overview.payments_30d IS 'Settled attempts of the last 30 days.';

COMMENT ON COLUMN finance.overview.failed_attempts_30d IS 'Failed attempts of the last 30 days.';

COMMENT ON COLUMN finance.overview.payment_success_rate IS 'payments_30d / (payments_30d + failed_attempts_30d) x 100, percent, two decimals.';

CREATE TABLE payments.payments (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    gateway text NOT NULL,
    gateway_payment_id text NOT NULL,
    invoice_id text,
    payment_intent_id text,
    purpose text NOT NULL,
    local_id platform.object_id NOT NULL,
    customer_id platform.object_id NOT NULL,
    amount_cents bigint NOT NULL,
    method text NOT NULL,
    native_status text NOT NULL,
    settled_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    counted boolean,
    due_at timestamp with time zone,
    shown_at timestamp with time zone,
    CONSTRAINT payments_amount_bounded CHECK ((amount_cents <= '100000000000'::bigint)),
    CONSTRAINT payments_amount_not_negative CHECK ((amount_cents >= 0)),
    CONSTRAINT payments_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT payments_method_known CHECK ((method = ANY (ARRAY['credit_card'::text, 'pix'::text, 'boleto'::text]))),
    CONSTRAINT payments_purpose_known CHECK (((purpose = ANY (ARRAY['subscription'::text, 'order'::text])) OR ((purpose = 'customer'::text) AND ((local_id)::text = (customer_id)::text))))
);

COMMENT ON TABLE payments.payments IS 'The ledger: one row a settled gateway payment. Totals are derived from it.';

COMMENT ON COLUMN payments.payments.gateway_payment_id IS 'Gateway A: pay_…. Gateway B: the invoice in_… when there is one, else the payment intent pi_…, so that the synchronous answer and invoice.paid end in one row.';

COMMENT ON COLUMN payments.payments.payment_intent_id IS 'Gateway B, once known: newer invoice events do not tell it.';

COMMENT ON COLUMN payments.payments.purpose IS 'customer: money of a customer of ours that is of no subscription and no order; it stands on the list of unapplied payments and counts in no figure.';

COMMENT ON COLUMN payments.payments.local_id IS 'The subscription, order or customer, by purpose. No foreign key: they belong to other modules, and the ledger outlives them.';

COMMENT ON COLUMN payments.payments.customer_id IS 'Kept without a foreign key: the money record outlives the customer.';

COMMENT ON COLUMN payments.payments.native_status IS 'The gateway''s own word, such as CONFIRMED, RECEIVED, succeeded, paid.';

COMMENT ON COLUMN payments.payments.settled_at IS 'When the money counted: approved or received, whichever was first.';

COMMENT ON COLUMN payments.payments.counted IS 'Of a subscription''s payment: whether it opened the subscription or paid one of its periods. False: it gave nothing, and stands on the list of unapplied payments. NULL: of an order, or booked before this was kept.';

COMMENT ON COLUMN payments.payments.due_at IS 'Of gateway A: the beginning, in São Paulo, of the day for which the charge was made first, wherever its due date was moved since. NULL: of gateway B, or booked before this was kept.';

COMMENT ON COLUMN payments.payments.shown_at IS 'When the gateway was asked for it first and showed it paid. NULL: only an event has told it, or it was booked before this was kept.';

CREATE VIEW finance.payments AS
 SELECT p.id AS payment_id,
    p.gateway,
    p.gateway_payment_id,
    p.purpose,
        CASE
            WHEN (p.purpose = 'subscription'::text) THEN (p.local_id)::text
            ELSE NULL::text
        END AS subscription_id,
        CASE
            WHEN (p.purpose = 'order'::text) THEN (p.local_id)::text
            ELSE NULL::text
        END AS order_id,
    p.customer_id,
    p.method AS payment_method,
    p.amount_cents,
    p.native_status,
    p.settled_at,
    ((p.settled_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS settled_on
   FROM payments.payments p;

COMMENT ON VIEW finance.payments IS 'Settled payments, one row a gateway payment (CONFIRMED and, later, RECEIVED are one). Gross is the sum of amount_cents of purpose subscription by settled_on. Source: payments.payments.';

COMMENT ON COLUMN finance.payments.payment_id IS 'Key.';

COMMENT ON COLUMN finance.payments.gateway IS 'gwa or gwb.';

COMMENT ON COLUMN finance.payments.gateway_payment_id IS 'The gateways id, for checking against its statements. Gateway A: pay_…. Gateway B: the invoice in_…, else the payment intent pi_….';

COMMENT ON COLUMN finance.payments.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';

COMMENT ON COLUMN finance.payments.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance.payments.order_id IS 'The ticket order (finance.orders); null when it is not about one.';

COMMENT ON COLUMN finance.payments.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.payments.payment_method IS 'credit_card, pix or boleto.';

COMMENT ON COLUMN finance.payments.amount_cents IS 'What was paid, cents, whole: a yearly PIX stands in one row.';

COMMENT ON COLUMN finance.payments.native_status IS 'The gateways own word, such as CONFIRMED, RECEIVED, succeeded, paid.';

COMMENT ON COLUMN finance.payments.settled_at IS 'When the money counted, UTC: approved or received, whichever was first.';

COMMENT ON COLUMN finance.payments.settled_on IS 'Day of settled_at in the report time zone.';

CREATE VIEW finance.plan_moves AS
 SELECT m.customer_id,
    m.subscription_id,
    m.at,
    ((m.at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS day,
    m.source,
    a.plan_id AS from_plan_id,
    b.plan_id AS to_plan_id,
    (b.tier > a.tier) AS is_upgrade,
    (b.tier < a.tier) AS is_downgrade
   FROM ((( SELECT w.customer_id,
            w.subscription_id,
            w.at,
            'subscription'::text AS source,
            w.from_plan,
            COALESCE(f.plan_id, w.plan) AS to_plan
           FROM (( SELECT (s.customer_id)::text AS customer_id,
                    (s.id)::text AS subscription_id,
                    s.started_at AS at,
                    s.plan_id AS plan,
                    lag(s.plan_id) OVER (PARTITION BY s.customer_id ORDER BY s.started_at, s.id) AS from_plan
                   FROM subscriptions.subscriptions s
                  WHERE (s.started_at IS NOT NULL)) w
             LEFT JOIN ( SELECT DISTINCT ON (l.record_id) l.record_id,
                    (l.before ->> 'plan_id'::text) AS plan_id
                   FROM accounts.audit_log l
                  WHERE ((l.resource = 'subscriptions'::text) AND (l.before ? 'plan_id'::text) AND (l.after ? 'plan_id'::text) AND (l.erased_at IS NULL))
                  ORDER BY l.record_id, l.at, l.id) f ON (((f.record_id)::text = w.subscription_id)))
        UNION ALL
         SELECT (s.customer_id)::text AS customer_id,
            (s.id)::text AS id,
            l.at,
            'admin'::text,
            (l.before ->> 'plan_id'::text),
            (l.after ->> 'plan_id'::text)
           FROM (accounts.audit_log l
             JOIN subscriptions.subscriptions s ON (((s.id)::text = (l.record_id)::text)))
          WHERE ((l.resource = 'subscriptions'::text) AND (l.before ? 'plan_id'::text) AND (l.after ? 'plan_id'::text) AND (l.erased_at IS NULL))) m
     JOIN subscriptions.plans a ON ((a.plan_id = m.from_plan)))
     JOIN subscriptions.plans b ON ((b.plan_id = m.to_plan)))
  WHERE (m.from_plan <> m.to_plan);

COMMENT ON VIEW finance.plan_moves IS 'Customers who changed their plan: one row a move, by subscribing anew or by an admin. Source: subscriptions.subscriptions, accounts.audit_log.';

COMMENT ON COLUMN finance.plan_moves.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.plan_moves.subscription_id IS 'The subscription that has the new plan (finance.subscriptions).';

COMMENT ON COLUMN finance.plan_moves.at IS 'When it started, or the admin moved it, UTC.';

COMMENT ON COLUMN finance.plan_moves.day IS 'Day of at in the report time zone.';

COMMENT ON COLUMN finance.plan_moves.source IS 'subscription (the customer subscribed anew or renewed) or admin.';

COMMENT ON COLUMN finance.plan_moves.from_plan_id IS 'The plan before (finance.plans).';

COMMENT ON COLUMN finance.plan_moves.to_plan_id IS 'The plan after.';

COMMENT ON COLUMN finance.plan_moves.is_upgrade IS 'Its tier is higher.';

COMMENT ON COLUMN finance.plan_moves.is_downgrade IS 'Its tier is lower.';

CREATE VIEW finance.plans AS
 SELECT p.plan_id,
    p.name AS plan_name,
    p.amount_cents,
    p.tier,
        CASE
            WHEN p.trial_enabled THEN p.trial_days
            ELSE 0
        END AS trial_days,
    p.is_active,
    p.register_date AS created_at
   FROM subscriptions.plans p;

COMMENT ON VIEW finance.plans IS 'Plans of subscriptions, one row a plan. Source: subscriptions.plans.';

COMMENT ON COLUMN finance.plans.plan_id IS 'The plans text id (finance.plans).';

COMMENT ON COLUMN finance.plans.plan_name IS 'The plans present name.';

COMMENT ON COLUMN finance.plans.amount_cents IS 'Present price of one month in cents, for new subscriptions.';

COMMENT ON COLUMN finance.plans.tier IS '1 basic, 2 plus, 3 premium.';

COMMENT ON COLUMN finance.plans.trial_days IS 'Free days that a customers first subscription begins with; 0 for none.';

COMMENT ON COLUMN finance.plans.is_active IS 'Can be subscribed to.';

COMMENT ON COLUMN finance.plans.created_at IS 'Instant, UTC.';

ALTER TABLE finance.price_changes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME finance.price_changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE promos.promo_codes (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    code text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    subtitle text COLLATE pg_catalog."C",
    description text COLLATE pg_catalog."C",
    code_type text NOT NULL COLLATE pg_catalog."C",
    discount_first_month_cents bigint,
    bonus_tickets integer,
    event_id platform.object_id,
    target_customer_ids text[] DEFAULT '{}'::text[] NOT NULL,
    children_code_ids text[] DEFAULT '{}'::text[] NOT NULL,
    event_date timestamp with time zone,
    valid_from timestamp with time zone,
    valid_until timestamp with time zone,
    image_id platform.object_id,
    is_active boolean DEFAULT true NOT NULL,
    document_created_by_id platform.object_id,
    register_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    register_update_date timestamp with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    search tsvector GENERATED ALWAYS AS ((platform.search_vector(ARRAY[code, title], 'A'::"char") || platform.search_vector(ARRAY[subtitle, description], 'C'::"char"))) STORED,
    CONSTRAINT promo_codes_bonus_of_ticket CHECK (((bonus_tickets IS NULL) OR ((code_type = 'ticket'::text) AND (bonus_tickets >= 1)))),
    CONSTRAINT promo_codes_children_of_promo CHECK (((children_code_ids = '{}'::text[]) OR (code_type = 'promo'::text))),
    CONSTRAINT promo_codes_code_upper_case CHECK ((code ~ '^[A-Z0-9]{6}$'::text)),
    CONSTRAINT promo_codes_discount_first_month_bounded CHECK ((discount_first_month_cents <= 100000000)),
    CONSTRAINT promo_codes_discount_of_promo CHECK (((discount_first_month_cents IS NULL) OR ((code_type = 'promo'::text) AND (discount_first_month_cents >= 0)))),
    CONSTRAINT promo_codes_event_of_ticket CHECK (((code_type <> 'ticket'::text) OR (event_id IS NOT NULL))),
    CONSTRAINT promo_codes_title_length CHECK (((char_length(title) >= 1) AND (char_length(title) <= 200))),
    CONSTRAINT promo_codes_type_known CHECK ((code_type = ANY (ARRAY['promo'::text, 'ticket'::text]))),
    CONSTRAINT promo_codes_window CHECK ((valid_until >= valid_from))
);

COMMENT ON TABLE promos.promo_codes IS 'Promo codes: promo lowers the first month of a subscription and may bundle other codes, ticket gives tickets to an event.';

COMMENT ON COLUMN promos.promo_codes.discount_first_month_cents IS 'What the first month costs; null: a bundle alone.';

COMMENT ON COLUMN promos.promo_codes.bonus_tickets IS 'Tickets that one redemption makes; null is 1.';

COMMENT ON COLUMN promos.promo_codes.event_id IS 'No foreign key: an event without tickets may be deleted, its code then counts as one whose event is over.';

COMMENT ON COLUMN promos.promo_codes.target_customer_ids IS 'Customers who are given a ticket when the code is made, and who alone see it in their list.';

COMMENT ON COLUMN promos.promo_codes.children_code_ids IS 'Codes redeemed along with this one. Never leads back to itself.';

COMMENT ON COLUMN promos.promo_codes.event_date IS 'The code is listed until then.';

CREATE TABLE promos.redemptions (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    promo_code_id platform.object_id NOT NULL,
    customer_id platform.object_id NOT NULL,
    code text NOT NULL COLLATE pg_catalog."C",
    code_type text NOT NULL COLLATE pg_catalog."C",
    origin text NOT NULL COLLATE pg_catalog."C",
    tickets integer DEFAULT 0 NOT NULL,
    subscription_id platform.object_id,
    paid_at timestamp with time zone,
    redeemed_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT redemptions_held_or_redeemed CHECK (((redeemed_at IS NOT NULL) OR (subscription_id IS NOT NULL))),
    CONSTRAINT redemptions_origin_known CHECK ((origin = ANY (ARRAY['target'::text, 'redeem'::text, 'bundle'::text, 'subscription'::text]))),
    CONSTRAINT redemptions_paid_is_redeemed CHECK (((paid_at IS NULL) OR ((redeemed_at IS NOT NULL) AND (subscription_id IS NOT NULL))))
);

COMMENT ON TABLE promos.redemptions IS 'One row a customer and code: held by a pending subscription, or redeemed. It outlives the code, which may be deleted.';

COMMENT ON COLUMN promos.redemptions.promo_code_id IS 'No foreign key: what was redeemed stays when the code is deleted.';

COMMENT ON COLUMN promos.redemptions.code IS 'As it was then.';

COMMENT ON COLUMN promos.redemptions.origin IS 'target (given at creation), redeem (by the customer), bundle (with a code that holds it), subscription (with a subscription).';

COMMENT ON COLUMN promos.redemptions.tickets IS 'Tickets that it made.';

COMMENT ON COLUMN promos.redemptions.subscription_id IS 'The subscription whose first month it lowers; null for none.';

COMMENT ON COLUMN promos.redemptions.paid_at IS 'When that subscription was paid. From then on no other may have the code.';

COMMENT ON COLUMN promos.redemptions.redeemed_at IS 'Null while a pending subscription only holds the code.';

CREATE VIEW finance.promo_codes AS
 SELECT c.id AS promo_code_id,
    c.title,
    c.code_type,
    c.event_id,
    c.discount_first_month_cents AS first_month_cents,
    c.bonus_tickets,
    c.is_active,
    (c.is_active AND ((c.valid_until IS NULL) OR (c.valid_until > finance.now()))) AS is_usable,
    c.valid_from,
    c.valid_until,
    c.register_date AS created_at,
    r.redemptions,
    r.paid AS paid_redemptions,
    r.tickets AS tickets_generated,
    r.first_at AS first_redeemed_at,
    r.last_at AS last_redeemed_at,
    c.children_code_ids
   FROM (promos.promo_codes c
     CROSS JOIN LATERAL ( SELECT count(*) AS redemptions,
            count(*) FILTER (WHERE (x.paid_at IS NOT NULL)) AS paid,
            COALESCE(sum(x.tickets), (0)::bigint) AS tickets,
            min(x.redeemed_at) AS first_at,
            max(x.redeemed_at) AS last_at
           FROM promos.redemptions x
          WHERE (((x.promo_code_id)::text = (c.id)::text) AND (x.redeemed_at IS NOT NULL))) r);

COMMENT ON VIEW finance.promo_codes IS 'Promo codes and what came of them, one row each, without the texts that redeem them. Source: promos.promo_codes, promos.redemptions.';

COMMENT ON COLUMN finance.promo_codes.promo_code_id IS 'Key.';

COMMENT ON COLUMN finance.promo_codes.title IS 'Title.';

COMMENT ON COLUMN finance.promo_codes.code_type IS 'promo (lowers the first month) or ticket (gives tickets).';

COMMENT ON COLUMN finance.promo_codes.event_id IS 'The event whose tickets it gives; null for promo.';

COMMENT ON COLUMN finance.promo_codes.first_month_cents IS 'What the first month costs with it, cents; null for none.';

COMMENT ON COLUMN finance.promo_codes.bonus_tickets IS 'Tickets of one redemption; null is 1.';

COMMENT ON COLUMN finance.promo_codes.is_active IS 'Switched on.';

COMMENT ON COLUMN finance.promo_codes.is_usable IS 'Switched on and its window not over.';

COMMENT ON COLUMN finance.promo_codes.valid_from IS 'Beginning of its window; null for none.';

COMMENT ON COLUMN finance.promo_codes.valid_until IS 'End of its window; null for none.';

COMMENT ON COLUMN finance.promo_codes.created_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.promo_codes.redemptions IS 'Redemptions.';

COMMENT ON COLUMN finance.promo_codes.paid_redemptions IS 'Redemptions whose subscription was paid.';

COMMENT ON COLUMN finance.promo_codes.tickets_generated IS 'Tickets that its redemptions made.';

COMMENT ON COLUMN finance.promo_codes.first_redeemed_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.promo_codes.last_redeemed_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.promo_codes.children_code_ids IS 'Codes that are redeemed along with it (promo_code_id).';

CREATE VIEW finance.promo_codes_personal AS
 SELECT c.id AS promo_code_id,
    c.code,
    c.target_customer_ids
   FROM promos.promo_codes c;

COMMENT ON VIEW finance.promo_codes_personal IS 'PERSONAL DATA: the texts that redeem promo codes, and whom they were given to. Source: promos.promo_codes.';

COMMENT ON COLUMN finance.promo_codes_personal.promo_code_id IS 'Key, as in finance.promo_codes.';

COMMENT ON COLUMN finance.promo_codes_personal.code IS 'Six letters or digits; whoever knows them may redeem.';

COMMENT ON COLUMN finance.promo_codes_personal.target_customer_ids IS 'Customers it was made for.';

CREATE VIEW finance.promo_redemptions AS
 SELECT r.id AS redemption_id,
    r.promo_code_id,
    r.customer_id,
    r.code_type,
    r.origin,
    r.tickets,
    r.subscription_id,
    r.paid_at,
    r.redeemed_at,
    ((r.redeemed_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS redeemed_on
   FROM promos.redemptions r
  WHERE (r.redeemed_at IS NOT NULL);

COMMENT ON VIEW finance.promo_redemptions IS 'Redemptions of promo codes, one row a customer and code. Source: promos.redemptions.';

COMMENT ON COLUMN finance.promo_redemptions.redemption_id IS 'Key.';

COMMENT ON COLUMN finance.promo_redemptions.promo_code_id IS 'The promo code; it may have been deleted since.';

COMMENT ON COLUMN finance.promo_redemptions.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.promo_redemptions.code_type IS 'promo or ticket.';

COMMENT ON COLUMN finance.promo_redemptions.origin IS 'target (given at creation), redeem (by the customer), bundle (with a code that holds it), subscription (with a subscription).';

COMMENT ON COLUMN finance.promo_redemptions.tickets IS 'Tickets that it made.';

COMMENT ON COLUMN finance.promo_redemptions.subscription_id IS 'The subscription whose first month it lowered; null for none.';

COMMENT ON COLUMN finance.promo_redemptions.paid_at IS 'When that subscription was paid, UTC.';

COMMENT ON COLUMN finance.promo_redemptions.redeemed_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.promo_redemptions.redeemed_on IS 'Day of redeemed_at in the report time zone.';

CREATE VIEW finance.promo_redemptions_personal AS
 SELECT r.id AS redemption_id,
    r.code
   FROM promos.redemptions r;

COMMENT ON VIEW finance.promo_redemptions_personal IS 'PERSONAL DATA: the text that was redeemed. Source: promos.redemptions.';

COMMENT ON COLUMN finance.promo_redemptions_personal.redemption_id IS 'Key, as in finance.promo_redemptions.';

COMMENT ON COLUMN finance.promo_redemptions_personal.code IS 'As it was then.';

CREATE VIEW finance.refunds AS
 SELECT r.id AS refund_id,
    r.gateway,
    r.gateway_refund_id,
    r.payment_ref,
    r.purpose,
        CASE
            WHEN (r.purpose = 'subscription'::text) THEN (r.local_id)::text
            ELSE NULL::text
        END AS subscription_id,
        CASE
            WHEN (r.purpose = 'order'::text) THEN (r.local_id)::text
            ELSE NULL::text
        END AS order_id,
    r.customer_id,
    r.amount_cents,
    r.status,
    (r.status = 'done'::text) AS is_done,
    r.source,
    r.event_id,
    r.event_type,
    r.requested_at,
    r.refunded_at,
    ((r.refunded_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS refunded_on
   FROM payments.refunds r;

COMMENT ON VIEW finance.refunds IS 'Refunds, one row each, also those under way and failed. Money counts where is_done. Source: payments.refunds.';

COMMENT ON COLUMN finance.refunds.refund_id IS 'Key.';

COMMENT ON COLUMN finance.refunds.gateway IS 'gwa or gwb; null of what was handed back at the box office.';

COMMENT ON COLUMN finance.refunds.gateway_refund_id IS 'Gateway B re_…; gateway A gives none.';

COMMENT ON COLUMN finance.refunds.payment_ref IS 'The gateways id of the payment concerned: gateway A pay_…, gateway B the payment intent pi_…, else the charge; handed back at the box office: the order.';

COMMENT ON COLUMN finance.refunds.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';

COMMENT ON COLUMN finance.refunds.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance.refunds.order_id IS 'The ticket order (finance.orders); null when it is not about one.';

COMMENT ON COLUMN finance.refunds.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.refunds.amount_cents IS 'What is given back, cents.';

COMMENT ON COLUMN finance.refunds.status IS 'requested, pending, done or failed.';

COMMENT ON COLUMN finance.refunds.is_done IS 'The money counts as given back. Only these rows enter totals.';

COMMENT ON COLUMN finance.refunds.source IS 'admin: asked for here by an admin; platform: asked for here by itself, or because a customer withdrew; gateway: learned from the gateway.';

COMMENT ON COLUMN finance.refunds.event_id IS 'REFUND-… of one asked for here, else the gateways event.';

COMMENT ON COLUMN finance.refunds.event_type IS 'What reported it.';

COMMENT ON COLUMN finance.refunds.requested_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.refunds.refunded_at IS 'When the money counted as given back, UTC; null before.';

COMMENT ON COLUMN finance.refunds.refunded_on IS 'Day of refunded_at in the report time zone.';

CREATE VIEW finance.refunds_personal AS
 SELECT r.id AS refund_id,
    r.reason,
    r.admin,
    r.failure
   FROM payments.refunds r;

COMMENT ON VIEW finance.refunds_personal IS 'PERSONAL DATA: what people wrote at refunds. Source: payments.refunds.';

COMMENT ON COLUMN finance.refunds_personal.refund_id IS 'Key, as in finance.refunds.';

COMMENT ON COLUMN finance.refunds_personal.reason IS 'Free text of whoever asked.';

COMMENT ON COLUMN finance.refunds_personal.admin IS 'Username of the admin; null when the gateway reported it.';

COMMENT ON COLUMN finance.refunds_personal.failure IS 'Why it failed, in the gateways words.';

CREATE VIEW finance.revenue_daily AS
 SELECT p.day,
    (sum((p.gross_gwa_cents + p.gross_gwb_cents)))::bigint AS gross_cents,
    (sum(p.gross_gwa_cents))::bigint AS gross_gwa_cents,
    (sum(p.gross_gwb_cents))::bigint AS gross_gwb_cents,
    (sum(p.refunds_cents))::bigint AS refunds_cents,
    (sum(p.chargebacks_cents))::bigint AS chargebacks_cents,
    (sum((((p.gross_gwa_cents + p.gross_gwb_cents) - p.refunds_cents) - p.chargebacks_cents)))::bigint AS net_cents,
    (sum((p.entries - p.returned_in_day)))::bigint AS new_subscriptions,
    (sum((p.exits - p.returned_in_day)))::bigint AS cancellations
   FROM ( SELECT d.day,
            d.gross_gwa_cents,
            d.gross_gwb_cents,
            d.refunds_cents,
            d.chargebacks_cents,
            d.entries,
            d.returned_in_day,
            ((((d.exits_payment_failure + d.exits_customer_cancelled) + d.exits_admin_cancelled) + d.exits_chargeback) + d.exits_expired) AS exits
           FROM finance_internal.daily_parts d
        UNION ALL
         SELECT (g.day)::date AS day,
            0,
            0,
            0,
            0,
            0,
            0,
            0
           FROM ((( SELECT min(b.day) AS first_day,
                    max(b.day) AS last_day
                   FROM finance_internal.daily_parts b) e
             CROSS JOIN finance.clock c)
             CROSS JOIN LATERAL generate_series((e.first_day)::timestamp without time zone, (GREATEST(c.today, e.last_day))::timestamp without time zone, '1 day'::interval) g(day))) p
  GROUP BY p.day;

COMMENT ON VIEW finance.revenue_daily IS 'Cash by day, one row for each day from the first on, exact at any moment. Source: finance.daily.';

COMMENT ON COLUMN finance.revenue_daily.day IS 'Day in the report time zone.';

COMMENT ON COLUMN finance.revenue_daily.gross_cents IS 'Subscription payments settled on the day, cents, once per gateway payment.';

COMMENT ON COLUMN finance.revenue_daily.gross_gwa_cents IS 'The part of gateway A, cents.';

COMMENT ON COLUMN finance.revenue_daily.gross_gwb_cents IS 'The part of gateway B, cents.';

COMMENT ON COLUMN finance.revenue_daily.refunds_cents IS 'Given back on the day, cents.';

COMMENT ON COLUMN finance.revenue_daily.chargebacks_cents IS 'Taken by disputes opened on the day less what was given back by those won on it, cents; may be negative.';

COMMENT ON COLUMN finance.revenue_daily.net_cents IS 'gross - refunds - chargebacks, cents; may be negative.';

COMMENT ON COLUMN finance.revenue_daily.new_subscriptions IS 'Customers who gained access, without those whose subscription had left on the same day.';

COMMENT ON COLUMN finance.revenue_daily.cancellations IS 'Customers who lost access, without those whose subscription came back on the same day.';

CREATE VIEW finance.revenue_monthly AS
 SELECT c.month,
    (COALESCE((f.gross_gwa_cents + f.gross_gwb_cents), (0)::numeric))::bigint AS gross_cents,
    (COALESCE(f.gross_gwa_cents, (0)::numeric))::bigint AS gross_gwa_cents,
    (COALESCE(f.gross_gwb_cents, (0)::numeric))::bigint AS gross_gwb_cents,
    (COALESCE(f.refunds_cents, (0)::numeric))::bigint AS refunds_cents,
    (COALESCE(f.chargebacks_cents, (0)::numeric))::bigint AS chargebacks_cents,
    (COALESCE((((f.gross_gwa_cents + f.gross_gwb_cents) - f.refunds_cents) - f.chargebacks_cents), (0)::numeric))::bigint AS net_cents,
    c.new_customers AS new_subscriptions,
    c.cancelled AS cancellations
   FROM (finance.churn_monthly c
     LEFT JOIN ( SELECT (date_trunc('month'::text, (d.day)::timestamp without time zone))::date AS month,
            sum(d.gross_gwa_cents) AS gross_gwa_cents,
            sum(d.gross_gwb_cents) AS gross_gwb_cents,
            sum(d.refunds_cents) AS refunds_cents,
            sum(d.chargebacks_cents) AS chargebacks_cents
           FROM finance_internal.daily_parts d
          GROUP BY ((date_trunc('month'::text, (d.day)::timestamp without time zone))::date)) f ON ((f.month = c.month)));

COMMENT ON VIEW finance.revenue_monthly IS 'Cash by month, one row for each month from the first on, exact at any moment. Source: finance.daily, finance.churn_monthly.';

COMMENT ON COLUMN finance.revenue_monthly.month IS 'First day of the month, in the report time zone.';

COMMENT ON COLUMN finance.revenue_monthly.gross_cents IS 'Subscription payments settled in the month, cents, once per gateway payment.';

COMMENT ON COLUMN finance.revenue_monthly.gross_gwa_cents IS 'The part of gateway A, cents.';

COMMENT ON COLUMN finance.revenue_monthly.gross_gwb_cents IS 'The part of gateway B, cents.';

COMMENT ON COLUMN finance.revenue_monthly.refunds_cents IS 'Given back in the month, cents.';

COMMENT ON COLUMN finance.revenue_monthly.chargebacks_cents IS 'Taken by disputes opened in the month less what was given back by those won in it, cents; may be negative.';

COMMENT ON COLUMN finance.revenue_monthly.net_cents IS 'gross - refunds - chargebacks, cents; may be negative.';

COMMENT ON COLUMN finance.revenue_monthly.new_subscriptions IS 'New of finance.churn_monthly.';

COMMENT ON COLUMN finance.revenue_monthly.cancellations IS 'Cancelled of finance.churn_monthly.';

ALTER TABLE finance.standing_deltas ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME finance.standing_deltas_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW finance.subscription_failures AS
 SELECT f.id AS failed_attempt_id,
    f.local_id AS subscription_id,
    f.gateway,
    f.amount_cents,
    f.failed_at,
    ((f.failed_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS failed_on,
    ( SELECT min(p.settled_at) AS min
           FROM payments.payments p
          WHERE ((p.purpose = 'subscription'::text) AND ((p.local_id)::text = (f.local_id)::text) AND (p.settled_at > f.failed_at) AND (p.settled_at <= (f.failed_at + '30 days'::interval)))) AS recovered_at
   FROM payments.failed_attempts f
  WHERE (f.purpose = 'subscription'::text);

COMMENT ON VIEW finance.subscription_failures IS 'Failed attempts of subscription payments, and whether the money came after all. Source: payments.failed_attempts, payments.payments.';

COMMENT ON COLUMN finance.subscription_failures.failed_attempt_id IS 'Key, as in finance.failed_attempts.';

COMMENT ON COLUMN finance.subscription_failures.subscription_id IS 'The subscription (finance.subscriptions).';

COMMENT ON COLUMN finance.subscription_failures.gateway IS 'gwa or gwb.';

COMMENT ON COLUMN finance.subscription_failures.amount_cents IS 'What was to be paid, cents.';

COMMENT ON COLUMN finance.subscription_failures.failed_at IS 'Instant, UTC.';

COMMENT ON COLUMN finance.subscription_failures.failed_on IS 'Day of failed_at in the report time zone.';

COMMENT ON COLUMN finance.subscription_failures.recovered_at IS 'The next settled payment of the subscription within 30 days, UTC; null when there is none.';

CREATE VIEW finance.tenure AS
 SELECT (a.customer_id)::text AS customer_id,
    a.first_at AS first_access_at,
        CASE
            WHEN ((a.open_at IS NULL) OR (x.ended_at IS NOT NULL)) THEN GREATEST(a.last_until, x.ended_at)
            ELSE NULL::timestamp with time zone
        END AS last_access_at,
    ((a.open_at IS NOT NULL) AND (x.ended_at IS NULL)) AS is_active,
    ((a.closed_us +
        CASE
            WHEN (a.open_at IS NULL) THEN (0)::bigint
            ELSE finance.microseconds(a.open_at, COALESCE(x.ended_at, c.now))
        END) / '86400000000'::bigint) AS access_days
   FROM ((finance.customer_access a
     CROSS JOIN ( SELECT k.now
           FROM finance.clock k
         OFFSET 0) c)
     LEFT JOIN ( SELECT s.customer_id,
            GREATEST(s.expires_at, e.at) AS ended_at
           FROM (subscriptions.subscriptions s
             JOIN LATERAL ( SELECT t.at
                   FROM subscriptions.transitions t
                  WHERE (((t.subscription_id)::text = (s.id)::text) AND (t.to_status = 'active'::text))
                  ORDER BY t.id DESC
                 LIMIT 1) e ON (true))
          WHERE ((s.status = 'active'::text) AND (s.expires_at IS NOT NULL) AND (s.expires_at <= finance.now()))) x ON (((x.customer_id)::text = (a.customer_id)::text)));

COMMENT ON VIEW finance.tenure IS 'How long each customer who ever had access has had it; exact at any moment. Source: what the moves of subscriptions left behind, a row a customer.';

COMMENT ON COLUMN finance.tenure.customer_id IS 'The customer.';

COMMENT ON COLUMN finance.tenure.first_access_at IS 'When access first began, UTC.';

COMMENT ON COLUMN finance.tenure.last_access_at IS 'When it last stopped, UTC; null while it lasts.';

COMMENT ON COLUMN finance.tenure.is_active IS 'Has access now.';

COMMENT ON COLUMN finance.tenure.access_days IS 'Whole days of access, gaps left out.';

CREATE VIEW finance.tickets_personal AS
 SELECT t.id AS ticket_id,
    t.title,
    t.promo_code
   FROM tickets.tickets t;

COMMENT ON VIEW finance.tickets_personal IS 'PERSONAL DATA: what is written on tickets, which people may have worded, and the text of their promo code. Source: tickets.tickets.';

COMMENT ON COLUMN finance.tickets_personal.ticket_id IS 'Key, as in finance.tickets.';

COMMENT ON COLUMN finance.tickets_personal.title IS 'Title.';

COMMENT ON COLUMN finance.tickets_personal.promo_code IS 'The code that made it; null for none.';

CREATE VIEW finance.transitions AS
 SELECT t.id AS transition_id,
    t.subscription_id,
    t.customer_id,
    t.at,
    ((t.at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS day,
    t.from_status,
    t.to_status,
    t.reason,
    t.source
   FROM subscriptions.transitions t;

COMMENT ON VIEW finance.transitions IS 'Every change of a subscriptions status, append-only. Source: subscriptions.transitions.';

COMMENT ON COLUMN finance.transitions.transition_id IS 'Key, in order of time.';

COMMENT ON COLUMN finance.transitions.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance.transitions.customer_id IS 'The customer (finance.customers); stays when they are deleted.';

COMMENT ON COLUMN finance.transitions.at IS 'Instant of the change, UTC. Access may have stopped earlier: see finance.movements.';

COMMENT ON COLUMN finance.transitions.day IS 'Day of at in the report time zone.';

COMMENT ON COLUMN finance.transitions.from_status IS 'Null for the row that began the subscription.';

COMMENT ON COLUMN finance.transitions.to_status IS 'The status from then on.';

COMMENT ON COLUMN finance.transitions.reason IS 'Why; the words of subscriptions.';

COMMENT ON COLUMN finance.transitions.source IS 'What moved it: subscribe, webhook, recovery, reconciliation, live_read, job, customer or admin.';

CREATE TABLE payments.unapplied_payments (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    kind text NOT NULL,
    gateway text NOT NULL,
    subject text NOT NULL,
    gateway_payment_id text,
    amount_cents bigint,
    customer_id platform.object_id,
    subscription_id platform.object_id,
    order_id platform.object_id,
    paid_at timestamp with time zone,
    state text DEFAULT 'open'::text NOT NULL,
    note text,
    automatic boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    next_try_at timestamp with time zone,
    bought boolean DEFAULT false NOT NULL,
    reference platform.object_id,
    taken_back boolean DEFAULT false NOT NULL,
    gateway_customer_id text,
    told_at timestamp with time zone,
    CONSTRAINT unapplied_payments_amount_bounded CHECK ((amount_cents <= '100000000000'::bigint)),
    CONSTRAINT unapplied_payments_amount_not_negative CHECK ((amount_cents >= 0)),
    CONSTRAINT unapplied_payments_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT unapplied_payments_kind_known CHECK ((kind = ANY (ARRAY['late'::text, 'duplicate'::text, 'foreign'::text, 'unrefundable'::text, 'unknown'::text]))),
    CONSTRAINT unapplied_payments_state_known CHECK ((state = ANY (ARRAY['open'::text, 'refunding'::text, 'refunded'::text, 'extended'::text, 'kept'::text]))),
    CONSTRAINT unapplied_payments_subject_is_payment CHECK (((gateway_payment_id IS NULL) OR (gateway_payment_id = subject))),
    CONSTRAINT unapplied_payments_unknown_alone_without_amount CHECK (((amount_cents IS NOT NULL) OR (kind = 'unknown'::text))),
    CONSTRAINT unapplied_payments_unknown_alone_without_payment CHECK (((gateway_payment_id IS NOT NULL) OR (kind = 'unknown'::text)))
);

COMMENT ON TABLE payments.unapplied_payments IS 'Money that gave nobody anything: what people decide on, and what was given back by itself.';

COMMENT ON COLUMN payments.unapplied_payments.kind IS 'late: for a row that has ended; duplicate: a second payment, or that of a recurrence beside the row''s own; foreign: booked for a row that another customer or recurrence owns; unrefundable: a refund of it failed or can never be made; unknown: an answer not known for a day, or money that nobody can place.';

COMMENT ON COLUMN payments.unapplied_payments.subject IS 'What the row is about: the payment as payments.payments.gateway_payment_id names it, else, of kind unknown, whatever tells the case apart, such as the gateway''s recurrence or our own id.';

COMMENT ON COLUMN payments.unapplied_payments.customer_id IS 'Kept without a foreign key, as in the ledger: it outlives the customer.';

COMMENT ON COLUMN payments.unapplied_payments.state IS 'open: nobody has decided; refunding: a refund is asked for; refunded: all of it is given back; extended: made a living subscription''s; kept: an admin says so.';

COMMENT ON COLUMN payments.unapplied_payments.automatic IS 'The platform may refund it by itself, after reading it live and within the limits.';

COMMENT ON COLUMN payments.unapplied_payments.tries IS 'How often the gateway was asked about it in vain before an automatic refund.';

COMMENT ON COLUMN payments.unapplied_payments.next_try_at IS 'Not before then is it looked at again for an automatic refund; null: at once.';

COMMENT ON COLUMN payments.unapplied_payments.bought IS 'It paid for a period all the same, and is listed for a part that was taken back, for a refund that failed, or for what was not used of it.';

COMMENT ON COLUMN payments.unapplied_payments.reference IS 'Our id that the gateway was told with the payment, where it is another than the subscription''s or order''s: a renewal charge''s.';

COMMENT ON COLUMN payments.unapplied_payments.taken_back IS 'The amount is what the payer''s bank took back of the payment: it is gone, and there is nothing of it to refund or to extend by.';

COMMENT ON COLUMN payments.unapplied_payments.gateway_customer_id IS 'Whom the gateway took the money of, where nobody here was known under that id; customer_id is learned from it.';

COMMENT ON COLUMN payments.unapplied_payments.told_at IS 'When the operators were last told that money of nobody known here waits.';

CREATE VIEW finance.unapplied_payments AS
 SELECT u.id AS unapplied_id,
    u.gateway,
    u.gateway_payment_id,
    u.kind,
    u.state,
    (u.state = ANY (ARRAY['open'::text, 'refunding'::text])) AS is_open,
    u.customer_id,
    u.subscription_id,
    u.order_id,
    u.amount_cents,
    u.paid_at,
    u.created_at,
    ((u.created_at AT TIME ZONE ( SELECT settings.report_tz
           FROM finance.settings)))::date AS created_on
   FROM payments.unapplied_payments u;

COMMENT ON VIEW finance.unapplied_payments IS 'Money that bought nothing, or that a gateway did not give back, one row each, and what was decided about it. Source: payments.unapplied_payments.';

COMMENT ON COLUMN finance.unapplied_payments.unapplied_id IS 'Key.';

COMMENT ON COLUMN finance.unapplied_payments.gateway IS 'gwa or gwb.';

COMMENT ON COLUMN finance.unapplied_payments.gateway_payment_id IS 'The gateways id of the payment; null while none is known.';

COMMENT ON COLUMN finance.unapplied_payments.kind IS 'late, duplicate, foreign, unrefundable or unknown.';

COMMENT ON COLUMN finance.unapplied_payments.state IS 'open, refunding, refunded, extended or kept.';

COMMENT ON COLUMN finance.unapplied_payments.is_open IS 'Nobody has decided yet, or its refund is under way.';

COMMENT ON COLUMN finance.unapplied_payments.customer_id IS 'The customer (finance.customers); stays when they are deleted; null while it is not known whose it is.';

COMMENT ON COLUMN finance.unapplied_payments.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';

COMMENT ON COLUMN finance.unapplied_payments.order_id IS 'The ticket order (finance.orders); null when it is not about one.';

COMMENT ON COLUMN finance.unapplied_payments.amount_cents IS 'What it is about, cents; null while unknown.';

COMMENT ON COLUMN finance.unapplied_payments.paid_at IS 'When it was paid, UTC.';

COMMENT ON COLUMN finance.unapplied_payments.created_at IS 'When it was listed, UTC.';

COMMENT ON COLUMN finance.unapplied_payments.created_on IS 'Day of created_at in the report time zone.';

CREATE VIEW finance.watch_history AS
 SELECT w.user_id AS customer_id,
    w.video_id,
    w.updated_at AS watched_at
   FROM (catalog.watch_history w
     JOIN accounts.users u ON ((((u.id)::text = (w.user_id)::text) AND (u.user_type = 'customer'::text))));

COMMENT ON VIEW finance.watch_history IS 'Videos that customers have begun, one row each and video. Source: catalog.watch_history.';

COMMENT ON COLUMN finance.watch_history.customer_id IS 'The customer (finance.customers).';

COMMENT ON COLUMN finance.watch_history.video_id IS 'The video.';

COMMENT ON COLUMN finance.watch_history.watched_at IS 'When they last watched it, UTC.';

CREATE VIEW finance_internal.cohort_scan AS
 SELECT m.cohort_month,
    m.month,
    count(*) FILTER (WHERE m.is_first) AS customers,
    sum(m.change) AS change
   FROM ( SELECT finance.month_of(first_value(v.at) OVER w, z.report_tz) AS cohort_month,
            finance.month_of(v.at, z.report_tz) AS month,
            (row_number() OVER w = 1) AS is_first,
                CASE v.kind
                    WHEN 'entry'::text THEN 1
                    ELSE '-1'::integer
                END AS change
           FROM (finance.movements v
             CROSS JOIN finance.settings z)
          WHERE (NOT v.is_renewal)
          WINDOW w AS (PARTITION BY v.customer_id ORDER BY v.movement_id)) m
  GROUP BY m.cohort_month, m.month;

COMMENT ON VIEW finance_internal.cohort_scan IS 'The same as finance.cohort_months, counted from finance.movements: slow, for checks.';

COMMENT ON COLUMN finance_internal.cohort_scan.cohort_month IS 'First day of the month of the first access, in the report time zone.';

COMMENT ON COLUMN finance_internal.cohort_scan.month IS 'First day of a month since.';

COMMENT ON COLUMN finance_internal.cohort_scan.customers IS 'First accesses.';

COMMENT ON COLUMN finance_internal.cohort_scan.change IS 'Entries less exits of the month, renewals left out.';

CREATE VIEW finance_internal.daily_scan AS
 SELECT f.day,
    (sum(f.gross_gwa_cents))::bigint AS gross_gwa_cents,
    (sum(f.gross_gwb_cents))::bigint AS gross_gwb_cents,
    sum(f.payments) AS payments,
    sum(f.failed_attempts) AS failed_attempts,
    (sum(f.refunds_cents))::bigint AS refunds_cents,
    (sum(f.chargebacks_cents))::bigint AS chargebacks_cents,
    sum(f.entries) AS entries,
    sum(f.exits_payment_failure) AS exits_payment_failure,
    sum(f.exits_customer_cancelled) AS exits_customer_cancelled,
    sum(f.exits_admin_cancelled) AS exits_admin_cancelled,
    sum(f.exits_chargeback) AS exits_chargeback,
    sum(f.exits_expired) AS exits_expired,
    sum(f.returned_in_day) AS returned_in_day,
    sum(f.returned_in_month_payment_failure) AS returned_in_month_payment_failure,
    sum(f.returned_in_month_customer_cancelled) AS returned_in_month_customer_cancelled,
    sum(f.returned_in_month_admin_cancelled) AS returned_in_month_admin_cancelled,
    sum(f.returned_in_month_chargeback) AS returned_in_month_chargeback,
    sum(f.returned_in_month_expired) AS returned_in_month_expired
   FROM ( SELECT p.settled_on AS day,
                CASE p.gateway
                    WHEN 'gwa'::text THEN p.amount_cents
                    ELSE (0)::bigint
                END AS gross_gwa_cents,
                CASE p.gateway
                    WHEN 'gwb'::text THEN p.amount_cents
                    ELSE (0)::bigint
                END AS gross_gwb_cents,
            1 AS payments,
            0 AS failed_attempts,
            0 AS refunds_cents,
            0 AS chargebacks_cents,
            0 AS entries,
            0 AS exits_payment_failure,
            0 AS exits_customer_cancelled,
            0 AS exits_admin_cancelled,
            0 AS exits_chargeback,
            0 AS exits_expired,
            0 AS returned_in_day,
            0 AS returned_in_month_payment_failure,
            0 AS returned_in_month_customer_cancelled,
            0 AS returned_in_month_admin_cancelled,
            0 AS returned_in_month_chargeback,
            0 AS returned_in_month_expired
           FROM finance.payments p
          WHERE (p.purpose = 'subscription'::text)
        UNION ALL
         SELECT a.failed_on,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0
           FROM finance.failed_attempts a
          WHERE (a.purpose = 'subscription'::text)
        UNION ALL
         SELECT r.refunded_on,
            0,
            0,
            0,
            0,
            r.amount_cents,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0
           FROM finance.refunds r
          WHERE ((r.purpose = 'subscription'::text) AND r.is_done)
        UNION ALL
         SELECT c.day,
            0,
            0,
            0,
            0,
            0,
            c.amount_cents,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0
           FROM finance.chargebacks c
          WHERE (c.purpose = 'subscription'::text)
        UNION ALL
         SELECT m.day,
            0,
            0,
            0,
            0,
            0,
            0,
            ((m.kind = 'entry'::text))::integer AS int4,
            (((m.kind = 'exit'::text) AND (m.reason = 'payment_failure'::text)))::integer AS int4,
            (((m.kind = 'exit'::text) AND (m.reason = 'customer_cancelled'::text)))::integer AS int4,
            (((m.kind = 'exit'::text) AND (m.reason = 'admin_cancelled'::text)))::integer AS int4,
            (((m.kind = 'exit'::text) AND (m.reason = 'chargeback'::text)))::integer AS int4,
            (((m.kind = 'exit'::text) AND (m.reason = 'expired'::text)))::integer AS int4,
            (COALESCE((m.day = ((m.left_at AT TIME ZONE z.report_tz))::date), false))::integer AS "coalesce",
            (COALESCE(((m.left_reason = 'payment_failure'::text) AND (date_trunc('month'::text, (m.left_at AT TIME ZONE z.report_tz)) = date_trunc('month'::text, (m.at AT TIME ZONE z.report_tz)))), false))::integer AS "coalesce",
            (COALESCE(((m.left_reason = 'customer_cancelled'::text) AND (date_trunc('month'::text, (m.left_at AT TIME ZONE z.report_tz)) = date_trunc('month'::text, (m.at AT TIME ZONE z.report_tz)))), false))::integer AS "coalesce",
            (COALESCE(((m.left_reason = 'admin_cancelled'::text) AND (date_trunc('month'::text, (m.left_at AT TIME ZONE z.report_tz)) = date_trunc('month'::text, (m.at AT TIME ZONE z.report_tz)))), false))::integer AS "coalesce",
            (COALESCE(((m.left_reason = 'chargeback'::text) AND (date_trunc('month'::text, (m.left_at AT TIME ZONE z.report_tz)) = date_trunc('month'::text, (m.at AT TIME ZONE z.report_tz)))), false))::integer AS "coalesce",
            (COALESCE(((m.left_reason = 'expired'::text) AND (date_trunc('month'::text, (m.left_at AT TIME ZONE z.report_tz)) = date_trunc('month'::text, (m.at AT TIME ZONE z.report_tz)))), false))::integer AS "coalesce"
           FROM (finance.movements m
             CROSS JOIN finance.settings z)
          WHERE (NOT m.is_renewal)) f
  GROUP BY f.day;

COMMENT ON VIEW finance_internal.daily_scan IS 'The same as finance.daily, counted from the ledgers: slow, for checks.';

COMMENT ON COLUMN finance_internal.daily_scan.day IS 'Day in the report time zone.';

COMMENT ON COLUMN finance_internal.daily_scan.gross_gwa_cents IS 'Subscription payments settled on the day at gateway A, cents.';

COMMENT ON COLUMN finance_internal.daily_scan.gross_gwb_cents IS 'The same at gateway B.';

COMMENT ON COLUMN finance_internal.daily_scan.payments IS 'Their number: settled attempts.';

COMMENT ON COLUMN finance_internal.daily_scan.failed_attempts IS 'Failed attempts to take a subscription payment.';

COMMENT ON COLUMN finance_internal.daily_scan.refunds_cents IS 'Subscription payments given back, cents, by refunded_on.';

COMMENT ON COLUMN finance_internal.daily_scan.chargebacks_cents IS 'Taken by disputes less what won ones gave back, cents.';

COMMENT ON COLUMN finance_internal.daily_scan.entries IS 'Customers whose access began, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_scan.exits_payment_failure IS 'Customers whose access stopped by payment_failure, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_scan.exits_customer_cancelled IS 'Customers whose access stopped by customer_cancelled, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_scan.exits_admin_cancelled IS 'Customers whose access stopped by admin_cancelled, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_scan.exits_chargeback IS 'Customers whose access stopped by chargeback, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_scan.exits_expired IS 'Customers whose access stopped by expired, renewals left out.';

COMMENT ON COLUMN finance_internal.daily_scan.returned_in_day IS 'Of the entries, those of subscriptions that had left on the same day.';

COMMENT ON COLUMN finance_internal.daily_scan.returned_in_month_payment_failure IS 'Of the entries, those of subscriptions that had left by payment_failure in the same month.';

COMMENT ON COLUMN finance_internal.daily_scan.returned_in_month_customer_cancelled IS 'Of the entries, those of subscriptions that had left by customer_cancelled in the same month.';

COMMENT ON COLUMN finance_internal.daily_scan.returned_in_month_admin_cancelled IS 'Of the entries, those of subscriptions that had left by admin_cancelled in the same month.';

COMMENT ON COLUMN finance_internal.daily_scan.returned_in_month_chargeback IS 'Of the entries, those of subscriptions that had left by chargeback in the same month.';

COMMENT ON COLUMN finance_internal.daily_scan.returned_in_month_expired IS 'Of the entries, those of subscriptions that had left by expired in the same month.';

CREATE VIEW finance_internal.due_scan AS
 SELECT o.subscription_id,
        CASE
            WHEN (o.otherwise_on = 'infinity'::date) THEN o.next_billing_date
            ELSE NULL::timestamp with time zone
        END AS next_billing_date,
    o.otherwise_on
   FROM ( SELECT s.id AS subscription_id,
            s.next_billing_date,
            COALESCE(( SELECT ((min(f.failed_at) AT TIME ZONE z.report_tz))::date AS timezone
                   FROM payments.failed_attempts f
                  WHERE ((f.purpose = 'subscription'::text) AND ((f.local_id)::text = (s.id)::text) AND ((s.last_payment_at IS NULL) OR (f.failed_at > s.last_payment_at)))), (((s.last_payment_at AT TIME ZONE z.report_tz) + make_interval(months => s.period_months)))::date, 'infinity'::date) AS otherwise_on
           FROM (subscriptions.subscriptions s
             CROSS JOIN finance.settings z)
          WHERE (((s.payment_failures > 0) OR (s.status = 'suspended'::text)) AND (s.status <> ALL (ARRAY['cancelled'::text, 'expired'::text])))) o;

COMMENT ON VIEW finance_internal.due_scan IS 'Since when each overdue subscription is due, from the ledgers: slow, for checks. finance.overdue tells it of what is kept.';

COMMENT ON COLUMN finance_internal.due_scan.subscription_id IS 'The subscription.';

COMMENT ON COLUMN finance_internal.due_scan.next_billing_date IS 'Due then, once it is past, where otherwise_on is infinity; else null. UTC.';

COMMENT ON COLUMN finance_internal.due_scan.otherwise_on IS 'The day on which it is due otherwise, in the report time zone; infinity when nothing tells.';

CREATE VIEW finance_internal.mrr_scan AS
 SELECT finance.month_of(v.at, z.report_tz) AS month,
    (sum(
        CASE
            WHEN (v.change = 'new'::text) THEN v.cents
            ELSE (0)::bigint
        END))::bigint AS new_cents,
    (sum(
        CASE
            WHEN ((v.change = 'price'::text) OR ((v.change = 'return'::text) AND x.in_month)) THEN GREATEST((v.cents - v.before_cents), (0)::bigint)
            ELSE (0)::bigint
        END))::bigint AS expansion_cents,
    (sum(
        CASE
            WHEN ((v.change = 'return'::text) AND (x.in_month IS NOT TRUE)) THEN v.cents
            ELSE (0)::bigint
        END))::bigint AS reactivation_cents,
    (sum(
        CASE
            WHEN ((v.change = 'price'::text) OR ((v.change = 'return'::text) AND x.in_month)) THEN GREATEST((v.before_cents - v.cents), (0)::bigint)
            ELSE (0)::bigint
        END))::bigint AS contraction_cents,
    (sum(
        CASE
            WHEN (v.change = 'exit'::text) THEN v.cents
            WHEN ((v.change = 'return'::text) AND x.in_month) THEN (- v.before_cents)
            ELSE (0)::bigint
        END))::bigint AS churn_cents
   FROM ((( SELECT m.at,
            m.left_at,
            m.cents,
            lag(m.cents) OVER w AS before_cents,
                CASE
                    WHEN ((m.kind = 'exit'::text) AND m.is_renewal) THEN 'none'::text
                    WHEN (m.kind = 'exit'::text) THEN 'exit'::text
                    WHEN m.is_renewal THEN 'price'::text
                    WHEN (row_number() OVER w = 1) THEN 'new'::text
                    ELSE 'return'::text
                END AS change
           FROM ( SELECT p.customer_id,
                    p.movement_id,
                    p.kind,
                    p.at,
                    p.is_renewal,
                    p.left_at,
                        CASE
                            WHEN (c.subscription_id IS NULL) THEN s.price_cents
                            ELSE finance.price_before(p.subscription_id, p.movement_id)
                        END AS cents
                   FROM ((finance.movements p
                     JOIN subscriptions.subscriptions s ON (((s.id)::text = p.subscription_id)))
                     LEFT JOIN ( SELECT DISTINCT k.subscription_id
                           FROM finance.price_changes k) c ON (((c.subscription_id)::text = p.subscription_id)))) m
          WINDOW w AS (PARTITION BY m.customer_id ORDER BY m.movement_id)
        UNION ALL
         SELECT q.at,
            NULL::timestamp with time zone,
            q.to_cents,
            q.from_cents,
            'price'::text
           FROM ( SELECT DISTINCT ON (k.id) k.at,
                    k.to_cents,
                    k.from_cents,
                    p.kind
                   FROM (finance.price_changes k
                     JOIN finance.movements p ON (((p.subscription_id = (k.subscription_id)::text) AND (p.movement_id <= k.transition_id))))
                  ORDER BY k.id, p.movement_id DESC) q
          WHERE (q.kind = 'entry'::text)) v
     CROSS JOIN finance.settings z)
     CROSS JOIN LATERAL ( SELECT (finance.month_of(v.left_at, z.report_tz) = finance.month_of(v.at, z.report_tz)) AS in_month) x)
  WHERE (v.change <> 'none'::text)
  GROUP BY (finance.month_of(v.at, z.report_tz));

COMMENT ON VIEW finance_internal.mrr_scan IS 'The same as finance_internal.mrr_months, counted from finance.movements and finance.price_changes: slow, for checks.';

COMMENT ON COLUMN finance_internal.mrr_scan.month IS 'First day of the month, in the report time zone.';

COMMENT ON COLUMN finance_internal.mrr_scan.new_cents IS 'First activations ever of customers, cents a month.';

COMMENT ON COLUMN finance_internal.mrr_scan.expansion_cents IS 'Higher prices while active, cents.';

COMMENT ON COLUMN finance_internal.mrr_scan.reactivation_cents IS 'Returns after an exit, cents.';

COMMENT ON COLUMN finance_internal.mrr_scan.contraction_cents IS 'Lower prices while active, cents.';

COMMENT ON COLUMN finance_internal.mrr_scan.churn_cents IS 'Exits, cents.';

CREATE VIEW finance_internal.return_scan AS
 SELECT e.day,
    ((e.left_at AT TIME ZONE z.report_tz))::date AS left_day,
    count(*) AS returns
   FROM (finance.entries e
     CROSS JOIN finance.settings z)
  WHERE (e.left_at IS NOT NULL)
  GROUP BY e.day, (((e.left_at AT TIME ZONE z.report_tz))::date);

COMMENT ON VIEW finance_internal.return_scan IS 'The same as finance.returns, counted from finance.entries: slow, for checks.';

COMMENT ON COLUMN finance_internal.return_scan.day IS 'Day of the return, in the report time zone.';

COMMENT ON COLUMN finance_internal.return_scan.left_day IS 'Day on which access had stopped.';

COMMENT ON COLUMN finance_internal.return_scan.returns IS 'Number.';

CREATE VIEW finance_internal.standing_scan AS
 SELECT s.gateway,
    s.payment_method,
    s.plan_id,
    count(*) FILTER (WHERE s.is_active) AS active,
    (COALESCE(sum(s.price_cents) FILTER (WHERE s.is_active), (0)::numeric))::bigint AS mrr_cents,
    count(*) FILTER (WHERE s.is_trial) AS trials,
    (COALESCE(sum(s.price_cents) FILTER (WHERE s.is_trial), (0)::numeric))::bigint AS trial_mrr_cents,
    count(*) FILTER (WHERE s.is_overdue) AS overdue,
    (COALESCE(sum(s.price_cents) FILTER (WHERE s.is_overdue), (0)::numeric))::bigint AS at_risk_cents,
    (0)::bigint AS customers
   FROM finance.subscriptions s
  GROUP BY s.gateway, s.payment_method, s.plan_id
UNION ALL
 SELECT ''::text AS gateway,
    ''::text AS payment_method,
    ''::text AS plan_id,
    0 AS active,
    0 AS mrr_cents,
    0 AS trials,
    0 AS trial_mrr_cents,
    0 AS overdue,
    0 AS at_risk_cents,
    count(*) AS customers
   FROM finance.customers c
  WHERE (NOT c.is_deleted);

COMMENT ON VIEW finance_internal.standing_scan IS 'The same as finance.standing, counted from finance.subscriptions and finance.customers: slow, for checks.';

COMMENT ON COLUMN finance_internal.standing_scan.gateway IS 'gwa or gwb; empty in the row that counts customers.';

COMMENT ON COLUMN finance_internal.standing_scan.payment_method IS 'credit_card, pix or boleto; empty likewise.';

COMMENT ON COLUMN finance_internal.standing_scan.plan_id IS 'The plan; empty likewise.';

COMMENT ON COLUMN finance_internal.standing_scan.active IS 'Active subscriptions as of finance.now().';

COMMENT ON COLUMN finance_internal.standing_scan.mrr_cents IS 'Sum of their monthly prices, cents.';

COMMENT ON COLUMN finance_internal.standing_scan.trials IS 'Of them, trials.';

COMMENT ON COLUMN finance_internal.standing_scan.trial_mrr_cents IS 'Monthly prices of the trials, cents; part of mrr_cents.';

COMMENT ON COLUMN finance_internal.standing_scan.overdue IS 'Overdue subscriptions.';

COMMENT ON COLUMN finance_internal.standing_scan.at_risk_cents IS 'Sum of their monthly prices, cents.';

COMMENT ON COLUMN finance_internal.standing_scan.customers IS 'Customers that are not deleted; in the row of empty texts alone.';

CREATE VIEW finance_internal.tenure_scan AS
 SELECT a.customer_id,
    min(a.from_at) AS first_access_at,
        CASE
            WHEN (count(*) FILTER (WHERE (a.until_at IS NULL)) = 0) THEN max(a.until_at)
            ELSE NULL::timestamp with time zone
        END AS last_access_at,
    (count(*) FILTER (WHERE (a.until_at IS NULL)) > 0) AS is_active,
    (floor((sum(EXTRACT(epoch FROM GREATEST((COALESCE(a.until_at, finance.now()) - a.from_at), '00:00:00'::interval))) / (86400)::numeric)))::bigint AS access_days
   FROM finance.access_periods a
  GROUP BY a.customer_id;

COMMENT ON VIEW finance_internal.tenure_scan IS 'The same as finance.tenure, counted from finance.access_periods: slow, for checks.';

COMMENT ON COLUMN finance_internal.tenure_scan.customer_id IS 'The customer.';

COMMENT ON COLUMN finance_internal.tenure_scan.first_access_at IS 'When access first began, UTC.';

COMMENT ON COLUMN finance_internal.tenure_scan.last_access_at IS 'When it last stopped, UTC; null while it lasts.';

COMMENT ON COLUMN finance_internal.tenure_scan.is_active IS 'Has access now.';

COMMENT ON COLUMN finance_internal.tenure_scan.access_days IS 'Whole days of access, gaps left out.';

CREATE TABLE jobs.river_job (
    id bigint NOT NULL,
    state jobs.river_job_state DEFAULT 'available'::jobs.river_job_state NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    max_attempts smallint DEFAULT 25 NOT NULL,
    attempted_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    finalized_at timestamp with time zone,
    scheduled_at timestamp with time zone DEFAULT now() NOT NULL,
    priority smallint DEFAULT 1 NOT NULL,
    args jsonb NOT NULL,
    attempted_by text[],
    errors jsonb[],
    kind text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    queue text DEFAULT 'default'::text NOT NULL,
    tags character varying(255)[] DEFAULT '{}'::character varying[] NOT NULL,
    unique_key bytea,
    unique_states bit(8),
    CONSTRAINT finalized_or_finalized_at_null CHECK ((((finalized_at IS NULL) AND (state <> ALL (ARRAY['cancelled'::jobs.river_job_state, 'completed'::jobs.river_job_state, 'discarded'::jobs.river_job_state]))) OR ((finalized_at IS NOT NULL) AND (state = ANY (ARRAY['cancelled'::jobs.river_job_state, 'completed'::jobs.river_job_state, 'discarded'::jobs.river_job_state]))))),
    CONSTRAINT kind_length CHECK (((char_length(kind) > 0) AND (char_length(kind) < 128))),
    CONSTRAINT max_attempts_is_positive CHECK ((max_attempts > 0)),
    CONSTRAINT priority_in_range CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT queue_length CHECK (((char_length(queue) > 0) AND (char_length(queue) < 128)))
);

CREATE SEQUENCE jobs.river_job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE jobs.river_job_id_seq OWNED BY jobs.river_job.id;

CREATE UNLOGGED TABLE jobs.river_leader (
    elected_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    leader_id text NOT NULL,
    name text DEFAULT 'default'::text NOT NULL,
    CONSTRAINT leader_id_length CHECK (((char_length(leader_id) > 0) AND (char_length(leader_id) < 128))),
    CONSTRAINT name_length CHECK ((name = 'default'::text))
);

CREATE TABLE jobs.river_notification (
    id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    payload text NOT NULL,
    topic text NOT NULL,
    CONSTRAINT topic_length CHECK (((length(topic) > 0) AND (length(topic) < 128)))
);

CREATE SEQUENCE jobs.river_notification_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE jobs.river_notification_id_seq OWNED BY jobs.river_notification.id;

CREATE TABLE jobs.river_queue (
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    paused_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE jobs.workers (
    id text NOT NULL,
    seen_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE jobs.workers IS 'Processes that work jobs, by River''s id of their client. A job that runs in one which has fallen silent is started again by another. Ours, not River''s.';

COMMENT ON COLUMN jobs.workers.seen_at IS 'When the process said last that it lives: every 3 seconds, by the database''s clock. After 15 seconds of silence it counts as dead.';

CREATE VIEW payments.bought_nothing AS
 SELECT p.gateway,
    p.gateway_payment_id,
    p.payment_intent_id,
    p.purpose,
    p.local_id
   FROM (payments.unapplied_payments u
     JOIN payments.payments p ON (((p.gateway = u.gateway) AND (p.gateway_payment_id = u.subject))))
  WHERE ((u.gateway_payment_id IS NOT NULL) AND (u.state <> 'extended'::text) AND (u.kind <> 'unknown'::text) AND (NOT u.bought));

COMMENT ON VIEW payments.bought_nothing IS 'Payments in the ledger that gave nobody anything: what becomes of them touches no subscription.';

CREATE TABLE payments.database_marks (
    only_one boolean DEFAULT true NOT NULL,
    mark text NOT NULL,
    noted_at timestamp with time zone NOT NULL,
    CONSTRAINT database_marks_only_one CHECK (only_one)
);

COMMENT ON TABLE payments.database_marks IS 'Which database the money is refunded from by itself, noted by the migration that made or found it: where payments.database_mark() says otherwise, or nothing is noted, this is a restored one, and nothing is refunded or ended by itself until somebody has reconciled.';

CREATE TABLE payments.dispute_transitions (
    id bigint NOT NULL,
    dispute_id platform.object_id NOT NULL,
    at timestamp with time zone NOT NULL,
    from_state text COLLATE pg_catalog."C",
    to_state text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    CONSTRAINT dispute_transitions_from_known CHECK ((from_state = ANY (ARRAY['inquiry'::text, 'open'::text, 'won'::text, 'lost'::text, 'dismissed'::text, 'withdrawn'::text]))),
    CONSTRAINT dispute_transitions_has_action CHECK ((action <> ''::text)),
    CONSTRAINT dispute_transitions_moves CHECK ((from_state IS DISTINCT FROM to_state)),
    CONSTRAINT dispute_transitions_reason_said CHECK ((reason <> ''::text)),
    CONSTRAINT dispute_transitions_to_known CHECK ((to_state = ANY (ARRAY['inquiry'::text, 'open'::text, 'won'::text, 'lost'::text, 'dismissed'::text, 'withdrawn'::text])))
);

COMMENT ON TABLE payments.dispute_transitions IS 'Every change of a dispute''s state, append-only, written by the statement that makes it.';

COMMENT ON COLUMN payments.dispute_transitions.id IS 'Their order; 0 of where a dispute from before the history stood when that began.';

COMMENT ON COLUMN payments.dispute_transitions.from_state IS 'Null for the row that began the dispute.';

COMMENT ON COLUMN payments.dispute_transitions.action IS 'By the table in modules/payments/state/dispute.go; not_recorded: of a dispute from before the history, or of a statement that wrote none.';

COMMENT ON COLUMN payments.dispute_transitions.reason IS 'Of the action, by the same table, or the gateway''s word for the state; null where nothing was said.';

ALTER TABLE payments.dispute_transitions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME payments.dispute_transitions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE payments.gateway_state (
    gateway text NOT NULL,
    failing_since timestamp with time zone,
    failed_at timestamp with time zone,
    forwarded_at timestamp with time zone,
    suspect_since timestamp with time zone,
    looks_left integer DEFAULT 0 NOT NULL,
    window_ends timestamp with time zone,
    counted_from timestamp with time zone,
    looked integer DEFAULT 0 NOT NULL,
    missed integer DEFAULT 0 NOT NULL,
    CONSTRAINT gateway_state_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text])))
);

COMMENT ON TABLE payments.gateway_state IS 'What the looks know of each gateway, shared by all processes.';

COMMENT ON COLUMN payments.gateway_state.failing_since IS 'The first call or look that ended not known since the last right answer.';

COMMENT ON COLUMN payments.gateway_state.forwarded_at IS 'When a right answer last brought all looks forward.';

COMMENT ON COLUMN payments.gateway_state.suspect_since IS 'Too many known objects were missing: while it is set, missing ends nothing.';

COMMENT ON COLUMN payments.gateway_state.looks_left IS 'Looks that the share of the quota still allows until window_ends.';

COMMENT ON COLUMN payments.gateway_state.counted_from IS 'Begin of the hour in which looked and missed count subscriptions that were read and not found.';

CREATE TABLE payments.intent_steps (
    id bigint NOT NULL,
    intent_id platform.object_id NOT NULL,
    at timestamp with time zone NOT NULL,
    by text NOT NULL,
    outcome text NOT NULL,
    state text NOT NULL,
    cause text
);

COMMENT ON TABLE payments.intent_steps IS 'The history of the intents, append-only: calls, looks and ends, each with what it showed.';

ALTER TABLE payments.intent_steps ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME payments.intent_steps_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE payments.intents (
    id platform.object_id NOT NULL,
    kind text NOT NULL,
    subject_id platform.object_id NOT NULL,
    item text DEFAULT ''::text NOT NULL,
    customer_id platform.object_id,
    gateway text NOT NULL,
    reference text NOT NULL,
    excludes text,
    state text DEFAULT 'open'::text NOT NULL,
    calls integer DEFAULT 0 NOT NULL,
    looks integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    misses integer DEFAULT 0 NOT NULL,
    missed_at timestamp with time zone,
    not_known_since timestamp with time zone,
    told_at timestamp with time zone,
    cause text,
    call_ends_at timestamp with time zone,
    looked_at timestamp with time zone,
    next_look_at timestamp with time zone,
    leased_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    forwards integer DEFAULT 0 NOT NULL,
    step smallint DEFAULT 0 NOT NULL,
    CONSTRAINT intents_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT intents_kind_known CHECK ((kind = ANY (ARRAY['subscription'::text, 'subscription_gone'::text, 'open_invoice'::text, 'order'::text, 'refund'::text, 'debit'::text, 'debit_retry'::text, 'plan_move'::text, 'charge_move'::text, 'pause'::text, 'end'::text, 'renewal_charge'::text, 'resume'::text]))),
    CONSTRAINT intents_open_has_look CHECK ((((state = 'open'::text) = (next_look_at IS NOT NULL)) AND ((state = 'open'::text) = (ended_at IS NULL)))),
    CONSTRAINT intents_state_known CHECK ((state = ANY (ARRAY['open'::text, 'done'::text, 'declined'::text, 'refused'::text, 'missing'::text, 'void'::text]))),
    CONSTRAINT intents_step_not_negative CHECK ((step >= 0))
);

COMMENT ON TABLE payments.intents IS 'One row an order to a gateway; the open ones are those whose outcome is not settled yet, and which the looks ask about.';

COMMENT ON COLUMN payments.intents.subject_id IS 'The row of the user (a subscription, an order, a refund) that the order is for.';

COMMENT ON COLUMN payments.intents.item IS 'Tells several orders of one subject apart, such as the cycles of debits.';

COMMENT ON COLUMN payments.intents.reference IS 'What the gateway was told as our own id.';

COMMENT ON COLUMN payments.intents.excludes IS 'What may be open only once at the gateway, such as refund:pay_1.';

COMMENT ON COLUMN payments.intents.calls IS 'Calls made that no answer and no proof accounts for. A proved missing sets it to 0.';

COMMENT ON COLUMN payments.intents.failures IS 'Looks in a row that ended not known; the pauses grow with them.';

COMMENT ON COLUMN payments.intents.misses IS 'Empty looks that count as proof: after the call''s own time limit, with growing pauses.';

COMMENT ON COLUMN payments.intents.not_known_since IS 'Since when the gateway has told nothing that can be used. Null after a right answer.';

COMMENT ON COLUMN payments.intents.told_at IS 'When the operators were told that it has been not known for a day.';

COMMENT ON COLUMN payments.intents.cause IS 'Why it is not known, as last seen. For operators.';

COMMENT ON COLUMN payments.intents.call_ends_at IS 'The end of the call''s own time limit: before it an empty look proves nothing.';

COMMENT ON COLUMN payments.intents.leased_until IS 'Until when the caller or a look has it; nobody else asks meanwhile.';

COMMENT ON COLUMN payments.intents.forwards IS 'How often its look was brought forward since its last right answer: each time it waits twice as long, so that an object that is always answered oddly keeps to its pauses.';

COMMENT ON COLUMN payments.intents.step IS 'Which call of its order, counted from 0, calls and misses are of: what was missed of one proves nothing about the next.';

CREATE TABLE payments.processed_events (
    gateway text NOT NULL,
    event_id text NOT NULL,
    log_id platform.object_id NOT NULL,
    state text NOT NULL,
    subjects text[] DEFAULT '{}'::text[] NOT NULL,
    result jsonb NOT NULL,
    event_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT processed_events_state_known CHECK ((state = ANY (ARRAY['applying'::text, 'done'::text, 'queued'::text, 'waiting'::text])))
);

COMMENT ON TABLE payments.processed_events IS 'One row a gateway event: whoever inserts it applies the event, everybody else takes its result.';

COMMENT ON COLUMN payments.processed_events.log_id IS 'The log whose payload is applied again by retries and replays. Of a done event it may be gone by retention; the key stays, and with it the event is known for good.';

COMMENT ON COLUMN payments.processed_events.state IS 'applying: only inside the transaction that inserts; done: final; queued: applying failed and a job tries again; waiting: no local row knows its subject yet.';

COMMENT ON COLUMN payments.processed_events.subjects IS 'Ids by which a waiting event is found once a local row learns one of them.';

COMMENT ON COLUMN payments.processed_events.event_at IS 'When it happened, by the gateway''s clock.';

CREATE TABLE payments.reconcile_findings (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    run_id platform.object_id NOT NULL,
    gateway text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    verdict text NOT NULL COLLATE pg_catalog."C",
    gateway_object_id text NOT NULL COLLATE pg_catalog."C",
    record text COLLATE pg_catalog."C",
    local_id platform.object_id,
    amount_cents bigint,
    was jsonb,
    became jsonb,
    detail text COLLATE pg_catalog."C",
    found_at timestamp with time zone NOT NULL,
    CONSTRAINT reconcile_findings_amount_bounded CHECK (((amount_cents >= 0) AND (amount_cents <= '100000000000'::bigint))),
    CONSTRAINT reconcile_findings_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT reconcile_findings_kind_known CHECK ((kind = ANY (ARRAY['missed_event'::text, 'missed_payment'::text, 'missed_refund'::text, 'missed_dispute'::text, 'missed_failure'::text, 'unshown_refund'::text, 'unshown_dispute'::text, 'unshown_payment'::text, 'ended_subscription'::text, 'stray_recurrence'::text]))),
    CONSTRAINT reconcile_findings_record_known CHECK ((record = ANY (ARRAY['subscription'::text, 'order'::text]))),
    CONSTRAINT reconcile_findings_verdict_known CHECK ((verdict = ANY (ARRAY['repaired'::text, 'repairable'::text, 'unknown'::text, 'unchanged'::text, 'failed'::text])))
);

COMMENT ON TABLE payments.reconcile_findings IS 'One row a difference that a reconciliation found, and what it did about it.';

COMMENT ON COLUMN payments.reconcile_findings.gateway_object_id IS 'The gateway''s id: of the event, payment, refunded payment, dispute or subscription.';

COMMENT ON COLUMN payments.reconcile_findings.local_id IS 'The subscription or order, where it is known; other systems'' too, of what is of nothing here.';

COMMENT ON COLUMN payments.reconcile_findings.was IS 'How the record and its money stood before; null where nothing here is meant.';

COMMENT ON COLUMN payments.reconcile_findings.became IS 'How they stood right after.';

CREATE TABLE payments.reconcile_runs (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    started_by text NOT NULL COLLATE pg_catalog."C",
    starter text COLLATE pg_catalog."C",
    dry_run boolean NOT NULL,
    gateways text[] NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    checked integer DEFAULT 0 NOT NULL,
    found integer DEFAULT 0 NOT NULL,
    repaired integer DEFAULT 0 NOT NULL,
    not_repaired integer DEFAULT 0 NOT NULL,
    failed integer DEFAULT 0 NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT reconcile_runs_counts_bounded CHECK (((checked >= 0) AND (failed >= 0) AND (repaired >= 0) AND (not_repaired >= 0) AND (found = (repaired + not_repaired)))),
    CONSTRAINT reconcile_runs_end_follows_start CHECK ((ended_at >= started_at)),
    CONSTRAINT reconcile_runs_gateways_known CHECK ((gateways <@ '{gwa,gwb}'::text[])),
    CONSTRAINT reconcile_runs_started_by_known CHECK ((started_by = ANY (ARRAY['schedule'::text, 'command'::text]))),
    CONSTRAINT reconcile_runs_starter_bounded CHECK (((length(starter) >= 1) AND (length(starter) <= 200)))
);

COMMENT ON TABLE payments.reconcile_runs IS 'One row a reconciliation with the gateways, by night or by command.';

COMMENT ON COLUMN payments.reconcile_runs.started_by IS 'schedule: the nightly job; command: marquee reconcile.';

COMMENT ON COLUMN payments.reconcile_runs.starter IS 'Of a command: the account and the machine that ran it.';

COMMENT ON COLUMN payments.reconcile_runs.since IS 'How far back it looked.';

COMMENT ON COLUMN payments.reconcile_runs.seen_at IS 'When the run was last known to live, by the clock of the database: one that died is told by it.';

COMMENT ON COLUMN payments.reconcile_runs.ended_at IS 'When it came to its end, also with failures; null while it runs, and of one that died.';

COMMENT ON COLUMN payments.reconcile_runs.checked IS 'Events, payments, refunds, disputes and subscriptions that were read at the gateways.';

COMMENT ON COLUMN payments.reconcile_runs.not_repaired IS 'Found and left as it is: a dry run, of nothing here, or without anything to change.';

COMMENT ON COLUMN payments.reconcile_runs.failed IS 'What could not be read or applied.';

CREATE TABLE payments.refund_reports (
    gateway text NOT NULL,
    payment_ref text NOT NULL,
    kind text NOT NULL,
    refund_id text NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    amount_cents bigint NOT NULL,
    CONSTRAINT refund_reports_amount_bounded CHECK ((amount_cents <= '100000000000'::bigint)),
    CONSTRAINT refund_reports_amount_not_negative CHECK ((amount_cents >= 0)),
    CONSTRAINT refund_reports_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT refund_reports_kind_known CHECK ((kind = ANY (ARRAY['total'::text, 'single'::text, 'failed'::text])))
);

COMMENT ON TABLE payments.refund_reports IS 'What the gateways said of refunds, as a set: what has been given back follows from the set alone, whatever the order and number of deliveries.';

COMMENT ON COLUMN payments.refund_reports.kind IS 'total: all that was given back of the payment until then; single: one refund; failed: one refund that came to nothing after it had been counted.';

COMMENT ON COLUMN payments.refund_reports.refund_id IS 'Of single and failed; empty for total.';

COMMENT ON COLUMN payments.refund_reports.reported_at IS 'By the gateway''s clock.';

CREATE TABLE payments.refund_transitions (
    id bigint NOT NULL,
    refund_id platform.object_id NOT NULL,
    at timestamp with time zone NOT NULL,
    from_state text COLLATE pg_catalog."C",
    to_state text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    CONSTRAINT refund_transitions_from_known CHECK ((from_state = ANY (ARRAY['requested'::text, 'pending'::text, 'done'::text, 'failed'::text]))),
    CONSTRAINT refund_transitions_has_action CHECK ((action <> ''::text)),
    CONSTRAINT refund_transitions_moves CHECK ((from_state IS DISTINCT FROM to_state)),
    CONSTRAINT refund_transitions_reason_said CHECK ((reason <> ''::text)),
    CONSTRAINT refund_transitions_to_known CHECK ((to_state = ANY (ARRAY['requested'::text, 'pending'::text, 'done'::text, 'failed'::text])))
);

COMMENT ON TABLE payments.refund_transitions IS 'Every change of a refund''s status, append-only, written by the statement that makes it.';

COMMENT ON COLUMN payments.refund_transitions.id IS 'Their order; 0 of where a refund from before the history stood when that began.';

COMMENT ON COLUMN payments.refund_transitions.from_state IS 'Null for the row that began the refund.';

COMMENT ON COLUMN payments.refund_transitions.action IS 'By the table in modules/payments/state/refund.go; not_recorded: of a refund from before the history, or of a statement that wrote none.';

COMMENT ON COLUMN payments.refund_transitions.reason IS 'Of the action, by the same table, or the gateway''s word for a refusal; null where nothing was said.';

ALTER TABLE payments.refund_transitions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME payments.refund_transitions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE payments.refused_webhook_counts (
    hour timestamp with time zone NOT NULL,
    gateway text NOT NULL,
    network text NOT NULL,
    reason text NOT NULL,
    calls bigint NOT NULL,
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT refused_webhook_counts_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT refused_webhook_counts_reason_known CHECK ((reason = ANY (ARRAY['signature'::text, 'clock_skew'::text])))
);

COMMENT ON TABLE payments.refused_webhook_counts IS 'Refused webhook calls that are not, or no longer, stored.';

COMMENT ON COLUMN payments.refused_webhook_counts.network IS 'The /24 of an IPv4 address, the /48 of an IPv6 address; other: beyond the networks that an hour names.';

CREATE TABLE payments.refused_webhooks (
    id platform.object_id NOT NULL,
    gateway text NOT NULL,
    event_id text,
    event_type text,
    payload jsonb NOT NULL,
    signature text,
    signature_valid boolean DEFAULT false NOT NULL,
    processed boolean DEFAULT false NOT NULL,
    result jsonb,
    received_at timestamp with time zone NOT NULL,
    processed_at timestamp with time zone,
    reason text NOT NULL,
    address text NOT NULL,
    network text NOT NULL,
    request_id text,
    CONSTRAINT refused_webhooks_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT refused_webhooks_never_valid CHECK (((NOT signature_valid) AND (NOT processed) AND (processed_at IS NULL))),
    CONSTRAINT refused_webhooks_reason_known CHECK ((reason = ANY (ARRAY['signature'::text, 'clock_skew'::text])))
);

COMMENT ON TABLE payments.refused_webhooks IS 'The first refused webhook calls of an hour and address, and of a day; the columns up to processed_at are those of webhook_logs, beside which they are listed. Kept 7 days, then counted.';

COMMENT ON COLUMN payments.refused_webhooks.event_id IS 'What the body claims to be.';

COMMENT ON COLUMN payments.refused_webhooks.payload IS 'At most 4 kB of the body; a JSON string when it is longer, or no JSON.';

COMMENT ON COLUMN payments.refused_webhooks.reason IS 'signature: missing, unreadable, wrong, or of another day; clock_skew: right, but made 5 minutes to 24 hours before or after our time.';

COMMENT ON COLUMN payments.refused_webhooks.address IS 'An IPv4 address, or the /64 of an IPv6 address.';

COMMENT ON COLUMN payments.refused_webhooks.network IS 'As in refused_webhook_counts.';

COMMENT ON COLUMN payments.refused_webhooks.request_id IS 'As in webhook_logs.';

CREATE TABLE payments.unapplied_decisions (
    id bigint NOT NULL,
    unapplied_id platform.object_id NOT NULL,
    at timestamp with time zone NOT NULL,
    from_state text,
    to_state text NOT NULL,
    source text NOT NULL,
    admin_id platform.object_id,
    amount_cents bigint,
    reason text,
    CONSTRAINT unapplied_decisions_admin_named CHECK (((source = 'admin'::text) OR (admin_id IS NULL))),
    CONSTRAINT unapplied_decisions_amount_bounded CHECK ((amount_cents <= '100000000000'::bigint)),
    CONSTRAINT unapplied_decisions_from_known CHECK ((from_state = ANY (ARRAY['open'::text, 'refunding'::text, 'refunded'::text, 'extended'::text, 'kept'::text]))),
    CONSTRAINT unapplied_decisions_moves CHECK ((from_state IS DISTINCT FROM to_state)),
    CONSTRAINT unapplied_decisions_source_known CHECK ((source = ANY (ARRAY['platform'::text, 'admin'::text, 'gateway'::text]))),
    CONSTRAINT unapplied_decisions_to_known CHECK ((to_state = ANY (ARRAY['open'::text, 'refunding'::text, 'refunded'::text, 'extended'::text, 'kept'::text])))
);

COMMENT ON TABLE payments.unapplied_decisions IS 'Every change of an unapplied payment''s state, append-only. What the platform refunded by itself, and so its hourly and daily limits, is counted from here.';

COMMENT ON COLUMN payments.unapplied_decisions.from_state IS 'Null for the row that began it.';

COMMENT ON COLUMN payments.unapplied_decisions.source IS 'platform: by itself; admin: a person; gateway: it followed from what the ledger of refunds was told.';

COMMENT ON COLUMN payments.unapplied_decisions.amount_cents IS 'The payment''s, as far as it is known.';

ALTER TABLE payments.unapplied_decisions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME payments.unapplied_decisions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE payments.webhook_logs (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    gateway text NOT NULL,
    event_id text,
    event_type text,
    payload jsonb NOT NULL,
    signature text,
    signature_valid boolean NOT NULL,
    processed boolean DEFAULT false NOT NULL,
    result jsonb,
    received_at timestamp with time zone NOT NULL,
    processed_at timestamp with time zone,
    request_id text,
    CONSTRAINT webhook_logs_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT webhook_logs_processed_has_result CHECK (((NOT processed) OR ((result IS NOT NULL) AND (processed_at IS NOT NULL))))
)
PARTITION BY RANGE (received_at);

COMMENT ON TABLE payments.webhook_logs IS 'Every webhook call, also repeated and unauthenticated ones; a partition a month (UTC) of receipt.';

COMMENT ON COLUMN payments.webhook_logs.event_id IS 'The gateway''s id, kept whole; null when the body names none. Of an unauthenticated body it is a mere claim.';

COMMENT ON COLUMN payments.webhook_logs.payload IS 'The body; a JSON string when it is no JSON that can be stored.';

COMMENT ON COLUMN payments.webhook_logs.signature IS 'Gateway B''s signature header. Gateway A sends a secret token instead, which is never stored.';

COMMENT ON COLUMN payments.webhook_logs.processed IS 'The event has its final result; false for bad signatures and while a job tries again.';

COMMENT ON COLUMN payments.webhook_logs.request_id IS 'X-Request-Id of the call; null of what was logged by a job, or before it was kept.';

CREATE VIEW payments.webhook_log_months AS
 SELECT (c.relname)::text AS partition,
    ("substring"(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''([^'']+)''\)'::text))::timestamp with time zone AS begins_at,
    ("substring"(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)'::text))::timestamp with time zone AS ends_at
   FROM (pg_inherits i
     JOIN pg_class c ON ((c.oid = i.inhrelid)))
  WHERE (i.inhparent = ('payments.webhook_logs'::regclass)::oid);

COMMENT ON VIEW payments.webhook_log_months IS 'The partitions of the log; begins_at is null for what was logged before there were any, both are for the rest.';

CREATE TABLE payments.webhook_logs_rest (
    id platform.object_id DEFAULT platform.new_object_id() NOT NULL,
    gateway text NOT NULL,
    event_id text,
    event_type text,
    payload jsonb NOT NULL,
    signature text,
    signature_valid boolean NOT NULL,
    processed boolean DEFAULT false NOT NULL,
    result jsonb,
    received_at timestamp with time zone NOT NULL,
    processed_at timestamp with time zone,
    request_id text,
    CONSTRAINT webhook_logs_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT webhook_logs_processed_has_result CHECK (((NOT processed) OR ((result IS NOT NULL) AND (processed_at IS NOT NULL))))
);

COMMENT ON TABLE payments.webhook_logs_rest IS 'Logs of months without a partition, so that a call is always taken, and logs of events not applied yet whose month has gone.';

CREATE TABLE platform.breaking_migrations (
    version bigint NOT NULL,
    needs bigint NOT NULL,
    CONSTRAINT breaking_migrations_need_earlier CHECK ((needs <= version))
);

COMMENT ON TABLE platform.breaking_migrations IS 'Migrations with which older programs do not run: the lines "-- breaks: <version>" of those that this database has. Written by the migrations themselves, so that a program which does not know the file can read it.';

COMMENT ON COLUMN platform.breaking_migrations.needs IS 'The migration that a program has to know at least. One that knows only earlier ones refuses to start.';

CREATE TABLE platform.bulk_acts (
    id platform.object_id NOT NULL,
    act text NOT NULL COLLATE pg_catalog."C",
    query text NOT NULL COLLATE pg_catalog."C",
    arguments jsonb NOT NULL,
    actor_id platform.object_id NOT NULL,
    claims jsonb NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    total integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT bulk_acts_arguments_are_object CHECK ((jsonb_typeof(arguments) = 'object'::text)),
    CONSTRAINT bulk_acts_ended_when_over CHECK (((ended_at IS NOT NULL) = (state <> 'running'::text))),
    CONSTRAINT bulk_acts_state_known CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'stopped'::text]))),
    CONSTRAINT bulk_acts_total_bounded CHECK (((total >= 0) AND (total <= 100000)))
);

COMMENT ON TABLE platform.bulk_acts IS 'What staff do to all records of a filter: a job calls the API for each, as whoever asked for it.';

COMMENT ON COLUMN platform.bulk_acts.claims IS 'What the token said with which it was asked for, no token. Whether tokens of its age, or its session, were ended since by anything but signing out, and the rights of whoever asked, are read anew for each record.';

COMMENT ON COLUMN platform.bulk_acts.total IS 'How many records the filter matched when it was confirmed; these and no others.';

CREATE TABLE platform.bulk_rows (
    bulk_id platform.object_id NOT NULL,
    "position" integer NOT NULL,
    record_id text NOT NULL COLLATE pg_catalog."C",
    outcome text COLLATE pg_catalog."C",
    reason text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT bulk_rows_outcome_known CHECK ((outcome = ANY (ARRAY['started'::text, 'done'::text, 'skipped'::text, 'failed'::text, 'unknown'::text])))
);

COMMENT ON TABLE platform.bulk_rows IS 'The records of a bulk act, with what became of each. Null: not yet begun; started: the call is under way, or was cut off; unknown: it was cut off, and may not be made again.';

CREATE TABLE platform.idempotency_keys (
    key_mac bytea NOT NULL,
    body_mac bytea NOT NULL,
    attempt_id platform.object_id NOT NULL,
    running_until timestamp with time zone NOT NULL,
    subject_id platform.object_id,
    answer bytea,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT idempotency_keys_macs CHECK (((length(key_mac) = 32) AND (length(body_mac) = 32)))
);

COMMENT ON TABLE platform.idempotency_keys IS 'Requests that were sent with an Idempotency-Key in the last 24 hours, with the answer that their repetitions get. Swept by job.';

COMMENT ON COLUMN platform.idempotency_keys.key_mac IS 'HMAC-SHA-256 of route, caller and key.';

COMMENT ON COLUMN platform.idempotency_keys.body_mac IS 'HMAC-SHA-256 of the request body, by which another body is told: nobody finds card data in it.';

COMMENT ON COLUMN platform.idempotency_keys.attempt_id IS 'Whoever works on the request. One who has lost it to another may not commit.';

COMMENT ON COLUMN platform.idempotency_keys.running_until IS 'Until then the attempt is under way; later, without an answer, it was cut off and may be taken over.';

COMMENT ON COLUMN platform.idempotency_keys.subject_id IS 'The order or subscription that stands for the request, set in the transaction that wrote it: a repetition never makes a second one while this one lives.';

COMMENT ON COLUMN platform.idempotency_keys.answer IS 'Status and body of the first answer, sealed with AES-256-GCM: it may hold secrets of gateways and codes of tickets.';

CREATE SEQUENCE platform.object_id_counter
    AS integer
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    MAXVALUE 16777215
    CACHE 1
    CYCLE;

CREATE TABLE settings.branding (
    only_row boolean DEFAULT true NOT NULL,
    name text DEFAULT 'Marquee'::text NOT NULL COLLATE pg_catalog."C",
    accent_light text DEFAULT '#2b59c3'::text NOT NULL COLLATE pg_catalog."C",
    accent_dark text DEFAULT '#8aaefc'::text NOT NULL COLLATE pg_catalog."C",
    logo_sum text COLLATE pg_catalog."C",
    updated_at timestamp with time zone DEFAULT '1999-12-31 20:30:00-03:30'::timestamp with time zone NOT NULL,
    CONSTRAINT branding_accents_are_colours CHECK (((accent_light ~ '^#[0-9a-f]{6}$'::text) AND (accent_dark ~ '^#[0-9a-f]{6}$'::text))),
    CONSTRAINT branding_logo_sum_is_sha256 CHECK ((logo_sum ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT branding_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 40))),
    CONSTRAINT branding_one_row CHECK (only_row)
);

COMMENT ON TABLE settings.branding IS 'One row: what the platform is called and looks like, in the front ends, mails and tickets.';

COMMENT ON COLUMN settings.branding.accent_light IS 'Has 4.5:1 on the grounds of the light theme; a colour that is read on light grounds is not read on dark ones, so that there are two.';

COMMENT ON COLUMN settings.branding.logo_sum IS 'SHA-256 of the logo, by which its address differs from that of the one before. Null: the mark of Marquee.';

CREATE TABLE settings.branding_logo (
    only_row boolean DEFAULT true NOT NULL,
    png bytea NOT NULL,
    mail_png bytea NOT NULL,
    CONSTRAINT branding_logo_bounded CHECK (((octet_length(png) <= 524288) AND (octet_length(mail_png) <= 524288))),
    CONSTRAINT branding_logo_one_row CHECK (only_row)
);

COMMENT ON TABLE settings.branding_logo IS 'The logo, apart from what is read often: no row without one.';

COMMENT ON COLUMN settings.branding_logo.mail_png IS 'The same, as small as mails show it.';

CREATE TABLE settings.changes (
    id bigint NOT NULL,
    setting text NOT NULL COLLATE pg_catalog."C",
    from_value text,
    to_value text,
    changed_by platform.object_id NOT NULL,
    changed_at timestamp with time zone NOT NULL
);

COMMENT ON TABLE settings.changes IS 'Append-only: every change of a setting.';

COMMENT ON COLUMN settings.changes.changed_by IS 'The admin. No foreign key: users belong to an upper module.';

ALTER TABLE settings.changes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME settings.changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE settings.platform (
    only_row boolean DEFAULT true NOT NULL,
    default_payment_gateway text DEFAULT 'gwa'::text NOT NULL COLLATE pg_catalog."C",
    pix_billing_mode text DEFAULT 'monthly'::text NOT NULL COLLATE pg_catalog."C",
    pix_subscription_mode text DEFAULT 'manual'::text NOT NULL COLLATE pg_catalog."C",
    client_version text DEFAULT '1.0.0'::text NOT NULL COLLATE pg_catalog."C",
    min_version text COLLATE pg_catalog."C",
    CONSTRAINT platform_gateway_known CHECK ((default_payment_gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT platform_min_version_not_above CHECK (((string_to_array("substring"(min_version, '^[0-9]+\.[0-9]+\.[0-9]+'::text), '.'::text))::integer[] <= (string_to_array("substring"(client_version, '^[0-9]+\.[0-9]+\.[0-9]+'::text), '.'::text))::integer[])),
    CONSTRAINT platform_one_row CHECK (only_row),
    CONSTRAINT platform_pix_billing_mode_known CHECK ((pix_billing_mode = ANY (ARRAY['monthly'::text, 'quarterly'::text, 'semiannually'::text, 'yearly'::text]))),
    CONSTRAINT platform_pix_subscription_mode_known CHECK ((pix_subscription_mode = ANY (ARRAY['manual'::text, 'recurring'::text])))
);

COMMENT ON TABLE settings.platform IS 'One row, one column a setting.';

COMMENT ON COLUMN settings.platform.default_payment_gateway IS 'A preference shown to clients; both gateways stay available.';

COMMENT ON COLUMN settings.platform.pix_billing_mode IS 'How many months one PIX payment buys: 1, 3, 6 or 12. A change affects new subscriptions only.';

COMMENT ON COLUMN settings.platform.client_version IS 'The client version that goes with this service, as semver; an update gate of the clients.';

COMMENT ON COLUMN settings.platform.min_version IS 'Clients below have to update. Null: none has to.';

CREATE TABLE subscriptions.charge_moves (
    id platform.object_id NOT NULL,
    subscription_id platform.object_id NOT NULL,
    from_at timestamp with time zone NOT NULL,
    to_at timestamp with time zone NOT NULL,
    state text DEFAULT 'open'::text NOT NULL COLLATE pg_catalog."C",
    tries integer DEFAULT 0 NOT NULL,
    next_try_at timestamp with time zone,
    ended_at timestamp with time zone,
    created_by_id platform.object_id,
    register_date timestamp with time zone NOT NULL,
    refused_since timestamp with time zone,
    refusal text COLLATE pg_catalog."C",
    CONSTRAINT charge_moves_forward CHECK ((to_at > from_at)),
    CONSTRAINT charge_moves_over_has_end CHECK (((state = 'open'::text) = (ended_at IS NULL))),
    CONSTRAINT charge_moves_state_known CHECK ((state = ANY (ARRAY['open'::text, 'done'::text, 'refused'::text, 'void'::text]))),
    CONSTRAINT charge_moves_tries_not_negative CHECK ((tries >= 0))
);

COMMENT ON TABLE subscriptions.charge_moves IS 'Orders to charge a card subscription that was extended first at the end of its extension, written with the extension and before its gateway is asked.';

COMMENT ON COLUMN subscriptions.charge_moves.from_at IS 'When the next charge would have been due: what settles for the time from here to to_at is given back.';

COMMENT ON COLUMN subscriptions.charge_moves.to_at IS 'When the next charge is to be due.';

COMMENT ON COLUMN subscriptions.charge_moves.state IS 'open: the gateway is being asked; done: it has confirmed; refused: it certainly did not; void: the subscription ended first, or the day has come.';

COMMENT ON COLUMN subscriptions.charge_moves.tries IS 'Of the release before; goes with the next one.';

COMMENT ON COLUMN subscriptions.charge_moves.next_try_at IS 'Of the release before; goes with the next one.';

COMMENT ON COLUMN subscriptions.charge_moves.refused_since IS 'Since when the gateway finds the open order wrong; it is asked again for a quarter of an hour before that counts.';

COMMENT ON COLUMN subscriptions.charge_moves.refusal IS 'What the gateway said when that counted: the extension was taken back. Null of a refused order: nothing charges there any more, and the extension stands.';

CREATE TABLE subscriptions.debit_retries (
    subscription_id platform.object_id NOT NULL,
    cycle date NOT NULL,
    retry_date date NOT NULL,
    state text NOT NULL,
    reason text,
    order_id text COLLATE pg_catalog."C",
    tried_at timestamp with time zone,
    ordered_at timestamp with time zone,
    ended_at timestamp with time zone,
    register_date timestamp with time zone NOT NULL,
    CONSTRAINT debit_retries_ended CHECK (((state = ANY (ARRAY['planned'::text, 'ordered'::text])) = (ended_at IS NULL))),
    CONSTRAINT debit_retries_ordered CHECK (((state <> 'ordered'::text) OR (ordered_at IS NOT NULL))),
    CONSTRAINT debit_retries_state_known CHECK ((state = ANY (ARRAY['planned'::text, 'ordered'::text, 'refused'::text, 'paid'::text, 'dropped'::text])))
);

COMMENT ON TABLE subscriptions.debit_retries IS 'The days on which a debit of automatic PIX that failed is to be taken again, one row each, planned when it fails.';

COMMENT ON COLUMN subscriptions.debit_retries.state IS 'planned; ordered at the gateway; then refused by the bank, or paid. dropped: it is ordered no more.';

COMMENT ON COLUMN subscriptions.debit_retries.reason IS 'Why it was refused or dropped.';

COMMENT ON COLUMN subscriptions.debit_retries.order_id IS 'The gateway''s id of the order.';

COMMENT ON COLUMN subscriptions.debit_retries.tried_at IS 'When somebody last set about ordering it.';

CREATE TABLE subscriptions.debits (
    subscription_id platform.object_id NOT NULL,
    cycle date NOT NULL,
    due_date date NOT NULL,
    amount_cents bigint NOT NULL,
    gateway_payment_id text COLLATE pg_catalog."C",
    register_date timestamp with time zone NOT NULL,
    ordered_at timestamp with time zone,
    tried_at timestamp with time zone NOT NULL,
    paid_at timestamp with time zone,
    failed_at timestamp with time zone,
    failure text,
    retryable boolean DEFAULT false NOT NULL,
    CONSTRAINT debits_amount_bounded CHECK ((amount_cents <= '100000000000'::bigint)),
    CONSTRAINT debits_amount_positive CHECK ((amount_cents > 0)),
    CONSTRAINT debits_ordered_has_payment CHECK (((gateway_payment_id IS NULL) = (ordered_at IS NULL)))
);

COMMENT ON TABLE subscriptions.debits IS 'Debits of automatic PIX, one a cycle, written before the gateway is asked for it.';

COMMENT ON COLUMN subscriptions.debits.cycle IS 'The day, in REPORT_TZ, on which the period begins that the debit pays.';

COMMENT ON COLUMN subscriptions.debits.due_date IS 'The day on which it is to be taken, as the gateway took the order.';

COMMENT ON COLUMN subscriptions.debits.ordered_at IS 'When the gateway took the order; null while its answer is not known.';

COMMENT ON COLUMN subscriptions.debits.tried_at IS 'When somebody last set about ordering it: who comes soon after keeps off, since the gateway takes two orders of one cycle.';

COMMENT ON COLUMN subscriptions.debits.paid_at IS 'When its money was booked.';

COMMENT ON COLUMN subscriptions.debits.failed_at IS 'When we heard first that its day passed without money, or that it was taken back. A retry, or its PIX code, may pay it all the same.';

COMMENT ON COLUMN subscriptions.debits.failure IS 'The gateway''s word for the last failure.';

COMMENT ON COLUMN subscriptions.debits.retryable IS 'Whether the bank may be asked again: not after a final reason, nor after the payer took it back.';

CREATE TABLE subscriptions.dunning_mails (
    subscription_id platform.object_id NOT NULL,
    payment_id text NOT NULL COLLATE pg_catalog."C",
    day integer NOT NULL,
    amount_cents bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    claimed_at timestamp with time zone,
    sent_at timestamp with time zone,
    dropped_at timestamp with time zone,
    register_date timestamp with time zone NOT NULL,
    CONSTRAINT dunning_mails_amount_bounded CHECK ((amount_cents <= '100000000000'::bigint)),
    CONSTRAINT dunning_mails_amount_not_negative CHECK ((amount_cents >= 0)),
    CONSTRAINT dunning_mails_day_not_negative CHECK ((day >= 0)),
    CONSTRAINT dunning_mails_sent_or_dropped CHECK (((sent_at IS NULL) OR (dropped_at IS NULL)))
);

COMMENT ON TABLE subscriptions.dunning_mails IS 'Mails about failed payments, one a (payment, day), written in the transaction that recorded the failure.';

COMMENT ON COLUMN subscriptions.dunning_mails.payment_id IS 'The payment at the gateway that failed: the invoice at gateway B, the charge at gateway A.';

COMMENT ON COLUMN subscriptions.dunning_mails.day IS 'Days after the failure.';

COMMENT ON COLUMN subscriptions.dunning_mails.claimed_at IS 'Since when a job has it in hand; after some minutes it counts as lost.';

COMMENT ON COLUMN subscriptions.dunning_mails.dropped_at IS 'When it turned out that nothing is left to be asked for: paid, ended, disputed, or the customer is gone.';

CREATE TABLE subscriptions.order_transitions (
    id bigint NOT NULL,
    subscription_id platform.object_id NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    item text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone NOT NULL,
    from_state text COLLATE pg_catalog."C",
    to_state text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    CONSTRAINT order_transitions_has_action CHECK ((action <> ''::text)),
    CONSTRAINT order_transitions_kind_known CHECK ((kind = ANY (ARRAY['renewal_charge'::text, 'plan_move'::text, 'charge_move'::text, 'pause'::text, 'debit_retry'::text]))),
    CONSTRAINT order_transitions_moves CHECK ((from_state IS DISTINCT FROM to_state)),
    CONSTRAINT order_transitions_reason_said CHECK ((reason <> ''::text))
);

COMMENT ON TABLE subscriptions.order_transitions IS 'Every change of the state of an order beside a subscription (a code for a further period, a move to another plan or of the next charge, a pause, a retry of a debit), append-only, written by the statement that makes it.';

COMMENT ON COLUMN subscriptions.order_transitions.id IS 'Their order; 0 of where an order from before the history stood when that began.';

COMMENT ON COLUMN subscriptions.order_transitions.kind IS 'As payments.intents.kind: the table of the order.';

COMMENT ON COLUMN subscriptions.order_transitions.item IS 'The id of the order; of a retry its cycle and its day, such as 2026-12-10/2026-12-13.';

COMMENT ON COLUMN subscriptions.order_transitions.from_state IS 'Null for the row that began the order.';

COMMENT ON COLUMN subscriptions.order_transitions.action IS 'By the tables in modules/subscriptions/state/order.go; not_recorded: of an order from before the history, or of a statement that wrote none.';

COMMENT ON COLUMN subscriptions.order_transitions.reason IS 'Of the action, by the same tables, or the gateway''s word; null where nothing was said.';

ALTER TABLE subscriptions.order_transitions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME subscriptions.order_transitions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE subscriptions.pauses (
    id platform.object_id NOT NULL,
    subscription_id platform.object_id NOT NULL,
    state text DEFAULT 'pausing'::text NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL,
    until timestamp with time zone,
    next_due timestamp with time zone,
    tries integer DEFAULT 0 NOT NULL,
    next_try_at timestamp with time zone,
    leased_until timestamp with time zone,
    paused_at timestamp with time zone,
    ended_at timestamp with time zone,
    register_date timestamp with time zone NOT NULL,
    CONSTRAINT pauses_over_has_end CHECK (((state = ANY (ARRAY['resumed'::text, 'void'::text])) = (ended_at IS NOT NULL))),
    CONSTRAINT pauses_state_known CHECK ((state = ANY (ARRAY['pausing'::text, 'paused'::text, 'resuming'::text, 'resumed'::text, 'void'::text]))),
    CONSTRAINT pauses_tries_not_negative CHECK ((tries >= 0))
);

COMMENT ON TABLE subscriptions.pauses IS 'Orders to collect nothing for a disputed subscription, written before its gateway is asked, and to collect again.';

COMMENT ON COLUMN subscriptions.pauses.state IS 'pausing: the gateway is being asked to collect nothing; paused: it has confirmed; resuming: it is being asked to collect again; resumed; void: the subscription ended first.';

COMMENT ON COLUMN subscriptions.pauses.since IS 'When the dispute was opened, by the gateway''s clock: money that settles from then on is given back.';

COMMENT ON COLUMN subscriptions.pauses.until IS 'When the dispute was won, by the gateway''s clock, or lifted by an admin; money that settles from then on counts.';

COMMENT ON COLUMN subscriptions.pauses.next_due IS 'The first day for which a charge had been made and was removed.';

COMMENT ON COLUMN subscriptions.pauses.tries IS 'Of the release before; goes with the next one.';

COMMENT ON COLUMN subscriptions.pauses.next_try_at IS 'Of the release before; goes with the next one.';

COMMENT ON COLUMN subscriptions.pauses.leased_until IS 'Of the release before; goes with the next one.';

CREATE TABLE subscriptions.plan_moves (
    id platform.object_id NOT NULL,
    subscription_id platform.object_id NOT NULL,
    plan_id text NOT NULL COLLATE pg_catalog."C",
    state text DEFAULT 'open'::text NOT NULL COLLATE pg_catalog."C",
    tries integer DEFAULT 0 NOT NULL,
    next_try_at timestamp with time zone,
    ended_at timestamp with time zone,
    created_by_id platform.object_id,
    register_date timestamp with time zone NOT NULL,
    from_cents bigint,
    CONSTRAINT plan_moves_ended CHECK (((state = 'open'::text) = (ended_at IS NULL))),
    CONSTRAINT plan_moves_price_bounded CHECK ((from_cents <= 100000000)),
    CONSTRAINT plan_moves_price_not_negative CHECK ((from_cents >= 0)),
    CONSTRAINT plan_moves_state_known CHECK ((state = ANY (ARRAY['open'::text, 'done'::text, 'refused'::text, 'void'::text]))),
    CONSTRAINT plan_moves_tries_not_negative CHECK ((tries >= 0))
);

COMMENT ON TABLE subscriptions.plan_moves IS 'Orders to move a running recurrence to another plan, written before its gateway is asked for the new price.';

COMMENT ON COLUMN subscriptions.plan_moves.plan_id IS 'The plan to move to; the subscription takes it on when the gateway has confirmed the price.';

COMMENT ON COLUMN subscriptions.plan_moves.state IS 'open: the gateway is being asked; done; refused: the gateway certainly kept the old price; void: the subscription ended first.';

COMMENT ON COLUMN subscriptions.plan_moves.tries IS 'Of the release before; goes with the next one.';

COMMENT ON COLUMN subscriptions.plan_moves.next_try_at IS 'Of the release before; goes with the next one.';

COMMENT ON COLUMN subscriptions.plan_moves.created_by_id IS 'The admin who ordered it.';

COMMENT ON COLUMN subscriptions.plan_moves.from_cents IS 'The price a month that the move leaves: a charge made ahead may still be of it. Null of moves ordered before this was kept.';

CREATE TABLE subscriptions.renewal_charges (
    id platform.object_id NOT NULL,
    subscription_id platform.object_id NOT NULL,
    customer_id platform.object_id NOT NULL,
    gateway text NOT NULL COLLATE pg_catalog."C",
    cycle date,
    amount_cents bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    payable_until timestamp with time zone NOT NULL,
    intent_open boolean NOT NULL,
    look_at timestamp with time zone,
    misses integer DEFAULT 0 NOT NULL,
    gateway_payment_id text COLLATE pg_catalog."C",
    pix_payload text COLLATE pg_catalog."C",
    pix_image text COLLATE pg_catalog."C",
    pix_expires_at timestamp with time zone,
    moved_from timestamp with time zone,
    moved_to timestamp with time zone,
    register_date timestamp with time zone NOT NULL,
    register_update_date timestamp with time zone NOT NULL,
    CONSTRAINT renewal_charges_amount_bounded CHECK ((amount_cents <= '100000000000'::bigint)),
    CONSTRAINT renewal_charges_amount_positive CHECK ((amount_cents > 0)),
    CONSTRAINT renewal_charges_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT renewal_charges_intent_is_open CHECK (((NOT intent_open) OR (state = 'open'::text))),
    CONSTRAINT renewal_charges_paid_moves_the_end CHECK (((state = 'paid'::text) = (moved_to IS NOT NULL))),
    CONSTRAINT renewal_charges_state_known CHECK ((state = ANY (ARRAY['open'::text, 'paid'::text, 'unapplied'::text, 'gone'::text])))
);

COMMENT ON TABLE subscriptions.renewal_charges IS 'PIX codes that pay a further period of a subscription, written before the gateway is asked; the id is what the gateway is told as our reference.';

COMMENT ON COLUMN subscriptions.renewal_charges.cycle IS 'Of automatic PIX: the day, in REPORT_TZ, on which the period begins that the code pays in place of the debit. Null: the next period of a manual PIX.';

COMMENT ON COLUMN subscriptions.renewal_charges.state IS 'open: it may be paid, or is being ordered. paid: it moved the end. unapplied: paid when nothing could take it. gone: it can no longer be paid.';

COMMENT ON COLUMN subscriptions.renewal_charges.payable_until IS 'Until when the gateway is asked to take the code.';

COMMENT ON COLUMN subscriptions.renewal_charges.look_at IS 'Of the release before; goes with the next one.';

COMMENT ON COLUMN subscriptions.renewal_charges.misses IS 'Of the release before; goes with the next one.';

COMMENT ON COLUMN subscriptions.renewal_charges.moved_from IS 'The end of the paid time before the payment; null where the subscription had ended.';

COMMENT ON COLUMN subscriptions.renewal_charges.moved_to IS 'The end of the paid time that the payment gave.';

CREATE TABLE subscriptions.stray_recurrences (
    gateway text NOT NULL,
    recurrence_id text NOT NULL,
    reference platform.object_id NOT NULL,
    payment_id text NOT NULL,
    held boolean NOT NULL,
    found_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    told_at timestamp with time zone,
    outcome text,
    ended_at timestamp with time zone,
    CONSTRAINT stray_recurrences_ends_with_outcome CHECK (((outcome IS NULL) = (ended_at IS NULL))),
    CONSTRAINT stray_recurrences_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text]))),
    CONSTRAINT stray_recurrences_outcome_known CHECK ((outcome = ANY (ARRAY['ended'::text, 'owned'::text, 'kept'::text])))
);

COMMENT ON TABLE subscriptions.stray_recurrences IS 'Recurrences that charge at a gateway, name an id of ours and are no subscription''s here, as after a restore of an older database.';

COMMENT ON COLUMN subscriptions.stray_recurrences.reference IS 'The id of ours that it names; no row has it.';

COMMENT ON COLUMN subscriptions.stray_recurrences.payment_id IS 'The charge that told of it; it stands on the list of unapplied payments.';

COMMENT ON COLUMN subscriptions.stray_recurrences.held IS 'Found after a restore: ended only once it is confirmed.';

COMMENT ON COLUMN subscriptions.stray_recurrences.confirmed_at IS 'When a run of marquee reconcile --apply said that it is to end, which it had been listed for before.';

COMMENT ON COLUMN subscriptions.stray_recurrences.told_at IS 'When the operators were told that it waits.';

COMMENT ON COLUMN subscriptions.stray_recurrences.outcome IS 'ended: at the gateway; owned: a subscription has it by now; kept: an admin has kept its charge.';

ALTER TABLE subscriptions.transitions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME subscriptions.transitions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE subscriptions.trial_uses (
    tax_id_mac bytea NOT NULL,
    subscription_id platform.object_id,
    claimed_at timestamp with time zone NOT NULL,
    began_at timestamp with time zone
);

COMMENT ON TABLE subscriptions.trial_uses IS 'Who has had a trial: one for each tax id, kept 24 months from its beginning, also after the account is deleted. A row whose trial has not begun counts while its subscription is pending.';

COMMENT ON COLUMN subscriptions.trial_uses.tax_id_mac IS 'HMAC-SHA-256 of the tax id with a server key (TRIAL_KEY): without it no tax id is found in here.';

COMMENT ON COLUMN subscriptions.trial_uses.subscription_id IS 'Null for trials of earlier versions and of deleted accounts.';

CREATE TABLE tickets.customers (
    id platform.object_id NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL COLLATE pg_catalog."C"
);

COMMENT ON TABLE tickets.customers IS 'Names of the customers who have tickets, as the module accounts told them last, so that tickets can be filtered and sorted by them.';

CREATE TABLE tickets.declines (
    id bigint NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    mac bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    order_id platform.object_id,
    CONSTRAINT declines_subject_known CHECK ((subject = ANY (ARRAY['address'::text, 'card'::text, 'buyer'::text])))
);

COMMENT ON TABLE tickets.declines IS 'Card payments that were declined, or still may be, counted against card testing. Old rows are swept.';

COMMENT ON COLUMN tickets.declines.mac IS 'HMAC-SHA-256 of the client address, the card number or token, or the buyer''s e-mail, under a server key: none of them stands here.';

COMMENT ON COLUMN tickets.declines.order_id IS 'The order whose payment is under way, and counts until its answer is known: then its rows are gone, or this is null, since it was declined. No foreign key: they are swept sooner than an order is deleted.';

ALTER TABLE tickets.declines ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tickets.declines_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE tickets.deleted_orders (
    id platform.object_id NOT NULL,
    customer_id platform.object_id NOT NULL,
    gateway text NOT NULL,
    gateway_payment_id text,
    deleted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT deleted_orders_gateway_known CHECK ((gateway = ANY (ARRAY['gwa'::text, 'gwb'::text])))
);

COMMENT ON TABLE tickets.deleted_orders IS 'Unpaid orders that were deleted with their event, as far as a gateway knows them: money that arrives for one of them all the same is given back.';

COMMENT ON COLUMN tickets.deleted_orders.customer_id IS 'Kept without a foreign key, as in the ledger: it outlives the customer.';

CREATE TABLE tickets.give_backs (
    order_id platform.object_id NOT NULL,
    event_id platform.object_id NOT NULL,
    why text NOT NULL COLLATE pg_catalog."C",
    asked_at timestamp with time zone,
    refund_id platform.object_id,
    failed_at timestamp with time zone,
    tries integer DEFAULT 0 NOT NULL,
    next_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT give_backs_why_known CHECK ((why = ANY (ARRAY['withdrawn'::text, 'event_moved'::text, 'event_cancelled'::text])))
);

COMMENT ON TABLE tickets.give_backs IS 'Orders whose whole money goes back: their buyer withdrew, or their event was moved or called off. What became of it stands in the order and in the ledger of refunds.';

COMMENT ON COLUMN tickets.give_backs.asked_at IS 'Since when it is to go back. Null while the buyer may ask for it.';

COMMENT ON COLUMN tickets.give_backs.refund_id IS 'The refund that was asked for; null again when it came to nothing. No foreign key: the ledger is of the module payments.';

COMMENT ON COLUMN tickets.give_backs.failed_at IS 'When its gateway refused: it stands on the list of unapplied payments, for people.';

COMMENT ON COLUMN tickets.give_backs.next_at IS 'Not before is it tried again.';

CREATE TABLE tickets.order_transitions (
    id bigint NOT NULL,
    order_id platform.object_id NOT NULL,
    at timestamp with time zone NOT NULL,
    from_state text COLLATE pg_catalog."C",
    to_state text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT order_transitions_from_known CHECK ((from_state = ANY (ARRAY['reserved'::text, 'paid'::text, 'released'::text, 'refund_due'::text, 'refunded'::text, 'lost'::text]))),
    CONSTRAINT order_transitions_has_reason CHECK ((reason <> ''::text)),
    CONSTRAINT order_transitions_moves CHECK ((from_state IS DISTINCT FROM to_state)),
    CONSTRAINT order_transitions_to_known CHECK ((to_state = ANY (ARRAY['reserved'::text, 'paid'::text, 'released'::text, 'refund_due'::text, 'refunded'::text, 'lost'::text])))
);

COMMENT ON TABLE tickets.order_transitions IS 'Every change of an order''s state, append-only, written by the statement that makes it. It outlives the order.';

COMMENT ON COLUMN tickets.order_transitions.id IS 'Their order; 0 of where an order from before the history stood when that began.';

COMMENT ON COLUMN tickets.order_transitions.from_state IS 'Null for the row that began the order.';

COMMENT ON COLUMN tickets.order_transitions.reason IS 'Of the action, by the table in modules/tickets/state/order.go; not_recorded: of an order from before the history, or of a statement that wrote none.';

ALTER TABLE tickets.order_transitions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tickets.order_transitions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE tickets.past_blocks (
    order_id platform.object_id NOT NULL,
    ticket_id platform.object_id,
    reason text NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT past_blocks_reason_known CHECK ((reason = ANY (ARRAY['payment_disputed'::text, 'refund_requested'::text])))
);

COMMENT ON TABLE tickets.past_blocks IS 'What once kept tickets from opening a door, and does so no more. What does so now stands in the ticket, its order and its event.';

COMMENT ON COLUMN tickets.past_blocks.ticket_id IS 'The one ticket that it was about. Null: all tickets of the order.';

COMMENT ON COLUMN tickets.past_blocks.until IS 'The first instant at which it did so no more.';

CREATE TABLE tickets.readmissions (
    id bigint NOT NULL,
    ticket_id platform.object_id NOT NULL,
    at timestamp with time zone NOT NULL,
    consumed_at timestamp with time zone NOT NULL,
    nonce text COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    actor_id platform.object_id,
    CONSTRAINT readmissions_after_scan CHECK ((at >= consumed_at)),
    CONSTRAINT readmissions_nonce_length CHECK (((char_length(nonce) >= 1) AND (char_length(nonce) <= 100))),
    CONSTRAINT readmissions_reason_length CHECK (((char_length(reason) >= 3) AND (char_length(reason) <= 500)))
);

COMMENT ON TABLE tickets.readmissions IS 'Scans that were undone: the ticket is good again, the scan is not, however often its device repeats it.';

COMMENT ON COLUMN tickets.readmissions.consumed_at IS 'Of the scan that was undone, as nonce is; null where its device sent none.';

COMMENT ON COLUMN tickets.readmissions.reason IS 'In the words of whoever undid it; null once its customer is deleted.';

ALTER TABLE tickets.readmissions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tickets.readmissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE tickets.transitions (
    id bigint NOT NULL,
    ticket_id platform.object_id NOT NULL,
    event_id platform.object_id NOT NULL,
    at timestamp with time zone NOT NULL,
    from_status text COLLATE pg_catalog."C",
    to_status text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    actor_id platform.object_id,
    CONSTRAINT transitions_moves CHECK ((from_status IS DISTINCT FROM to_status)),
    CONSTRAINT transitions_to_known CHECK ((to_status = ANY (ARRAY['pending'::text, 'available'::text, 'consumed'::text, 'expired'::text, 'deleted'::text])))
);

COMMENT ON TABLE tickets.transitions IS 'Every change of a ticket''s status, append-only, written by the trigger tickets_account. It outlives the ticket: deleted tickets are revoked at the doors.';

COMMENT ON COLUMN tickets.transitions.from_status IS 'Null for the row that began the ticket.';

ALTER TABLE tickets.transitions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tickets.transitions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY payments.webhook_logs ATTACH PARTITION payments.webhook_logs_rest DEFAULT;

ALTER TABLE ONLY jobs.river_job ALTER COLUMN id SET DEFAULT nextval('jobs.river_job_id_seq'::regclass);

ALTER TABLE ONLY jobs.river_notification ALTER COLUMN id SET DEFAULT nextval('jobs.river_notification_id_seq'::regclass);

ALTER TABLE ONLY accounts.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY accounts.code_requests
    ADD CONSTRAINT code_requests_one_per_address PRIMARY KEY (address_mac, purpose);

ALTER TABLE ONLY accounts.codes
    ADD CONSTRAINT codes_one_per_purpose UNIQUE (user_id, purpose);

ALTER TABLE ONLY accounts.codes
    ADD CONSTRAINT codes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY accounts.customer_notes
    ADD CONSTRAINT customer_notes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY accounts.deletions
    ADD CONSTRAINT deletions_pkey PRIMARY KEY (customer_id);

ALTER TABLE ONLY accounts.email_changes
    ADD CONSTRAINT email_changes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY accounts.last_writes
    ADD CONSTRAINT last_writes_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY accounts.logins
    ADD CONSTRAINT logins_of_one_user PRIMARY KEY (login);

ALTER TABLE ONLY accounts.parental_tries
    ADD CONSTRAINT parental_tries_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY accounts.passkey_challenges
    ADD CONSTRAINT passkey_challenges_pkey PRIMARY KEY (challenge_hash);

ALTER TABLE ONLY accounts.passkeys
    ADD CONSTRAINT passkeys_credential_of_one_user UNIQUE (credential_id);

ALTER TABLE ONLY accounts.passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY accounts.quotas
    ADD CONSTRAINT quotas_one_per_window PRIMARY KEY (subject_mac, window_start);

ALTER TABLE ONLY accounts.recovery_codes
    ADD CONSTRAINT recovery_codes_once PRIMARY KEY (user_id, code_mac);

ALTER TABLE ONLY accounts.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY accounts.throttles
    ADD CONSTRAINT throttles_pkey PRIMARY KEY (subject_mac);

ALTER TABLE ONLY accounts.totp
    ADD CONSTRAINT totp_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY accounts.username_skeletons
    ADD CONSTRAINT username_skeletons_once_per_user PRIMARY KEY (user_id, skeleton);

ALTER TABLE ONLY accounts.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY accounts.users_type
    ADD CONSTRAINT users_type_name_unique UNIQUE (name);

ALTER TABLE ONLY accounts.users_type
    ADD CONSTRAINT users_type_pkey PRIMARY KEY (id);

ALTER TABLE ONLY accounts.views
    ADD CONSTRAINT views_pkey PRIMARY KEY (id);

ALTER TABLE ONLY board.attachments
    ADD CONSTRAINT attachments_pkey PRIMARY KEY (file_id);

ALTER TABLE ONLY board.requisition_status
    ADD CONSTRAINT requisition_status_name_unique UNIQUE (name);

ALTER TABLE ONLY board.requisition_status
    ADD CONSTRAINT requisition_status_pkey PRIMARY KEY (id);

ALTER TABLE ONLY board.requisitions
    ADD CONSTRAINT requisitions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY catalog.categories
    ADD CONSTRAINT categories_pkey PRIMARY KEY (id);

ALTER TABLE ONLY catalog.categories
    ADD CONSTRAINT categories_slug_unique UNIQUE (slug);

ALTER TABLE ONLY catalog.import_rows
    ADD CONSTRAINT import_rows_pkey PRIMARY KEY (import_id, "position");

ALTER TABLE ONLY catalog.imports
    ADD CONSTRAINT imports_pkey PRIMARY KEY (id);

ALTER TABLE ONLY catalog.plays
    ADD CONSTRAINT plays_pkey PRIMARY KEY (id);

ALTER TABLE ONLY catalog.plays
    ADD CONSTRAINT plays_place_once UNIQUE (user_id, place);

ALTER TABLE ONLY catalog.seasons
    ADD CONSTRAINT seasons_pkey PRIMARY KEY (id);

ALTER TABLE ONLY catalog.seasons
    ADD CONSTRAINT seasons_slug_unique UNIQUE (slug);

ALTER TABLE ONLY catalog.tags
    ADD CONSTRAINT tags_pkey PRIMARY KEY (id);

ALTER TABLE ONLY catalog.tags
    ADD CONSTRAINT tags_slug_unique UNIQUE (slug);

ALTER TABLE ONLY catalog.version
    ADD CONSTRAINT version_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY catalog.videos
    ADD CONSTRAINT videos_pkey PRIMARY KEY (id);

ALTER TABLE ONLY catalog.videos
    ADD CONSTRAINT videos_slug_unique UNIQUE (slug);

ALTER TABLE ONLY catalog.watch_history
    ADD CONSTRAINT watch_history_pkey PRIMARY KEY (user_id, video_id);

ALTER TABLE ONLY files.archive_tokens
    ADD CONSTRAINT archive_tokens_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY files.chunks
    ADD CONSTRAINT chunks_one_per_place PRIMARY KEY (content_id, n);

ALTER TABLE ONLY files.contents
    ADD CONSTRAINT contents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY files.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (id);

ALTER TABLE ONLY finance.access_ends
    ADD CONSTRAINT access_ends_pkey PRIMARY KEY (transition_id);

ALTER TABLE ONLY finance.checks
    ADD CONSTRAINT checks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY finance.cohort_rollup
    ADD CONSTRAINT cohort_rollup_pkey PRIMARY KEY (cohort_month, month);

ALTER TABLE ONLY finance.customer_access
    ADD CONSTRAINT customer_access_pkey PRIMARY KEY (customer_id);

ALTER TABLE ONLY finance.daily_deltas
    ADD CONSTRAINT daily_deltas_pkey PRIMARY KEY (id);

ALTER TABLE ONLY finance.daily_rollup
    ADD CONSTRAINT daily_rollup_pkey PRIMARY KEY (day);

ALTER TABLE ONLY finance.dues
    ADD CONSTRAINT dues_pkey PRIMARY KEY (subscription_id);

ALTER TABLE ONLY finance.export_chunks
    ADD CONSTRAINT export_chunks_one_per_place PRIMARY KEY (export_id, attempt, n);

ALTER TABLE ONLY finance.exports
    ADD CONSTRAINT exports_pkey PRIMARY KEY (id);

ALTER TABLE ONLY finance.invariant_results
    ADD CONSTRAINT invariant_results_pkey PRIMARY KEY (name);

ALTER TABLE ONLY finance.mrr_deltas
    ADD CONSTRAINT mrr_deltas_pkey PRIMARY KEY (id);

ALTER TABLE ONLY finance.mrr_rollup
    ADD CONSTRAINT mrr_rollup_pkey PRIMARY KEY (month);

ALTER TABLE ONLY finance.price_changes
    ADD CONSTRAINT price_changes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY finance.return_rollup
    ADD CONSTRAINT return_rollup_pkey PRIMARY KEY (day, left_day);

ALTER TABLE ONLY finance.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY finance.standing_deltas
    ADD CONSTRAINT standing_deltas_pkey PRIMARY KEY (id);

ALTER TABLE ONLY finance.standing_rollup
    ADD CONSTRAINT standing_rollup_pkey PRIMARY KEY (gateway, payment_method, plan_id);

ALTER TABLE ONLY jobs.river_job
    ADD CONSTRAINT river_job_pkey PRIMARY KEY (id);

ALTER TABLE ONLY jobs.river_leader
    ADD CONSTRAINT river_leader_pkey PRIMARY KEY (name);

ALTER TABLE ONLY jobs.river_notification
    ADD CONSTRAINT river_notification_pkey PRIMARY KEY (id);

ALTER TABLE ONLY jobs.river_queue
    ADD CONSTRAINT river_queue_pkey PRIMARY KEY (name);

ALTER TABLE ONLY jobs.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY payments.database_marks
    ADD CONSTRAINT database_marks_pkey PRIMARY KEY (only_one);

ALTER TABLE ONLY payments.dispute_transitions
    ADD CONSTRAINT dispute_transitions_pkey PRIMARY KEY (dispute_id, id);

ALTER TABLE ONLY payments.disputes
    ADD CONSTRAINT disputes_one_row_per_gateway_dispute UNIQUE (gateway, gateway_dispute_id);

ALTER TABLE ONLY payments.disputes
    ADD CONSTRAINT disputes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY payments.failed_attempts
    ADD CONSTRAINT failed_attempts_one_row_per_attempt UNIQUE (gateway, gateway_payment_id, attempt);

ALTER TABLE ONLY payments.failed_attempts
    ADD CONSTRAINT failed_attempts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY payments.gateway_state
    ADD CONSTRAINT gateway_state_pkey PRIMARY KEY (gateway);

ALTER TABLE ONLY payments.intent_steps
    ADD CONSTRAINT intent_steps_pkey PRIMARY KEY (id);

ALTER TABLE ONLY payments.intents
    ADD CONSTRAINT intents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY payments.payments
    ADD CONSTRAINT payments_one_row_per_gateway_payment UNIQUE (gateway, gateway_payment_id);

ALTER TABLE ONLY payments.payments
    ADD CONSTRAINT payments_pkey PRIMARY KEY (id);

ALTER TABLE ONLY payments.processed_events
    ADD CONSTRAINT processed_events_one_row_per_gateway_event PRIMARY KEY (gateway, event_id);

ALTER TABLE ONLY payments.reconcile_findings
    ADD CONSTRAINT reconcile_findings_pkey PRIMARY KEY (id);

ALTER TABLE ONLY payments.reconcile_runs
    ADD CONSTRAINT reconcile_runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY payments.refund_reports
    ADD CONSTRAINT refund_reports_each_once PRIMARY KEY (gateway, payment_ref, kind, refund_id, reported_at, amount_cents);

ALTER TABLE ONLY payments.refund_transitions
    ADD CONSTRAINT refund_transitions_pkey PRIMARY KEY (refund_id, id);

ALTER TABLE ONLY payments.refunds
    ADD CONSTRAINT refunds_one_row_per_gateway_refund UNIQUE (gateway, gateway_refund_id);

ALTER TABLE ONLY payments.refunds
    ADD CONSTRAINT refunds_pkey PRIMARY KEY (id);

ALTER TABLE ONLY payments.refused_webhook_counts
    ADD CONSTRAINT refused_webhook_counts_pkey PRIMARY KEY (hour, gateway, network, reason);

ALTER TABLE ONLY payments.refused_webhooks
    ADD CONSTRAINT refused_webhooks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY payments.unapplied_decisions
    ADD CONSTRAINT unapplied_decisions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY payments.unapplied_payments
    ADD CONSTRAINT unapplied_payments_one_row_per_subject UNIQUE (gateway, subject);

ALTER TABLE ONLY payments.unapplied_payments
    ADD CONSTRAINT unapplied_payments_pkey PRIMARY KEY (id);

ALTER TABLE ONLY payments.webhook_logs
    ADD CONSTRAINT webhook_logs_pkey PRIMARY KEY (id, received_at);

ALTER TABLE ONLY payments.webhook_logs_rest
    ADD CONSTRAINT webhook_logs_rest_pkey PRIMARY KEY (id, received_at);

ALTER TABLE ONLY platform.breaking_migrations
    ADD CONSTRAINT breaking_migrations_pkey PRIMARY KEY (version);

ALTER TABLE ONLY platform.bulk_acts
    ADD CONSTRAINT bulk_acts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY platform.bulk_rows
    ADD CONSTRAINT bulk_rows_pkey PRIMARY KEY (bulk_id, "position");

ALTER TABLE ONLY platform.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key_mac);

ALTER TABLE ONLY promos.promo_codes
    ADD CONSTRAINT promo_codes_code_unique UNIQUE (code);

ALTER TABLE ONLY promos.promo_codes
    ADD CONSTRAINT promo_codes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY promos.redemptions
    ADD CONSTRAINT redemptions_once_a_customer UNIQUE (promo_code_id, customer_id);

ALTER TABLE ONLY promos.redemptions
    ADD CONSTRAINT redemptions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY settings.branding_logo
    ADD CONSTRAINT branding_logo_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY settings.branding
    ADD CONSTRAINT branding_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY settings.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY settings.platform
    ADD CONSTRAINT platform_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY subscriptions.charge_moves
    ADD CONSTRAINT charge_moves_pkey PRIMARY KEY (id);

ALTER TABLE ONLY subscriptions.debit_retries
    ADD CONSTRAINT debit_retries_one_a_day PRIMARY KEY (subscription_id, cycle, retry_date);

ALTER TABLE ONLY subscriptions.debits
    ADD CONSTRAINT debits_one_per_cycle PRIMARY KEY (subscription_id, cycle);

ALTER TABLE ONLY subscriptions.debits
    ADD CONSTRAINT debits_payment_unique UNIQUE (gateway_payment_id);

ALTER TABLE ONLY subscriptions.dunning_mails
    ADD CONSTRAINT dunning_mails_once_a_day PRIMARY KEY (subscription_id, payment_id, day);

ALTER TABLE ONLY subscriptions.order_transitions
    ADD CONSTRAINT order_transitions_pkey PRIMARY KEY (subscription_id, kind, item, id);

ALTER TABLE ONLY subscriptions.pauses
    ADD CONSTRAINT pauses_pkey PRIMARY KEY (id);

ALTER TABLE ONLY subscriptions.plan_moves
    ADD CONSTRAINT plan_moves_pkey PRIMARY KEY (id);

ALTER TABLE ONLY subscriptions.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (id);

ALTER TABLE ONLY subscriptions.plans
    ADD CONSTRAINT plans_plan_id_unique UNIQUE (plan_id);

ALTER TABLE ONLY subscriptions.renewal_charges
    ADD CONSTRAINT renewal_charges_pkey PRIMARY KEY (id);

ALTER TABLE ONLY subscriptions.stray_recurrences
    ADD CONSTRAINT stray_recurrences_pkey PRIMARY KEY (gateway, recurrence_id);

ALTER TABLE ONLY subscriptions.subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY subscriptions.transitions
    ADD CONSTRAINT transitions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY subscriptions.trial_uses
    ADD CONSTRAINT trial_uses_pkey PRIMARY KEY (tax_id_mac);

ALTER TABLE ONLY tickets.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tickets.declines
    ADD CONSTRAINT declines_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tickets.deleted_orders
    ADD CONSTRAINT deleted_orders_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tickets.events
    ADD CONSTRAINT events_code_unique UNIQUE (code);

ALTER TABLE ONLY tickets.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tickets.give_backs
    ADD CONSTRAINT give_backs_pkey PRIMARY KEY (order_id);

ALTER TABLE ONLY tickets.order_transitions
    ADD CONSTRAINT order_transitions_pkey PRIMARY KEY (order_id, id);

ALTER TABLE ONLY tickets.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tickets.readmissions
    ADD CONSTRAINT readmissions_pkey PRIMARY KEY (ticket_id, id);

ALTER TABLE ONLY tickets.tickets
    ADD CONSTRAINT tickets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tickets.transitions
    ADD CONSTRAINT transitions_pkey PRIMARY KEY (id);

CREATE INDEX audit_log_by_actor ON accounts.audit_log USING btree (actor_id, at DESC, id);

CREATE INDEX audit_log_by_instant ON accounts.audit_log USING btree (at DESC, id);

CREATE INDEX audit_log_by_record ON accounts.audit_log USING btree (record_id, at DESC, id);

CREATE INDEX audit_log_by_request ON accounts.audit_log USING btree (request_id);

CREATE INDEX audit_log_of_notes ON accounts.audit_log USING btree (((COALESCE(after, before) ->> 'customer_id'::text))) WHERE (resource = 'customer-notes'::text);

CREATE INDEX audit_log_plan_moves ON accounts.audit_log USING btree (record_id, at, id) WHERE ((resource = 'subscriptions'::text) AND (before ? 'plan_id'::text) AND (after ? 'plan_id'::text) AND (erased_at IS NULL));

COMMENT ON INDEX accounts.audit_log_plan_moves IS 'The few entries by which an admin moved a subscription to another plan: finance.plan_moves.';

CREATE INDEX code_requests_by_age ON accounts.code_requests USING btree (requested_at);

CREATE INDEX codes_by_expiry ON accounts.codes USING btree (expires_at);

CREATE INDEX customer_notes_by_customer ON accounts.customer_notes USING btree (customer_id, pinned, register_date);

CREATE INDEX deletions_under_way ON accounts.deletions USING btree (deleted_at) WHERE (erased_at IS NULL);

CREATE INDEX email_changes_by_end ON accounts.email_changes USING btree (expires_at);

CREATE INDEX email_changes_by_old_email ON accounts.email_changes USING btree (old_email) WHERE ((changed_at IS NOT NULL) AND (undone_at IS NULL));

CREATE INDEX email_changes_by_user ON accounts.email_changes USING btree (user_id);

CREATE UNIQUE INDEX email_changes_one_open_per_user ON accounts.email_changes USING btree (user_id) WHERE ((changed_at IS NULL) AND (undone_at IS NULL));

CREATE INDEX logins_by_user ON accounts.logins USING btree (user_id);

CREATE INDEX passkey_challenges_by_expiry ON accounts.passkey_challenges USING btree (expires_at);

CREATE INDEX passkey_challenges_by_user ON accounts.passkey_challenges USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX passkeys_by_user ON accounts.passkeys USING btree (user_id, created_at);

CREATE INDEX quotas_by_age ON accounts.quotas USING btree (window_start);

CREATE INDEX sessions_by_expiry ON accounts.sessions USING btree (expires_at);

CREATE INDEX sessions_by_user ON accounts.sessions USING btree (user_id, refreshed_at DESC);

CREATE INDEX sessions_ended ON accounts.sessions USING btree (id) WHERE (ended_at IS NOT NULL);

COMMENT ON INDEX accounts.sessions_ended IS 'What each request is looked for in: as small as the sessions are few that were ended.';

CREATE INDEX throttles_by_age ON accounts.throttles USING btree (failed_at);

CREATE INDEX username_skeletons_by_skeleton ON accounts.username_skeletons USING btree (skeleton);

CREATE UNIQUE INDEX username_skeletons_of_one_user ON accounts.username_skeletons USING btree (skeleton) WHERE (NOT shared);

CREATE INDEX users_by_current_subscription ON accounts.users USING btree (current_subscription_id) WHERE (current_subscription_id IS NOT NULL);

CREATE INDEX users_by_gwa_customer ON accounts.users USING btree (gwa_customer_id) WHERE (gwa_customer_id IS NOT NULL);

CREATE INDEX users_by_gwb_customer ON accounts.users USING btree (gwb_customer_id) WHERE (gwb_customer_id IS NOT NULL);

CREATE INDEX users_by_label ON accounts.users USING gin (labels);

CREATE INDEX users_by_type ON accounts.users USING btree (user_type, updated_at DESC, id);

CREATE INDEX users_customer_names ON accounts.users USING btree (platform.search_words(full_name)) WHERE ((user_type = 'customer'::text) AND (deleted_at IS NULL));

CREATE INDEX users_customer_words ON accounts.users USING gin (platform.search_words(((((COALESCE(full_name, ''::text) || ' '::text) || username) || ' '::text) || email)) public.gin_trgm_ops) WHERE ((user_type = 'customer'::text) AND (deleted_at IS NULL));

CREATE INDEX users_customers_by_creation ON accounts.users USING btree (created_at, id) WHERE ((user_type = 'customer'::text) AND (deleted_at IS NULL));

COMMENT ON INDEX accounts.users_customers_by_creation IS 'Customers in the order of their export.';

CREATE INDEX users_search ON accounts.users USING gin (((platform.search_vector(ARRAY[full_name, name], 'A'::"char") || platform.search_vector(ARRAY[username, email, tax_id, phone], 'B'::"char")))) WHERE (deleted_at IS NULL);

COMMENT ON INDEX accounts.users_search IS 'What GET /search/users and /search/customers find people by: names before logins and numbers. An index alone, so that nothing of it outlives the row.';

CREATE UNIQUE INDEX users_tax_id_of_one_customer ON accounts.users USING btree (tax_id) WHERE ((user_type = 'customer'::text) AND (deleted_at IS NULL) AND (tax_id IS NOT NULL));

CREATE INDEX users_unverified ON accounts.users USING btree (created_at) WHERE ((NOT email_verified) AND (NOT verify_later) AND (user_type = 'customer'::text) AND (deleted_at IS NULL));

CREATE INDEX views_by_owner ON accounts.views USING btree (owner_id);

CREATE INDEX views_by_path ON accounts.views USING btree (path, name);

CREATE INDEX views_by_profile ON accounts.views USING btree (profile_id) WHERE (profile_id IS NOT NULL);

CREATE INDEX attachments_by_requisition ON board.attachments USING btree (requisition_id, attached_at, file_id);

CREATE INDEX requisitions_by_status ON board.requisitions USING btree (status_id, register_update_date DESC, id);

CREATE INDEX requisitions_by_update ON board.requisitions USING btree (register_update_date DESC, id);

CREATE INDEX requisitions_search ON board.requisitions USING gin (search);

CREATE INDEX imports_running ON catalog.imports USING btree (id) WHERE (state = 'running'::text);

CREATE INDEX videos_author ON catalog.videos USING btree (author, id);

CREATE INDEX videos_author_pattern ON catalog.videos USING gin (author public.gin_trgm_ops);

COMMENT ON INDEX catalog.videos_author_pattern IS 'For filters by regular expression.';

CREATE INDEX videos_by_release ON catalog.videos USING btree (release_date DESC, id);

CREATE INDEX videos_by_update ON catalog.videos USING btree (register_update_date DESC, id);

CREATE INDEX videos_category_id ON catalog.videos USING gin (category_id);

CREATE INDEX videos_category_name ON catalog.videos USING gin (category_name);

CREATE INDEX videos_disabled_by_update ON catalog.videos USING btree (register_update_date DESC, id) WHERE (NOT enable);

CREATE INDEX videos_duration ON catalog.videos USING btree (duration, id);

CREATE INDEX videos_enabled_by_release ON catalog.videos USING btree (release_date DESC, id) WHERE enable;

CREATE INDEX videos_enabled_by_update ON catalog.videos USING btree (register_update_date DESC, id) WHERE enable;

CREATE INDEX videos_film ON catalog.videos USING btree (video_gridfs_id) WHERE (video_gridfs_id IS NOT NULL);

CREATE INDEX videos_search ON catalog.videos USING gin (search);

CREATE INDEX videos_season ON catalog.videos USING btree (season_id) WHERE (season_id IS NOT NULL);

CREATE INDEX videos_tags ON catalog.videos USING gin (tags);

CREATE INDEX videos_tags_id ON catalog.videos USING gin (tags_id);

CREATE INDEX videos_tags_name ON catalog.videos USING gin (tags_name);

CREATE INDEX videos_thumbnails ON catalog.videos USING gin ((ARRAY[(thumbnail_horizontal)::text, (thumbnail_horizontal_name_less)::text, (thumbnail_vertical)::text, (thumbnail_vertical_name_less)::text]));

COMMENT ON INDEX catalog.videos_thumbnails IS 'By file id: the videos that show it. Thumbnails open to every signed-in user, other files of videos to those who may watch.';

CREATE INDEX videos_title ON catalog.videos USING btree (title, id);

CREATE INDEX videos_title_pattern ON catalog.videos USING gin (title public.gin_trgm_ops);

COMMENT ON INDEX catalog.videos_title_pattern IS 'For filters by regular expression.';

CREATE INDEX watch_history_by_video ON catalog.watch_history USING btree (video_id);

CREATE INDEX watch_history_newest ON catalog.watch_history USING btree (user_id, updated_at DESC, video_id);

CREATE INDEX archive_tokens_by_expiry ON files.archive_tokens USING btree (expires_at);

CREATE INDEX contents_by_age ON files.contents USING btree (received_at);

CREATE INDEX files_by_owner ON files.files USING btree (owner_kind, owner_id, created_at, id);

CREATE INDEX access_ends_by_end ON finance.access_ends USING btree (ended_at);

CREATE INDEX dues_by_next_billing ON finance.dues USING btree (next_billing_date);

CREATE INDEX dues_by_other_day ON finance.dues USING btree (otherwise_on) INCLUDE (next_billing_date);

CREATE UNIQUE INDEX exports_asked_once ON finance.exports USING btree (requested_by, kind, md5((parameters)::text)) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));

COMMENT ON INDEX finance.exports_asked_once IS 'Asking again for what is being written leads to the same export.';

CREATE INDEX exports_by_expiry ON finance.exports USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX exports_leased ON finance.exports USING btree (lease_until) WHERE (status = 'running'::text);

CREATE INDEX price_changes_by_instant ON finance.price_changes USING btree (at);

CREATE INDEX price_changes_by_subscription ON finance.price_changes USING btree (subscription_id, id);

CREATE INDEX river_job_args_index ON jobs.river_job USING gin (args);

CREATE INDEX river_job_kind ON jobs.river_job USING btree (kind);

CREATE INDEX river_job_metadata_index ON jobs.river_job USING gin (metadata);

CREATE INDEX river_job_prioritized_fetching_index ON jobs.river_job USING btree (state, queue, priority, scheduled_at, id);

CREATE INDEX river_job_state_and_finalized_at_index ON jobs.river_job USING btree (state, finalized_at) WHERE (finalized_at IS NOT NULL);

CREATE UNIQUE INDEX river_job_unique_idx ON jobs.river_job USING btree (unique_key) WHERE ((unique_key IS NOT NULL) AND (unique_states IS NOT NULL) AND jobs.river_job_state_in_bitmask(unique_states, state));

CREATE INDEX river_notification_created_at_idx ON jobs.river_notification USING btree (created_at);

CREATE INDEX river_notification_topic_id_idx ON jobs.river_notification USING btree (topic, id);

CREATE INDEX disputes_by_customer ON payments.disputes USING btree (customer_id, opened_at DESC);

CREATE INDEX disputes_by_local_row ON payments.disputes USING btree (purpose, local_id, opened_at DESC);

CREATE INDEX disputes_by_payment ON payments.disputes USING btree (gateway, payment_ref);

CREATE INDEX disputes_by_time ON payments.disputes USING btree (opened_at);

CREATE INDEX disputes_to_answer ON payments.disputes USING btree (evidence_due_at, opened_at, id) WHERE (state = ANY (ARRAY['inquiry'::text, 'open'::text]));

COMMENT ON INDEX payments.disputes_to_answer IS 'What is due first of those that are not decided.';

CREATE INDEX failed_attempts_by_local_row ON payments.failed_attempts USING btree (purpose, local_id, failed_at DESC);

CREATE INDEX failed_attempts_by_time ON payments.failed_attempts USING btree (failed_at);

COMMENT ON INDEX payments.failed_attempts_by_time IS 'For reports and exports of a period.';

CREATE INDEX intent_steps_intent ON payments.intent_steps USING btree (intent_id);

CREATE INDEX intents_due ON payments.intents USING btree (gateway, next_look_at) WHERE (state = 'open'::text);

CREATE UNIQUE INDEX intents_one_at_a_time ON payments.intents USING btree (gateway, excludes) WHERE ((state = 'open'::text) AND (excludes IS NOT NULL));

CREATE UNIQUE INDEX intents_one_open ON payments.intents USING btree (subject_id, kind, item) WHERE (state = 'open'::text);

CREATE INDEX intents_reference ON payments.intents USING btree (gateway, reference);

CREATE INDEX intents_subject ON payments.intents USING btree (subject_id);

CREATE INDEX payments_by_customer ON payments.payments USING btree (customer_id, settled_at DESC);

CREATE INDEX payments_by_local_row ON payments.payments USING btree (purpose, local_id, settled_at DESC);

CREATE INDEX payments_by_payment_intent ON payments.payments USING btree (payment_intent_id) WHERE (payment_intent_id IS NOT NULL);

CREATE INDEX payments_by_time ON payments.payments USING btree (settled_at);

COMMENT ON INDEX payments.payments_by_time IS 'For reports and exports of a period.';

CREATE INDEX processed_events_open ON payments.processed_events USING btree (gateway, event_id) WHERE (state = ANY (ARRAY['queued'::text, 'waiting'::text]));

COMMENT ON INDEX payments.processed_events_open IS 'Events not applied yet, whose logs outlive their month.';

CREATE INDEX processed_events_queued ON payments.processed_events USING btree (gateway, updated_at) WHERE (state = 'queued'::text);

CREATE INDEX processed_events_waiting ON payments.processed_events USING gin (subjects) WHERE (state = 'waiting'::text);

CREATE INDEX reconcile_findings_by_run ON payments.reconcile_findings USING btree (run_id, id);

CREATE INDEX reconcile_findings_by_time ON payments.reconcile_findings USING btree (found_at DESC, id DESC);

CREATE INDEX reconcile_runs_by_start ON payments.reconcile_runs USING btree (started_at DESC, id DESC);

CREATE INDEX refunds_by_customer ON payments.refunds USING btree (customer_id, requested_at DESC);

CREATE INDEX refunds_by_local_row ON payments.refunds USING btree (purpose, local_id, requested_at DESC);

CREATE INDEX refunds_by_payment ON payments.refunds USING btree (gateway, payment_ref);

CREATE INDEX refunds_by_request ON payments.refunds USING btree (requested_at DESC, id DESC);

CREATE INDEX refunds_by_time ON payments.refunds USING btree (refunded_at) WHERE (status = 'done'::text);

CREATE INDEX refunds_failed ON payments.refunds USING btree (requested_at DESC, id DESC) WHERE (status = 'failed'::text);

CREATE INDEX refunds_unanswered ON payments.refunds USING btree (requested_at) WHERE (status = ANY (ARRAY['requested'::text, 'pending'::text]));

CREATE INDEX refused_webhooks_by_event ON payments.refused_webhooks USING btree (event_id, gateway);

CREATE INDEX refused_webhooks_by_request ON payments.refused_webhooks USING btree (request_id);

CREATE INDEX refused_webhooks_by_time ON payments.refused_webhooks USING btree (received_at DESC, id DESC);

CREATE INDEX unapplied_decisions_automatic ON payments.unapplied_decisions USING btree (at) WHERE ((source = 'platform'::text) AND (to_state = 'refunding'::text));

CREATE INDEX unapplied_decisions_by_payment ON payments.unapplied_decisions USING btree (unapplied_id, id);

CREATE INDEX unapplied_payments_by_customer ON payments.unapplied_payments USING btree (customer_id, created_at DESC);

CREATE INDEX unapplied_payments_open ON payments.unapplied_payments USING btree (created_at) WHERE (state = ANY (ARRAY['open'::text, 'refunding'::text]));

CREATE INDEX webhook_logs_by_charge ON ONLY payments.webhook_logs USING btree (payments.event_charge(payload)) WHERE (payments.event_charge(payload) IS NOT NULL);

CREATE INDEX webhook_logs_by_event ON ONLY payments.webhook_logs USING btree (event_id, gateway);

CREATE INDEX webhook_logs_by_object ON ONLY payments.webhook_logs USING btree (payments.event_object(payload));

CREATE INDEX webhook_logs_by_request ON ONLY payments.webhook_logs USING btree (request_id) WHERE (request_id IS NOT NULL);

CREATE INDEX webhook_logs_by_time ON ONLY payments.webhook_logs USING btree (received_at DESC, id DESC);

CREATE INDEX webhook_logs_by_type ON ONLY payments.webhook_logs USING btree (event_type, gateway, processed, signature_valid);

COMMENT ON INDEX payments.webhook_logs_by_type IS 'What staff filter the log by, for the totals of their lists.';

CREATE INDEX webhook_logs_rest_event_charge_idx ON payments.webhook_logs_rest USING btree (payments.event_charge(payload)) WHERE (payments.event_charge(payload) IS NOT NULL);

CREATE INDEX webhook_logs_rest_event_id_gateway_idx ON payments.webhook_logs_rest USING btree (event_id, gateway);

CREATE INDEX webhook_logs_rest_event_object_idx ON payments.webhook_logs_rest USING btree (payments.event_object(payload));

CREATE INDEX webhook_logs_rest_event_type_idx ON payments.webhook_logs_rest USING btree (event_type, gateway, processed, signature_valid);

CREATE INDEX webhook_logs_rest_received_at_id_idx ON payments.webhook_logs_rest USING btree (received_at DESC, id DESC);

CREATE INDEX webhook_logs_unprocessed ON ONLY payments.webhook_logs USING btree (received_at DESC, id DESC) WHERE (NOT processed);

COMMENT ON INDEX payments.webhook_logs_unprocessed IS 'Bad signatures, and events whose applying failed: few, so that it costs the calls nothing.';

CREATE INDEX webhook_logs_rest_received_at_id_idx1 ON payments.webhook_logs_rest USING btree (received_at DESC, id DESC) WHERE (NOT processed);

CREATE INDEX webhook_logs_rest_request_id_idx ON payments.webhook_logs_rest USING btree (request_id) WHERE (request_id IS NOT NULL);

CREATE INDEX bulk_acts_by_actor ON platform.bulk_acts USING btree (actor_id, created_at DESC);

CREATE INDEX bulk_acts_by_end ON platform.bulk_acts USING btree (ended_at);

CREATE INDEX bulk_rows_open ON platform.bulk_rows USING btree (bulk_id, "position") WHERE ((outcome IS NULL) OR (outcome = 'started'::text));

CREATE INDEX idempotency_keys_by_age ON platform.idempotency_keys USING btree (created_at);

CREATE INDEX promo_codes_by_event ON promos.promo_codes USING btree (event_id) WHERE (event_id IS NOT NULL);

CREATE INDEX promo_codes_children ON promos.promo_codes USING gin (children_code_ids);

CREATE INDEX promo_codes_search ON promos.promo_codes USING gin (search);

CREATE INDEX promo_codes_targets ON promos.promo_codes USING gin (target_customer_ids);

CREATE INDEX redemptions_by_customer ON promos.redemptions USING btree (customer_id, redeemed_at DESC);

CREATE INDEX redemptions_by_subscription ON promos.redemptions USING btree (subscription_id) WHERE (subscription_id IS NOT NULL);

CREATE INDEX charge_moves_of_subscription ON subscriptions.charge_moves USING btree (subscription_id, to_at);

CREATE UNIQUE INDEX charge_moves_one_open ON subscriptions.charge_moves USING btree (subscription_id) WHERE (state = 'open'::text);

CREATE INDEX charge_moves_waiting ON subscriptions.charge_moves USING btree (next_try_at) WHERE (state = 'open'::text);

CREATE UNIQUE INDEX debit_retries_one_ordered ON subscriptions.debit_retries USING btree (subscription_id, cycle) WHERE (state = 'ordered'::text);

CREATE INDEX debit_retries_planned ON subscriptions.debit_retries USING btree (retry_date) WHERE (state = 'planned'::text);

CREATE INDEX dunning_mails_waiting ON subscriptions.dunning_mails USING btree (due_at) WHERE ((sent_at IS NULL) AND (dropped_at IS NULL));

CREATE INDEX pauses_of_subscription ON subscriptions.pauses USING btree (subscription_id, id);

CREATE UNIQUE INDEX pauses_one_open ON subscriptions.pauses USING btree (subscription_id) WHERE (state = ANY (ARRAY['pausing'::text, 'paused'::text, 'resuming'::text]));

CREATE INDEX pauses_waiting ON subscriptions.pauses USING btree (next_try_at) WHERE (state = ANY (ARRAY['pausing'::text, 'resuming'::text]));

CREATE UNIQUE INDEX plan_moves_one_open ON subscriptions.plan_moves USING btree (subscription_id) WHERE (state = 'open'::text);

CREATE INDEX plan_moves_waiting ON subscriptions.plan_moves USING btree (next_try_at) WHERE (state = 'open'::text);

CREATE INDEX plans_by_update ON subscriptions.plans USING btree (register_update_date DESC, id);

CREATE INDEX renewal_charges_by_customer ON subscriptions.renewal_charges USING btree (customer_id);

CREATE UNIQUE INDEX renewal_charges_one_open ON subscriptions.renewal_charges USING btree (subscription_id, COALESCE(cycle, '-infinity'::date)) WHERE (state = 'open'::text);

CREATE UNIQUE INDEX renewal_charges_one_per_payment ON subscriptions.renewal_charges USING btree (gateway, gateway_payment_id) WHERE (gateway_payment_id IS NOT NULL);

CREATE INDEX renewal_charges_open ON subscriptions.renewal_charges USING btree (register_date) WHERE (state = 'open'::text);

CREATE INDEX stray_recurrences_open ON subscriptions.stray_recurrences USING btree (found_at) WHERE (ended_at IS NULL);

CREATE INDEX subscriptions_active_until ON subscriptions.subscriptions USING btree (expires_at) WHERE ((status = 'active'::text) AND (expires_at IS NOT NULL));

COMMENT ON INDEX subscriptions.subscriptions_active_until IS 'Finds the few whose access has ended and whose job has not come yet.';

CREATE INDEX subscriptions_by_creation ON subscriptions.subscriptions USING btree (register_date DESC);

COMMENT ON INDEX subscriptions.subscriptions_by_creation IS 'For reports and exports of a period.';

CREATE INDEX subscriptions_by_customer ON subscriptions.subscriptions USING btree (customer_id, register_date DESC);

CREATE INDEX subscriptions_by_end ON subscriptions.subscriptions USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX subscriptions_by_expiry ON subscriptions.subscriptions USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX subscriptions_by_gateway_customer ON subscriptions.subscriptions USING btree (gateway, COALESCE(gwa_customer_id, gwb_customer_id));

COMMENT ON INDEX subscriptions.subscriptions_by_gateway_customer IS 'Whose money it is that names no subscription.';

CREATE INDEX subscriptions_by_gateway_status ON subscriptions.subscriptions USING btree (gateway, status);

CREATE INDEX subscriptions_by_next_billing ON subscriptions.subscriptions USING btree (next_billing_date) WHERE (status = ANY (ARRAY['active'::text, 'suspended'::text]));

CREATE INDEX subscriptions_by_plan ON subscriptions.subscriptions USING btree (plan_id);

CREATE INDEX subscriptions_by_renewed ON subscriptions.subscriptions USING btree (renews_id) WHERE (renews_id IS NOT NULL);

CREATE INDEX subscriptions_by_start ON subscriptions.subscriptions USING btree (started_at) WHERE (started_at IS NOT NULL);

CREATE INDEX subscriptions_disputed ON subscriptions.subscriptions USING btree (id) WHERE (has_chargeback AND (status = 'suspended'::text));

CREATE INDEX subscriptions_gateway_end_open ON subscriptions.subscriptions USING btree (gateway_end_open_since) WHERE (gateway_end_open_since IS NOT NULL);

CREATE UNIQUE INDEX subscriptions_gwa_pix_auth_unique ON subscriptions.subscriptions USING btree (gwa_pix_auth_id) WHERE (gwa_pix_auth_id IS NOT NULL);

CREATE UNIQUE INDEX subscriptions_gwa_subscription_unique ON subscriptions.subscriptions USING btree (gwa_subscription_id) WHERE (gwa_subscription_id IS NOT NULL);

CREATE UNIQUE INDEX subscriptions_gwb_subscription_unique ON subscriptions.subscriptions USING btree (gwb_subscription_id) WHERE (gwb_subscription_id IS NOT NULL);

CREATE UNIQUE INDEX subscriptions_one_live_per_customer ON subscriptions.subscriptions USING btree (customer_id) WHERE ((status = ANY (ARRAY['active'::text, 'pending'::text, 'suspended'::text])) AND (NOT ((status = 'pending'::text) AND (renews_id IS NOT NULL))));

COMMENT ON INDEX subscriptions.subscriptions_one_live_per_customer IS 'A renewal that waits stands beside it: subscriptions_one_renewal_per_customer.';

CREATE UNIQUE INDEX subscriptions_one_renewal_per_customer ON subscriptions.subscriptions USING btree (customer_id) WHERE ((status = 'pending'::text) AND (renews_id IS NOT NULL));

CREATE INDEX subscriptions_open_intents ON subscriptions.subscriptions USING btree (recovery_at) WHERE intent_open;

CREATE INDEX subscriptions_overdue ON subscriptions.subscriptions USING btree (id) WHERE (((payment_failures > 0) OR (status = 'suspended'::text)) AND (status <> ALL (ARRAY['cancelled'::text, 'expired'::text])));

COMMENT ON INDEX subscriptions.subscriptions_overdue IS 'For the list of the overdue.';

CREATE INDEX subscriptions_period_end_look ON subscriptions.subscriptions USING btree (period_end_look_at) WHERE (period_end_look_at IS NOT NULL);

CREATE UNIQUE INDEX subscriptions_pix_conciliation_unique ON subscriptions.subscriptions USING btree (pix_conciliation_id) WHERE (pix_conciliation_id IS NOT NULL);

CREATE UNIQUE INDEX subscriptions_pix_payment_unique ON subscriptions.subscriptions USING btree (gateway, pix_payment_id) WHERE (pix_payment_id IS NOT NULL);

CREATE INDEX subscriptions_plan_history ON subscriptions.subscriptions USING btree (customer_id, started_at, id) INCLUDE (plan_id) WHERE (started_at IS NOT NULL);

COMMENT ON INDEX subscriptions.subscriptions_plan_history IS 'The plans that a customer has had, in order: finance.plan_moves.';

CREATE INDEX subscriptions_stops_open ON subscriptions.subscriptions USING btree (id) WHERE (cancel_at_period_end AND (gateway_deleted_at IS NULL) AND (gateway = 'gwa'::text) AND (status = ANY (ARRAY['active'::text, 'suspended'::text])));

COMMENT ON INDEX subscriptions.subscriptions_stops_open IS 'Recurrences that have still to be stopped at gateway A: those that are, and PIX periods that were paid once.';

CREATE INDEX subscriptions_with_chargeback ON subscriptions.subscriptions USING btree (id) WHERE has_chargeback;

COMMENT ON INDEX subscriptions.subscriptions_with_chargeback IS 'For the sweep: what followed a disputed subscription by renewals';

CREATE INDEX transitions_by_instant ON subscriptions.transitions USING btree (at);

CREATE INDEX transitions_by_subscription ON subscriptions.transitions USING btree (subscription_id, id);

CREATE INDEX transitions_of_access ON subscriptions.transitions USING btree (customer_id, id) WHERE ((from_status = 'active'::text) OR (to_status = 'active'::text));

COMMENT ON INDEX subscriptions.transitions_of_access IS 'A customer''s movements, in order.';

CREATE INDEX transitions_of_renewals ON subscriptions.transitions USING btree (subscription_id) WHERE (reason = 'renewed'::text);

COMMENT ON INDEX subscriptions.transitions_of_renewals IS 'Tells subscriptions that replaced another.';

CREATE INDEX transitions_of_withdrawals ON subscriptions.transitions USING btree (subscription_id, id) WHERE (reason = 'chargeback_withdrawn'::text);

COMMENT ON INDEX subscriptions.transitions_of_withdrawals IS 'Moves that undo the one before them.';

CREATE INDEX trial_uses_by_age ON subscriptions.trial_uses USING btree (COALESCE(began_at, claimed_at));

CREATE INDEX trial_uses_by_subscription ON subscriptions.trial_uses USING btree (subscription_id) WHERE (subscription_id IS NOT NULL);

CREATE INDEX declines_by_age ON tickets.declines USING btree (at);

CREATE INDEX declines_by_subject ON tickets.declines USING btree (subject, mac, at);

CREATE INDEX declines_under_way ON tickets.declines USING btree (order_id) WHERE (order_id IS NOT NULL);

CREATE UNIQUE INDEX deleted_orders_gateway_payment_unique ON tickets.deleted_orders USING btree (gateway, gateway_payment_id) WHERE (gateway_payment_id IS NOT NULL);

CREATE INDEX events_by_date ON tickets.events USING btree (event_date DESC, id);

CREATE INDEX events_by_end ON tickets.events USING btree (ends_at);

CREATE INDEX events_on_sale ON tickets.events USING btree (ends_at) WHERE (is_sale_box_office AND is_active);

CREATE INDEX events_search ON tickets.events USING gin (search);

CREATE INDEX give_backs_by_event ON tickets.give_backs USING btree (event_id);

CREATE INDEX give_backs_due ON tickets.give_backs USING btree (created_at) WHERE ((asked_at IS NOT NULL) AND (refund_id IS NULL) AND (failed_at IS NULL));

CREATE INDEX orders_by_address ON tickets.orders USING btree (address_mac) WHERE (address_mac IS NOT NULL);

CREATE INDEX orders_by_creation ON tickets.orders USING btree (created_at DESC);

CREATE INDEX orders_by_customer ON tickets.orders USING btree (customer_id, created_at DESC);

CREATE INDEX orders_by_email ON tickets.orders USING btree (email_mac) WHERE (email_mac IS NOT NULL);

CREATE INDEX orders_by_event ON tickets.orders USING btree (event_id, customer_id);

CREATE INDEX orders_by_tax_id ON tickets.orders USING btree (tax_id_mac) WHERE (tax_id_mac IS NOT NULL);

CREATE UNIQUE INDEX orders_gateway_payment_unique ON tickets.orders USING btree (gateway, gateway_payment_id) WHERE (gateway_payment_id IS NOT NULL);

CREATE INDEX orders_held ON tickets.orders USING btree (hold_until) WHERE (state = 'reserved'::text);

CREATE INDEX orders_of_box_office ON tickets.orders USING btree (event_id, created_at DESC, id DESC) WHERE (sold_by_id IS NOT NULL);

CREATE INDEX orders_open_intents ON tickets.orders USING btree (recovery_at) WHERE intent_open;

CREATE INDEX past_blocks_by_order ON tickets.past_blocks USING btree (order_id);

CREATE INDEX past_blocks_by_ticket ON tickets.past_blocks USING btree (ticket_id) WHERE (ticket_id IS NOT NULL);

CREATE INDEX tickets_by_customer ON tickets.tickets USING btree (customer_id, register_date DESC);

CREATE INDEX tickets_by_event ON tickets.tickets USING btree (event_id, status);

CREATE INDEX tickets_by_order ON tickets.tickets USING btree (order_id) WHERE (order_id IS NOT NULL);

CREATE INDEX tickets_by_promo_code ON tickets.tickets USING btree (promo_code_id) WHERE (promo_code_id IS NOT NULL);

CREATE INDEX tickets_by_refund ON tickets.tickets USING btree (refund_id) WHERE (refund_id IS NOT NULL);

CREATE INDEX tickets_by_update ON tickets.tickets USING btree (register_update_date DESC, id);

CREATE INDEX tickets_search ON tickets.tickets USING gin (search);

CREATE INDEX transitions_by_ticket ON tickets.transitions USING btree (ticket_id, id);

CREATE INDEX transitions_of_deleted ON tickets.transitions USING btree (event_id) WHERE (to_status = 'deleted'::text);

ALTER INDEX payments.webhook_logs_by_charge ATTACH PARTITION payments.webhook_logs_rest_event_charge_idx;

ALTER INDEX payments.webhook_logs_by_event ATTACH PARTITION payments.webhook_logs_rest_event_id_gateway_idx;

ALTER INDEX payments.webhook_logs_by_object ATTACH PARTITION payments.webhook_logs_rest_event_object_idx;

ALTER INDEX payments.webhook_logs_by_type ATTACH PARTITION payments.webhook_logs_rest_event_type_idx;

ALTER INDEX payments.webhook_logs_pkey ATTACH PARTITION payments.webhook_logs_rest_pkey;

ALTER INDEX payments.webhook_logs_by_time ATTACH PARTITION payments.webhook_logs_rest_received_at_id_idx;

ALTER INDEX payments.webhook_logs_unprocessed ATTACH PARTITION payments.webhook_logs_rest_received_at_id_idx1;

ALTER INDEX payments.webhook_logs_by_request ATTACH PARTITION payments.webhook_logs_rest_request_id_idx;

CREATE TRIGGER audit_log_rows_stay BEFORE DELETE OR UPDATE ON accounts.audit_log FOR EACH ROW EXECUTE FUNCTION accounts.keep_audit_log();

CREATE TRIGGER audit_log_stays BEFORE TRUNCATE ON accounts.audit_log FOR EACH STATEMENT EXECUTE FUNCTION accounts.keep_audit_log();

CREATE TRIGGER finance_customer_added AFTER INSERT OR DELETE ON accounts.users FOR EACH ROW EXECUTE FUNCTION finance.note_customer();

CREATE TRIGGER finance_customer_changed AFTER UPDATE OF user_type, deleted_at ON accounts.users FOR EACH ROW WHEN (((old.user_type IS DISTINCT FROM new.user_type) OR ((old.deleted_at IS NULL) IS DISTINCT FROM (new.deleted_at IS NULL)))) EXECUTE FUNCTION finance.note_customer();

CREATE TRIGGER logins_hold BEFORE INSERT ON accounts.logins FOR EACH ROW EXECUTE FUNCTION accounts.refuse_reserved_login();

CREATE TRIGGER users_drop_skeletons AFTER UPDATE OF username, deleted_at ON accounts.users FOR EACH ROW WHEN (((old.username <> new.username) OR (new.deleted_at IS NOT NULL))) EXECUTE FUNCTION accounts.drop_skeletons();

CREATE TRIGGER users_keep_logins AFTER INSERT OR UPDATE OF username, email, deleted_at ON accounts.users FOR EACH ROW EXECUTE FUNCTION accounts.keep_logins();

CREATE TRIGGER users_prove_signup BEFORE UPDATE OF email_verified ON accounts.users FOR EACH ROW WHEN ((new.email_verified AND new.unproved_signup)) EXECUTE FUNCTION accounts.prove_signup();

CREATE TRIGGER requisitions_update_date BEFORE UPDATE ON board.requisitions FOR EACH ROW EXECUTE FUNCTION board.advance_update_date();

CREATE TRIGGER categories_in_use BEFORE DELETE ON catalog.categories FOR EACH ROW EXECUTE FUNCTION catalog.refuse_while_used();

CREATE TRIGGER categories_rename AFTER UPDATE OF name ON catalog.categories FOR EACH ROW WHEN ((old.name IS DISTINCT FROM new.name)) EXECUTE FUNCTION catalog.rename_in_videos();

CREATE TRIGGER categories_version BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON catalog.categories FOR EACH STATEMENT EXECUTE FUNCTION catalog.advance_version();

CREATE TRIGGER seasons_rename AFTER UPDATE OF name ON catalog.seasons FOR EACH ROW WHEN ((old.name IS DISTINCT FROM new.name)) EXECUTE FUNCTION catalog.rename_in_videos();

CREATE TRIGGER seasons_version BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON catalog.seasons FOR EACH STATEMENT EXECUTE FUNCTION catalog.advance_version();

CREATE TRIGGER tags_in_use BEFORE DELETE ON catalog.tags FOR EACH ROW EXECUTE FUNCTION catalog.refuse_while_used();

CREATE TRIGGER tags_rename AFTER UPDATE OF name ON catalog.tags FOR EACH ROW WHEN ((old.name IS DISTINCT FROM new.name)) EXECUTE FUNCTION catalog.rename_in_videos();

CREATE TRIGGER tags_version BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON catalog.tags FOR EACH STATEMENT EXECUTE FUNCTION catalog.advance_version();

CREATE TRIGGER videos_names BEFORE INSERT OR UPDATE OF category_id, category_name, tags_id, tags_name, season_id, season_name ON catalog.videos FOR EACH ROW EXECUTE FUNCTION catalog.fill_video_names();

CREATE TRIGGER videos_version BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON catalog.videos FOR EACH STATEMENT EXECUTE FUNCTION catalog.advance_version();

CREATE TRIGGER dispute_transitions_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON payments.dispute_transitions FOR EACH STATEMENT EXECUTE FUNCTION payments.refuse_change();

CREATE TRIGGER disputes_begin_unnoted AFTER INSERT ON payments.disputes FOR EACH ROW EXECUTE FUNCTION payments.note_dispute_move();

CREATE TRIGGER disputes_move_unnoted AFTER UPDATE OF state ON payments.disputes FOR EACH ROW WHEN ((new.state <> old.state)) EXECUTE FUNCTION payments.note_dispute_move();

CREATE TRIGGER finance_dispute_added AFTER INSERT OR DELETE ON payments.disputes FOR EACH ROW EXECUTE FUNCTION finance.note_dispute();

CREATE TRIGGER finance_dispute_changed AFTER UPDATE ON payments.disputes FOR EACH ROW WHEN ((((((old.purpose IS DISTINCT FROM new.purpose) OR (old.state IS DISTINCT FROM new.state)) OR (old.amount_cents IS DISTINCT FROM new.amount_cents)) OR (old.opened_at IS DISTINCT FROM new.opened_at)) OR (old.closed_at IS DISTINCT FROM new.closed_at))) EXECUTE FUNCTION finance.note_dispute();

CREATE TRIGGER finance_failed_attempt_added AFTER INSERT OR DELETE ON payments.failed_attempts FOR EACH ROW EXECUTE FUNCTION finance.note_failed_attempt();

CREATE TRIGGER finance_failed_attempt_changed AFTER UPDATE OF purpose, failed_at ON payments.failed_attempts FOR EACH ROW WHEN (((old.purpose IS DISTINCT FROM new.purpose) OR (old.failed_at IS DISTINCT FROM new.failed_at))) EXECUTE FUNCTION finance.note_failed_attempt();

CREATE TRIGGER finance_failure_due_added AFTER INSERT OR DELETE ON payments.failed_attempts FOR EACH ROW EXECUTE FUNCTION finance.note_failure_due();

CREATE TRIGGER finance_failure_due_changed AFTER UPDATE ON payments.failed_attempts FOR EACH ROW WHEN ((((old.purpose IS DISTINCT FROM new.purpose) OR ((old.local_id)::text IS DISTINCT FROM (new.local_id)::text)) OR (old.failed_at IS DISTINCT FROM new.failed_at))) EXECUTE FUNCTION finance.note_failure_due();

CREATE TRIGGER finance_payment_added AFTER INSERT OR DELETE ON payments.payments FOR EACH ROW EXECUTE FUNCTION finance.note_payment();

CREATE TRIGGER finance_payment_changed AFTER UPDATE OF gateway, purpose, amount_cents, settled_at ON payments.payments FOR EACH ROW WHEN (((((old.gateway IS DISTINCT FROM new.gateway) OR (old.purpose IS DISTINCT FROM new.purpose)) OR (old.amount_cents IS DISTINCT FROM new.amount_cents)) OR (old.settled_at IS DISTINCT FROM new.settled_at))) EXECUTE FUNCTION finance.note_payment();

CREATE TRIGGER finance_refund_added AFTER INSERT OR DELETE ON payments.refunds FOR EACH ROW EXECUTE FUNCTION finance.note_refund();

CREATE TRIGGER finance_refund_changed AFTER UPDATE ON payments.refunds FOR EACH ROW WHEN (((((old.purpose IS DISTINCT FROM new.purpose) OR (old.status IS DISTINCT FROM new.status)) OR (old.amount_cents IS DISTINCT FROM new.amount_cents)) OR (old.refunded_at IS DISTINCT FROM new.refunded_at))) EXECUTE FUNCTION finance.note_refund();

CREATE TRIGGER refund_transitions_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON payments.refund_transitions FOR EACH STATEMENT EXECUTE FUNCTION payments.refuse_change();

CREATE TRIGGER refunds_begin_unnoted AFTER INSERT ON payments.refunds FOR EACH ROW EXECUTE FUNCTION payments.note_refund_move();

CREATE TRIGGER refunds_move_unnoted AFTER UPDATE OF status ON payments.refunds FOR EACH ROW WHEN ((new.status <> old.status)) EXECUTE FUNCTION payments.note_refund_move();

CREATE TRIGGER unapplied_decisions_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON payments.unapplied_decisions FOR EACH STATEMENT EXECUTE FUNCTION payments.refuse_change();

CREATE TRIGGER charge_moves_begin_unnoted AFTER INSERT ON subscriptions.charge_moves FOR EACH ROW EXECUTE FUNCTION subscriptions.note_order_move('charge_move');

CREATE TRIGGER charge_moves_move_unnoted AFTER UPDATE OF state ON subscriptions.charge_moves FOR EACH ROW WHEN ((new.state <> old.state)) EXECUTE FUNCTION subscriptions.note_order_move('charge_move');

CREATE TRIGGER debit_retries_begin_unnoted AFTER INSERT ON subscriptions.debit_retries FOR EACH ROW EXECUTE FUNCTION subscriptions.note_order_move('debit_retry');

CREATE TRIGGER debit_retries_move_unnoted AFTER UPDATE OF state ON subscriptions.debit_retries FOR EACH ROW WHEN ((new.state <> old.state)) EXECUTE FUNCTION subscriptions.note_order_move('debit_retry');

CREATE TRIGGER finance_due_added AFTER INSERT ON subscriptions.subscriptions FOR EACH ROW WHEN (((new.payment_failures > 0) OR (new.status = 'suspended'::text))) EXECUTE FUNCTION finance.note_due();

CREATE TRIGGER finance_due_changed AFTER UPDATE ON subscriptions.subscriptions FOR EACH ROW WHEN ((((old.payment_failures > 0) OR (old.status = 'suspended'::text) OR (new.payment_failures > 0) OR (new.status = 'suspended'::text)) AND ((((((old.payment_failures > 0) IS DISTINCT FROM (new.payment_failures > 0)) OR (old.status IS DISTINCT FROM new.status)) OR (old.next_billing_date IS DISTINCT FROM new.next_billing_date)) OR (old.last_payment_at IS DISTINCT FROM new.last_payment_at)) OR (old.period_months IS DISTINCT FROM new.period_months)))) EXECUTE FUNCTION finance.note_due();

CREATE TRIGGER finance_due_removed AFTER DELETE ON subscriptions.subscriptions FOR EACH ROW EXECUTE FUNCTION finance.note_due();

CREATE TRIGGER finance_subscription_added AFTER INSERT OR DELETE ON subscriptions.subscriptions FOR EACH ROW EXECUTE FUNCTION finance.note_subscription();

CREATE TRIGGER finance_subscription_changed AFTER UPDATE ON subscriptions.subscriptions FOR EACH ROW WHEN (((((((((old.gateway IS DISTINCT FROM new.gateway) OR (old.payment_method IS DISTINCT FROM new.payment_method)) OR (old.plan_id IS DISTINCT FROM new.plan_id)) OR (old.price_cents IS DISTINCT FROM new.price_cents)) OR (old.status IS DISTINCT FROM new.status)) OR (old.trial_days IS DISTINCT FROM new.trial_days)) OR ((old.last_payment_at IS NULL) IS DISTINCT FROM (new.last_payment_at IS NULL))) OR ((old.payment_failures > 0) IS DISTINCT FROM (new.payment_failures > 0)))) EXECUTE FUNCTION finance.note_subscription();

CREATE TRIGGER finance_subscription_priced AFTER UPDATE OF price_cents ON subscriptions.subscriptions FOR EACH ROW WHEN ((old.price_cents IS DISTINCT FROM new.price_cents)) EXECUTE FUNCTION finance.note_price();

CREATE TRIGGER finance_transition_added AFTER INSERT ON subscriptions.transitions FOR EACH ROW WHEN (((new.from_status = 'active'::text) OR (new.to_status = 'active'::text))) EXECUTE FUNCTION finance.note_transition();

CREATE TRIGGER finance_transition_priced AFTER INSERT ON subscriptions.transitions FOR EACH ROW WHEN (((new.from_status = 'active'::text) OR (new.to_status = 'active'::text))) EXECUTE FUNCTION finance.note_mrr();

CREATE TRIGGER order_transitions_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON subscriptions.order_transitions FOR EACH STATEMENT EXECUTE FUNCTION subscriptions.refuse_change();

CREATE TRIGGER pauses_begin_unnoted AFTER INSERT ON subscriptions.pauses FOR EACH ROW EXECUTE FUNCTION subscriptions.note_order_move('pause');

CREATE TRIGGER pauses_move_unnoted AFTER UPDATE OF state ON subscriptions.pauses FOR EACH ROW WHEN ((new.state <> old.state)) EXECUTE FUNCTION subscriptions.note_order_move('pause');

CREATE TRIGGER plan_moves_begin_unnoted AFTER INSERT ON subscriptions.plan_moves FOR EACH ROW EXECUTE FUNCTION subscriptions.note_order_move('plan_move');

CREATE TRIGGER plan_moves_move_unnoted AFTER UPDATE OF state ON subscriptions.plan_moves FOR EACH ROW WHEN ((new.state <> old.state)) EXECUTE FUNCTION subscriptions.note_order_move('plan_move');

CREATE TRIGGER renewal_charges_begin_unnoted AFTER INSERT ON subscriptions.renewal_charges FOR EACH ROW EXECUTE FUNCTION subscriptions.note_order_move('renewal_charge');

CREATE TRIGGER renewal_charges_move_unnoted AFTER UPDATE OF state ON subscriptions.renewal_charges FOR EACH ROW WHEN ((new.state <> old.state)) EXECUTE FUNCTION subscriptions.note_order_move('renewal_charge');

CREATE TRIGGER transitions_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON subscriptions.transitions FOR EACH STATEMENT EXECUTE FUNCTION subscriptions.refuse_change();

CREATE TRIGGER events_capacity_respected AFTER UPDATE OF tickets_issued ON tickets.events FOR EACH ROW WHEN ((new.tickets_issued > old.tickets_issued)) EXECUTE FUNCTION tickets.refuse_beyond_capacity();

CREATE TRIGGER order_transitions_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tickets.order_transitions FOR EACH STATEMENT EXECUTE FUNCTION tickets.refuse_change();

CREATE TRIGGER orders_begin_unnoted AFTER INSERT ON tickets.orders FOR EACH ROW WHEN ((new.moves = 0)) EXECUTE FUNCTION tickets.note_order_move();

CREATE TRIGGER orders_deleted_are_kept AFTER DELETE ON tickets.orders FOR EACH ROW WHEN ((old.gateway IS NOT NULL)) EXECUTE FUNCTION tickets.keep_deleted_order();

CREATE TRIGGER orders_ended_disputes_are_kept AFTER UPDATE OF disputed_at ON tickets.orders FOR EACH ROW WHEN (((old.disputed_at IS NOT NULL) AND (new.disputed_at IS NULL))) EXECUTE FUNCTION tickets.keep_ended_dispute();

CREATE TRIGGER orders_move_unnoted AFTER UPDATE OF state ON tickets.orders FOR EACH ROW WHEN (((new.state <> old.state) AND (new.moves = old.moves))) EXECUTE FUNCTION tickets.note_order_move();

CREATE TRIGGER tickets_account_added AFTER INSERT ON tickets.tickets REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION tickets.account_added();

CREATE TRIGGER tickets_account_changed AFTER UPDATE ON tickets.tickets REFERENCING OLD TABLE AS before_change NEW TABLE AS after_change FOR EACH STATEMENT EXECUTE FUNCTION tickets.account_changed();

CREATE TRIGGER tickets_account_removed AFTER DELETE ON tickets.tickets REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION tickets.account_removed();

CREATE TRIGGER tickets_ended_requests_are_kept AFTER UPDATE OF refund_asked_at ON tickets.tickets FOR EACH ROW WHEN (((old.refund_asked_at IS NOT NULL) AND (new.refund_asked_at IS NULL) AND (old.order_id IS NOT NULL))) EXECUTE FUNCTION tickets.keep_ended_request();

CREATE TRIGGER tickets_settle_status BEFORE UPDATE ON tickets.tickets FOR EACH ROW WHEN ((old.status <> new.status)) EXECUTE FUNCTION tickets.settle_status();

CREATE TRIGGER transitions_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tickets.transitions FOR EACH STATEMENT EXECUTE FUNCTION tickets.refuse_change();

ALTER TABLE ONLY accounts.codes
    ADD CONSTRAINT codes_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY accounts.customer_notes
    ADD CONSTRAINT customer_notes_customer_exists FOREIGN KEY (customer_id) REFERENCES accounts.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY accounts.deletions
    ADD CONSTRAINT deletions_customer_exists FOREIGN KEY (customer_id) REFERENCES accounts.users(id);

ALTER TABLE ONLY accounts.email_changes
    ADD CONSTRAINT email_changes_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY accounts.logins
    ADD CONSTRAINT logins_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY accounts.passkey_challenges
    ADD CONSTRAINT passkey_challenges_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY accounts.passkeys
    ADD CONSTRAINT passkeys_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY accounts.recovery_codes
    ADD CONSTRAINT recovery_codes_of_totp FOREIGN KEY (user_id) REFERENCES accounts.totp(user_id) ON DELETE CASCADE;

ALTER TABLE ONLY accounts.sessions
    ADD CONSTRAINT sessions_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY accounts.totp
    ADD CONSTRAINT totp_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY accounts.username_skeletons
    ADD CONSTRAINT username_skeletons_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY accounts.views
    ADD CONSTRAINT views_owner_exists FOREIGN KEY (owner_id) REFERENCES accounts.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY accounts.views
    ADD CONSTRAINT views_profile_exists FOREIGN KEY (profile_id) REFERENCES accounts.users_type(id) ON DELETE CASCADE;

ALTER TABLE ONLY board.attachments
    ADD CONSTRAINT attachments_file_exists FOREIGN KEY (file_id) REFERENCES files.files(id) ON DELETE CASCADE;

ALTER TABLE ONLY board.attachments
    ADD CONSTRAINT attachments_requisition_exists FOREIGN KEY (requisition_id) REFERENCES board.requisitions(id) ON DELETE CASCADE;

ALTER TABLE ONLY board.requisitions
    ADD CONSTRAINT requisitions_status_known FOREIGN KEY (status_id) REFERENCES board.requisition_status(id);

ALTER TABLE ONLY catalog.import_rows
    ADD CONSTRAINT import_rows_import_exists FOREIGN KEY (import_id) REFERENCES catalog.imports(id) ON DELETE CASCADE;

ALTER TABLE ONLY catalog.videos
    ADD CONSTRAINT videos_season_id_known FOREIGN KEY (season_id) REFERENCES catalog.seasons(id);

ALTER TABLE ONLY catalog.watch_history
    ADD CONSTRAINT watch_history_video_known FOREIGN KEY (video_id) REFERENCES catalog.videos(id) ON DELETE CASCADE;

ALTER TABLE ONLY files.chunks
    ADD CONSTRAINT chunks_content_exists FOREIGN KEY (content_id) REFERENCES files.contents(id) ON DELETE CASCADE;

ALTER TABLE ONLY files.files
    ADD CONSTRAINT files_content_exists FOREIGN KEY (id) REFERENCES files.contents(id) ON DELETE CASCADE;

ALTER TABLE ONLY finance.access_ends
    ADD CONSTRAINT access_ends_transition_known FOREIGN KEY (transition_id) REFERENCES subscriptions.transitions(id);

ALTER TABLE ONLY finance.export_chunks
    ADD CONSTRAINT export_chunks_export_exists FOREIGN KEY (export_id) REFERENCES finance.exports(id) ON DELETE CASCADE;

ALTER TABLE ONLY payments.intent_steps
    ADD CONSTRAINT intent_steps_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES payments.intents(id) ON DELETE CASCADE;

ALTER TABLE ONLY payments.reconcile_findings
    ADD CONSTRAINT reconcile_findings_of_run FOREIGN KEY (run_id) REFERENCES payments.reconcile_runs(id) ON DELETE CASCADE;

ALTER TABLE ONLY payments.unapplied_decisions
    ADD CONSTRAINT unapplied_decisions_payment_known FOREIGN KEY (unapplied_id) REFERENCES payments.unapplied_payments(id);

ALTER TABLE ONLY platform.bulk_rows
    ADD CONSTRAINT bulk_rows_act_exists FOREIGN KEY (bulk_id) REFERENCES platform.bulk_acts(id) ON DELETE CASCADE;

ALTER TABLE ONLY settings.branding_logo
    ADD CONSTRAINT branding_logo_of_branding FOREIGN KEY (only_row) REFERENCES settings.branding(only_row);

ALTER TABLE ONLY subscriptions.charge_moves
    ADD CONSTRAINT charge_moves_subscription_known FOREIGN KEY (subscription_id) REFERENCES subscriptions.subscriptions(id);

ALTER TABLE ONLY subscriptions.debit_retries
    ADD CONSTRAINT debit_retries_of_debit FOREIGN KEY (subscription_id, cycle) REFERENCES subscriptions.debits(subscription_id, cycle);

ALTER TABLE ONLY subscriptions.debits
    ADD CONSTRAINT debits_subscription_known FOREIGN KEY (subscription_id) REFERENCES subscriptions.subscriptions(id);

ALTER TABLE ONLY subscriptions.dunning_mails
    ADD CONSTRAINT dunning_mails_subscription_known FOREIGN KEY (subscription_id) REFERENCES subscriptions.subscriptions(id);

ALTER TABLE ONLY subscriptions.pauses
    ADD CONSTRAINT pauses_subscription_known FOREIGN KEY (subscription_id) REFERENCES subscriptions.subscriptions(id);

ALTER TABLE ONLY subscriptions.plan_moves
    ADD CONSTRAINT plan_moves_plan_known FOREIGN KEY (plan_id) REFERENCES subscriptions.plans(plan_id);

ALTER TABLE ONLY subscriptions.plan_moves
    ADD CONSTRAINT plan_moves_subscription_known FOREIGN KEY (subscription_id) REFERENCES subscriptions.subscriptions(id);

ALTER TABLE ONLY subscriptions.renewal_charges
    ADD CONSTRAINT renewal_charges_subscription_known FOREIGN KEY (subscription_id) REFERENCES subscriptions.subscriptions(id);

ALTER TABLE ONLY subscriptions.subscriptions
    ADD CONSTRAINT subscriptions_plan_known FOREIGN KEY (plan_id) REFERENCES subscriptions.plans(plan_id);

ALTER TABLE ONLY subscriptions.subscriptions
    ADD CONSTRAINT subscriptions_renews_known FOREIGN KEY (renews_id) REFERENCES subscriptions.subscriptions(id);

ALTER TABLE ONLY subscriptions.transitions
    ADD CONSTRAINT transitions_subscription_known FOREIGN KEY (subscription_id) REFERENCES subscriptions.subscriptions(id);

ALTER TABLE ONLY subscriptions.trial_uses
    ADD CONSTRAINT trial_uses_subscription_exists FOREIGN KEY (subscription_id) REFERENCES subscriptions.subscriptions(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY tickets.give_backs
    ADD CONSTRAINT give_backs_event_known FOREIGN KEY (event_id) REFERENCES tickets.events(id) ON DELETE CASCADE;

ALTER TABLE ONLY tickets.give_backs
    ADD CONSTRAINT give_backs_order_known FOREIGN KEY (order_id) REFERENCES tickets.orders(id) ON DELETE CASCADE;

ALTER TABLE ONLY tickets.orders
    ADD CONSTRAINT orders_event_known FOREIGN KEY (event_id) REFERENCES tickets.events(id);

ALTER TABLE ONLY tickets.past_blocks
    ADD CONSTRAINT past_blocks_order_known FOREIGN KEY (order_id) REFERENCES tickets.orders(id) ON DELETE CASCADE;

ALTER TABLE ONLY tickets.past_blocks
    ADD CONSTRAINT past_blocks_ticket_known FOREIGN KEY (ticket_id) REFERENCES tickets.tickets(id) ON DELETE CASCADE;

ALTER TABLE ONLY tickets.readmissions
    ADD CONSTRAINT readmissions_of_ticket FOREIGN KEY (ticket_id) REFERENCES tickets.tickets(id) ON DELETE CASCADE;

ALTER TABLE ONLY tickets.tickets
    ADD CONSTRAINT tickets_customer_known FOREIGN KEY (customer_id) REFERENCES tickets.customers(id);

ALTER TABLE ONLY tickets.tickets
    ADD CONSTRAINT tickets_event_known FOREIGN KEY (event_id) REFERENCES tickets.events(id);

ALTER TABLE ONLY tickets.tickets
    ADD CONSTRAINT tickets_order_known FOREIGN KEY (order_id) REFERENCES tickets.orders(id);

GRANT USAGE ON SCHEMA finance TO marquee_analyst;
GRANT USAGE ON SCHEMA finance TO marquee_analyst_personal;

REVOKE ALL ON FUNCTION finance.grant_analysts() FROM PUBLIC;

GRANT SELECT ON TABLE finance.movements TO marquee_analyst;
GRANT SELECT ON TABLE finance.movements TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.access_periods TO marquee_analyst;
GRANT SELECT ON TABLE finance.access_periods TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.box_office TO marquee_analyst;
GRANT SELECT ON TABLE finance.box_office TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.box_office_personal TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.disputes TO marquee_analyst;
GRANT SELECT ON TABLE finance.disputes TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.chargebacks TO marquee_analyst;
GRANT SELECT ON TABLE finance.chargebacks TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.clock TO marquee_analyst;
GRANT SELECT ON TABLE finance.clock TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.churn_monthly TO marquee_analyst;
GRANT SELECT ON TABLE finance.churn_monthly TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.cohort_months TO marquee_analyst;
GRANT SELECT ON TABLE finance.cohort_months TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.cohorts TO marquee_analyst;
GRANT SELECT ON TABLE finance.cohorts TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.customer_failures TO marquee_analyst;
GRANT SELECT ON TABLE finance.customer_failures TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.customer_list_personal TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.customer_logins_personal TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.customer_profiles_personal TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.customers TO marquee_analyst;
GRANT SELECT ON TABLE finance.customers TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.customers_personal TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.daily TO marquee_analyst;
GRANT SELECT ON TABLE finance.daily TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.definitions TO marquee_analyst;
GRANT SELECT ON TABLE finance.definitions TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.entries TO marquee_analyst;
GRANT SELECT ON TABLE finance.entries TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.tickets TO marquee_analyst;
GRANT SELECT ON TABLE finance.tickets TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.events TO marquee_analyst;
GRANT SELECT ON TABLE finance.events TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.exits TO marquee_analyst;
GRANT SELECT ON TABLE finance.exits TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.failed_attempts TO marquee_analyst;
GRANT SELECT ON TABLE finance.failed_attempts TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.standing TO marquee_analyst;
GRANT SELECT ON TABLE finance.standing TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.mrr TO marquee_analyst;
GRANT SELECT ON TABLE finance.mrr TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.mrr_movements TO marquee_analyst;
GRANT SELECT ON TABLE finance.mrr_movements TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.orders TO marquee_analyst;
GRANT SELECT ON TABLE finance.orders TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.subscriptions TO marquee_analyst;
GRANT SELECT ON TABLE finance.subscriptions TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.overdue TO marquee_analyst;
GRANT SELECT ON TABLE finance.overdue TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.returns TO marquee_analyst;
GRANT SELECT ON TABLE finance.returns TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.overview TO marquee_analyst;
GRANT SELECT ON TABLE finance.overview TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.payments TO marquee_analyst;
GRANT SELECT ON TABLE finance.payments TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.plan_moves TO marquee_analyst;
GRANT SELECT ON TABLE finance.plan_moves TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.plans TO marquee_analyst;
GRANT SELECT ON TABLE finance.plans TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.promo_codes TO marquee_analyst;
GRANT SELECT ON TABLE finance.promo_codes TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.promo_codes_personal TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.promo_redemptions TO marquee_analyst;
GRANT SELECT ON TABLE finance.promo_redemptions TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.promo_redemptions_personal TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.refunds TO marquee_analyst;
GRANT SELECT ON TABLE finance.refunds TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.refunds_personal TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.revenue_daily TO marquee_analyst;
GRANT SELECT ON TABLE finance.revenue_daily TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.revenue_monthly TO marquee_analyst;
GRANT SELECT ON TABLE finance.revenue_monthly TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.subscription_failures TO marquee_analyst;
GRANT SELECT ON TABLE finance.subscription_failures TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.tenure TO marquee_analyst;
GRANT SELECT ON TABLE finance.tenure TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.tickets_personal TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.transitions TO marquee_analyst;
GRANT SELECT ON TABLE finance.transitions TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.unapplied_payments TO marquee_analyst;
GRANT SELECT ON TABLE finance.unapplied_payments TO marquee_analyst_personal;

GRANT SELECT ON TABLE finance.watch_history TO marquee_analyst;
GRANT SELECT ON TABLE finance.watch_history TO marquee_analyst_personal;
