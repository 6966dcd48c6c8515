-- name: IntentClaim :many
-- IntentClaim leases open intents that are to be checked before an instant and that nobody has, the oldest first.
UPDATE payments.intents i SET leased_until = @until::timestamptz, looked_at = @now::timestamptz, looks = looks + 1
FROM (
    SELECT o.id FROM payments.intents o
    WHERE o.gateway = @gateway AND o.state = 'open' AND o.next_look_at <= @before::timestamptz AND (o.leased_until IS NULL OR o.leased_until <= @now::timestamptz)
    ORDER BY o.created_at, o.id LIMIT @most
    FOR UPDATE SKIP LOCKED
) due
WHERE i.id = due.id
RETURNING i.*;

-- name: IntentClaimOf :many
-- IntentClaimOf leases a subject's open intents of a kind, unless somebody has them or has just checked it.
UPDATE payments.intents SET leased_until = @until::timestamptz, looked_at = @now::timestamptz, looks = looks + 1
WHERE subject_id = @subject_id AND state = 'open' AND (kind = @kind OR @kind = '') AND (leased_until IS NULL OR leased_until <= @now::timestamptz)
  AND (looked_at IS NULL OR looked_at <= @since::timestamptz)
RETURNING *;

-- name: IntentFindChecked :one
-- IntentFindChecked reports whether a check has looked for an order that ended after an instant: its own call may still come.
SELECT EXISTS (SELECT 1 FROM payments.intents
    WHERE subject_id = @subject_id AND kind = @kind AND state <> 'open' AND ended_at > @since::timestamptz AND looked_at IS NOT NULL);

-- name: IntentEnd :many
-- IntentEnd ends the open intent of a name; given the one that a check was of, that alone, unless it was requested again
-- meanwhile, or another check has it; untold, only one of which people were not told.
WITH ended AS (
    UPDATE payments.intents i SET state = @state, ended_at = @at::timestamptz, next_look_at = NULL, leased_until = NULL, calls = 0
    WHERE i.subject_id = @subject_id AND i.kind = @kind AND i.item = @item AND i.state = 'open'
      AND (@checked::text = '' OR i.id = @checked AND i.looked_at IS NOT NULL
        AND i.leased_until IS NOT DISTINCT FROM sqlc.narg(leased_until)::timestamptz)
      AND NOT (@untold::bool AND i.told_at IS NOT NULL)
    RETURNING i.id, i.state, i.gateway, i.told_at
), noted AS (
    INSERT INTO payments.intent_steps (intent_id, at, by, outcome, state)
    SELECT id, @at::timestamptz, @by, @outcome, state FROM ended
)
SELECT gateway, (told_at IS NOT NULL)::bool AS told FROM ended;

-- name: IntentForward :execrows
-- IntentForward makes what waits after a failed check due: the first time at once, then a minute after its last check, doubled with each time. Those that
-- are being changed come by themselves.
UPDATE payments.intents i SET forwards = i.forwards + 1, next_look_at = CASE
    WHEN i.forwards = 0 OR i.looked_at IS NULL THEN @now::timestamptz
    ELSE least(i.next_look_at, i.looked_at + interval '30 seconds' * power(2, least(i.forwards, 10))) END
WHERE i.id IN (
    SELECT o.id FROM payments.intents o
    WHERE o.gateway = @gateway AND o.state = 'open' AND o.next_look_at > @now::timestamptz AND o.not_known_since IS NOT NULL
    FOR UPDATE SKIP LOCKED);

-- name: IntentFindConflicting :one
-- IntentFindConflicting is what keeps an intent from being opened beside those that were: that of its own name, or one that it excludes.
SELECT * FROM payments.intents
WHERE state = 'open' AND (subject_id = @subject_id AND kind = @kind AND item = @item OR gateway = @gateway AND excludes = nullif(@excludes::text, ''))
  AND id <> ALL(@made::platform.object_id[])
ORDER BY subject_id = @subject_id DESC LIMIT 1;

