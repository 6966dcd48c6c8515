CREATE OR REPLACE FUNCTION accounts.max_age_rating(user_id platform.object_id) RETURNS TABLE (max_age_rating text)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT (SELECT u.max_age_rating FROM accounts.users u WHERE u.id = $1)
$$;
COMMENT ON FUNCTION accounts.max_age_rating(platform.object_id) IS
    'Published: the highest age_rating that plays for the user without their PIN; null is no limit. One row.';
