CREATE OR REPLACE FUNCTION tickets.ends_at(event_date timestamptz, event_end_date timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(event_end_date, event_date + interval '3 hours')
$$;
COMMENT ON FUNCTION tickets.ends_at(timestamptz, timestamptz) IS 'The end rule: the end, else three hours after the start. An event is over from that instant on, for listing, purchase, ticket expiry and promo codes alike.';