-- name: IntentInsert :many
-- IntentInsert opens intents, a JSON array of objects by column. Those that another one is in the way of are left out.
WITH made AS (
    INSERT INTO payments.intents (id, kind, subject_id, item, customer_id, gateway, reference, excludes, state, calls, misses, missed_at, call_ends_at, leased_until, next_look_at, created_at)
    SELECT o.id, o.kind, o.subject_id, o.item, o.customer_id, o.gateway, o.reference, o.excludes, o.state, o.calls, o.misses, o.missed_at, o.call_ends_at, o.leased_until, o.next_look_at, o.created_at
    FROM jsonb_populate_recordset(NULL::payments.intents, @opened::jsonb) o
    ON CONFLICT DO NOTHING
    RETURNING id, state, calls, created_at
)
INSERT INTO payments.intent_steps (intent_id, at, by, outcome, state)
SELECT id, created_at, 'open', CASE WHEN calls > 0 THEN @called::text ELSE @seen::text END, state FROM made
RETURNING intent_id;

-- name: IntentInsertFresh :exec
-- IntentInsertFresh opens intents as IntentInsert does, of rows that the same transaction writes. What is in the way of
-- one is an error.
WITH made AS (
    INSERT INTO payments.intents (id, kind, subject_id, item, customer_id, gateway, reference, excludes, state, calls, misses, missed_at, call_ends_at, leased_until, next_look_at, created_at)
    SELECT o.id, o.kind, o.subject_id, o.item, o.customer_id, o.gateway, o.reference, o.excludes, o.state, o.calls, o.misses, o.missed_at, o.call_ends_at, o.leased_until, o.next_look_at, o.created_at
    FROM jsonb_populate_recordset(NULL::payments.intents, @opened::jsonb) o
    RETURNING id, state, calls, created_at
)
INSERT INTO payments.intent_steps (intent_id, at, by, outcome, state)
SELECT id, created_at, 'open', CASE WHEN calls > 0 THEN @called::text ELSE @seen::text END, state FROM made;

-- name: IntentGetNextCheck :one
-- IntentGetNextCheck is the first check at the gateway after an instant.
SELECT next_look_at::timestamptz AS at FROM payments.intents
WHERE gateway = @gateway AND state = 'open' AND next_look_at > @now::timestamptz ORDER BY next_look_at LIMIT 1;

-- name: IntentGetOpen :one
SELECT * FROM payments.intents WHERE subject_id = @subject_id AND kind = @kind AND item = @item AND state = 'open';

-- name: IntentListOpenOf :many
SELECT * FROM payments.intents WHERE subject_id = @subject_id AND state = 'open' ORDER BY created_at, id;

-- name: IntentPostpone :execrows
-- IntentPostpone notes what became of a call, or of a check by the lease under which it was made. One requested again meanwhile stays due.
WITH noted AS (
    UPDATE payments.intents i SET
        leased_until = NULL, next_look_at = CASE WHEN looks > 0 AND looked_at IS NULL THEN next_look_at ELSE @next_look_at::timestamptz END, cause = left(sqlc.narg(cause)::text, 500), failures = @failures, step = @step, misses = @misses, calls = @calls,
        missed_at = sqlc.narg(missed_at), not_known_since = sqlc.narg(not_known_since),
        forwards = CASE WHEN @outcome = 'not_known' THEN forwards ELSE 0 END
    WHERE i.id = @id AND i.state = 'open' AND i.leased_until IS NOT DISTINCT FROM sqlc.narg(leased_until)::timestamptz
    RETURNING i.id
)
INSERT INTO payments.intent_steps (intent_id, at, by, outcome, state, cause)
SELECT id, @at::timestamptz, @by, @outcome, @state, left(sqlc.narg(cause)::text, 500) FROM noted;

-- name: IntentPostponeOpen :exec
-- IntentPostponeOpen notes of the open intent of a name, whoever has it, that its call was answered: the gateway decides later.
WITH noted AS (
    UPDATE payments.intents i SET
        leased_until = NULL, next_look_at = CASE WHEN looks > 0 AND looked_at IS NULL THEN next_look_at ELSE @next_look_at::timestamptz END, cause = NULL, calls = 0,
        not_known_since = NULL, forwards = 0
    WHERE i.subject_id = @subject_id AND i.kind = @kind AND i.item = @item AND i.state = 'open'
    RETURNING i.id
)
INSERT INTO payments.intent_steps (intent_id, at, by, outcome, state) SELECT id, @at::timestamptz, @by, @outcome, @state FROM noted;

