CREATE OR REPLACE FUNCTION accounts.rights_of(profiles text[]) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT ARRAY(
        SELECT DISTINCT h FROM accounts.users_type p
        CROSS JOIN LATERAL (
            SELECT unnest(p.view), '_(get|download)$'
            UNION ALL SELECT unnest(p."create"), '_(post|upload)$'
            UNION ALL SELECT unnest(p."update"), '_put$'
            UNION ALL SELECT unnest(p."delete"), '_delete$'
        ) listed (h, own)
        WHERE p.id = ANY (profiles) AND h ~ own)
$$;
COMMENT ON FUNCTION accounts.rights_of(text[]) IS
    'The handler names that an admin with these profiles may call. A name counts only in its own list, which its ending tells: requisition_post under view grants nothing.';
