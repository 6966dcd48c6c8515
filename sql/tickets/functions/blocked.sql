CREATE OR REPLACE FUNCTION tickets.blocked(status text, refund_id text, disputed_at timestamptz, cancelled_at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN status NOT IN ('pending', 'available') THEN NULL
    WHEN refund_id IS NOT NULL THEN 'refund_requested'
    WHEN cancelled_at IS NOT NULL THEN 'event_cancelled'
    WHEN disputed_at IS NOT NULL THEN 'payment_disputed' END;
COMMENT ON FUNCTION tickets.blocked(text, text, timestamptz, timestamptz) IS 'Why a ticket that is neither used nor expired opens no door: by its own status and refund_id, its order''s disputed_at, its event''s cancelled_at. Null when nothing blocks it.';