-- name: IntentCallAgain :execrows
-- IntentCallAgain counts a call that a check is about to make, and leases the intent for its time.
WITH counted AS (
    UPDATE payments.intents i SET step = @step, calls = @calls, misses = 0, missed_at = NULL, call_ends_at = @until::timestamptz, leased_until = @until::timestamptz
    WHERE i.id = @id AND i.state = 'open' AND i.leased_until = @leased_until::timestamptz
    RETURNING i.id
)
INSERT INTO payments.intent_steps (intent_id, at, by, outcome, state) SELECT id, @at::timestamptz, 'look', @outcome, @state FROM counted;

-- name: IntentProbe :many
-- IntentProbe leases the open intent that nobody has and that was checked longest ago, but for those that have failed too often to stand for the gateway.
UPDATE payments.intents i SET leased_until = @until::timestamptz, looked_at = @now::timestamptz, looks = looks + 1
FROM (
    SELECT o.id FROM payments.intents o
    WHERE o.gateway = @gateway AND o.state = 'open' AND (o.leased_until IS NULL OR o.leased_until <= @now::timestamptz) AND o.failures < @most_failures
    ORDER BY o.looked_at NULLS FIRST, o.id LIMIT 1
    FOR UPDATE SKIP LOCKED
) probe
WHERE i.id = probe.id
RETURNING i.*;

-- name: IntentRelease :exec
-- IntentRelease lets go of one that was requested again during a check.
UPDATE payments.intents SET leased_until = NULL
WHERE id = @id AND state = 'open' AND looked_at IS NULL AND leased_until IS NOT DISTINCT FROM sqlc.narg(leased_until)::timestamptz;

-- name: IntentRequest :execrows
-- IntentRequest makes an open intent due: its row wants something else than what the check before, or under way, was made for. Given so, only one under way.
UPDATE payments.intents SET next_look_at = least(next_look_at, @now::timestamptz), looked_at = NULL
WHERE subject_id = @subject_id AND kind = @kind AND item = @item AND state = 'open' AND (NOT @under_way::bool OR leased_until > @now::timestamptz);

-- name: IntentTake :execrows
-- IntentTake counts the first call of an intent that was opened without, and leases it for the call's time.
WITH counted AS (
    UPDATE payments.intents i SET calls = 1, call_ends_at = @until::timestamptz, leased_until = @until::timestamptz, next_look_at = @until::timestamptz
    WHERE i.subject_id = @subject_id AND i.kind = @kind AND i.item = @item AND i.state = 'open' AND calls = 0 AND looks = 0 AND leased_until IS NULL
    RETURNING i.id
)
INSERT INTO payments.intent_steps (intent_id, at, by, outcome, state) SELECT id, @at::timestamptz, 'open', @outcome, @state FROM counted;

-- name: IntentResetFound :exec
-- IntentResetFound has what was found once and is missing now checked twice more: the gateway was not to be believed.
UPDATE payments.intents i SET misses = 0, missed_at = NULL, next_look_at = @now::timestamptz
WHERE i.id IN (
    SELECT o.id FROM payments.intents o WHERE o.gateway = @gateway AND o.state = 'open' AND o.kind = ANY(@kinds::text[])
    FOR UPDATE SKIP LOCKED);

-- name: IntentMarkMailed :many
-- IntentMarkMailed marks what has been not known for too long, for one mail.
UPDATE payments.intents i SET told_at = @now::timestamptz
WHERE i.id IN (
    SELECT o.id FROM payments.intents o
    WHERE o.gateway = @gateway AND o.state = 'open' AND o.told_at IS NULL AND o.not_known_since <= @since::timestamptz
    ORDER BY o.created_at LIMIT 500 FOR UPDATE SKIP LOCKED)
RETURNING i.*;

-- name: IntentListMailedOf :many
-- IntentListMailedOf lists what the operators were told of a subject at a gateway, what is open first, then what ended last, and who ended it.
SELECT i.kind, i.state, coalesce(i.ended_at, i.created_at)::timestamptz AS ended_at, coalesce(s.by, '')::text AS by FROM payments.intents i
LEFT JOIN LATERAL (SELECT t.by FROM payments.intent_steps t WHERE t.intent_id = i.id ORDER BY t.id DESC LIMIT 1) s ON true
WHERE i.subject_id = @subject_id AND i.gateway = @gateway AND i.told_at IS NOT NULL
ORDER BY i.state = 'open' DESC, i.ended_at DESC;
