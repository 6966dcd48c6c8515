-- +goose Up
-- From here on a database has a mark from its making. One that is in use and was never noted is noted now, unless it
-- was loaded from a dump: there the first two rows of the migrations were copied by one transaction, while whoever
-- migrates writes each by its own.
-- +goose StatementBegin
DO $$
DECLARE
    loaded boolean;
BEGIN
    SELECT count(DISTINCT xmin::text) < 2 INTO loaded FROM (SELECT xmin FROM goose_db_version ORDER BY id LIMIT 2) first_two;
    INSERT INTO payments.database_marks (mark, noted_at)
    VALUES (CASE WHEN loaded THEN 'restored' ELSE payments.database_mark() END, now())
    ON CONFLICT DO NOTHING;
    IF FOUND AND loaded THEN
        RAISE NOTICE 'This database was loaded from a dump: nothing is refunded by itself until marquee reconcile --since ... --apply (docs/operations.md, After a restore).';
    END IF;
END
$$;
-- +goose StatementEnd
COMMENT ON TABLE payments.database_marks IS 'Which database the money is refunded from by itself, noted by the migration that made or found it: where payments.database_mark() says otherwise, or nothing is noted, this is a restored one, and nothing is refunded or ended by itself until somebody has reconciled.';

-- +goose Down
COMMENT ON TABLE payments.database_marks IS 'Which database the money was refunded from by itself: where payments.database_mark() says otherwise, this is a restored one, and nothing is refunded by itself until somebody has reconciled.';
